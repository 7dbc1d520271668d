"""Bluefin against its text, in the cube [0, 1]^d; pairs whose answers come late, or never."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, nan, sqrt
from typing import Any

import numpy as np
import pytest

import dikin
from dikin import errors, registry
from dikin.learners import bluefin
from learners.projections import SETS, Array
from learners.taps import tapped

ROUNDS, ETA, DELTA = 150, 0.05, 0.2
LOUD, FAINT = 1.0, 1e-9
"""Sizes of the losses: of faint ones the 1e-8 of RMSprop, and so the size of g, is felt."""


class Text:
    """The algorithm word for word, at z of the cube; each round is one `play` and one `told`."""

    alpha, eps, width, side = 0.99, 1e-8, 1.0, 1.0

    def __init__(self, d: int, size: int, points: int) -> None:
        self.d, self.points, self.z = d, points, np.full(size, 0.5)
        self.v, self.pair, self.outside = np.zeros(size), list[float](), 0

    def direction(self, noise: Array) -> Array:
        return noise / np.linalg.norm(noise)

    def play(self, noise: Array) -> Array:
        if not self.pair:
            self.s = self.direction(noise)
            return self.z + DELTA * self.width * self.s
        return self.z - DELTA * self.width * self.s

    def told(self, f: float) -> None:
        self.pair.append(f)
        if len(self.pair) == self.points:
            self.z = self.clipped(self.z - self.side * self.step(self.gradient(*self.pair)))
            self.pair = []

    def gradient(self, f: float, opposite: float = 0.0) -> Array:
        return self.d * (f - opposite) * self.s / (self.points * DELTA)

    def step(self, g: Array) -> Array:
        self.v = self.alpha * self.v + (1 - self.alpha) * g**2
        return ETA * g / (np.sqrt(self.v) + self.eps)

    def clipped(self, z: Array) -> Array:
        inside = self.project(z)
        self.outside += bool(np.linalg.norm(inside - z) > 1e-6)
        return inside

    def project(self, z: Array) -> Array:
        return np.clip(z, DELTA, 1 - DELTA)


class Elsewhere(Text):
    """On another set, in units of its radius: what the docstring says is ours."""

    def __init__(self, place: str, points: int) -> None:
        domain, self.onto = SETS[place]
        super().__init__(domain.dim, domain.center.size, points)
        self.z = np.zeros(domain.center.size)
        self.width, self.side = 2 * domain.inradius / domain.radius, 2 / sqrt(domain.dim)
        self.flat = domain.dim < domain.center.size

    def direction(self, noise: Array) -> Array:
        return super().direction(noise - noise.mean() if self.flat else noise)

    def project(self, z: Array) -> Array:
        shrink = 1 - 2 * DELTA
        return shrink * self.onto(z / shrink)


Game = tuple[dikin.Learner, Text, Callable[[Array], Array]]


def game(place: str, points: int) -> Game:
    """The learner, its text, and the text's coordinates of a point."""
    domain, _ = SETS[place]
    learner = dikin.Bluefin(domain, points=points, delta=DELTA, eta=ETA, loss_range=(3, 11), seed=2)
    if place == "box":
        sides = domain.upper - domain.lower
        return learner, Text(2, 2, points), lambda x: (x - domain.lower) / sides
    return learner, Elsewhere(place, points), lambda x: (x - domain.center) / domain.radius


def widest_gap(learner: dikin.Learner, text: Text, inner: Any, size: float) -> float:
    """The largest distance between points, and between centres."""
    tap, gap = tapped(learner), 0.0
    for t in range(ROUNDS):
        query = learner.ask()
        z = inner(query.point)
        f = size * float(np.tanh(3 * np.cos(np.arange(z.size) + t // 40) @ z + 0.2))
        gap = max(gap, float(np.linalg.norm(z - text.play(tap.last))))
        learner.tell(query, 7 + 4 * f)
        text.told((7 + 4 * f - 7) / 4)  # as it was rounded
        gap = max(gap, float(np.linalg.norm(inner(learner.center) - text.z)))
    return gap


@pytest.mark.parametrize("points", [1, 2])
@pytest.mark.parametrize("size", [LOUD, FAINT])
@pytest.mark.parametrize("place", SETS)
def test_bluefin_is_its_text(place: str, points: int, size: float) -> None:
    learner, text, inner = game(place, points)
    # The barrier's weight 1e-16 leaves at most sqrt(2 nu 1e-16) = 3e-8 where a step ends on the
    # boundary exactly, and far less elsewhere; a projection does not enlarge it.
    assert widest_gap(learner, text, inner, size) < 1e-7
    assert text.outside > 3 or size == FAINT


# --- another text is noticed ---------------------------------------------------------------------


def longer_memory(text: Any) -> None:
    text.alpha = 0.999


def epsilon_under_the_root(text: Any) -> None:
    def step(g: Array) -> Array:
        text.v = text.alpha * text.v + (1 - text.alpha) * g**2
        return np.asarray(ETA * g / np.sqrt(text.v + text.eps))

    text.step = step


def one_average(text: Any) -> None:
    """The length of the gradient instead of its entries."""
    step = text.step
    text.step = lambda g: step(np.full(g.size, np.linalg.norm(g))) * g / np.linalg.norm(g)


def plain_descent(text: Any) -> None:
    text.step = lambda g: ETA * g / 1e-8


def dimensionless(text: Any) -> None:
    text.d = 1


def not_halved(text: Any) -> None:
    gradient = text.gradient
    text.gradient = lambda f, opposite: 2 * gradient(f, opposite)


def one_sided(text: Any) -> None:
    gradient = text.gradient
    text.gradient = lambda f, opposite: gradient(f)


def ascent(text: Any) -> None:
    gradient = text.gradient
    text.gradient = lambda f, opposite: gradient(opposite, f)


def relative(text: Any) -> None:
    """As in the packages: a share of the larger loss."""
    gradient = text.gradient
    text.gradient = lambda f, o: gradient(f, o) / max(abs(f), abs(o))


def whole_cube(text: Any) -> None:
    text.project = lambda z: np.clip(z, 0, 1)


def slower(text: Any) -> None:
    text.side = 0.999


def nearer(text: Any) -> None:
    text.width = 0.999


SPOILED = {
    LOUD: [
        longer_memory,
        one_average,
        plain_descent,
        one_sided,
        ascent,
        whole_cube,
        slower,
        nearer,
    ],
    FAINT: [epsilon_under_the_root, dimensionless, not_halved, relative],
}
CASES = [(size, spoil) for size, spoils in SPOILED.items() for spoil in spoils]


@pytest.mark.parametrize(("size", "spoil"), CASES, ids=lambda case: getattr(case, "__name__", case))
def test_another_text_is_noticed(size: float, spoil: Callable[[Any], None]) -> None:
    learner, text, inner = game("box", 2)
    spoil(text)
    assert widest_gap(learner, text, inner, size) > 1e-5


# --- the coordinates -----------------------------------------------------------------------------


def test_a_geometry_says_that_it_is_a_box() -> None:
    """Its corners belong to the set, nothing beyond them does; no other geometry claims sides."""
    for cls in registry.domains().values():
        for domain in cls.examples():
            sides = domain.geometry(domain.radius).sides
            assert (sides is not None) == (cls is dikin.Box), domain
            if sides is not None:
                corner = domain.radius * sides / 2
                assert domain.gauge(corner) == pytest.approx(1.0, rel=1e-14)
                beyond = 1.001 * np.diag(corner)
                assert not any(domain.contains(domain.center + step) for step in beyond)


def test_every_side_of_a_box_counts_as_one() -> None:
    """On a box a thousand times as long as wide the same points of the cube are played."""
    lower, upper = np.array([-5.0, 1.0]), np.array([995.0, 2.0])
    cube, thin = (
        dikin.Bluefin(box, seed=3) for box in (dikin.Box([0, 0], [1, 1]), dikin.Box(lower, upper))
    )
    for t in range(60):
        one, two = cube.ask(), thin.ask()
        np.testing.assert_allclose((two.point - lower) / (upper - lower), one.point, atol=1e-7)
        for learner, query in ((cube, one), (thin, two)):
            learner.tell(query, float(np.cos(t + 3 * one.point[0] - one.point[1])))


# --- pairs ---------------------------------------------------------------------------------------

DISC = dikin.Ball(2)


def fresh() -> Any:
    return dikin.Bluefin(DISC, eta=ETA, seed=5)


def told(learner: Any, *answers: tuple[dikin.Query, float]) -> Array:
    for query, loss in answers:
        learner.tell(query, loss)
    return np.asarray(learner.center)


def test_the_order_within_a_pair_does_not_matter() -> None:
    one, two = fresh(), fresh()
    a, b = one.ask(), one.ask()
    assert np.array_equal(a.point, two.ask().point)
    assert np.array_equal(b.point, two.ask().point)
    there = told(one, (a, 0.3), (b, -0.4))
    back = told(two, (two.open_queries[1], -0.4), (two.open_queries[0], 0.3))
    assert np.array_equal(there, back)
    assert not np.array_equal(there, DISC.center)


def test_a_step_is_made_when_both_answers_of_a_pair_are_known() -> None:
    """Six queries of three pairs: answered crosswise, they make the steps of whole pairs."""
    learner, twin = fresh(), fresh()
    queries, others = ([each.ask() for _ in range(6)] for each in (learner, twin))
    losses = [0.9, -0.3, 0.1, 0.5, -0.7, 0.2]
    moved, before = [], learner.center
    for i in (3, 0, 5, 1, 4, 2):
        learner.tell(queries[i], losses[i])
        moved.append(bool(np.any(learner.center != before)))
        before = learner.center
    assert moved == [False, False, False, True, True, True]
    for i in (0, 1, 4, 5, 2, 3):
        twin.tell(others[i], losses[i])
    np.testing.assert_allclose(learner.center, twin.center, atol=1e-15)
    assert learner.rounds == twin.rounds == 6


def test_the_second_point_lies_opposite_the_first_though_the_centre_has_moved() -> None:
    learner = fresh()
    one, two, third = (learner.ask() for _ in range(3))
    told(learner, (one, 0.5), (two, -0.5))
    assert np.linalg.norm(learner.center) > 0.1
    last = learner.ask()
    np.testing.assert_allclose((third.point + last.point) / 2, DISC.center, atol=1e-15)
    following = [learner.ask().point for _ in range(2)]
    np.testing.assert_allclose(np.mean(following, axis=0), learner.center, atol=1e-15)


@pytest.mark.parametrize("lost", [0, 1])
def test_an_answer_whose_partner_is_forgotten_teaches_nothing(lost: int) -> None:
    learner = fresh()
    pair = [learner.ask(), learner.ask()]
    learner.forget(pair[lost])
    assert np.array_equal(told(learner, (pair[1 - lost], 0.8)), DISC.center)
    assert learner.rounds == 1
    assert not np.array_equal(
        told(learner, (learner.ask(), 0.8), (learner.ask(), 0.1)), DISC.center
    )


def test_a_first_point_that_is_forgotten_at_once_keeps_its_second() -> None:
    learner, twin = fresh(), fresh()
    learner.forget(learner.ask())
    twin.ask()
    assert [learner.ask().point.tolist() for _ in range(5)] == [
        twin.ask().point.tolist() for _ in range(5)
    ]


def test_answers_do_not_wait_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """With room for three, the oldest of four gives way: its partner finds nobody."""
    monkeypatch.setattr(bluefin, "PATIENCE", 3)
    learner = fresh()
    pairs = [(learner.ask(), learner.ask()) for _ in range(4)]
    for first, _ in pairs:
        learner.tell(first, 0.5)
    assert len(learner.state()["numbers"]["items"]["waiting"]) == 3
    assert np.array_equal(told(learner, (pairs[0][1], -0.5)), DISC.center)
    assert not np.array_equal(told(learner, (pairs[3][1], -0.5)), DISC.center)
    for _ in range(20):
        learner.tell(learner.ask(), 0.1)
        learner.forget(learner.ask())
    assert len(learner.state()["numbers"]["items"]["waiting"]) == 3


# --- in a game, and the constructor --------------------------------------------------------------


@pytest.mark.parametrize(("points", "near"), [(2, 0.05), (1, 0.3)])
def test_it_finds_the_bottom_of_a_bowl(points: int, near: float) -> None:
    box, target = dikin.Box([0, 10], [1, 30]), np.array([0.7, 0.4])
    learner = dikin.Bluefin(box, points=points, loss_range=(0, 1), seed=1)
    for _ in range(600):
        query = learner.ask()
        z = (query.point - box.lower) / (box.upper - box.lower)
        learner.tell(query, float(np.sum((z - target) ** 2)))
    z = (learner.center - box.lower) / (box.upper - box.lower)
    assert np.linalg.norm(z - target) < near


def test_it_plays_without_the_compiled_loop() -> None:
    world = dikin.Ridge(DISC, 1.0, seed=1)
    learner = dikin.Bluefin(DISC, loss_range=world.loss_range, seed=1)
    assert not dikin.play(learner, world, 50, progress=False).compiled
    assert np.isnan(learner.certificate)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"points": 3}, "points must be 1 or 2.*got 3"),
        ({"points": 0}, "points must be at least 1"),
        ({"points": "two"}, "points must be a whole number, got 'two'"),
        ({"points": True}, "points must be a whole number"),
        ({"delta": 0.5}, r"delta .*less than 0\.5, got 0\.5"),
        ({"delta": 0.0}, "delta is a share of a side"),
        ({"delta": nan}, "delta .*got nan"),
        ({"delta": "wide"}, "delta must be a number"),
        ({"eta": -0.1}, "eta is a share of a side"),
        ({"eta": inf}, "eta .*less than 1, got inf"),
        ({"eta": 1e-200}, "eta .*more than 1e-100"),
        ({"seed": -1}, "seed"),
    ],
)
def test_refused_by_the_constructor(given: dict[str, Any], words: str) -> None:
    with pytest.raises(errors.ParameterError, match=words):
        dikin.Bluefin(DISC, **given)


@pytest.mark.parametrize(("delta", "eta"), [(1.1e-100, 0.01), (0.49999, 0.999), (0.1, 1.1e-100)])
def test_the_most_that_is_accepted_can_be_computed_with(delta: float, eta: float) -> None:
    for domain in (dikin.Box([0, 0], [1e-30, 1e30]), dikin.Simplex(3), DISC):
        learner = dikin.Bluefin(domain, delta=delta, eta=eta, seed=1)
        for t in range(20):
            query = learner.ask()
            assert domain.contains(query.point)
            learner.tell(query, (-1.0) ** t)
        assert np.isfinite(learner.center).all()
