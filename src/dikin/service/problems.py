"""Errors over HTTP: problem details (RFC 9457), in the library's own words."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi import HTTPException
from starlette.responses import Response

from dikin import errors
from dikin.errors import DikinError, error_code, shortened

MEDIA_TYPE = "application/problem+json"
RETRY_AFTER = 1
"""Seconds after which a client may try again what was busy or away."""

STATUS: dict[type[DikinError], int] = {
    errors.AccessError: 403,
    errors.UnknownStudyError: 404,
    errors.UnknownQueryError: 404,
    errors.StudyExistsError: 409,
    errors.QueryError: 409,
    errors.StoreError: 503,  # BusyError too
    errors.MissingExtraError: 501,
    errors.StateVersionError: 500,
    errors.StateError: 500,  # a study that is damaged
}
"""What an error of the library is over HTTP; 422, a request that cannot be carried out, if it is
none of these. The first that fits along the ancestors of an error's class."""


class Problem(HTTPException):
    """An answer that is a problem."""

    def __init__(
        self, status: int, code: str, detail: str, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(status, detail, dict(headers or {}))
        self.code = code

    @classmethod
    def of(cls, error: DikinError) -> Problem:
        """The problem that an error of the library is."""
        kinds = [STATUS[kind] for kind in type(error).__mro__ if kind in STATUS]
        status = kinds[0] if kinds else 422
        headers = {"Retry-After": str(RETRY_AFTER)} if status == 503 else {}
        return cls(status, error_code(type(error)), str(error), headers)

    def content(self) -> dict[str, Any]:
        """What stands in the answer."""
        return {
            "type": "about:blank",
            "title": HTTPStatus(self.status_code).phrase,
            "status": self.status_code,
            "detail": shortened(self.detail),
            "code": self.code,
        }

    def response(self) -> Response:
        """The answer."""
        return Response(
            json.dumps(self.content()), self.status_code, self.headers, media_type=MEDIA_TYPE
        )


def internal(request: str) -> Problem:
    """What a client hears of a fault in the service itself; the rest stands in its log."""
    return Problem(
        500,
        "internal",
        f"the service met a fault of its own; its log has the reason, under request {request}",
    )
