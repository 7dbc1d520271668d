"""The files of earlier versions are whole, and say what they said when they were written."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import dikin
from dikin import errors
from formats import files

EXPECTED = files.expected()
STUDIES = sorted(EXPECTED["studies"])


@pytest.fixture(scope="module")
def journals(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, Any]]]:
    return files.journal(files.sqlite_file(tmp_path_factory.mktemp("formats")))


@pytest.mark.parametrize("name", STUDIES)
def test_the_journal_has_every_round_that_was_read_from_it(
    name: str, journals: dict[str, list[dict[str, Any]]]
) -> None:
    for row, record in zip(journals[name], EXPECTED["studies"][name]["records"], strict=True):
        assert {part: row[part] for part in record} == record


def test_both_databases_hold_the_same_journals(
    journals: dict[str, list[dict[str, Any]]],
) -> None:
    dump = files.postgres_dump()
    for rounds in journals.values():
        for row in rounds:
            value = row.get("value", row.get("loss"))
            assert json.dumps(row["point"]) in dump
            assert json.dumps(value) in dump


def test_every_saved_file_is_known_and_was_played() -> None:
    saved = files.saved()
    names = {f"tuner-{name}": each for name, each in EXPECTED["tuners"].items()}
    names |= {f"learner-{name}": each for name, each in EXPECTED["learners"].items()}
    assert saved.keys() == names.keys()
    for name, text in saved.items():
        document = json.loads(text)
        assert document["version"] == 8
        assert names[name]["rounds"] > 0


def test_a_study_of_a_bare_learner_is_refused_with_words_that_say_so(tmp_path: Path) -> None:
    file = files.sqlite_file(tmp_path)
    with closing(sqlite3.connect(file)) as database:
        kept = database.execute(
            "SELECT name, state FROM dikin_studies JOIN dikin_snapshots ON id = study "
            "WHERE dikin_snapshots.number = 0"
        ).fetchall()
    learners = [name for name, state in kept if "tuner" not in json.loads(state)["learner"]]
    assert learners
    for name in learners:
        with pytest.raises(errors.StateError, match="the study of a bare learner"):
            dikin.Study(file, name)
