"""The status of a tuner or study: as JSON and back, and in words."""

import json
from dataclasses import fields
from math import isnan
from pathlib import Path

import numpy as np
import pytest

import dikin
from dikin.status import MEANINGS, Status


def shop(rounds: int) -> dikin.Tuner:
    parameters = {"price": dikin.Real(1, 14, start=4), "traffic": dikin.Shares(["old", "new"])}
    tuner = dikin.Tuner(parameters, maximize=True, seed=7)
    for number in range(rounds):
        tuner.tell(tuner.ask(), float(number % 5))
    tuner.ask()
    return tuner


@pytest.fixture(scope="module")
def limited() -> Status:
    """The status of a tuner with limits, a holdback, failures and a pause."""
    parameters = {"n": dikin.Integer(1, 512, log=True), "codec": dikin.Choice(["a", "b"])}
    limits = ["p99_ms <= 200", "failed <= 0.1"]
    tuner = dikin.Tuner(parameters, limits=limits, holdback=0.2, seed=7)
    for number in range(40):
        if number % 20 == 5:
            tuner.tell(tuner.ask(), failed=True)
        else:
            tuner.tell(tuner.ask(), float(number % 5), metrics={"p99_ms": 100.0})
    tuner.pause()
    return tuner.summary()


def test_json_and_back(limited: Status, tmp_path: Path) -> None:
    tuner = dikin.Tuner({"price": dikin.Real(1, 14, start=4)}, seed=7)
    with dikin.Study(tmp_path / "studies.db", "shop", tuner) as study:
        study.tell(study.ask(), 3.0)
        served = study.status()
    for status in (shop(30).summary(), limited, served):
        text = json.dumps(status.to_json(), allow_nan=False)
        again = Status.from_json(json.loads(text))
        for each in fields(Status):
            ours, theirs = getattr(status, each.name), getattr(again, each.name)
            assert type(ours) is type(theirs), each.name
            assert np.array_equal(ours, theirs) or str(ours) == str(theirs), each.name
        assert str(again) == str(status)


def test_what_is_not_known_is_null_and_nan() -> None:
    content = shop(0).summary().to_json()
    assert content["recent_mean"] is None
    assert content["open"] == {"count": 1, "first": 0, "oldest_seconds": None}
    again = Status.from_json(content | {"a key of a later version": 1})
    assert isnan(again.recent_mean)
    assert isnan(again.open.oldest_seconds)
    del content["rounds"]
    with pytest.raises(KeyError, match="rounds"):
        Status.from_json(content)


def test_the_words_say_pause_failures_and_the_expected_value(limited: Status) -> None:
    lines = dict(limited.lines())
    assert "until resume" in lines["paused"]
    assert lines["failed"] == "2 trials"
    assert limited.best_value is not None
    assert lines["expected value"].startswith(f"{limited.best_value[0]:.5g} (95 %: ")
    assert limited.limits == ["p99_ms <= 200", "failed <= 0.1"]
    assert {"paused", "failed", "expected value"}.isdisjoint(dict(shop(0).summary().lines()))


def test_every_part_says_what_it_means() -> None:
    assert list(MEANINGS) == [each.name for each in fields(Status)]
    for name, meaning in MEANINGS.items():
        assert meaning.endswith(".")
        assert f"    {name}\n        {meaning}" in str(Status.__doc__)
