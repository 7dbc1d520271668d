"""Smoothness and slope told round by round: the learners against section 15.1 to the letter.

The reference was written from docs/mathematics.md. It is fed the points that a shipped learner
played; centres, rates and certificates must agree, also after the barrier was lowered.
"""

from collections.abc import Callable
from functools import cache, partial
from math import log
from typing import Any

import numpy as np
import pytest

import dikin
from dikin.errors import CurvatureError
from dikin.learners.adaptive import LOWERED, RATE
from dikin.theory import schedules
from paper.charts import Array, Chart, holds
from reference.told_constants import Model, ToldConstants

SETS = {"disc": dikin.Ball(2, 1.5, [1, 0]), "box": dikin.Box([0, -1], [4, 1])}
CONSTANT = 1.3
KINDS = {"smooth": (2, dikin.AdaptiveSmooth), "lipschitz": (3, dikin.AdaptiveLipschitz)}
both = pytest.mark.parametrize("kind", KINDS)
every_set = pytest.mark.parametrize("name", SETS)


def shares(rounds: int) -> Array:
    """Some of all sizes, a long time without any, then the whole: the rate must rise."""
    chance = np.random.default_rng(1)
    mixed = chance.choice([0.0, 0.1, 0.5, 1.0], 16)
    quiet = rounds // 2 - mixed.size
    return np.concatenate([mixed, np.zeros(quiet), np.ones(rounds - quiet - mixed.size)])


@cache
def game(kind: str, name: str, rounds: int = 200) -> tuple[Any, list[tuple[Any, ...]], Any]:
    """A learner after its game, what was played and told, and where it stood after each round."""
    _, cls = KINDS[kind]
    domain = SETS[name]
    learner = cls(domain, CONSTANT, loss_range=(-3, 5), seed=4)
    units, told, stood = learner.units, [], []
    for share in shares(rounds):
        query = learner.ask()
        x = domain.locate(query.point) / units.radius
        loss = float(0.3 * np.sum((x - 0.2) ** 2) - 0.5)
        limit = share * CONSTANT if kind == "smooth" else learner.curvature_limit[0]
        sigma = 0.02 * limit * (len(told) % 3 == 0)
        constant = {"smoothness" if kind == "smooth" else "lipschitz": share * CONSTANT}
        learner.tell(query, units.loss_offset + units.loss_scale * loss, sigma, **constant)
        told.append((x, loss, units.curvature(sigma), float(share)))
        stood.append((learner._state.numbers[RATE], domain.locate(learner.center) / units.radius))
    return learner, told, stood


def check(reference: Callable[..., ToldConstants], kind: str, name: str) -> None:
    learner, told, stood = game(kind, name)
    psi, k = Chart(learner.domain), KINDS[kind][0]
    units = learner.units
    constant = units.curvature(CONSTANT) if kind == "smooth" else units.slope(CONSTANT)
    run = reference(psi, k, constant)
    for each, (rate, center) in zip(told, stood, strict=True):
        run.tell(*each)
        assert run.eta == pytest.approx(rate, rel=1e-9)
        np.testing.assert_allclose(run.center, center, atol=1e-8)
    # The share of the centre in the comparator, at the rate of a game without curvature.
    rounds, d = len(told), psi.dim
    S = schedules.uncurved(run.first, run.first, rounds, k)
    full = ToldConstants(psi, k, constant, [1.0] * rounds, [pad(S - run.first, d)])
    e = min(1.0, psi.nu / (rounds * full.wanted()))
    growth = -(d if name == "box" else 1) * log(1 - (1 - e) ** 2)
    bound = run.certificate(e, growth)
    assert learner.certificate / units.loss_scale == pytest.approx(bound, rel=1e-7)


def pad(sigma: float, d: int) -> Model:
    """A round that only adds curvature."""
    return Model(np.zeros(d), sigma, 0.0, np.zeros(d), 0.0)


# --- wrong readings ------------------------------------------------------------------------------


class NoLimit(ToldConstants):
    def mean(self) -> float:
        return (1 + sum(self.shares)) / (len(self.shares) + 1)


class MeanOfToldAlone(ToldConstants):
    def mean(self) -> float:
        t = len(self.shares) + 1
        return max(sum(self.shares) / max(t - 1, 1), t**-0.5) if self.shares else 1.0


class OnlyNoise(ToldConstants):
    def cost(self, share: float) -> float:
        return super().cost(self.mean())


class DeclaredPrice(ToldConstants):
    def price(self, share: float, sigma: float, tau: float) -> float:
        return super().price(1.0, sigma, tau)


class LoweredForNothing(ToldConstants):
    """As if the growth counted with the last weight of the barrier alone."""

    def weight_of_growth(self) -> float:
        return 1 / self.eta


class NoDivergence(ToldConstants):
    def tilt(self) -> Array:
        return np.zeros(self.psi.dim)


@both
@every_set
def test_learners_are_the_schedule_of_the_page(kind: str, name: str) -> None:
    wrong = [NoLimit, MeanOfToldAlone, OnlyNoise, DeclaredPrice]
    if game(kind, name)[0]._state.numbers[LOWERED] > 0:
        wrong += [LoweredForNothing, NoDivergence]
    holds(partial(check, kind=kind, name=name), ToldConstants, *wrong)


@every_set
def test_the_rate_of_lipschitz_losses_rises_in_these_games(name: str) -> None:
    assert game("lipschitz", name)[0]._state.numbers[LOWERED] > 0


# --- what else the page says ---------------------------------------------------------------------


def lambdas(costs: Array, sigmas: Array, first: float, k: int) -> Array:
    """The lambda_t of any p_t."""
    run, total = [], first
    for cost, sigma in zip(costs, sigmas, strict=True):
        roots = np.roots([1, total + sigma, *[0] * (k - 1), -(cost**k)])
        lam = min(1.0, max(root.real for root in roots if abs(root.imag) < 1e-9))
        run.append(lam)
        total += sigma + lam
    return np.array(run)


@pytest.mark.parametrize("k", [2, 3])
def test_lambdas_cost_no_more_than_the_best_in_hindsight(k: int) -> None:
    """lambda_{1:T} <= OPT_p(T); all mass of a best theta sits on round 1, so a scan finds it."""
    chance = np.random.default_rng(k)

    def check_sum(factor: float) -> None:
        for _ in range(40):
            costs = chance.choice([0.1, 1.0, 6.0], 60) * chance.random(60)
            sigmas = chance.choice([0.0, 0.0, 5.0], 60) * chance.random(60)
            free = 2.0 + np.cumsum(sigmas)
            best = min(
                theta + float((costs / (free + theta) ** (1 / k)).sum())
                for theta in np.geomspace(1e-3, 1e3, 200)
            )
            assert factor * lambdas(costs, sigmas, 2.0, k).sum() <= best

    holds(check_sum, 1.0, 2.5)


def test_a_rate_rises_at_most_ln_t_times() -> None:
    """Nothing until m is small, then the whole, and again."""
    learner = dikin.AdaptiveLipschitz(dikin.Ball(2), 1.0, seed=1)
    rises, rate = 0, learner._state.numbers[RATE]
    for t in range(1200):
        query = learner.ask()
        share = 0.0 if t < 100 or 300 < t < 1000 else 1.0
        learner.tell(query, 0.3 * float(query.point[0]), lipschitz=share)
        rises += learner._state.numbers[RATE] > rate
        rate = learner._state.numbers[RATE]
    assert 1 <= rises <= log(1200)


@both
def test_the_declared_constant_counts_where_none_is_told(kind: str) -> None:
    name = "smoothness" if kind == "smooth" else "lipschitz"
    one, two = (KINDS[kind][1](dikin.Ball(3), 1.0, seed=2) for _ in range(2))
    for _ in range(30):
        loss = 0.5 * float(one.ask().point[0])
        two.ask()
        one.tell(one.rounds, loss)
        two.tell(two.rounds, loss, **{name: 1.0})
    assert one.certificate == two.certificate
    np.testing.assert_array_equal(one.center, two.center)


@pytest.mark.parametrize("told", [-1e-9, 1.01, float("nan"), "0", True, [1.0]])
def test_a_constant_that_is_none_is_refused(told: Any) -> None:
    learner = dikin.AdaptiveSmooth(dikin.Ball(2), 1.0, seed=1)
    query = learner.ask()
    with pytest.raises(CurvatureError):
        learner.tell(query, 0.1, smoothness=told)
    assert learner.rounds == 0
    learner.tell(query, 0.1, smoothness=1.0)


def test_what_was_not_declared_or_contradicts_the_curvature_is_refused() -> None:
    smooth = dikin.AdaptiveSmooth(dikin.Ball(2), 1.0, seed=1)
    with pytest.raises(CurvatureError, match="none was declared"):
        smooth.tell(smooth.ask(), 0.1, lipschitz=0.5)
    with pytest.raises(CurvatureError, match="less smooth than it is strongly convex"):
        smooth.tell(smooth.ask(), 0.1, 0.5, smoothness=0.4)
    plain = dikin.FKM(dikin.Ball(2), 100, seed=1)
    with pytest.raises(CurvatureError, match="FKM does not use"):
        plain.tell(plain.ask(), 0.1, smoothness=0.4)


def test_overstated_curvature_adds_half_its_sum_times_the_square_of_the_diameter() -> None:
    learner = dikin.AdaptiveSmooth(dikin.Ball(2, 3.0), 1.0, loss_range=(0, 20), seed=1)
    learner.tell(learner.ask(), 1.0, 0.25)
    assert learner.certificate_in_doubt(0.0) == learner.certificate
    assert learner.certificate_in_doubt(0.2) == pytest.approx(learner.certificate + 0.1 * 36)
