"""The ASGI application: `create_app(store)`, or `uvicorn dikin.service.app:app`.

The latter reads the store from the environment variable DIKIN_URL. `dikin serve` adds what a public
server needs: it refuses to listen beyond this machine without tokens, ends streams before it stops,
and closes idle connections.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.resources import files
from typing import Any

from fastapi import APIRouter, FastAPI, Request
from fastapi.openapi.utils import get_openapi
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

import dikin
from dikin.errors import ParameterError
from dikin.service import routes, schemas
from dikin.service.dispatch import Endpoints
from dikin.service.events import Looks
from dikin.service.limits import (
    ANSWER_SECONDS,
    LARGEST_REQUEST,
    PATIENCE,
    REQUESTS_A_SECOND,
)
from dikin.service.metrics import MEDIA_TYPE
from dikin.service.middleware import RequestMiddleware
from dikin.service.problems import problem_of
from dikin.service.service import Service
from dikin.service.workers import collecting_warnings

PAGE = files("dikin.service") / "page"
TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}


class Application(FastAPI):
    """Answers requests that have an endpoint without FastAPI's layers, which take as long again."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.answer: ASGIApp = super().__call__

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        scope["app"] = self
        await self.answer(scope, receive, send)


def create_app(
    store: str,
    *,
    patience: float = PATIENCE,
    deadline: float = ANSWER_SECONDS,
    rate: float = REQUESTS_A_SECOND,
    largest_request: int = LARGEST_REQUEST,
) -> FastAPI:
    """The application that serves the studies in a store.

    Parameters
    ----------
    store : str
        The database, as for `dikin.Study`.
    patience : float, default 2.0
        Seconds to wait for another process or for the database before answering with 503.
    deadline : float, default 10.0
        Seconds that a study may take for an answer in any case; after that it is a 503.
    rate : float, default 1000.0
        Requests of one token in a second, in the long run.
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

    service = Service(store, patience, deadline, rate)
    app = Application(
        title="dikin",
        version=dikin.__version__,
        lifespan=lifespan,
        openapi_url=None,  # it would be written anew for each request, of whomever
        docs_url=None,  # its page loads scripts from other hosts
        redoc_url=None,
        redirect_slashes=False,
    )
    app.state.service, app.state.looks, app.state.openapi = service, Looks(service), None
    for router in ROUTERS:
        app.include_router(router)
    app.answer = RequestMiddleware(
        app.answer,
        Endpoints(route for router in ROUTERS for route in router.routes),
        service,
        largest_request,
    )
    app.add_exception_handler(HTTPException, _error_response)
    app.openapi = lambda: _openapi(app)  # type: ignore[method-assign]
    return app


def __getattr__(name: str) -> Any:
    """`app`, built on first access: the store is in the environment."""
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    store = os.environ.get("DIKIN_URL")
    if not store:
        raise ParameterError(
            "set the store in the environment: DIKIN_URL=studies.db, or "
            "DIKIN_URL=postgresql://user@host/database"
        )
    return create_app(store)


# --- beside the studies --------------------------------------------------------------------------

_guarded = APIRouter()
_public = APIRouter()
ROUTERS = (routes.router, _guarded, _public)


@_guarded.get(
    "/metrics",
    openapi_extra=routes.LARGE_READ,
    response_class=Response,
    responses={
        **{status: routes.PROBLEMS[status] for status in (401, 403, 429, 500, 503)},
        200: {
            "description": "Metrics for Prometheus.",
            "content": {MEDIA_TYPE: {"schema": {"type": "string"}}},
        },
    },
)
async def metrics(request: Request) -> Response:
    """Rounds, values, surprise, certificates and open queries of all studies, and requests."""
    service: Service = request.app.state.service
    names, visitor = await service.names(request.state.access), request.state.token or ""
    studies = await service.statuses(names, visitor)
    return Response(await asyncio.to_thread(service.metrics.text, *studies), media_type=MEDIA_TYPE)


@_public.head("/healthz", include_in_schema=False)
@_public.get("/healthz", response_model=schemas.Health)
async def healthz() -> Response:
    """Whether the process answers."""
    return routes.as_json(schemas.Health(ok=True))


@_public.head("/readyz", include_in_schema=False)
@_public.get(
    "/readyz",
    response_model=schemas.Health,
    responses={503: routes.PROBLEMS[503], 500: routes.PROBLEMS[500]},
)
async def readyz(request: Request) -> Response:
    """Whether the database answers too, and all open studies do."""
    service: Service = request.app.state.service
    await service.refuse_unready()
    return routes.as_json(schemas.Health(ok=True))


@_public.get("/openapi.json", include_in_schema=False)
async def openapi(request: Request) -> Response:
    """The OpenAPI file."""
    state = request.app.state
    if state.openapi is None:
        state.openapi = json.dumps(request.app.openapi()).encode()
    return Response(state.openapi, media_type="application/json")


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
    """The answer to a request that has no endpoint."""
    service: Service = request.app.state.service
    problem = problem_of(request, error, service.problem)
    assert problem is not None
    request.state.code = problem.code
    return problem.response()


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
