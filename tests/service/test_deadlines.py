"""Nobody waits for ever: neither for a study whose database is frozen, nor for a silent service."""

from __future__ import annotations

import asyncio
import signal
import socket
import sqlite3
import threading
import time

import pytest
from dikin.service.shared_read import SharedRead

import dikin
from dikin import errors
from dikin.service.workers import StuckError, Workers
from dikin.studies import http
from service.proxy import Proxy
from service.serving import Serving, shop
from service.test_remote_study import answering
from studies.postgres import Server

# --- the service ---------------------------------------------------------------------------------


def test_a_study_that_is_stuck(file: str) -> None:
    """Who waits is answered, who comes is refused at once, and afterwards it goes on."""
    shop(file).close()

    async def play() -> list[object]:
        workers = Workers(file, 600.0, 600.0)
        frozen, go_on = threading.Event(), threading.Event()

        def freeze(_: object) -> None:
            frozen.set()
            go_on.wait()

        worker = await workers.of("shop")
        assert await worker.do(lambda study: study.rounds) == 0  # it is open
        worker._deadline = 0.05
        found: list[object] = []
        while not frozen.is_set():  # on a busy machine it may be given up before it begins
            found = [*await asyncio.gather(worker.do(freeze), return_exceptions=True)]
        asked = worker.do(lambda study: study.ask())
        found += await asyncio.gather(asked, return_exceptions=True)
        while not workers.stuck():
            await asyncio.sleep(0.01)
        begun = worker._jobs.qsize()
        with pytest.raises(StuckError, match="'shop' is stuck: it has not answered for"):
            await worker.do(lambda study: study.rounds)
        assert worker._jobs.qsize() == begun  # it was not even put in the queue
        worker._deadline = 600.0
        go_on.set()
        found.append(await worker.do(lambda study: len(study.open_queries)))
        assert workers.stuck() == 0
        await asyncio.to_thread(workers.close)
        return list(found)

    one, two, open_queries = asyncio.run(play())
    assert isinstance(one, StuckError)
    assert isinstance(two, StuckError)
    assert open_queries == 0  # nobody waited for the ask any more when its turn came


def test_nothing_is_done_for_a_client_that_has_gone(file: str) -> None:
    """It was in the queue: a client that is impatient and asks again is answered once."""
    shop(file).close()
    with Serving(file, "--patience", "60", "--deadline", "600") as running:
        assert running.send("GET", "/v1/studies/shop").status == 200
        other = sqlite3.connect(file, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")  # the first ask waits for it, and the others for that
        text = b"POST /v1/studies/shop/ask HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
        gone = [socket.create_connection(("127.0.0.1", running.port)) for _ in range(10)]
        for each in gone:
            each.sendall(text)
        for each in gone[1:]:
            each.shutdown(socket.SHUT_WR)
        for each in gone[1:]:
            assert each.recv(1) == b""  # it has seen that they are gone, and closes them too
            each.close()
        other.execute("ROLLBACK")
        other.close()
        assert gone[0].recv(4096).startswith(b"HTTP/1.1 200")
        gone[0].close()
        assert running.send("GET", "/v1/studies/shop/open").content["total"] < 10


def test_visitors_take_turns(file: str) -> None:
    """One request of a visitor does not wait for a hundred of another."""
    shop(file).close()

    async def play() -> list[str]:
        workers, done = Workers(file, 600.0, 600.0), list[str]()
        begun, go_on = threading.Event(), threading.Event()

        def occupy(_: object) -> None:
            begun.set()
            go_on.wait()

        first = asyncio.ensure_future(workers.do("shop", occupy))
        await asyncio.to_thread(begun.wait)
        who = [*100 * ["greedy"], "modest", "modest"]
        worker = await workers.of("shop")
        jobs = [
            asyncio.ensure_future(worker.do(lambda _, name=name: done.append(name), None, name))
            for name in who
        ]
        await asyncio.sleep(0)
        go_on.set()
        await asyncio.gather(first, *jobs)
        await asyncio.to_thread(workers.close)
        return done

    done = asyncio.run(play())
    assert done[:4] == ["greedy", "modest", "greedy", "modest"]
    assert len(done) == 102


def test_a_busy_store_is_waited_for_once(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of many requests that cannot be written, the second does not wait as long again."""
    shop(file).close()

    async def play() -> tuple[int, list[object]]:
        workers, waits = Workers(file, 600.0, 600.0), list[int]()
        begun, go_on = threading.Event(), threading.Event()

        def occupy(_: object) -> None:
            begun.set()
            go_on.wait()

        def write(_: object) -> None:
            waits.append(1)
            raise errors.BusyError("another client writes")

        first = asyncio.ensure_future(workers.do("shop", occupy))
        await asyncio.to_thread(begun.wait)
        worker = await workers.of("shop")
        acts = [worker.do(write, "client") for _ in range(20)]
        found = asyncio.gather(*acts, worker.do(lambda study: study.rounds), return_exceptions=True)
        await asyncio.sleep(0)
        go_on.set()
        await first
        answers = list(await found)
        await asyncio.to_thread(workers.close)
        return len(waits), answers

    waits, (*refused, read) = asyncio.run(play())
    assert waits == 1
    assert {type(each) for each in refused} == {errors.BusyError}
    assert read == 0


def test_a_shared_read_that_does_not_end() -> None:
    async def play() -> None:
        never = asyncio.Event()
        read = SharedRead(never.wait, 600.0, 0.02)
        for _ in range(2):  # the second one does not wait at all
            with pytest.raises(errors.StoreError, match=r"not answered for 0\.02 seconds"):
                await read.get()
        assert read._task is not None
        read._task.cancel()

    asyncio.run(play())


def test_an_end_that_a_frozen_study_does_not_delay(
    file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dikin.service.workers.CLOSE_SECONDS", 0.05)
    shop(file).close()

    async def play() -> bool:
        workers, go_on = Workers(file, 600.0, 0.05), threading.Event()
        with pytest.raises(StuckError):
            await workers.do("shop", lambda _: go_on.wait())
        await asyncio.to_thread(workers.close)
        go_on.set()
        return workers.abandoned

    assert asyncio.run(play())


def test_a_frozen_server(server: Server) -> None:
    """PostgreSQL's processes stop: 503, not ready, and SIGTERM is obeyed."""
    store = f"{server.url}&options=-csearch_path%3Dpublic"
    shop(store, "frozen").close()
    with Serving(store, "--deadline", "1", "--patience", "0.5") as running:
        assert running.send("POST", "/v1/studies/frozen/ask").status == 200
        assert running.send("GET", "/readyz").status == 200
        with server.frozen():
            for _ in range(2):
                answer = running.send("POST", "/v1/studies/frozen/ask")
                assert answer.status == 503, answer
                assert int(answer.headers["Retry-After"]) >= 1
            status, _, detail = running.problem("GET", "/readyz")
            assert status == 503
            assert "127.0.0.1" not in detail
            assert str(server.folder) not in detail
            assert running.send("GET", "/healthz").status == 200
            assert running.stop(seconds=120.0) == -signal.SIGTERM
    dikin.Study.delete(store, "frozen")


# --- the client ----------------------------------------------------------------------------------


class Silencing(Proxy):
    """Passes on what comes, until connections are told to be silent; new ones are as before."""

    made = 0

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.made += 1
        mine = self.made
        behind, out = await asyncio.open_connection("127.0.0.1", self._backends[0])

        async def copy(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
            try:
                while part := await source.read(65536):
                    if mine > self.silent:
                        sink.write(part)
                        await sink.drain()
            finally:
                sink.close()

        await asyncio.gather(copy(reader, out), copy(behind, writer), return_exceptions=True)

    silent = 0
    """The number of connections, from the first on, that are silent."""


def test_a_silent_connection_costs_one_attempt(
    service: Serving, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The request goes out again over a new connection, and is asked once."""
    monkeypatch.setattr(http, "FIRST_ATTEMPT", 0.001)  # of ten minutes
    with Silencing(service.port) as proxy:
        with shop(proxy.url, "silent", patience=600.0) as study:
            first = study.ask()
            proxy.silent = proxy.made
            second = study.ask()
            assert (first.id, second.id) == (0, 1)
            assert [query.id for query in study.open_queries] == [0, 1]
        assert proxy.made >= 2


def test_a_service_that_is_silent_for_good(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several attempts, then an error."""
    monkeypatch.setattr(http, "SLOWEST", 0.4)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        with pytest.raises(errors.StoreError, match="timed out"):
            dikin.Study(f"http://127.0.0.1:{silent.getsockname()[1]}", "x", patience=0.1)
        silent.settimeout(10)
        made = [silent.accept()[0] for _ in range(2)]  # there was more than one connection
        for each in made:
            each.close()


@pytest.mark.parametrize(("after", "pauses"), [("", 0.05), ("7", 7), ("600", 60), ("x", 0.05)])
def test_retry_after_is_obeyed(monkeypatch: pytest.MonkeyPatch, after: str, pauses: float) -> None:
    class Pause(Exception):  # noqa: N818
        pass

    slept = list[float]()

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        raise Pause

    monkeypatch.setattr(time, "sleep", sleep)
    problem = b'{"code": "busy", "detail": "later"}'
    headers = {"Retry-After": after} if after else {}
    with (
        answering(503, "application/problem+json", problem, **headers) as url,
        pytest.raises(Pause),
    ):
        dikin.Study(url, "x", patience=100.0)
    assert slept == [pauses]
    if after == "7":  # not before its time, so there is no point in waiting
        with (
            answering(429, "application/problem+json", problem, **headers) as url,
            pytest.raises(errors.BusyError, match="later"),
        ):
            dikin.Study(url, "x", patience=6.0)
