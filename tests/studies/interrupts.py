"""Something happens at every instant of a call: Ctrl-C, a handler with the study, a failure."""

import sqlite3
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from types import FrameType
from typing import Any, Self

import dikin
from dikin import errors
from studies.small import folded, plain, sharing, state_of

Made = Callable[[], dikin.Tuner]


class At:
    """Does something at the n-th function call inside the block, Python's or C's."""

    def __init__(self, at: int, act: Callable[[], object]) -> None:
        self.left, self._act = at, act

    def __enter__(self) -> Self:
        sys.setprofile(self._look)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)

    def _look(self, frame: FrameType, event: str, argument: Any) -> None:
        # Not inside Python's own threads, and not where a block gives its lock back: there no real
        # signal can come, and the lock would be held for ever.
        if event not in ("call", "c_call") or frame.f_code.co_filename == threading.__file__:
            return
        if getattr(argument, "__name__", "") == "__exit__":
            return
        self.left -= 1
        if self.left == 0:
            sys.setprofile(None)
            self._act()


def at_every_instant(
    act: Callable[[], object], happens: Callable[[], object], every: int
) -> Iterator[bool]:
    """Do something again and again, and something else at a later instant each time."""
    at = 1
    while True:
        instant = At(at, happens)
        with suppress(KeyboardInterrupt), instant:
            act()
        yield instant.left <= 0
        if instant.left > 0:
            return
        at += every


def ctrl_c() -> None:
    raise KeyboardInterrupt


def play(study: dikin.Study, value: float) -> None:
    """A round, with a context and a limited metric where the tuner has them."""
    status = study.status()
    context = {"region": "eu"} if status.contexts else None
    metrics = {"p99_ms": 150.0} if status.limits else None
    study.tell(study.ask(context, covariates={"load": 0.5}), value, metrics=metrics)


def agrees(url: str, study: dikin.Study) -> None:
    """Nothing that the rows do not say, and no study that does not open."""
    if not url.startswith("http"):
        assert state_of(study) == state_of(folded(url)), "the client is not where its rows are"
    with dikin.Study(url, "a") as other:
        assert other.rounds == study.rounds


def calls(url: str, every: int = 1, made: Made = plain) -> Iterator[bool]:
    """Ctrl-C in ask and tell: the next call goes on, whatever was left behind."""
    with dikin.Study(url, "a", made(), patience=60.0) as study:
        play(study, 0.5)
        told = [1]

        def act() -> None:
            play(study, 0.5)
            told[0] += 1

        for came in at_every_instant(act, ctrl_c, every):
            study.forget(older_than=0)  # an answer on its way comes now or never
            rounds = study.rounds
            assert told[0] <= rounds <= told[0] + 1, f"{told[0]} told, {rounds} there"
            told[0] = rounds
            yield came
        agrees(url, study)


def waiting_commits(url: str, every: int = 1, made: Made = plain) -> Iterator[bool]:
    """Ctrl-C while rows wait for others to share a commit: all of them are written, or none."""
    with sharing(url, "a", made(), patience=60.0) as study:

        def act() -> None:
            with suppress(errors.StoreError):
                play(study, 0.5)
                play(study, 0.5)
                study._ledger.flush()

        for came in at_every_instant(act, ctrl_c, every):
            with suppress(errors.StoreError):
                study._ledger.flush()
            study.forget(older_than=0)
            study._ledger.flush()
            yield came
        agrees(url, study)
        assert study.rounds >= 2


def openings(url: str, every: int = 1, made: Made = plain) -> Iterator[bool]:
    """Ctrl-C in opening and creating a study."""

    def act() -> None:
        dikin.Study(url, "a", made(), patience=60.0).close()

    for came in at_every_instant(act, ctrl_c, every):
        with dikin.Study(url, "a", made()) as study:
            play(study, 0.5)
        yield came


ACTS: dict[str, Callable[[dikin.Study], object]] = {
    "ask": lambda study: study.ask(),
    "tell": lambda study: study.tell(study.ask(), 0.25),
    "forget": lambda study: study.forget(older_than=0),
    "pause": lambda study: (study.pause(), study.resume()),
    "add": lambda study: study.add_trial({"x": 0.1, "y": 0.2}, 0.25),
    "rounds": lambda study: study.rounds,
    "status": lambda study: study.status(),
    "records": lambda study: study.records(1, 1),
}


def handlers(url: str, every: int = 1, outer: str = "tell", inner: str = "tell") -> Iterator[bool]:
    """A signal handler, a log handler or a `__del__` uses the study inside a call of its own."""
    with dikin.Study(url, "a", plain(), patience=60.0) as study:
        play(study, 0.5)
        acknowledged, refused = [1], [False]

        def handle() -> None:
            try:
                ACTS[inner](study)
            except errors.StateError as error:
                if "inside another call" not in str(error):
                    raise
                refused[0] = True
            else:
                acknowledged[0] += inner == "tell"

        def act() -> None:
            try:
                ACTS[outer](study)
            except errors.ClosedQueryError:
                assert inner == "forget"  # between ask and tell
            else:
                acknowledged[0] += outer == "tell"

        for came in at_every_instant(act, handle, every):
            assert study.rounds == acknowledged[0], "a call inside another one did harm"
            yield came and refused.pop()
            refused.append(False)
        agrees(url, study)


def statements(url: str, every: int = 1, act: str = "tell", after: bool = False) -> Iterator[bool]:
    """Every statement fails once, before or after it was carried out."""
    lost = url.startswith("postgresql")
    with dikin.Study(url, "a", plain(), patience=60.0) as study:
        play(study, 0.5)
        database, told, place = study._ledger.database, 1, 1
        run = database._run
        while True:
            left = [place]

            def fails(sql: str, values: Any = (), left: list[int] = left) -> Any:
                left[0] -= 1
                if left[0] == 0:
                    if after:
                        run(sql, values)
                    if lost and database.connection is not None:
                        database.connection.close()
                    raise database._explained(broken(lost))
                return run(sql, values)

            database._run = fails  # type: ignore[method-assign]
            try:
                ACTS[act](study)
                told += act == "tell"
            except errors.StoreError:
                assert not lost, "the call was not repeated"
            finally:
                database._run = run  # type: ignore[method-assign]
            rounds = study.rounds
            assert told <= rounds <= told + (not lost), f"{told} told, {rounds} there"
            told = rounds
            if act == "ask" and lost:
                assert len(study.open_queries) == 1, "asked twice, or never"
            study.forget(older_than=0)
            yield left[0] <= 0
            if left[0] > 0:
                break
            place += every
        agrees(url, study)


def broken(lost: bool) -> Exception:
    if lost:
        import psycopg

        return psycopg.OperationalError("the connection was cut")
    return sqlite3.OperationalError("disk I/O error")
