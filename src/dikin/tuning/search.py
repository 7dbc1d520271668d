"""Where a tuner plays: the centre that its regression believes in, and how far around it.

Letters: y the centre, R R' the covariance of exploring, g and H slope and curvature of the model at
y, A the curvature raised to where it is known, C the covariance of the coefficients.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from copy import copy
from functools import cached_property
from itertools import product
from math import nan, prod, sqrt
from typing import Any, NamedTuple, Protocol

import numpy as np

from dikin import extras
from dikin.errors import StateError, shown
from dikin.serialization import refuse_infinite, refuse_other_form
from dikin.tuning.guarantee import Floor, Play, play
from dikin.tuning.model import MANY, Features, Regression, Wide, chi_square
from dikin.vectors import Array

FIRST, SMALLEST = 0.35, 1e-8
"""The first and the smallest radius."""
GROW, SHRINK = 1.15, 0.85
"""By what the radius grows and shrinks in a round, at most."""
REACH = 3.0
"""Radii that the centre moves in a round, at most."""
LOWER = 0.5
"""Standard deviations by which the curvature may be lower than believed, where it is explored."""
SCALE = 0.5
"""Of the posterior of the minimiser, what is explored."""
PRIOR = 0.5
"""How strongly the minimiser is believed to be inside the set rather than at its boundary."""
FAR, FIRST_FAR = 6.0, 12.0
"""Standard deviations beyond which a value is far; the same in the first rounds."""
STEEPER = 3.0
"""How many times steeper a value may be than any two ordinary values."""
ABSURD, CORE = 10.0, 0.7
"""Distances of this share of the first values beyond which one of them is absurd."""
LEVEL = 4.0
"""Standard deviations above the worst ordinary value of a far one that depends on the setting."""
STEPS = (1.0, 0.5, 0.25, 0.1)
"""Shares of an exploring step that are tried where a limit forbids more."""
BOTH = 64
"""Features of contexts and choices together, at most."""
WALL = 1e-6
"""The distance that a centre keeps from the boundary, as a share of the way to it."""
FEW, BEGINNING = 3, 16
"""Values before the first is learnt, and those that later ones may show to be absurd."""


class Set(Protocol):
    """A set around the origin."""

    d: int

    def barrier(self, x: Array) -> tuple[Array, Array]:
        """Return gradient and Hessian of a self-concordant barrier."""

    def room(self, x: Array, step: Array) -> float:
        """Return how many times the step leads to the boundary."""

    def inside(self, x: Array, share: float) -> Array:
        """Return a point near x with at most this share of the way to the boundary."""


class Cube:
    """The cube [-1, 1]^d."""

    def __init__(self, d: int) -> None:
        self.d, self.nu, self.radius = d, float(d), d**0.5

    def barrier(self, x: Array) -> tuple[Array, Array]:
        """Of -Σ ln(1 - x²)."""
        slope, bend = self.sides(x)
        return slope, np.diag(bend)

    def sides(self, x: Array) -> tuple[Array, Array]:
        """Return the derivatives of the barrier, coordinate by coordinate."""
        slack = 1.0 - x * x
        return 2.0 * x / slack, 2.0 * (1.0 + x * x) / slack**2

    def room(self, x: Array, step: Array) -> float:
        """How many times the step leads to the boundary."""
        least = (1.0 - np.sign(step) * x) / np.maximum(np.abs(step), 1e-300)
        return float(np.minimum(least, 1e300).min()) if len(x) else 1e300

    def inside(self, x: Array, share: float) -> Array:
        """Return the nearest point with at most this share of the way to any side."""
        return np.clip(x, -share, share)

    def support(self, direction: Array) -> float:
        """Return the maximum of direction.x."""
        return float(np.abs(direction).sum())

    @property
    def diameter(self) -> float:
        """The largest distance of two points."""
        return 2.0 * sqrt(self.d)


class Cut:
    """The polytope {x : rows x <= ends}: constraints, or a simplex in coordinates of its plane."""

    def __init__(self, rows: Array, ends: Array) -> None:
        self.rows, self.ends, self.d = rows, ends, rows.shape[1]
        self.nu = float(len(rows))

    def barrier(self, x: Array) -> tuple[Array, Array]:
        """Of -Σ ln(ends - rows x)."""
        scaled = self.rows / (self.ends - self.rows @ x)[:, None]
        return scaled.sum(axis=0), scaled.T @ scaled

    def room(self, x: Array, step: Array) -> float:
        """How many times the step leads to the boundary."""
        speed, slack = self.rows @ step, self.ends - self.rows @ x
        return float(np.min(slack / np.maximum(speed, 1e-300)))

    def inside(self, x: Array, share: float) -> Array:
        """Return the point on the way to 0 with at most this share of the way to any side."""
        return x / max(1.0, float(np.max(self.rows @ x / self.ends)) / share)

    def support(self, direction: Array) -> float:
        """Return the maximum of direction.x."""
        optimize = extras.require("scipy.optimize", "lab", "a certificate with constraints")
        found = optimize.linprog(-direction, self.rows, self.ends, bounds=(None, None))
        return float(-found.fun)

    @property
    def diameter(self) -> float:
        """A bound on the largest distance of two points: that of the box around the set."""
        eye = np.eye(self.d)
        sides = [self.support(each) + self.support(-each) for each in eye]
        return float(np.linalg.norm(sides))

    @cached_property
    def radius(self) -> float:
        """A bound on the largest distance of a point to 0."""
        return self.diameter


class Estimate(NamedTuple):
    """A number with its 95 % interval."""

    mean: float
    low: float
    high: float


class Move(NamedTuple):
    """A setting to try, and what the certificate keeps of it."""

    x: Array
    picks: tuple[int, ...]
    play: Play | None
    """None where the setting was not drawn around a centre."""


class Found(NamedTuple):
    """The best setting, with intervals."""

    x: Array
    picks: tuple[int, ...]
    value: Estimate
    intervals: list[Estimate]
    importance: list[Estimate]
    """By how much the value rises when the coordinate alone is moved."""
    options: list[Estimate]
    """The same for each choice."""
    limits: list[Estimate]


def matrix(factor: Array) -> Array:
    """Return a matrix that may be given by its diagonal."""
    return np.diag(factor) if factor.ndim == 1 else factor


def matrix_times(factor: Array, vectors: Array) -> Array:
    """Return the product with such a matrix."""
    return (factor * vectors.T).T if factor.ndim == 1 else np.asarray(factor @ vectors)


def _fits(x: Array, value: float, rows: Sequence[tuple[Array, float]]) -> bool:
    """Return whether a value is as far from the nearest one as these values vary."""
    if not rows:
        return False
    settings, values = np.array([x for x, _ in rows]), np.array([v for _, v in rows])
    if not np.ptp(values) > 0.0:  # all the same, as most of 0 or 1: nothing is known of the rest
        return True
    gaps = np.linalg.norm(settings[:, None] - settings, axis=2)
    away = np.linalg.norm(settings - x, axis=1)
    near, width = int(np.argmin(away)), float(gaps.max())
    if not width > 0.0:  # nothing is known of slopes
        return bool(away[near] > 0.0)
    slope = float(np.max(np.abs(values[:, None] - values) / (gaps + 0.1 * width)))
    allowed = STEEPER * slope * away[near] * (1.0 + away[near] / width) ** 3
    return bool(abs(value - values[near]) <= np.ptp(values) + allowed)


def _interval(mean: float, sd: float) -> Estimate:
    return Estimate(mean, mean - 1.96 * sd, mean + 1.96 * sd)


def _known_rise(rises: Array, known: float, usual: float) -> Estimate:
    """Return the largest rise, with an interval that excludes 0 where `known` is beyond `usual`."""
    rise, share = float(np.max(np.abs(rises))), sqrt(usual / max(known, 1e-9 * usual))
    return Estimate(rise, rise * (1.0 - share), rise * (1.0 + share))


class Place:
    """The centre of a context and a choice, and the exploring around it."""

    def __init__(self, y: Array, wide: bool = False) -> None:
        self.y, self.trust = y, FIRST
        self.R: Array = FIRST * (np.ones(len(y)) if wide else np.eye(len(y)))
        """A matrix, or its diagonal."""
        self.seen, self.played = -1, 0
        self.gain = 0.0
        """What tuning may still gain here."""


class Search:
    """Centre and exploring around it, by a regression on everything that was measured.

    Parameters
    ----------
    space : Set
        Of the coordinates, such as `Cube(d)`.
    start : Array
        The first centre.
    picks : tuple of int, default ()
        The first value of each choice.
    grids : sequence, optional
        For each coordinate the places that can be used; None for all.
    options : tuple of int, default ()
        The number of values of each choice.
    contexts, covariates : int, default 0
        The number of weights of a context, and of features of covariates.
    limits : sequence of float, default ()
        The largest value of each limited metric.
    history : bool, default False
        Whether there are rows that were not asked for.
    faults : bool, default True
        Whether a value far from the expected one may be a fault.
    floor : Floor, optional
        The least exploring, where a certificate is wanted.
    """

    def __init__(
        self,
        space: Set,
        start: Array,
        picks: tuple[int, ...] = (),
        *,
        grids: Sequence[Array | None] = (),
        options: tuple[int, ...] = (),
        contexts: int = 0,
        covariates: int = 0,
        limits: Sequence[float] = (),
        history: bool = False,
        faults: bool = True,
        floor: Floor | None = None,
    ) -> None:
        self.floor = floor
        self.space, self.contexts, self.faults = space, contexts, faults
        self.options, self.picks, self.choices = options, picks, prod(options)
        self.grids = {i: grid for i, grid in enumerate(grids) if grid is not None}
        self.limits, self.history = tuple(limits), history
        # Beside those of the context and of each choice, features of both together.
        self.both = contexts * sum(options) <= BOTH
        extra = contexts + sum(options) * (1 + contexts * self.both)
        features = Features(space.d, covariates + history, extra)
        y = np.asarray(start, float)
        kind = Regression if space.d <= MANY else Wide
        self.model = kind(features, history=history, origin=y)
        self.limited = [kind(features, robust=False, history=history, origin=y) for _ in limits]
        self.wide = space.d > MANY and isinstance(space, Cube) and not limits
        """Whether exploring has a width for each coordinate, and no matrix."""
        cells = max(contexts, 1) * self.choices
        self.places = [Place(y.copy(), self.wide) for _ in range(cells)]
        self.first: list[tuple[Any, ...]] = []
        """The first rows, which those that follow may show to be absurd."""
        self.absurd: list[bool] = []
        self.ordinary: deque[tuple[Array, float]] = deque(maxlen=50)
        """The last values that are not far, each with its setting and its context."""
        self.far: deque[Array] = deque(maxlen=10)
        """Directions from ordinary settings to the last far ones."""
        self.in_row, self.left_out = 0, 0
        self.recent: deque[bool] = deque(maxlen=200)
        """Whether the last values were left out or bounded."""

    # --- asking --------------------------------------------------------------------------------

    def ask(self, rng: np.random.Generator, weights: Array) -> Move:
        """Return the next setting in a context: a working point, and the value of each choice."""
        d = self.space.d
        noise, draws = rng.standard_normal(d), rng.standard_normal(max(self.choices, 27))
        choice = self._chosen(weights, draws[: self.choices]) if self.options else 0
        e, picks = self._features(weights, choice), self._picked(choice)
        place = self._planned(weights, choice)
        again = self.in_row == 3 and self.floor is None  # a certificate needs exploring
        if again and self.ordinary:  # has the level jumped, or is it the setting?
            return Move(self.space.inside(self.ordinary[-1][0][:d], 1.0 - WALL), picks, None)
        direction = noise / max(float(np.linalg.norm(noise)), 1e-300)
        factor = np.sqrt(d) * place.R
        if self.floor is not None:
            place = copy(place)
            place.y, factor = self.floor.shape(place.y, matrix(factor))
        step = matrix_times(factor, direction)
        if not (self.limits or self.grids or self.options):
            return Move(place.y + step, picks, self._kept(place, factor, direction, e))
        if not self.limits or self.model.rounds < 3:
            return Move(self._whole(place.y + step, place, e, draws), picks, None)
        spent = self._spent(place.y, e)
        for size in STEPS:  # as wide on both sides, so that the centre is what is tried
            x, other = (self._whole(place.y + by * step, place, e, draws) for by in (size, -size))
            if all(np.all(self._excess(each, e) <= spent) for each in (x, other)):
                break
        return Move(x, picks, None)

    def _kept(self, place: Place, factor: Array, direction: Array, e: Array) -> Play:
        """Return the row of a trial, whose forecast varies as much as the last values at most."""
        values = [value for _, value in self.ordinary]
        low, high = min(values, default=0.0), max(values, default=0.0)
        slope, level, even, width = np.zeros(len(direction)), nan, 0.0, high - low
        if self.model.rounds >= 3:
            f, v, z = self.model.features, place.y - self.model.c, matrix_times(factor, direction)
            m, wide = self.model.average()[0], factor.ndim == 1
            slope, bend = f.gradient(m, v, e), f.diagonal(m) if wide else f.curvature(m)
            bent = factor * bend * factor if wide else factor.T @ bend @ factor
            swing = np.linalg.norm(matrix_times(factor.T, slope)) + np.linalg.norm(bent) / 2
            share = min(1.0, width / float(swing)) if swing > 0.0 else 0.0
            slope, even = share * slope, share * float(z @ matrix_times(bend, z)) / 2.0
            level = self.model.offset + float(f.row(v, None, e) @ m)
            level = min(max(level, low - width), high + width)
        return play(place.y, factor, direction, level, slope, even, high)

    def _picked(self, choice: int) -> tuple[int, ...]:
        """Return the value of each choice."""
        return tuple(int(i) for i in np.unravel_index(choice, self.options)) if self.options else ()

    def _features(self, weights: Array, choice: int) -> Array:
        """Return the features of a context, of a value of each choice, and of both together."""
        picked = zip(self._picked(choice), self.options, strict=True)
        values = np.concatenate([np.zeros(0), *(np.eye(size)[pick] for pick, size in picked)])
        parts = [weights, values, np.outer(weights, values).ravel()]
        return np.concatenate(parts if self.both else parts[:2])

    def _whole(self, x: Array, place: Place, e: Array, draws: Array | None) -> Array:
        """Return x with coordinates of grids on them.

        Where exploring is wider than a step, the nearest place is taken. Below, one draw from what
        is believed of the centre's neighbours decides; without draws their mean.
        """
        if not self.grids:
            return x
        x, near = x.copy(), []
        for i, grid in self.grids.items():
            at = int(np.argmin(np.abs(grid - place.y[i])))
            around = grid[max(at - 1, 0) : at + 2]
            x[i] = grid[np.argmin(np.abs(grid - x[i]))]
            if draws is None or np.linalg.norm(place.R[i]) < 0.5 * np.max(np.diff(around)):
                near.append((i, around))
        if self.model.rounds < 3:
            return x
        for k in range(0, len(near), 3):  # three coordinates at a time
            some = near[k : k + 3]
            rows = np.array(list(product(*(around for _, around in some))))
            points = np.tile(x, (len(rows), 1))
            points[:, [i for i, _ in some]] = rows
            phi = np.array([self.model.features.row(p - self.model.c, None, e) for p in points])
            x = points[np.argmin(self._drawn(phi, draws))]
        return x

    def _drawn(self, phi: Array, draws: Array | None) -> Array:
        """Return the values at some rows as they are believed, or one joint draw of them."""
        m, C = self.model.average()
        value = phi @ m
        if draws is not None:
            phi = phi - phi[0]  # what they have in common decides nothing
            spread, V = np.linalg.eigh(matrix_times(C, phi.T).T @ phi.T)
            value = value + V @ (np.sqrt(np.maximum(spread, 0.0)) * draws[: len(phi)])
        return value

    def _planned(self, weights: Array, choice: int) -> Place:
        """Return the place of a context and a choice, planned with what is known by now.

        Between the places of several weights it is planned from their mean.
        """
        e, cells, w = self._features(weights, choice), *self._cells(weights, choice)
        if len(cells) == 1:
            if cells[0].seen == self.model.rounds:
                return cells[0]
            place = copy(cells[0])
        else:
            place = Place(w @ np.array([each.y for each in cells]))
            place.trust = float(np.exp(w @ np.log([each.trust for each in cells])))
        self._plan(place, e)
        place.seen = self.model.rounds
        return place

    def _cells(self, weights: Array, choice: int) -> tuple[list[Place], Array]:
        """Return the places of the weights that are not 0, and their shares."""
        cells = np.flatnonzero(weights) if self.contexts else np.zeros(1, int)
        w = weights[cells] if self.contexts else np.ones(1)
        return [self.places[cell * self.choices + choice] for cell in cells], w / w.sum()

    def _settle(self, weights: Array, choice: int) -> None:
        """Move the places of a context and a choice to where they are planned by now."""
        cells, w = self._cells(weights, choice)
        place = self._planned(weights, choice)
        if len(cells) == 1:
            vars(cells[0]).update(vars(place))
        else:  # what their mean moves by moves them
            step = place.y - w @ np.array([each.y for each in cells])
            grown = place.trust / float(np.exp(w @ np.log([each.trust for each in cells])))
            for each, share in zip(cells, w, strict=True):
                part = min(1.0, 0.9 * self.space.room(each.y, share * step))
                each.y = self.space.inside(each.y + part * share * step, 1.0 - WALL)
                each.trust *= grown**share
        apart = place.y - self.model.c
        wide, d = place.R.ndim == 1, max(self.space.d, 1)
        square = place.R @ place.R if wide else d * np.abs(np.linalg.det(place.R)) ** (2.0 / d)
        if len(self.places) == 1 and apart @ apart > 9.0 * square:
            for model in (self.model, *self.limited):
                model.recentre(place.y)

    def _known(self, weights: Array | None, choice: int) -> Place:
        """Return the place of a context and a choice as it was last planned."""
        n = self.choices
        if weights is None or not self.contexts:
            weights = np.full(max(self.contexts, 1), 1.0 / max(self.contexts, 1))
        places = [self.places[cell * n + choice] for cell in range(len(weights))]
        found = Place(weights @ np.array([each.y for each in places]) / weights.sum())
        found.R, found.gain = places[int(np.argmax(weights))].R, 0.0
        return found

    def _chosen(self, weights: Array, draws: Array) -> int:
        """Two plays of each choice, then one joint draw from what is believed of all of them."""
        n, model = self.choices, self.model
        cell = int(np.argmax(weights)) if self.contexts else 0
        plays = [place.played for place in self.places[cell * n : cell * n + n]]
        if model.rounds == 0:
            return int(np.ravel_multi_index(self.picks, self.options))
        if min(plays) < 2:
            return int(np.argmin(plays))
        rows, gains = [], []
        for choice in range(n):
            place = self._planned(weights, choice)
            e = self._features(weights, choice)
            rows.append(model.features.row(place.y - model.c, None, e))
            gains.append(place.gain)
        return int(np.argmin(self._drawn(np.array(rows), draws) - gains))

    def best(self, weights: Array | None = None) -> tuple[Array, tuple[int, ...]]:
        """Return the setting believed to be the best, without exploring."""
        choice = self._best_choice(weights)
        if weights is None:
            weights = np.full(self.contexts, 1.0 / max(self.contexts, 1))
        place = self._known(weights, choice)
        return self._recommended(place, self._features(weights, choice)), self._picked(choice)

    def _recommended(self, place: Place, e: Array) -> Array:
        """Return a centre as it is used; with limits only as far as settings were tried."""
        y = place.y
        if self.limits and len(self.ordinary) > self.space.d:
            tried = np.array([x[: self.space.d] for x, _ in self.ordinary])
            middle, spread = tried.mean(axis=0), np.cov(tried.T).reshape(self.space.d, -1)
            spread += (1e-6 * np.trace(spread) + 1e-18) * np.eye(self.space.d)
            root = np.linalg.inv(np.linalg.cholesky(spread))
            most = np.linalg.norm((tried - middle) @ root.T, axis=1).max()
            away = float(np.linalg.norm(root @ (y - middle)))
            y = middle + min(1.0, most / max(away, 1e-300)) * (y - middle)
        return self._whole(y, place, e, None)

    def _best_choice(self, weights: Array | None) -> int:
        if not self.options:
            return 0
        if weights is None:
            weights = np.full(self.contexts, 1.0 / max(self.contexts, 1))
        n, model = self.choices, self.model
        cell = int(np.argmax(weights)) if self.contexts else 0
        played = [place.played for place in self.places[cell * n : cell * n + n]]
        if model.rounds < 3 or not any(played):
            return int(np.ravel_multi_index(self.picks, self.options))
        rows = [
            model.features.row(
                self._known(weights, choice).y - model.c, None, self._features(weights, choice)
            )
            for choice in range(n)
        ]
        value = self._drawn(np.array(rows), None)
        return int(np.argmin(np.where(np.array(played) > 0, value, np.inf)))

    def expected(self, x: Array, picks: tuple[int, ...], weights: Array, z: Array) -> float:
        """Return the value that is expected at a setting; NaN before anything is known."""
        if self.model.rounds == 0:
            return nan
        choice = int(np.ravel_multi_index(picks, self.options)) if self.options else 0
        row = self._row(x, z, self._features(weights, choice), False)
        return self.model.believed(row)[0]

    def _row(self, x: Array, z: Array | None, e: Array, history: bool) -> Array:
        known = np.zeros(self.model.features.z)
        if z is not None:
            known[: len(z)] = z
        known[len(known) - self.history :] = float(history)
        return self.model.features.row(x - self.model.c, known, e)

    # --- telling -------------------------------------------------------------------------------

    def tell(
        self,
        x: Array,
        picks: tuple[int, ...],
        value: float | None,
        *,
        weights: Array,
        covariates: Array | None = None,
        metrics: Sequence[float] = (),
        history: bool = False,
        settle: bool = True,
    ) -> bool:
        """Learn a value, None for a failure, and plan; return whether it counts as it is.

        History are rows that were not asked for.
        """
        choice = int(np.ravel_multi_index(picks, self.options)) if self.options else 0
        z, e = np.zeros(self.model.features.z), self._features(weights, choice)
        if covariates is not None:
            z[: len(covariates)] = covariates
        z[len(z) - self.history :] = float(history)
        cell = int(np.argmax(weights)) if self.contexts else 0
        beside = self.places[cell * self.choices : (cell + 1) * self.choices]
        place = beside[choice]
        place.played += 1
        for model in (self.model, *self.limited):
            model.at = place.y
        if self.floor is not None and value is not None and not history:
            self.floor.learn(value)
        for model, metric in zip(self.limited, metrics, strict=True):
            if np.isfinite(metric):  # a failed trial may lack it
                model.learn(model.features.row(x - model.c, z, e), metric, history=history)
        before = self.left_out
        if len(self.first) < BEGINNING:
            self.first.append((x, value, z, e, history))
            self._begin(place)
        else:
            self._learn(x, value, z, e, history, place)
        if settle and min(each.played for each in beside) >= 2:
            for other in range(self.choices):
                self._settle(weights, other)
        elif settle:
            self._settle(weights, choice)
        return self.left_out == before

    def _begin(self, place: Place) -> None:
        """Learn a first row, and all of them anew where it changes which are absurd."""
        if len(self.first) < FEW:
            return
        before, self.absurd = self.absurd, self._find_absurd()
        rows = self.first[-1:]
        if self.absurd[:-1] != before:
            rows, left_out = self.first, self.left_out
            self.model.clear()
            for each in (self.ordinary, self.far, self.recent):
                each.clear()
            self.in_row = self.left_out = 0
        for (x, value, z, e, history), absurd in zip(rows, self.absurd[-len(rows) :], strict=True):
            if value is None or absurd:
                self._bound(x, value, z, e, place)
            else:
                self._take(x, value, z, e, history)
        if rows is self.first:
            self.left_out = max(self.left_out, left_out)

    def _find_absurd(self) -> list[bool]:
        """Return which of the first values are far from most, and from what is near them."""
        known = [(np.append(x, e), v) for x, v, _, e, _ in self.first if v is not None]
        if not self.faults or len(known) < FEW:
            return [False] * len(self.first)
        middle = np.median([v for _, v in known])
        width = sorted(abs(v - middle) for _, v in known)[int(CORE * len(known))]
        core = [(x, v) for x, v in known if abs(v - middle) <= ABSURD * width]
        return [
            not (
                v is None
                or history
                or abs(v - middle) <= ABSURD * width
                or _fits(np.append(x, e), v, core)
            )
            for x, v, _, e, history in self.first
        ]

    def _learn(
        self, x: Array, value: float | None, z: Array, e: Array, history: bool, place: Place
    ) -> None:
        """Learn a value, or what is left of it where it is far from the expected one."""
        model = self.model
        row = model.features.row(x - model.c, z, e)
        mean, sd = model.predict(row)
        bound, first = FAR * sd, model.rounds < 3 * len(row)
        if first and self.ordinary:
            wide = 10.0 * np.ptp([v for _, v in self.ordinary])
            bound = float(min(max(wide, 1e-9 * abs(mean)), FIRST_FAR * sd))
        trusted = history or not self.faults or (self.history and model.live <= len(row))
        if value is not None and (
            trusted or abs(value - mean) <= bound or _fits(np.append(x, e), value, self.ordinary)
        ):
            self._take(x, value, z, e, history=history)
        elif self.in_row >= 3 and value is not None:  # the last ordinary setting is far as well
            model.forget_level()
            self._take(x, value, z, e)
        else:
            self._bound(x, value, z, e, place)

    def _bound(self, x: Array, value: float | None, z: Array, e: Array, place: Place) -> None:
        """Learn what is left of a far value, or of a failure."""
        model = self.model
        row = model.features.row(x - model.c, z, e)
        mean, sd = model.predict(row)
        good, bound = value is not None and value < mean, FAR * sd
        self.in_row = self.in_row + 1 if self.in_row < 4 else 0
        usual = [x[: self.space.d] for x, _ in self.ordinary][-5:]
        away = np.linalg.solve(matrix(place.R), x - (np.mean(usual, axis=0) if usual else place.y))
        self.far.append(np.asarray(away / max(float(np.linalg.norm(away)), 1e-300), float))
        self.left_out += value is not None
        self.recent.append(value is not None)
        last = [v for _, v in self.ordinary][-15:]
        depends = self._depends()
        if last:  # what was seen says more of the noise than an early model
            sd = min(sd, 0.5 * float(np.ptp(last)))
        bounded = mean - bound if good else max([mean, *last]) + (LEVEL if depends else 2.0) * sd
        if value is not None and not good:
            bounded = min(bounded, value)
        early = value is not None and model.rounds < 2 * len(row)  # one row would decide much
        weight = 0.0 if good else 1.0 if depends else 0.0 if early else 0.1
        if model.rounds:
            model.learn(row, bounded, weight, scored=False)
            model.loosen(value is not None and abs(value - mean) <= 5.0 * bound)

    def _take(self, x: Array, value: float, z: Array, e: Array, history: bool = False) -> None:
        """Learn an ordinary value."""
        self.model.learn(self.model.features.row(x - self.model.c, z, e), value, history=history)
        if not history:
            self.ordinary.append((np.append(x, e), value))
            self.recent.append(False)
            self.in_row = 0

    def _depends(self) -> bool:
        """Return whether far values lie on one side of ordinary ones: a fault has no side."""
        k, d = len(self.far), self.space.d
        if k < 3 or not d:
            return False
        mean = np.mean(self.far, axis=0)
        return bool(k * d * (mean @ mean) > chi_square(d, 1.645))

    # --- the plan ------------------------------------------------------------------------------

    def _plan(self, place: Place, e: Array) -> None:
        """Move a centre to the believed minimum, and set the radius of exploring around it."""
        model, f, d = self.model, self.model.features, self.space.d
        if self.wide:
            self._plan_wide(place, e)
            return
        if model.rounds < 3 or not d:  # choices alone have no centre
            place.R = self._within(place.y, np.eye(d) / place.trust**2)
            return
        m, C = model.average()
        C = matrix(C)
        values, V = np.linalg.eigh(f.curvature(m)) if len(f.i) else (f.diagonal(m), np.eye(d))
        bends = f.bends(V)
        sd = np.sqrt(np.maximum(np.sum(bends @ C[f.second, f.second] * bends, axis=1), 1e-300))
        high = np.maximum(values, 0.5 * sd)

        # the centre: g + A u + M ψ'(y + u) = 0, at most two radii away; M, A^(-1/2) Cov(g) A^(-1/2)
        # twice, weighs the set's barrier, a prior for the minimiser, against what is known of it
        A, root = (V * high) @ V.T, (V / np.sqrt(high)) @ V.T
        B = f.slope(place.y - model.c, e)
        M = PRIOR * root @ (B @ C @ B.T) @ root
        y = self._minimum(place.y, B @ m, A, M)
        if self.limits and np.any(self._excess(y, e) > 0.0):
            y = self._allowed(place.y, B @ m, A, M, e)
        step: Array = y - place.y
        far = float(np.sqrt(step @ step)) / (REACH * place.trust)
        place.y = self.space.inside(place.y + step / max(far, 1.0), 1.0 - WALL)

        # exploring: the posterior of the minimiser, with curvature LOWER deviations lower
        B = f.slope(place.y - model.c, e)
        low = np.maximum(values - LOWER * sd, 0.25 * np.maximum(values, sd))
        root = (V.T @ B) / low[:, None]
        widths, U = np.linalg.eigh(root @ C @ root.T)
        widths, U = SCALE * np.sqrt(np.maximum(widths, 0.0)), V @ U
        trust = np.clip(widths[-1], SHRINK * place.trust, GROW * place.trust)
        if trust < 1e-3 and np.any(values <= 2.0 * sd):
            trust = max(trust, min(1e-3, 1.5 * place.trust))
        place.trust = float(np.clip(trust, SMALLEST, 1.0))
        widths = np.maximum(widths, 1e-4 * place.trust)
        place.R = self._within(
            place.y,
            (U * (1.0 / widths**2 + 1.0 / place.trust**2)) @ U.T,
            self._steep(place.y, e, place.trust),
        )
        if self.options:
            g = B @ m
            q = np.sqrt((V.T @ g) ** 2 + np.sum((V.T @ B @ C) * (V.T @ B), axis=1))
            w = np.maximum(values, 0.05 * max(float(values.max()), 1e-300))
            s = q / np.maximum(np.maximum(q, w), 1e-300)
            place.gain = float(np.sum(q * s - 0.5 * w * s * s))

    def _plan_wide(self, place: Place, e: Array) -> None:
        """The same where coordinates are independent of each other."""
        model, f, d, cube = self.model, self.model.features, self.space.d, self.space
        assert isinstance(cube, Cube)
        widths = np.full(d, np.inf)
        if model.rounds >= 3:
            m, C = model.average()
            values, sd = f.diagonal(m), np.sqrt(C[f.squares] + C[f.common])
            high, v = np.maximum(values, 0.5 * sd), place.y - model.c
            along = e**2 @ C[f.slopes].reshape(f.e, d) if f.e else 0.0
            g, spread = f.gradient(m, v, e), C[f.v] + (v * sd) ** 2 + along
            y = place.y
            for _ in range(4):
                slope, bend = cube.sides(y)
                M = PRIOR * spread / high
                step = -(g + high * (y - place.y) + M * slope) / (high + M * bend)
                y = y + min(1.0, 0.9 * cube.room(y, step)) * step
            step = y - place.y
            far = float(np.linalg.norm(step)) / (REACH * place.trust)
            place.y = cube.inside(place.y + step / max(far, 1.0), 1.0 - WALL)
            low = np.maximum(values - LOWER * sd, 0.25 * np.maximum(values, sd))
            widths = SCALE * np.sqrt(C[f.v] + ((place.y - model.c) * sd) ** 2 + along) / low
            trust = np.clip(widths.max(), SHRINK * place.trust, GROW * place.trust)
            place.trust = float(np.clip(trust, SMALLEST, 1.0))
            widths = np.maximum(widths, 1e-4 * place.trust)
        bend = cube.sides(place.y)[1]
        place.R = 1.0 / np.sqrt(1.0 / widths**2 + 1.0 / place.trust**2 + d * bend)

    def _minimum(self, y0: Array, g: Array, A: Array, M: Array) -> Array:
        """The root of g + A (y - y0) + M ψ'(y)."""
        y = y0
        for _ in range(4):
            slope, hessian = self.space.barrier(y)
            step = np.asarray(
                np.linalg.solve(A + M @ hessian, -(g + A @ (y - y0) + M @ slope)), float
            )
            y = y + min(1.0, 0.9 * self.space.room(y, step)) * step
            move: Array = y - y0
            if step @ step < 1e-6 * (move @ move):
                break
        return y

    def _within(self, y: Array, precision: Array, steep: Array | float = 0.0) -> Array:
        """A factor of exploring that stays in the set."""
        _, hessian = self.space.barrier(y)
        root = np.linalg.cholesky(precision + self.space.d * hessian + steep)
        # In the order of a restored one: products of another order differ in the last digit.
        return np.ascontiguousarray(np.linalg.inv(root).T)

    # --- limits --------------------------------------------------------------------------------

    def _excess(self, x: Array, e: Array) -> Array:
        """By how much each limited metric may exceed its limit at x."""
        excess = []
        for model, limit in zip(self.limited, self.limits, strict=True):
            mean, sd = model.believed(model.features.row(x - model.c, None, e))
            excess.append(mean + 1.5 * sd - limit)
        return np.array(excess)

    def _spent(self, y: Array, e: Array) -> Array:
        """By how much limited metrics may exceed their limits: at all where they cannot be met."""
        spent = np.maximum(self._excess(y, e), 0.0)
        for k, (model, limit) in enumerate(zip(self.limited, self.limits, strict=True)):
            mean, sd = model.believed(model.features.row(y - model.c, None, e))
            if mean - 2.0 * sd > limit:
                spent[k] = np.inf
        return spent

    def _allowed(self, y0: Array, g: Array, A: Array, M: Array, e: Array) -> Array:
        """The least value with every metric below its limit: multipliers by bisection."""
        slopes, bends = [], []
        for model in self.limited:
            f, m = model.features, model.average()[0]
            slopes.append(f.gradient(m, y0 - model.c, e))
            values, V = np.linalg.eigh(f.curvature(m))
            bends.append((V * np.maximum(values, 0.0)) @ V.T)
        weights = np.zeros(len(slopes))
        size = np.trace(A) / len(A)

        def point() -> Array:
            slope = g + sum(w * each for w, each in zip(weights, slopes, strict=True))
            bend = A + sum(w * each for w, each in zip(weights, bends, strict=True))
            return self._minimum(y0, slope, bend, M)

        y = point()
        for _ in range(2 if len(weights) > 1 else 1):
            for k, slope in enumerate(slopes):
                weights[k] = 0.0
                y = point()
                if self._excess(y, e)[k] <= 0.0:
                    continue
                unit = (np.linalg.norm(g) + size) / max(float(np.linalg.norm(slope)), 1e-300)
                low, high = -10.0, 6.0
                for _ in range(12):
                    middle = 0.5 * (low + high)
                    weights[k] = unit * np.exp(middle)
                    if self._excess(point(), e)[k] > 0.0:
                        low = middle
                    else:
                        high = middle
                weights[k] = unit * np.exp(high)
                y = point()
        return y

    def _steep(self, y: Array, e: Array, trust: float) -> Array | float:
        """Along an active limit's slope, exploring is narrow: precision that is added."""
        steep: Array | float = 0.0
        for model, limit in zip(self.limited, self.limits, strict=True):
            mean, sd = model.believed(model.features.row(y - model.c, None, e))
            if mean - 2.0 * sd <= limit < mean + 3.0 * sd:
                slope = model.features.gradient(model.average()[0], y - model.c, e)
                least = max(sd, 0.05 * trust * float(np.linalg.norm(slope)), 1e-300)
                steep = steep + np.outer(slope, slope) / (0.7 * least) ** 2
        return steep

    # --- what it says --------------------------------------------------------------------------

    def found(self, weights: Array) -> Found:
        """Return the best setting of a context, with intervals of 95 %."""
        choice, model, f = self._best_choice(weights), self.model, self.model.features
        place, e = self._known(weights, choice), self._features(weights, choice)
        x = self._recommended(place, e)
        if model.rounds < FEW:  # nothing is known yet
            no = Estimate(nan, nan, nan)
            few = [no] * self.space.d
            return Found(
                x,
                self._picked(choice),
                no,
                few,
                few,
                [no] * len(self.options),
                [no] * len(self.limits),
            )
        v = x - model.c
        m, C = model.average()

        row, d = f.row(v, None, e), self.space.d
        g, bend = f.gradient(m, v, e), f.diagonal(m)
        if C.ndim == 1:
            sd = np.sqrt(C[f.squares] + C[f.common])
            error = np.sqrt(C[f.v] + (v * sd) ** 2) / np.maximum(bend - sd, 0.25 * sd)
        else:
            values, V = np.linalg.eigh(f.curvature(m)) if d else (np.zeros(0), np.zeros((0, 0)))
            bends = f.bends(V)
            sd = np.sqrt(np.maximum(np.sum(bends @ C[f.second, f.second] * bends, axis=1), 1e-300))
            root = V @ ((V.T @ f.slope(v, e)) / np.maximum(values - sd, 0.25 * sd)[:, None])
            error = np.sqrt(np.maximum(np.sum(root @ C * root, axis=1), 0.0))
        intervals: list[Estimate] = []
        importance: list[Estimate] = []
        for i, (unit, off) in enumerate(zip(np.eye(d), 1.96 * error, strict=True)):
            up, down = self.space.room(x, unit), -self.space.room(x, -unit)
            intervals.append(Estimate(x[i], x[i] + max(-off, down), x[i] + min(off, up)))
            ways = np.outer((up, down), 0.5 ** np.arange(6))
            rises = ways * (g[i] + 0.5 * ways * bend[i])
            importance.append(_known_rise(rises, *model.dependence(f.of(i))))
        limits = []
        for each in self.limited:
            limits.append(_interval(*each.believed(each.features.row(x - each.c, None, e))))
        value = _interval(*model.believed(row))
        options, picks = [], self._picked(choice)
        ends = np.cumsum([0, *self.options])
        for k, size in enumerate(self.options):
            others = [(*picks[:k], other, *picks[k + 1 :]) for other in range(size)]
            joint = [int(np.ravel_multi_index(each, self.options)) for each in others]
            rows = [f.row(v, None, self._features(weights, each)) for each in joint]
            rises = np.array([(each - row) @ m for each in rows])
            own = np.arange(*ends[k : k + 2])
            both = [own + n * ends[-1] for n in range(1 + self.contexts * self.both)]
            weights_of = self.contexts + np.concatenate(both)
            options.append(_known_rise(rises, *model.dependence(f.of_context(weights_of))))
        return Found(x, picks, value, intervals, importance, options, limits)

    @property
    def left_out_lately(self) -> float:
        """The share of the last values that were left out or bounded."""
        return sum(self.recent) / 200.0

    def start_at(self, y: Array, picks: tuple[int, ...]) -> None:
        """Begin at another centre, with what is known."""
        self.picks = picks
        for place in self.places:
            place.y = self.space.inside(y, 0.98)

    def widen(self, more: int) -> None:
        """Take in features of covariates, which were 0 in every row so far."""
        place = self.model.features.z - self.history
        for model in (self.model, *self.limited):
            model.widen(more)
        self.first = [
            (x, value, np.insert(z, [place] * more, 0.0), e, history)
            for x, value, z, e, history in self.first
        ]

    def continue_at(self, before: Search) -> None:
        """Take over centres and radii."""
        for place, other in zip(self.places, before.places, strict=True):
            place.y, place.trust, place.R = other.y, other.trust, other.R

    # --- state ---------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Return all that it knows, as plain data."""
        return {
            "model": self.model.state(),
            "limited": [each.state() for each in self.limited],
            "places": [
                {"y": p.y.tolist(), "trust": float(p.trust), "R": p.R.tolist(), "seen": p.seen,
                 "played": p.played, "gain": p.gain}
                for p in self.places
            ],
            "first": [[x.tolist(), v, z.tolist(), e.tolist(), h] for x, v, z, e, h in self.first],
            "ordinary": [[x.tolist(), value] for x, value in self.ordinary],
            "far": [x.tolist() for x in self.far],
            "absurd": self.absurd,
            "in_row": self.in_row,
            "left_out": self.left_out,
            "picks": list(map(int, self.picks)),
            "floor": self.floor and self.floor.state(),
            "history": self.history,
            "recent": list(self.recent),
        }  # fmt: skip

    def _refuse_other(self, state: dict[str, Any]) -> None:
        """Refuse data of another form than those of this search, and infinite numbers."""
        x, z, e = [0.0] * self.space.d, [0.0] * self.model.features.z, [0.0] * self.model.features.e
        forms: dict[str, Any] = {
            "first": [x, None, z, e, False],
            "ordinary": [x + e, 0.0],
            "far": x,
        }
        forms |= {"recent": False, "absurd": False}
        same = self.state()
        refuse_infinite(state, "search")
        for name, form in forms.items():
            if not isinstance(state[name], list):
                raise StateError(f"{name} of a state must be a list, got {shown(state[name])}")
            for row in state[name]:
                refuse_other_form(row, form, name)
            same[name] = []
        same["picks"] = list(same["picks"])
        refuse_other_form(state | {"picks": list(state["picks"])}, same, "search")
        for row in state["first"]:
            if row[1] is not None:
                refuse_other_form(row[1], 0.0, "first")

    def restore(self, state: dict[str, Any], checked: bool = False) -> None:
        """Go on from plain data, which may have been checked by a digest.

        Raises
        ------
        StateError
            If the data are of another search, or not finite.
        """
        if not checked:
            self._refuse_other(state)
        self.model.restore(state["model"])
        for each, own in zip(self.limited, state["limited"], strict=True):
            each.restore(own)
        for place, own in zip(self.places, state["places"], strict=True):
            for name, value in own.items():
                setattr(place, name, np.array(value, float) if isinstance(value, list) else value)
            place.R = place.R.reshape((self.space.d,) * (1 if self.wide else 2))
        self.first = [
            (np.array(x, float), v, np.array(z, float), np.array(e, float), h)
            for x, v, z, e, h in state["first"]
        ]
        self.ordinary.clear()
        self.ordinary.extend((np.array(x, float), value) for x, value in state["ordinary"])
        self.far.clear()
        self.far.extend(np.array(x, float) for x in state["far"])
        self.recent.clear()
        self.recent.extend(state["recent"])
        self.in_row, self.left_out = state["in_row"], state["left_out"]
        self.absurd = state["absurd"]
        self.picks = tuple(state["picks"])
        if self.floor is not None:
            self.floor.restore(state["floor"])
