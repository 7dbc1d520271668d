"""The compiled loop against the price of its random numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numba
import numpy as np
from timing import Row, best_of, pretty

import dikin
from dikin.engine.play import compiled_rounds

REPEATS = 100
"""Of a millisecond or so each: on a busy machine some of them are not interrupted."""


@numba.njit(cache=True)  # type: ignore[untyped-decorator]
def draw(generator: Any, noise: Any, rounds: int) -> None:
    """The random numbers of that many rounds, and nothing else."""
    for _ in range(rounds):
        for i in range(noise.size):
            noise[i] = generator.standard_normal()


def game(domain: dikin.Domain) -> tuple[Any, Any, Any]:
    world = dikin.Ridge(domain, 1.0, 0.1, seed=1)
    learner = dikin.AdaptiveSmooth(domain, 1.0, loss_range=world.loss_range, seed=1)
    advance = compiled_rounds(learner, world)
    assert advance is not None
    advance(1000)
    return advance, learner, world


def against_draws(domain: dikin.Domain, rounds: int) -> tuple[float, float]:
    """Seconds a round, and seconds of drawing its normals."""
    advance, learner, _ = game(domain)
    generator, noise = np.random.default_rng(0), np.zeros(learner.geometry.size)
    draw(generator, noise, 1)
    ours, theirs = best_of(REPEATS, lambda: advance(rounds), lambda: draw(generator, noise, rounds))
    return ours / rounds, theirs / rounds


LIMITS = {
    "ball": {2: "<= 12", 10: "<= 3.5", 100: "<= 1.9", 1000: "<= 1.7"},
    "box": {2: "", 10: "", 100: "<= 6", 1000: "<= 6"},
    "simplex": {2: "", 10: "", 100: "<= 6", 1000: "<= 6"},
    "ellipsoid": {2: "", 10: "", 100: "<= 4", 1000: "<= 4"},
    "ball x box": {2: "", 10: "", 100: "", 1000: ""},
}


def domain_of(name: str, d: int) -> dikin.Domain:
    half = d // 2
    match name:
        case "ball":
            return dikin.Ball(d)
        case "box":
            return dikin.Box(-np.ones(d), np.linspace(1, 3, d))
        case "simplex":
            return dikin.Simplex(d + 1)
        case "ellipsoid":
            return dikin.Ellipsoid(np.zeros(d), np.diag(np.linspace(1, 9, d)))
        case _:
            return dikin.Product(dikin.Ball(half), dikin.Box(-np.ones(d - half), np.ones(d - half)))


def rows() -> Iterator[Row]:
    for name, limits in LIMITS.items():
        for d, limit in limits.items():
            ours, theirs = against_draws(domain_of(name, d), max(100, 20_000 // d))
            yield Row(
                f"compiled round, {name}, d={d}",
                f"{pretty(ours)}, {1 / ours:,.0f}/s",
                f"drawing its normals, {pretty(theirs)}",
                ours / theirs,
                limit,
            )
