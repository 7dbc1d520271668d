"""From a request to its endpoint: what FastAPI declares, without its layers.

FastAPI makes validators of the signatures of the endpoints, and the OpenAPI file. Its own way from
a request to an endpoint and back takes about as long as a round of a study, so the same validators
are called here directly.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import unquote

from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from dikin.errors import RequestError, did_you_mean, shown
from dikin.service.problems import Problem, not_found
from dikin.studies.arguments import printable


class Endpoint:
    """An endpoint, with the right that it needs and the parts of a request that it takes."""

    def __init__(self, route: APIRoute) -> None:
        self.route, self._call = route, route.endpoint
        self.right: str | None = (route.openapi_extra or {}).get("x-right")
        """The right that it needs; None if everybody may use it."""
        self.takes_body = route.body_field is not None
        takes = route.dependant
        self._request, self._names = takes.request_param_name, [f.name for f in takes.path_params]
        self._query, self._headers = takes.query_params, takes.header_params
        self._body = route.body_field
        self._parameters = [field.alias for field in takes.query_params]

    async def answer(self, request: Request, body: Any) -> Response:
        """Call the endpoint; `body` is the value of the body, or None."""
        arguments, errors = dict[str, Any](), list[Any]()
        if self._request is not None:
            arguments[self._request] = request
        for name in self._names:
            arguments[name] = request.path_params[name]
        if self._query or request.scope["query_string"]:
            query = request.query_params
            self._refuse_unknown(query)
            _read(self._query, query, "query", arguments, errors)
        _read(self._headers, request.headers, "header", arguments, errors)
        if self._body is not None:
            given = {} if body is None else {self._body.alias: body}
            _read([self._body], given, "body", arguments, errors, ("body",))
        if errors:
            raise RequestValidationError(errors)
        response: Response = await self._call(**arguments)
        return response

    def _refuse_unknown(self, query: Iterable[str]) -> None:
        """Refuse unknown query parameters: a misspelt one would be ignored silently."""
        for name in query:
            if name not in self._parameters:
                parameters = self._parameters
                others = did_you_mean(name, parameters) if parameters else " This takes none."
                raise RequestError(f"{shown(name)} is not known in the query.{others}")


def _read(
    fields: Iterable[Any],
    given: Mapping[str, Any],
    where: str,
    arguments: dict[str, Any],
    errors: list[Any],
    place: tuple[str, ...] | None = None,
) -> None:
    """Validate the fields of one part of a request."""
    for field in fields:
        loc = place or (where, field.alias)
        value = given.get(field.alias)
        if value is not None:
            arguments[field.name], faults = field.validate(value, {}, loc=loc)
            errors += faults or ()
        elif field.field_info.is_required():
            errors.append({"type": "missing", "loc": loc, "input": None})
        else:
            arguments[field.name] = field.field_info.get_default(call_default_factory=True)


class Endpoints:
    """All endpoints, by path and method."""

    def __init__(self, routes: Iterable[BaseRoute]) -> None:
        self._paths: dict[Any, dict[str, Endpoint]] = {}
        for route in routes:
            if isinstance(route, APIRoute):
                methods = self._paths.setdefault(route.path_regex, {})
                methods |= dict.fromkeys(route.methods or (), Endpoint(route))

    def find(self, method: str, path: str) -> tuple[Endpoint, dict[str, str]]:
        """Return the endpoint for a request and the parameters in its path, or raise a problem."""
        for pattern, methods in self._paths.items():
            match = pattern.fullmatch(path)
            if match is not None:
                if method in methods:
                    return methods[method], match.groupdict()
                raise Problem(
                    405,
                    "request",
                    f"{shown(method)} is not allowed at this path; /openapi.json lists the "
                    "endpoints",
                    {"Allow": ", ".join(sorted(methods))},
                )
        raise not_found()


def decoded(name: str) -> str:
    """Return the name of a study in a path, which is percent-encoded."""
    try:
        return printable(unquote(name, errors="strict"), "name")
    except UnicodeDecodeError as reason:
        raise RequestError(f"the name of the study is not UTF-8: {reason}") from reason
