"""A service in a process of its own, as `dikin serve` starts it, and bare requests to it."""

import json
import os
import signal
import socket
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple, Self

import urllib3

import dikin
from dikin.service.tokens import RIGHTS, TokenStore
from service import template
from studies.conftest import new_file

TUNER = {"tuner": {"price": {"low": 1, "high": 14, "start": 4}}, "maximize": True, "seed": 7}
QUICK = """
from dikin.service import limits
limits.TOKENS_FRESH = 0.1
limits.SCRAPE_SECONDS = 60.0
from dikin.cli import main
main()
"""
"""`dikin`, but tokens are believed for a tenth of a second, and a scrape has the newest rows."""
FRESH = 0.25
"""Seconds after which every token is known."""


class Answer(NamedTuple):
    status: int
    headers: Any
    content: Any


class Serving:
    """A running service; `with` ends it."""

    program = QUICK
    begin: Any = template.Forked

    def __init__(self, store: str, *options: str, port: int = 0) -> None:
        self.store, self.options, self.port = store, options, port
        self.log = tempfile.TemporaryFile("w+")  # noqa: SIM115 - until the service ends
        self.tokens: dict[str, str] = {}
        self.pool = urllib3.PoolManager(retries=False, maxsize=20)
        self.start()

    def start(self) -> Self:
        """Start, or start again at the same port."""
        command = ["serve", "--url", self.store, "--port", str(self.port), *self.options]
        environment = {k: v for k, v in os.environ.items() if not k.startswith("DIKIN_")}
        self.process = self.begin(self.program, command, environment, self.log)
        assert self.process.stdout is not None
        said = self.said = self.process.stdout.readline()
        assert " at http://" in said, said + self.logged()
        self.url = said.split(" at ")[1].strip().rstrip("/")
        self.port = int(self.url.rpartition(":")[2])
        return self

    def logged(self) -> str:
        self.log.flush()
        self.log.seek(0)
        return self.log.read()

    def kill(self) -> None:
        self.process.kill()
        self._gone()

    def stop(self, seconds: float = 120.0) -> int:
        """End as an operator would; the exit status."""
        return self.end_by(signal.SIGTERM, seconds)

    def end_by(self, how: signal.Signals, seconds: float = 120.0) -> int:
        """End by a signal; the exit status."""
        self.process.send_signal(how)
        return self._gone(seconds)

    def _gone(self, seconds: float = 120.0) -> int:
        status = self.process.wait(seconds)
        assert self.process.stdout is not None
        self.process.stdout.close()
        return status

    def send(
        self, method: str, path: str, body: Any = None, token: str | None = None, **headers: str
    ) -> Answer:
        """A bare request; a body that is not bytes is sent as JSON."""
        named = {name.replace("_", "-"): text for name, text in headers.items()}
        if token is not None:
            named["Authorization"] = f"Bearer {token}"
        if body is not None:
            named.setdefault("Content-Type", "application/json")
            body = body if isinstance(body, bytes) else json.dumps(body).encode()
        answer = self.pool.request(method, self.url + path, body=body, headers=named)
        kind = answer.headers.get("Content-Type", "")
        content = json.loads(answer.data) if "json" in kind and answer.data else answer.data
        return Answer(answer.status, answer.headers, content)

    def problem(self, *request: Any, **more: Any) -> tuple[int, str, str]:
        """Status, code and detail of a request that is refused."""
        answer = self.send(*request, **more)
        assert answer.headers["Content-Type"] == "application/problem+json", answer
        assert set(answer.content) == {"type", "title", "status", "detail", "code"}
        assert answer.content["status"] == answer.status
        return answer.status, answer.content["code"], answer.content["detail"]

    def token(self, name: str, right: str, *studies: str) -> str:
        return TokenStore(self.store).create(name, right, studies or None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.kill()
        self.pool.clear()
        self.log.close()


def shop(url: str, name: str = "shop", rounds: int = 0, **options: Any) -> dikin.Study:
    """A study of a tuner, played for some rounds."""
    tuner = dikin.Tuner(
        {"price": dikin.Real(1, 14, start=4), "ads": dikin.Real(0, 60, start=40)},
        maximize=True,
        seed=7,
    )
    study = dikin.Study(url, name, tuner, **options)
    for _ in range(rounds):
        trial = study.ask()
        study.tell(trial, revenue(trial))
    return study


def revenue(trial: dikin.Trial) -> float:
    price, ads = trial["price"], trial["ads"]
    return float(500 - 8 * (price - 7) ** 2 - 0.1 * (ads - 25) ** 2)


async def ask_asgi(service: Any, method: str, path: str, body: bytes = b"") -> int:
    """Send a request to an application in this process; return the status of its answer."""
    sent: list[Any] = []
    headers = {b"host": b"localhost", b"content-type": b"application/json"}
    headers[b"content-length"] = b"%d" % len(body)
    scope = {"type": "http", "method": method, "path": path, "query_string": b""}
    scope |= {"headers": list(headers.items()), "server": ("127.0.0.1", 80)}

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    await service(scope, receive, send)
    return int(sent[0]["status"])


class FreshServing(Serving):
    """A service whose process begins as `dikin serve` does, its imports included."""

    begin = staticmethod(template.start)


@contextmanager
def guarded() -> Iterator[Serving]:
    """A service with two studies and a token of each kind."""
    with new_file() as store:
        for name in ("shop", "prices"):
            shop(store, name, rounds=3).close()
        tokens = TokenStore(store)
        made = {right: tokens.create(right, right) for right in RIGHTS}
        made["foreign"] = tokens.create("another", "admin", ("prices",))
        made["expired"] = tokens.create("expired", "admin", days=1e-9)
        made["revoked"] = tokens.create("revoked", "admin")
        tokens.revoke("revoked")
        with Serving(store) as running:
            time.sleep(FRESH)
            running.tokens = made
            yield running


def exchange(port: int, text: str, seconds: float = 60.0) -> tuple[int, bytes]:
    """Send a text as it is; return the status of the first answer, and all that came."""
    answer = b""
    with socket.create_connection(("127.0.0.1", port), seconds) as client, suppress(OSError):
        client.sendall(text.encode("latin-1"))
        while part := client.recv(65536):
            answer += part
    return int(answer[9:12] or 0), answer


def request(port: int, method: str, path: str, *lines: str, body: str = "") -> tuple[int, bytes]:
    """Send one request with these header lines, as `exchange`."""
    head = (
        f"{method} {path} HTTP/1.1",
        *lines,
        "Connection: close",
        f"Content-Length: {len(body)}",
        "",
        body,
    )
    return exchange(port, "\r\n".join(head))
