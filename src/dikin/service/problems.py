"""Errors over HTTP: problem details (RFC 9457), in the library's own words."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any, get_args

from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response

from dikin import errors
from dikin.errors import DikinError, did_you_mean, error_code, shortened, shown
from dikin.service.limits import FAULTS

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


class ClientGone(Exception):  # noqa: N818 - nothing is wrong with it
    """The client has disconnected, so that nobody waits for an answer."""


class Problem(Exception):  # noqa: N818 - it is called so over HTTP
    """An HTTP response that is a problem."""

    def __init__(
        self, status: int, code: str, detail: str, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(detail)
        self.status, self.code, self.detail = status, code, detail
        self.headers = dict(headers or {})

    @classmethod
    def of(cls, error: DikinError) -> Problem:
        """Return the problem for an error of the library."""
        kinds = [STATUS[kind] for kind in type(error).__mro__ if kind in STATUS]
        status = kinds[0] if kinds else 422
        wait = getattr(error, "retry_after", 0) or RETRY_AFTER
        headers = {"Retry-After": str(wait)} if status == 503 else {}
        return cls(status, error_code(type(error)), str(error), headers)

    def content(self) -> dict[str, Any]:
        """Return the fields of the response."""
        return {
            "type": "about:blank",
            "title": HTTPStatus(self.status).phrase,
            "status": self.status,
            "detail": shortened(self.detail),
            "code": self.code,
        }

    def response(self) -> Response:
        """Return the answer."""
        return Response(
            json.dumps(self.content()), self.status, self.headers, media_type=MEDIA_TYPE
        )


class TooManyError(Problem):
    """A token has passed one of its limits, and may go on after some seconds."""

    def __init__(self, what: str, seconds: int) -> None:
        text = f"{what}; wait {seconds} s and send it again"
        super().__init__(429, "busy", text, {"Retry-After": str(seconds)})


def not_found() -> Problem:
    """Return the problem for a path without an endpoint."""
    text = "there is nothing at this path; /openapi.json lists the endpoints"
    return Problem(404, "request", text)


def internal(request: str) -> Problem:
    """Return the problem for a bug in the service itself; the details are in its log."""
    return Problem(
        500,
        "internal",
        f"internal error of the service; its log has the reason, under request {request}",
    )


def problem_of(
    request: Request, error: BaseException, of_library: Callable[[DikinError], Problem]
) -> Problem | None:
    """Return the problem for an error of any kind; None for a bug in the service."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, DikinError):
        return of_library(error)
    if not isinstance(error, RequestValidationError):
        return None
    fields = _fields(request.scope["route"])
    errors = error.errors()
    faults = [_fault(each, fields) for each in errors[:FAULTS]]
    if len(errors) > FAULTS:
        faults.append(f"and {len(errors) - FAULTS:,} more")
    return Problem(422, "request", "; ".join(faults))


def _fields(route: APIRoute) -> list[str]:
    """Return the fields of the body that an endpoint accepts."""
    body = None if route.body_field is None else route.body_field.field_info.annotation
    models = [body, *get_args(body)]
    return [
        name
        for model in models
        if isinstance(model, type) and issubclass(model, BaseModel)
        for name in model.model_fields
    ]


def _fault(error: dict[str, Any], fields: list[str]) -> str:
    """Return what is wrong with one part of a request."""
    where, *path = error["loc"]
    name = ".".join(map(str, path))
    if error["type"] == "missing":
        return f"{name} is missing in the {where}" if name else "the body is missing"
    if error["type"] == "extra_forbidden":
        return f"{shown(name)} is not known in the {where}.{did_you_mean(name, fields)}"
    if error["type"] in ("model_attributes_type", "dict_type"):
        got = shown(error.get("input"))
        return f"the {name or where} must be a JSON object such as {{...}}, got {got}"
    return f"{name or 'the'} ({where}): {error['msg']}, got {shown(error.get('input'))}"
