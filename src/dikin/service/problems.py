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

WORDS = {
    400: "The request or its body cannot be read.",
    401: "No token, or an unknown one.",
    403: "The token's right is insufficient, or is for other studies.",
    404: "There is no such study, trial or path.",
    408: "The body arrived too slowly.",
    409: "The trial is closed, or the study exists with another tuner.",
    413: "The body is too large.",
    415: "The body is not of the type application/json.",
    422: "Something in the request cannot be used; nothing was changed.",
    429: "This token has too many requests under way or a second.",
    500: "The study is damaged, or the service has a bug.",
    501: "A package that this needs is not installed where the service runs.",
    503: "Busy, or the database is unavailable. Send it again.",
}
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
