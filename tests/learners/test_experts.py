"""What averages of experts promise in every game, whatever the losses: no chance is involved."""

from __future__ import annotations

from collections.abc import Callable
from math import log
from typing import Any

import numpy as np
import pytest

import dikin
from dikin.learners import experts
from dikin.learners.experts import ASLEEP, ExpertsLearner

DISC = dikin.Ball(2)
SLACK = 1e-12
"""Rounding of a sum of six terms of order one."""


def answer(t: int, point: Any) -> Any:
    """A steep loss that lets one direction win for a while, then another."""
    slope = np.array([np.cos(t // 50), np.sin(t // 50)])
    return np.clip(2 * point @ slope, -1, 1)


def told(learner: ExpertsLearner, rounds: int) -> list[np.ndarray[Any, Any]]:
    """The numbers of the experts before the first round and after each."""
    seen = [np.array(learner._state.numbers)]
    for t in range(rounds):
        query = learner.ask()
        loss = answer(t, query.point)
        learner.tell(query, tuple(loss) if np.ndim(loss) else float(loss))
        seen.append(np.array(learner._state.numbers))
    return seen


# --- tilted weights ------------------------------------------------------------------------------
# As exp(z - z^2) <= 1 + z for z >= -1/2 and the average makes sum eta exp(-L) g.(x - x_i) zero, the
# sum of exp(-L_i) does not grow. So no expert is ever better than the average by more than the
# logarithm of their number. (`TewaSE` teaches its experts by the same function.)


def largest_growth(seen: list[np.ndarray[Any, Any]]) -> float:
    """How much the sum grew in a round, at most."""
    sums = np.array([np.exp(-numbers).sum() for numbers in seen])
    return float(np.diff(sums).max())


def test_no_expert_beats_the_tilted_average_by_much() -> None:
    seen = told(dikin.Tewa(DISC, 300, seed=1), 300)
    assert largest_growth(seen) <= SLACK
    assert min(numbers.min() for numbers in seen) < -0.1  # something was learnt at all


def test_without_the_tilt_the_promise_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    learner, average = dikin.Tewa(DISC, 300, seed=1), experts.average_experts

    def even(kernel: Any, *rest: Any) -> None:
        average(kernel._replace(priors=np.ones(kernel.priors.size)), *rest)

    monkeypatch.setattr(experts, "average_experts", even)
    assert largest_growth(told(learner, 300)) > 1e-3


def test_one_interval_of_each_length_is_awake() -> None:
    learner = dikin.TewaSE(DISC, 300, seed=1)
    kernel: Any = learner._kernel
    for before, numbers in enumerate(told(learner, 300)):
        awake = kernel.lengths[numbers < ASLEEP]
        assert sorted(set(awake.tolist())) == [2.0**k for k in range(9) if 2**k <= before + 1]


# --- exponential weights -------------------------------------------------------------------------
# Hoeffding's lemma for losses that differ by at most 2 G: sum_t g_t.(x_t - x_{t,i}) is at most
# ln(1/w_i)/epsilon + epsilon T G^2/2, and with epsilon = sqrt(8/T)/(2 G) so
# -epsilon L_i <= 1 + ln(1/w_i).


def pbgd() -> ExpertsLearner:
    return dikin.PBGD(DISC, 300, seed=1)


def two_point_pbgd() -> ExpertsLearner:
    return dikin.TwoPointPBGD(DISC, 300, 2.0, seed=1)


def furthest_ahead(learner: ExpertsLearner, numbers: np.ndarray[Any, Any]) -> float:
    """The largest -epsilon L_i - ln(1/w_i)."""
    priors = learner._experts.priors
    return float((-numbers + np.log(priors / priors.sum())).max())


@pytest.mark.parametrize("make", [pbgd, two_point_pbgd])
def test_no_expert_beats_the_average_by_much(make: Callable[[], ExpertsLearner]) -> None:
    learner = make()
    assert furthest_ahead(learner, told(learner, 300)[-1]) <= 1.0


@pytest.mark.parametrize("make", [pbgd, two_point_pbgd])
def test_a_rate_a_hundred_times_as_large_breaks_the_promise(
    make: Callable[[], ExpertsLearner],
) -> None:
    learner = make()
    kernel: Any = learner._kernel
    learner._kernel = learner._experts = kernel._replace(epsilon=100 * kernel.epsilon)
    assert furthest_ahead(learner, told(learner, 300)[-1]) > 2.0


def test_the_first_weights_are_those_of_the_text() -> None:
    """(N + 1)/(N i (i + 1)), whose sum is one."""
    priors = pbgd()._experts.priors
    n = priors.size
    text = [(n + 1) / (n * i * (i + 1)) for i in range(1, n + 1)]
    assert sum(text) == pytest.approx(1.0)
    np.testing.assert_allclose(priors / priors.sum(), text, rtol=1e-15 * n)
    assert n == 1 + int(np.ceil(log(1 + 600 / 7, 2) / 2))
