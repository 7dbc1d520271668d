"""What exploring has cost at most, as the values show it, where nothing was declared."""

from __future__ import annotations

from collections.abc import Callable
from math import isnan, sqrt
from typing import Any

import numpy as np
import pytest

import dikin
from dikin.errors import StateError
from dikin.learners import predictive_certificate as certificate
from dikin.tuning import exploring
from dikin.tuning.exploring import ERRORS, FIRST, ExploringCost
from dikin.vectors import Array
from paper.charts import holds

Loss = Callable[[Array], float]

# --- the regression ------------------------------------------------------------------------------


def rows_of_rounds(rounds: int, size: int) -> list[tuple[int, Array, Array, float]]:
    rng = np.random.default_rng([rounds, size])
    centers = 0.4 + 1e-3 * np.cumsum(rng.standard_normal((rounds, size)), axis=0)
    steps, surprises = rng.standard_normal((2, rounds, size))
    return list(zip(range(rounds), centers, steps, surprises[:, 0].tolist(), strict=True))


def least_squares(rows: list[tuple[int, Array, Array, float]]) -> float:
    """The same, by a solver: coefficients of r z on (1, round, y), and how far they may be off."""
    size = len(rows[0][1])
    regressors = np.array([[1.0, round, *center] for round, center, _, _ in rows])
    answers = np.array([surprise * step for _, _, step, surprise in rows])
    coefficients = np.linalg.lstsq(regressors, answers, rcond=None)[0]
    spread = np.linalg.inv(regressors.T @ regressors)[2:, 2:]
    error = sqrt(np.trace(spread @ np.cov(answers.T, bias=True).reshape(size, size)))
    return max(float(np.trace(coefficients[2:])), 0.0) + ERRORS * error


class KeepsEveryRound(ExploringCost):
    """The first rounds are far from the minimum, where a kink has no curvature."""

    def add(self, round: int, center: Array, step: Array, surprise: float) -> None:
        self._newer.add(np.concatenate(([float(round)], center, surprise * step)))


@pytest.mark.parametrize("size", [1, 3])
def test_it_is_a_regression_over_the_newer_rounds(size: int) -> None:
    """1e-6: the solver subtracts no mean."""
    rows = rows_of_rounds(600, size)

    def check(kind: type[ExploringCost]) -> None:
        cost = kind(size)
        for row in rows:
            cost.add(*row)
        assert 300 <= cost.rounds <= 450
        assert cost.at_most == pytest.approx(least_squares(rows[-cost.rounds :]), rel=1e-6)

    holds(check, ExploringCost, KeepsEveryRound)


def test_it_is_twice_the_cost_in_a_bowl_and_the_cost_at_a_kink() -> None:
    """Without noise, and with centres that move at random. Four of its own errors above at most."""
    rng = np.random.default_rng(1)
    bowl, kink = ExploringCost(2), ExploringCost(1)
    for round in range(4 * FIRST):
        center, step = 0.01 * rng.standard_normal(2), rng.standard_normal(2)
        step *= 0.1 / np.linalg.norm(step)
        bowl.add(round, center, step, float((center + step) @ (center + step)) - 0.01)
        side = np.array([rng.choice([-0.1, 0.1])])
        kink.add(round, center[:1], side, float(abs(center + side)[0]) - 0.1)
    assert 0.02 <= bowl.at_most <= 0.03  # 2 * 0.1^2
    assert 0.1 <= kink.at_most <= 0.13


def test_before_the_centre_has_moved_enough_nothing_is_known() -> None:
    cost = ExploringCost(2)
    assert isnan(cost.at_most)
    for row in rows_of_rounds(15, 2):
        cost.add(*row)
    assert isnan(cost.at_most)
    large = ExploringCost(exploring.LARGEST_SIZE + 1)
    for row in rows_of_rounds(200, exploring.LARGEST_SIZE + 1):
        large.add(*row)
    assert large.rounds == 0
    assert isnan(large.at_most)


# --- loops in which nothing is declared ----------------------------------------------------------

TURN = np.array([[0.8, 0.6], [-0.6, 0.8]])
LOSSES: dict[str, Loss] = {
    "bowl": lambda x: 6.0 * float(x @ x),
    "kink": lambda x: float(abs(x).sum()),
    "turned kink, one side steep": lambda x: float(abs(TURN @ x) @ [1.0, 6.0]),
    "tip of a cone": lambda x: float(np.linalg.norm(TURN @ x * [1.0, 3.0])),
    "largest of both": lambda x: float(abs(TURN @ x).max()),
    "hinges": lambda x: float(np.maximum(0.0, [3.0, 1.0] * x).sum() + 0.3 * np.exp(-2.0 * x).sum()),
}
"""Each convex, with its minimum near 0; all but two do not add up over the parameters."""


def played(loss: Loss, seed: int, rounds: int = 400) -> tuple[dikin.Tuner, float]:
    """A tuner after a game, and what exploring cost in the rounds that it measures.

    The noise depends on the setting: three times as large on one side.
    """
    tuner = dikin.Tuner({"a": dikin.Real(0, 1), "b": dikin.Real(0, 1)}, seed=seed)
    rng, costs, minimum = np.random.default_rng(seed), [], np.array([0.35, 0.6])
    for _ in range(rounds):
        center, trial = tuner.center, tuner.ask()
        one, other = (loss(x - minimum) for x in (trial.point, 2 * center - trial.point))
        costs.append(0.5 * (one + other) - loss(center - minimum))
        noise = 0.05 if trial.point[0] < minimum[0] else 0.15
        tuner.tell(trial, one + noise * rng.standard_normal())
    return tuner, float(np.mean(costs[-tuner.summary().exploring_rounds :]))


def measured(tuner: dikin.Tuner) -> float:
    return tuner.summary().exploring_measured


def of_a_bowl_that_fills_the_range(tuner: dikin.Tuner) -> float:
    """A mutant: the price for a smoothness that nobody declared."""
    learner, n = tuner.learner, tuner.learner._n
    trace = learner._trace(n.shift)
    price = certificate.exploring_price(learner._plan, n.levels, trace, 1.0, 1.0)[0]
    return learner.units.regret(price)


def test_exploring_costs_no_more_than_is_measured() -> None:
    """At two standard errors, 1 - 0.975^12 = 0.26 is the most for a false alarm with new seeds.

    The bias of the regression is to the safe side: it makes one far less likely.
    """
    games = [played(loss, seed) for loss in LOSSES.values() for seed in range(2)]

    def check(figure: Callable[[dikin.Tuner], float]) -> None:
        for tuner, cost in games:
            assert 0.0 < cost <= figure(tuner)

    holds(check, measured, of_a_bowl_that_fills_the_range)


# --- in the tuner --------------------------------------------------------------------------------


def test_with_nothing_declared_no_bound_is_printed() -> None:
    tuner, _ = played(LOSSES["kink"], 0, 100)
    status, lines = tuner.summary(), dict(tuner.summary().lines())
    assert isnan(status.exploring_cost)
    assert isnan(status.outlook)
    assert "next 1,000" not in lines
    assert lines["exploring"].startswith("cost 0 to ")
    assert lines["exploring"].endswith(
        "(95 %), if values are convex and the best setting did not jump"
    )


def test_what_is_declared_is_printed_beside_what_is_measured() -> None:
    tuner = dikin.Tuner({"a": dikin.Real(0, 1)}, maximize=True, lipschitz=2.0, seed=1)
    for _ in range(60):
        trial = tuner.ask()
        tuner.tell(trial, -abs(trial["a"] - 0.4))
    lines = dict(tuner.summary().lines())
    assert lines["exploring"].startswith("costs at most ")
    assert "if values are concave" in lines["measured"]
    assert "if it and the surprises stay" in lines["next 1,000"]


def test_faults_and_contexts_are_not_counted() -> None:
    tuner = dikin.Tuner({"a": dikin.Real(0, 1)}, seed=1)
    for round in range(80):
        trial = tuner.ask()
        tuner.tell(trial, 1e9 if round == 70 else abs(trial["a"] - 0.4))
    assert tuner.clipped == 1
    assert tuner.summary().exploring_measured < 1.0
    fleet = dikin.Tuner({"a": dikin.Real(0, 1)}, context={"region": ["eu", "us"]}, seed=1)
    for _ in range(80):
        trial = fleet.ask(context={"region": "eu"})
        fleet.tell(trial, abs(trial["a"] - 0.4))
    assert dict(fleet.summary().lines())["exploring"].startswith("not known: a bound needs")


def test_a_restored_tuner_measures_on() -> None:
    tuner, _ = played(LOSSES["kink"], 1, 80)
    state: Any = tuner.state()
    again = dikin.Tuner.restore(state)
    assert again.summary().exploring_measured == tuner.summary().exploring_measured
    with pytest.raises(StateError, match="exploring"):
        dikin.Tuner.restore(state | {"exploring": [1.0]})
