"""Ctrl-C at any instant: KeyboardInterrupt at the n-th call of a function, Python's or C's."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import dikin
from studies.small import LATER, plain, sharing


class Interrupt:
    """Raises KeyboardInterrupt at the n-th function call inside the block."""

    def __init__(self, at: int) -> None:
        self.left = at

    def __enter__(self) -> None:
        sys.setprofile(self._look)

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)

    def _look(self, frame: FrameType, event: str, argument: Any) -> None:
        # Not inside Python's own threads, and not where a block gives its lock back: there no real
        # Ctrl-C can come, and the lock would be held for ever.
        if event not in ("call", "c_call") or frame.f_code.co_filename == threading.__file__:
            return
        if getattr(argument, "__name__", "") == "__exit__":
            return
        self.left -= 1
        if self.left == 0:
            sys.setprofile(None)
            raise KeyboardInterrupt


def interrupted(act: Callable[[], object], every: int) -> Iterator[bool]:
    """Do something again and again, interrupted at a later instant each time; whether it was."""
    at = 1
    while True:
        try:
            with Interrupt(at):
                act()
        except KeyboardInterrupt:
            yield True
        else:
            yield False
            return
        at += every


def play(study: dikin.Study, value: float) -> None:
    """A round, with a context where the tuner has one."""
    context = {"region": "eu"} if study.status().contexts else None
    study.tell(study.ask(context, covariates={"load": 0.5}), value)


def consistent(study: dikin.Study, told: int) -> int:
    """It can be asked and told, and no round that returned is lost; how many there are now."""
    play(study, 0.25)
    rounds = study.rounds
    assert rounds > told, f"{told + 1 - rounds} rounds are lost"
    for waiting in study.open_queries:
        study.forget(waiting)
    return rounds


def calls(url: str, every: int, made: Callable[[], Any] = plain) -> Iterator[bool]:
    """Interrupt an ask and a tell; the study stays usable. Whether each was interrupted."""
    with dikin.Study(url, "a", made()) as study:
        told = 0
        for was in interrupted(lambda: play(study, 0.5), every):
            told = consistent(study, told)
            yield was
        assert [row["round"] for row in study.records()] == [*range(1, study.rounds + 1)]
        assert url.startswith("http") or study.verify() > 0  # a service verifies at its database


def flushes(url: str, every: int, made: Callable[[], Any] = plain) -> Iterator[bool]:
    """Interrupt the commit of events whose calls have returned; nobody else is kept waiting."""
    with (
        sharing(url, "a", made(), patience=2 * LATER) as study,
        dikin.Study(url, "a", patience=LATER / 10) as other,  # an error if it has to wait for that
    ):
        told = 0

        def flush() -> None:
            play(study, 0.25)
            study._flush()

        for was in interrupted(flush, every):
            rounds = study.rounds  # what is left of the interrupted call is given back
            study._flush()
            play(other, 0.75)
            assert rounds >= told, "a round is lost"
            told = other.rounds
            for waiting in other.open_queries:
                other.forget(waiting)
            yield was
        assert study.verify() > 0


def waiting_commits(url: str, every: int, made: Callable[[], Any] = plain) -> Iterator[bool]:
    """Calls return before their events are durable, which share a commit: none of them is lost."""
    with sharing(url, "a", made(), patience=2 * LATER) as study:
        expected = 0
        for was in interrupted(lambda: play(study, 0.5), every):
            rounds = study.rounds
            assert rounds >= expected  # what was acknowledged before is there
            for _ in range(3):
                play(study, 0.25)
            expected = rounds + 3
            yield was
        study._flush()
        assert study.verify() > 0
    with dikin.Study(url, "a") as again:
        assert again.rounds >= expected


def openings(url: str, every: int, made: Callable[[], Any] = plain) -> Iterator[bool]:
    """Interrupt the opening of a study; the next one opens it."""
    dikin.Study(url, "a", made()).close()
    told = 0
    for was in interrupted(lambda: dikin.Study(url, "a").close(), every):
        with dikin.Study(url, "a") as study:
            told = consistent(study, told)
        yield was
