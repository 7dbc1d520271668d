"""The server: uvicorn, hardened for public addresses."""

from __future__ import annotations

import asyncio
import socket
import sys
from typing import Any, cast

import h11
import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol

from dikin.errors import ParameterError
from dikin.service.limits import (
    CONNECTIONS,
    FINISH_SECONDS,
    HEAD_SECONDS,
    LARGEST_HEAD,
    MOST_PIECES,
)
from dikin.service.service import Service


class Parser(h11.Connection):
    """Reads requests; refuses a body in too many pieces, since each of them takes time."""

    _pieces = 0

    def next_event(self) -> Any:
        """The next part of a request."""
        event = super().next_event()
        if isinstance(event, h11.Data):
            self._pieces += 1
        elif isinstance(event, h11.EndOfMessage):
            self._pieces = 0
        if self._pieces > MOST_PIECES:
            raise h11.RemoteProtocolError(f"a body arrived in more than {MOST_PIECES:,} pieces")
        return event


class Connection(H11Protocol):
    """A connection; closed if no request arrives, so that idle ones do not fill the server."""

    _deadline: asyncio.TimerHandle | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.conn = Parser(h11.SERVER, LARGEST_HEAD)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin."""
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        """Read more of a request."""
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        self._forget_deadline()
        super().connection_lost(exc)

    def _watch(self) -> None:
        """Set a deadline while the head of a request is incomplete, and clear it afterwards."""
        if self.cycle is not None and not self.cycle.response_complete:
            self._forget_deadline()
        elif self._deadline is None:
            self._deadline = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def _forget_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


class Server(uvicorn.Server):
    """Ends the streams of events first, so that they do not delay the shutdown."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Finish running requests, and stop."""
        app = cast(Any, self.config.app)
        service: Service = app.state.service
        service.closing.set()
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
    config = uvicorn.Config(
        app,
        http=Connection,
        ws="none",
        loop="asyncio",
        access_log=False,
        log_config=None,
        server_header=False,
        forwarded_allow_ips=proxies,
        limit_concurrency=CONNECTIONS,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=FINISH_SECONDS,
    )
    Server(config).run([listener])
