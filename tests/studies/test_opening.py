"""Creating, opening, refusing, deleting and closing studies."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import dikin
from dikin import errors
from dikin.studies import database
from studies.small import plain
from studies.small import prices as fresh


def test_a_study_is_created_once(url: str) -> None:
    with dikin.Study(url, "a", fresh(5)) as study:
        first = study.ask()
    with dikin.Study(url, "a", fresh(6)) as study:  # the seed of the first counts
        assert study.open_queries[0].point.tolist() == first.point.tolist()
    with pytest.raises(errors.StudyExistsError, match="exists with parameters"):
        dikin.Study(url, "a", plain())
    assert dikin.Study.names(url) == ["a"]
    with pytest.raises(errors.UnknownStudyError, match=r"no study 'b'.* Known: a"):
        dikin.Study(url, "b")
    dikin.Study.delete(url, "a")
    assert dikin.Study.names(url) == []


def test_what_cannot_be_kept_is_refused(file: str) -> None:
    for given in (dikin.AdaptiveSmooth(dikin.Ball(2), 1.0), dikin.Predictive(dikin.Ball(2))):
        words = r"a study holds a dikin\.Tuner, got <.* A learner saves itself to a file"
        with pytest.raises(errors.ParameterError, match=words):
            dikin.Study(file, "a", given)  # type: ignore[arg-type]
    with pytest.raises(errors.ParameterError, match=r"holds a dikin\.Tuner, got 'smooth'\.$"):
        dikin.Study(file, "a", "smooth")  # type: ignore[arg-type]
    waiting = fresh()
    waiting.ask()
    with pytest.raises(errors.ParameterError, match=r"open trials \[0\]"):
        dikin.Study(file, "a", waiting)
    with pytest.raises(errors.UnknownStudyError, match="there is no file"):
        dikin.Study(file, "a")
    assert not Path(file).exists()


@pytest.mark.parametrize(
    "arguments",
    [{"client": "x" * 151}, {"patience": 0}],
)
def test_unusable_arguments(file: str, arguments: dict[str, Any]) -> None:
    with pytest.raises(errors.ParameterError):
        dikin.Study(file, **({"name": "a", "tuner": fresh()} | arguments))


def test_a_deleted_study_and_a_closed_one(url: str) -> None:
    study = dikin.Study(url, "a", fresh())
    study.ask()
    dikin.Study.delete(url, "a")
    for call in (study.ask, study.history, lambda: study.rounds):
        with pytest.raises(errors.UnknownStudyError, match="was deleted"):
            call()
    with dikin.Study(url, "a", fresh(8)), pytest.raises(errors.UnknownStudyError):
        study.ask()
    study.close()
    study.close()
    with pytest.raises(errors.StateError, match="was closed"):
        study.ask()


@pytest.mark.skipif(os.name == "nt", reason="no modes there")
def test_a_new_database_is_its_owners_alone(file: str) -> None:
    before = os.umask(0)
    try:
        with dikin.Study(file, "a", plain()) as study:
            study.ask()
            beside = {f"{file}{ending}" for ending in ("", "-wal", "-shm")}
            assert {stat.S_IMODE(os.stat(path).st_mode) for path in beside} == {0o600}
    finally:
        os.umask(before)


@pytest.mark.parametrize("ending", ["-wal", "-shm", "-journal"])
def test_a_link_beside_a_database_is_not_followed(file: str, ending: str) -> None:
    dikin.Study(file, "a", plain()).close()
    victim = Path(f"{file}.victim")
    victim.write_text("precious")
    Path(f"{file}{ending}").symlink_to(victim)
    with pytest.raises(errors.StoreError, match="unable to open database file"):
        dikin.Study(file, "a")
    assert victim.read_text() == "precious"


@pytest.fixture
def read_elsewhere(file: str) -> Iterator[sqlite3.Connection]:
    """A new file that another program reads: SQLite refuses at once to give it a log."""
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("CREATE TABLE other (x)")
        other.execute("BEGIN")
        other.execute("SELECT * FROM other").fetchall()
        yield other


def test_who_creates_a_file_waits_for_others_who_do(
    file: str, read_elsewhere: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses = list[float]()

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        read_elsewhere.execute("ROLLBACK")

    monkeypatch.setattr(database.time, "sleep", pause)
    with dikin.Study(file, "a", fresh(), patience=2) as study:
        monkeypatch.undo()
        assert len(pauses) == 1
        assert study.ask().id == 0


@pytest.mark.usefixtures("read_elsewhere")
def test_who_waits_in_vain_hears_how_long_it_has_waited(file: str) -> None:
    with pytest.raises(errors.BusyError, match=r"has waited 0\.1 seconds"):
        dikin.Study(file, "a", fresh(), patience=0.1)
