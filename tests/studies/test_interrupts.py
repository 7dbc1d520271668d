"""Ctrl-C at any instant: the study goes on, and what a call returned with is there.

KeyboardInterrupt is raised at the first, second, third, ... function call (Python's and C's) that a
call of the study makes, until it makes no more.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice
from types import FrameType
from typing import Any

import pytest

import dikin
from dikin import errors

EVERY = 11
"""Function calls between two instants that are tried."""


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


def test_an_interrupted_call_leaves_the_study_usable(url: str) -> None:
    every, count = EVERY, 0
    with dikin.Study(url, "a", learner()) as study:
        for was in interrupted(lambda: study.tell(study.ask(), 0.5), every):
            before = study.rounds
            consistent(study, before)
            count += was
        assert study.verify() > 0
    assert count > 20  # the instants that were tried


def test_reading_is_left_usable_too(file: str) -> None:
    with dikin.Study(file, "a", learner()) as study:
        study.tell(study.ask(), 0.5)
        # Every instant that is tried makes the history longer, and so reading it.
        for _ in islice(interrupted(lambda: study.history(), 5), 60):
            consistent(study, 0)
        assert study.verify() > 0


def test_what_waited_to_be_written_is_kept_or_said_to_be_lost(file: str) -> None:
    """With commit_within calls return before their events are durable."""
    with dikin.Study(file, "a", learner(), patience=10.0, commit_within=5.0) as study:
        expected = 0
        for _ in interrupted(lambda: study.tell(study.ask(), 0.5), 7):
            rounds = study.rounds
            assert rounds >= expected  # what was acknowledged before is there
            for _ in range(3):
                study.tell(study.ask(), 0.25)
            expected = rounds + 3
        study.flush()
        assert study.verify() > 0
    with dikin.Study(file, "a") as again:
        assert again.rounds >= expected


def test_opening_can_be_interrupted(file: str) -> None:
    dikin.Study(file, "a", learner()).close()
    for _ in interrupted(lambda: dikin.Study(file, "a").close(), 1009):
        with dikin.Study(file, "a", patience=2.0) as study:
            consistent(study, 0)


def test_what_waited_is_written_over_another_connection(url: str) -> None:
    """Ctrl-C may leave a connection that cannot be used any more."""
    with dikin.Study(url, "a", learner(), patience=10.0, commit_within=5.0) as study:
        for _ in range(4):
            study.tell(study.ask(), 0.25)
        study._session.database.disconnect()
        study._session._undo(KeyboardInterrupt())
        assert study.rounds == 4
        assert study.verify() == 8


def test_unless_somebody_else_had_a_turn_meanwhile(url: str) -> None:
    with dikin.Study(url, "a", learner(), patience=10.0, commit_within=5.0) as study:
        study.tell(study.ask(), 0.25)
        study._session.database.disconnect()
        study._session.database._end_turn()
        with dikin.Study(url, "a") as other:
            other.tell(other.ask(), 0.75)
        with pytest.raises(errors.StoreError, match=r"2 events .* may be lost"):
            study._session._undo(KeyboardInterrupt())
        assert study.rounds == 1


def test_a_connection_that_is_left_locked_is_not_waited_for(server: Any) -> None:
    """psycopg keeps its lock if Ctrl-C comes at the wrong instant."""
    with dikin.Study(server.url, "locked", learner()) as study:
        study.tell(study.ask(), 0.25)
        database = study._session.database
        database.begin(study._session.journal.study)
        database._pooled.driver_connection.lock.acquire()
        database.rollback()
        study.tell(study.ask(), 0.25)
        assert study.rounds == 2


def test_rows_that_cannot_be_kept_are_said_to_be_lost(
    file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with dikin.Study(file, "a", learner(), patience=10.0, commit_within=5.0) as study:
        for _ in range(4):
            study.tell(study.ask(), 0.25)
        monkeypatch.setattr(type(study._session), "_keep_returned", lambda *_: False)
        with pytest.raises(errors.StoreError, match=r"8 events .* may be lost") as lost:
            study._session._undo(KeyboardInterrupt())
        assert isinstance(lost.value.__cause__, KeyboardInterrupt)
        consistent(study, 0)


def test_an_error_of_another_kind_loses_nothing_that_was_returned_with(
    file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with dikin.Study(file, "a", learner(), patience=10.0, commit_within=5.0) as study:
        for _ in range(4):
            study.tell(study.ask(), 0.25)

        def fails(*_: Any) -> None:
            raise MemoryError

        with monkeypatch.context() as patched:
            patched.setattr(type(study._session._replayed), "ask", fails)
            with pytest.raises(MemoryError):
                study.ask()
        assert study.rounds == 4
        assert study.verify() == 8


def test_an_interrupted_study_can_be_closed(file: str) -> None:
    with dikin.Study(file, "a", learner(), patience=10.0, commit_within=5.0) as study:
        for _ in range(3):
            study.tell(study.ask(), 0.25)
        study._session._inside = True  # interrupted in its work, and in giving it back
    with dikin.Study(file, "a") as again:
        assert again.rounds == 3


def test_an_interrupted_tuner_goes_on() -> None:
    tuner = dikin.Tuner({"x": dikin.Real(0, 1)}, seed=1)
    for act in (tuner.ask, lambda: tuner.tell(tuner.ask(), 0.5)):
        for _ in interrupted(act, 1):
            for trial in tuner.open_trials:
                with suppress(errors.ClosedQueryError):
                    tuner.tell(trial, 0.5)
            tuner.tell(tuner.ask(), 0.5)
            assert not tuner.open_trials
            assert not tuner.learner.open_queries
