"""The ASGI application, `create_app(store)`, and what it serves beside the studies.

`dikin serve` adds what a public server needs: it refuses to listen beyond this machine without
tokens, limits connections, and ends streams before it stops.
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
from starlette.responses import Response

import dikin
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
from dikin.service.problems import not_found
from dikin.service.service import Service
from dikin.service.workers import collecting_warnings

PAGE = files("dikin.service") / "page"
TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}


def create_app(
    store: str,
    *,
    patience: float = PATIENCE,
    deadline: float = ANSWER_SECONDS,
    rate: float = REQUESTS_A_SECOND,
    largest_request: int = LARGEST_REQUEST,
) -> FastAPI:
    """Return the application that serves the studies in a store; for the others see `serve`."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        with collecting_warnings():
            yield
            service.closing.set()
            await asyncio.to_thread(service.workers.close)

    service = Service(store, patience, deadline, rate)
    app = FastAPI(
        title="dikin",
        version=dikin.__version__,
        lifespan=lifespan,
        openapi_url=None,  # it would be written anew for each request, of whomever
        docs_url=None,  # its page loads scripts from other hosts
        redoc_url=None,
    )
    app.state.service, app.state.looks = service, Looks(service)
    for router in (routes.router, _others):
        app.include_router(router)
    app.add_middleware(
        RequestMiddleware,
        endpoints=Endpoints((*routes.router.routes, *_others.routes)),
        service=service,
        largest=largest_request,
    )
    app.openapi = lambda: _openapi(app)  # type: ignore[method-assign]
    return app


# --- beside the studies --------------------------------------------------------------------------

_others = APIRouter()


@_others.get(
    "/metrics",
    openapi_extra=routes.READ,
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
    """Return rounds, values, failures and open trials of all studies, and requests."""
    service: Service = request.app.state.service
    studies = await service.statuses(await service.names(request.state.access))
    return Response(await asyncio.to_thread(service.metrics.text, studies), media_type=MEDIA_TYPE)


@_others.head("/healthz", include_in_schema=False)
@_others.get("/healthz", response_model=schemas.Health)
async def healthz() -> Response:
    """Say whether the process answers."""
    return routes.as_json(schemas.Health(ok=True))


@_others.head("/readyz", include_in_schema=False)
@_others.get(
    "/readyz",
    response_model=schemas.Health,
    responses={503: routes.PROBLEMS[503], 500: routes.PROBLEMS[500]},
)
async def readyz(request: Request) -> Response:
    """Say whether the database answers too, and all open studies do."""
    service: Service = request.app.state.service
    await service.refuse_unready()
    return routes.as_json(schemas.Health(ok=True))


@_others.get("/openapi.json", include_in_schema=False)
async def openapi(request: Request) -> Response:
    """Return the OpenAPI file."""
    text = json.dumps(request.app.openapi())
    return Response(text, media_type="application/json")


@_others.get("/", include_in_schema=False)
async def page() -> Response:
    """Return the page."""
    text = (PAGE / "index.html").read_text(encoding="utf-8")
    return Response(text.replace("{version}", dikin.__version__), media_type="text/html")


@_others.get("/page/{file}", include_in_schema=False)
async def page_file(file: str) -> Response:
    """Return a file of the page."""
    path = {each.name: each for each in PAGE.iterdir()}.get(file)
    kind = TYPES.get(os.path.splitext(file)[1])
    if path is None or kind is None:
        raise not_found()
    return Response(path.read_bytes(), media_type=kind)


# --- the OpenAPI file ----------------------------------------------------------------------------


def _openapi(app: FastAPI) -> dict[str, Any]:
    if app.openapi_schema is None:
        spec = get_openapi(
            title="dikin",
            version=dikin.__version__,
            summary="Studies of bandit convex optimization over HTTP.",
            description="A study stores a tuner. `ask` for a setting, use it, `tell` the value. "
            "Every error is a problem (RFC 9457) whose `detail` says what to do.",
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
