"""Bowls, moving bowls, hostile games and shifted losses: what they declare, derived again."""

from __future__ import annotations

from itertools import pairwise
from math import pi
from typing import Any

import cvxpy
import numpy as np
import pytest

import dikin
from dikin.checks import environment as laws
from dikin.environments.hostile import KINDS
from dikin.errors import CheckFailedError, DikinError
from dikin.rng import stream

DISC = dikin.Ball(2)
PLATE = dikin.Box([0.0, -200.0], [1.0, 800.0])
TENT = dikin.Polytope([[-1, 0, 0], [0, -1, 0], [0, 0, -1], [1, 2, 3]], [0, 0, 0, 1])


def constraints(domain: Any, x: Any) -> list[Any]:
    """A domain in the words of a convex solver."""
    match domain:
        case dikin.Ball():
            return [cvxpy.norm(x) <= 1.0]
        case dikin.Box():
            return [x >= domain.lower, x <= domain.upper]
        case dikin.Simplex():
            return [x >= 0.0, cvxpy.sum(x) == 1.0]
        case dikin.Polytope():
            return [domain.A @ x <= domain.b]
    raise AssertionError(domain)


def total(environment: dikin.Environment, played: list[tuple[int, float]], x: Any) -> float:
    return sum(float(environment.kernel.value(t, chance, np.asarray(x))) for t, chance in played)


def play(environment: dikin.Environment, rounds: int) -> list[tuple[int, float]]:
    """Plays the centre; gives the rounds with their chances."""
    played = []
    for t in range(1, rounds + 1):
        played.append((t, laws._next_chance(environment)))
        environment.answer(environment.domain.center)
    return played


# --- best fixed points against a convex solver ----------------------------------------------------


def bowl(domain: Any, scales: Any = None) -> dikin.Environment:
    return dikin.Bowl(domain, 3, scales=scales)


GAMES = {
    "bowl, thin box": lambda: bowl(PLATE, [0.5, 500.0]),
    "bowl, simplex": lambda: bowl(dikin.Simplex(5)),
    "bowl, polytope": lambda: bowl(TENT),
    "circling": lambda: dikin.Circling(DISC, 300, 3),
    "jumping": lambda: dikin.Jumping(DISC, 40, 3),
    "jumping, line": lambda: dikin.Jumping(dikin.Box([-1.0], [1.0]), 40, 3),
    **{f"hostile, {k}": lambda k=k: dikin.Hostile(DISC, k, 130, 3) for k in KINDS},
    "hostile, simplex": lambda: dikin.Hostile(dikin.Simplex(4), "period", 130, 3),
}


def coefficients(environment: dikin.Environment, played: list[Any]) -> tuple[Any, Any, float]:
    """The sum of the losses as sum_i w_i x_i^2/2 + g.x + r, from finite differences.

    The losses are quadratics without products of entries: differences are exact but for rounding.
    Steps are taken in the user's unit vectors; the formulas of the losses do not mind a point
    outside.
    """
    center = environment.domain.center.ravel()
    size = environment.domain.inradius
    middle = total(environment, played, center)
    weights, slopes = [], []
    for unit in np.eye(center.size):
        above, below = (total(environment, played, center + s * size * unit) for s in (1, -1))
        weights.append((above + below - 2 * middle) / size**2)
        slopes.append((above - below) / (2 * size))
    w, g = np.array(weights), np.array(slopes)
    g = g - w * center
    return w, g, middle - float(w @ center**2) / 2 - float(g @ center)


@pytest.mark.parametrize("name", GAMES)
def test_the_best_fixed_point_is_a_convex_solvers(name: str) -> None:
    """To 1e-6 of the losses' range a round: the solver's own accuracy."""
    environment = GAMES[name]()
    played = play(environment, 130)
    w, g, rest = coefficients(environment, played)
    x = cvxpy.Variable(environment.domain.center.size)
    bowls = cvxpy.sum(cvxpy.multiply(np.maximum(w, 0.0), cvxpy.square(x)))
    problem = cvxpy.Problem(cvxpy.Minimize(bowls / 2 + g @ x), constraints(environment.domain, x))
    least = float(problem.solve(solver="CLARABEL")) + rest
    low, high = environment.loss_range
    point, suffered = environment.best()
    assert suffered == pytest.approx(least, abs=1e-6 * (high - low) * 130)
    assert total(environment, played, point) == pytest.approx(
        suffered, abs=1e-9 * (high - low) * 130
    )


# --- the moving minimum by brute force ------------------------------------------------------------


@pytest.mark.parametrize("name", ["circling", "jumping", "shifted"])
def test_the_moving_minimum_is_the_least_of_every_round(name: str) -> None:
    """Every round's least on a grid of the disc of 0.01: within 1e-4 of the losses' units."""
    calm = dikin.Circling(DISC, 60, 3) if name == "circling" else dikin.Jumping(DISC, 11, 3)
    environment = dikin.Shifted(calm, noise=0.2) if name == "shifted" else calm
    played = play(environment, 60)
    axis = np.linspace(-1, 1, 201)
    grid = np.stack([m.ravel() for m in np.meshgrid(axis, axis)], axis=1)
    grid = grid[(grid**2).sum(axis=1) <= 1.0]
    leasts = []
    for t, chance in played:
        rest = float(environment.kernel.value(t, chance, np.zeros(2)))
        # f(x) = f(0) + |x|^2/2 - x.theta, with theta from two more values.
        theta = np.array(
            [rest + 0.5 - float(environment.kernel.value(t, chance, unit)) for unit in np.eye(2)]
        )
        values = rest + (grid**2).sum(axis=1) / 2 - grid @ theta
        leasts.append(float(values.min()))
    brute = sum(leasts)
    assert environment.dynamic_total() <= brute <= environment.dynamic_total() + 60 * 1e-4
    assert environment.dynamic_total() < environment.best()[1] - 1.0, (
        "a fixed point does as well: no drift"
    )


def test_a_circle_closes_and_jumps_are_far() -> None:
    circle = dikin.Circling(DISC, 100, 3).kernel
    places = [circle.gradient(t, 0.0, np.zeros(2)) for t in range(1, 202)]
    np.testing.assert_allclose(places[0], places[100], atol=1e-12)
    assert (
        max(float(np.linalg.norm(a - b)) for a, b in pairwise(places)) < 0.8 * 2 * pi / 100 * 1.01
    )
    jumps = dikin.Jumping(DISC, 50, 3).kernel
    places = [jumps.gradient(t, 0.0, np.zeros(2)) for t in range(1, 402)]
    steps = np.array([float(np.linalg.norm(a - b)) for a, b in pairwise(places)])
    assert np.flatnonzero(steps > 1e-12).tolist() == [50 * k - 1 for k in range(1, 9)]
    assert steps[49] == pytest.approx(2 * 0.8 * np.sin(golden_angle() / 2))


def golden_angle() -> float:
    """The golden angle, from the golden ratio."""
    return 2 * pi * (1 - 2 / (1 + 5**0.5))


def test_losses_are_not_known_to_have_a_moving_minimum() -> None:
    environment = dikin.Linear(DISC, seed=1)
    environment.answer(DISC.center)
    assert np.isnan(environment.dynamic_total())
    assert np.isnan(dikin.Understated(environment).dynamic_total())


# --- a thin box is a cube -------------------------------------------------------------------------


def test_a_bowl_in_half_sides_is_the_bowl_on_the_cube() -> None:
    cube = dikin.Box([-1.0, -1.0], [1.0, 1.0])
    thin, plain = bowl(PLATE, [0.5, 500.0]), dikin.Bowl(cube, 3, scales=[1.0, 1.0])
    rng = stream(0, "points")
    for u in rng.uniform(-1, 1, (20, 2)):
        x = PLATE.center + np.array([0.5, 500.0]) * u
        ours = thin.kernel.value(1, 0.0, x)
        assert ours == pytest.approx(plain.kernel.value(1, 0.0, u), rel=1e-9)
    corners = [[x, y] for x in (0.0, 1.0) for y in (-200.0, 800.0)]
    highest = max(thin.kernel.value(1, 0.0, np.array(corner)) for corner in corners)
    # Bounded entry by entry: at most what the farthest corner of all minima would suffer.
    assert highest <= thin.loss_range[1] <= 0.5 * 2 * 1.8**2 * (1 + 1e-6)


# --- hostile games --------------------------------------------------------------------------------

CHECKS = [getattr(laws, name) for name in dir(laws) if name.startswith("check_")]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("domain", [DISC, PLATE, dikin.Simplex(3)], ids=repr)
def test_every_hostile_game_keeps_the_laws(kind: str, domain: Any) -> None:
    for check in CHECKS:
        check(lambda: dikin.Hostile(domain, kind, 97, 3), stream(0, check.__name__))


def test_a_hostile_game_with_a_wrong_best_point_is_caught() -> None:
    class Careless(dikin.Hostile):
        def best(self) -> tuple[Any, float]:
            return self.domain.center, self.total(3)

    with pytest.raises(CheckFailedError, match="less than the best"):
        laws.check_best_is_no_worse_than_any_point(
            lambda: Careless(DISC, "late", 100, 3), stream(0, "mutant")
        )


def columns(kind: str, horizon: int = 1000) -> Any:
    return dikin.Hostile(DISC, kind, horizon, 5).kernel.table.T


def test_the_tables_are_as_their_words_say() -> None:
    alpha, _, kappa = columns("spikes")
    assert np.flatnonzero(kappa).tolist() == [*range(96, 1000, 97)]
    assert set(np.abs(kappa)) == {0.0, 1.0}
    assert not alpha.any()
    assert (columns("bursts")[0] < 0).sum() == 20 * 5
    turns = np.flatnonzero(np.diff(columns("switches")[0]))
    assert set(np.diff(turns)) == {31}  # the root of 1000
    period = columns("period")[0]
    np.testing.assert_array_equal(period[:-32], period[32:])
    storm = columns("storm")
    assert not storm[:, :500].any()
    np.testing.assert_allclose(np.abs(storm).sum(axis=0)[500:], 1.0)
    assert set(columns("alternating")[2]) == {0.8, -0.8}
    assert columns("late")[0].sum() == 100
    np.testing.assert_allclose(np.abs(columns("growing")[1]), 0.4 * np.arange(1, 1001) / 1000)
    np.testing.assert_allclose(np.abs(columns("shrinking")[1][::-1]), columns("growing")[1])
    assert set(columns("signs")[0]) == {1.0, -1.0}
    walk = columns("walk", 20_000)[2]
    assert np.abs(walk).max() <= 0.75 + 1e-12
    assert np.abs(np.diff(walk)).max() <= 0.02 + 1e-12
    assert walk.max() - walk.min() > 0.5


def test_signs_are_fair() -> None:
    """10^4 signs: the mean is within 6 standard deviations, 0.06; fails once in 10^8 seeds."""
    assert abs(float(columns("signs", 10_000)[0].mean())) < 0.06


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: dikin.Hostile(DISC, "spike", 100), "Did you mean 'spikes'"),
        (lambda: dikin.Hostile(DISC, "late", 0), "horizon must be"),
        (lambda: dikin.Circling(DISC, 0), "period must be"),
        (lambda: dikin.Jumping(DISC, 10, depth=0.0), "depth is a share"),
        (lambda: dikin.Bowl(DISC, depth=0.9), "depth is a share"),
        (lambda: dikin.Bowl(DISC, scales=[1.0, -1.0]), "scales must be a positive length"),
        (lambda: dikin.Bowl(dikin.Simplex(2), scales=[1.0, 2.0]), "lies in a plane"),
        (lambda: dikin.Shifted(dikin.Bowl(DISC)), "give one of them"),
        (lambda: dikin.Shifted(dikin.Bowl(DISC), noise=-1.0), "noise must be finite"),
        (lambda: dikin.Shifted(dikin.Bowl(DISC), season=1.0, period=0.0), "period must be"),
    ],
)
def test_refusals(make: Any, words: str) -> None:
    with pytest.raises(DikinError, match=words):
        make()


# --- shifted --------------------------------------------------------------------------------------


def test_noise_is_uniform_independent_of_the_sign_and_the_season_a_sine() -> None:
    """4000 rounds: means within 6 standard deviations, which fails once in 10^8 seeds."""
    bare = dikin.Bowl(DISC, 1)
    environment = dikin.Shifted(dikin.Bowl(DISC, 1), 10.0, noise=1.0, season=100.0, period=40)
    x = np.zeros(2)
    moved = []
    for t in range(1, 4001):
        chance = laws._next_chance(environment)
        extra = float(environment.kernel.value(t, chance, x)) - float(
            bare.kernel.value(t, chance, x)
        )
        moved.append(extra - 100.0 * np.sin(2 * pi * t / 40))
        environment.answer(x)
    signs = np.sign(moved)
    noise = np.array(moved) - 10.0 * signs
    assert np.abs(noise).max() <= 1.0 + 1e-9
    spread = (1 / 3) ** 0.5 / 4000**0.5
    assert abs(noise.mean()) < 6 * spread
    assert abs((noise * signs).mean()) < 6 * spread
    assert abs(signs.mean()) < 6 / 4000**0.5
    # A uniform square has variance 4/45.
    assert abs((noise**2).mean() - 1 / 3) < 6 * (4 / 45 / 4000) ** 0.5


# --- wrappers of wrappers -------------------------------------------------------------------------

NESTED = {
    "understated shifted": lambda: dikin.Understated(
        dikin.Shifted(dikin.Ridge(DISC, 1.0, seed=3), 2.0)
    ),
    "shifted understated": lambda: dikin.Shifted(
        dikin.Understated(dikin.Ridge(DISC, 1.0, seed=3)), 2.0
    ),
    "shifted twice": lambda: dikin.Shifted(
        dikin.Shifted(dikin.Ridge(DISC, 1.0, seed=3), 2.0), season=1.0
    ),
}


@pytest.mark.parametrize("name", NESTED)
def test_a_wrapper_of_a_wrapper_keeps_the_laws(name: str) -> None:
    for check in CHECKS:
        check(NESTED[name], stream(0, check.__name__))


@pytest.mark.parametrize("name", NESTED)
def test_a_wrapped_environment_with_sums_of_its_own_is_caught(name: str) -> None:
    """The mutant: what is wrapped inside does not see the rounds that are played."""

    def cut_off() -> dikin.Environment:
        outer: Any = NESTED[name]()
        inner = outer.environment.environment
        inner.sums = inner.sums.copy()
        return outer

    with pytest.raises(CheckFailedError, match="the best point"):
        laws.check_best_is_no_worse_than_any_point(cut_off, stream(0, "mutant"))
