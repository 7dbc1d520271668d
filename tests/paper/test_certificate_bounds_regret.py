"""E[regret] <= E[certificate], seen on games whose best fixed point is known exactly.

Ridges and kinks make exploring cost something. Their best fixed point has a closed form, which the
laws of environments compare with others. The certificates are several times the mean regret here,
so that two seeds decide; the mutant goes uphill and is caught by the same check.
"""

from collections.abc import Callable
from math import ceil
from typing import Any

import numpy as np
import pytest

import dikin
from dikin.engine.play import plain_rounds
from dikin.environments.base import Environment
from dikin.environments.patterns import Decaying, FlatFirst, FlatLast
from paper.charts import holds
from paper.runs import altered

ROUNDS, SEEDS = 2000, 2
PLACES = {"disc": dikin.Ball(2), "box": dikin.Box([0, 0], [10, 2])}
CURVATURES: dict[str, Callable[[float], Any]] = {
    "constant": lambda sigma: sigma,
    "zero": lambda sigma: 0.0,
    "first flat": lambda sigma: FlatFirst(sigma, ceil(ROUNDS**0.75)),
    "second half flat": lambda sigma: FlatLast(sigma, ROUNDS, ROUNDS // 2),
    "decaying": lambda sigma: Decaying(sigma, 1 / 6),
}
CELLS = {"disc": [*CURVATURES], "box": ["constant", "zero"]}
Way = Callable[[Any], Any]


def game(kind: str, place: str, curvature: str) -> Environment:
    domain = PLACES[place]
    size, pattern = domain.radius, CURVATURES[curvature]
    if kind == "ridge":
        return dikin.Ridge(domain, 0.6 / size**2, pattern(0.6 / size**2), 3)
    return dikin.Kink(domain, 1.0 / size, pattern(0.3 / size**2), 3)


def play(world: Environment, way: Way, seed: int, rounds: int = ROUNDS) -> tuple[float, float]:
    """The regret and the certificate."""
    options: dict[str, Any] = {"loss_range": world.loss_range, "seed": seed}
    learner: Any = (
        dikin.AdaptiveSmooth(world.domain, world.smoothness, **options)
        if isinstance(world, dikin.Ridge)
        else dikin.AdaptiveLipschitz(world.domain, world.lipschitz, **options)
    )
    learner = way(learner)
    plain_rounds(learner, world)(rounds)
    return world.total_loss - world.best()[1], learner.certificate


def means(kind: str, place: str, curvature: str, way: Way) -> tuple[float, float]:
    plays = [play(game(kind, place, curvature), way, seed) for seed in range(SEEDS)]
    regret, certificate = np.mean(plays, axis=0)
    return float(regret), float(certificate)


def right_way(learner: Any) -> Any:
    return learner


def uphill(learner: Any) -> Any:
    """The gradient estimator with the wrong sign, which the certificate believes."""
    return altered(learner, dim=-learner._schedule.dim)


@pytest.mark.parametrize("kind", ["ridge", "kink"])
@pytest.mark.parametrize("place", CELLS)
def test_certificate_bounds_the_mean_regret(kind: str, place: str) -> None:
    def check(way: Way) -> None:
        for curvature in CELLS[place]:
            regret, certificate = means(kind, place, curvature, way)
            low, high = game(kind, place, curvature).loss_range
            assert 0 < regret <= certificate < ROUNDS * (high - low)

    holds(check, right_way, uphill)


@pytest.mark.parametrize("kind", ["ridge", "kink"])
def test_lemma_main_result_arbitrary_any_lambda_will_do(kind: str) -> None:
    """lemma:main-result-smooth-arbitrary, thm: lip-arbitrary: any lambda_t in (0, 1).

    lambda_t is t sqrt(2) modulo 1, far from the fixed point: more regret, and a larger certificate.
    """

    def arbitrary(learner: Any) -> Any:
        numbers = iter(np.sqrt(2) * np.arange(1, ROUNDS + 1) % 1)
        return altered(learner, regularisation=lambda total: float(next(numbers)))

    def check(way: Way) -> None:
        regret, certificate = means(kind, "disc", "constant", lambda made: arbitrary(way(made)))
        assert 0 < regret <= certificate

    holds(check, right_way, uphill)


def test_certificate_is_below_the_trivial_bound_on_the_disc() -> None:
    """T = 10^4, smooth ridge, constant curvature, in units of B: the trivial bound is 2T."""
    rounds, world = 10_000, game("ridge", "disc", "constant")
    half = (world.loss_range[1] - world.loss_range[0]) / 2
    regret, bound = (each / half for each in play(world, right_way, 1, rounds))

    def check(trivial: float) -> None:
        assert 0 < regret < bound < trivial

    holds(check, 2 * rounds, 2 * rounds / 100)
    assert bound < 2 * rounds / 15
    assert bound < 6 * regret
