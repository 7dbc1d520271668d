"""Nobody waits for ever: neither for a study whose database is frozen, nor for a silent service."""

from __future__ import annotations

import asyncio
import signal
import socket
import threading
import time

import pytest

import dikin
from dikin import errors
from dikin.service import service
from dikin.service.service import Service
from dikin.service.tokens import TokenCheck
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


def test_tokens_are_read_once_for_all(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who comes meanwhile shares the read and its error, which are believed for two seconds."""
    now, reads = [1000.0], [0]

    async def play() -> None:
        served = Service(file, 2.0)

        async def read() -> TokenCheck:
            reads[0] += 1
            mine = reads[0]
            await asyncio.sleep(0)
            if mine == 1:
                raise errors.StoreError("away")
            return TokenCheck([])

        monkeypatch.setattr(served, "_read_tokens", read)
        monkeypatch.setattr(service.time, "monotonic", lambda: now[0])
        checks = [asyncio.ensure_future(served._token_check()) for _ in range(5)]
        await asyncio.sleep(0)
        checks[0].cancel()  # who gives up does not take the read from others
        found = await asyncio.gather(*checks[1:], return_exceptions=True)
        assert [type(each) for each in found] == [errors.StoreError] * 4
        now[0] += 1.9
        with pytest.raises(errors.StoreError):
            await served._token_check()
        assert reads == [1]
        now[0] += 0.2
        assert (await served._token_check()).open
        assert reads == [2]

    asyncio.run(play())


def test_a_store_that_does_not_answer(file: str) -> None:
    async def play() -> None:
        workers, never = Workers(file, 600.0, 0.02), threading.Event()
        for _ in range(2):
            with pytest.raises(StuckError, match=r"not answered for 0\.02 seconds"):
                await workers.apart(never.wait)
        never.set()
        await asyncio.to_thread(workers.close)

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
