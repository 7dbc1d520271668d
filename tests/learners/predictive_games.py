"""Losses that were written down before the game, for the compiled loop too.

    f_t(x) = o_t + g_t.x + q_t/2 |x|^2      on a ball of radius one around the origin

The best fixed point is -G/Q, or the end of the ball in that direction: on the sphere the quadratic
is a constant.
"""

from collections.abc import Iterator
from functools import cache
from math import pi, sqrt
from typing import NamedTuple, Self

import numpy as np
import pytest

import dikin
from dikin.engine import jit
from dikin.environments.base import Environment, add
from dikin.kernel import compilable
from reference.barriers import Array

ROUNDS = 3000
TARGET = np.array([0.3, -0.5])
A = np.array([0.6, 0.8])
B = np.array([0.8, -0.6])
Losses = tuple[Array, Array, Array]
"""o, g and q of every round."""


@compilable
def table_value(offset: float, slope: Array, bend: float, x: Array) -> float:
    value = offset
    for i in range(x.size):
        value += (slope[i] + 0.5 * bend * x[i]) * x[i]
    return value


class TableKernel(NamedTuple):
    offsets: Array
    slopes: Array
    bends: Array

    def value(self, round: int, chance: float, x: Array) -> float:
        t = round - 1
        return table_value(self.offsets[t], self.slopes[t], self.bends[t], x)

    def strong_convexity(self, round: int) -> float:
        bend: float = self.bends[round - 1]
        return bend

    def accumulate(self, round: int, chance: float, sums: Array) -> None:
        t, dim = round - 1, self.slopes.shape[1]
        add(sums, 1, self.offsets[t])
        add(sums, 2, self.bends[t])
        for i in range(dim):
            add(sums, 3 + i, self.slopes[t, i])


class Table(Environment):
    """The game of such a list of losses, all of them in [-1, 1]."""

    loss_range = (-1.0, 1.0)

    def __init__(self, offsets: Array, slopes: Array, bends: Array) -> None:
        self.comparator_sums = 2 + slopes.shape[1]  # type: ignore[misc]
        super().__init__(dikin.Ball(slopes.shape[1]), 0)
        steep = np.linalg.norm(slopes, axis=1) + bends
        assert (np.abs(offsets) + steep - bends / 2).max() <= 1 + 1e-12
        self.smoothness, self.lipschitz = float(bends.max()), float(steep.max())
        self.kernel: TableKernel = TableKernel(offsets, slopes, bends)

    def best(self) -> tuple[Array, float]:
        bend = self.total(2)
        slope = np.array([self.total(3 + i) for i in range(self.domain.dim)])
        point = -slope / max(bend, float(np.linalg.norm(slope)), 1e-300)
        return point, self.total(1) + float(slope @ point + bend / 2 * (point @ point))

    @classmethod
    def examples(cls, domain: object, seed: int) -> Iterator[Self]:
        yield from ()


def compile_always(patch: pytest.MonkeyPatch) -> None:
    """However short the game. The machine code is not kept, as this kernel is the tests' own."""
    patch.setattr(jit, "COMPILE_FROM", 1)


def bowls(rounds: int, targets: Array, bend: float = 0.3) -> Losses:
    """bend/2 |x - target_t|^2, less a constant that keeps it around 0."""
    offsets = bend / 2 * (targets**2).sum(axis=1) - 0.2
    return offsets, -bend * targets, np.full(rounds, bend)


def steady(rounds: int) -> Losses:
    return bowls(rounds, np.tile(TARGET, (rounds, 1)))


def hostile(name: str, rounds: int = ROUNDS) -> Table:
    """A game that is hard to foresee, or that changes when one has come to rely on it."""
    return Table(*hostile_losses(rounds)[name])


@cache
def hostile_losses(rounds: int) -> dict[str, Losses]:
    """Of all eleven such games: the same in every game of that length."""
    rng, t = np.random.default_rng(11), np.arange(rounds)
    signs = rng.choice([-1.0, 1.0], size=rounds)
    offsets, slopes, bends = steady(rounds)
    flat, none = np.zeros(rounds), np.zeros((rounds, 2))

    def noisy(noise: Array) -> Losses:
        return offsets + noise, slopes, bends

    def linear(size: Array, way: Array = A) -> Losses:
        return flat, size[:, None] * way, flat

    walk = np.clip(0.02 * rng.normal(size=rounds).cumsum(), -0.5, 0.5)
    switched = np.where((t // 300 % 2)[:, None] == 0, TARGET, -TARGET)
    return {
        "rare spikes": noisy(np.where(rng.random(rounds) < 0.01, 0.5, 0.0)),
        "bursts": noisy(np.where(t % 200 < 20, 0.5 * signs, 0.0)),
        "switches": bowls(rounds, switched),
        "period of 32": noisy(0.5 * np.sin(2 * pi * t / 32)),
        "calm, then storm": noisy(np.where(t < rounds // 2, 0.0, 0.5 * signs)),
        "alternating": (np.where(t % 2, 0.8, -0.8), none + 0.2 * A, flat),
        "random signs": (flat, 0.9 * signs[:, None] * A + 0.1 * B, flat),
        "nothing, then linear": linear(np.where(t < rounds - rounds // 10, 0.0, 1.0)),
        "growing": linear(0.9 * t / rounds * (1.0 + 0.1 * signs)),
        "shrinking": linear(np.minimum(0.9, 30.0 / (t + 1.0)) * (1.0 + 0.1 * signs)),
        "random walk": noisy(walk),
    }


def above(gaps: list[float], errors: float = 3.0) -> None:
    mean, error = float(np.mean(gaps)), float(np.std(gaps, ddof=1)) / sqrt(len(gaps))
    assert mean >= errors * error, f"certificate less regret: {mean} +- {error}"


HOSTILE = tuple(hostile_losses(1))
"""Their names."""
