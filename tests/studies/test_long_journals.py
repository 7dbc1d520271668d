"""Long journals and many open queries: pieces that are replayed side by side, and short calls."""

from __future__ import annotations

import io
import shutil
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import dikin
from dikin import errors
from dikin.cli import main
from dikin.studies import commands, history, journal, session, verification
from dikin.studies.journal import Journal
from studies.conftest import new_file

ROUNDS = 800


def learner() -> dikin.Learner:
    return dikin.AdaptiveSmooth(dikin.Ball(2), 1.0, seed=1)


def play(study: dikin.Study[Any], rounds: int) -> None:
    for i in range(rounds):
        study.tell(study.ask(), 0.1 * (i % 7))


@pytest.fixture(scope="module")
def original() -> Iterator[str]:
    """A study with many snapshots, played once."""
    with new_file() as path:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(session, "SNAPSHOT_EVERY", 50)
            with dikin.Study(path, "a", learner()) as study:
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


def test_snapshots_are_few_and_spread_over_the_journal(long: str) -> None:
    numbers = snapshot_numbers(long)
    assert numbers[0] == 0
    assert 10 < len(numbers) <= 2 * journal.SNAPSHOTS
    assert numbers[-1] == 2 * ROUNDS
    # A stretch is at most twice as long as 32 of them need, and a piece spans at most two.
    assert max(np.diff(numbers)) <= 4 * 2 * ROUNDS / journal.SNAPSHOTS + 50


def never_ends(*_: Any) -> None:
    """In the place of what a verifying process does."""
    time.sleep(600)


def test_ctrl_c_ends_the_verifying_processes(long: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(verification, "WORTH_A_PROCESS", 1)
    monkeypatch.setattr(verification, "_check_apart", never_ends)
    monkeypatch.setattr(verification, "as_completed", interrupted)
    with dikin.Study(long, "a") as study:
        with pytest.raises(KeyboardInterrupt):
            study.verify(workers=2)
        monkeypatch.undo()
        assert study.verify() == 2 * ROUNDS


def test_large_snapshots_are_fewer(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "SNAPSHOT_EVERY", 50)
    monkeypatch.setattr(journal, "SNAPSHOT_BYTES", 1)
    with dikin.Study(file, "a", learner()) as study:
        play(study, 500)
    assert len(snapshot_numbers(file)) <= 4


def test_a_journal_is_verified_in_pieces(long: str) -> None:
    with dikin.Study(long, "a") as study:
        assert study.verify() == 2 * ROUNDS
        play(study, 3)  # after the newest snapshot
        assert study.verify() == 2 * ROUNDS + 6


def test_and_in_several_processes(long: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verification, "WORTH_A_PROCESS", 100)
    with dikin.Study(long, "a") as study:
        assert study.verify(workers=2) == 2 * ROUNDS
        monkeypatch.setattr(verification, "WORTH_A_PROCESS", 10**9)  # that they are known suffices
        with pytest.raises(errors.ParameterError, match="workers"):
            study.verify(workers=0)
    done = CliRunner().invoke(main, ["study", "verify", "a", "--url", long, "--workers", "2"])
    assert f"{2 * ROUNDS} rows replayed" in done.output
    refused = CliRunner().invoke(main, ["study", "verify", "a", "--url", long, "--workers", "0"])
    assert refused.exit_code == 2


@pytest.mark.parametrize("workers", [1, 2])
def test_a_snapshot_that_is_not_the_replay_is_noticed(
    long: str, workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One in the middle, with a digest that matches it: only the replay tells."""
    monkeypatch.setattr(verification, "WORTH_A_PROCESS", 100)
    with dikin.Study(long, "a") as study:
        numbers = [taken.number for taken in study._backend.journal.snapshots()]
        taken = study._backend.journal.snapshots()[len(numbers) // 2]
        forged = taken._replace(state=taken.state.replace('"rounds": ', '"rounds": 1', 1))
        with study._backend.session.transaction():
            study._backend.journal.database.run(
                "DELETE FROM dikin_snapshots WHERE number = ?", (taken.number,)
            )
            study._backend.journal._insert(forged)
        # The piece that ends there finds another learner, the one that begins there other points;
        # of two processes either may be the first to say so.
        noticed = "was altered or damaged" if workers == 1 else "altered or damaged|other numbers"
        with pytest.raises(errors.StateError, match=noticed):
            study.verify(workers=workers)


def test_a_trim_meanwhile_is_no_damage(long: str, monkeypatch: pytest.MonkeyPatch) -> None:
    check = verification.check
    with dikin.Study(long, "a") as study, dikin.Study(long, "a") as other:

        def trims_first(*given: Any) -> None:
            other.trim(ROUNDS // 2)
            check(*given)

        monkeypatch.setattr(verification, "check", trims_first)
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


def test_losses_of_several_kinds_make_one_table() -> None:
    told = [
        {"round": i, "point": [0.0], "loss": loss, "curvature": 0.0, "center": [0.0]}
        | {"certificate": None}
        for i, loss in enumerate([0.5] * history.AT_ONCE + [[1.0, 2.0]])
    ]
    table = history.in_parts(iter(told), history.HistoryColumns(None, (1,)))
    assert len(table) == len(told)
    assert table["loss"][0] == 0.5
    assert table["loss"][-1] == (1.0, 2.0)


def test_an_export_in_parts_is_the_same(
    long: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def export(name: str) -> str:
        out = tmp_path / name
        done = CliRunner().invoke(main, ["study", "export", "a", "--url", long, "--out", str(out)])
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
    with dikin.Study(file, "a", learner()) as study:
        play(study, 20)
        parts = commands._parts(study)
        assert next(parts)["round"].tolist() == [1, 2, 3, 4, 5]
        study.trim(first)
        with pytest.raises(errors.StateError, match="trimmed meanwhile; export it again"):
            next(parts)


def test_titles_are_those_of_the_first_rows() -> None:
    """The points of a learner that is told two values have other shapes than its center."""
    told = {"round": 9, "point": [[0.0, 1.0], [2.0, 3.0]], "loss": 0.5, "curvature": 0.0}
    told |= {"center": [0.0, 0.0], "certificate": None}
    columns = history.HistoryColumns(None, (2,))
    parts = [history.in_parts(iter(rows), columns) for rows in ([], [told], [])]
    out = io.StringIO()
    history.write_csv(parts, out)
    titles, row = out.getvalue().splitlines()
    assert titles.startswith("round,point_0_0,point_0_1,point_1_0,point_1_1,loss")
    assert titles.count(",") == row.count(",")
    out = io.StringIO()
    history.write_csv(parts[:1], out)
    assert out.getvalue().startswith("round,point_0,point_1,loss")


def test_a_trim_beyond_this_clients_row_is_no_damage(long: str) -> None:
    with dikin.Study(long, "a") as study:
        ours = study._backend.journal.snapshots()[2]
        study.trim(ROUNDS // 2)
        with pytest.raises(errors.StateError, match="trimmed meanwhile"):
            verification.pieces(study._backend.journal, ours)


def test_with_many_open_queries_no_call_writes_a_snapshot(
    file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "SNAPSHOT_EVERY", 50)
    monkeypatch.setattr(session, "LONG_REPLAY", 250)
    monkeypatch.setattr(session, "MANY_OPEN", 100)
    with dikin.Study(file, "a", learner()) as study:
        for _ in range(300):
            study.ask()
        study.flush()
        assert study._backend.journal.newest_snapshot().number == 100
        late = dikin.Study(file, "a")  # replays up to 250 rows
        for _ in range(100):
            study.ask()
        study.flush()
        assert len(late.open_queries) == 400  # its own copy is nearer than the snapshot
        late.close()
    dikin.Study(file, "a").close()  # this one had to replay more
    with dikin.Study(file, "a") as study:
        assert study._backend.journal.newest_snapshot().number == 400
        assert study.verify() == 400
        for query in study.open_queries:
            study.tell(query, 0.5)
        assert study.rounds == 400


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
