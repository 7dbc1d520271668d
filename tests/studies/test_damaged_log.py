"""A log (-wal) that was damaged after kill -9: what was acknowledged is there, or it is said."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import dikin
from dikin import errors
from dikin.studies.database import MARK_BYTES, Sqlite, _mark
from studies.conftest import new_file
from studies.damage import copy_of, damaged_logs, flipped, play_and_die, rounds_in
from studies.small import plain


@pytest.fixture(scope="module")
def killed() -> Iterator[str]:
    """A study with 30 rounds in its log, whose only client was killed. Tests open copies."""
    with new_file() as file:
        play_and_die(file)
        yield file


def test_an_undamaged_log_has_all_rounds(killed: str, tmp_path: Path) -> None:
    assert rounds_in(copy_of(killed, str(tmp_path))) == 30


def test_flipped_bytes_are_noticed_or_do_no_harm(killed: str) -> None:
    log = Path(f"{killed}-wal").read_bytes()
    assert sum(damaged_logs(killed, flipped(log, 20, seed=5, first=32))) > 10


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9])
def test_a_log_that_was_cut_is_noticed(killed: str, tmp_path: Path, share: float) -> None:
    file = copy_of(killed, str(tmp_path))
    log = Path(f"{file}-wal")
    log.write_bytes(log.read_bytes()[: int(share * log.stat().st_size)])
    with pytest.raises(errors.StateError, match=r"row 60 was committed.*-marks"):
        rounds_in(file)
    Path(f"{file}-marks").unlink()  # the way to go on with what is there
    assert rounds_in(file) < 30


def test_without_a_mark_it_would_go_unnoticed(
    killed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = copy_of(killed, str(tmp_path))
    log = Path(f"{file}-wal")
    log.write_bytes(log.read_bytes()[: log.stat().st_size // 2])
    monkeypatch.setattr(Sqlite, "marked", lambda self, study: None)  # the mutant
    assert rounds_in(file) < 30


def test_a_deleted_study_leaves_no_mark_for_the_next(file: str) -> None:
    with dikin.Study(file, "a", plain()) as study:
        study.tell(study.ask(), 0.5)
    dikin.Study.delete(file, "a")
    dikin.Study(file, "b", plain()).close()
    with dikin.Study(file, "b") as study:
        study.tell(study.ask(), 0.5)
        assert study.rounds == 1


def test_another_row_in_the_place_of_the_marked_one_is_noticed(file: str) -> None:
    with dikin.Study(file, "a", plain()) as study:
        study.tell(study.ask(), 0.5)
    marks = Path(f"{file}-marks")
    records = marks.read_bytes()
    marks.write_bytes(records[:MARK_BYTES] + _mark(2, 32 * "a"))
    with pytest.raises(errors.StateError, match="not the one that was committed"):
        rounds_in(file)


def test_a_damaged_mark_locks_no_intact_study(file: str) -> None:
    with dikin.Study(file, "a", plain()) as study:
        for _ in range(5):
            study.tell(study.ask(), 0.5)
    marks = Path(f"{file}-marks")
    intact = marks.read_bytes()
    assert len(intact) == 2 * MARK_BYTES  # studies count from 1
    for place in range(8 * MARK_BYTES, 8 * len(intact), 11):
        damaged = bytearray(intact)
        damaged[place // 8] ^= 1 << place % 8
        marks.write_bytes(damaged)
        assert rounds_in(file) == 5
