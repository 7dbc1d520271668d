"""Long journals and many open trials: a replay of all of it, and short calls."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import dikin
from dikin import errors
from dikin.studies import commands, history, session, verification
from dikin.studies.journal import Journal
from studies.conftest import new_file
from studies.small import command, plain

ROUNDS = 800


def play(study: dikin.Study, rounds: int) -> None:
    for i in range(rounds):
        study.tell(study.ask(), 0.1 * (i % 7))


@pytest.fixture(scope="module")
def original() -> Iterator[str]:
    """A study with many snapshots, played once."""
    with new_file() as path:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(session, "SNAPSHOT_EVERY", 50)
            with dikin.Study(path, "a", plain()) as study:
                play(study, ROUNDS)
        assert not Path(f"{path}-wal").exists()  # all of it is in the file
        yield path


@pytest.fixture
def long(original: str, file: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """A copy for one test."""
    monkeypatch.setattr(session, "SNAPSHOT_EVERY", 50)
    shutil.copy(original, file)
    return file


def snapshot_numbers(file: str) -> list[int]:
    with dikin.Study(file, "a") as study:
        return [taken.number for taken in study._backend.journal.snapshots()]


def test_the_first_and_the_newest_snapshot_are_kept(long: str) -> None:
    assert snapshot_numbers(long) == [0, 2 * ROUNDS]
    with dikin.Study(long, "a") as study:
        study.trim(101)
        play(study, 60)
    assert snapshot_numbers(long) == [200, 2 * ROUNDS + 100]


def test_a_journal_is_verified(long: str) -> None:
    with dikin.Study(long, "a") as study:
        assert study.verify() == 2 * ROUNDS
        play(study, 3)  # after the newest snapshot
        assert study.verify() == 2 * ROUNDS + 6


def test_a_snapshot_that_is_not_the_replay_is_noticed(long: str) -> None:
    """The newest, with a digest that matches it: only the replay tells."""
    with dikin.Study(long, "a") as study:
        taken = study._backend.journal.snapshots()[-1]
        forged = taken._replace(state=taken.state.replace('"rounds": ', '"rounds": 1', 1))
        with study._backend.session.transaction():
            study._backend.journal.database.run(
                "DELETE FROM dikin_snapshots WHERE number = ?", (taken.number,)
            )
            study._backend.journal._insert(forged)
        with pytest.raises(errors.StateError, match="was altered or damaged"):
            study.verify()


def test_a_trim_meanwhile_is_no_damage(long: str, monkeypatch: pytest.MonkeyPatch) -> None:
    replay = verification._replay_up_to
    with dikin.Study(long, "a") as study, dikin.Study(long, "a") as other:

        def trims_first(*given: Any) -> None:
            other.trim(ROUNDS // 2)
            replay(*given)

        monkeypatch.setattr(verification, "_replay_up_to", trims_first)
        with pytest.raises(errors.StateError, match="trimmed meanwhile; verify it again"):
            study.verify()
        monkeypatch.undo()
        assert study.verify() > 0


def test_a_history_made_in_parts_is_the_same(long: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with dikin.Study(long, "a") as study:
        whole = study.history()
        monkeypatch.setattr(history, "AT_ONCE", 100)
        assert study.history().tobytes() == whole.tobytes()
        assert study.history(101, 200).tobytes() == whole[100:200].tobytes()
        assert len(study.history(ROUNDS + 1)) == 0


def test_an_export_in_parts_is_the_same(
    long: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def export(name: str) -> str:
        out = tmp_path / name
        done = command("export", "a", "--url", long, "--out", str(out))
        assert done.exit_code == 0, done.output
        return out.read_text()

    whole = export("whole.csv")
    monkeypatch.setattr(commands, "EXPORTED_AT_ONCE", 99)
    assert export("parts.csv") == whole
    assert whole.count("\n") == ROUNDS + 1
    with dikin.Study(long, "a") as study:
        study.trim(501)
    assert export("late.csv").count("\n") == ROUNDS - 500 + 1


@pytest.mark.parametrize("first", [8, 15], ids=["within the next part", "beyond it"])
def test_a_trim_between_two_parts_of_an_export_is_noticed(
    file: str, monkeypatch: pytest.MonkeyPatch, first: int
) -> None:
    """Otherwise rounds would be missing in the middle of the table."""
    monkeypatch.setattr(commands, "EXPORTED_AT_ONCE", 5)
    with dikin.Study(file, "a", plain()) as study:
        play(study, 20)
        parts = commands._parts(study)
        assert next(parts)["round"].tolist() == [1, 2, 3, 4, 5]
        study.trim(first)
        with pytest.raises(errors.StateError, match="trimmed meanwhile; export it again"):
            next(parts)


def test_a_trim_beyond_this_clients_row_is_no_damage(long: str) -> None:
    with dikin.Study(long, "a") as study:
        ours = study._backend.journal.first_snapshot()
        study.trim(ROUNDS // 2)
        with pytest.raises(errors.StateError, match="trimmed meanwhile"):
            verification.verify(study._backend.journal, ours, False)


def test_a_damaged_row_is_noticed_in_a_piece(long: str) -> None:
    with sqlite3.connect(long) as database:
        database.execute("UPDATE dikin_events SET client = 'x' WHERE number = 700")
    database.close()
    with pytest.raises(errors.StateError, match="row 700"):
        dikin.Study(long, "a")


def test_a_snapshot_of_the_same_row_is_written_once(long: str) -> None:
    with dikin.Study(long, "a") as study:
        kept: Journal = study._backend.journal
        newest = kept.newest_snapshot()
        with study._backend.session.transaction():
            kept.save_snapshot(newest)
        assert kept.newest_snapshot() == newest
