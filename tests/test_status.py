"""The status of a tuner or study: as JSON and back, in words, and under its earlier names."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dikin
from dikin.status import MEANINGS, OpenQueries, Status


def shop(rounds: int) -> dikin.Tuner:
    tuner = dikin.Tuner(
        {
            "price": dikin.Real(1, 14, start=4),
            "staff": dikin.Integer(1, 9, start=2),
            "traffic": dikin.Shares(["old", "new"]),
            "rate": dikin.Real(0.001, 1.0, log=True),
        },
        maximize=True,
        seed=7,
    )
    for number in range(rounds):
        tuner.tell(tuner.ask(), float(number % 5))
    tuner.ask()
    return tuner


def learner_status(folder: Path, rounds: int = 3) -> Status:
    learner = dikin.AdaptiveSmooth(dikin.Spectrahedron(2), 1.0, seed=7)
    with dikin.Study(folder / "studies.db", "prices", learner) as study:
        for _ in range(rounds):
            study.tell(study.ask(), 0.25)
        study.ask()
        return study.status()


def tuner_status(folder: Path) -> Status:
    tuner = dikin.Tuner({"price": dikin.Real(1, 14, start=4)}, seed=7)
    with dikin.Study(folder / "studies.db", "shop", tuner) as study:
        study.tell(study.ask(), 3.0)
        return study.status()


MAKERS: dict[str, Callable[[Path], Status]] = {
    "fresh tuner": lambda _: shop(0).summary(),
    "tuner": lambda _: shop(30).summary(),
    "study of a learner": learner_status,
    "study of a tuner": tuner_status,
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_json_and_back(make: Callable[[Path], Status], tmp_path: Path) -> None:
    status = make(tmp_path)
    text = json.dumps(status.to_json(), allow_nan=False)
    again = Status.from_json(json.loads(text))
    for each in fields(Status):
        ours, theirs = getattr(status, each.name), getattr(again, each.name)
        assert type(ours) is type(theirs), each.name
        assert np.array_equal(ours, theirs) or str(ours) == str(theirs), each.name
    assert str(again) == str(status)


def test_what_is_not_known_is_null_and_nan() -> None:
    content = shop(0).summary().to_json()
    assert content["surprise"] is None
    assert content["open"] == {"count": 1, "first": 0, "oldest_seconds": None}
    again = Status.from_json(content | {"a key of a later version": 1})
    assert isnan(again.surprise)
    assert isnan(again.open.oldest_seconds)
    del content["rounds"]
    with pytest.raises(KeyError, match="rounds"):
        Status.from_json(content)


def test_a_tuner_of_known_range_has_an_outlook_before_the_first_round() -> None:
    declared = {"value_range": (0.0, 10.0), "lipschitz": 4.0}
    tuner = dikin.Tuner({"price": dikin.Real(1, 14)}, seed=7, **declared)
    fresh = tuner.summary()
    tuner.tell(tuner.ask(), 5.0)
    assert fresh.outlook == pytest.approx(tuner.summary().outlook, rel=0.1)


@pytest.mark.parametrize(("noise", "shown"), [(0.2, True), (0.0, False)])
def test_the_bound_for_this_run_is_shown_where_it_says_something(noise: float, shown: bool) -> None:
    """Without noise values differ by so little that no bound of so few rounds says more."""
    tuner = dikin.Tuner({"x": dikin.Real(0, 1)}, value_range=(0, 1), smoothness=0.1, seed=3)
    for side in 180 * (-1, 0, 1):
        trial = tuner.ask()
        tuner.tell(trial, 0.75 + 0.05 * (trial.params["x"] - 0.3) ** 2 + noise * side)
    status, bound = tuner.summary(), tuner.certificate_for(smoothness=0.1, confidence=0.95)
    assert status.certificate < bound < 200
    assert ("for this run, with 95 % confidence" in str(status)) is shown
    for each in (status, tuner.learner.status(), Status.from_json(status.to_json())):
        assert (
            each.run_certificate == pytest.approx(bound) if shown else isnan(each.run_certificate)
        )


def test_a_tuner_knows_its_columns() -> None:
    status = shop(0).summary()
    assert status.columns == ("price", "staff", "traffic.old", "traffic.new", "rate")
    assert status.ranges == [[1, 14], [1, 9], [0, 1], [0, 1], [0.001, 1.0]]
    assert status.log == [False, False, False, False, True]
    assert status.space is not None
    assert list(status.space["parameters"]) == ["price", "staff", "traffic", "rate"]


def test_the_words_of_a_learner(tmp_path: Path) -> None:
    lines = dict(learner_status(tmp_path).lines())
    assert lines["learner"] == "adaptivesmooth on spectrahedron"
    assert "smoothness=1.0" in lines["arguments"]
    assert lines["rounds"] == "3"
    assert lines["open queries"].startswith("1, the oldest for 0 s")
    assert "restarts" not in lines


def test_the_recent_mean_of_a_learner_is_read_from_its_journal(tmp_path: Path) -> None:
    status = learner_status(tmp_path, rounds=103)
    assert (status.recent_rounds, status.recent_mean) == (100, 0.25)
    assert status.columns == ("x[0, 0]", "x[0, 1]", "x[1, 0]", "x[1, 1]")
    assert status.open == OpenQueries(1, 103, status.open.oldest_seconds)
    assert 0 <= status.open.oldest_seconds < 600


def test_every_part_says_what_it_means() -> None:
    assert list(MEANINGS) == [each.name for each in fields(Status)]
    for name, meaning in MEANINGS.items():
        assert meaning.endswith(".")
        assert f"    {name}\n        {meaning}" in str(Status.__doc__)


@pytest.mark.parametrize(
    ("old", "new"),
    [("open_trials", "open.count"), ("open_queries", "open.count"), ("first_open", "open.first")],
)
def test_earlier_names_of_parts(old: str, new: str) -> None:
    status = shop(2).summary()
    with pytest.warns(DeprecationWarning, match=f"use {new} instead of {old}"):
        found = getattr(status, old)
    assert found == (1 if new == "open.count" else 2)


def test_earlier_names_of_methods(tmp_path: Path) -> None:
    tuner = dikin.Tuner({"price": dikin.Real(1, 14)}, seed=7)
    with dikin.Study(tmp_path / "studies.db", "shop", tuner) as study:
        study.tell(study.ask(), 3.0)
        with pytest.warns(DeprecationWarning, match=r"use Study\.status\(\)"):
            assert study.overview().rounds == 1
        found: Any
        with pytest.warns(DeprecationWarning, match=r"use Study\.status\(\)\.lines\(\)"):
            found = list(study.facts())
        assert found == list(study.status().lines())
