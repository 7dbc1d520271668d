"""The lookup of a service's name: a deadline, several addresses, names that nobody knows."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
import urllib3

from dikin.errors import StoreError
from dikin.studies.http import HttpRequest, NoAnswerError, ServiceClient
from dikin.studies.name_lookup import addresses

LOOK = HttpRequest("GET", "/healthz", None, {})


@pytest.fixture
def silent(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No name server answers until the test has ended."""
    over = threading.Event()

    def look_up(*_: Any, **__: Any) -> Any:
        over.wait()
        raise socket.gaierror(socket.EAI_AGAIN, "no answer")

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    yield
    over.set()


@pytest.mark.usefixtures("silent")
def test_a_lookup_without_an_answer_ends() -> None:
    with pytest.raises(TimeoutError, match=r"no name server has answered for 0.05 seconds"):
        addresses("service.test", 0.05)
    assert addresses("127.0.0.1", 0.05) == ["127.0.0.1"]  # needs none
    assert addresses("[::1]", 0.05) == ["::1"]


@pytest.mark.usefixtures("silent")
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_so_does_the_attempt_of_a_client(scheme: str) -> None:
    client = ServiceClient(f"{scheme}://service.test", None, "test", 1.0)
    with pytest.raises(NoAnswerError, match=r"unavailable: .*no name server has answered"):
        client._send_once(LOOK, 0.05)


def test_a_name_that_nobody_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: Any, **__: Any) -> Any:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    client = ServiceClient("http://service.test", None, "test", 1.0)
    with pytest.raises(StoreError, match=r"Failed to resolve 'service.test'.*not known"):
        client._send_once(LOOK, 5.0)


def test_the_first_address_that_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = list[str]()

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append(self.headers["Host"])
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *_: Any) -> None:
            pass

    ask = socket.getaddrinfo

    def two(name: str, *given: Any, **named: Any) -> Any:
        found = ask("127.0.0.1" if name == "service.test" else name, *given, **named)
        away = [(*entry[:4], ("127.0.0.9", 0)) for entry in found]
        return away + found if name == "service.test" else found

    server = HTTPServer(("127.0.0.1", 0), Answer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setattr(socket, "getaddrinfo", two)
    try:
        address = f"service.test:{server.server_port}"
        client = ServiceClient(f"http://{address}", None, "test", 1.0)
        assert client._send_once(LOOK, 60.0) == (200, {})
        assert seen == [address]  # the name, not the number
        client.close()
    finally:
        server.shutdown()
        server.server_close()


def test_the_mutant_waits_for_the_name_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """The plain pool asks in the calling thread, which no deadline ends."""
    asked = list[bool]()

    def look_up(*_: Any, **__: Any) -> Any:
        asked.append(threading.current_thread() is threading.main_thread())
        raise socket.gaierror(socket.EAI_NONAME, "unknown")

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    client = ServiceClient("http://service.test", None, "test", 1.0)
    with pytest.raises(StoreError, match="unavailable"):
        client._send_once(LOOK, 5.0)
    client._pool = urllib3.PoolManager(retries=False)
    with pytest.raises(StoreError, match="unavailable"):
        client._send_once(LOOK, 5.0)
    assert asked == [False, True]
