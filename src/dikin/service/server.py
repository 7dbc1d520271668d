"""The server: uvicorn, hardened for public addresses."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import sys
from typing import Any, cast

import httptools
import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from dikin.errors import ParameterError
from dikin.service.connections import Budget, Waits, affordable
from dikin.service.limits import (
    FINISH_SECONDS,
    HEAD_SECONDS,
    LARGEST_HEAD,
    MOST_PIECES,
    PIPELINE,
    SEND_SECONDS,
)
from dikin.service.service import Service

log = logging.getLogger("dikin.service")


class Answer:
    """The transport of one answer: its head is sent together with what follows at once."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport, self._loop = transport, loop
        self._head: bytes | None = None
        self._begun = False

    def write(self, data: bytes) -> None:
        """Send something, or keep it until the next turn of the event loop if it is the first."""
        if self._begun:
            self._flush(data)
        else:
            self._begun, self._head = True, data
            self._loop.call_soon(self._flush)

    def close(self) -> None:
        """Send what is left, and close."""
        self._flush()
        self._transport.close()

    def is_closing(self) -> bool:
        """Whether the connection ends."""
        return self._transport.is_closing()

    def _flush(self, data: bytes = b"") -> None:
        head, self._head = self._head or b"", None
        if head or data:
            self._transport.write(head + data if head else data)


class Connection(HttpToolsProtocol):
    """A connection, with limits on what its client may send, leave unsaid and leave unread."""

    address = ""
    _deadline: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None
    _in_head = True
    _head_bytes = 0
    _pieces = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin, if there is room."""
        super().connection_made(transport)
        self.address = "" if self.client is None else self.client[0]
        self._budget = _budget(self.config)
        if self._budget.admit(self):
            self._watch()
        else:
            transport.abort()

    def data_received(self, data: bytes) -> None:
        """Read more of a request."""
        if self._in_head:
            self._head_bytes += len(data)
        if self.parser is not None and not self.transport.is_closing():
            super().data_received(data)
        if self._in_head and self._head_bytes > LARGEST_HEAD:
            self._refuse("the head of a request is too large")
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        self._forget_deadline()
        self.resume_writing()
        self._budget.release(self)
        for cycle in (self.cycle, *(each for each, _ in self.pipeline)):
            if cycle is not None and not cycle.response_complete:
                cycle.scope["state"]["gone"] = True
        super().connection_lost(exc)

    def drop(self) -> None:
        """Close at once: others need the room."""
        self.transport.abort()

    # --- parts of a request ----------------------------------------------------------------------

    def on_message_begin(self) -> None:
        """A request begins."""
        super().on_message_begin()
        self._pieces = 0

    def on_headers_complete(self) -> None:
        """The head is complete."""
        self._in_head, self._head_bytes = False, 0
        if len(self.pipeline) >= PIPELINE:
            raise httptools.HttpParserError("too many requests before the first was answered")
        super().on_headers_complete()
        self.cycle.transport = cast(Any, Answer(self.transport, self.loop))
        if not self.pipeline:  # or an earlier request is being answered
            self._budget.note(self, Waits.BODY)

    def on_body(self, body: bytes) -> None:
        """A piece of the body; each takes time, so there must not be too many."""
        self._pieces += 1
        if self._pieces > MOST_PIECES:
            raise httptools.HttpParserError("a body arrived in too many pieces")
        super().on_body(body)

    def on_message_complete(self) -> None:
        """The request is complete."""
        super().on_message_complete()
        self._in_head = True
        if not self.cycle.response_complete:
            self._budget.note(self, Waits.ANSWER)

    def on_response_complete(self) -> None:
        """The answer is complete."""
        super().on_response_complete()
        if not self.pipeline:
            self._budget.note(self, Waits.NEXT_REQUEST)
            self._watch()

    def _refuse(self, reason: str) -> None:
        self.logger.warning("Invalid HTTP request received.")
        if not self.transport.is_closing():
            self.send_400_response(reason)

    # --- time ------------------------------------------------------------------------------------

    def _watch(self) -> None:
        """Set a deadline while a head, or a body that nobody wants, is incomplete."""
        idle = self.cycle is not None and self._in_head and not self._head_bytes
        if idle or (self.cycle is not None and not self.cycle.response_complete):
            self._forget_deadline()
        elif self._deadline is None:
            self._deadline = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def _forget_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def pause_writing(self) -> None:
        """The client does not read what was sent to it: it has some seconds to do so."""
        super().pause_writing()
        self._unread = self.loop.call_later(SEND_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """The client has read enough."""
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None
        super().resume_writing()


def _budget(config: uvicorn.Config) -> Budget:
    return _service(config).connections


def _service(config: uvicorn.Config) -> Service:
    service: Service = cast(Any, config.app).state.service
    return service


class Server(uvicorn.Server):
    """Ends the streams of events first, so that they do not delay the shutdown."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Finish running requests, and stop."""
        _service(self.config).closing.set()
        await super().shutdown(sockets)


def listen(host: str, port: int) -> socket.socket:
    """A listening socket, or an error that says why there is none."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        # With its protocol: asyncio sends small answers at once only if it knows that it is TCP.
        listener = socket.socket(family, kind, protocol)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen(2048)  # clients that connect before the server has started wait
        except OSError:
            listener.close()
            raise
        return listener
    except OSError as reason:
        raise ParameterError(
            f"cannot listen on {host} port {port}: {reason.strerror}; choose another --port, or "
            "0 for any free one"
        ) from reason


def run(app: FastAPI, listener: socket.socket, proxies: str) -> None:
    """Serve until SIGTERM or Ctrl-C, and finish running requests."""
    sys.setswitchinterval(0.001)  # the longest that a study's thread delays the event loop
    service: Service = app.state.service
    service.connections = Budget(
        affordable(), proxies=proxies, count=service.metrics.closed_connections.inc
    )
    config = uvicorn.Config(
        app,
        http=Connection,
        ws="none",
        loop="asyncio",
        access_log=False,
        log_config=None,
        server_header=False,
        forwarded_allow_ips=proxies,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=FINISH_SECONDS,
    )
    try:
        Server(config).run([listener])
    finally:
        if service.workers.abandoned:
            # Python would wait for their threads, and the database does not answer them. What they
            # had acknowledged is durable.
            logging.shutdown()
            os._exit(1)
