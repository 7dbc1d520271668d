"""A call is carried out as a whole, once, or not at all, whatever happens inside it."""

import copy
import pickle
import sqlite3
import sys
import threading
from collections.abc import Callable
from itertools import islice
from typing import Any

import pytest

import dikin
from dikin import errors
from dikin.studies.guard import Guard
from studies import interrupts
from studies.small import HOLD, begin, folded, fresh, holder, rows_of, sharing, state_of, step


@pytest.mark.parametrize("inner", ["ask", "tell", "rounds", "add"])
def test_a_handler_inside_a_call_is_refused_with_words(url: str, inner: str) -> None:
    assert sum(interrupts.handlers(url, 31, "tell", inner)) > 10


@pytest.mark.parametrize("outer", sorted(interrupts.ACTS))
def test_a_handler_inside_every_other_call(file: str, outer: str) -> None:
    every = 7 if outer in ("rounds", "forget", "records") else 47
    assert sum(interrupts.handlers(file, every, outer, "tell")) > 3


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("act", ["ask", "tell", "pause", "add"])
def test_every_statement_fails_once(url: str, act: str, after: bool) -> None:
    assert sum(interrupts.statements(url, 1, act, after)) > 0


def test_ctrl_c_at_any_instant(url: str) -> None:
    assert sum(interrupts.calls(url, 53)) > 10


def test_ctrl_c_while_rows_wait(url: str) -> None:
    assert sum(interrupts.waiting_commits(url, 131)) > 5


def test_ctrl_c_in_opening(url: str) -> None:
    assert sum(islice(interrupts.openings(url, 211), 25)) > 5


def test_a_guard_that_was_left_by_an_interrupt_lets_others_in() -> None:
    """Its call is on no stack any more, on this thread or on another one."""
    guard = Guard()
    entered = [guard.enter(sys._getframe().f_back)]  # runs on
    with pytest.raises(errors.StateError, match="inside another call"):
        guard.enter(sys._getframe())

    def begins() -> None:
        entered.append(other.enter(sys._getframe()))

    other = Guard()
    thread = threading.Thread(target=begins)
    thread.start()
    thread.join()
    assert other.enter(sys._getframe()) is False
    assert entered == [True, True]


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_study_is_no_thing_to_copy(file: str, copied: Callable[[Any], Any]) -> None:
    with (
        dikin.Study(file, "a", fresh()) as study,
        pytest.raises(TypeError, match="open the study again where it is needed"),
    ):
        copied(study)


def test_another_program_holds_the_file(file: str) -> None:
    begin(file)
    with dikin.Study(file, "a", patience=0.05) as study:
        before = state_of(study)
        foreign = sqlite3.connect(file, isolation_level=None)
        foreign.execute("BEGIN IMMEDIATE")
        with pytest.raises(errors.BusyError, match=r"other clients write to .*longer patience"):
            study.ask()
        assert state_of(study) == before  # readers do not wait
        foreign.execute("ROLLBACK")
        foreign.close()
        assert study.ask().id == 9


def test_a_server_cuts_off_who_stops_in_a_transaction(server: Any) -> None:
    dikin.Study(server.url, "cut", fresh()).close()
    try:
        code = HOLD.replace("5.0", "0.2")
        with (
            dikin.Study(server.url, "cut", patience=60) as study,
            holder(server.url, code) as process,
        ):
            assert study.ask().id == 0
            process.communicate("\n")
    finally:
        dikin.Study.delete(server.url, "cut")


def test_rows_that_wait_are_written_together(url: str) -> None:
    with sharing(url, "a", fresh()) as study, dikin.Study(url, "a", patience=60.0) as other:
        for _ in range(3):
            trial = step(study)
            study.tell(trial, 0.25)
        with pytest.raises(errors.ContextError):
            study.ask([1.0, 0.0])  # type: ignore[call-overload]
        with pytest.raises(errors.AnsweredError):
            study.tell(trial, 0.75)
        keyed = study.ask(key="k")
        assert study.ask(key="k") == keyed
        study.pause()
        study.resume()
        assert (study.rounds, other.rounds, len(rows_of(url))) == (3, 0, 0)
        study._ledger.flush()
        assert (study.rounds, other.rounds, len(rows_of(url))) == (3, 3, 9)
        step(other)
        for _ in range(3):
            step(study)
        study._ledger.flush()
        assert len({row.seal for row in rows_of(url)[-6:]}) == 1
        assert state_of(study) == state_of(other) == state_of(folded(url))


def test_rows_that_wait_and_are_lost(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever wrote them hears of it, from the call that failed and when all are written."""
    with sharing(url, "a", fresh()) as study:
        step(study)
        study._ledger.flush()
        for where in ("commit", "append"):
            step(study)

            def fails(*_: Any, **__: Any) -> Any:
                monkeypatch.undo()
                raise errors.StoreError("the disk is full")

            monkeypatch.setattr(study._ledger.database, where, fails)
            if where == "append":
                with pytest.raises(errors.StoreError, match="full"):
                    study.pause()  # a row of its own, before which those that wait are written
            with pytest.raises(errors.StoreError, match="full"):
                study._ledger.flush()
            study._ledger.flush()
            assert study.rounds == len([r for r in rows_of(url) if r.kind == "tell"]) == 1
        assert state_of(study) == state_of(folded(url))


def test_a_connection_that_breaks_while_rows_wait(server: Any) -> None:
    with sharing(server.url, "breaks", fresh()) as study:
        step(study)
        study._ledger.flush()
        step(study)
        study._ledger.database.connection.close()
        with pytest.raises(errors.StoreError):
            study.pause()
        with pytest.raises(errors.StoreError, match="were not"):
            study._ledger.flush()
        step(study)
        study._ledger.flush()
        assert study.rounds == 2
    dikin.Study.delete(server.url, "breaks")


def test_a_missing_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(errors.MissingExtraError, match=r'pip install "dikin\[postgres\]"'):
        dikin.Study("postgresql://x@y/z", "a", fresh())


def test_a_tuner_that_fails_in_the_middle(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An ask is taken back. A row is a fact: it stays, and teaches nothing where it cannot."""

    def fail(*_: Any, **__: Any) -> Any:
        raise errors.NumericalError("no")

    with dikin.Study(file, "a", fresh()) as study:
        step(study)
        trial, before = study.ask(), state_of(study)
        with monkeypatch.context() as patched:
            patched.setattr(dikin.Tuner, "_drawn", fail)
            with pytest.raises(errors.NumericalError):
                study.ask()
        assert state_of(study) == before
        with monkeypatch.context() as patched:
            patched.setattr(dikin.Tuner, "_certify", fail)
            study.tell(trial, 0.5)
            assert dikin.Study(file, "a").rounds == study.rounds == 2
    with dikin.Study(file, "a") as study:
        step(study)
        assert (study.rounds, study.open_queries) == (3, [])
