"""The open studies of a service: one transaction for many requests, and nobody waits for ever."""

import asyncio
import signal
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import wraps
from pathlib import Path
from types import CodeType, FrameType
from typing import Any
from unittest.mock import AsyncMock

import pytest

import dikin
from dikin import errors
from dikin.service import access, limits
from dikin.service.access import Gate
from dikin.service.app import Service
from dikin.service.studies import OpenStudies, StuckError
from dikin.service.tokens import TokenCheck
from dikin.studies.ledger import Ledger
from dikin.studies.log import Log
from service.serving import Serving, ask_asgi, shop

Act = Callable[[dikin.Study], Any]


@pytest.fixture(autouse=True)
def long_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch does not end because the machine is busy."""
    monkeypatch.setattr(limits, "BATCH_SECONDS", 3600.0)


def in_a_loop(test: Callable[..., Any]) -> Callable[..., None]:
    """Run a test in an event loop, in a thread: tests of the page leave one in theirs."""

    @wraps(test)
    def run(*given: Any, **named: Any) -> None:
        with ThreadPoolExecutor(1) as pool:
            pool.submit(asyncio.run, test(*given, **named)).result()

    return run


@asynccontextmanager
async def opened(file: str, *names: str) -> AsyncIterator[OpenStudies]:
    """The studies of a store, which are new."""
    for name in names or ("shop",):
        shop(file, name).close()
    studies = OpenStudies(file, 600.0, 600.0)
    try:
        yield studies
    finally:
        await asyncio.to_thread(studies.close)


def asks(key: str) -> Act:
    return lambda study: study.ask(key=key).id


class Frozen:
    """An act that does not end before `go_on`."""

    def __init__(self) -> None:
        self.begun, self.go_on = threading.Event(), threading.Event()

    def __call__(self, _: object) -> None:
        self.begun.set()
        self.go_on.wait()


async def at_once(studies: OpenStudies, acts: Iterable[Act]) -> list[Any]:
    """Do these while the study is busy with something else, so that they are one batch."""
    occupy = Frozen()
    first = asyncio.ensure_future(studies.do("shop", occupy))
    await asyncio.to_thread(occupy.begun.wait)
    found = asyncio.gather(*(studies.do("shop", a, "test") for a in acts), return_exceptions=True)
    await asyncio.sleep(0)  # they wait behind it
    occupy.go_on.set()
    await asyncio.wait([first])
    first.exception()  # read, or Python would log it
    return list(await found)


@in_a_loop
async def test_many_requests_share_a_transaction(
    file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    written, flush = [], Ledger.flush
    async with opened(file) as studies:
        monkeypatch.setattr(Ledger, "flush", lambda study: (written.append(1), flush(study))[1])
        ids = await at_once(studies, map(asks, "abcdefgh"))
        assert len(written) == 1
    with dikin.Study(file, "shop") as study:
        assert [query.id for query in study.open_queries] == ids


@pytest.mark.parametrize("fault", [errors.StoreError("no space left"), RuntimeError("never seen")])
@in_a_loop
async def test_a_transaction_that_fails_acknowledges_nothing(
    file: str, monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    """All whose rows were in it hear so, and get one trial each when they ask again."""
    flush = Ledger.flush

    def failing(ledger: Ledger) -> None:
        raise fault

    async with opened(file) as studies:
        monkeypatch.setattr(Ledger, "flush", failing)
        failed = await at_once(studies, map(asks, "abc"))
        monkeypatch.setattr(Ledger, "flush", flush)
        again = await at_once(studies, map(asks, "abca"))
    assert [type(each) for each in failed] == [errors.StoreError] * 3
    assert again[3] == again[0]
    with dikin.Study(file, "shop") as study:
        assert sorted(query.id for query in study.open_queries) == sorted(set(again))


@in_a_loop
async def test_a_fault_in_the_middle_fails_those_before_it(file: str) -> None:
    """They were carried out and are not durable: nobody may be told that they are."""

    def lose(_: dikin.Study) -> None:
        raise errors.StoreError("the connection broke")

    async with opened(file) as studies:
        found = await at_once(studies, (asks("a"), lambda s: s.rounds, lose, asks("b")))
    assert {type(each) for each in found[:3]} == {errors.StoreError}
    assert isinstance(found[3], int)


@in_a_loop
async def test_a_busy_store_is_waited_for_once(file: str) -> None:
    """Of many requests that cannot be written, the second does not wait as long again."""
    waits = []

    def write(_: dikin.Study) -> None:
        waits.append(1)
        raise errors.BusyError("another client writes")

    async with opened(file) as studies:
        found = await at_once(studies, [write] * 20)
    assert {type(each) for each in found} == {errors.BusyError}
    assert len(waits) == 1


@in_a_loop
async def test_a_batch_ends_after_some_time(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first of many long requests does not wait for the last."""
    monkeypatch.setattr(limits, "BATCH_SECONDS", 0.0)
    last = Frozen()
    async with opened(file) as studies:
        acts: list[Act] = [lambda _: None] * 3 + [last]
        calls = [asyncio.ensure_future(studies.do("shop", act)) for act in acts]
        done, _ = await asyncio.wait(calls[:3])
        assert len(done) == 3
        assert not calls[3].done()  # and it was asked for at the same time
        last.go_on.set()
        await calls[3]


@in_a_loop
async def test_studies_that_nobody_uses_are_closed(
    file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "OPEN_STUDIES", 3)
    closed, close = list[str](), dikin.Study.close
    monkeypatch.setattr(
        dikin.Study, "close", lambda study: (closed.append(study.name), close(study))[1]
    )
    names = [f"s{number}" for number in range(8)]
    async with opened(file, *names) as studies:
        closed.clear()
        found = [await studies.do(name, lambda study: study.rounds) for name in names * 2]
        assert found == [0] * 16
        with pytest.raises(errors.UnknownStudyError):
            await studies.do("none", lambda study: study.rounds)
        assert "none" not in studies._studies
        assert len(studies._studies) <= 3
        monkeypatch.setattr(limits, "UNUSED_SECONDS", -1.0)
        await studies.do("s0", lambda study: study.rounds)
        assert len(studies._studies) == 1
    assert len(closed) == 17


@in_a_loop
async def test_studies_that_wait_share_few_connections(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant: without `give_back`, each of them keeps its own."""
    monkeypatch.setattr(limits, "IDLE_CONNECTIONS", 2)
    names = [f"s{number}" for number in range(9)]

    def connected(studies: OpenStudies) -> list[Any]:
        opened = [each._study for each in studies._studies.values() if each._study is not None]
        found = [each._ledger.database.connection for each in opened]
        return [each for each in found if each is not None]

    async with opened(url, *names) as studies:
        for name in names * 2:
            await studies.do(name, lambda study: study.ask(), "test")
        while len(connected(studies)) > 2:
            await asyncio.sleep(0.01)  # a connection is given back after the answer
        calls = (studies.do(name, lambda study: len(study.open_queries)) for name in names * 20)
        assert set(await asyncio.gather(*calls)) == {2}
        while len(connected(studies)) > 2:
            await asyncio.sleep(0.01)


@in_a_loop
async def test_studies_without_new_rows_are_not_read_again(
    file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    names, read, status = [f"s{n}" for n in range(6)], list[str](), Ledger.status
    for name in names:
        shop(file, name, rounds=2).close()

    def noted(ledger: Ledger, head: Any) -> Any:
        read.append(ledger.log.name)
        return status(ledger, head)

    monkeypatch.setattr(Ledger, "status", noted)
    service = Service(file)
    first = await service.statuses(names)
    assert [each.name for each in first] == read == names
    read.clear()
    with dikin.Study(file, "s3") as study:
        study.tell(study.ask(), 1.0)
    again = await service.statuses(names)
    assert read == ["s3"]
    assert [each.rounds for each in again] == [2, 2, 2, 3, 2, 2]
    assert again[0].last_told_seconds > first[0].last_told_seconds
    monkeypatch.setattr(limits, "STATUS_SECONDS", -1.0)
    await service.statuses(["s5", "none"])
    assert read == ["s3", "s5"]
    await service.studies.do("s1", lambda study: study.tell(study.ask(), 1.0), "test")
    monkeypatch.setattr(Log, "page", None)  # what was written here is in memory
    (own,) = await service.statuses(["s1"])
    assert own.rounds == 3
    await asyncio.to_thread(service.studies.close)


@in_a_loop
async def test_a_scrape_does_not_wait_for_every_study(
    file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "SCRAPE_SECONDS", 0.01)
    names, freeze, found = ["quick", "slow"], Frozen(), list[str]()
    for name in names:
        shop(file, name).close()
    service = Service(file)
    frozen = asyncio.ensure_future(service.studies.do("slow", freeze))
    await asyncio.to_thread(freeze.begun.wait)
    while not found:
        found = [str(each.name) for each in await service.known_statuses(names)]
    assert found == ["quick"]
    freeze.go_on.set()
    await frozen
    while len(found) < 2:
        found = [str(each.name) for each in await service.known_statuses(names)]
    assert found == names
    await asyncio.to_thread(service.studies.close)


@in_a_loop
async def test_a_study_that_is_stuck(file: str) -> None:
    """Who waits is answered, who comes is refused at once, and afterwards it continues."""
    async with opened(file) as studies:
        freeze, found = Frozen(), list[Any]()
        assert await studies.do("shop", lambda study: study.rounds) == 0  # it is open
        studies.deadline = 0.05
        while not freeze.begun.is_set():  # on a busy machine it may be given up before it begins
            found = await asyncio.gather(studies.do("shop", freeze), return_exceptions=True)
        asked = studies.do("shop", lambda study: study.ask())
        found += await asyncio.gather(asked, return_exceptions=True)
        assert [type(each) for each in found] == [StuckError] * 2
        while not studies.stuck:
            await asyncio.sleep(0.01)
        with pytest.raises(StuckError, match="'shop' is stuck: it has not answered for"):
            await studies.do("shop", lambda study: study.ask())
        with pytest.raises(StuckError, match=r"not answered for 0\.05 seconds"):
            await studies.apart(freeze.go_on.wait)
        studies.deadline = 600.0
        freeze.go_on.set()
        # Nobody waited for the ask any more when its turn came.
        assert await studies.do("shop", lambda study: len(study.open_queries)) == 0
        assert studies.stuck == 0


@in_a_loop
async def test_an_end_that_a_frozen_study_does_not_delay(
    file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "CLOSE_SECONDS", 0.05)
    async with opened(file) as studies:
        freeze = Frozen()
        asked = asyncio.ensure_future(studies.do("shop", freeze))
        await asyncio.to_thread(freeze.begun.wait)
        await asyncio.to_thread(studies.close)
        asked.cancel()
        freeze.go_on.set()
        assert studies.abandoned


@in_a_loop
async def test_tokens_are_read_once_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who comes meanwhile shares the read and its error, which are believed for two seconds."""
    now, reads = [1000.0], [0]

    async def read() -> TokenCheck:
        reads[0] += 1
        mine = reads[0]
        await asyncio.sleep(0)
        if mine == 1:
            raise errors.StoreError("away")
        return TokenCheck([])

    monkeypatch.setattr(access.time, "monotonic", lambda: now[0])
    gate = Gate(read)
    checks = [asyncio.ensure_future(gate.check()) for _ in range(5)]
    await asyncio.sleep(0)
    checks[0].cancel()  # who gives up does not take the read from others
    found = await asyncio.gather(*checks[1:], return_exceptions=True)
    assert [type(each) for each in found] == [errors.StoreError] * 4
    now[0] += 1.9
    with pytest.raises(errors.StoreError):
        await gate.check()
    assert reads == [1]
    now[0] += 0.2
    assert (await gate.check()).open
    assert reads == [2]


@pytest.mark.parametrize("closing", [True, False])
@in_a_loop
async def test_a_request_that_the_end_cuts_off(
    file: str, closing: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server cancels what takes too long: the client learns that it may send it again."""
    shop(file).close()
    service, begun, send = Service(file), asyncio.Event(), AsyncMock()

    async def wait(*_: object, **__: object) -> None:
        begun.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(service.studies, "do", wait)
    scope = {"type": "http", "method": "POST", "path": "/v1/studies/shop/pause"}
    scope |= {"headers": [(b"host", b"localhost")], "query_string": b""}
    scope |= {"server": ("127.0.0.1", 80)}
    request = asyncio.ensure_future(service(scope, AsyncMock(), send))
    await begun.wait()
    service.is_closing = lambda: closing
    request.cancel()
    await asyncio.wait([request])
    assert request.cancelled() is not closing  # any other cancellation is not ours to explain
    await asyncio.to_thread(service.studies.close)
    sent = [call.args[0] for call in send.call_args_list]
    assert [message.get("status") for message in sent] == ([503, None] if closing else [])
    assert not closing or b"the service shuts down" in sent[1]["body"]
    late = await ask_asgi(service, "GET", "/v1/studies")
    assert late == (503 if closing else 500)  # its threads have ended


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_ends_a_service_without_a_word(file: str, how: signal.Signals) -> None:
    shop(file).close()
    with Serving(file, "--log", "warning") as service:
        assert service.send("GET", "/healthz").status == 200
        assert service.end_by(how) == (0 if how is signal.SIGINT else -how)
        assert "Aborted" not in service.logged()


@in_a_loop
async def test_a_tell_runs_through_few_functions(file: str) -> None:
    """Of a plain tuner of three numbers, from the request to the answer: 209 in 26 files."""
    source, codes = str(Path(dikin.__file__).parent), list[CodeType]()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(source):
            codes.append(frame.f_code)

    tuner = dikin.Tuner({name: dikin.Real(0, 1) for name in "abc"}, seed=1)
    dikin.Study(file, "plain", tuner).close()
    service, counts = Service(file), list[tuple[int, int]]()
    threading.setprofile(note)  # of the threads of studies
    try:
        for id in range(0, 60, 2):  # the numbers of the rows of asks
            assert await ask_asgi(service, "POST", "/v1/studies/plain/ask") == 200
            codes.clear()
            sys.setprofile(note)
            body = b'{"id": %d, "value": %f}' % (id, (id % 5) / 5)
            assert await ask_asgi(service, "POST", "/v1/studies/plain/tell", body) == 200
            sys.setprofile(None)
            counts.append((len(codes), len({code.co_filename for code in codes})))
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
        await asyncio.to_thread(service.studies.close)
    calls, files = sorted(counts)[15]
    assert calls <= 250
    assert files <= 30
