"""The server: uvicorn, with what an address in the open needs."""

from __future__ import annotations

import asyncio
import socket
import sys
from typing import Any, cast

import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol

from dikin.errors import ParameterError
from dikin.service.service import Service

FIRST_REQUEST_SECONDS = 20.0
"""How long a connection may stay open before its first request has come."""
CONNECTIONS = 1000
"""Requests and streams at a time; more are answered with 503."""
FINISH_SECONDS = 10.0
"""How long requests that have begun may take once the service is told to end."""


class Connection(H11Protocol):
    """A connection; one on which nothing comes is closed, so that such cannot fill the server."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin."""
        super().connection_made(transport)
        self._silent = self.loop.call_later(FIRST_REQUEST_SECONDS, self._close_if_silent)

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        self._silent.cancel()
        super().connection_lost(exc)

    def _close_if_silent(self) -> None:
        if self.cycle is None:  # no request was read in full
            self.transport.close()


class Server(uvicorn.Server):
    """Ends the streams of events first, so that they do not keep it from ending."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Finish what was begun, and end."""
        app = cast(Any, self.config.app)
        service: Service = app.state.service
        service.closing.set()
        await super().shutdown(sockets)


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens, or an error that says why not."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(2048)  # who comes before the server has started waits for it
    except OSError as reason:
        raise ParameterError(f"cannot listen on {host} port {port}: {reason.strerror}") from reason
    listener.set_inheritable(True)
    return listener


def run(app: FastAPI, listener: socket.socket, proxies: str) -> None:
    """Serve until SIGTERM or Ctrl-C, and finish what was begun."""
    sys.setswitchinterval(0.001)  # the event loop waits for a study's thread no longer than this
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
        timeout_graceful_shutdown=int(FINISH_SECONDS),
    )
    Server(config).run([listener])
