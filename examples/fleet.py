"""Web servers in processes of their own, and clients that send bursts of requests to them.

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
from queue import SimpleQueue
from typing import Self

SERVER = Path(__file__).with_name("slow_server.py")
HUNG = 10.0
"""Seconds without an answer after which a server is given up."""


class Server:
    """A server in its own process."""

    def __init__(self) -> None:
        # A session of its own: Ctrl-C is for us, and closing the server's input is for it.
        self.process = subprocess.Popen(
            [sys.executable, str(SERVER)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            self.port = int(self._read_line())
        except BaseException:
            self.close()
            raise

    def _read_line(self) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise ChildProcessError(f"the server with the process id {self.process.pid} has ended")
        return line

    def set_pace(self, milliseconds: float) -> None:
        """What a request takes from now on."""
        assert self.process.stdin is not None
        print(milliseconds, file=self.process.stdin, flush=True)
        self._read_line()  # the server repeats it

    def close(self) -> None:
        try:
            self.process.communicate(timeout=HUNG)  # closes its input, which ends it, and waits
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Client:
    """Connections to every server, enough for a burst that goes to one alone."""

    def __init__(self, ports: Sequence[int], requests: int) -> None:
        self._selector = selectors.DefaultSelector()
        self._connections: list[list[socket.socket]] = []
        try:
            for port in ports:
                self._connections.append([])
                for _ in range(requests):
                    self._connections[-1].append(self._connected(port))
        except BaseException:
            self.close()
            raise

    def _connected(self, port: int) -> socket.socket:
        connection = socket.create_connection(("127.0.0.1", port), HUNG)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._selector.register(connection, selectors.EVENT_READ, connection)
        return connection

    def latency(self, counts: Sequence[int]) -> float:
        """Send each server so many requests at once; the mean latency in milliseconds."""
        sent: dict[socket.socket, float] = {}
        for connections, count in zip(self._connections, counts, strict=True):
            for connection in connections[:count]:
                connection.sendall(b"GET / HTTP/1.1\r\nHost: loopback\r\n\r\n")
                sent[connection] = time.perf_counter()
        requests, total = len(sent), 0.0
        while sent:
            for connection in self._answering():
                take_answer(connection)
                total += time.perf_counter() - sent.pop(connection)
        return 1000 * total / requests

    def _answering(self) -> list[socket.socket]:
        ready = [key.data for key, _ in self._selector.select(HUNG)]
        if not ready:
            raise TimeoutError(f"no answer within {HUNG:g} seconds from a server")
        return ready

    def close(self) -> None:
        self._selector.close()
        for connections in self._connections:
            for connection in connections:
                connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Fleet:
    """All servers and all clients. A thread that has a burst to send takes a client that is idle.

    The clients share the servers: the requests of one wait for those of the others.
    """

    def __init__(self, servers: Sequence[Server], clients: Sequence[Client]) -> None:
        self.servers, self.clients = servers, clients
        self._idle: SimpleQueue[Client] = SimpleQueue()
        for client in clients:
            self._idle.put(client)

    @classmethod
    @contextmanager
    def running(cls, servers: int, clients: int, requests: int) -> Iterator[Self]:
        """Start servers, and clients whose bursts have at most so many requests."""
        with ExitStack() as stack:
            started = [stack.enter_context(Server()) for _ in range(servers)]
            ports = [server.port for server in started]
            connected = [stack.enter_context(Client(ports, requests)) for _ in range(clients)]
            yield cls(started, connected)

    @property
    def ports(self) -> list[int]:
        return [server.port for server in self.servers]

    def set_paces(self, milliseconds: Sequence[float]) -> None:
        for server, pace in zip(self.servers, milliseconds, strict=True):
            server.set_pace(pace)

    def latency(self, counts: Sequence[int]) -> float:
        """Send each server so many requests at once; the mean latency in milliseconds."""
        client = self._idle.get(timeout=HUNG)
        try:
            return client.latency(counts)
        finally:
            self._idle.put(client)


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
