"""The certificate of whatever was played, and the guard: each formula by a second derivation.

Mutants that these tests find: M^-1 s for M^-T s; the slope not added; d left out; (d+1)/(d+2) left
out; the trace of M for that of MM'; a late answer with today's centre; a failure as 0; the support
of +G; the tangent left out of the cost; a floor that is not cut at the walls; a return at once; the
covector of `Predictive` without its shift; answers of an earlier stretch counted in a later one.
"""

from itertools import pairwise, product
from math import log, pi, sqrt

import numpy as np
import pytest
from scipy.optimize import linprog, minimize_scalar

from dikin import Ball, Box, Polytope, Product, Simplex
from dikin.domains.base import Array, Domain
from dikin.errors import ParameterError
from evidence import guard as guarantee
from evidence.guard import (
    Certificate,
    Guard,
    Play,
    Stretch,
    Virtual,
    exploring_price,
    play,
    retreated,
    within,
)

M = np.array([[0.3, 0.2], [-0.1, 0.25]])
Y = np.array([0.1, -0.2])
Q = np.array([0.7, -1.1])
A = np.array([[1.0, 0.4], [0.4, 2.0]])
CIRCLE = [np.array([np.cos(t), np.sin(t)]) for t in 2 * pi * np.arange(24) / 24]
"""Means over it are exact for polynomials of degree below 24."""
NONE = np.zeros(2)


def cubic(x: Array) -> float:
    return float(x[0] ** 3 - 2 * x[0] * x[1] + x[1] ** 2 + 0.3 * x[1])


def cubic_slope(x: Array) -> Array:
    return np.array([3 * x[0] ** 2 - 2 * x[1], -2 * x[0] + 2 * x[1] + 0.3])


def unit(rng: np.random.Generator, d: int) -> Array:
    s = rng.normal(size=d)
    return np.asarray(s / np.linalg.norm(s))


def polygon() -> Polytope:
    return Polytope([[1, 0], [-1, 0], [0, 1], [0, -1], [1, 1]], [1, 1, 1, 1, 1.2])


def domains() -> list[Domain]:
    return [Box([-1, -1], [1, 1]), Ball(2), Simplex(3), polygon(),
            Product(Box([-1], [1]), Simplex(3))]  # fmt: skip


# --- the estimate and its price ------------------------------------------------------------------


def test_mean_of_estimates_is_the_mean_slope_inside_the_ellipse() -> None:
    found = np.zeros(2)
    for s in CIRCLE:
        row = play(Y, M, s, 0.4, Q, 0.5 * float(M @ s @ A @ M @ s))
        found += row.estimate(cubic(Y + M @ s) - row.expected) / len(CIRCLE)
    radii, weights = np.polynomial.legendre.leggauss(8)
    inside = sum(
        w * r * cubic_slope(Y + r * M @ s) / len(CIRCLE)
        for r, w in zip((radii + 1) / 2, weights, strict=True)
        for s in CIRCLE
    )
    assert found == pytest.approx(inside, abs=1e-12)


@pytest.mark.parametrize("d", [1, 2, 5])
def test_price_is_that_of_proposition_29(d: int) -> None:
    # (d+1) times the integral of r^d phi'(r), for a bowl and for a cone that stands at the centre
    trace, r = 0.37, np.linspace(0, 1, 100_001)
    bowl = (d + 1) * np.trapezoid(r**d * 1.7 * r * trace / d, r)
    cone = (d + 1) * np.trapezoid(r**d * 0.9 * sqrt(trace / d), r)
    inf = float("inf")
    assert exploring_price(d, trace, 1.7, inf) == pytest.approx(bowl, rel=1e-8)
    assert exploring_price(d, trace, inf, 0.9) == pytest.approx(cone, rel=1e-8)
    assert exploring_price(d, trace, 1.7, 0.9) == pytest.approx(min(bowl, cone), rel=1e-8)


def test_a_round_costs_no_more_than_it_says() -> None:
    # against every point of a grid, for a bowl of smoothness 2 and the exact mean over the circle
    def value(x: Array) -> float:
        return float(x[0] ** 2 + 0.2 * x[1] ** 2)

    rows = [play(Y, M, s, 0.3, Q) for s in CIRCLE]
    told = [value(Y + M @ s) for s in CIRCLE]
    g = np.mean([r.estimate(v - r.expected) for r, v in zip(rows, told, strict=True)], axis=0)
    a = exploring_price(2, rows[0].trace, 2.0, float("inf"))
    slack = [g @ (Y - u) + a - np.mean(told) + value(u)
             for u in map(np.array, product(np.linspace(-1, 1, 41), repeat=2))]  # fmt: skip
    assert 0 <= min(slack) < a


# --- the certificate -----------------------------------------------------------------------------


def test_least_of_a_linear_function_by_other_means() -> None:
    g = np.array([0.3, -0.7])
    corners = [float(g @ np.array(c)) for c in product((-1.0, 1.0), repeat=2)]
    found = linprog(g, A_ub=polygon().A, b_ub=polygon().slack, bounds=(None, None)).fun
    for domain, least in ((Box([-1, -1], [1, 1]), min(corners)), (polygon(), found)):
        row = Play(NONE, NONE, 0.0, 0.0, g)
        certificate = Certificate(domain, smoothness=0.0)
        certificate.add(row, 0.0)
        assert certificate.value == pytest.approx(-least, rel=1e-9)
    simplex = Simplex(3)
    vertices = [float(g @ simplex.inward(e - simplex.center)) for e in np.eye(3)]
    assert -simplex.support(-g) == pytest.approx(min(vertices), rel=1e-9)
    both, h = Product(Box([-1], [1]), simplex), np.array([0.5, *g])
    assert -both.support(-h) == pytest.approx(-0.5 + min(vertices), rel=1e-9)


def certified(rng: np.random.Generator, domain: Domain, rounds: int = 30) -> tuple[float, float]:
    """Certificate and regret of linear losses, with late and missing answers, chosen by spite.

    The centre follows the last estimate; the next slope turns against where the centre is; the
    forecast is absurd.
    """
    certificate, open_rows = Certificate(domain, smoothness=0.0), list[tuple[Play, Array, float]]()
    d, total, slopes, y = domain.dim, 0.0, np.zeros(domain.dim), np.zeros(domain.dim)
    for t in range(rounds):
        slope = np.where(y > 0, 1.0, -1.0) * rng.uniform(0.2, 1.0, d)
        factor = np.linalg.cholesky(np.linalg.inv(domain.hessian(y) + 3 * np.eye(d)))
        s = unit(rng, d)
        row = play(y, factor, s, 2.0 * y.sum(), 3.0 * y, float((s @ s) * t))
        open_rows.append((row, slope, float(slope @ (y + factor @ s)) + rng.normal()))
        if t % 3 == 2:
            for k in rng.permutation(len(open_rows))[: len(open_rows) - 1]:  # one never comes
                row, slope, value = open_rows[k]
                certificate.add(row, value)
                total += value
                slopes += slope
                y = retreated(domain, -0.5 * domain.inradius * np.sign(row.estimate(value)), 0.2)
            open_rows = []
    return certificate.value, total + domain.support(-slopes)


@pytest.mark.parametrize("domain", [Box([-1, -1], [1, 1]), polygon()], ids=["box", "polygon"])
def test_certificate_is_above_the_regret_in_the_mean(domain: Domain) -> None:
    rng, games = np.random.default_rng(3), 150
    found = np.array([np.subtract(*certified(rng, domain)) for _ in range(games)])
    assert found.mean() > -2 * found.std() / sqrt(games)


def test_order_of_answers_does_not_matter_and_rows_keep_their_centres() -> None:
    rng, domain = np.random.default_rng(1), Box([-1, -1], [1, 1])
    rows = [(play(rng.uniform(-0.3, 0.3, 2), M, unit(rng, 2), 0.0, Q), rng.normal())
            for _ in range(9)]  # fmt: skip
    one, two = Certificate(domain), Certificate(domain)
    for row, value in rows:
        one.add(row, value)
    for k in rng.permutation(9):
        two.add(*rows[k])
    assert one.certificate_for(smoothness=1.0) == pytest.approx(two.certificate_for(smoothness=1.0))
    assert one.certificate_for(lipschitz=2.0) == pytest.approx(
        2.0 * 9 * sqrt((M * M).sum() / 2) + one.certificate_for(smoothness=0.0))  # fmt: skip


def test_contexts_have_a_least_each() -> None:
    domain, g = Box([-1, -1], [1, 1]), np.array([1.0, -2.0])
    split = Certificate(domain, smoothness=0.0, cells=2)
    split.add(Play(NONE, NONE, 0.0, 0.0, g), 0.0, np.array([1.0, 0.0]))
    split.add(Play(NONE, NONE, 0.0, 0.0, -g), 0.0, np.array([0.0, 1.0]))
    assert split.value == pytest.approx(6.0)


def test_failures_others_and_ranges() -> None:
    domain = Box([-1, -1], [1, 1])
    row = play(Y, M, CIRCLE[3], 0.2, Q)._replace(failed=5.0)
    one, two = Certificate(domain, smoothness=1.0), Certificate(domain, smoothness=1.0)
    one.add(row, None)
    two.add(row, 5.0)
    assert one.value == two.value
    ranged = Certificate(domain, smoothness=1.0, value_range=(-1.0, 1.0))
    ranged.add(row, 77.0)
    before = ranged.value
    ranged.add_other()
    assert ranged.value == pytest.approx(before + 2.0)
    one.add_other()
    assert np.isnan(one.value)
    assert np.isnan(Certificate(domain).value)
    with pytest.raises(ParameterError, match="one of smoothness"):
        one.certificate_for()
    with pytest.raises(ParameterError, match="one of smoothness"):
        one.certificate_for(smoothness=1.0, lipschitz=1.0)


# --- where it is played --------------------------------------------------------------------------


@pytest.mark.parametrize("domain", domains(), ids=lambda domain: domain.kind)
def test_ellipsoids_lie_inside_and_are_not_too_small(domain: Domain) -> None:
    rng, d = np.random.default_rng(5), domain.dim
    guard = Guard(domain)
    guard.promise = 1e9
    for t in range(60):
        way = unit(rng, d)
        centre = way * 0.999 / domain.gauge(way)
        thin = unit(rng, d)
        y, factor = guard.shape(centre, 10.0 ** rng.uniform(-12, 6) * np.outer(thin, thin))
        hessian = domain.hessian(y)
        assert np.linalg.eigvalsh(factor.T @ hessian @ factor)[-1] <= guarantee.INSIDE + 1e-9
        for _ in range(5):
            assert domain.gauge(y + factor @ unit(rng, d)) < 1.0
        if t >= d + 6:
            flat = (2.0 + guard.virtual.shift) / (guarantee.PHI * domain.radius) ** 2
            floor = np.linalg.inv(hessian / guarantee.WALL**2 + flat * np.eye(d))
            assert np.linalg.eigvalsh(factor @ factor.T - floor)[0] > -1e-9
        guard.virtual.learn(rng.normal(), 3.0)


@pytest.mark.parametrize("domain", domains(), ids=lambda domain: domain.kind)
def test_retreat_leaves_the_inside_alone(domain: Domain) -> None:
    way = unit(np.random.default_rng(2), domain.dim)
    inside, wall = way * 0.5 / domain.gauge(way), way * 0.9999 / domain.gauge(way)
    assert retreated(domain, inside, 0.1) == pytest.approx(inside)
    assert domain.gauge(retreated(domain, wall, 0.1)) <= 0.95 + 1e-9
    assert np.linalg.norm(retreated(domain, wall, 0.01) - wall) < 0.05 * domain.radius


def test_cut_leaves_what_is_inside() -> None:
    assert within(0.1 * np.eye(2), np.eye(2), 0.5) == pytest.approx(0.1 * np.eye(2))
    assert within(9.0 * np.eye(2), np.eye(2), 0.5) == pytest.approx(0.5 * np.eye(2))


# --- the switch ----------------------------------------------------------------------------------


def test_cost_is_above_the_doubted_cost_at_every_point() -> None:
    rng, domain = np.random.default_rng(8), Box([-1, -1], [1, 1])
    for _ in range(20):
        stretch, rows = Stretch(2), list[tuple[Play, float, float]]()
        for _ in range(rng.integers(1, 30)):
            row = play(rng.uniform(-0.5, 0.5, 2), M, unit(rng, 2), 0.0, rng.normal(size=2))
            rows.append((row, rng.normal(), rng.uniform()))
            stretch.add(*rows[-1])
        cost = stretch.cost(domain)
        for u in map(np.array, product(np.linspace(-1, 1, 21), repeat=2)):
            linear = sum(row.estimate(r) @ (row.centre - u) + a for row, r, a in rows)
            noise = sum((r * row.covector @ (row.centre - u)) ** 2 for row, r, _ in rows)
            assert cost >= linear - guarantee.DOUBT * sqrt(noise) - 1e-9


def test_rules_of_the_virtual_learner_by_a_search() -> None:
    rng, d, level = np.random.default_rng(4), 3, 0.4
    virtual = Virtual(Box([-1] * 3, [1] * 3), 3.0, float("inf"), float("inf"))
    for _ in range(200):
        before, cost = virtual.total, virtual.exploring
        virtual.learn(0.1 * rng.normal(), level)
        added, cost = virtual.total - before, virtual.exploring - cost
        if before:
            assert added * (before + added) == pytest.approx(4 * cost * before)
    S, h, n = virtual.total, virtual.stiff, virtual.rounds + 2
    square = d * d * max(virtual.square, (level / 8) ** 2)

    def price(rate: float) -> float:  # lengths in units of the radius: 3 times the smoothness
        return 9.0 / (rate * S + h) + 0.5 * rate * square

    best = minimize_scalar(price, bounds=(0, 10), method="bounded", options={"xatol": 1e-12}).x
    wanted = 0.5 * sqrt(best**2 + 2 * virtual.nu * log(n) / (n * square))
    assert virtual.rate == pytest.approx(min(wanted, 0.9 / (d * level)), rel=1e-4)


def test_promise_is_of_order_two_thirds_in_a_range() -> None:
    # surprises as large as the range, round for round: what Theorem 31 is capped by
    promises = []
    for rounds in (10_000, 80_000):
        virtual = Virtual(Box([-1, -1], [1, 1]), 1.0, float("inf"), 1.0)
        for _ in range(rounds):
            virtual.learn(1.0, 1.0)
        promises.append(virtual.promise)
    assert log(promises[1] / promises[0]) / log(8) < 0.7


def lie(guard: Guard, rounds: int, rng: np.random.Generator) -> list[bool]:
    """Play a model that stands in the wrong corner of a linear loss; who played."""
    domain, played = guard.domain, []
    for _ in range(rounds):
        played.append(guard.model_plays)
        if guard.model_plays:
            y, factor = guard.shape(np.full(2, 0.9), 1e-4 * np.eye(2))
            s = unit(rng, 2)
            x, row = y + factor @ s, guard.begin(y, factor, s, 0.0, np.zeros(2), np.zeros((2, 2)))
        else:
            x, row = guard.ask()
        assert domain.gauge(x) < 1.0
        guard.tell(row, float(x.sum()) + 0.05 * rng.normal())
    return played


def test_a_model_that_misleads_is_replaced_and_returns_ever_later() -> None:
    guard = Guard(Box([-1, -1], [1, 1]), seed=1)
    played = lie(guard, 3000, np.random.default_rng(1))
    assert guard.switches >= 1
    assert sum(played[1000:]) < 100
    returns = [t for t, (one, two) in enumerate(pairwise(played)) if two and not one]
    assert len(returns) + 1 <= 1 + log(guard.promise) / log(guarantee.RETURN) + 5
    assert all(two > 1.5 * one for one, two in pairwise(returns))


def test_answers_of_an_earlier_stretch_do_not_count_in_a_later_one() -> None:
    guard = Guard(Box([-1, -1], [1, 1]), seed=1)
    y, factor = guard.shape(np.zeros(2), 0.01 * np.eye(2))
    late = guard.begin(y, factor, CIRCLE[1], 0.0, NONE, np.zeros((2, 2)))
    lie(guard, 400, np.random.default_rng(1))
    guard.model_plays, guard.stretch = True, Stretch(2)
    rounds = guard.certificate.rounds
    guard.tell(late, 50.0)
    assert not guard.stretch.linear.any()
    assert guard.certificate.rounds == rounds + 1


def test_the_first_forecast_is_the_second_answer() -> None:
    # a level of 5,000 is not taken for a slope; many may be open before anything is known
    guard, rng = Guard(Box([-1, -1], [1, 1])), np.random.default_rng(3)
    rows = []
    for _ in range(3):
        y, factor = guard.shape(np.zeros(2), 0.01 * np.eye(2))
        rows.append(guard.begin(y, factor, unit(rng, 2), 0.0, NONE, np.zeros((2, 2))))
    for row, value in zip(rows, (5000.0, 5001.0, 5002.0), strict=True):
        guard.tell(row, value)
    total = -rows[0].covector + rows[1].covector + 1.5 * rows[2].covector
    assert guard.certificate.estimates[0] == pytest.approx(total)
    assert guard.certificate.rounds == 3
    assert Guard(Box([-1, -1], [1, 1]), value_range=(1.0, 3.0)).begin(
        Y, M, CIRCLE[1], 7.0, Q, A).expected == 2.0  # fmt: skip


@pytest.mark.parametrize("domain", [Box([-1, -1], [1, 1]), polygon(),
                                    Product(Box([-1], [1]), Simplex(3))],
                         ids=["box", "polygon", "product"])  # fmt: skip
def test_rows_of_predictive_give_its_own_certificate(domain: Domain) -> None:
    rng = np.random.default_rng(6)
    guard = Guard(domain, value_range=(-2.0, 2.0), seed=2)
    guard.values = [-1e-9, 0.0, 1e-9]  # the middle of the range is what it begins with
    guard.model_plays, guard.until, guard.fallback = False, float("inf"), guard._fallback()
    for _ in range(60):
        x, row = guard.ask()
        guard.tell(row, float(0.5 * x @ x) + 0.1 * rng.normal())
    own = guard.fallback.certificate_for(lipschitz=0.0)
    assert guard.certificate.certificate_for(lipschitz=0.0) == pytest.approx(own, rel=1e-5)
