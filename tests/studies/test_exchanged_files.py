"""A database that is deleted, replaced or put back from a backup: nothing goes there unheard."""

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import dikin
from dikin import errors
from dikin.studies import sqlite
from dikin.studies.sqlite import Sqlite
from studies.postgres import Server
from studies.small import command, fresh, step

pytestmark = pytest.mark.skipif(os.name == "nt", reason="open files cannot be deleted there")


def replace_by_copy(file: str) -> None:
    shutil.copy(file, f"{file}.copy")
    os.replace(f"{file}.copy", file)


def replace_by_other(file: str) -> None:
    dikin.Study(f"{file}.other", "a", fresh()).close()
    os.replace(f"{file}.other", file)


EXCHANGES: dict[str, Callable[[str], object]] = {
    "delete": os.unlink,
    "move": lambda file: os.rename(file, f"{file}.moved"),
    "replace by a copy": replace_by_copy,
    "replace by another": replace_by_other,
    "delete the log": lambda file: os.unlink(f"{file}-wal"),
    "delete its index": lambda file: os.unlink(f"{file}-shm"),
}
CALLS: dict[str, Callable[[dikin.Study, Any], object]] = {
    "ask": lambda study, query: study.ask(),
    "tell": lambda study, query: study.tell(query, 0.5),
    "forget": lambda study, query: study.forget(query),
    "rounds": lambda study, query: study.rounds,
    "history": lambda study, query: study.history(),
    "verify": lambda study, query: study.verify(),
}
MESSAGE = r"(is gone: |is another file now).* while this study was open\. Nothing was acknowledged"


@pytest.mark.parametrize(("exchange", "call"), [*zip(EXCHANGES, CALLS, strict=True)])
def test_the_next_call_says_so(file: str, exchange: str, call: str) -> None:
    study = dikin.Study(file, "a", fresh())
    query = study.ask()
    EXCHANGES[exchange](file)
    for _ in range(2):
        with pytest.raises(errors.StoreError, match=MESSAGE):
            CALLS[call](study, query)
    study.close()


@pytest.mark.parametrize("exchange", EXCHANGES)
def test_a_file_that_is_exchanged_before_the_commit(
    file: str, exchange: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The transaction has begun with the right file."""
    study = dikin.Study(file, "a", fresh())
    commit = study._ledger.database.commit

    def exchanging() -> None:
        EXCHANGES[exchange](file)
        commit()

    monkeypatch.setattr(study._ledger.database, "commit", exchanging)
    with pytest.raises(errors.StoreError, match=MESSAGE):
        study.ask()
    study.close()


def test_a_file_that_is_put_back_is_gone_on_with(file: str) -> None:
    with dikin.Study(file, "a", fresh()) as study:
        step(study)
        os.rename(file, f"{file}.moved")
        with pytest.raises(errors.StoreError, match=MESSAGE):
            study.ask()
        os.rename(f"{file}.moved", file)
        step(study)
        assert study.verify().rows == 4


def test_what_is_there_now_is_opened_anew(file: str) -> None:
    """And the study that was open before does it no harm when it is closed."""
    study = dikin.Study(file, "a", fresh())
    step(study)
    replace_by_other(file)
    for ending in ("-wal", "-shm"):
        os.unlink(f"{file}{ending}")
    with dikin.Study(file, "a") as again:
        step(again)
        study.close()
        step(again)
        assert again.verify().rows == 4
    with dikin.Study(file, "a") as again:
        assert again.rounds == 2


@pytest.mark.parametrize("exchange", ["delete", "replace by another"])
def test_a_connection_is_not_opened_again_to_another_file(file: str, exchange: str) -> None:
    study = dikin.Study(file, "a", fresh())
    study._ledger.database.close()  # as before a fork, or after Ctrl-C
    EXCHANGES[exchange](file)
    with pytest.raises(errors.StoreError, match=MESSAGE):
        study.ask()
    assert Path(file).exists() == (exchange != "delete")  # SQLite would have made one
    study.close()


def test_a_file_that_is_exchanged_while_it_is_opened(
    file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite has the old one open, and the name leads to the new one: it is opened once more."""
    dikin.Study(file, "a", fresh()).close()
    identities = sqlite._identities

    def exchanging(paths: list[str]) -> Any:
        if len(paths) == 3:
            monkeypatch.undo()
            replace_by_copy(file)
            for ending in ("-wal", "-shm"):
                os.unlink(f"{file}{ending}")
        return identities(paths)

    monkeypatch.setattr(sqlite, "_identities", exchanging)
    with dikin.Study(file, "a") as study:
        study.ask()
    with dikin.Study(file, "a") as again:
        assert len(again.open_queries) == 1


def test_without_the_look_rounds_would_go_unheard(
    file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant: what is acknowledged is nowhere."""
    monkeypatch.setattr(Sqlite, "_refuse_exchanged", lambda self: None)
    with dikin.Study(file, "a", fresh()) as study:
        os.unlink(file)
        step(study)
        assert study.rounds == 1
    with pytest.raises(errors.UnknownStudyError):
        dikin.Study(file, "a")


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
