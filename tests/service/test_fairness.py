"""No client can keep others out: connections, requests, streams and the log have limits."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any
from unittest.mock import AsyncMock

import pytest
from dikin.service.connections import Budget, Waits
from dikin.service.visitors import Visitors
from starlette.requests import Request

from dikin.service import connections, events, limits, visitors
from dikin.service.events import Looks
from dikin.service.logs import OncePerMinute
from dikin.service.metrics import Metrics
from dikin.service.problems import Problem, TooManyError
from dikin.service.service import Service
from dikin.service.tokens import Access
from dikin.status import Status
from dikin.studies.study import Study
from service.conftest import folder
from service.serving import QUICK, TUNER, Serving, shop
from service.test_requests import SLOW


@contextmanager
def serving(setting: str, *options: str, tokens: bool = False) -> Iterator[Serving]:
    """A service with other limits, and if wanted with tokens."""

    class Limited(Serving):
        program = f"from dikin.service import limits\n{setting}\n{QUICK}"

    with folder() as store:
        shop(store).close()
        with Limited(store, *options) as running:
            if tokens:
                running.tokens = {name: running.token(name, "admin") for name in ("one", "two")}
                while running.send("GET", "/v1/token").status != 401:
                    pass  # until the service has read them
            yield running


# --- connections ---------------------------------------------------------------------------------


class Client:
    def __init__(self, address: str = "there") -> None:
        self.address, self.dropped = address, False

    def drop(self) -> None:
        self.dropped = True


def admitted(budget: Budget, count: int, address: str = "there") -> list[Client]:
    made = [Client(address) for _ in range(count)]
    assert all(map(budget.admit, made))
    return made


def test_who_is_dropped_first() -> None:
    budget = Budget(5)
    silent, idle, body, answered, another = admitted(budget, 5)
    budget.note(body, Waits.BODY)
    for each in (idle, answered):
        budget.note(each, Waits.ANSWER)
    budget.note(idle, Waits.NEXT_REQUEST)
    for victim in (silent, another, idle, body):
        assert not victim.dropped
        (new,) = admitted(budget, 1)
        assert victim.dropped
        assert len(budget) == 5
        budget.note(new, Waits.ANSWER)  # it stays
    assert not budget.admit(Client())  # all are being answered
    assert not answered.dropped
    budget.release(answered)
    budget.release(answered)  # again: nothing happens
    assert budget.admit(Client())


def test_an_address_has_its_share() -> None:
    dropped = list[int]()
    budget = Budget(10, each=3, proxies="10.0.0.0/8, there", count=lambda: dropped.append(1))
    other, greedy = admitted(budget, 1, "1.2.3.4"), admitted(budget, 3, "5.6.7.8")
    admitted(budget, 1, "5.6.7.8")
    assert [each.dropped for each in greedy] == [True, False, False]
    assert not other[0].dropped
    assert len(dropped) == 1
    admitted(budget, 4, "10.1.2.3")  # a proxy stands for many
    admitted(budget, 2, "there")
    assert [each.dropped for each in greedy] == [True, False, False]


def test_connections_are_limited_by_descriptors(monkeypatch: pytest.MonkeyPatch) -> None:
    class Limits:
        RLIMIT_NOFILE, RLIM_INFINITY = 7, -1
        given = (1024, 4096)

        @classmethod
        def getrlimit(cls, _: int) -> tuple[int, int]:
            return cls.given

        @classmethod
        def setrlimit(cls, _: int, given: tuple[int, int]) -> None:
            cls.given = given

    monkeypatch.setattr(connections, "resource", Limits)
    assert connections.affordable(1000) == 1000
    assert Limits.given == (1000 + limits.DESCRIPTORS, 4096)  # raised as far as needed
    for given, most in (((256, 256), 64), ((1024, 1024), 256), ((-1, -1), 1000)):
        Limits.given = given
        assert connections.affordable(1000) == most


@pytest.mark.parametrize(
    "setting",
    [
        "limits.CONNECTIONS = 60",
        "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (240, 240))",
    ],
)
def test_silent_connections_keep_nobody_out(setting: str) -> None:
    with serving(setting) as running, ExitStack() as stack:
        for _ in range(300):
            stack.enter_context(socket.create_connection(("127.0.0.1", running.port)))
        with shop(running.url, rounds=20) as study:
            assert study.rounds == 20
            for _ in range(100):
                stack.enter_context(socket.create_connection(("127.0.0.1", running.port)))
            study.tell(study.ask(), 1.0)
        metrics = running.send("GET", "/metrics").content.decode()
        assert "dikin_closed_connections_total 0.0" not in metrics
        assert len(running.logged().splitlines()) < 100


def test_the_head_of_a_request_has_a_limit(service: Serving) -> None:
    with socket.create_connection(("127.0.0.1", service.port)) as client:
        client.settimeout(60)
        client.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ")
        with suppress(ConnectionError):  # it is closed while more comes
            for _ in range(100):
                client.sendall(10_000 * b"x")
            assert client.recv(4096).startswith(b"HTTP/1.1 400")


def test_requests_in_advance_have_a_limit(service: Serving) -> None:
    many = 10 * limits.PIPELINE * b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    with socket.create_connection(("127.0.0.1", service.port)) as client:
        client.settimeout(60)
        client.sendall(many)
        found = b""
        while part := client.recv(65536):
            found += part
    assert b"HTTP/1.1 400" in found
    assert found.count(b"HTTP/1.1 200") <= limits.PIPELINE


def test_a_client_that_does_not_read_is_let_go() -> None:
    """An answer of some megabytes is held for it no longer than some seconds."""
    with serving("limits.SEND_SECONDS = 0.1") as running:
        running.send("POST", "/v1/studies/shop/ask", {"n": 1000})
        ask = b"GET /v1/studies/shop/open?limit=1000 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
        with socket.socket() as deaf:
            deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            deaf.connect(("127.0.0.1", running.port))
            deaf.sendall(20 * ask)
            text = "dikin_connections 1.0"  # the one that asks
            while text not in running.send("GET", "/metrics").content.decode():
                pass


# --- tokens --------------------------------------------------------------------------------------


def test_a_token_is_checked_before_the_body_is_read(guarded: Serving) -> None:
    """Neither a body that never comes nor a large one is waited for."""
    for length in (100, 900_000):
        with socket.create_connection(("127.0.0.1", guarded.port)) as client:
            client.settimeout(60)
            client.sendall(SLOW.replace(b"Content-Length: 100", b"Content-Length: %d" % length))
            assert client.recv(4096).startswith(b"HTTP/1.1 401")


def test_requests_of_a_token_are_limited() -> None:
    with serving("", "--rate", "5", tokens=True) as running:
        answers = [running.send("GET", "/v1/token", token=running.tokens["one"]) for _ in range(50)]
        refused = [answer for answer in answers if answer.status == 429]
        assert refused
        assert answers[0].status == 200
        assert refused[0].headers["Retry-After"] == "1"
        assert "'one' sent more than 5 requests a second" in refused[0].content["detail"]
        assert running.send("GET", "/v1/token", token=running.tokens["two"]).status == 200
        metrics = running.send("GET", "/metrics", token=running.tokens["two"]).content.decode()
        assert f'dikin_refused_total{{status="429"}} {len(refused)}.0' in metrics
        lines = [json.loads(line) for line in running.logged().splitlines()]
        assert sum(line.get("status") == 429 for line in lines) == 1  # and not one for each


def test_requests_under_way_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(visitors.time, "monotonic", lambda: now[0])
    allowed = Visitors(Metrics(), 1e9)
    with ExitStack() as stack:
        for _ in range(limits.LARGE_EACH):
            stack.enter_context(allowed.request("one", large=True))
        with pytest.raises(Problem, match="large answers"), allowed.request("one", large=True):
            pass
        for _ in range(limits.IN_FLIGHT_EACH - limits.LARGE_EACH):
            stack.enter_context(allowed.request("one", large=False))
        with pytest.raises(Problem, match="200 requests under way"), allowed.request("one", False):
            pass
        with allowed.request("two", large=True), allowed.request(None, large=True):
            pass
    with allowed.request("one", large=True):
        pass
    for token in ("one", "two", ""):  # it is given back, and the others have their own
        with allowed.long_operation(token):
            pass
    with allowed.long_operation("one"), allowed.long_operation("two"), allowed.long_operation(""):
        with pytest.raises(Problem, match="under way"), allowed.long_operation("one"):
            pass
        with allowed.long_operation(""):
            pass
    rated = Visitors(Metrics(), 2.0)
    for seconds, free in ((0.0, 2), (0.5, 1), (100.0, 2)):
        now[0] += seconds
        for _ in range(free):
            with rated.request("one", large=False):
                pass
        with pytest.raises(Problem, match="2 requests a second"), rated.request("one", False):
            pass


def test_who_computes_more_than_a_share_waits_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(visitors.time, "monotonic", lambda: now[0])
    shared = Visitors(Metrics(), 1e9)

    def refused(token: str) -> bool:
        try:
            with shared.request(token, large=False):
                return False
        except Problem as problem:
            return problem.headers == {"Retry-After": "8"} and "others wait" in problem.detail

    shared.charge("greedy", 8.0)
    assert not refused("greedy")  # nobody else is there
    with shared.request("modest", large=False):
        assert refused("greedy")
        assert not refused("modest")
        now[0] += 8.0  # at 0.4 seconds in a second
        assert not refused("greedy")
    shared.charge("greedy", 8.0)
    with shared.request("page", large=False), shared.stream("page"):
        assert not refused("greedy")  # who only watches does not wait


def test_a_status_is_read_in_the_turn_of_its_token(tmp_path: Path) -> None:
    """In a turn that all share, many requests of one token would delay the others."""
    file = f"{tmp_path}/studies.db"
    shop(file).close()

    async def charged() -> set[str]:
        service = Service(file, 2.0)
        try:
            await service.status("shop", "kiosk")
            await service.statuses(["shop"], "page")
            await Looks(service).update("shop", "stream", None)
        finally:
            await asyncio.to_thread(service.workers.close)
        return set(service.visitors._computed)

    assert asyncio.run(charged()) == {"kiosk", "page", "stream"}


def test_a_look_ends_with_the_last_who_waits_for_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who opens streams and drops them leaves no work behind, and nothing in the log."""
    file = f"{tmp_path}/studies.db"
    shop(file).close()
    done = list[str]()

    async def play() -> list[Any]:
        service = Service(file, 2.0)
        looks, worker = Looks(service), await service.workers.of("shop")

        def status(study: Study) -> Status:
            done.append("look")
            return study.status()

        monkeypatch.setattr(worker, "status", status)
        free = threading.Event()
        occupied = asyncio.ensure_future(worker.do(lambda _: free.wait()))
        waiting = [
            asyncio.ensure_future(looks.update("shop", visitor, None))
            for visitor in ("page", "page", "dropped", "dropped", "other")
        ]
        await asyncio.sleep(0)
        for each in waiting[1:4]:  # "page" has another that waits
            each.cancel()
        await asyncio.sleep(0)
        again = asyncio.ensure_future(looks.update("shop", "dropped", 0))
        free.set()
        found = await asyncio.gather(*waiting, again, return_exceptions=True)
        await occupied
        await asyncio.to_thread(service.workers.close)
        return found

    found = asyncio.run(play())
    dropped = [isinstance(each, asyncio.CancelledError) for each in found]
    assert dropped == [False, True, True, True, False, False]
    assert len(done) == 3  # page, other, and the one that came again
    assert not caplog.records


def test_a_stream_waits_when_others_need_the_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = f"{tmp_path}/studies.db"
    shop(file).close()
    refusals, pauses = [TooManyError("too much was computed", 7)], list[float]()

    def refuse(_: object, visitor: str) -> None:
        if visitor and refusals:
            raise refusals.pop()

    async def pause(_: asyncio.Event, seconds: float) -> None:
        pauses.append(seconds)

    async def play() -> list[bytes]:
        service = Service(file, 2.0)
        monkeypatch.setattr(Visitors, "refuse_greedy", refuse)
        monkeypatch.setattr(events, "_pause", pause)
        monkeypatch.setattr(events, "EVENTS_EVERY", 0.0)  # each event has a look of its own
        access = Access("page", "read", ("*",))
        monkeypatch.setattr(service, "access", AsyncMock(return_value=access))
        request = Request({"type": "http", "state": {"access": access}})
        stream = events.updates(service, Looks(service), request, "shop", None)
        sent = [await anext(stream) for _ in range(3)]
        await stream.aclose()  # type: ignore[attr-defined]
        await asyncio.to_thread(service.workers.close)
        return sent

    waits, *sent = asyncio.run(play())
    assert waits == b": too much was computed; wait 7 s and send it again\n\n"
    assert [each.split(b"\n")[0] for each in sent] == 2 * [b"event: update"]
    assert pauses == [7, 0.0]


def test_a_limit_of_streams_is_not_passed_by_being_quick() -> None:
    with serving("limits.STREAMS_EACH = 2") as running:

        def watch(_: int) -> int:
            path = f"{running.url}/v1/studies/shop/events"
            answer = running.pool.request("GET", path, preload_content=False)
            opened.append(answer)
            return int(answer.status)

        opened = list[object]()
        with ThreadPoolExecutor(12) as pool:
            found = list(pool.map(watch, range(12)))
        assert sorted(found) == [200, 200, *10 * [429]]
        for answer in opened:
            answer.close()  # type: ignore[attr-defined]
        while watch(0) != 200:  # a place that is given back is free again
            pass


# --- the log -------------------------------------------------------------------------------------


def test_lines_of_one_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("dikin.service.logs.time.monotonic", lambda: now[0])
    lines = OncePerMinute()
    assert [lines.line("a") for _ in range(4)] == [0, None, None, None]
    assert lines.line("b") == 0
    now[0] += 61
    assert [lines.line("a") for _ in range(2)] == [3, None]
    for number in range(5000):
        lines.line(number)
    assert len(lines._kinds) <= 1000


def test_strangers_do_not_fill_the_log(guarded: Serving) -> None:
    before = len(guarded.logged().splitlines())
    for _ in range(50):
        assert guarded.send("GET", "/v1/studies").status == 401
        assert guarded.send("PUT", "/v1/studies/x", TUNER, token="dikin_1_2").status == 401
        assert guarded.send("GET", "/nowhere").status == 404
    with socket.create_connection(("127.0.0.1", guarded.port)) as client:
        client.sendall(b"nonsense\r\n\r\n")
        assert client.recv(4096).startswith(b"HTTP/1.1 400")
    assert len(guarded.logged().splitlines()) - before < 10
