"""How `Predictive` chooses lambda, the rate and the level: closed forms, budgets, units."""

from collections.abc import Callable, Iterator
from math import inf, isinf, log, sqrt
from typing import Any

import numpy as np
import pytest

import dikin
from dikin.learners import predictive_schedule as schedule
from dikin.learners.predictive_schedule import (
    CLIPPED,
    CURVATURE,
    EXPLORING,
    FACTOR,
    LEVEL,
    MEAN_SQUARE,
    RATE,
    RATE_CHANGES,
    SIGMA,
    STEEP_FACTOR,
    STEP,
    TOP,
    expectation,
)
from learners.predictive_games import hostile
from paper.charts import holds
from reference.barriers import Array

DISC, DIM, NU = dikin.Ball(2), 2, 1.0


class ScheduleReplay:
    """A game, with a second computation of what it is tuned by."""

    def __init__(self, memory: float | None = None, seed: int = 0, **constant: float) -> None:
        self.learner = dikin.Predictive(
            DISC, loss_range=(-1, 1), memory=memory, seed=seed, **constant
        )
        self.beta, self.lipschitz = constant.get("smoothness"), constant.get("lipschitz")
        self.memory = memory or np.inf
        self.keep = 1 - 1 / self.memory
        self.rounds = 0
        self.S = self.lam = self.exploring = self.changes = 0.0
        self.eta = 0.9 / (DIM * self.level)
        self.asked: list[tuple[Any, float, float, float, float]] = []

    @property
    def level(self) -> float:
        return float(self.learner._state.numbers[LEVEL])

    def ask(self) -> None:
        y, shift = self.learner.center, self.eta * self.S
        room = 1 - float(y @ y)
        hessian = (2 / room + shift) * np.eye(DIM) + 4 / room**2 * np.outer(y, y)
        tau = float(np.trace(np.linalg.inv(hessian)))
        expected = float(expectation(self.learner._kernel, self.learner._state.numbers))
        self.asked.append((self.learner.ask(), tau, shift, expected, self.level))

    def tell(self, slope: Array, noise: float, sigma: float) -> None:
        """Answer the query that has waited longest, and compute what follows."""
        query, tau, shift, expected, level = self.asked.pop(0)
        value = float(slope @ query.point) + noise
        self.learner.tell(query, value, sigma)
        self.rounds += 1
        self.add(self.price(tau), tau, sigma)
        self.move(DIM / tau - shift, abs(value - expected) > level)

    def price(self, tau: float) -> float:
        if self.beta is not None:
            return self.beta / 2 * (tau / DIM + tau / (DIM + 2))
        return self.lipschitz * sqrt(tau / DIM)

    def add(self, price: float, tau: float, sigma: float) -> None:
        """lambda S_t = 4 a S_{t-1}, or lambda sqrt(S_t) = 3 a sqrt(S_{t-1}): roots by numpy."""
        S = self.keep * self.S
        before = S or DIM / (self.eta * tau)
        if self.beta is not None:
            roots = np.roots([1.0, before + sigma, -4.0 * price * before])
        else:
            roots = np.roots([1.0, before + sigma, 0.0, -((3.0 * price) ** 2) * before])
        lam = float(max(root.real for root in roots if abs(root.imag) < 1e-12))
        self.S = S + sigma + lam
        self.lam = self.keep * self.lam + lam
        self.exploring = self.keep * self.exploring + price
        self.changes *= self.keep

    def move(self, stiff: float, clipped: bool) -> None:
        """The next rate."""
        before, after = self.eta, self.eta
        if clipped or self.rounds < 64 or self.rounds % 8 == 0:
            wanted = self.balance(stiff)
            after = wanted if max(wanted / before, before / wanted) >= 1.1 else before
            after = min(after, 0.9 / (DIM * self.level))
        self.eta = after
        if after != before and not self.affords(before, after):
            self.eta = before

    def balance(self, stiff: float) -> float:
        v = max(sqrt(self.learner._state.numbers[MEAN_SQUARE]), self.level / 8)
        span = max(min(self.rounds + 1, self.memory), 3)
        if self.beta is not None:
            bend, share = sqrt(2 * self.beta * self.S) / (DIM * v), 0.5
        else:
            bend, share = (self.lipschitz * self.S / (DIM * v) ** 2) ** (2 / 3), 0.8
        e = max(bend - stiff, 0.0) / self.S
        wanted = share * sqrt(e**2 + 2 * NU * log(span) / (span * (DIM * v) ** 2))
        return min(wanted, 0.9 / (DIM * self.level))

    def affords(self, before: float, after: float) -> bool:
        """Of a rise the barrier of what is remembered, gamma psi/eta, becomes psi/eta'."""
        cost = (self.keep / before - 1 / after) * self.barrier(after)
        others = self.exploring + self.lam / 2 + NU * log(self.rounds + 1) / after
        if cost > 0 and self.changes + cost > others:
            return False
        self.changes += cost
        return True

    def barrier(self, rate: float) -> float:
        """psi at the centre of that rate."""
        geometry = self.learner.geometry
        iterate = geometry.start()
        geometry.solve(self.learner._state.linear[: geometry.size], self.S, 1 / rate, iterate)
        u = geometry.vector(iterate)
        return -log(1 - float(u @ u))

    def compare(self) -> None:
        """To 1e-8: rounding of the inverted Hessians, fed back for some hundred rounds."""
        n = self.learner._state.numbers
        shipped = n[CURVATURE], n[CURVATURE] - n[SIGMA], n[RATE], n[RATE_CHANGES]
        own = self.S, self.lam, self.eta, self.changes
        np.testing.assert_allclose(shipped, own, rtol=1e-8, atol=1e-10)


def planned(**options: Any) -> Any:
    return dikin.Predictive(dikin.Ball(3), loss_range=(-1, 1), **options)._kernel


def balanced_rate(plan: Any, n: list[float], stiff: float) -> float:
    """The rate after many rounds, whatever it was before."""
    n[RATE] = 1e300
    return schedule.next_rate(plan, n, FOREVER, stiff)


FOREVER = 1e30
"""Rounds, of which each pays next to nothing of the barrier."""


def rates() -> Iterator[tuple[list[float], float]]:
    """States with S, V and a level that does not cap the rate; and h."""
    rng = np.random.default_rng(2)
    for _ in range(100):
        n = schedule.first_numbers()
        n[TOP], n[LEVEL] = 2.0, 1e-9
        n[CURVATURE], n[MEAN_SQUARE] = 10.0 ** rng.uniform(-3, 4), 10.0 ** rng.uniform(-4, 0)
        yield n, float(10.0 ** rng.uniform(-3, 3))


ETAS = np.exp(np.arange(-50, 25, 1e-3))
"""Steps of 0.1 percent: a smooth cost is known to 1e-6 of itself near its minimum."""


def priced(plan: Any, n: list[float], stiff: float) -> Callable[[Any], Any]:
    """The cost of a round at a rate: exploring, its share of the barrier, noise."""
    share = plan.nu * log(FOREVER) / FOREVER
    beta = plan.guess * n[TOP] if plan.smoothness < 0 else plan.smoothness

    def cost(eta: Any) -> Any:
        bend = eta * n[CURVATURE] + stiff
        curved = inf if isinf(beta) else beta / bend
        steep = inf if isinf(plan.lipschitz) else plan.lipschitz / np.sqrt(bend)
        return np.minimum(curved, steep) + share / eta + eta * plan.dim**2 * n[MEAN_SQUARE] / 2

    return cost


def forgets_the_barrier(plan: Any, n: list[float], stiff: float) -> float:
    return balanced_rate(plan, n, 0.0)


CONSTANTS: list[dict[str, float]] = [
    {},
    {"smoothness": 0.7},
    {"lipschitz": 0.4},
    {"smoothness": 0.7, "lipschitz": 0.4},
]


@pytest.mark.parametrize("constants", CONSTANTS, ids=str)
def test_the_rate_is_a_share_of_the_one_that_costs_least(constants: dict[str, float]) -> None:
    """Where the barrier's share is nothing. Near the boundary, h large, the least may be at 0."""
    plan = planned(**constants)

    def check(rate: Callable[..., float]) -> None:
        for n, stiff in rates():
            cost = priced(plan, n, stiff)
            eta = rate(plan, n, stiff)
            costs = [cost(eta / factor) for factor in (FACTOR, STEEP_FACTOR)]
            assert min(costs) <= (1 + 1e-6) * cost(ETAS).min()

    holds(check, balanced_rate, lambda *now: 2 * balanced_rate(*now), forgets_the_barrier)


def test_the_noise_is_an_eighth_of_the_level_at_least() -> None:
    rates = []
    for noise in (0.0, 0.05, 0.06):
        n = schedule.first_numbers()
        n[TOP], n[LEVEL], n[CURVATURE], n[MEAN_SQUARE] = 2.0, 0.4, 1e4, noise**2
        rates.append(balanced_rate(planned(smoothness=0.7), n, 1.0))
    assert rates[0] == pytest.approx(rates[1], rel=1e-12)
    assert rates[2] < rates[1]


def test_no_step_is_longer_than_a_share_of_the_level() -> None:
    """0.9/(d c) with a range and 0.9 (1 + 1/sqrt(d))/(d c) without one, after every round."""
    for options, cap in (({"loss_range": (-1, 1)}, 0.9), ({}, 0.9 + 0.9 / sqrt(2))):
        world = hostile("bursts", 600)
        learner = dikin.Predictive(world.domain, seed=3, **options)
        steps = []
        for t in range(600):
            query = learner.ask()
            learner.tell(query, *world.answer(t, query.point))
            steps.append(2 * learner._state.numbers[RATE] * learner._state.numbers[LEVEL])
        assert max(steps) == pytest.approx(cap)  # reached, in the first rounds


def swings(game: ScheduleReplay, late: int) -> None:
    """Slopes and noise that change, answered so many rounds late."""
    rng = np.random.default_rng(1)
    for t in range(300):
        while len(game.asked) <= late:
            game.ask()
        slope = np.array([0.45, -0.2]) if t < 100 else np.array([-0.2, 0.45])
        noise = (0.5 if t % 100 < 30 else 0.01) * rng.uniform(-1, 1)
        share = 0.2 if t < 60 else 1.0
        game.tell(share * slope, noise, 0.05 if t % 7 == 0 else 0.0)
        game.compare()


@pytest.mark.parametrize(
    ("memory", "late", "constant"),
    [(None, 3, {"smoothness": 0.3}), (60.0, 3, {"smoothness": 0.3}), (60.0, 0, {"lipschitz": 0.6})],
)
def test_lambda_and_the_rate_are_those_of_the_page(
    memory: float | None, late: int, constant: dict[str, float]
) -> None:
    """With late answers and with a memory: when the rate changes, what a rise costs."""
    swings(ScheduleReplay(memory, seed=3, **constant), late)


def budget(learner: Any, rounds: int, rate: float) -> tuple[float, float]:
    """The price of one clipped round, and what all of them may cost: as much as all else."""
    plan, n = learner._kernel, learner._state.numbers
    beta = n[TOP] * plan.guess if plan.smoothness < 0 else plan.smoothness
    each = 2 * plan.dim * min(n[TOP] + 2 * beta, 2 * plan.lipschitz)
    others = n[EXPLORING] + (n[CURVATURE] - n[SIGMA]) / 2 + plan.nu * log(rounds + 1) / rate
    return each, others


def check_budgets(game: str, options: dict[str, Any]) -> None:
    """In a known range the level doubles after clipping, and halves within its budget."""
    rounds, paid, most = 1000, 0.0, 0.0
    world = hostile(game, rounds)
    learner = dikin.Predictive(world.domain, seed=3, **options)
    for t in range(1, rounds + 1):
        before = learner._state.numbers.copy()
        query = learner.ask()
        learner.tell(query, *world.answer(t - 1, query.point))
        n = learner._state.numbers
        assert n[LEVEL] <= n[TOP] <= learner._kernel.widest
        assert n[LEVEL] / before[LEVEL] in (0.5, 1.0, 2.0)
        assert (n[CLIPPED] > before[CLIPPED]) == (n[LEVEL] > before[LEVEL])
        if n[LEVEL] < before[LEVEL]:
            each, most_for_all = budget(learner, t, before[RATE])
            paid = max(paid, most_for_all / each)
        assert n[CLIPPED] <= paid + 1e-9
        rate = n[RATE]
        ratio = rate / before[RATE]
        capped = ratio < 1 and rate == learner._kernel.cap / (learner._kernel.dim * n[LEVEL])
        assert ratio == 1 or capped or max(ratio, 1 / ratio) >= STEP * (1 - 1e-12)
        most = max(most, budget(learner, t, rate)[1])
        assert n[RATE_CHANGES] <= most


@pytest.mark.parametrize("game", ["bursts", "switches", "nothing, then linear"])
def test_level_and_rate_keep_their_budgets(game: str) -> None:
    for options in ({"smoothness": 0.3}, {}, {"lipschitz": 1.0}):
        check_budgets(game, options | {"loss_range": (-1, 1)})


@pytest.mark.parametrize(("game", "fold"), [("bursts", 1e9), ("nothing, then linear", 1e3)])
def test_a_larger_budget_is_noticed(
    game: str, fold: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of clipped rounds, and of rises of the rate."""
    right = schedule.budget
    monkeypatch.setattr(schedule, "budget", lambda *arguments: fold * right(*arguments))
    with pytest.raises(AssertionError):
        check_budgets(game, {"smoothness": 0.3, "loss_range": (-1, 1)})


def trace(learner: Any, scale: float = 1.0, offset: float = 0.0) -> tuple[Any, Any]:
    """All points that are played, and certificates in units of `scale`."""
    points, certificates = [], []
    for t in range(200):
        query = learner.ask()
        points.append(query.point)
        value = 0.3 * float((query.point - 0.2) @ (query.point - 0.2)) - 0.3 + 0.1 * np.sin(t)
        learner.tell(query, offset + scale * (value + 0.9 * (t % 50 == 49)))
        certificates.append(learner.certificate_for(lipschitz=0.0) / scale)
    return np.array(points), np.array(certificates)


@pytest.mark.parametrize("options", [{}, {"memory": 40.0, "start": [0.1, 0.6]}], ids=str)
@pytest.mark.parametrize(("scale", "offset"), [(1e-6, 0.0), (1e9, -20e9)])
def test_the_units_of_losses_do_not_matter(
    scale: float, offset: float, options: dict[str, Any]
) -> None:
    def made(scale: float, offset: float, ranged: bool) -> Any:
        known = {
            "smoothness": 0.6 * scale,
            "lipschitz": 2.0 * scale,
            "loss_range": (offset - 2 * scale, offset + 2 * scale),
        }
        return dikin.Predictive(DISC, **(known if ranged else {}), seed=1, **options)

    for ranged in (False, True):
        points, certificates = trace(made(1.0, 0.0, ranged))
        own = trace(made(scale, offset, ranged), scale, offset)
        # The rounding of a point in other units, fed back for 200 rounds.
        np.testing.assert_allclose(points, own[0], rtol=0, atol=1e-9)
        np.testing.assert_allclose(certificates, own[1], rtol=1e-7, atol=1e-7)
