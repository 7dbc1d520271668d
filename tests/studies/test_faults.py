"""Full disks, foreign files, altered rows, other writers: a clear error, and the data as it was."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from dikin.studies.journal import Journal

import dikin
from dikin import errors
from dikin.cli import main
from dikin.studies import journal
from studies.damage import cut, damaged_files, exchanged_pages, flipped
from studies.small import alone, begin, fresh, step

LONELY = os.environ | {"OPENBLAS_NUM_THREADS": "1"}  # forking wants a process without threads


@pytest.fixture
def played(file: str) -> str:
    """A study with four rounds and a query open."""
    begin(file)
    return file


def consume(steps: Iterable[Any]) -> None:
    for _ in steps:
        pass


def alter(file: str, sql: str) -> None:
    with sqlite3.connect(file) as database:
        assert database.execute(sql).rowcount == 1
    database.close()


# --- damage --------------------------------------------------------------------------------------

DAMAGE = {
    "a loss": "UPDATE dikin_events SET body = replace(body, '0.25', '0.75') WHERE number = 4",
    "a digit": "UPDATE dikin_events SET body = replace(body, '0.5', '0.4') WHERE number = 8",
    "a truncated row": "UPDATE dikin_events SET body = substr(body, 1, 40) WHERE number = 6",
    "a row that is no text": "UPDATE dikin_events SET body = x'00ff' WHERE number = 6",
    "a kind": "UPDATE dikin_events SET kind = 'forget' WHERE number = 4",
    "a query": "UPDATE dikin_events SET query = 9 WHERE number = 2",
    "a client": "UPDATE dikin_events SET client = 'x' WHERE number = 2",
    "a time": "UPDATE dikin_events SET time = time + 1 WHERE number = 9",
    "a seal": "UPDATE dikin_events SET seal = 'x' || substr(seal, 2) WHERE number = 5",
    "a number": "UPDATE dikin_events SET number = 99 WHERE number = 3",
    "another study's row": "UPDATE dikin_events SET study = 7 WHERE number = 9",
    "a missing row": "DELETE FROM dikin_events WHERE number = 3",
    "a missing first row": "DELETE FROM dikin_events WHERE number = 1",
    "a missing last row": "DELETE FROM dikin_events WHERE number = 9",
    "an end moved back": "UPDATE dikin_studies SET head = 8",
    "an end moved on": "UPDATE dikin_studies SET head = 10",
    "the last seal": "UPDATE dikin_studies SET seal = 'x' || substr(seal, 2)",
    "a snapshot": "UPDATE dikin_snapshots SET state = replace(state, 'rounds', 'Rounds')",
    "a snapshot's place": "UPDATE dikin_snapshots SET number = 2",
    "no snapshot": "DELETE FROM dikin_snapshots",
    "the name": "UPDATE dikin_studies SET name = 'b'",
}


@pytest.mark.parametrize("what", DAMAGE)
def test_damage_is_noticed(played: str, what: str) -> None:
    alter(played, DAMAGE[what])
    before = Path(played).read_bytes()
    name = "b" if what == "the name" else "a"
    with pytest.raises(errors.StateError, match="altered or damaged"):
        dikin.Study(played, name)
    assert Path(played).read_bytes() == before


def test_a_damaged_study_hides_no_other_and_can_be_deleted(played: str) -> None:
    alter(played, DAMAGE["a loss"])
    dikin.Study(played, "b", fresh()).close()
    listed = CliRunner().invoke(main, ["study", "list", "--url", played])
    assert listed.exit_code == 0
    assert "a\tnot readable" in listed.output
    assert "b\t0 rounds" in listed.output
    dikin.Study.delete(played, "a")
    assert dikin.Study.names(played) == ["b"]
    with pytest.raises(errors.UnknownStudyError):
        dikin.Study.delete(played, "a")


def test_without_seals_an_altered_loss_would_be_believed(
    played: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant of the test above: rows are believed as they stand."""
    monkeypatch.setattr(Journal, "_checked", lambda self, row, number, mark: journal.Event(*row))
    alter(played, DAMAGE["a loss"])
    with pytest.raises(errors.StateError, match="computes other numbers"):  # the next point differs
        dikin.Study(played, "a")
    alter(played, DAMAGE["a loss"].replace("'0.25', '0.75'", "'0.75', '0.25'"))
    alter(played, DAMAGE["a time"])
    dikin.Study(played, "a").close()


def test_damage_in_what_a_client_has_not_read_yet(played: str) -> None:
    with dikin.Study(played, "a") as early, dikin.Study(played, "a") as late:
        step(early)
        alter(played, "UPDATE dikin_events SET body = body || ' ' WHERE number = 11")
        with pytest.raises(errors.StateError, match="seal of row 11"):
            late.ask()
        assert early.rounds == 5


def test_a_flipped_bit_never_changes_the_game(played: str) -> None:
    content = Path(played).read_bytes()
    assert sum(damaged_files(played, flipped(content, 150, seed=3))) > 75


def test_exchanged_pages_never_change_the_game(played: str) -> None:
    assert sum(damaged_files(played, exchanged_pages(Path(played).read_bytes()))) > 10


def test_a_file_that_was_cut_never_changes_the_game(played: str) -> None:
    assert sum(damaged_files(played, cut(Path(played).read_bytes(), 20, seed=1))) > 10


def test_foreign_files(file: str) -> None:
    Path(file).write_text("The quick brown fox jumps over the lazy dog. " * 100)
    before = Path(file).read_bytes()
    for learner in (None, fresh()):
        with pytest.raises(errors.StateError, match="not an SQLite database; it was left as it is"):
            dikin.Study(file, "a", learner)
    assert Path(file).read_bytes() == before
    with pytest.raises(errors.StateError):
        dikin.Study(Path(file).parent, "a", fresh())
    with pytest.raises(errors.StateError):
        dikin.Study(Path(file).parent / "no" / "such" / "folder.db", "a", fresh())


def test_another_version(played: str) -> None:
    for newer, advice in ((1, "upgrade dikin"), (-1, "continue with the dikin that wrote it")):
        alter(played, f"UPDATE dikin_version SET version = version + {newer}")
        before = Path(played).read_bytes()
        for learner in (None, fresh()):
            with pytest.raises(errors.StateError, match=advice):
                dikin.Study(played, "a", learner)
        with pytest.raises(errors.StateError):
            dikin.Study.names(played)
        assert Path(played).read_bytes() == before
        alter(played, f"UPDATE dikin_version SET version = version - {newer}")
    for wrong in ("UPDATE dikin_version SET version = -1", "DELETE FROM dikin_version"):
        alter(played, wrong)
        with pytest.raises(errors.StateError, match="must be a whole number"):
            dikin.Study(played, "a")


# --- what cannot be written ----------------------------------------------------------------------


def test_a_disk_that_fills_up(played: str) -> None:
    """The file may not grow: an error, nothing changed, and the game goes on when there is room."""
    twin = alone(fresh())
    with dikin.Study(played, "a") as study, dikin.Study(played, "a") as other:
        for _ in range(4):
            step(twin)
        twin.ask()
        run = study._backend.journal.database.run
        pages = study._backend.journal.database.run("PRAGMA page_count")[0][0]
        run(f"PRAGMA max_page_count={pages}")
        with pytest.raises(errors.StoreError, match="the disk is full"):
            consume(step(study) for _ in range(1000))
        while twin.rounds < other.rounds:
            step(twin)
        if len(other.open_queries) > 1:
            twin.ask()
        assert study.state() == other.state() == twin.state()
        assert study.verify() == other.verify()
        run("PRAGMA max_page_count=1000000")
        assert study.ask() == twin.ask()


FULL = """
import resource, sys, dikin
study = dikin.Study(sys.argv[1], "a")
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
try:
    while True:
        study.forget(study.ask())
except dikin.DikinError as error:
    print(type(error).__name__)
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
    study.ask()
    print(study.verify())
"""


def test_a_write_that_fails_halfway(played: str) -> None:
    """The system refuses to let any file grow beyond a limit: the log is torn in the middle."""
    command = [sys.executable, "-c", FULL, played, "100000"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=600, check=True)
    name, rows = run.stdout.split()
    assert name == "StoreError"
    with dikin.Study(played, "a") as study:
        assert study.verify() == int(rows) > 9


READ_ONLY = """
import os, sys
import dikin
dikin.Study.names(sys.argv[2])  # everything is loaded while it may be read
if os.getuid() == 0:
    os.setuid(65534)  # the superuser may write everywhere
try:
    with dikin.Study(sys.argv[1], "a") as study:
        study.ask()
except dikin.DikinError as error:
    print(type(error).__name__, error)
"""


def test_a_read_only_file(played: str) -> None:
    before = Path(played).read_bytes()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a.db")
        path.write_bytes(before)
        path.chmod(0o444)
        path.parent.chmod(0o555)
        command = [sys.executable, "-c", READ_ONLY, str(path), played]
        run = subprocess.run(command, capture_output=True, text=True, timeout=600, check=True)
        path.parent.chmod(0o755)
        assert run.stdout.startswith("StoreError"), run.stdout + run.stderr
        assert path.read_bytes() == before


# --- what the tests above are good for -----------------------------------------------------------


def test_a_tell_that_is_not_looked_up_is_refused_by_the_database(
    played: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mutant that counts an answer again cannot write it."""
    with dikin.Study(played, "a") as study:
        body = json.dumps({"point": [0, 0]})
        event = journal.Event(10, "tell", 0, "x", 0, body, "x")
        with pytest.raises(errors.StoreError, match="UNIQUE"), study._backend.session.transaction():
            study._backend.journal.append([event])
        assert study.verify() == 9


def test_the_copy_of_a_file_is_a_study(played: str, tmp_path: Path) -> None:
    """Nothing in it depends on where it lies."""
    shutil.copy(played, tmp_path / "copy.db")
    with dikin.Study(played, "a") as one, dikin.Study(tmp_path / "copy.db", "a") as two:
        assert one.state() == two.state()
        assert one.ask() == two.ask()
