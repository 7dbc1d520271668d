"""Backups that are taken while a study plays, and what happens when one is put back.

The commands are those of docs/live.md.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

import dikin
from dikin import errors
from studies.postgres import Server
from studies.small import command, fresh, step


def backup(file: str, copy: str) -> None:
    """What `sqlite3 studies.db ".backup copy.db"` does."""
    with closing(sqlite3.connect(file)) as original, closing(sqlite3.connect(copy)) as target:
        original.backup(target)


def vacuum(file: str, copy: str) -> None:
    with closing(sqlite3.connect(file)) as original:
        original.execute(f"VACUUM INTO '{copy}'")


@pytest.mark.parametrize("way", [backup, vacuum])
def test_a_copy_is_taken_while_it_plays_and_put_back(
    file: str, tmp_path: Path, way: Callable[[str, str], None]
) -> None:
    copy = str(tmp_path / "copy.db")
    with dikin.Study(file, "a", fresh()) as study:
        step(study)
        way(file, copy)
        late = [study.ask() for _ in range(3)]
        study.tell(late[0], 0.75)
    with dikin.Study(copy, "a") as elsewhere:  # a rehearsal, where nothing else is touched
        assert (elsewhere.rounds, elsewhere.verify().rows) == (1, 2)
    for beside in Path(file).parent.glob(f"{Path(file).name}*"):
        beside.unlink()
    shutil.copy(copy, file)
    skipped = command("skip-ids", "a", "--url", file)
    assert skipped.output == "the next trial has the id 1,000,003\n"
    with dikin.Study(file, "a") as study:
        again = study.ask()
        assert again.id == 1_000_003
        for query in late:  # whoever has one that was asked after the backup learns that it is lost
            with pytest.raises(errors.ClosedQueryError):
                study.tell(query.id, 0.75)
        study.tell(again, 0.75)
        assert study.verify().rows == 5
        assert study.rounds == 2


@pytest.mark.parametrize("count", [0, -1, 1.5, "x"])
def test_how_many_ids_to_leave_out(file: str, count: object) -> None:
    with dikin.Study(file, "a", fresh()) as study:
        with pytest.raises(errors.ParameterError):
            study.skip_ids(count)  # type: ignore[arg-type]
        assert study.ask().id == 0


def test_a_server_is_dumped_while_it_plays_and_read_elsewhere(server: Server) -> None:
    with server.database("first") as url, dikin.Study(url, "a", fresh()) as study:
        step(study)
        dump = server.program("pg_dump", "first")
        step(study)
    with server.database("second", dump) as other:
        with dikin.Study(other, "a") as study:
            assert (study.rounds, study.verify().rows) == (1, 2)
            assert study.skip_ids() == 1_000_003
            step(study)
            assert study.verify().rows == 5
        with dikin.Study(other, "b", fresh()) as study:  # the counter of studies goes on
            step(study)
