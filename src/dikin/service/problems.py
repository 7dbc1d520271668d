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
"""Seconds after which a client may try again if the study was busy or unavailable."""

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
"""The HTTP status of the library's errors, looked up along the ancestors of an error's class; 422,
a request that cannot be carried out, for all others."""


class Problem(HTTPException):
    """An HTTP response that is a problem."""

    def __init__(
        self, status: int, code: str, detail: str, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(status, detail, dict(headers or {}))
        self.code = code

    @classmethod
    def of(cls, error: DikinError) -> Problem:
        """The problem for an error of the library."""
        kinds = [STATUS[kind] for kind in type(error).__mro__ if kind in STATUS]
        status = kinds[0] if kinds else 422
        headers = {"Retry-After": str(RETRY_AFTER)} if status == 503 else {}
        return cls(status, error_code(type(error)), str(error), headers)

    def content(self) -> dict[str, Any]:
        """The fields of the response."""
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
    """The problem for a bug in the service itself; the details are in its log."""
    return Problem(
        500,
        "internal",
        f"internal error of the service; its log has the reason, under request {request}",
    )
