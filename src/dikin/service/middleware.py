"""Middleware for every request: who may send it, its body, response headers, the log."""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from itertools import count
from typing import Any

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dikin.errors import DikinError, StoreError
from dikin.service.bodies import read_body
from dikin.service.dispatch import Endpoint, Endpoints, decoded
from dikin.service.limits import BODY_SECONDS, READ_AT_ONCE
from dikin.service.problems import ClientGone, Problem, internal, problem_of
from dikin.service.service import Service

METHODS = ("GET", "HEAD", "PUT", "POST", "DELETE", "PATCH", "OPTIONS")
"""Methods that are counted by name; a client may send any word."""

HEADERS = [
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        b"connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
]
"""Headers of every answer."""

log = logging.getLogger("dikin.service")


class RequestMiddleware:
    """Answers every request.

    Whether a request may be answered is decided by its head. Only then is its body read.
    """

    def __init__(self, app: ASGIApp, endpoints: Endpoints, service: Service, largest: int) -> None:
        self._app, self._endpoints, self._service = app, endpoints, service
        self._largest = largest
        self._ids = count(secrets.randbits(32))  # they differ, also from those before a restart

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, id = time.perf_counter(), f"{next(self._ids) % 2**32:08x}"
        scope.setdefault("state", {})
        # The undecoded path: the name of a study may contain a slash, which is written as %2F.
        raw: bytes = scope.get("raw_path") or scope["path"].encode()
        scope["path"] = raw.partition(b"?")[0].decode("latin-1")
        status = 500
        more = [*HEADERS, (b"x-request-id", id.encode())]

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], *more]
            await send(message)

        try:
            endpoint, scope["path_params"] = self._endpoints.find(scope["method"], scope["path"])
            scope["route"] = endpoint.route
            await self._answer(endpoint, Request(scope, receive), answer)
        except ClientGone:
            status = 499
        except (Exception, asyncio.CancelledError) as error:
            if status != 500:  # the answer has begun
                raise
            problem = self._problem(Request(scope), error, id)
            await problem.response()(scope, receive, answer)
        finally:
            self._note(scope, status, time.perf_counter() - began, id)

    async def _answer(self, endpoint: Endpoint, request: Request, send: Send) -> None:
        scope, service = request.scope, self._service
        if endpoint.right is None:
            response = await endpoint.answer(request, None)
            await response(scope, request.receive, send)
            return
        access = await service.access(request)
        state = scope["state"]
        state["access"], state["token"] = access, access.name
        study = scope["path_params"].get("name")
        if study is not None:
            study = scope["path_params"]["name"] = state["study"] = decoded(study)
        access.refuse_unless(endpoint.right, study)
        with service.quotas.request(access.name):
            body = await self._body(request)
            if body and not endpoint.takes_body:
                raise Problem(422, "request", "this endpoint takes no body; send none")
            try:
                response = await endpoint.answer(request, body if endpoint.takes_body else None)
            except DikinError as error:
                raise await service.problem_for(error, access, study) from error
            await response(scope, request.receive, send)

    async def _body(self, request: Request) -> Any:
        """Return the value of the body, or None; a slow client delays only itself."""
        headers = request.headers
        length = headers.get("content-length", "0")
        if "transfer-encoding" in headers:
            if "content-length" in headers:
                raise Problem(
                    400, "request", "a body has a length or a transfer encoding, not both"
                )
        elif length == "0":
            return None
        if length.isdecimal() and int(length) > self._largest:
            raise self._too_large()
        _refuse_other_type(headers)
        body = await self._received(request.receive)
        if not body:
            return None
        if len(body) <= READ_AT_ONCE:
            return read_body(body)
        return await self._service.workers.apart(read_body, body, long=True)

    async def _received(self, receive: Receive) -> bytes:
        body = bytearray()
        try:
            async with asyncio.timeout(BODY_SECONDS):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise ClientGone
                    body += message.get("body", b"")
                    if len(body) > self._largest:
                        raise self._too_large()
                    if not message.get("more_body", False):
                        return bytes(body)
        except TimeoutError:
            raise Problem(
                408, "request", f"a request must be sent within {BODY_SECONDS:g} seconds"
            ) from None

    def _too_large(self) -> Problem:
        return Problem(
            413,
            "request",
            f"a request may have at most {self._largest:,} bytes (dikin serve --largest-request); "
            "this one has more and was not read",
        )

    def _problem(self, request: Request, error: BaseException, id: str) -> Problem:
        """Return the problem for whatever a request has raised."""
        if isinstance(error, asyncio.CancelledError):
            if not self._service.closing.is_set():
                raise error
            error = StoreError(
                "the service shuts down, and had to leave this request. Send it again: an answer "
                "counts once, and an ask under the same key is asked once"
            )
        problem = problem_of(request, error, self._service.problem)
        if problem is None:
            log.error("fault", exc_info=error, extra={"fields": {"request": id}})
            problem = internal(id)
        request.scope["state"]["code"] = problem.code
        length = request.headers.get("content-length", "0")
        long = len(length) > len(str(READ_AT_ONCE)) or "transfer-encoding" in request.headers
        if long or problem.status == 408:
            problem.headers["Connection"] = "close"  # the rest of the body is not read
        return problem

    def _note(self, scope: Scope, status: int, seconds: float, id: str) -> None:
        # The pattern of the path and not the path itself: a secret in it must not reach the log.
        route = getattr(scope.get("route"), "path", "other")
        method = scope["method"] if scope["method"] in METHODS else "other"
        self._service.metrics.request(method, route, status, seconds)
        if not log.isEnabledFor(logging.INFO):
            return
        state = scope["state"]
        token, client = state.get("token"), (scope.get("client") or [None])[0]
        fields = {
            "request": id,
            "method": method,
            "route": route,
            "study": state.get("study"),
            "token": token,
            "client": client,
            "status": status,
            "code": state.get("code"),
            "milliseconds": round(1000 * seconds, 2),
        }
        log.info("request", extra={"fields": fields})


def _refuse_other_type(headers: Headers) -> None:
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        got = repr(kind[:80]) if kind else "none"
        raise Problem(
            415, "request", f"a body must be JSON, with Content-Type: application/json; got {got}"
        )
