"""Something that is read once for all who want it at that moment."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import SimpleNamespace

import pytest
from dikin.service.shared_read import SharedRead

from dikin.service import shared_read


def counted(seconds: float, fails: int = 0) -> tuple[SharedRead[int], Callable[[], int]]:
    """What is read, which fails some times first, and how often it was read."""
    reads = 0

    async def read() -> int:
        nonlocal reads
        reads += 1
        mine = reads
        await asyncio.sleep(0)
        if mine <= fails:
            raise OSError("away")
        return mine

    return SharedRead(read, seconds), lambda: reads


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time, which goes on when a test says so."""
    now = [1000.0]
    monkeypatch.setattr(shared_read, "time", SimpleNamespace(monotonic=lambda: now[0]))
    return now


def test_all_who_come_meanwhile_share_a_read() -> None:
    async def play() -> None:
        shared, reads = counted(60.0)
        assert set(await asyncio.gather(*(shared.get() for _ in range(20)))) == {1}
        assert await shared.get() == 1
        assert reads() == 1

    asyncio.run(play())


def test_it_is_read_again_when_it_is_old(clock: list[float]) -> None:
    async def play() -> None:
        shared, _ = counted(5.0)
        assert await shared.get() == 1
        clock[0] += 5.0
        assert await shared.get() == 1
        clock[0] += 0.1
        assert await shared.get() == 2

    asyncio.run(play())


def test_an_error_is_shared_and_believed_as_long(clock: list[float]) -> None:
    async def play() -> None:
        shared, reads = counted(5.0, fails=1)
        found = await asyncio.gather(*(shared.get() for _ in range(5)), return_exceptions=True)
        assert [type(each) for each in found] == [OSError] * 5
        assert isinstance((await asyncio.gather(shared.get(), return_exceptions=True))[0], OSError)
        assert reads() == 1
        clock[0] += 5.1
        assert await shared.get() == 2

    asyncio.run(play())


def test_who_gives_up_does_not_take_the_read_from_others() -> None:
    async def play() -> None:
        shared, reads = counted(60.0)
        impatient = asyncio.ensure_future(shared.get())
        patient = asyncio.ensure_future(shared.get())
        await asyncio.sleep(0)  # both have begun to wait
        impatient.cancel()
        assert await patient == 1
        assert reads() == 1

    asyncio.run(play())
