"""Full disks, foreign files, altered rows, other writers: a clear error, and the data as it was."""

import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import dikin
from dikin import errors
from dikin.cli import main
from studies.adversity import cut, damaged_files, exchanged_pages, flipped
from studies.small import begin, fresh


@pytest.fixture
def played(file: str) -> str:
    """A study with four rounds and a query open."""
    begin(file)
    return file


def alter(file: str, sql: str) -> None:
    with sqlite3.connect(file) as database:
        assert database.execute(sql).rowcount == 1
    database.close()


DAMAGE = {
    "a row that is no text": "UPDATE dikin_row SET body = x'00ff' WHERE n = 3",
    "another study's row": "UPDATE dikin_row SET study = 7 WHERE n = 3",
    "a missing last row": "DELETE FROM dikin_row WHERE n = 8",
    "an end moved on": "UPDATE dikin_study SET head = 10",
}
BEGINNING = {
    "no beginning": "DELETE FROM dikin_snapshot WHERE version = 0",
    "another beginning": "UPDATE dikin_snapshot SET n = 3 WHERE version = 0",
}


@pytest.mark.parametrize("what", DAMAGE)
def test_damage_is_noticed(played: str, what: str) -> None:
    """What is before it can be read; nothing is written."""
    alter(played, DAMAGE[what])
    with dikin.Study(played, "a") as study:
        assert study.rounds <= 4
        for act in (study.ask, study.pause, study.verify):
            with pytest.raises(errors.StateError, match="altered or damaged"):
                act()
    rows = sqlite3.connect(played).execute("SELECT count(*) FROM dikin_row").fetchall()
    assert rows[0][0] in (8, 9)


@pytest.mark.parametrize("what", BEGINNING)
def test_a_damaged_beginning_is_noticed(played: str, what: str) -> None:
    alter(played, BEGINNING[what])
    with pytest.raises(errors.StateError, match="its beginning is missing or not the one"):
        dikin.Study(played, "a")


def test_a_damaged_study_hides_no_other_and_can_be_deleted(played: str) -> None:
    alter(played, BEGINNING["no beginning"])
    dikin.Study(played, "b", fresh()).close()
    listed = CliRunner().invoke(main, ["study", "list", "--url", played])
    assert listed.exit_code == 0
    assert "a\tnot readable" in listed.output
    assert "b\t0 rounds" in listed.output
    dikin.Study.delete(played, "a")
    assert dikin.Study.names(played) == ["b"]
    with pytest.raises(errors.UnknownStudyError):
        dikin.Study.delete(played, "a")


@pytest.mark.parametrize(
    ("damaged", "noticed"),
    [
        (lambda content: flipped(content, 150, seed=3), 75),
        (exchanged_pages, 10),
        (lambda content: cut(content, 20, seed=1), 10),
    ],
    ids=["a flipped bit", "exchanged pages", "a cut"],
)
def test_a_damaged_file_never_changes_the_game(played: str, damaged: Any, noticed: int) -> None:
    assert sum(damaged_files(played, damaged(Path(played).read_bytes()))) > noticed


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
    for newer, advice in ((1, "upgrade dikin"), (-2, "this dikin reads version 3")):
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
        with pytest.raises(errors.StateError, match=r"whole number|reads version"):
            dikin.Study(played, "a")


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
