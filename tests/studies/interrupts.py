"""Ctrl-C at any instant: KeyboardInterrupt at the n-th call of a function, Python's or C's."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import dikin


class Interrupt:
    """Raises KeyboardInterrupt at the n-th function call inside the block."""

    def __init__(self, at: int) -> None:
        self.left = at

    def __enter__(self) -> None:
        sys.setprofile(self._look)

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)

    def _look(self, frame: FrameType, event: str, argument: Any) -> None:
        if event not in ("call", "c_call"):
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


def learner() -> dikin.Learner:
    return dikin.Predictive(dikin.Ball(2), seed=1)


def consistent(study: dikin.Study[Any], told: int) -> None:
    """It can be asked and told, nothing that returned is lost, and the journal is whole."""
    query = study.ask()
    study.tell(query, 0.25)
    assert study.rounds >= told + 1
    for waiting in study.open_queries:
        study.forget(waiting)


def calls(url: str, every: int) -> Iterator[bool]:
    """Interrupt an ask and a tell; the study stays usable. Whether each was interrupted."""
    with dikin.Study(url, "a", learner()) as study:
        for was in interrupted(lambda: study.tell(study.ask(), 0.5), every):
            consistent(study, study.rounds)
            yield was
        assert study.verify() > 0


def waiting_commits(url: str, every: int) -> Iterator[bool]:
    """With commit_within calls return before their events are durable: none of them is lost."""
    with dikin.Study(url, "a", learner(), patience=10.0, commit_within=5.0) as study:
        expected = 0
        for was in interrupted(lambda: study.tell(study.ask(), 0.5), every):
            rounds = study.rounds
            assert rounds >= expected  # what was acknowledged before is there
            for _ in range(3):
                study.tell(study.ask(), 0.25)
            expected = rounds + 3
            yield was
        study.flush()
        assert study.verify() > 0
    with dikin.Study(url, "a") as again:
        assert again.rounds >= expected


def openings(url: str, every: int) -> Iterator[bool]:
    """Interrupt the opening of a study; the next one opens it."""
    dikin.Study(url, "a", learner()).close()
    for was in interrupted(lambda: dikin.Study(url, "a").close(), every):
        with dikin.Study(url, "a", patience=2.0) as study:
            consistent(study, 0)
        yield was
