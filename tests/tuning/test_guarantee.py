"""The certificate of whatever was used: each formula by a second derivation."""

from itertools import product
from math import inf, log, pi, sqrt
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog, minimize_scalar

import dikin
from dikin.errors import ParameterError
from dikin.tuning import guarantee
from dikin.tuning.guarantee import Certificate, Floor, Play, exploring_price, play
from dikin.tuning.sets import Cube, Cut
from dikin.vectors import Array

M = np.array([[0.3, 0.2], [-0.1, 0.25]])
Y = np.array([0.1, -0.2])
Q = np.array([0.7, -1.1])
A = np.array([[1.0, 0.4], [0.4, 2.0]])
CIRCLE = [np.array([np.cos(t), np.sin(t)]) for t in 2 * pi * np.arange(24) / 24]
"""Means over it are exact for polynomials of degree below 24."""
NONE = np.zeros(2)
POLYGON = Cut(np.array([[1.0, 0], [-1, 0], [0, 1], [0, -1], [1, 1]]), np.array([1.0, 1, 1, 1, 1.2]))
SETS = [Cube(2), POLYGON]


def cubic(x: Array) -> float:
    return float(x[0] ** 3 - 2 * x[0] * x[1] + x[1] ** 2 + 0.3 * x[1])


def cubic_slope(x: Array) -> Array:
    return np.array([3 * x[0] ** 2 - 2 * x[1], -2 * x[0] + 2 * x[1] + 0.3])


def unit(rng: np.random.Generator, d: int) -> Array:
    s = rng.normal(size=d)
    return np.asarray(s / np.linalg.norm(s))


def row_of(slope: Array) -> Play:
    return Play(NONE, NONE, 0.0, 0.0, slope, 0.0)


def test_mean_of_estimates_is_the_mean_slope_inside_the_ellipse() -> None:
    found = np.zeros(2)
    for s in CIRCLE:
        row = play(Y, M, s, 0.4, Q, 0.5 * float(M @ s @ A @ M @ s))
        found += row.estimate(cubic(Y + M @ s)) / len(CIRCLE)
    radii, weights = np.polynomial.legendre.leggauss(8)
    inside = sum(
        w * r * cubic_slope(Y + r * M @ s) / len(CIRCLE)
        for r, w in zip((radii + 1) / 2, weights, strict=True)
        for s in CIRCLE
    )
    assert found == pytest.approx(inside, abs=1e-12)


@pytest.mark.parametrize("d", [1, 2, 5])
def test_price_is_an_integral_over_the_ball(d: int) -> None:
    # (d+1) times the integral of r^d phi'(r), for a bowl and for a cone that stands at the centre
    trace, r = 0.37, np.linspace(0, 1, 100_001)
    bowl = (d + 1) * np.trapezoid(r**d * 1.7 * r * trace / d, r)
    cone = (d + 1) * np.trapezoid(r**d * 0.9 * sqrt(trace / d), r)
    assert exploring_price(d, trace, 1.7, inf) == pytest.approx(bowl, rel=1e-8)
    assert exploring_price(d, trace, inf, 0.9) == pytest.approx(cone, rel=1e-8)
    assert exploring_price(d, trace, 1.7, 0.9) == pytest.approx(min(bowl, cone), rel=1e-8)


def test_a_round_costs_no_more_than_its_bound() -> None:
    # against every point of a grid, for a bowl of smoothness 2 and the exact mean over the circle
    def value(x: Array) -> float:
        return float(x[0] ** 2 + 0.2 * x[1] ** 2)

    rows = [play(Y, M, s, 0.3, Q) for s in CIRCLE]
    values = [value(Y + M @ s) for s in CIRCLE]
    g = np.mean([r.estimate(v) for r, v in zip(rows, values, strict=True)], axis=0)
    a = exploring_price(2, rows[0].trace, 2.0, inf)
    slack = [
        g @ (Y - u) + a - np.mean(values) + value(u)
        for u in map(np.array, product(np.linspace(-1, 1, 41), repeat=2))
    ]
    assert 0 <= min(slack) < a


def test_least_of_a_linear_function_by_other_means() -> None:
    g = np.array([0.3, -0.7])
    corners = [float(g @ np.array(c)) for c in product((-1.0, 1.0), repeat=2)]
    found = linprog(g, A_ub=POLYGON.rows, b_ub=POLYGON.ends, bounds=(None, None)).fun
    for space, least in ((Cube(2), min(corners)), (POLYGON, found)):
        certificate = Certificate(space, smoothness=0.0)
        certificate.add(row_of(g), 0.0)
        assert certificate.value == pytest.approx(-least, rel=1e-9)


def certified(rng: np.random.Generator, space: Cube | Cut) -> tuple[float, float]:
    """Certificate and regret of linear losses, with late and missing answers, chosen by spite."""
    certificate, open_rows = Certificate(space, smoothness=0.0), list[tuple[Play, Array, float]]()
    d, total, slopes, y = space.d, 0.0, np.zeros(space.d), np.zeros(space.d)
    for t in range(30):
        slope = np.where(y > 0, 1.0, -1.0) * rng.uniform(0.2, 1.0, d)
        factor = np.linalg.cholesky(np.linalg.inv(space.barrier(y)[1] + 3 * np.eye(d)))
        s = unit(rng, d)
        row = play(y, factor, s, 2.0 * y.sum(), 3.0 * y, float((s @ s) * t))
        open_rows.append((row, slope, float(slope @ (y + factor @ s)) + rng.normal()))
        if t % 3 == 2:
            for k in rng.permutation(len(open_rows))[: len(open_rows) - 1]:  # one never comes
                row, slope, value = open_rows[k]
                certificate.add(row, value)
                total += value
                slopes += slope
                y = space.inside(-0.5 * np.sign(row.estimate(value)), 0.8)
            open_rows = []
    return certificate.value, total + space.support(-slopes)


@pytest.mark.parametrize("space", SETS, ids=["cube", "polygon"])
def test_certificate_is_above_the_regret_in_the_mean(space: Cube | Cut) -> None:
    rng, games = np.random.default_rng(3), 150
    found = np.array([np.subtract(*certified(rng, space)) for _ in range(games)])
    assert found.mean() > -2 * found.std() / sqrt(games)


def test_contexts_have_a_least_each() -> None:
    g = np.array([1.0, -2.0])
    split = Certificate(Cube(2), smoothness=0.0, cells=2)
    split.add(row_of(g), 0.0, np.array([1.0, 0.0]))
    split.add(row_of(-g), 0.0, np.array([0.0, 1.0]))
    assert split.value == pytest.approx(6.0)


def test_failures_and_rounds_that_were_not_drawn() -> None:
    row = play(Y, M, CIRCLE[3], 0.2, Q, failed=5.0)
    one, two = Certificate(Cube(2), smoothness=1.0), Certificate(Cube(2), smoothness=1.0)
    one.add(row, None)
    two.add(row, 5.0)
    assert one.value == two.value
    ranged = Certificate(Cube(2), smoothness=1.0, width=2.0)
    ranged.add(row, 0.7)
    before = ranged.value
    ranged.add_other()
    assert ranged.value == pytest.approx(before + 2.0)
    one.add_other()
    assert np.isnan(one.value)
    assert np.isnan(Certificate(Cube(2)).value)
    for constants in ({}, {"smoothness": 1.0, "lipschitz": 1.0}):
        with pytest.raises(ParameterError, match="one of smoothness"):
            one.certificate_for(**constants)


@pytest.mark.parametrize("space", SETS, ids=["cube", "polygon"])
def test_ellipsoids_lie_inside_and_are_not_too_small(space: Cube | Cut) -> None:
    rng, d = np.random.default_rng(5), space.d
    floor = Floor(space, 1.0, inf, inf)
    for t in range(60):
        thin = unit(rng, d)
        wanted = 10.0 ** rng.uniform(-6, 3) * np.outer(thin, thin)
        y, factor = floor.shape(space.inside(unit(rng, d) * 9.0, 0.999), wanted)
        hessian = space.barrier(y)[1]
        assert np.linalg.eigvalsh(factor.T @ hessian @ factor)[-1] <= 0.998 + 1e-9
        for _ in range(5):
            x = y + factor @ unit(rng, d)
            assert np.allclose(space.inside(x, 1.0), x)
        if t >= d + 6:
            flat = (2.0 + floor.rate * floor.total) / (guarantee.PHI * space.radius) ** 2
            least = np.linalg.inv(hessian / guarantee.WALL**2 + flat * np.eye(d))
            assert np.linalg.eigvalsh(factor @ factor.T - least)[0] > -1e-9
        floor.learn(3.0 * rng.normal())


def test_rules_of_the_virtual_learner_by_a_search() -> None:
    rng, d = np.random.default_rng(4), 3
    floor = Floor(Cube(d), 3.0, inf, 0.4)
    for _ in range(200):
        before, cost = floor.total, floor.exploring
        floor.learn(0.1 * rng.normal())
        added, cost = floor.total - before, floor.exploring - cost
        if before:
            assert added * (before + added) == pytest.approx(4 * cost * before)
    S, h, n = floor.total, floor.stiff, floor.rounds + 2
    square = d * d * max(floor.square, (0.4 / 8) ** 2)

    def price(rate: float) -> float:  # lengths in units of the radius: 3 times the smoothness
        return 9.0 / (rate * S + h) + 0.5 * rate * square

    best = minimize_scalar(price, bounds=(0, 10), method="bounded", options={"xatol": 1e-12}).x
    wanted = 0.5 * sqrt(best**2 + 2 * d * log(n) / (n * square))
    assert floor.rate == pytest.approx(min(wanted, 0.9 / (d * 0.4)), rel=1e-4)


@pytest.mark.parametrize("constants", [(inf, 1.0), (3.0, inf)])
@pytest.mark.parametrize("rare", [0.0, 1e-300, 1.0])
def test_values_that_are_mostly_the_same_leave_exploring_finite(
    constants: tuple[float, float], rare: float
) -> None:
    floor = Floor(Cube(2), *constants, inf)
    for t in range(300):
        floor.learn(rare * (t % 60 == 40))
        y, factor = floor.shape(Y, M)
        assert np.isfinite([*y, *factor.ravel(), floor.rate]).all()
    assert np.linalg.det(factor) > 1e-6
    assert (floor.rounds > 0) == (rare == 1.0)


def bowl(tuner: dikin.Tuner, rounds: int, seed: int, at_once: int = 1) -> float:
    """Return the regret of a bowl of smoothness 2 on a high level, answers in any order."""
    rng, regret = np.random.default_rng(seed), 0.0
    for _ in range(rounds // at_once):
        trials = tuner.ask(n=at_once)
        for k in rng.permutation(at_once):
            x = trials[k].params
            value = (x["a"] - 0.3) ** 2 + (x["b"] - 0.6) ** 2
            regret += value
            tuner.tell(trials[k], 5000.0 + value + 0.1 * rng.normal())
    return regret


UNIT = {"a": dikin.Real(0, 1), "b": dikin.Real(0, 1)}


@pytest.mark.parametrize("at_once", [1, 8])
def test_the_certificate_of_a_tuner_is_above_its_regret_and_of_use(at_once: int) -> None:
    # In expectation; here it is 5 to 20 times the regret, and far below the trivial 400 * 0.65.
    for seed in range(4):
        tuner = dikin.Tuner(UNIT, smoothness=2.0, seed=seed)
        regret = bowl(tuner, 400, seed, at_once)
        assert regret < tuner.certificate < 200.0
        assert tuner.certificate_for(smoothness=2.0) == pytest.approx(tuner.certificate)
        assert tuner.certificate_for(smoothness=4.0) > tuner.certificate


def test_first_forecast_is_the_second_answer() -> None:
    tuner = dikin.Tuner(UNIT, smoothness=2.0, seed=1)
    trials = tuner.ask(n=3)
    kept: list[Any] = [trial.play for trial in trials]
    for trial, value in zip(trials, (5000.0, 5001.0, 5002.0), strict=True):
        tuner.tell(trial, value)
    assert [np.isnan(each.expected) for each in kept] == [True] * 3
    tuner.tell(tuner.ask(), 5003.0)
    wanted = sum(-each.covector for each in kept)  # each was one below the next
    last = tuner._certificate.estimates[0] - wanted
    assert tuner._certificate.rounds in (3, 4)
    assert np.linalg.norm(last) < 1e3 * np.linalg.norm(wanted)


def test_it_is_not_known_with_whole_numbers_choices_and_limits() -> None:
    for parameters, more in (
        ({"n": dikin.Integer(1, 100)}, {}),
        ({"c": dikin.Choice(["a", "b"]), "x": dikin.Real(0, 1)}, {}),
        ({"x": dikin.Real(0, 1)}, {"limits": ["m <= 1"]}),
    ):
        tuner = dikin.Tuner(parameters, lipschitz=1.0, seed=1, **more)
        for k in range(5):
            tuner.tell(tuner.ask(), float(k), metrics={"m": 0.0})
        assert np.isnan(tuner.certificate)
        assert np.isnan(tuner.certificate_for(lipschitz=1.0))
