"""Threads share a learner: every call is made as a whole, in some order."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dikin
from dikin.open_queries import OpenQueries

THREADS, ROUNDS = 4, 25
DISC = dikin.Ball(2)

MAKES: dict[str, Callable[[], Any]] = {
    "known range": lambda: dikin.AdaptiveSmooth(DISC, 1.0, seed=7),
    "unknown range": lambda: dikin.FKM(DISC, 100, loss_range=None, seed=7),
    "predictive": lambda: dikin.Predictive(DISC, 1.0, seed=7),
    "learner of learners": lambda: dikin.Corral(
        DISC,
        [dikin.FKM(DISC, 100, 1.0), dikin.SahaTewari(DISC, 100, 1.0, seed=1)],
        100,
        eta=2.0,
        seed=7,
    ),
}


@contextmanager
def recorded(learner: Any, call: threading.local) -> Iterator[list[tuple[Any, ...]]]:
    """Records the order of calls to a learner, and lets other threads in meanwhile."""
    order: list[tuple[Any, ...]] = []
    kind = type(learner)
    propose, get = kind._propose, OpenQueries.get

    def recorded_propose(self: Any, *given: Any) -> Any:
        order.append(("ask",))
        time.sleep(0)
        return propose(self, *given)

    def recorded_get(self: Any, id: int) -> Any:
        order.append(call.made)
        time.sleep(0)
        return get(self, id)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kind, "_propose", recorded_propose)
        patch.setattr(OpenQueries, "get", recorded_get)
        before = sys.getswitchinterval()
        sys.setswitchinterval(1e-6)
        try:
            yield order
        finally:
            sys.setswitchinterval(before)


def play(number: int, shared: Any, call: threading.local, file: Path) -> list[int]:
    """Ask, answer late, forget every fifth query, and look at everything meanwhile."""
    waiting: list[dikin.Query] = []
    ids: list[int] = []

    def answer(query: dikin.Query, i: int) -> None:
        loss = float(np.tanh(query.point.sum())) * (1.0 if i < 12 else 0.1 * number)
        call.made = "tell", query.id, loss
        shared.tell(query, loss)

    for i in range(ROUNDS):
        waiting.append(shared.ask())
        ids.append(waiting[-1].id)
        if i % 5 == 4:
            lost = waiting.pop(0)
            call.made = "forget", lost.id
            shared.forget(lost)
        if len(waiting) > 2:
            answer(waiting.pop(0), i)
        assert DISC.contains(shared.center)
        assert isnan(shared.certificate) or shared.certificate >= 0
        assert len(shared.open_queries) <= 4 * THREADS
        if i % 8 == 0:
            shared.save(file)
    for query in waiting:
        answer(query, ROUNDS)
    return ids


def require_one_after_the_other(learner: Any, twin: Any, tmp_path: Path) -> None:
    """The same calls, made one after the other in the recorded order, give the same learner."""
    call, file = threading.local(), tmp_path / "shared.json"
    with recorded(learner, call) as order, ThreadPoolExecutor(THREADS) as pool:
        clients = [pool.submit(play, i, learner, call, file) for i in range(THREADS)]
    for client in clients:
        if client.exception() is not None:
            raise AssertionError from client.exception()
    ids = [id for client in clients for id in client.result()]
    assert len(set(ids)) == len(ids) == THREADS * ROUNDS
    for move, *given in order:
        getattr(twin, move)(*given)
    assert learner.state() == twin.state()
    assert (learner.open_queries, learner.rounds) == ([], twin.rounds)
    assert dikin.load(file).rounds <= learner.rounds


@pytest.mark.parametrize("kind", MAKES)
def test_threads_are_one_after_the_other(kind: str, tmp_path: Path) -> None:
    require_one_after_the_other(MAKES[kind](), MAKES[kind](), tmp_path)


class NoLock(nullcontext[None]):
    def acquire(self) -> None: ...

    def release(self) -> None: ...


@pytest.mark.parametrize("kind", ["unknown range", "learner of learners"])
def test_without_the_lock_they_are_not(kind: str, tmp_path: Path) -> None:
    learner = MAKES[kind]()
    learner._open.lock = NoLock()
    with pytest.raises(AssertionError):
        require_one_after_the_other(learner, MAKES[kind](), tmp_path)
