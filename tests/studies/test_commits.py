"""Other writers, and commits that fail or whose outcome is unknown: every event exactly once."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

import dikin
from dikin import errors
from dikin.studies.database import LostConnection
from studies.small import LATER, alone, begin, fresh, sharing, step


@pytest.fixture
def played(file: str) -> str:
    """A study with four rounds and a query open."""
    begin(file)
    return file


# --- transactions --------------------------------------------------------------------------------


def test_a_database_knows_whether_a_transaction_is_open(url: str) -> None:
    with dikin.Study(url, "a", fresh()) as study:
        database, key = study._backend.journal.database, study._backend.journal.study
        assert not database.in_transaction
        for end in (database.commit, database.rollback, database.disconnect):
            database.begin(key)
            assert database.in_transaction
            end()
            assert not database.in_transaction
        database._end_turn()  # a connection that is lost does not give it back
        with database.view():
            database.run("SELECT 1")
            assert database.in_transaction
        assert not database.in_transaction


def test_every_call_is_committed_at_once_even_if_the_clock_stands_still(
    file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A clock may tick more slowly than calls come; none waits for it."""
    stopped = SimpleNamespace(monotonic=lambda: 7.0, sleep=time.sleep)
    with dikin.Study(file, "a", fresh()) as study:
        monkeypatch.setattr("dikin.studies.session.time", stopped)
        for _ in range(3):
            step(study)
            assert not study._backend.journal.database.in_transaction


def test_who_has_queued_waits_for_other_programs_as_long_as_is_left_of_its_patience(
    file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Twelve seconds of twenty are spent in the queue of clients: eight are left."""
    now, statements = [100.0], list[str]()
    with dikin.Study(file, "a", fresh(), patience=20.0) as study:
        step(study)
        database = study._backend.journal.database
        acquire = database._lock.acquire

        def queues(*arguments: Any) -> bool:
            acquire(*arguments)
            now[0] += 12.0
            return True

        clock = SimpleNamespace(monotonic=lambda: now[0], sleep=time.sleep)
        monkeypatch.setattr("dikin.studies.database.time", clock)
        monkeypatch.setattr(database._lock, "acquire", queues)
        database._connection.set_trace_callback(statements.append)
        study.ask()
    waits = [each for each in statements if "busy_timeout" in each or "IMMEDIATE" in each]
    begin = waits.index("BEGIN IMMEDIATE")
    assert waits[begin - 1 : begin + 2] == [
        "PRAGMA busy_timeout=8000",
        "BEGIN IMMEDIATE",
        "PRAGMA busy_timeout=20000",
    ]


# --- other writers -------------------------------------------------------------------------------


def test_another_program_holds_the_file(played: str) -> None:
    with dikin.Study(played, "a", patience=0.05) as study:
        before = study.state()
        foreign = sqlite3.connect(played, isolation_level=None)
        foreign.execute("BEGIN IMMEDIATE")
        with pytest.raises(errors.BusyError, match="another program holds"):
            study.ask()
        assert study.state() == before  # readers do not wait
        foreign.execute("ROLLBACK")
        foreign.close()
        assert study.ask().id == 5


HOLD = """
import sys, time, dikin
study = dikin.Study(sys.argv[1], "a", patience=0.3)
with study._backend.session.transaction():
    print("held", flush=True)
    try:
        sys.stdin.readline()
    except KeyboardInterrupt:
        pass
print(study.ask().id, flush=True)
"""


def holder(url: str, code: str = HOLD, **options: Any) -> subprocess.Popen[str]:
    """A process in the middle of its turn."""
    process = subprocess.Popen(
        [sys.executable, "-c", code, url],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_a_client_that_dies_in_its_turn(url: str) -> None:
    """With a minute's patience, this hangs if the dead one's turn does not end with it."""
    with dikin.Study(url, "a", fresh(), patience=60) as study:
        with holder(url) as process:
            process.send_signal(signal.SIGKILL)
            assert study.ask().id == 0
        assert process.returncode == -signal.SIGKILL


FORKED = """
import os, sys, time, dikin
study = dikin.Study(sys.argv[1], "a")
with study._backend.session.transaction():
    if not os.fork():
        time.sleep(86400)  # a child that has nothing to do with it, and lives on
        os._exit(0)
    print("held", flush=True)
    sys.stdin.readline()
"""


def test_a_client_that_dies_in_its_turn_and_leaves_a_child(file: str) -> None:
    """The child inherits the open files; it must not inherit the turn."""
    study = dikin.Study(file, "a", fresh(), patience=60)
    with study, holder(file, FORKED, start_new_session=True) as process:
        process.send_signal(signal.SIGKILL)
        try:
            assert study.ask().id == 0
        finally:
            os.killpg(process.pid, signal.SIGKILL)


def test_a_client_that_stops_in_its_turn(file: str) -> None:
    """On SQLite the others hear within their patience that they cannot have their turn now."""
    with dikin.Study(file, "a", fresh(), patience=0.05) as study:
        with holder(file) as process:
            for _ in range(2):
                with pytest.raises(errors.BusyError, match="another process has held"):
                    study.ask()
            out, _ = process.communicate("\n")
            assert out == "0\n"
        assert study.ask().id == 1


def test_a_server_cuts_off_who_stops_in_its_turn(server: Any) -> None:
    """On PostgreSQL the server ends the turn; who was cut off connects again."""
    dikin.Study(server.url, "a", fresh()).close()
    try:
        with dikin.Study(server.url, "a", patience=60) as study, holder(server.url) as process:
            assert study.ask().id == 0
            _, trouble = process.communicate("\n")
            assert "dikin.errors.StoreError" in trouble
    finally:
        dikin.Study.delete(server.url, "a")


# --- commits that fail, or whose outcome is unknown ----------------------------------------------


def failing(
    monkeypatch: pytest.MonkeyPatch, study: dikin.Study, error: BaseException, written: bool
) -> None:
    """The next commit fails, after or before it was carried out."""
    database, commit = study._backend.journal.database, study._backend.journal.database.commit

    def once(head: Any = None) -> None:
        monkeypatch.undo()
        if written:
            commit(head)
        else:
            database.rollback()
        raise error

    monkeypatch.setattr(database, "commit", once)


@pytest.mark.parametrize("written", [True, False])
@pytest.mark.parametrize("verb", ["ask", "tell", "forget"])
def test_a_connection_that_breaks_during_a_commit(
    url: str, monkeypatch: pytest.MonkeyPatch, verb: str, written: bool
) -> None:
    """The call finds out whether it was written, and the event is made exactly once."""
    with dikin.Study(url, "a", fresh()) as study:
        first = study.ask()
        failing(monkeypatch, study, LostConnection("cut"), written)
        calls: dict[str, Callable[[], Any]] = {
            "ask": study.ask,
            "tell": lambda: study.tell(first, 0.5),
            "forget": lambda: study.forget(first),
        }
        found = calls[verb]()
        assert study.verify() == 2
        assert verb != "ask" or found.id == 1


@pytest.mark.parametrize("written", [True, False])
def test_an_ask_whose_outcome_stays_unknown(
    url: str, monkeypatch: pytest.MonkeyPatch, written: bool
) -> None:
    """The caller gets an error; the trial, if it was written, is open and can be forgotten."""
    with dikin.Study(url, "a", fresh()) as study:
        failing(monkeypatch, study, errors.StoreError("the disk went away"), written)
        with pytest.raises(errors.StoreError, match="went away"):
            study.ask()
        assert [trial.id for trial in study.open_queries] == ([0] if written else [])
        assert study.ask().id == int(written)
        assert study.verify() == 1 + written
        assert study.forget(older_than=0) == 1 + written


@pytest.mark.parametrize("error", [errors.StoreError("full"), KeyboardInterrupt()])
def test_the_replica_is_not_ahead_of_the_database(
    url: str, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    with dikin.Study(url, "a", fresh()) as study, dikin.Study(url, "a") as other:
        step(study)
        query = study.ask()
        failing(monkeypatch, study, error, written=False)
        with pytest.raises(type(error)):
            study.tell(query, 0.75)
        assert study.state() == other.state()
        other.tell(query, 0.25)
        study.tell(query, 0.25)
        assert study.state() == other.state()


def test_events_that_waited_and_were_lost(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not durable, so they may be lost; but whoever told them hears of it."""
    with sharing(url, "a", fresh(), patience=2 * LATER) as study:
        step(study)
        study._flush()
        step(study)
        failing(monkeypatch, study, errors.StoreError("full"), written=False)
        with pytest.raises(errors.StoreError, match=r"2 events that waited .* may be lost: full"):
            study._flush()
        assert (study.rounds, study.verify()) == (1, 2)
        step(study)
    with dikin.Study(url, "a") as study:
        assert study.rounds == 2


def test_a_connection_that_breaks_in_a_look_while_events_wait(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the connection went the transaction: what waited must not be written without one."""
    with sharing(url, "a", fresh(), patience=2 * LATER) as study:
        step(study)
        study._flush()
        step(study)

        def break_off(_: int) -> int:
            monkeypatch.undo()
            study._backend.journal.database.disconnect()
            raise LostConnection("cut")

        monkeypatch.setattr(study._backend.journal, "last_row_before_round", break_off)
        with pytest.raises(errors.StoreError, match=r"2 events that waited .* may be lost: cut"):
            study.trim(2)
        assert (study.rounds, study.verify()) == (1, 2)


def test_a_refused_context_does_not_lose_what_waits(file: str) -> None:
    with sharing(file, "a", fresh(), patience=2 * LATER) as study:
        query = study.ask()
        with pytest.raises(errors.FeedbackError):
            study.ask([1.0, 0.0])
        study.tell(query, 0.5)
        study._flush()
        assert study.verify() == 2


def test_a_server_that_is_away() -> None:
    url = "postgresql://dikin@/postgres?host=/nowhere/at/all"
    with pytest.raises(errors.StoreError, match="is unavailable"):
        dikin.Study(url, "a", fresh(), patience=0.05)
    with pytest.raises(errors.StoreError, match="is unavailable"):
        dikin.Study.names(url)


def test_a_missing_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(errors.MissingExtraError, match=r'pip install "dikin\[postgres\]"'):
        dikin.Study("postgresql://x@y/z", "a", fresh())
    with pytest.raises(errors.ParameterError, match="use the driver psycopg"):
        dikin.Study("postgresql+none://x@y/z", "a", fresh())


def test_a_writer_that_does_not_see_the_other(played: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even then the database refuses a second row of the same number, and nothing is mixed."""
    with dikin.Study(played, "a") as one, dikin.Study(played, "a") as two:
        head = two._backend.journal.head()
        one.ask()
        monkeypatch.setattr(two._backend.journal, "head", lambda: head)
        with pytest.raises(errors.StoreError, match="UNIQUE"):
            two.ask()
        assert one.verify() == 10


def test_an_older_copy_under_a_client(played: str) -> None:
    """A client that knows of more than the database says so, and goes on with what is there."""
    with dikin.Study(played, "a") as study:
        step(study)
        with sqlite3.connect(played, isolation_level=None) as file:
            file.execute("DELETE FROM dikin_events WHERE number > 9")
            seal = file.execute("SELECT seal FROM dikin_events WHERE number = 9").fetchone()[0]
            file.execute("UPDATE dikin_studies SET head = 9, seal = ?", (seal,))
        with pytest.raises(errors.StateError, match="gone back from row 11 to row 9"):
            study.ask()
        assert study.ask().id == 5
        assert study.verify() == 10


@pytest.mark.parametrize("verb", ["ask", "tell"])
def test_a_tuner_that_fails_in_the_middle(
    file: str, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    """The centre, or the point, cannot be computed when the tuner has moved already."""
    twin = alone(fresh())
    with dikin.Study(file, "a", fresh()) as study:
        query = study.ask()
        twin.ask()
        with monkeypatch.context() as patch:

            def fail(*_: Any) -> Any:
                raise errors.NumericalError("no")

            if verb == "ask":
                patch.setattr(type(twin), "_trial", fail)
            else:
                patch.setattr(type(twin), "center", property(fail))
            with pytest.raises(errors.NumericalError):
                study.ask() if verb == "ask" else study.tell(query, 0.5)
        assert study.state() == twin.state()
        assert step(study) == step(twin)
        assert study.state() == twin.state()
