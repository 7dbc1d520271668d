"""Gains of a pendulum whose friction changes: Brunzema, von Rohr, Trimpe (CDC 2022), simulated.

An inverted pendulum on a cart, linearised. A controller u = -K x runs for 20 seconds from the same
disturbed start, with a little noise in every step, and is charged the mean of 10 |x|^2 + u^2. From
round 50 to 100 the friction of the joint grows fourfold, and swings afterwards. The last two gains
are tuned (the first two are the best ones of the round), or all four, in the published ranges, over
the published 300 rounds. All constants are those of the authors' program, on GitHub as
brunzema/uitvbo.

Gains in a corner of the ranges let the pendulum fall: here it is caught, and the round is charged
30, twice the charge of good gains, where the authors' simulation charges up to 10^29.

A round costs its charge above that of the best gains of the round without noise, in per cent of
those. Players begin in the middle of the authors' set of first gains. One more rival is the
time-varying Gaussian process with upper confidence bounds of Bogunovic, Scarlett and Cevher
(AISTATS 2016) with the authors' numbers: epsilon = 0.03, 30 first points drawn from that set, bound
of 2, length scales by a Gamma prior. The authors' own variants need GPyTorch and BoTorch.
"""

from __future__ import annotations

import logging
from functools import cache
from math import cos, pi, sin, sqrt
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from scipy.linalg import cho_factor, cho_solve, solve_discrete_are
from scipy.signal import cont2discrete
from scipy.stats import gamma

import dikin
from evidence.games import Outcome, Task, take_turns
from evidence.rivals import NGOPT, PLAYERS, TPE_, Array, last_tenth

TITLE, GAMES, WORKERS, LEAST = "Pendulum", 8, 1, 1e-2
ROUNDS = 300
FIRST_SEED = 73_000
STEP, STEPS = 0.02, 1_000
MASS, LENGTH, WIDTH, FRICTION, GRAVITY = 0.0804, 0.147, 0.005, 2.2e-3, 9.81
FIRST_STATE = np.array([4.0, 0.0, 0.1, -0.01])
NOISE = 0.0006
FALL = 30.0
"""About twice the charge of the best gains: then the pendulum is falling, and is caught."""
LOW = np.array([-3.5, -7.0, -62.5, -5.0])
HIGH = np.array([-1.5, -4.0, -12.5, -1.0])
FIRST_LOW = np.array([-3.0, -6.0, -50.0, -4.0])
FIRST_HIGH = np.array([-2.0, -4.0, -25.0, -2.0])
SCALES = np.array([1 / 8, 1 / 4, 3.0, 1 / 4])
"""In these units of the gains, a Gaussian process has about the same length scale in all."""
TUNED = {"two gains": 2, "four gains": 4}
TV_GP = "TV-GP-UCB"


# --- the plant ---------------------------------------------------------------------------------


def friction(t: int) -> float:
    """Return the friction of the joint in a round."""
    if t <= 50:
        return FRICTION
    if t < 100:
        return FRICTION * (2.5 - 1.5 * cos(pi / 50 * (t - 50)))
    return FRICTION * (4.0 + 0.5 * sin(-pi / 100 * t))


@cache
def plant(t: int) -> tuple[Array, Array]:
    """Return the matrices of a step of position, speed, angle and its speed, with a lag of 1 s."""
    inertia = MASS * LENGTH**2 * (1 / 4 + 1 / 12) + MASS * WIDTH**2 / 16
    lever = 0.5 * MASS * LENGTH / inertia
    a = np.array(
        [
            [0.0, 1.0, 0.0, 0.0],
            [0.0, -1.0, 0.0, 0.0],
            [0.0, 0.0, 0.0, 1.0],
            [0.0, lever, lever * GRAVITY, -friction(t) / inertia],
        ]
    )
    b = np.array([[0.0], [1.0], [0.0], [-lever]])
    found = cont2discrete((a, b, np.eye(4), np.zeros((4, 1))), STEP)
    return np.asarray(found[0]), np.asarray(found[1])


@cache
def best_gains(t: int) -> tuple[float, ...]:
    """Return the best gains, by the discrete Riccati equation."""
    a, b = plant(t)
    p = solve_discrete_are(a, b, 10 * np.eye(4), np.eye(1))
    return tuple(np.linalg.solve(b.T @ p @ b + np.eye(1), b.T @ p @ a)[0].tolist())


@njit  # type: ignore[untyped-decorator]
def simulate(closed: Any, gains: Any, first: Any, noise: Any) -> float:
    """Return the mean of 10 |x|^2 + u^2 over all steps, or the charge of a fall."""
    state, total = first.copy(), 0.0
    for step in range(len(noise)):
        u = (gains * state).sum()
        total += 10.0 * (state * state).sum() + u * u
        if total > FALL * len(noise):
            return FALL
        following = noise[step].copy()
        for i in range(4):
            for j in range(4):
                following[i] += closed[i, j] * state[j]
        state = following
    return total / len(noise)


def charge(gains: Array, t: int, noise: Array) -> float:
    """Return the charge of a controller in a round."""
    a, b = plant(t)
    return float(simulate(a - b @ gains[None], gains, FIRST_STATE, noise))


@cache
def least_charge(t: int) -> float:
    """Return the charge of the best gains, without noise."""
    return charge(np.array(best_gains(t)), t, np.zeros((STEPS, 4)))


# --- the rival for what drifts --------------------------------------------------------------------


class Guess(NamedTuple):
    """A trial of the rival, with its point as a tuner's trial has it."""

    point: Array


class TimeVaryingGP:
    """A Gaussian process whose belief in old values fades by (1 - epsilon)^(age/2)."""

    epsilon, bound, first, candidates, least_noise = 0.03, 2.0, 30, 300, 0.005
    lengths = tuple(np.linspace(0.5, 6.0, 12))

    def __init__(self, tuned: int, seed: int) -> None:
        last = slice(-tuned, None)
        self._low, self._high, self._scale = LOW[last], HIGH[last], SCALES[last]
        self._first = FIRST_LOW[last], FIRST_HIGH[last]
        self._chance = np.random.default_rng(seed)
        self._points: list[Array] = []
        self._values: list[float] = []
        self._length = self.lengths[3]

    def ask(self) -> Guess:
        if len(self._values) < self.first:
            return Guess(self._chance.uniform(*self._first))
        trials = self._chance.uniform(self._low, self._high, (self.candidates, len(self._low)))
        near = self._points[int(np.argmin(self._values[-50:])) - min(50, len(self._values))]
        around = near + 0.1 * (self._high - self._low) * self._chance.standard_normal(trials.shape)
        trials = np.vstack([trials, np.clip(around, self._low, self._high)])
        return Guess(trials[int(np.argmin(self._optimistic(trials)))])

    def tell(self, trial: Guess, value: float) -> None:
        self._points.append(trial.point)
        self._values.append(value)
        if len(self._values) >= self.first and len(self._values) % 20 == 10:
            self._length = max(self.lengths, key=self._plausible)

    def _kernel(self, one: Array, two: Array, length: float) -> Array:
        apart = (one[:, None] - two[None]) / (self._scale * length)
        return np.asarray(np.exp(-0.5 * (apart**2).sum(axis=2)))

    def _data(self, length: float) -> tuple[Any, Array, Array, Array]:
        points, values = np.array(self._points), np.array(self._values)
        ages = np.arange(len(values), 0, -1)
        fading = (1 - self.epsilon) ** (np.abs(ages[:, None] - ages[None]) / 2)
        scaled = (values - values.mean()) / values.std()
        covariance = self._kernel(points, points, length) * fading
        covariance[np.diag_indices_from(covariance)] += self.least_noise
        return cho_factor(covariance, lower=True), scaled, points, (1 - self.epsilon) ** (ages / 2)

    def _plausible(self, length: float) -> float:
        """Return the logarithm of the likelihood, plus that of the prior of the length scale."""
        (root, lower), scaled, _, _ = self._data(length)
        fit = -0.5 * scaled @ cho_solve((root, lower), scaled) - np.log(np.diag(root)).sum()
        return float(fit + gamma.logpdf(length, 6, scale=0.3))

    def _optimistic(self, trials: Array) -> Array:
        factor, scaled, points, fading = self._data(self._length)
        covariance = self._kernel(trials, points, self._length) * fading
        mean = covariance @ cho_solve(factor, scaled)
        known = np.einsum("ij,ji->i", covariance, cho_solve(factor, covariance.T))
        return np.asarray(mean - sqrt(self.bound) * np.sqrt(np.maximum(1.0 - known, 0.0)))


# --- games -------------------------------------------------------------------------------------


def run(task: Task) -> Outcome:
    """One game."""
    logging.getLogger("dikin").setLevel(logging.ERROR)
    tuned, seed = TUNED[task.problem], FIRST_SEED + task.game
    ranges = {
        f"gain{i}": dikin.Real(LOW[i], HIGH[i], start=(FIRST_LOW[i] + FIRST_HIGH[i]) / 2)
        for i in range(4 - tuned, 4)
    }
    chance = np.random.default_rng(seed)
    player: Any
    if task.player == TV_GP:
        player = TimeVaryingGP(tuned, seed)
    else:
        player = PLAYERS[task.player](ranges, False, seed, task.rounds)

    def answer(trial: Any, round: int) -> tuple[float, float]:
        gains = np.array([*best_gains(round)[: 4 - tuned], *trial.point])
        charged = charge(gains, round, NOISE * chance.standard_normal((STEPS, 4)))
        least = least_charge(round)
        return charged, 100.0 * (charged / least - 1.0)

    costs = take_turns(player, task.rounds, answer)
    return Outcome(float(np.mean(costs)), last_tenth(costs))


def tasks(games: range) -> list[Task]:
    """Every game."""
    players = [name for name in PLAYERS if name != NGOPT] + [TV_GP]
    found = [
        Task(problem, ROUNDS, player, game)
        for game in games
        for problem in TUNED
        for player in players
    ]
    return sorted(found, key=lambda task: task.player in (TPE_, TV_GP))
