"""E[regret] <= E[certificate] where exploring costs something: ridges and kinks in patterns.

The certificates are 4 to 16 times the mean regret here, so that two seeds decide. The mutant goes
uphill and is caught by the same check.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dikin
from dikin.engine.play import plain_rounds
from dikin.environments.patterns import Decaying, FlatFirst, FlatLast
from paper.charts import holds
from paper.runs import altered

ROUNDS, SEEDS = 2000, 2
DISC, BOX = dikin.Ball(2), dikin.Box([0, 0], [10, 2])
Way = Callable[[Any], Any]
PATTERNS: dict[str, Callable[[float], Any]] = {
    "zero": lambda sigma: 0.0,
    "constant": lambda sigma: sigma,
    "first flat": lambda sigma: FlatFirst(sigma, int(ROUNDS**0.75)),
    "second half flat": lambda sigma: FlatLast(sigma, ROUNDS, ROUNDS // 2),
    "decaying": lambda sigma: Decaying(sigma, 1 / 6),
}
CELLS = [(DISC, name) for name in PATTERNS] + [(BOX, "constant"), (BOX, "zero")]


def built(kind: str, domain: Any, pattern: str, seed: int) -> tuple[Any, Any]:
    """The learner and the environment, of constants about 1 in the paper's units."""
    size = domain.radius
    curvature = PATTERNS[pattern](0.5 / size**2)
    if kind == "ridge":
        world: Any = dikin.Ridge(domain, 1.0 / size**2, curvature, seed)
        make: Any = dikin.AdaptiveSmooth
    else:
        world, make = dikin.Kink(domain, 1.0 / size, curvature, seed), dikin.AdaptiveLipschitz
    constant = world.smoothness if kind == "ridge" else world.lipschitz
    return make(domain, constant, loss_range=world.loss_range, seed=seed), world


def mean_play(kind: str, domain: Any, pattern: str, way: Way, rounds: int = ROUNDS) -> Any:
    """The mean regret and certificate, in halves of the range of the losses."""
    rows = []
    for seed in range(SEEDS):
        learner, world = built(kind, domain, pattern, seed)
        learner = way(learner)
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
        square, unit, seen = memo.asked
        learn(memo._replace(asked=(square, -unit, seen)), loss, curvature)

    learner._learn = upwards
    return learner


@pytest.mark.parametrize("kind", ["ridge", "kink"])
@pytest.mark.parametrize(("domain", "pattern"), CELLS, ids=str)
def test_certificate_bounds_the_mean_regret(kind: str, domain: Any, pattern: str) -> None:
    regret, certificate = mean_play(kind, domain, pattern, right_way)
    assert 0 < regret <= certificate < 2 * ROUNDS


@pytest.mark.parametrize("kind", ["ridge", "kink"])
def test_lemma_main_result_arbitrary_any_lambda_will_do(kind: str) -> None:
    """lemma:main-result-smooth-arbitrary, thm: lip-arbitrary: any lambda_t in (0, 1).

    lambda_t is t sqrt(2) modulo 1, far from the fixed point: more regret, and a larger certificate.
    """

    def arbitrary(learner: Any) -> Any:
        numbers = iter(np.sqrt(2) * np.arange(1, ROUNDS + 1) % 1)
        return altered(learner, regularisation=lambda total: float(next(numbers)))

    def check(way: Way) -> None:
        regret, certificate = mean_play(kind, DISC, "constant", lambda new: arbitrary(way(new)))
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
        regret, certificate = mean_play("ridge", DISC, "constant", way, rounds)
        assert 0 < regret < certificate < 2 * rounds / 14

    holds(check, right_way, timid)
