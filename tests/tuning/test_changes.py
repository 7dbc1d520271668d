"""Rows that the tuner did not ask for, and other parameters in the middle of a run."""

from typing import Any

import numpy as np
import pytest

import dikin
from dikin import Choice, Integer, Real, Shares, Tuner
from tuning.loops import restored, run

RANGES = {"x": Real(0, 10, start=2), "n": Integer(1, 9, start=8), "c": Choice(["a", "b"])}


def cost(params: dict[str, Any]) -> float:
    return float((params["x"] - 7) ** 2 / 5 + abs(params["n"] - 3) / 2 + (params["c"] == "a"))


def played(tuner: Tuner, rounds: int, seed: int = 1) -> float:
    """Return the cost of some rounds."""

    def measure(p: dict[str, Any], t: int) -> float:
        return cost({"n": 3, "c": "b"} | p)

    trials = run(tuner, rounds, measure, noise=0.3, seed=seed)
    return sum(measure(trial.params, 0) for trial in trials)


def log(tuner: Tuner, rows: int, level: float = 0.0) -> None:
    rng = np.random.default_rng(9)
    for _ in range(rows):
        params = {
            "x": float(rng.uniform(0, 10)),
            "n": int(rng.integers(1, 10)),
            "c": "ab"[int(rng.integers(2))],
        }
        tuner.add_trial(params, cost(params) + level + 0.3 * rng.standard_normal())


@pytest.mark.parametrize(("level", "most"), [(0.0, 0.8), (100.0, 1.3)])
def test_a_log_helps_from_the_first_round_on(level: float, most: float) -> None:
    """Of another level it may cost a little: last month everything was dearer."""
    cold, warm = [], []
    for seed in range(3):
        tuner = Tuner(RANGES, seed=seed)
        log(tuner, 60, level)
        assert tuner.rounds == 0
        warm.append(played(tuner, 60, seed))
        cold.append(played(Tuner(RANGES, seed=seed), 60, seed))
    assert sum(warm) < most * sum(cold)


def test_a_log_that_misleads_is_followed_step_by_step_and_not_for_long() -> None:
    """The log has its best value at 8, where today's values are the worst."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        tuner = Tuner({"x": Real(0, 10, start=5)}, seed=seed)
        for x in rng.uniform(0, 10, 20):
            tuner.add_trial({"x": float(x)}, (float(x) - 8) ** 2 + 0.3 * rng.standard_normal())
        assert "added           20 trials" in str(tuner)
        trials = run(tuner, 30, lambda p, t: (p["x"] - 2) ** 2, noise=0.3, seed=seed + 9)
        settings = [trial["x"] for trial in trials]
        assert 5 < settings[0] < 7 < settings[2]
        assert np.mean([x < 5 for x in settings]) > 0.6


def test_a_log_is_no_part_of_rounds_and_of_the_uplift() -> None:
    tuner = Tuner(RANGES, holdback=0.3, seed=1)
    log(tuner, 30)
    played(tuner, 30)
    log(tuner, 5)
    assert tuner.rounds == 30
    assert tuner.uplift.tuned_rounds + tuner.uplift.held_back_rounds <= 30
    table = tuner.history()
    assert [*table["round"]] == 30 * [0] + [*range(1, 31)] + 5 * [0]
    twin = restored(tuner)
    assert (twin.ask(), twin.added) == (tuner.ask(), 35)


def test_a_log_has_failures_metrics_contexts_and_covariates() -> None:
    tuner = Tuner(RANGES, limits="ms <= 5", context={"r": ["eu", "us"]}, seed=1)
    setting = {"x": 3.0, "n": 2, "c": "b"}
    tuner.add_trial(setting, failed=True, context={"r": "eu"})
    for _ in range(6):
        more: dict[str, Any] = {"context": {"r": "us"}, "covariates": {"load": 2.0}}
        tuner.add_trial(setting, 2.0, metrics={"ms": 3.0}, **more)
    row = tuner.history()[-1]
    assert (row["metric.ms"], row["context.r"], row["covariate.load"]) == (3.0, "us", 2.0)
    assert tuner.summary().failed == 1


def test_a_range_that_is_widened_keeps_what_was_learnt() -> None:
    """Beside fresh tuners that start at the best setting so far, six games in all."""
    cost = {"changed": 0.0, "fresh": 0.0}
    for seed in range(6):
        tuner = Tuner({"x": Real(0, 5, start=2)}, seed=seed)
        played(tuner, 100)
        before = tuner.best
        assert before["x"] > 4.5
        tuner.set_parameters({"x": Real(0, 20)})
        assert tuner.best["x"] == pytest.approx(before["x"], abs=0.2)
        fresh = Tuner({"x": Real(0, 20, start=before["x"])}, seed=seed)
        cost["changed"] += played(tuner, 60)
        cost["fresh"] += played(fresh, 60)
        assert tuner.best["x"] == pytest.approx(7, abs=1)
        assert tuner.rounds == 160
    assert cost["changed"] < cost["fresh"]


def test_a_range_that_is_narrowed_is_kept() -> None:
    tuner = Tuner({"x": Real(0, 10, start=2)}, seed=1)
    played(tuner, 80)
    tuner.set_parameters({"x": Real(0, 4)})
    assert all(trial["x"] <= 4 for trial in tuner.ask(n=20))
    played(tuner, 40)
    assert tuner.best["x"] > 3.5


def test_parameters_come_and_go() -> None:
    tuner = Tuner({"x": Real(0, 10, start=2)}, seed=1)
    played(tuner, 60)
    tuner.set_parameters(RANGES)
    assert tuner.best["x"] == pytest.approx(7, abs=1)
    assert (tuner.best["n"], tuner.best["c"]) == (8, "a")  # the starts
    played(tuner, 150)
    assert tuner.best["n"] == pytest.approx(3, abs=1)
    assert tuner.best["c"] == "b"
    tuner.set_parameters({"n": RANGES["n"], "c": RANGES["c"]})
    assert tuner.best.keys() == {"n", "c"}
    assert len(tuner.history()) == 210


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (Real(0, 10), Real(0.1, 10, log=True)),
        (Integer(-3, 9), Integer(1, 9, log=True)),
        (Choice(["a", "b"]), Choice(["b", "c", "d"])),
        (Choice(["a", "b"]), Real(0, 1)),
        (Real(0, 1), Integer(0, 9)),
        (Integer(1, 4), Integer(1, 40)),
        (Integer(1, 40), Integer(1, 3)),
        (Shares(["a", "b"]), Shares(["a", "b", "c"])),
    ],
    ids=repr,
)
def test_any_change_can_be_made(before: Any, after: Any) -> None:
    tuner = Tuner({"p": before, "x": Real(0, 1)}, seed=1)
    run(tuner, 30, lambda p, t: p["x"] ** 2)
    waiting = tuner.ask()
    tuner.set_parameters({"p": after, "x": Real(0, 1)}, "x <= 0.5")
    for trial in run(tuner, 30, lambda p, t: p["x"] ** 2):
        assert trial["x"] <= 0.5
        assert np.isfinite(trial.point).all()
    with pytest.raises(dikin.DikinError):  # it was for other parameters
        tuner.tell(waiting, 1.0)
    assert restored(tuner).ask() == tuner.ask()


@pytest.mark.parametrize(("control", "x"), [({"x": 3}, 3.0), (None, 2.0)], ids=["given", "start"])
def test_the_control_stays_and_never_becomes_the_new_start(control: Any, x: float) -> None:
    tuner = Tuner({"x": Real(0, 10, start=2)}, holdback=0.5, control=control, seed=1)
    played(tuner, 30)
    before = tuner.uplift
    tuner.set_parameters({"x": Real(1, 20, start=9), "n": Integer(1, 9, start=8)})
    assert tuner.control == {"x": x, "n": 8}  # a new parameter had its start so far
    tuner.set_parameters({"x": Real(1, 20, start=15), "n": Integer(1, 9, start=1)})
    twin = restored(tuner)
    assert tuner.control == twin.control == {"x": x, "n": 8}
    played(tuner, 5)
    tuner.set_parameters({"x": Real(1, 20, log=True)})
    assert tuner.control == {"x": x}
    assert {trial["x"] for trial in tuner.ask(n=20) if trial.held_back} == {x}
    assert tuner.uplift.rounds >= before.rounds


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"x": Real(4, 10)}, "control cannot have x=2.0"),
        ({"x": Real(0, 10), "c": Choice(["b", "d"])}, "control cannot have c='a'"),
        ({"x": Choice([1, 3])}, "control cannot have x=2.0"),
    ],
)
def test_a_control_that_cannot_stay_is_refused(change: Any, words: str) -> None:
    tuner = Tuner({"x": Real(0, 10, start=2), "c": Choice(["a", "b"])}, holdback=0.5, seed=1)
    played(tuner, 20)
    before = tuner.state()
    with pytest.raises(dikin.errors.ParameterError, match=words):
        tuner.set_parameters(change)
    with pytest.raises(dikin.errors.ParameterError, match=r"the start .* breaks a constraint"):
        tuner.set_parameters({"x": Real(0, 10, start=9), "y": Real(0, 1)}, "x <= 3")
    assert tuner.state() == before
