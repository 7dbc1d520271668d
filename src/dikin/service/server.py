"""The server: uvicorn, with limits on connections and on the time that stopping takes."""

from __future__ import annotations

import logging
import os
import socket
import sys

import uvicorn
from fastapi import FastAPI

from dikin.errors import ParameterError
from dikin.service.limits import CONNECTIONS, FINISH_SECONDS, IDLE_SECONDS
from dikin.service.service import Service


class Server(uvicorn.Server):
    """Ends the streams of events first, so that they do not delay the shutdown."""

    def __init__(self, config: uvicorn.Config, service: Service) -> None:
        super().__init__(config)
        self._service = service

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Finish running requests, and stop."""
        self._service.closing.set()
        await super().shutdown(sockets)


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket, or raise an error that says why there is none."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        # Clients that connect before the server has started wait.
        listener = socket.create_server((host, port), family=family, backlog=2048)
    except OSError as reason:
        raise ParameterError(
            f"cannot listen on {host} port {port}: {reason.strerror}; choose another --port, or "
            "0 for any free one"
        ) from reason
    # Made anew with its protocol: asyncio sends small answers at once only if it knows that it is
    # TCP.
    return socket.socket(fileno=listener.detach())


def run(app: FastAPI, listener: socket.socket, proxies: str) -> None:
    """Serve until SIGTERM or Ctrl-C, and finish running requests."""
    sys.setswitchinterval(0.001)  # the longest that a study's thread delays the event loop
    service: Service = app.state.service
    config = uvicorn.Config(
        app,
        http="httptools",
        ws="none",
        loop="asyncio",
        access_log=False,
        log_config=None,
        server_header=False,
        forwarded_allow_ips=proxies,
        limit_concurrency=CONNECTIONS,
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=FINISH_SECONDS,
    )
    try:
        Server(config, service).run([listener])
    finally:
        if service.workers.abandoned:
            # Python would wait for their threads, and the database does not answer them. What they
            # had acknowledged is durable.
            logging.shutdown()
            os._exit(1)
