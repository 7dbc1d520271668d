"""Bowls and moving bowls: what they declare, derived again."""

from __future__ import annotations

from itertools import pairwise
from math import pi
from typing import Any

import numpy as np
import pytest

import dikin
from dikin.errors import DikinError
from dikin.rng import stream
from environments.playing import DISC, PLATE, play
from evidence.compare.bowl import Bowl, Circling, Jumping


@pytest.mark.parametrize("domain", [DISC, PLATE, dikin.Simplex(3)], ids=repr)
@pytest.mark.parametrize("cls", [Bowl, Circling, Jumping])
def test_bowls_keep_the_laws(cls: Any, domain: dikin.Domain) -> None:
    dikin.check_environment(cls, domain)


# --- the moving minimum by brute force ------------------------------------------------------------


@pytest.mark.parametrize("name", ["circling", "jumping", "shifted"])
def test_the_moving_minimum_is_the_least_of_every_round(name: str) -> None:
    """Every round's least on a grid of the disc of 0.01: within 1e-4 of the losses' units."""
    calm = Circling(DISC, 60, 3) if name == "circling" else Jumping(DISC, 11, 3)
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
    circle = Circling(DISC, 100, 3).kernel
    places = [circle.gradient(t, 0.0, np.zeros(2)) for t in range(1, 202)]
    np.testing.assert_allclose(places[0], places[100], atol=1e-12)
    assert (
        max(float(np.linalg.norm(a - b)) for a, b in pairwise(places)) < 0.8 * 2 * pi / 100 * 1.01
    )
    jumps = Jumping(DISC, 50, 3).kernel
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
    thin, plain = Bowl(PLATE, 3, scales=[0.5, 500.0]), Bowl(cube, 3, scales=[1.0, 1.0])
    rng = stream(0, "points")
    for u in rng.uniform(-1, 1, (20, 2)):
        x = PLATE.center + np.array([0.5, 500.0]) * u
        ours = thin.kernel.value(1, 0.0, x)
        assert ours == pytest.approx(plain.kernel.value(1, 0.0, u), rel=1e-9)
    corners = [[x, y] for x in (0.0, 1.0) for y in (-200.0, 800.0)]
    highest = max(thin.kernel.value(1, 0.0, np.array(corner)) for corner in corners)
    # Bounded entry by entry: at most what the farthest corner of all minima would suffer.
    assert highest <= thin.loss_range[1] <= 0.5 * 2 * 1.8**2 * (1 + 1e-6)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Circling(DISC, 0), "period must be"),
        (lambda: Jumping(DISC, 10, depth=0.0), "depth is a share"),
        (lambda: Bowl(DISC, depth=0.9), "depth is a share"),
        (lambda: Bowl(DISC, scales=[1.0, -1.0]), "scales must be a positive length"),
        (lambda: Bowl(dikin.Simplex(2), scales=[1.0, 2.0]), "lies in a plane"),
    ],
)
def test_refusals(make: Any, words: str) -> None:
    with pytest.raises(DikinError, match=words):
        make()
