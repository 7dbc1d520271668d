"""Middleware for every request: limits on size and time, the path, response headers, the log."""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
import sys
import time
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dikin.service.limits import BODY_SECONDS
from dikin.service.metrics import Metrics
from dikin.service.problems import Problem, internal

METHODS = ("GET", "HEAD", "PUT", "POST", "DELETE", "PATCH", "OPTIONS")
"""Methods that are counted by name; a client may send any word."""

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}

log = logging.getLogger("dikin.service")
LEARNERS = "dikin"
"""The logger of learners, whose messages contain values."""


class RequestMiddleware:
    """Wraps the application."""

    def __init__(self, app: ASGIApp, metrics: Metrics, largest: int) -> None:
        self._app, self._metrics, self._largest = app, metrics, largest

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, id = time.perf_counter(), secrets.token_hex(4)
        scope.setdefault("state", {})
        # The undecoded path: the name of a study may contain a slash, which is written as %2F.
        raw: bytes = scope.get("raw_path") or scope["path"].encode()
        scope["path"] = raw.partition(b"?")[0].decode("latin-1")
        status = 500

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                headers["X-Request-Id"] = id
            await send(message)

        try:
            await self._answer(scope, receive, answer, id)
        finally:
            self._note(scope, status, time.perf_counter() - began, id)

    async def _answer(self, scope: Scope, receive: Receive, send: Send, id: str) -> None:
        try:
            body = await self._body(Headers(scope=scope), receive)
        except Problem as problem:
            response = problem.response()
            response.headers["Connection"] = "close"  # the rest of the body is not read
            await response(scope, receive, send)
            return
        if body is None:
            return
        try:
            await self._app(scope, _replayed(body, receive), send)
        except Exception:
            log.exception("fault", extra={"fields": {"request": id}})
            await internal(id).response()(scope, receive, send)

    async def _body(self, headers: Headers, receive: Receive) -> bytes | None:
        """The whole body; None if the client disconnected. A slow client delays only itself."""
        length = headers.get("content-length", "0")
        if "transfer-encoding" in headers and "content-length" in headers:
            raise Problem(400, "request", "a body has a length or a transfer encoding, not both")
        if length == "0" and "transfer-encoding" not in headers:
            return b""
        if length.isdecimal() and int(length) > self._largest:
            raise self._too_large()
        _refuse_other_type(headers)
        parts, size = [], 0
        try:
            async with asyncio.timeout(BODY_SECONDS):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        return None
                    parts.append(message.get("body", b""))
                    size += len(parts[-1])
                    if size > self._largest:
                        raise self._too_large()
                    if not message.get("more_body", False):
                        return b"".join(parts)
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

    def _note(self, scope: Scope, status: int, seconds: float, id: str) -> None:
        # The pattern of the path and not the path itself: a secret in it must not reach the log.
        route = getattr(scope.get("route"), "path", "other")
        method = scope["method"] if scope["method"] in METHODS else "other"
        self._metrics.request(method, route, status, seconds)
        log.info(
            "request",
            extra={
                "fields": {
                    "request": id,
                    "method": method,
                    "route": route,
                    "study": scope["state"].get("study"),
                    "token": scope["state"].get("token"),
                    "client": (scope.get("client") or [None])[0],
                    "status": status,
                    "code": scope["state"].get("code"),
                    "milliseconds": round(1000 * seconds, 2),
                }
            },
        )


def _refuse_other_type(headers: Headers) -> None:
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        got = repr(kind[:80]) if kind else "none"
        raise Problem(
            415, "request", f"a body must be JSON, with Content-Type: application/json; got {got}"
        )


def _replayed(body: bytes, receive: Receive) -> Receive:
    """A `receive` that repeats a body already read, and then continues with the connection."""
    repeated = False

    async def again() -> Message:
        nonlocal repeated
        if repeated:
            return await receive()
        repeated = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


class JsonLines(logging.Formatter):
    """One line of JSON per entry: time, level, event, and further fields.

    Of a learner's message it has the thread, which names the study, but not the values.
    """

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        learner = record.name == LEARNERS
        entry: dict[str, Any] = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
            + f".{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": "unexpected value" if learner else record.getMessage(),
        }
        if learner:
            entry["thread"] = record.threadName
        entry |= {k: v for k, v in getattr(record, "fields", {}).items() if v is not None}
        if record.exc_info:
            entry["traceback"] = self.formatException(record.exc_info)
        return json.dumps(entry)


def log_to_stderr(level: str) -> None:
    """Make the service and uvicorn log lines of JSON."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    for name in (LEARNERS, "uvicorn.error"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(level.upper())
