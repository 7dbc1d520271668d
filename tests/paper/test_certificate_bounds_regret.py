"""E[regret] <= E[certificate] where exploring costs something: ridges and kinks.

The certificates are 4 to 16 times the mean regret here, so that two seeds decide. The mutant goes
uphill and is caught by the same check.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dikin
from dikin.engine.play import plain_rounds
from paper.charts import holds
from paper.runs import altered

ROUNDS, SEEDS = 2000, 2
DISC = dikin.Ball(2)
Way = Callable[[Any], Any]


def mean_play(kind: str, way: Way, rounds: int = ROUNDS) -> Any:
    """The mean regret and certificate, in halves of the range of the losses."""
    rows = []
    for seed in range(SEEDS):
        if kind == "ridge":
            world: Any = dikin.Ridge(DISC, 1.0, 0.5, seed)
            make: Any = dikin.AdaptiveSmooth
        else:
            world, make = dikin.Kink(DISC, 1.0, 0.5, seed), dikin.AdaptiveLipschitz
        constant = world.smoothness if kind == "ridge" else world.lipschitz
        learner = way(make(DISC, constant, loss_range=world.loss_range, seed=seed))
        plain_rounds(learner, world)(rounds)
        regret = world.total_loss - world.best()[1]
        rows.append([value / learner.units.loss_scale for value in (regret, learner.certificate)])
    return np.mean(rows, axis=0)


def right_way(learner: Any) -> Any:
    return learner


def uphill(learner: Any) -> Any:
    """The gradient estimator with the wrong sign, which the certificate believes."""
    learn = learner._learn

    def upwards(memo: Any, loss: float, curvature: float) -> None:
        then, metric, (square, unit, seen) = memo
        learn((then, metric, (square, -unit, seen)), loss, curvature)

    learner._learn = upwards
    return learner


@pytest.mark.parametrize("kind", ["ridge", "kink"])
def test_lemma_main_result_arbitrary_any_lambda_will_do(kind: str) -> None:
    """lemma:main-result-smooth-arbitrary, thm: lip-arbitrary: any lambda_t in (0, 1).

    lambda_t is t sqrt(2) modulo 1, far from the fixed point: more regret, and a larger certificate.
    """

    def arbitrary(learner: Any) -> Any:
        numbers = iter(np.sqrt(2) * np.arange(1, ROUNDS + 1) % 1)
        return altered(learner, regularisation=lambda total: float(next(numbers)))

    def check(way: Way) -> None:
        regret, certificate = mean_play(kind, lambda new: arbitrary(way(new)))
        assert 0 < regret <= certificate

    holds(check, right_way, uphill)


def timid(learner: Any) -> Any:
    """Half the rate, which costs regret and certificate."""
    rate = learner._schedule.rate
    return altered(learner, rate=lambda *now: 0.5 * rate(*now))


def test_certificate_is_far_below_the_trivial_bound_on_the_disc() -> None:
    """T = 10^4, smooth ridge, constant curvature. The trivial bound is 2T, the certificate 1346."""
    rounds = 10_000

    def check(way: Way) -> None:
        regret, certificate = mean_play("ridge", way, rounds)
        assert 0 < regret < certificate < 2 * rounds / 14

    holds(check, right_way, timid)
