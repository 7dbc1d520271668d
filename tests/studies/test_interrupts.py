"""Ctrl-C at any instant: the study goes on, and what a call returned with is there."""

from __future__ import annotations

from contextlib import suppress
from itertools import islice
from typing import Any

import pytest

import dikin
from dikin import errors
from dikin.studies.session import Session
from studies.interrupts import (
    calls,
    consistent,
    flushes,
    interrupted,
    openings,
    waiting_commits,
)
from studies.small import LATER, plain, sharing

EVERY = 11
"""Function calls between two instants that are tried."""


def test_an_interrupted_call_leaves_the_study_usable(url: str) -> None:
    assert sum(calls(url, EVERY)) > 20  # the instants that were tried


def test_a_round_that_is_lost_is_found(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant: the last round goes with the interrupted call."""
    undo = Session._undo

    def loses(self: Any, error: BaseException) -> None:
        undo(self, error)
        with self.transaction():
            last = self.journal.head()[0]
            if last > 4 and not isinstance(error, Exception):
                self.journal.remove_from(last - 1)
                self.journal.move_head(last - 2, self.journal.seal_at(last - 2))
        self._replayed = None

    monkeypatch.setattr(Session, "_undo", loses)
    with pytest.raises((AssertionError, errors.StateError)):
        list(calls(file, EVERY))


def test_an_interrupted_commit_keeps_nobody_waiting(url: str) -> None:
    assert sum(flushes(url, 13)) > 10


def test_reading_is_left_usable_too(file: str) -> None:
    with dikin.Study(file, "a", plain()) as study:
        study.tell(study.ask(), 0.5)
        # Every instant that is tried makes the history longer, and so reading it.
        for _ in islice(interrupted(lambda: study.history(), 5), 60):
            consistent(study, 0)
        assert study.verify() > 0


def test_the_connection_of_an_interrupted_read_is_not_used_again(url: str) -> None:
    """The driver may be in any state."""

    def cut_off(_: Any) -> None:
        raise KeyboardInterrupt

    with dikin.Study(url, "a", plain()) as study:
        study.tell(study.ask(), 0.5)
        database = study._backend.journal.database
        before = database._connection
        with pytest.raises(KeyboardInterrupt):
            study._backend.session.read(cut_off)
        assert study.rounds == 1
        assert database._connection is not before


def test_what_waited_to_be_written_is_kept(url: str) -> None:
    assert sum(waiting_commits(url, 7)) > 10


def test_opening_can_be_interrupted(file: str) -> None:
    assert sum(openings(file, 1009)) > 2


def test_what_waited_is_written_over_another_connection(url: str) -> None:
    """Ctrl-C may leave a connection that cannot be used any more."""
    with sharing(url, "a", plain(), patience=2 * LATER) as study:
        for _ in range(4):
            study.tell(study.ask(), 0.25)
        study._backend.session.database.disconnect()
        study._backend.session._undo(KeyboardInterrupt())
        assert study.rounds == 4
        assert study.verify() == 8


def test_unless_somebody_else_had_a_turn_meanwhile(url: str) -> None:
    with sharing(url, "a", plain(), patience=2 * LATER) as study:
        study.tell(study.ask(), 0.25)
        study._backend.session.database.disconnect()
        study._backend.session.database._end_turn()
        with dikin.Study(url, "a") as other:
            other.tell(other.ask(), 0.75)
        with pytest.raises(errors.StoreError, match=r"2 events .* may be lost"):
            study._backend.session._undo(KeyboardInterrupt())
        assert study.rounds == 1


def test_a_connection_that_is_left_locked_is_not_waited_for(server: Any) -> None:
    """psycopg keeps its lock if Ctrl-C comes at the wrong instant."""
    with dikin.Study(server.url, "locked", plain()) as study:
        study.tell(study.ask(), 0.25)
        database = study._backend.session.database
        database.begin(study._backend.session.journal.study)
        database._connection.lock.acquire()
        database.rollback()
        study.tell(study.ask(), 0.25)
        assert study.rounds == 2
        database.connect()
        database._connection.lock.acquire()  # before a call, too
        study.tell(study.ask(), 0.25)
        assert study.rounds == 3


def test_rows_that_cannot_be_kept_are_said_to_be_lost(
    file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with sharing(file, "a", plain(), patience=2 * LATER) as study:
        for _ in range(4):
            study.tell(study.ask(), 0.25)
        monkeypatch.setattr(type(study._backend.session), "_keep_returned", lambda *_: False)
        with pytest.raises(errors.StoreError, match=r"8 events .* may be lost") as lost:
            study._backend.session._undo(KeyboardInterrupt())
        assert isinstance(lost.value.__cause__, KeyboardInterrupt)
        consistent(study, 0)


def test_an_error_of_another_kind_loses_nothing_that_was_returned_with(
    file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with sharing(file, "a", plain(), patience=2 * LATER) as study:
        for _ in range(4):
            study.tell(study.ask(), 0.25)

        def fails(*_: Any) -> None:
            raise MemoryError

        with monkeypatch.context() as patched:
            patched.setattr(type(study._backend.session._replayed), "ask", fails)
            with pytest.raises(MemoryError):
                study.ask()
        assert study.rounds == 4
        assert study.verify() == 8


def test_an_interrupted_study_can_be_closed(file: str) -> None:
    with sharing(file, "a", plain(), patience=2 * LATER) as study:
        for _ in range(3):
            study.tell(study.ask(), 0.25)
        study._backend.session._inside = True  # interrupted in its work, and in giving it back
    with dikin.Study(file, "a") as again:
        assert again.rounds == 3


def test_an_interrupted_tuner_goes_on() -> None:
    tuner = dikin.Tuner({"x": dikin.Real(0, 1)}, seed=1)
    for act in (tuner.ask, lambda: tuner.tell(tuner.ask(), 0.5)):
        for _ in interrupted(act, 1):
            for trial in tuner.open_queries:
                with suppress(errors.ClosedQueryError):
                    tuner.tell(trial, 0.5)
            tuner.tell(tuner.ask(), 0.5)
            assert not tuner.open_queries


@pytest.mark.parametrize("flush", ["fork", "call"])
def test_a_call_that_was_interrupted_twice_keeps_what_waits(file: str, flush: str) -> None:
    """The second Ctrl-C came while it cleaned up."""
    with sharing(file, "a", plain(), patience=20.0) as study:
        session = study._backend.session
        trial = study.ask()
        session._inside, session._replayed = True, None
        if flush == "fork":
            session.before_fork()
        else:
            study._flush()
        study.tell(trial, 0.5)
        study._flush()
        assert study.verify() == 2
