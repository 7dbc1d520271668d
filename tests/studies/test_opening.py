"""Creating, opening, deleting and closing studies, and trials that stay open."""

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
from dikin.studies import database, ledger
from studies.small import command, folded, plain, sharing, state_of
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


@pytest.mark.parametrize("arguments", [{"client": "x" * 151}, {"patience": 0}])
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


HOUR = 3600 * 10**6
"""Microseconds."""


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The time of day, in microseconds since 1970, to be set."""
    now = [1_700_000_000 * 10**6]
    monkeypatch.setattr(ledger, "now", lambda: now[0])
    return now


def test_there_may_be_so_many(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger, "MOST_OPEN", 3)
    with dikin.Study(file, "a", plain(), client="it") as study:
        asked = [study.ask(key=f"key {number}") for number in range(3)]
        before = study.state()
        words = r"3 trials of this study .*asked by it.*forget\(older_than="
        with pytest.raises(errors.QueryError, match=words):
            study.ask()
        assert study.state() == before
        assert study.ask(key="key 1") == asked[1]  # which is no other one
        study.tell(asked[0], 0.25)
        study.ask()
        with pytest.raises(errors.QueryError):
            study.ask(key="key 3")
        assert study.verify().rows == 5


def test_all_that_are_too_old_are_forgotten(
    url: str, clock: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    with sharing(url, "a", plain()) as study:
        for _ in range(5):
            study.ask()
        clock[0] += HOUR
        late = study.ask()
        assert study.forget(older_than=3601) == 0
        assert study.forget(older_than=3599) == 5
        assert study.forget(older_than=3599) == 0
        study.forget(late)
        assert study.verify().rows == 12
    with dikin.Study(url, "a") as study:
        assert study.open_queries == []
        assert state_of(study) == state_of(folded(url))


def test_on_the_command_line(file: str, clock: list[int]) -> None:
    with dikin.Study(file, "a", plain()) as study:
        study.ask()
        study.ask()
    clock[0] += 2 * HOUR
    call = ("forget", "a", "--url", file)
    assert command(*call, "--older-than", "3600").output == "2 forgotten\n"
    refused = command(*call, "0", "--older-than", "3600")
    assert refused.exit_code == 2
    assert "got both" in refused.output
    assert "the trial or its id, got None" in command(*call).output
