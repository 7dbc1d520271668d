"""The ASGI application: `create_app(store)`, or `uvicorn dikin.service.app:app`.

The latter reads the store from the environment variable DIKIN_URL. `dikin serve` adds what a public
server needs: it refuses to listen beyond this machine without tokens, ends streams before it stops,
and closes idle connections.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.resources import files
from typing import Any, get_args

from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.responses import Response

import dikin
from dikin.errors import DikinError, ParameterError, did_you_mean, shown
from dikin.service import routes, schemas
from dikin.service.events import Looks
from dikin.service.limits import FAULTS, LARGEST_REQUEST, PATIENCE
from dikin.service.metrics import MEDIA_TYPE
from dikin.service.middleware import RequestMiddleware
from dikin.service.problems import Problem
from dikin.service.service import Service
from dikin.service.workers import collecting_warnings

PAGE = files("dikin.service") / "page"
TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}


def create_app(
    store: str, *, patience: float = PATIENCE, largest_request: int = LARGEST_REQUEST
) -> FastAPI:
    """The application that serves the studies in a store.

    Parameters
    ----------
    store : str
        The database, as for `dikin.Study`.
    patience : float, default 2.0
        Seconds to wait for another process or for the database before answering with 503.
    largest_request : int, default 1,000,000
        The largest body, in bytes.

    Returns
    -------
    fastapi.FastAPI
        The application, for any ASGI server.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        with collecting_warnings():
            yield
            service.closing.set()
            await asyncio.to_thread(service.workers.close)

    service = Service(store, patience)
    app = FastAPI(
        title="dikin",
        version=dikin.__version__,
        lifespan=lifespan,
        docs_url=None,  # its page loads scripts from other hosts
        redoc_url=None,
        redirect_slashes=False,
    )
    app.state.service, app.state.looks = service, Looks(service)
    app.include_router(routes.router)
    app.include_router(_guarded)
    app.include_router(_public)
    app.add_middleware(RequestMiddleware, metrics=service.metrics, largest=largest_request)
    app.add_exception_handler(DikinError, _error_response)
    app.add_exception_handler(HTTPException, _error_response)
    app.add_exception_handler(RequestValidationError, _error_response)
    app.openapi = lambda: _openapi(app)  # type: ignore[method-assign]
    return app


def __getattr__(name: str) -> Any:
    """`app`, built on first access: the store is in the environment."""
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    store = os.environ.get("DIKIN_URL") or os.environ.get("DIKIN_STORE")
    if not store:
        raise ParameterError(
            "set the store in the environment: DIKIN_URL=studies.db, or "
            "DIKIN_URL=postgresql://user@host/database"
        )
    return create_app(store)


# --- beside the studies --------------------------------------------------------------------------

_guarded = APIRouter(route_class=routes.GuardedRoute)
_public = APIRouter()


@_guarded.get(
    "/metrics",
    openapi_extra=routes.READ,
    response_class=Response,
    responses={
        **{status: routes.PROBLEMS[status] for status in (401, 403, 500, 503)},
        200: {
            "description": "Metrics for Prometheus.",
            "content": {MEDIA_TYPE: {"schema": {"type": "string"}}},
        },
    },
)
async def metrics(request: Request) -> Response:
    """Rounds, values, surprise, certificates and open queries of all studies, and requests."""
    service: Service = request.app.state.service
    studies = await service.statuses(await service.names(request.state.access))
    return Response(await asyncio.to_thread(service.metrics.text, *studies), media_type=MEDIA_TYPE)


@_public.head("/healthz", include_in_schema=False)
@_public.get("/healthz", response_model=schemas.Health)
async def healthz() -> dict[str, bool]:
    """Whether the process answers."""
    return {"ok": True}


@_public.head("/readyz", include_in_schema=False)
@_public.get(
    "/readyz",
    response_model=schemas.Health,
    responses={503: routes.PROBLEMS[503], 500: routes.PROBLEMS[500]},
)
async def readyz(request: Request) -> dict[str, bool]:
    """Whether the database answers too."""
    service: Service = request.app.state.service
    await service.reachable.get()
    return {"ok": True}


@_public.get("/", include_in_schema=False)
async def page() -> Response:
    """The page."""
    text = (PAGE / "index.html").read_text(encoding="utf-8")
    return Response(text.replace("{version}", dikin.__version__), media_type="text/html")


@_public.get("/page/{file}", include_in_schema=False)
async def page_file(file: str) -> Response:
    """A file of the page."""
    path = {each.name: each for each in PAGE.iterdir()}.get(file)
    kind = TYPES.get(os.path.splitext(file)[1])
    if path is None or kind is None:
        raise HTTPException(404)
    return Response(path.read_bytes(), media_type=kind)


# --- errors --------------------------------------------------------------------------------------


async def _error_response(request: Request, error: Exception) -> Response:
    problem = _problem(request, error)
    request.state.code = problem.code
    return problem.response()


def _problem(request: Request, error: Exception) -> Problem:
    if isinstance(error, Problem):
        return error
    if isinstance(error, DikinError):
        service: Service = request.app.state.service
        return service.problem(error)
    if isinstance(error, RequestValidationError):
        fields = _fields(request.scope["route"])
        errors = error.errors()
        faults = [_fault(each, fields) for each in errors[:FAULTS]]
        if len(errors) > FAULTS:
            faults.append(f"and {len(errors) - FAULTS:,} more")
        return Problem(422, "request", "; ".join(faults))
    assert isinstance(error, HTTPException)
    words = {
        404: "there is nothing at this path; /openapi.json lists the endpoints",
        405: f"{request.method} is not allowed at this path; /openapi.json lists the endpoints",
    }
    detail = words.get(error.status_code, str(error.detail))
    headers = dict(error.headers or {})
    if error.status_code == 405:
        headers["Allow"] = ", ".join(_methods(request))
    return Problem(error.status_code, "request", detail, headers)


def _methods(request: Request) -> list[str]:
    """The methods that the path of a request allows."""
    for pattern, methods in request.app.openapi()["paths"].items():
        if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", pattern), request.scope["path"]):
            return sorted(method.upper() for method in methods)
    return ["GET"]  # a file of the page


def _fields(route: APIRoute) -> list[str]:
    """The fields of the body that an endpoint accepts."""
    body = None if route.body_field is None else route.body_field.field_info.annotation
    models = [body, *get_args(body)]
    return [
        name
        for model in models
        if isinstance(model, type) and issubclass(model, BaseModel)
        for name in model.model_fields
    ]


def _fault(error: dict[str, Any], fields: list[str]) -> str:
    """What is wrong with one part of a request."""
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


# --- the OpenAPI file ----------------------------------------------------------------------------


def _openapi(app: FastAPI) -> dict[str, Any]:
    if app.openapi_schema is None:
        spec = get_openapi(
            title="dikin",
            version=dikin.__version__,
            summary="Studies of bandit convex optimization over HTTP.",
            description="A study stores a tuner or learner. `ask` what to play, play it, `tell` "
            "the result. Every error is a problem (RFC 9457) whose `detail` says what to do.",
            routes=app.routes,
        )
        components = spec.setdefault("components", {})
        components.setdefault("schemas", {})["Problem"] = schemas.Problem.model_json_schema()
        for unused in ("HTTPValidationError", "ValidationError"):
            components["schemas"].pop(unused, None)
        components["securitySchemes"] = {
            "token": {
                "type": "http",
                "scheme": "bearer",
                "description": "A token, as printed by `dikin token create`. If the store has "
                "no tokens, clients on the same machine need none.",
            }
        }
        app.openapi_schema = spec
    return app.openapi_schema
