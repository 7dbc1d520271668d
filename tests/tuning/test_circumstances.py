"""Contexts choose the setting, covariates explain the value: late, missing, not declared."""

from typing import Any

import numpy as np
import pytest

from dikin import Cycle, Real, Tuner
from dikin.errors import CovariateError
from tuning.loops import Params, run

X = {"x": Real(0, 10, start=2)}


def lost(tuner: Tuner, explains: Any, late: bool, rounds: int = 300) -> float:
    """The cost of 300 rounds whose noise has a cause, which the tuner may hear of."""
    loads = np.random.default_rng(2).standard_normal(rounds).tolist()

    def measure(p: Params, t: int) -> dict[str, Any]:
        value = 0.2 * (p["x"] - 7) ** 2 + 5 * loads[t]
        return {"value": value, "covariates": explains(loads[t]) if late else None}

    known = (lambda t: {}) if late else (lambda t: {"covariates": explains(loads[t])})
    trials = run(tuner, rounds, measure, noise=0.2, known=known)
    return sum(0.2 * (trial["x"] - 7) ** 2 for trial in trials)


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("declared", [{"load": float}, None])
def test_what_explains_the_noise_helps(late: bool, declared: Any) -> None:
    """Mutant: a covariate that is checked and not used costs as much as none."""
    tuner = Tuner(X, covariates=declared, seed=1)
    told = lost(tuner, lambda load: {"load": load}, late)
    assert told < 0.7 * lost(Tuner(X, seed=1), lambda load: None, late)
    assert tuner.best["x"] == pytest.approx(7, abs=0.5)


def test_a_word_and_a_cycle_explain_as_well() -> None:
    rng, tuner = np.random.default_rng(1), Tuner(X, covariates={"hour": Cycle(24)}, seed=1)
    for t in range(300):
        word = "abc"[int(rng.integers(3))]
        effect = {"a": 0.0, "b": 10.0, "c": -20.0}[word] + 10 * np.sin(t / 24 * 2 * np.pi)
        trial = tuner.ask(covariates={"hour": t % 24, "kind": word})
        if t > 200:
            expected = 0.2 * (trial["x"] - 7) ** 2 + effect
            assert trial.expected == pytest.approx(expected, abs=3.0)
        tuner.tell(trial, 0.2 * (trial["x"] - 7) ** 2 + effect + 0.2 * rng.standard_normal())


def test_one_that_is_missing_counts_as_usual() -> None:
    """The mean is 3: at 0 the expected value would be off by 30."""
    loads, tuner = 3 + np.random.default_rng(1).standard_normal(200), Tuner(X, seed=1)
    run(
        tuner,
        200,
        lambda p, t: 10 * loads[t],
        known=lambda t: {"covariates": {"load": loads[t] if t % 3 else None}},
    )
    assert tuner.ask().expected == pytest.approx(30, abs=6)


@pytest.mark.parametrize("log", [0, 5])
def test_a_name_that_comes_late_keeps_all_that_was_learnt(log: int) -> None:
    """Mutant: the new feature after "is history" gives the log's level to the covariate."""
    rng, tuner, at = np.random.default_rng(1), Tuner(X, seed=1), np.array([0.3])
    for x in range(log):
        tuner.add_trial({"x": x}, 0.2 * (x - 7) ** 2 + 50)
    for t in range(160):
        load = rng.standard_normal()
        trial = tuner.ask(covariates={"load": load} if t >= 80 else None)
        cost = 0.2 * (trial["x"] - 7) ** 2 + 5 * load
        if t == 79:
            search, nothing = tuner._search, np.zeros(0)
            before = search.expected(at, (), nothing, nothing)
            search.widen(2)
            assert search.expected(at, (), nothing, np.zeros(2)) == pytest.approx(before, rel=1e-9)
            search.widen(0)
            tuner.covariates.include({"first": 1.0, "second": 2.0})
        if t > 120:
            assert trial.expected == pytest.approx(cost, abs=1.0)
        tuner.tell(trial, cost + 0.1 * rng.standard_normal())
    assert tuner.best["x"] == pytest.approx(7, abs=0.3)
    assert tuner.summary().covariates == {"first": None, "second": None, "load": None}


def test_a_category_has_sixteen_words_and_a_tuner_sixteen_covariates() -> None:
    tuner = Tuner(X, seed=1)
    for i in range(16):
        tuner.tell(tuner.ask(), 1.0, covariates={"kind": f"w{i}"})
    with pytest.raises(CovariateError, match=r"at most 16 in all.*got 'more'"):
        tuner.ask(covariates={"kind": "more"})
    with pytest.raises(CovariateError, match="at most 16 covariates, got 18"):
        tuner.ask(covariates={f"c{i}": 1.0 for i in range(17)})


def region(t: int) -> dict[str, Any]:
    return {"context": {"region": ["eu", "us"][t % 2]}}


def region_cost(p: Params, t: int) -> float:
    return float((p["x"] - [9, 4][t % 2]) ** 2)


def test_each_context_has_its_own_setting_and_shares_the_rest() -> None:
    tuner = Tuner({"x": Real(1, 14, start=6)}, context={"region": ["eu", "us"]}, seed=1)
    run(tuner, 400, region_cost, noise=1.0, known=region)
    assert tuner.best_for({"region": "eu"})["x"] == pytest.approx(9, abs=0.5)
    assert tuner.best_for({"region": "us"})["x"] == pytest.approx(4, abs=0.5)
    found = tuner.recommend({"region": "eu"})
    assert found.params == tuner.best_for({"region": "eu"})
    assert found.value.low < 0.5
    assert list(tuner.summary().by_context or ()) == ["eu", "us"]
    assert tuner.summary().best_value is None  # each context has its own


def test_nothing_is_forgotten_where_nothing_changes() -> None:
    """No block of 250 rounds costs three times the settled one (12 a round at the start)."""
    tuner = Tuner({"x": Real(1, 14, start=6)}, context={"region": ["eu", "us"]}, seed=3)
    trials = run(tuner, 1500, region_cost, noise=1.0, seed=3, known=region)
    costs = [region_cost(trial.params, t) for t, trial in enumerate(trials)]
    blocks = np.reshape(costs, (-1, 250)).mean(axis=1)
    assert blocks[2:].max() < 0.5


@pytest.mark.parametrize(
    ("kind", "places", "best"),
    [
        (Cycle(24), (0, 6, 12, 18), lambda hour: 7 + 2 * np.sin(hour / 24 * 2 * np.pi)),
        ((0, 1), (0.0, 0.5, 1.0), lambda load: 3 + 5 * load),
    ],
)
def test_a_number_chooses_the_setting_in_between_too(kind: Any, places: Any, best: Any) -> None:
    tuner = Tuner({"x": Real(1, 14, start=6)}, context={"z": kind}, seed=1)
    numbers = np.random.default_rng(2).uniform(places[0], places[-1], 600).tolist()
    run(
        tuner,
        600,
        lambda p, t: (p["x"] - best(numbers[t])) ** 2,
        noise=0.3,
        known=lambda t: {"context": {"z": numbers[t]}},
    )
    middle = (places[0] + places[1]) / 2
    for z in (*places[1:-1], middle):
        assert tuner.best_for({"z": z})["x"] == pytest.approx(best(z), abs=1.0)
