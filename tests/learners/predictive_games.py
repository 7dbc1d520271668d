"""Losses that were written down before the game.

    f_t(x) = o_t + g_t.x + q_t/2 |x|^2      on a ball of radius one around the origin

The best fixed point is -G/Q, or the end of the ball in that direction: on the sphere the quadratic
is a constant.
"""

import numpy as np

import dikin
from reference.barriers import Array

TARGET = np.array([0.3, -0.5])
A = np.array([0.6, 0.8])
B = np.array([0.8, -0.6])


class Table:
    """The game of such a list of losses, all of them in [-1, 1]."""

    def __init__(self, offsets: Array, slopes: Array, bends: Array) -> None:
        self.offsets, self.slopes, self.bends, self.rounds = offsets, slopes, bends, bends.size
        steep = np.linalg.norm(slopes, axis=1) + bends
        assert (np.abs(offsets) + steep - bends / 2).max() <= 1 + 1e-12
        self.domain = dikin.Ball(slopes.shape[1])
        self.smoothness, self.lipschitz = float(bends.max()), float(steep.max())

    def answer(self, t: int, x: Array) -> tuple[float, float]:
        """The loss of round t, from 0 on, and its curvature."""
        bend = float(self.bends[t])
        return float(self.offsets[t] + self.slopes[t] @ x + bend / 2 * (x @ x)), bend

    def least(self, weights: Array) -> float:
        """The least weighted sum of the losses of a fixed point."""
        bend, slope = float(weights @ self.bends), weights @ self.slopes
        point = -slope / max(bend, float(np.linalg.norm(slope)), 1e-300)
        return float(weights @ self.offsets + slope @ point + bend / 2 * (point @ point))


def bowls(targets: Array, noise: Array | float = 0.0, bend: float = 0.3) -> Table:
    """bend/2 |x - target_t|^2, less a constant that keeps it around 0, and noise."""
    offsets = bend / 2 * (targets**2).sum(axis=1) - 0.2
    return Table(offsets + noise, -bend * targets, np.full(len(targets), bend))


def hostile(name: str, rounds: int) -> Table:
    """A game that is hard to foresee, or that changes when one has come to rely on it."""
    rng, t = np.random.default_rng(11), np.arange(rounds)
    signs = rng.choice([-1.0, 1.0], size=rounds)
    flat, steady = np.zeros(rounds), np.tile(TARGET, (rounds, 1))

    def linear(size: Array) -> Table:
        return Table(flat, size[:, None] * A, flat)

    match name:
        case "bursts":
            return bowls(steady, np.where(t % 200 < 20, 0.5 * signs, 0.0))
        case "switches":
            return bowls(np.where((t // 300 % 2)[:, None] == 0, TARGET, -TARGET))
        case "random signs":
            return Table(flat, 0.9 * signs[:, None] * A + 0.1 * B, flat)
        case "nothing, then linear":
            return linear(np.where(t < rounds - rounds // 10, 0.0, 1.0))
        case "growing":
            return linear(0.9 * t / rounds * (1.0 + 0.1 * signs))
        case "shrinking":
            return linear(np.minimum(0.9, 30.0 / (t + 1.0)) * (1.0 + 0.1 * signs))
    raise KeyError(name)
