"""The certificate of the transcription of `Predictive` bounds the regret, without any chance.

Nothing here imports the package: the reference has to stand before it may judge.
"""

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from itertools import product
from math import inf, pi

import numpy as np
import pytest

from reference.barriers import Array, BallBarrier, BoxBarrier, Normalised
from reference.predictive import Answer, PredictiveReference, inside, on_ellipsoid

Kind = type[PredictiveReference]

# Rounding of some thirty answers whose terms are of the order of one.
ROUNDING = 1e-12


INTERVAL = Normalised(BoxBarrier(np.array([-1.0]), np.array([1.0])), 1.0)
DISC = Normalised(BallBarrier(np.zeros(2), 1.0), 1.0)


def replay(kind: Kind, rng: np.random.Generator) -> PredictiveReference:
    """A random run on the disc; up to two queries stay open, answered in any order."""
    run = kind(DISC, 2, inside(DISC, rng), None, 0.1)
    keys: list[int] = []
    while len(run.answers) < 6:
        z = on_ellipsoid(run.metric, rng.normal(size=2))
        keys.append(run.ask(rng.uniform(-1, 1), rng.uniform(0.1, 2), z))
        if len(keys) > 2 or rng.random() < 0.3:
            key = keys.pop(rng.integers(len(keys)))
            sigma, lam = (float(rng.choice([0.0, rng.uniform(0, 2)])) for _ in range(2))
            rate = float(rng.uniform(0.025, 0.2))
            run.tell(key, float(rng.uniform(-1, 1)), sigma, lam, rate)
    return run


# In the mean, with every direction


@dataclass(frozen=True)
class Loss:
    """A convex loss with values in [-1, 1] on the unit ball, and its true constants there."""

    value: Callable[[Array], float]
    smoothness: float | None
    lipschitz: float
    sigma: float = 0.0


def linear(a: Array) -> Loss:
    return Loss(lambda x: float(a @ x), 0.0, float(np.linalg.norm(a)))


def bowl(theta: Array, beta: float) -> Loss:
    def value(x: Array) -> float:
        return beta / 2 * float((x - theta) @ (x - theta)) - 0.8

    return Loss(value, beta, beta * (1 + float(np.linalg.norm(theta))), beta)


def kink(a: Array, at: float) -> Loss:
    return Loss(lambda x: abs(float(a @ x) - at) - 0.5, None, float(np.linalg.norm(a)))


def soft_kink(a: Array, sharpness: float) -> Loss:
    """ln cosh(k a.x)/k: second derivative k|a|^2 at its largest."""

    def value(x: Array) -> float:
        return float(np.log(np.cosh(sharpness * (a @ x)))) / sharpness - 0.3

    return Loss(value, sharpness * float(a @ a), float(np.linalg.norm(a)))


def circle(count: int) -> Array:
    """Equally spaced directions: exact for trigonometric polynomials of degree below `count`."""
    angle = 2 * pi * (np.arange(count) + 0.3) / count
    return np.column_stack([np.cos(angle), np.sin(angle)])


def continued(
    reference: PredictiveReference, s: Array, loss: Loss, forecast: float, level: float
) -> PredictiveReference:
    """The run with one more round, in direction s."""
    branch = copy(reference)
    branch.queries, branch.answers = reference.queries[:], reference.answers[:]
    branch.rates, branch.centers = reference.rates[:], reference.centers[:]
    vars(branch)["minimiser"] = reference.centers[-1].copy  # the next centre is of no interest
    z = on_ellipsoid(branch.metric, s)
    center = branch.center
    key = branch.ask(forecast, level, z)
    branch.tell(key, loss.value(center + z), loss.sigma, 0.0, branch.rate)
    return branch


def check_mean_round(kind: Kind) -> None:
    """E f(y + z) - f(v) <= E [L(y) - L(v) + a], with and without clipping.

    64 directions on a disc, exact for the linear loss and the bowl. The others have a price a > 0
    that is larger than the error of the quadrature.
    """
    rng = np.random.default_rng(9)
    reference = replay(kind, rng)
    a, y = np.array([0.8, -0.6]), reference.center
    losses = [linear(a), bowl(np.array([0.2, 0.1]), 1.0), kink(0.5 * a, 0.1), soft_kink(a, 5.0)]
    points = [length * ray for length in (0.5, 1.0) for ray in circle(10)]
    cases = product(losses, ((inf, 0.0), (0.3, 0.6), (0.02, 0.6)))
    for loss, (level, forecast) in cases:
        runs = [continued(reference, s, loss, forecast, level) for s in circle(64)]
        answers = [run.answers[-1] for run in runs]
        prices = [reference.round_price(b, loss.smoothness, loss.lipschitz) for b in answers]
        price = np.mean(prices)
        played = np.mean([answer.loss for answer in answers])
        for v in points:
            models = [reference.full_model(b, y) - reference.full_model(b, v) for b in answers]
            assert played - loss.value(v) <= np.mean(models) + price + ROUNDING


def timetable(rounds: int, late: bool) -> list[tuple[str, int]]:
    """On time, or queries in pairs of which the second is answered first."""
    if not late:
        return [(verb, t) for t in range(rounds) for verb in ("ask", "tell")]
    pairs = (("ask", 0), ("ask", 1), ("tell", 1), ("tell", 0))
    return [(verb, t + i) for t in range(0, rounds, 2) for verb, i in pairs]


def one_game(
    run: PredictiveReference, losses: list[Loss], signs: tuple[float, ...], late: bool, level: float
) -> PredictiveReference:
    """A game on [-1, 1] whose forecasts, lambdas and rates are functions of the past."""
    keys: dict[int, int] = {}
    forecast = 0.1
    for verb, t in timetable(len(losses), late):
        if verb == "ask":
            keys[t] = run.ask(forecast, level, on_ellipsoid(run.metric, np.array([signs[t]])))
            continue
        query = run.queries[keys[t]]
        loss = losses[t].value(query.center + query.z)
        run.tell(keys[t], loss, losses[t].sigma, 0.1 * abs(loss - forecast), 1.5 + loss / 2)
        forecast = (forecast + loss) / 2
    return run


def every_game(
    kind: Kind, losses: list[Loss], memory: float | None, late: bool, level: float
) -> tuple[float, float]:
    """Regret and certificate from -0.3 on [-1, 1]: exact means over all 2^T runs."""
    start = np.array([-0.3])
    curved = [loss.smoothness for loss in losses if loss.smoothness is not None]
    smoothness = max(curved) if len(curved) == len(losses) else None
    lipschitz = max(loss.lipschitz for loss in losses)
    runs = [
        one_game(kind(INTERVAL, 1, start, memory, 1.5), losses, signs, late, level)
        for signs in product((1.0, -1.0), repeat=len(losses))
    ]
    paid = np.mean([run.discounted([a.loss for a in run.answers]) for run in runs])
    bounds = [run.certificate(smoothness, lipschitz) for run in runs]
    arrivals = [losses[t] for verb, t in timetable(len(losses), late) if verb == "tell"]
    best = min(
        runs[0].discounted([loss.value(u) for loss in arrivals])
        for u in np.linspace(-1, 1, 201)[:, None]
    )
    return float(paid) - best, float(np.mean(bounds))


def games() -> dict[str, list[Loss]]:
    """Six rounds each. In the linear game exploring is free, and the start far from the minimum."""
    up, down = np.array([1.0]), np.array([-1.0])
    return {
        "linear": [linear(down)] * 6,
        "bowls": [bowl(np.array([0.1 * t]), 0.8) for t in range(6)],
        "kinks": [kink(up if t % 3 else down, 0.2) for t in range(6)],
    }


def check_every_game(kind: Kind, losses: list[Loss], memory: float | None, late: bool) -> None:
    """E[regret] <= E[certificate] with nothing drawn: no chance of a false alarm."""
    for level in (2.0, 0.1):
        regret, bound = every_game(kind, losses, memory, late, level)
        assert regret <= bound + ROUNDING  # in the linear game they are all but equal


def test_it_is_right_in_the_mean() -> None:
    check_mean_round(PredictiveReference)


@pytest.mark.parametrize("name", list(games()))
@pytest.mark.parametrize(("memory", "late"), [(None, False), (4.0, True)], ids=str)
def test_over_all_directions_the_regret_is_below_the_certificate(
    name: str, memory: float | None, late: bool
) -> None:
    check_every_game(PredictiveReference, games()[name], memory, late)


# Mutants: one thing wrong in each


class ForecastAfterTheDirection(PredictiveReference):
    def ask(self, forecast: float, level: float, z: Array) -> int:
        return super().ask(forecast + 0.5 * float(np.sign(z[0])), level, z)


class CertifiesWhatWasLearnt(PredictiveReference):
    """The clipped estimates in the place of those that are unbiased."""

    def full_model(self, answer: Answer, x: Array) -> float:
        return self.model(answer, x)

    def least_of_models(self) -> float:
        learnt = [replace(a, loss=a.forecast + a.learnt) for a in self.answers]
        twin = copy(self)
        twin.answers = learnt
        return PredictiveReference.least_of_models(twin)


def test_mutants_are_caught() -> None:
    for mutant in (ForecastAfterTheDirection, CertifiesWhatWasLearnt):
        with pytest.raises(AssertionError):
            check_mean_round(mutant)
    with pytest.raises(AssertionError):
        check_every_game(CertifiesWhatWasLearnt, games()["linear"], None, False)
