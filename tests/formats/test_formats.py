"""The files of earlier versions are whole, and say what they said when they were written."""

import hashlib
import json
import sqlite3
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import dikin
from dikin import errors, serialization
from formats import files
from studies.postgres import Server
from studies.small import holder

EXPECTED = files.expected()
CONTEXT = {"region": "eu", "hour": 3.0, "load": 0.5}
LEARNER = "a bare learner"
STUDIES = sorted(EXPECTED["studies"].keys() - {LEARNER})


@pytest.fixture(scope="module")
def databases(tmp_path_factory: pytest.TempPathFactory, server: Server) -> Iterator[dict[str, str]]:
    """The same studies in both databases; each is converted once, when it is first opened."""
    folder = tmp_path_factory.mktemp("converted")
    with server.database("state8", files.postgres_dump()) as url:
        yield {"sqlite": str(files.sqlite_file(folder)), "postgres": url}


@pytest.mark.parametrize("place", ["sqlite", "postgres"])
@pytest.mark.parametrize("name", STUDIES)
def test_a_study_is_converted_by_its_rows_and_continues(
    name: str, place: str, databases: dict[str, str]
) -> None:
    wanted = EXPECTED["studies"][name]
    with dikin.Study(databases[place], name) as study:
        assert (study.rounds, study.first_round) == (wanted["rounds"], wanted["first_round"])
        assert [query.id for query in study.open_queries] == wanted["waiting"]
        assert study._ledger.fold.tuner.rounds == wanted["rounds"]  # all rows were learnt from
        for found, record in zip(study.records(), wanted["records"], strict=True):
            old = {"paused" if part == "held" else part: x for part, x in record.items()}
            if place == "postgres":  # the same rounds, played another time
                del old["time"]
            assert {part: found[part] for part in old} == old
        contexts = {each: CONTEXT[each] for each in study.status().contexts or ()} or None
        last = max([query.id for query in study.open_queries], default=0)
        for query in study.open_queries:
            study.tell(query.id, 3.0)
        late, rounds = len(wanted["waiting"]), wanted["rounds"]
        for _ in range(5):
            trial = study.ask(contexts)
            assert trial.id > last
            study.tell(trial, 2.0)
        assert study.rounds == rounds + late + 5
        found = study.verify()
        assert (found.compared, found.largest) == (5, 0.0)
        if name == "plain":  # a key is known after a conversion
            assert study.ask(key="request-5").id == 5
            assert study.ask(key="request-6").id > 60
        assert len(study.history()) == len(wanted["records"]) + late + 5
    with dikin.Study(databases[place], name) as again:
        assert again.rounds == rounds + late + 5


CONVERTS = """
import sys
from dikin.studies.database import open_database
with open_database(sys.argv[1], 5.0).transaction():
    print("held", flush=True)
    sys.stdin.readline()
"""


def test_a_client_waits_while_another_converts(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """For longer than its patience."""
    file = str(files.sqlite_file(tmp_path))
    with holder(file, CONVERTS) as other, ThreadPoolExecutor() as pool:
        opening = pool.submit(dikin.Study, file, "plain", patience=0.05)
        while not opening.done() and "waiting while another client converts" not in caplog.text:
            time.sleep(0.01)
        other.communicate("go on")
        with opening.result() as study:
            assert study.rounds == EXPECTED["studies"]["plain"]["rounds"]


@pytest.mark.parametrize("place", ["sqlite", "postgres"])
def test_what_has_no_tuner_can_be_read(place: str, databases: dict[str, str]) -> None:
    with pytest.raises(errors.StateError, match=r"bare learner \(adaptivesmooth\).*study history"):
        dikin.Study(databases[place], LEARNER)
    wanted = EXPECTED["studies"][LEARNER]["records"]
    for found, record in zip(dikin.Study.rows(databases[place], LEARNER), wanted, strict=True):
        old = {part: x for part, x in record.items() if part != "time"}
        assert {part: found[part] for part in old} == old


def test_what_was_damaged_is_converted_up_to_there(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The old tables stay as they are; the version that wrote them refuses to open them."""
    file = files.sqlite_file(tmp_path)
    with closing(sqlite3.connect(file, isolation_level=None)) as database:
        (id,) = database.execute("SELECT id FROM dikin_studies WHERE name = 'plain'").fetchone()
        change = "UPDATE dikin_events SET body = body || ' ' WHERE study = ? AND number = 21"
        database.execute(change, (id,))
    with dikin.Study(file, "plain") as study:
        assert study.rounds == 10
        assert study.ask().id == 11
    assert "altered or damaged at row 21: it was converted up to there" in caplog.text
    assert "19 studies of version 8 were converted" in caplog.text
    with closing(sqlite3.connect(file)) as database:
        assert database.execute("SELECT version FROM dikin_version").fetchall() == [(3,)]
        assert database.execute("SELECT count(*) FROM dikin_events").fetchone()[0] > 2000


def test_a_saved_file_of_another_version_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "saved.json"
    for content in files.saved():
        file.write_bytes(content)
        with pytest.raises(errors.StateError, match=r"version 8, .* has no rounds to learn from"):
            dikin.load(file)


EXPECTED_9 = files.expected("state9")


@pytest.mark.parametrize("name", EXPECTED_9["studies"])
def test_a_study_of_version_9_continues(name: str, tmp_path: Path) -> None:
    """The rows are the same, and what they teach is made anew."""
    wanted = EXPECTED_9["studies"][name]
    with dikin.Study(files.sqlite_file(tmp_path, "state9"), name) as study:
        assert (study.rounds, study.first_round) == (wanted["rounds"], wanted["first_round"])
        assert [query.id for query in study.open_queries] == wanted["waiting"]
        assert [record["value"] for record in study.records()] == wanted["values"]
        status = study.status()
        context = {"region": "eu", "hour": 1.0} if status.contexts else None
        assert study.best_for(context).keys() == wanted["best"].keys()
        for _ in range(5):
            trial = study.ask(context)
            study.tell(trial, 0.5, metrics={"p99": 1.0})
        assert study.rounds == wanted["rounds"] + 5
        assert study.verify().rows > 0


def test_saved_tuners_of_version_9_learn_their_rounds_anew(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "saved.json"
    for content in files.saved("state9"):
        file.write_bytes(content)
        tuner = dikin.load(file)
        assert "learnt its last" in caplog.text
        kept = len(tuner.history())
        assert tuner._search.model.rounds >= kept / 2  # but for paused rounds and failures
        tuner.tell(tuner.ask(), 0.5)
        tuner.save(file)
        assert dikin.load(file).best == tuner.best


def layout(state: Any) -> Any:
    """Return the names of a state, without its numbers."""
    if isinstance(state, dict):
        return {name: layout(part) for name, part in sorted(state.items())}
    return [layout(state[0])] if isinstance(state, list) and state else None


def test_another_layout_is_another_version() -> None:
    """If this fails, raise VERSION, keep the earlier one in TUNERS, and commit files of it here."""
    numbers = {"a": dikin.Real(0, 1), "b": dikin.Choice(["x", "y"])}
    more = {
        "context": {"region": ["eu", "us"]},
        "limits": ["p99 <= 2"],
        "covariates": {"load": float},
    }
    tuner = dikin.Tuner(numbers, smoothness=1.0, holdback=0.2, guard=0.1, seed=1, **more)
    for _ in range(9):
        trial = tuner.ask({"region": "eu"}, covariates={"load": 0.5})
        tuner.tell(trial, 0.1, metrics={"p99": 1.0})
    found = json.dumps(layout(tuner.state()))
    digest = hashlib.sha256(found.encode()).hexdigest()[:16]
    assert (serialization.VERSION, digest) == (10, "5fd98758a6fcbab5")
