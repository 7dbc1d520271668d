"""Web servers in processes of their own, and bursts of requests to them.

The ports are the system's choice. However this program ends, the servers end with it.
"""

from __future__ import annotations

import selectors
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from dikin.rng import stream

Array = NDArray[np.float64]

SERVER = Path(__file__).with_name("slow_server.py")
HUNG = 5.0
"""Seconds without an answer after which a server is given up."""


class Server:
    """A server in its own process, and the connections to it."""

    def __init__(self, connections: int) -> None:
        # A session of its own: Ctrl-C is for us, and closing the server's input is for it.
        self._process = subprocess.Popen(
            [sys.executable, str(SERVER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self.connections: list[socket.socket] = []
        try:
            self.port = int(self._read_line())
            for _ in range(connections):
                self.connections.append(socket.create_connection(("127.0.0.1", self.port), HUNG))
                self.connections[-1].setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except BaseException:
            self.close()
            raise

    def _read_line(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise ChildProcessError(f"the server with the process id {self._process.pid} has ended")
        return line

    def set_pace(self, milliseconds: float) -> None:
        """What a request takes from now on."""
        assert self._process.stdin is not None
        print(milliseconds, file=self._process.stdin, flush=True)
        self._read_line()  # the server repeats it

    def close(self) -> None:
        for connection in self.connections:
            connection.close()
        try:
            self._process.communicate(timeout=HUNG)  # closes its input, which ends it, and waits
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Fleet:
    """All servers. A burst leaves every queue empty, so that rounds do not touch each other."""

    def __init__(self, servers: Sequence[Server], requests: int, seed: int) -> None:
        self._servers, self.requests = servers, requests
        self._draws = stream(seed, "requests")
        self._selector = selectors.DefaultSelector()
        self.sent = 0
        for server in servers:
            for connection in server.connections:
                self._selector.register(connection, selectors.EVENT_READ, connection)

    @classmethod
    @contextmanager
    def running(cls, size: int, requests: int, seed: int) -> Iterator[Self]:
        with ExitStack() as stack:
            servers = [stack.enter_context(Server(requests)) for _ in range(size)]
            fleet = cls(servers, requests, seed)
            stack.callback(fleet._selector.close)
            yield fleet

    @property
    def ports(self) -> list[int]:
        return [server.port for server in self._servers]

    def set_paces(self, milliseconds: Sequence[float]) -> None:
        for server, pace in zip(self._servers, milliseconds, strict=True):
            server.set_pace(pace)

    def latency(self, weights: Array) -> float:
        """Send a burst and give its mean latency in milliseconds.

        Every request draws its server by itself. The expected load then follows the weights, and
        the expected latency is a smooth function of them.
        """
        counts = self._draws.multinomial(self.requests, weights / weights.sum())
        sent: dict[socket.socket, float] = {}
        for server, count in zip(self._servers, counts, strict=True):
            for connection in server.connections[:count]:
                connection.sendall(b"GET / HTTP/1.1\r\nHost: loopback\r\n\r\n")
                sent[connection] = time.perf_counter()
        self.sent += len(sent)
        total = 0.0
        while sent:
            for connection in self._answering():
                take_answer(connection)
                total += time.perf_counter() - sent.pop(connection)
        return 1000 * total / self.requests

    def _answering(self) -> list[socket.socket]:
        ready = [key.data for key, _ in self._selector.select(HUNG)]
        if not ready:
            raise TimeoutError(f"no answer within {HUNG:g} seconds from the servers {self.ports}")
        return ready


def take_answer(connection: socket.socket) -> None:
    """Read one answer. It has no body: a blank line ends it."""
    answer = b""
    while not answer.endswith(b"\r\n\r\n"):
        part = connection.recv(4096)
        if not part:
            raise ConnectionError(f"the server {connection.getpeername()[1]} closed a connection")
        answer += part
    if not answer.startswith(b"HTTP/1.1 204 "):
        raise ConnectionError(f"wanted the status 204 from a server, got {answer[:40]!r}")
