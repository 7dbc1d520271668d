"""The service ends, dies and loses its database: what it acknowledged is kept, and played once."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any
from unittest.mock import AsyncMock

import pytest
import urllib3

import dikin
from dikin import errors
from dikin.service import workers as module
from dikin.service.app import create_app
from dikin.service.service import Service
from dikin.service.workers import Worker, Workers
from dikin.studies.database import LostConnection, Sqlite
from dikin.studies.session import Session
from in_memory import in_memory
from service import crowd
from service.proxy import Proxy
from service.serving import FreshServing, Serving, shop
from studies.postgres import Server


def test_an_end_finishes_what_was_begun(file: str) -> None:
    shop(file).close()
    end = threading.Event()
    with Serving(file) as running:
        watching = urllib3.PoolManager(retries=False).request(
            "GET", running.url + "/v1/studies/shop/events", preload_content=False
        )
        clients = crowd.start(8, running.url, "shop", 0.3, end)
        crowd.wait_for_rounds(clients, 40)
        assert running.stop() == -signal.SIGTERM  # after its own end, as uvicorn does
        assert "graceful shutdown exceeded" not in running.logged()  # though a page watches
        watching.close()
        end.set()
        account = crowd.together(clients)
        assert "Application shutdown complete" in running.logged()
        assert "Traceback" not in running.logged()
    assert crowd.faults(file, "shop", account) == crowd.NOTHING


def test_kill_nine(file: str) -> None:
    """On PostgreSQL: the next test, and `make load`."""
    shop(file).close()
    end = threading.Event()
    with FreshServing(file) as running:
        clients = crowd.start(8, running.url, "shop", 600.0, end)
        crowd.wait_for_rounds(clients, 20)
        running.kill()  # `make load` does it ten times
        running.start()
        crowd.wait_for_rounds(clients, 20)
        end.set()
        account = crowd.together(clients)
    assert account.refused == []
    assert crowd.faults(file, "shop", account) == crowd.NOTHING


def test_two_services_behind_a_proxy_one_of_them_killed(server: Server) -> None:
    store = f"{server.url}&options=-csearch_path%3Dpublic"
    shop(store, "pair").close()
    end = threading.Event()
    with Serving(store) as one, Serving(store) as two, Proxy(one.port, two.port) as proxy:
        clients = crowd.start(8, proxy.url, "pair", 600.0, end)
        while min(len(each.logged().splitlines()) for each in (one, two)) <= 10:
            crowd.wait_for_rounds(clients, 1)  # until both had work
        one.kill()
        crowd.wait_for_rounds(clients, 20)
        end.set()
        account = crowd.together(clients)
    assert account.refused == []
    assert crowd.faults(store, "pair", account) == crowd.NOTHING
    dikin.Study.delete(store, "pair")


def test_a_database_that_is_away() -> None:
    with Server(place=in_memory()) as away:
        shop(away.url).close()
        with Serving(away.url, "--patience", "0.1") as running:
            with dikin.Study(running.url, "shop", patience=0.05) as study:
                trial = study.ask()
                away.crash()
                # A process of the server may live long enough to take the row, not its commit.
                lost = "the store is unavailable|may be lost"
                with pytest.raises(errors.StoreError, match=lost):
                    study.tell(trial, 1.0)
                answer = running.send("POST", "/v1/studies/shop/ask")
                assert (answer.status, answer.headers["Retry-After"]) == (503, "1")
                assert running.problem("GET", "/readyz")[:2] == (503, "store")
                assert running.send("GET", "/healthz").status == 200
                away.start()
                while running.send("GET", "/readyz").status != 200:
                    time.sleep(0.05)  # as soon as the server is back
            with dikin.Study(running.url, "shop", patience=60.0) as patient:
                patient.tell(trial, 1.0)
                assert patient.rounds == 1
            metrics = running.send("GET", "/metrics").content.decode()
            assert 'dikin_refused_total{status="503"}' in metrics


def test_a_database_that_is_busy(file: str) -> None:
    shop(file).close()
    with Serving(file, "--patience", "0.2") as running:
        running.send("GET", "/v1/studies/shop")
        other = sqlite3.connect(file, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        answer = running.send("POST", "/v1/studies/shop/ask")
        assert (answer.status, answer.content["code"]) == (503, "busy")
        assert answer.headers["Retry-After"] == "1"
        assert running.send("GET", "/v1/studies/shop").status == 200  # a look waits for nobody
        other.execute("ROLLBACK")
        other.close()
        assert running.send("POST", "/v1/studies/shop/ask").content["id"] == 0


def test_a_damaged_study_is_told_and_others_go_on(file: str) -> None:
    shop(file, "broken", rounds=3).close()
    shop(file, "whole", rounds=3).close()
    with sqlite3.connect(file) as database:
        database.execute(
            "UPDATE dikin_events SET body = replace(body, '4', '5') WHERE study = 1 AND number = 2"
        )
    database.close()
    with Serving(file) as running:
        status, code, detail = running.problem("GET", "/v1/studies/broken")
        assert (status, code) == (500, "state")
        assert "was altered or damaged" in detail
        assert file not in detail
        broken, sound = running.send("GET", "/v1/studies").content["studies"]
        assert broken["problem"] == detail
        assert sound["rounds"] == 3
        metrics = running.send("GET", "/metrics").content.decode()
        assert 'dikin_unreadable{study="broken"} 1.0' in metrics
        assert running.send("POST", "/v1/studies/whole/ask").status == 200


# --- one commit for many requests ----------------------------------------------------------------


@pytest.fixture(autouse=True)
def long_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch does not end because the machine is busy."""
    monkeypatch.setattr(module, "BATCH_SECONDS", 3600.0)


@asynccontextmanager
async def working(file: str, patience: float = 600.0) -> AsyncIterator[Workers]:
    """The workers of a store with a new study, in which one query was asked under a key."""
    shop(file).close()
    workers = Workers(file, patience)
    try:
        await workers.do("shop", lambda study: study.forget(study.ask(key="table")), "test")
        yield workers
    finally:
        await asyncio.to_thread(workers.close)


Act = Callable[[dikin.Study], Any]


def ask(key: str) -> Act:
    return lambda study: study.ask(key=key).id


async def asks(workers: Workers, keys: list[str]) -> list[Any]:
    """Ask under these keys at the same time, so that they share a commit."""
    return await at_once(await workers.of("shop"), [ask(key) for key in keys])


async def at_once(worker: Worker, acts: Iterable[Act]) -> list[Any]:
    """Do these while the worker is busy with something else, so that they are one batch."""
    begun, go_on = threading.Event(), threading.Event()

    def occupy(study: dikin.Study) -> None:
        begun.set()
        go_on.wait()

    first = asyncio.ensure_future(worker.do(occupy))
    await asyncio.to_thread(begun.wait)
    found = asyncio.gather(*(worker.do(act, "test") for act in acts), return_exceptions=True)
    await asyncio.sleep(0)  # they wait behind it
    go_on.set()
    await asyncio.wait([first])
    first.exception()  # read, or Python would log it
    return list(await found)


def test_many_requests_share_a_commit(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    commits = []
    commit = Session._commit
    monkeypatch.setattr(
        Session, "_commit", lambda self, *a: (commits.append(1), commit(self, *a))[1]
    )

    async def play() -> list[Any]:
        async with working(file) as workers:
            commits.clear()
            found = await asks(workers, [f"{n}" for n in range(50)])
            assert len(commits) == 1
            return found

    assert asyncio.run(play()) == list(range(1, 51))


@pytest.mark.parametrize(
    ("what", "fault", "then"),
    [
        ("_commit", errors.StoreError("no space left"), [1, 2, 3]),
        ("flush", RuntimeError("never seen before"), [3, 2, 1]),  # they are there, under their keys
    ],
)
def test_a_commit_that_fails_acknowledges_nothing(
    file: str, monkeypatch: pytest.MonkeyPatch, what: str, fault: Exception, then: list[int]
) -> None:
    """All whose events were in it hear so, and get the same query when they ask again."""
    broken, call = threading.Event(), getattr(Session, what)

    def failing(self: Session, *given: Any) -> None:
        if broken.is_set():
            raise fault
        call(self, *given)

    monkeypatch.setattr(Session, what, failing)

    async def play() -> tuple[list[Any], list[Any]]:
        async with working(file, 2.0) as workers:
            broken.set()
            failed = await asks(workers, ["a", "b", "c"])
            broken.clear()
            return failed, await asks(workers, ["c", "b", "a"])

    failed, again = asyncio.run(play())
    assert [type(each) for each in failed] == [errors.StoreError] * 3
    assert again == then
    with dikin.Study(file, "shop") as study:
        assert [query.id for query in study.open_queries] == [1, 2, 3]


def test_a_fault_in_the_middle_fails_those_before_it(file: str) -> None:
    """They were carried out and are not durable: nobody may be told that they are."""

    def lose(study: dikin.Study) -> None:
        study._backend.session.database.disconnect()  # with the events of those before
        study._backend.session._undo(errors.StoreError("the connection broke"))

    async def play() -> list[Any]:
        async with working(file) as workers:
            worker = await workers.of("shop")
            acts = (ask("a"), lambda study: study.rounds, lose, ask("b"))
            found = await at_once(worker, acts)
            return [*found, await worker.do(ask("a"), "test")]

    asked, rounds, lost, after, again = asyncio.run(play())
    assert isinstance(asked, errors.StoreError)
    assert isinstance(rounds, errors.StoreError)  # what it saw may never have been
    assert isinstance(lost, errors.StoreError)
    assert (after, again) == (1, 2)


def test_a_file_that_is_deleted_under_the_service(file: str) -> None:
    async def play() -> list[Any]:
        async with working(file) as workers:
            worker = await workers.of("shop")
            before = await worker.do(ask("a"), "test")
            os.rename(file, f"{file}.moved")
            found = await at_once(worker, (ask("b"), lambda study: study.rounds))
            os.rename(f"{file}.moved", file)
            return [before, *found, await worker.do(ask("b"), "test")]

    before, asked, rounds, after = asyncio.run(play())
    assert isinstance(asked, errors.StoreError)
    assert isinstance(rounds, errors.StoreError)
    assert (before, after) == (1, 2)


def test_a_file_that_is_replaced_under_the_service(file: str) -> None:
    """One request is refused; the next finds the study of the new file, and plays it."""
    shop(file, rounds=5).close()
    shop(f"{file}.backup", rounds=2).close()
    with Serving(file) as running:
        asked = running.send("POST", "/v1/studies/shop/ask").content["id"]
        for ending in ("-wal", "-shm", "-marks"):
            os.unlink(f"{file}{ending}")
        os.replace(f"{file}.backup", file)
        status, code, detail = running.problem("POST", "/v1/studies/shop/ask")
        assert (status, code) == (503, "replaced_file")
        assert "is another file now" in detail
        assert running.send("GET", "/v1/studies/shop").content["rounds"] == 2
        lost = {"id": asked, "value": 1.0}
        assert running.send("POST", "/v1/studies/shop/tell", lost).status == 404
        for _ in range(3):
            told = {"id": running.send("POST", "/v1/studies/shop/ask").content["id"], "value": 1.0}
            assert running.send("POST", "/v1/studies/shop/tell", told).status == 200
    with dikin.Study(file, "shop") as study:
        assert study.rounds == 5
        assert study.verify() == 10


def test_studies_that_nobody_uses_are_closed(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "OPEN_STUDIES", 3)
    for number in range(8):
        shop(file, f"s{number}").close()

    async def play() -> tuple[int, list[int]]:
        made = Workers(file, 600.0)
        found = [await made.do(f"s{n % 8}", lambda study: study.rounds) for n in range(16)]
        count = sum("study s" in thread.name for thread in threading.enumerate())
        with pytest.raises(errors.UnknownStudyError):
            await made.do("none", lambda study: study.rounds)
        assert "none" not in made._workers
        await asyncio.to_thread(made.close)
        return count, found

    count, found = asyncio.run(play())
    assert found == [0] * 16
    assert count <= 4


def test_more_studies_in_use_than_can_be_open(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "OPEN_STUDIES", 2)
    for number in range(3):
        shop(file, f"s{number}").close()

    async def play() -> None:
        made, go_on = Workers(file, 600.0), threading.Event()
        calls = [asyncio.ensure_future(made.do(f"s{n}", lambda _: go_on.wait())) for n in range(3)]
        refused, others = await asyncio.wait(calls, return_when=asyncio.FIRST_COMPLETED)
        go_on.set()
        assert [type(call.exception()) for call in refused] == [errors.BusyError]
        assert await asyncio.gather(*others) == [True, True]
        await asyncio.to_thread(made.close)

    asyncio.run(play())


def test_a_connection_that_breaks_after_the_commit(
    file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The events are there: whoever waits is told so, and the thread goes on."""
    broken = threading.Event()
    commit = Sqlite.commit

    def breaking(self: Sqlite, *head: Any) -> None:
        commit(self, *head)
        if broken.is_set():
            broken.clear()
            raise LostConnection("the connection broke")

    monkeypatch.setattr(Sqlite, "commit", breaking)

    async def play() -> list[Any]:
        async with working(file) as workers:
            broken.set()
            found = await asks(workers, ["a", "b"])
            assert not broken.is_set()
            return found + await asks(workers, ["b", "c"])

    assert asyncio.run(play()) == [1, 2, 2, 3]


@pytest.mark.parametrize("closing", [True, False])
def test_a_request_that_the_end_cuts_off(
    file: str, closing: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server cancels what takes too long: the client learns that it may send it again."""
    shop(file).close()
    app, sent, begun = create_app(file), list[Any](), asyncio.Event()
    service: Service = app.state.service

    async def go_on(*_: object, **__: object) -> None:
        begun.set()
        await asyncio.Event().wait()

    async def send(message: Any) -> None:
        sent.append(message)

    async def play() -> None:
        monkeypatch.setattr(service.workers, "do", go_on)
        headers = [(b"host", b"localhost")]
        scope = {"type": "http", "method": "POST", "path": "/v1/studies/shop/pause"}
        scope |= {"headers": headers, "query_string": b"", "server": ("127.0.0.1", 80)}
        request = asyncio.ensure_future(app(scope, AsyncMock(), send))
        await begun.wait()
        if closing:
            service.closing.set()
        request.cancel()
        await asyncio.wait([request])
        assert request.cancelled() is not closing  # any other cancellation is not ours to explain
        await asyncio.to_thread(service.workers.close)

    asyncio.run(play())
    assert [message.get("status") for message in sent] == ([503, None] if closing else [])
    assert not closing or b"the service shuts down" in sent[1]["body"]


def test_a_batch_ends_after_some_time(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first of many long requests does not wait for the last."""
    monkeypatch.setattr(module, "BATCH_SECONDS", 0.0)

    async def play() -> None:
        async with working(file) as workers:
            last, worker = threading.Event(), await workers.of("shop")
            calls = [asyncio.ensure_future(worker.do(lambda study: None)) for _ in range(3)]
            calls.append(asyncio.ensure_future(worker.do(lambda study: last.wait())))
            done, _ = await asyncio.wait(calls[:3])
            assert len(done) == 3
            assert not calls[3].done()  # and it was asked for at the same time
            last.set()
            await calls[3]

    asyncio.run(play())
