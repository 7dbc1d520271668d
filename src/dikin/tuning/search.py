"""The search of a tuner: the centre that its regression believes in, and exploring around it.

Letters: y the centre, R R' the covariance of exploring, g and H slope and curvature of the model at
y, A the curvature raised to where it is known, C the covariance of the coefficients.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import product
from math import exp, log, nan, prod, sqrt
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from dikin.serialization import Stateful, decode, encode
from dikin.tuning.faults import RARE, absurd, fits
from dikin.tuning.guarantee import Floor, Play, play
from dikin.tuning.model import MANY, Features, Regression, Wide, chi_square
from dikin.tuning.recommendation import UNKNOWN, Interval
from dikin.tuning.sets import Cube, Set
from dikin.vectors import Array

FIRST_RADIUS, SMALLEST_RADIUS = 0.35, 1e-8
"""The first and the smallest radius."""
GROW, SHRINK = 1.15, 0.85
"""Factors by which the radius grows and shrinks in a round, at most."""
REACH = 3.0
"""Radii that the centre moves in a round, at most."""
LOWER = 0.5
"""Standard deviations by which the curvature may be lower than believed, where it is explored."""
SCALE = 0.5
"""Share of the posterior of the minimiser that is explored."""
PRIOR = 0.5
"""Strength of the belief that the minimiser is inside the set rather than at its boundary."""
FAR, FIRST_FAR = 6.0, 12.0
"""Standard deviations beyond which a value is far: later, and in the first rounds."""
ABOVE_WORST = 4.0
"""Standard deviations above the worst ordinary value of a far one that depends on the setting."""
MISFIT = 0.2
"""Share of the largest known effect that values of another shape than a bowl may add to others."""
DEEPER = 1.25
"""Heights of the believed bowl by which a kink with the same values may be deeper."""
STEPS = (1.0, 0.5, 0.25, 0.1)
"""Shares of an exploring step that are tried where a limit forbids more."""
BOTH = 64
"""Features of contexts and choices together, at most."""
WALL = 1e-6
"""The distance that a centre keeps from the boundary, as a share of the way to it."""
APPROACH = 3
"""Rounds in which the working point moves from the start to the best setting of a history."""
FEW, REJUDGED = 3, 40
"""Values before the first is learnt, and those that later ones may show to be absurd."""
LATELY = 200
"""Values of which the share that was left out or bounded is known."""
NONE = np.zeros(0)


class Found(NamedTuple):
    """The best setting, with intervals."""

    x: Array
    value: Interval
    intervals: list[Interval]
    importance: list[Interval]
    """By how much the value rises when the coordinate alone is moved."""
    options: list[Interval]
    """The same for each choice."""
    limits: list[Interval]


class Row(NamedTuple):
    """A setting and its value, None for a failure."""

    x: Array
    value: float | None
    z: Array
    """Features of covariates."""
    e: Array
    """Features of the context and of choices."""
    history: bool

    @property
    def where(self) -> Array:
        """The setting with its context."""
        return np.append(self.x, self.e)


class Place(Stateful):
    """The centre of a context and a choice, and the exploring around it."""

    PARTS = ("y", "trust", "R", "seen", "played", "gain")

    def __init__(self, y: Array, wide: bool = False) -> None:
        self.y, self.trust = y, FIRST_RADIUS
        self.R: Array = FIRST_RADIUS * (np.ones(len(y)) if wide else np.eye(len(y)))
        """A matrix, or its diagonal."""
        self.seen, self.played = -1, 0
        self.gain = 0.0
        """The value that tuning may still gain here."""
        self.e = NONE
        """Features of the context and of choices."""

    def trusted(self, widths: Array, sure: bool) -> Array:
        """Let the radius follow some widths, and return those that are explored."""
        trust = min(max(float(widths.max()), SHRINK * self.trust), GROW * self.trust)
        if trust < 1e-3 and not sure:
            trust = max(trust, min(1e-3, 1.5 * self.trust))
        self.trust = min(max(trust, SMALLEST_RADIUS), 1.0)
        return np.maximum(widths, 1e-4 * self.trust)


def matrix(factor: Array) -> Array:
    """Return a matrix that may be given by its diagonal."""
    return np.diag(factor) if factor.ndim == 1 else factor


def _known_rise(rises: Array, known: float, usual: float) -> Interval:
    """Return the largest rise, with an interval that excludes 0 where `known` is beyond `usual`."""
    rise, share = float(np.max(np.abs(rises))), sqrt(usual / max(known, 1e-9 * usual))
    return Interval(rise, rise * (1.0 - share), rise * (1.0 + share))


class Search(Stateful):
    """Centre and exploring around it, by a regression on everything that was measured.

    It begins at `start`, with the choices `picks` out of so many `options`. `grids` has the places
    of each coordinate that can be used, None for all. There are so many weights of `contexts` and
    features of `covariates`, and `limits` on metrics. With `history` there are rows that were not
    asked for. With `faults` a far value may be a fault. A `floor` is that of a certificate.
    """

    PARTS = ("in_row", "left_out", "first_choice", "history")
    QUEUES = ("first", "absurd", "ordinary", "far", "recent")

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
        self.floor, self.space, self.contexts, self.faults = floor, space, contexts, faults
        self.options, self.choices = options, prod(options)
        self.picks = list(product(*map(range, options)))
        """The values of choices, for each combination of them."""
        self.first_choice = self.picks.index(picks)
        self.grids = {i: grid for i, grid in enumerate(grids) if grid is not None}
        self.limits, self.history = tuple(limits), history
        # Beside those of the context and of each choice, features of both together.
        self.both = contexts * sum(options) <= BOTH
        extra = contexts + sum(options) * (1 + contexts * self.both)
        features = Features(space.d, covariates + history, extra)
        self.start = y = np.asarray(start, float)
        kind = Regression if space.d <= MANY else Wide
        self.model = kind(features, history=history, origin=y)
        self.limited = [kind(features, robust=False, history=history, origin=y) for _ in limits]
        self.wide, self.barrier = False, space.barrier
        """True if exploring has a width for each coordinate instead of a matrix."""
        if space.d > MANY and isinstance(space, Cube) and not limits:
            self.wide, self.barrier = True, space.sides
        self.times: np.ufunc = np.multiply if self.wide else np.matmul
        cells = max(contexts, 1) * self.choices
        self.places = [Place(y.copy(), self.wide) for _ in range(cells)]
        self.first: list[Row] = []
        """The first rows, which those that follow may show to be absurd."""
        self.absurd: list[bool] = []
        self.ordinary: deque[tuple[Array, float]] = deque(maxlen=50)
        """The last values that are not far, each with its setting and its context."""
        self.far: deque[Array] = deque(maxlen=10)
        """Directions from ordinary settings to the last far ones."""
        self.recent: deque[bool] = deque(maxlen=LATELY)
        """True for each of the last values that was left out or bounded."""
        self.in_row, self.left_out = 0, 0

    # --- asking --------------------------------------------------------------------------------

    def ask(
        self, rng: np.random.Generator, weights: Array
    ) -> tuple[Array, tuple[int, ...], Play | None]:
        """Return the next working point in a context, the picks, and its row of the certificate."""
        d = self.space.d
        noise, draws = rng.standard_normal(d), rng.standard_normal(max(self.choices, 27))
        place, choice = self._chosen(weights, draws[: self.choices])
        picks = self.picks[choice]
        self._plan(place)
        again = self.in_row == 3 and self.floor is None  # a certificate needs exploring
        if again and self.ordinary:  # has the level jumped, or is it the setting?
            return self.space.inside(self.ordinary[-1][0][:d], 1.0 - WALL), picks, None
        direction = noise / max(sqrt(noise @ noise), 1e-300)
        share = (self.model.live + 1) / APPROACH
        if self.history and share < 1.0:  # values on the way show whether the history misleads
            place.y, place.R = self.start + share * (place.y - self.start), share * place.R
        factor = sqrt(d) * place.R
        if self.floor is not None:
            place.y, factor = self.floor.shape(place.y, matrix(factor))
        step = factor * direction if factor.ndim == 1 else factor @ direction
        if not (self.limited or self.grids or self.options):
            return place.y + step, picks, self._kept(place, factor, direction, step)
        if not self.limited or self.model.rounds < 3:
            return self._whole(place.y + step, place, draws), picks, None
        over, sd = self._over(place.y, place.e)
        # At all where a limit cannot be met.
        spent = np.where(over > 2.0 * sd, np.inf, np.maximum(over + 1.5 * sd, 0.0))
        for size in STEPS:  # as wide on both sides: the centre is tried
            x, other = (self._whole(place.y + by * step, place, draws) for by in (size, -size))
            if all(np.all(self._excess(each, place.e) <= spent) for each in (x, other)):
                break
        return x, picks, None

    def _kept(self, place: Place, factor: Array, direction: Array, step: Array) -> Play:
        """Return the row of a trial, whose forecast varies as much as the last values at most."""
        model, values = self.model, [value for _, value in self.ordinary]
        low, high = min(values, default=0.0), max(values, default=0.0)
        slope, level, even, width = np.zeros(len(direction)), nan, 0.0, high - low
        if model.rounds >= 3:
            slope = model.gradient(place.y - model.c, place.e)
            times = np.multiply if factor.ndim == 1 else np.matmul
            bends = model.bends if factor.ndim == 1 else matrix(model.bends)
            along, bent = times(factor.T, slope), times(times(factor.T, bends), factor).ravel()
            swing = sqrt(along @ along) + sqrt(bent @ bent) / 2.0
            share = min(1.0, width / swing) if swing > 0.0 else 0.0
            slope, even = share * slope, share * float(step @ times(bends, step)) / 2.0
            level = model.offset + float(self._at(place.y, place.e) @ model.average[0])
            level = min(max(level, low - width), high + width)
        return play(place.y, factor, direction, level, slope, even, high)

    def _features(self, weights: Array, choice: int) -> Array:
        """Return the features of a context, of a value of each choice, and of both together."""
        if not self.options:
            return weights
        picked = zip(self.picks[choice], self.options, strict=True)
        values = np.concatenate([np.arange(size) == pick for pick, size in picked])
        both = np.outer(weights, values).ravel() if self.both else NONE
        return np.concatenate([weights, values, both])

    def _whole(self, x: Array, place: Place, draws: Array | None) -> Array:
        """Return x with coordinates of grids on them.

        The nearest place is taken if exploring is wider than a step. Below, the
        centre's neighbours are compared in one draw from the posterior, or by their means.
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
            values = self._drawn([self._at(p, place.e) for p in points], draws)
            if self.limited:  # neighbours beyond a limit do not count, unless all are beyond it
                over = np.array([self._excess(p, place.e).max() for p in points])
                values = np.where(over <= max(0.0, over.min()), values, np.inf)
            x = points[np.argmin(values)]
        return x

    def _drawn(self, rows: list[Array], draws: Array | None) -> Array:
        """Return the values of some features as they are believed, or one joint draw of them."""
        phi, (m, C) = np.array(rows), self.model.average
        value = phi @ m
        if draws is not None:
            phi = phi - phi[0]  # the common part decides nothing
            spread, V = np.linalg.eigh((phi * C if C.ndim == 1 else (C @ phi.T).T) @ phi.T)
            value = value + V @ (np.sqrt(np.maximum(spread, 0.0)) * draws[: len(phi)])
        return np.asarray(value)

    def _at_weights(self, weights: Array, choice: int) -> tuple[Place, list[tuple[Place, float]]]:
        """Return the mean place of a context and a choice, and its parts with their shares."""
        parts = [(self.places[choice], 1.0)]
        if self.contexts:
            shares = (weights / weights.sum()).tolist()
            parts = [(self.places[i * self.choices + choice], w) for i, w in enumerate(shares) if w]
        place = Place.__new__(Place)
        vars(place).update(vars(max(parts, key=itemgetter(1))[0]))
        place.e = self._features(weights, choice)
        if len(parts) > 1:
            place.y = np.sum([share * each.y for each, share in parts], axis=0)
            place.trust = prod(each.trust**share for each, share in parts)
            place.seen = -1
        return place, parts

    def _settle(self, weights: Array, choice: int) -> None:
        """Move the places of a context and a choice to where they are planned by now."""
        place, parts = self._at_weights(weights, choice)
        y, trust = place.y, place.trust
        self._plan(place)
        if len(parts) == 1:
            vars(parts[0][0]).update(vars(place))
        else:  # by the step of their mean
            for each, share in parts:
                step = share * (place.y - y)
                part = min(1.0, 0.9 * self.space.room(each.y, step))
                each.y = self.space.inside(each.y + part * step, 1.0 - WALL)
                each.trust *= (place.trust / trust) ** share
        if len(self.places) == 1:
            apart, R, d = place.y - self.model.c, place.R, self.space.d
            square = R @ R if self.wide else d * exp(2.0 / d * sum(map(log, R.diagonal().tolist())))
            if apart @ apart > 9.0 * square:
                for model in (self.model, *self.limited):
                    model.recentre(place.y)

    def _chosen(self, weights: Array, draws: Array | None = None) -> tuple[Place, int]:
        """Return the best choice with its place, or the choice that is used with random draws.

        This is each twice, then the best in one joint draw from the posterior.
        """
        places = [self._at_weights(weights, choice)[0] for choice in range(self.choices)]
        if not self.options:
            return places[0], 0
        played, rounds, choice = [place.played for place in places], self.model.rounds, 0
        if rounds == 0 or (draws is None and (rounds < 3 or not any(played))):
            choice = self.first_choice
        elif draws is not None and min(played) < 2:
            choice = int(np.argmin(played))
        else:
            for place in places if draws is not None else ():
                self._plan(place)
            values = self._drawn([self._at(place.y, place.e) for place in places], draws)
            if draws is None:
                values = np.where(np.array(played) > 0, values, np.inf)
            else:
                values = values - [place.gain for place in places]
            choice = int(np.argmin(values))
        return places[choice], choice

    def best(self, weights: Array | None = None) -> tuple[Array, tuple[int, ...]]:
        """Return the setting believed to be the best, without exploring."""
        if weights is None:
            weights = np.full(self.contexts, 1.0 / max(self.contexts, 1))
        place, choice = self._chosen(weights)
        return self._recommended(place), self.picks[choice]

    def _recommended(self, place: Place) -> Array:
        """Return a centre as it is used: with limits or failures only as far as was tried."""
        y, d = place.y, self.space.d
        if (self.limited or self.far) and len(self.ordinary) > d:
            tried = np.array([x[:d] for x, _ in self.ordinary])
            middle, spread = tried.mean(axis=0), np.cov(tried.T).reshape(d, -1)
            spread += (1e-6 * np.trace(spread) + 1e-18) * np.eye(d)
            root = np.linalg.inv(np.linalg.cholesky(spread))
            most = np.linalg.norm((tried - middle) @ root.T, axis=1).max()
            away = float(np.linalg.norm(root @ (y - middle)))
            y = middle + min(1.0, most / max(away, 1e-300)) * (y - middle)
        return self._whole(y, place, None)

    def expected(self, x: Array, picks: tuple[int, ...], weights: Array, z: Array) -> float:
        """Return the expected value at a setting, NaN before the first row."""
        if self.model.rounds == 0:
            return nan
        e = self._features(weights, self.picks.index(picks))
        z = np.append(z, 0.0) if self.history else z
        return self.model.believed(self._at(x, e, z))[0]

    def _at(self, x: Array, e: Array, z: Array | None = None) -> Array:
        """Return the features at a setting."""
        return self.model.features.row(x - self.model.c, z, e)

    # --- telling -------------------------------------------------------------------------------

    def tell(
        self,
        x: Array,
        picks: tuple[int, ...],
        value: float | None,
        *,
        weights: Array,
        covariates: Array = NONE,
        metrics: Sequence[float] = (),
        history: bool = False,
        settle: bool = True,
    ) -> None:
        """Learn a value, None for a failure, and plan."""
        choice, cell = self.picks.index(picks), int(np.argmax(weights)) if self.contexts else 0
        beside = self.places[cell * self.choices : (cell + 1) * self.choices]
        e = self._features(weights, choice)
        z = np.append(covariates, float(history)) if self.history else covariates
        row, place = Row(x, value, z, e, history), beside[choice]
        place.played += 1
        for model in (self.model, *self.limited):
            model.at = place.y
        if self.floor is not None and value is not None and not history:
            self.floor.learn(value)
        for model, metric in zip(self.limited, metrics, strict=True):
            if np.isfinite(metric):  # a failed trial may lack it
                model.learn(self._at(x, e, z), metric, history=history)
        if len(self.first) < REJUDGED:
            self.first.append(row)
            self._begin(place)
        else:
            self._learn(row, place)
        if settle:
            all_ready = self.options and min(each.played for each in beside) >= 2
            for other in range(self.choices) if all_ready else (choice,):
                self._settle(weights, other)

    def _begin(self, place: Place) -> None:
        """Learn a first row, and all of them anew where it changes which are absurd."""
        if len(self.first) < FEW:
            return
        before, self.absurd = self.absurd, self._find_absurd()
        rows, left_out = self.first[-1:], 0
        if self.absurd[:-1] != before:
            rows, left_out = self.first, self.left_out
            self.model.clear()
            for each in (self.ordinary, self.far, self.recent):
                each.clear()
            self.in_row = self.left_out = 0
        for row, is_absurd in zip(rows, self.absurd[-len(rows) :], strict=True):
            phi = self._at(row.x, row.e, row.z)
            if row.value is None or is_absurd:
                self._bound(row, place, phi)
            else:
                self._take(row, row.value, phi)
        self.left_out = max(self.left_out, left_out)

    def _find_absurd(self) -> list[bool]:
        """Return for each of the first rows if its value is absurd."""
        known = [(row.where, row.value) for row in self.first if row.value is not None]
        if not self.faults or len(known) < FEW:
            return [False] * len(self.first)
        found = iter(absurd(known))
        return [row.value is not None and next(found) and not row.history for row in self.first]

    def _learn(self, row: Row, place: Place) -> None:
        """Learn a value. A value far from the expected one is bounded."""
        model, value, phi = self.model, row.value, self._at(row.x, row.e, row.z)
        p = len(phi)
        mean, sd = model.believed(phi, 1.0)
        bound = FAR * sd
        if self.ordinary and model.rounds < 3 * p:
            wide = 10.0 * np.ptp([v for _, v in self.ordinary])
            bound = float(min(max(wide, 1e-9 * abs(mean)), FIRST_FAR * sd))
        trusted = row.history or not self.faults or (self.history and model.live <= p)
        if value is None:
            self._bound(row, place, phi)
        elif trusted or abs(value - mean) <= bound or self._fits(row.where, value):
            self._take(row, value, phi)
        elif self.in_row >= 3:  # the last ordinary setting is far as well
            model.forget_level()
            for _ in range(len(self.ordinary)):  # what is ordinary has the new level
                where, known = self.ordinary.popleft()
                self.ordinary.append((where, known + value - mean))
            self._take(row, value, phi)
        else:
            self._bound(row, place, phi)

    def _fits(self, where: Array, value: float) -> bool:
        # The first rare values may be small: larger ones that come again are believed in the end.
        again = min(self.recent.count(True), 20)
        return fits(where, value, self.ordinary, self.model.largest * RARE**again)

    def _bound(self, row: Row, place: Place, phi: Array) -> None:
        """Learn a bounded value in place of a far one or a failure."""
        model, value, d = self.model, row.value, self.space.d
        mean, sd = model.believed(phi, 1.0)
        good, bound = value is not None and value < mean, FAR * sd
        self.in_row = self.in_row + 1 if self.in_row < 4 else 0
        near = sorted(self.ordinary, key=lambda each: -np.linalg.norm(each[0][d:] - row.e))[-15:]
        middle = np.mean([x[:d] for x, _ in near[-5:]], axis=0) if near else place.y
        away = np.linalg.solve(matrix(place.R), row.x - middle)
        self.far.append(np.asarray(away / max(float(np.linalg.norm(away)), 1e-300), float))
        self.left_out += value is not None
        self.recent.append(value is not None)
        last = [v for _, v in near]  # in similar contexts
        depends = self._depends()
        if last:  # values show the noise better than an early model
            sd = min(sd, 0.5 * float(np.ptp(last)))
        above = (ABOVE_WORST if depends else 2.0) * sd
        bounded = mean - bound if good else max([mean, *last]) + above
        if value is not None and not good:
            bounded = min(bounded, value)
        early = value is not None and model.rounds < 2 * len(phi)  # one row would decide much
        weight = 0.0 if good else 1.0 if depends else 0.0 if early else 0.1
        if model.rounds:
            model.learn(phi, bounded, weight)
            if value is not None and abs(value - mean) <= 5.0 * bound:
                model.loosen()

    def _take(self, row: Row, value: float, phi: Array) -> None:
        """Learn an ordinary value."""
        self.model.learn(phi, value, history=row.history)
        if not row.history:
            self.ordinary.append((row.where, value))
            self.recent.append(False)
            self.in_row = 0

    def _depends(self) -> bool:
        """Return True if far values lie on one side of ordinary ones, unlike faults."""
        k, d = len(self.far), self.space.d
        if k < 3 or not d:
            return False
        mean = np.mean(self.far, axis=0)
        return bool(k * d * (mean @ mean) > chi_square(d, 1.645))

    # --- the plan ------------------------------------------------------------------------------

    def _bends(self) -> tuple[Array, Array, Array]:
        """Return axes of the curvature, the curvature along them, and its standard deviations."""
        f, bends, C = self.model.features, self.model.bends, matrix(self.model.average[1])
        values, V = np.linalg.eigh(bends) if bends.ndim == 2 else (bends, np.eye(f.d))
        second = f.bends(V)
        square = (C[f.second, f.second] @ second * second).sum(axis=0)
        return V, values, np.sqrt(np.maximum(square, 1e-300))

    def _plan(self, place: Place) -> None:
        """Move a centre to the believed minimum, and set the radius of exploring around it."""
        model, f, d = self.model, self.model.features, self.space.d
        if place.seen == model.rounds:
            return
        place.seen = model.rounds
        if self.wide:
            self._plan_wide(place)
            return
        if model.rounds < 3 or not d:  # choices alone have no centre
            place.R = self._within(place.y, np.eye(d) / place.trust**2)
            return
        m, C = model.average
        C, (V, values, sd) = matrix(C), self._bends()
        high = np.maximum(values, 0.5 * sd)

        # the centre: g + A u + M ψ'(y + u) = 0, where M = A^(-1/2) Cov(g) A^(-1/2), twice, weighs
        # the set's barrier, a prior for the minimiser, against the data
        A, root = (V * high) @ V.T, (V / np.sqrt(high)) @ V.T
        B = f.slope(place.y - model.c, place.e)
        M = PRIOR * root @ (B @ C @ B.T) @ root
        y = self._minimum(place.y, B @ m, A, M)
        if self.limited and np.any(self._excess(y, place.e) > 0.0):
            y = self._allowed(place, B @ m, A, M)
        self._move(place, y)

        # exploring: the posterior of the minimiser, with curvature LOWER deviations lower
        B = f.slope(place.y - model.c, place.e)
        low = np.maximum(values - LOWER * sd, 0.25 * np.maximum(values, sd))
        root = (V.T @ B) / low[:, None]
        widths, U = np.linalg.eigh(root @ C @ root.T)
        widths, U = SCALE * np.sqrt(np.maximum(widths, 0.0)), V @ U
        widths = place.trusted(widths, bool((values > 2.0 * sd).all()))
        precision = (U * (1.0 / widths**2 + 1.0 / place.trust**2)) @ U.T
        if self.limited:
            precision += self._steep(place)
        place.R = self._within(place.y, precision)
        if self.options:
            g = B @ m
            q = np.sqrt((V.T @ g) ** 2 + np.sum((V.T @ B @ C) * (V.T @ B), axis=1))
            w = np.maximum(values, 0.05 * max(float(values.max()), 1e-300))
            s = q / np.maximum(np.maximum(q, w), 1e-300)
            place.gain = float(np.sum(q * s - 0.5 * w * s * s))

    def _plan_wide(self, place: Place) -> None:
        """Plan a place where coordinates are independent of each other."""
        model, f, d = self.model, self.model.features, self.space.d
        widths = np.full(d, np.inf)
        if model.rounds >= 3:
            C, values = model.average[1], model.bends
            sd = np.sqrt(C[f.squares] + C[f.common])
            high, v = np.maximum(values, 0.5 * sd), place.y - model.c
            along = place.e**2 @ C[f.slopes].reshape(f.e, d) if f.e else 0.0
            M = PRIOR * (C[f.v] + (v * sd) ** 2 + along) / high
            self._move(place, self._minimum(place.y, model.gradient(v, place.e), high, M))
            low = np.maximum(values - LOWER * sd, 0.25 * np.maximum(values, sd))
            widths = SCALE * np.sqrt(C[f.v] + ((place.y - model.c) * sd) ** 2 + along) / low
            widths = place.trusted(widths, True)
        place.R = self._within(place.y, 1.0 / widths**2 + 1.0 / place.trust**2)

    def _move(self, place: Place, y: Array) -> None:
        """Move a centre towards a point, by some radii at most."""
        step: Array = y - place.y
        far = sqrt(step @ step) / (REACH * place.trust)
        place.y = self.space.inside(place.y + step / max(far, 1.0), 1.0 - WALL)

    def _minimum(self, y0: Array, g: Array, A: Array, M: Array) -> Array:
        """Return the root of g + A (y - y0) + M ψ'(y). A and M may be diagonals."""
        y, times = y0, self.times
        for _ in range(4):
            slope, hessian = self.barrier(y)
            away = g + times(A, y - y0) + times(M, slope)
            bend = A + times(M, hessian)
            step = np.asarray(-away / bend if self.wide else -np.linalg.solve(bend, away), float)
            y = y + min(1.0, 0.9 * self.space.room(y, step)) * step
            move: Array = y - y0
            if step @ step < 1e-6 * (move @ move):
                break
        return y

    def _within(self, y: Array, precision: Array) -> Array:
        """Return a factor of exploring that stays in the set, or its diagonal."""
        square = precision + self.space.d * self.barrier(y)[1]
        if self.wide:
            return 1.0 / np.sqrt(square)
        # In the order of a restored one: products of another order differ in the last digit.
        return np.ascontiguousarray(np.linalg.inv(np.linalg.cholesky(square)).T)

    # --- limits --------------------------------------------------------------------------------

    def _over(self, x: Array, e: Array) -> tuple[Array, Array]:
        """Return by how much limited metrics exceed their limits at x, and standard deviations."""
        found = [each.believed(self._at(x, e)) for each in self.limited]
        means, sd = np.array(found).reshape(-1, 2).T
        return np.subtract(means, self.limits), sd

    def _excess(self, x: Array, e: Array) -> Array:
        """Return by how much each limited metric may exceed its limit at x."""
        over, sd = self._over(x, e)
        return np.asarray(over + 1.5 * sd)

    def _allowed(self, place: Place, g: Array, A: Array, M: Array) -> Array:
        """Return the least value with every metric below its limit: multipliers by bisection."""
        slopes, bends, y0, e = [], [], place.y, place.e
        for model in self.limited:
            slopes.append(model.gradient(y0 - model.c, e))
            values, V = np.linalg.eigh(matrix(model.bends))
            bends.append((V * np.maximum(values, 0.0)) @ V.T)
        weights = np.zeros(len(slopes))

        def point() -> Array:
            bend = A + np.tensordot(weights, bends, 1)
            return self._minimum(y0, g + weights @ np.array(slopes), bend, M)

        for _ in range(2 if len(weights) > 1 else 1):
            for k, slope in enumerate(slopes):
                weights[k] = 0.0
                y = point()
                if self._excess(y, e)[k] <= 0.0:
                    continue
                unit = np.linalg.norm(g) + np.trace(A) / len(A)
                unit /= max(float(np.linalg.norm(slope)), 1e-300)
                low, high = -10.0, 6.0
                for _ in range(12):
                    middle = 0.5 * (low + high)
                    weights[k] = unit * np.exp(middle)
                    beyond = self._excess(point(), e)[k] > 0.0
                    low, high = (middle, high) if beyond else (low, middle)
                weights[k] = unit * np.exp(high)
                y = point()
        return y

    def _steep(self, place: Place) -> Array:
        """Return precision along active limits' slopes, where exploring is narrow."""
        steep = np.zeros_like(place.R)
        for model, over, sd in zip(self.limited, *self._over(place.y, place.e), strict=True):
            if -3.0 * sd < over <= 2.0 * sd:
                slope = model.gradient(place.y - model.c, place.e)
                least = max(sd, 0.05 * place.trust * float(np.linalg.norm(slope)), 1e-300)
                steep += np.outer(slope, slope) / (0.7 * least) ** 2
        return steep

    # --- the best setting ---------------------------------------------------------------------

    def found(self, weights: Array) -> Found:
        """Return the best setting of a context, with intervals of 95 %."""
        model, f, d = self.model, self.model.features, self.space.d
        place, choice = self._chosen(weights)
        x, e = self._recommended(place), place.e
        if model.rounds < FEW:  # nothing is known yet
            few, each = [UNKNOWN] * d, [UNKNOWN] * len(self.options)
            return Found(x, UNKNOWN, few, few, each, [UNKNOWN] * len(self.limited))
        v, (m, C) = x - model.c, model.average
        row, g, bend = f.row(v, None, e), model.gradient(v, e), np.diagonal(matrix(model.bends))
        if C.ndim == 1:
            sd = np.sqrt(C[f.squares] + C[f.common])
            error = np.sqrt(C[f.v] + (v * sd) ** 2) / np.maximum(bend - sd, 0.25 * sd)
        else:
            V, values, sd = self._bends()
            root = V @ ((V.T @ f.slope(v, e)) / np.maximum(values - sd, 0.25 * sd)[:, None])
            error = np.sqrt(np.maximum(np.sum(root @ C * root, axis=1), 0.0))
        intervals, importance, options = [], [], []
        for i, (unit, off) in enumerate(zip(np.eye(d), 1.96 * error, strict=True)):
            up, down = self.space.room(x, unit), -self.space.room(x, -unit)
            intervals.append(Interval(x[i], x[i] + max(-off, down), x[i] + min(off, up)))
            ways = np.outer((up, down), 0.5 ** np.arange(6))
            rises = ways * (g[i] + 0.5 * ways * bend[i])
            importance.append(_known_rise(rises, *model.dependence(f.of(i))))
        beliefs = [each.believed(row) for each in self.limited]
        limits = [Interval(mean, mean - 1.96 * sd, mean + 1.96 * sd) for mean, sd in beliefs]
        picks, ends = self.picks[choice], np.cumsum([0, *self.options])
        for k, size in enumerate(self.options):
            others = [(*picks[:k], other, *picks[k + 1 :]) for other in range(size)]
            joint = [self._features(weights, self.picks.index(each)) for each in others]
            rises = np.array([(f.row(v, None, each) - row) @ m for each in joint])
            own = np.arange(*ends[k : k + 2])
            both = [own + n * ends[-1] for n in range(1 + self.contexts * self.both)]
            gone = f.of_context(self.contexts + np.concatenate(both))
            options.append(_known_rise(rises, *model.dependence(gone)))
        known = max((each.low for each in (*importance, *options)), default=0.0)
        importance, options = (
            [Interval(a, b - MISFIT * max(known, 0.0) * (b < known), c) for a, b, c in some]
            for some in (importance, options)
        )
        return Found(x, self._value(place), intervals, importance, options, limits)

    def value_of_best(self, weights: Array) -> Interval:
        """Return the expected value of the best setting of a context, with its interval."""
        return self._value(self._chosen(weights)[0])

    def _value(self, place: Place) -> Interval:
        """Return the value at a place. A kink with the same values may be deeper than the bowl.

        By how much is about the bowl's height at the geometric mean of two radii: of exploring, and
        of the rows that the curvature was learnt from. The misfit is part of the error as well.
        """
        model = self.model
        if model.rounds < FEW:
            return UNKNOWN
        mean, sd = model.believed(self._at(self._recommended(place), place.e))
        bend, R = np.maximum(np.diagonal(matrix(model.bends)), 0.0), matrix(place.R)
        near, far = bend @ np.sum(R * R, axis=1), bend @ model.spread(place.y)
        deep = 2.0 * 1.96 * sd + DEEPER * float(np.sqrt(near * far))
        return Interval(mean, mean - deep, mean + 1.96 * sd)

    # --- changes -------------------------------------------------------------------------------

    def start_at(self, y: Array, picks: tuple[int, ...]) -> None:
        """Begin at another centre. Nothing learnt is lost."""
        self.first_choice = self.picks.index(picks)
        for place in self.places:
            place.y = self.space.inside(y, 0.98)

    def widen(self, more: int) -> None:
        """Take in features of covariates, which were 0 in every row so far."""
        end = self.model.features.z - self.history
        for model in (self.model, *self.limited):
            model.widen(more)
        self.first = [row._replace(z=np.insert(row.z, [end] * more, 0.0)) for row in self.first]

    def continue_at(self, before: Search) -> None:
        """Take over centres and radii."""
        for place, other in zip(self.places, before.places, strict=True):
            place.y, place.trust, place.R = other.y, other.trust, other.R

    # --- state ---------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        return super().state() | {
            "model": self.model.state(),
            "limited": [each.state() for each in self.limited],
            "places": [each.state() for each in self.places],
            "floor": self.floor and self.floor.state(),
            **{name: encode(tuple(getattr(self, name))) for name in self.QUEUES},
        }

    def restore(self, state: dict[str, Any], checked: bool = False) -> None:
        super().restore(state, checked)
        own = [self.model, *self.limited, *self.places]
        states = [state["model"], *state["limited"], *state["places"]]
        if self.floor is not None:
            own, states = [*own, self.floor], [*states, state["floor"]]
        for each, part in zip(own, states, strict=True):
            each.restore(part, checked)
        for name in self.QUEUES:
            queue: list[Any] | deque[Any] = getattr(self, name)
            queue.clear()
            queue.extend(decode(state[name]))
        self.first = [Row(*each) for each in self.first]
