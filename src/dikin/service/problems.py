"""Errors over HTTP: problem details (RFC 9457), in the library's own words."""

from __future__ import annotations

import json
from http import HTTPStatus

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
    errors.StateError: 500,  # a study that is damaged
}
"""The HTTP status of the library's errors, looked up along the ancestors of an error's class; 422,
a request that cannot be carried out, for all others."""

STATUSES = (400, 401, 403, 404, 408, 409, 413, 415, 422, 429, 500, 501, 503)
"""The statuses of problems, for the OpenAPI file."""
HEADERS = {401: "WWW-Authenticate", 429: "Retry-After", 503: "Retry-After"}
"""Headers of a problem."""


class Problem(Exception):  # noqa: N818 - it is called so over HTTP
    """An HTTP response that is a problem."""

    def __init__(self, status: int, detail: str, code: str = "request", **headers: str) -> None:
        super().__init__(detail)
        self.status, self.code, self.detail = status, code, detail
        self.headers = {name.replace("_", "-"): text for name, text in headers.items()}

    @classmethod
    def of(cls, error: DikinError) -> Problem:
        """Return the problem for an error of the library."""
        kinds = [STATUS[kind] for kind in type(error).__mro__ if kind in STATUS]
        status = kinds[0] if kinds else 422
        wait = str(getattr(error, "retry_after", 0) or RETRY_AFTER)
        headers = {"Retry_After": wait} if status == 503 else {}
        return cls(status, str(error), error_code(type(error)), **headers)

    def response(self) -> Response:
        """Return the answer."""
        content = {
            "type": "about:blank",
            "title": HTTPStatus(self.status).phrase,
            "status": self.status,
            "detail": shortened(self.detail),
            "code": self.code,
        }
        return Response(json.dumps(content), self.status, self.headers, media_type=MEDIA_TYPE)
