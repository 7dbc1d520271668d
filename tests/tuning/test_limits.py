"""Limits on metrics, trials that fail, values far off, and what is known of the best setting."""

import logging
from random import Random
from typing import Any

import numpy as np
import pytest

from dikin import Choice, Cycle, Integer, Real, Tuner
from dikin.tuning.limits import read_limits
from tuning.loops import Params, restored, run

POOL = {"pool": Real(1, 20, start=3)}


@pytest.mark.parametrize(
    ("text", "metric", "sign", "bound"),
    [
        ("p99_ms <= 200", "p99_ms", 1.0, 200.0),
        ("hit rate>=.9", "hit rate", -1.0, 0.9),
        ("failed <= 0.01", "failed", 1.0, 0.01),
        ("x <= -1e3", "x", 1.0, -1000.0),
    ],
)
def test_a_limit_is_read(text: str, metric: str, sign: float, bound: float) -> None:
    assert read_limits(text) == ((text, metric, sign, bound),)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_limit_is_kept(sign: float) -> None:
    """The value falls up to 12, the limit allows 6. Without it four of five rounds break it."""
    limit = "ms <= 200" if sign > 0 else "speed >= -200"
    tuner, rng = Tuner(POOL, limits=limit, seed=1), np.random.default_rng(1)

    def measure(p: Params, t: int) -> dict[str, Any]:
        value = 0.1 * (p["pool"] - 12) ** 2 + 0.1 * rng.standard_normal()
        seen = 140 + 10 * p["pool"] + 2 * rng.standard_normal()
        return {"value": value, "metrics": {limit.split()[0]: sign * seen, "other": 1.0}}

    pools = [trial["pool"] for trial in run(tuner, 400, measure)[100:]]
    assert sum(140 + 10 * pool > 200 for pool in pools) <= 15  # 5 %
    assert np.mean(pools) > 5
    found = tuner.recommend()
    assert found.limits[limit].low <= sign * (140 + 10 * found.params["pool"]) + 1
    assert found.broken == ()
    assert limit in str(found)


def test_whole_numbers_keep_a_limit() -> None:
    """The best setting that is allowed has a better neighbour, which is beyond the limit."""
    tuner = Tuner({"log2": Integer(3, 8, start=4)}, limits="ms <= 4", seed=1)
    rng = np.random.default_rng(1)

    def measure(p: Params, t: int) -> dict[str, Any]:
        value = 0.3 * rng.standard_normal() - p["log2"]
        ms = 0.1 * 2 ** p["log2"] * (1 + 0.1 * rng.standard_normal())
        return {"value": value, "metrics": {"ms": ms}}

    assert sum(trial["log2"] > 5 for trial in run(tuner, 150, measure)[50:]) <= 5
    assert tuner.best["log2"] <= 5


def test_a_limit_that_cannot_be_kept_is_said() -> None:
    tuner = Tuner(POOL, limits="ms <= 10", seed=1)
    run(tuner, 100, lambda p, t: {"value": -p["pool"], "metrics": {"ms": 100 + p["pool"]}})
    found = tuner.recommend()
    assert found.broken == ("ms <= 10",)
    assert "no setting is known to keep ms <= 10" in str(found)
    assert found.params["pool"] < 5  # where it is broken least


@pytest.mark.parametrize("limits", [(), "failed <= 0.02"])
def test_timeouts_that_depend_on_the_setting_are_avoided(limits: Any) -> None:
    """Beyond 6 every trial times out, and the values fall towards it."""
    tuner = Tuner(POOL, limits=limits, seed=2)

    def measure(p: Params, t: int) -> Any:
        return {"failed": True} if p["pool"] > 6 else 20 - p["pool"]

    failures = [trial["pool"] > 6 for trial in run(tuner, 600, measure, noise=0.3, seed=2)]
    assert np.mean(failures[300:]) < 0.05
    assert tuner.summary().failed == sum(failures)
    assert tuner.summary().warnings == ()  # they were reported, and are no faults
    if not limits:
        assert tuner.best["pool"] < 6
    for share in tuner.recommend().limits.values():
        assert 0 <= share.low <= share.mean <= share.high <= 1


def test_timeouts_by_the_hour_are_avoided() -> None:
    """Mutant: with ordinary values of all hours, 8 to 29 % of the trials time out."""
    for seed in range(3):
        tuner, rng = Tuner({"x": Real(-1, 1)}, context={"hour": Cycle(24)}, seed=seed), Random(seed)
        late = 0
        for t in range(600):
            hour = rng.randrange(24)
            trial = tuner.ask({"hour": hour})
            if trial["x"] > 0.2 + 0.2 * np.cos(np.pi * hour / 12):
                late += t >= 300
                tuner.tell(trial, failed=True)
            else:
                tuner.tell(trial, 3 * (trial["x"] - 0.6) ** 2 + rng.gauss(0, 0.05))
        assert late <= 18  # 6 %


def test_failures_alone_are_survived() -> None:
    tuner = Tuner({"pool": Integer(1, 20), "codec": Choice(["a", "b"])}, seed=1)
    run(tuner, 20, lambda p, t: {"failed": True})
    assert tuner.rounds == 20
    tuner.tell(tuner.ask(), 3.0)


def to_twelve(p: Params, t: int) -> float:
    return float(0.1 * (p["pool"] - 12) ** 2)


def test_many_that_are_left_out_are_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    tuner, rng = Tuner(POOL, seed=1), np.random.default_rng(1)
    with caplog.at_level(logging.WARNING, "dikin"):
        run(tuner, 200, lambda p, t: -1e6 if t % 8 == 7 else rng.standard_normal())
    (warning,) = tuner.summary().warnings
    assert "were left out or bounded" in warning
    tuner.pause()
    run(tuner, 9, lambda p, t: 0.0)  # learnt by nobody, and so left out by nobody
    for each in (tuner, restored(tuner)):
        assert abs(each.summary().recent_mean) < 1  # of the others
    assert sum("left out" in each.getMessage() for each in caplog.records) == 1
    assert "warning" in str(tuner)


def test_a_declared_range_has_no_faults() -> None:
    """Rare ones among zeros are what counts; a value outside is the nearer end."""
    options: dict[str, Any] = {"value_range": (0, 1), "maximize": True, "seed": 1}
    tuner, twin = Tuner(POOL, **options), Tuner(POOL, **options)
    run(tuner, 100, lambda p, t: float(t % 20 == 0))
    run(twin, 100, lambda p, t: 7.0 if t % 20 == 0 else -3.0)
    assert tuner.left_out == 0
    assert tuner.best == twin.best


def test_a_level_that_jumps_is_accepted() -> None:
    tuner = Tuner(POOL, seed=1)
    run(tuner, 300, lambda p, t: to_twelve(p, t) + 1000 * (t >= 150), noise=0.3)
    assert tuner.ask().expected == pytest.approx(1000, abs=5)
    assert tuner.best["pool"] == pytest.approx(12, abs=1.5)
    assert tuner.left_out < 20


FOUR = {"a": Real(0, 1, start=0.6), "no": Real(0, 1), "c": Choice(["x", "y"]), "n": Integer(1, 9)}


def four(p: Params, t: int = 0) -> float:
    """`no` has no effect."""
    return float(4 * (p["a"] - 0.3) ** 2 + (p["c"] == "x") + 0.1 * abs(p["n"] - 4))


def test_intervals_hold_the_truth_and_what_has_no_effect_is_not_said_to_matter() -> None:
    """Of 12 games at least 9 intervals hold the truth, where .95 are meant: odds of 1 in 400."""
    value, setting, false, found = 0, 0, 0, 0
    for seed in range(12):
        tuner = Tuner(FOUR, seed=seed)
        run(tuner, 200, four, noise=0.1, seed=seed + 999)
        known, truth = tuner.recommend(), four(tuner.best)
        value += known.value.low <= truth <= known.value.high
        setting += known.intervals["a"].low <= 0.3 <= known.intervals["a"].high
        false += known.importance["no"].low > 0
        found += known.importance["c"].low > 0
        assert known.intervals.keys() == {"a", "no", "n"}
        assert known.importance.keys() == FOUR.keys()
    assert value >= 9
    assert setting >= 9
    assert false <= 3
    assert found >= 8
