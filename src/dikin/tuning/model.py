"""The regression that a tuner learns with: a bank of quadratic models that forget differently.

Every member keeps the moments of all rows, discounted. Together they give the value to expect at a
setting, its error, and its slope and curvature. Letters: d coordinates, p features, K members, L
and b the moments, m and P mean and covariance (in units of the noise, s2) of the coefficients.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from math import inf, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dikin.serialization import Stateful
from dikin.vectors import Array

CROSSES = 12
"""Coordinates up to which products of two of them are features. Beyond, curvature is diagonal."""
MANY = 50
"""Coordinates up to which covariances of all coefficients are known."""
LARGE = 40
"""Features from which on one member is solved anew a round, and the others are updated."""
UNSCORED = 3
"""Live rows before members are compared."""
NU = 4.0
"""Degrees of freedom of the noise: values far from the expected one count less."""
LEAST = 0.1
"""The least weight of a row: where noise looks like 0, every surprise is a large one."""
SURE = 2.1
"""The normal quantile beyond which the value is known to depend on a parameter."""
SHARE = 0.003
"""Probability that another member is right from a round on."""
RECENT = 10
"""Rows of which a wide model knows mean and variance of the features."""
LAST, COMMON = 50, 0.25
"""Rows of which values are remembered, and the share of equal ones that is not continuous noise."""
KAPPA = [0.03, 3.0, 3.0, 0.3]

Indices = NDArray[np.int_]
Members = Sequence[tuple[float, float, float, float]]
"""For each member its memory in rows a feature, walks of level and minimiser, and its prior."""


class Features:
    """The features [1 | v | v²/2 | v_i v_j | |v|²/2 | z | e, e⊗v], v = x - c."""

    def __init__(self, d: int, covariates: int = 0, contexts: int = 0) -> None:
        self.d, self.z, self.e = d, covariates, contexts
        self.i, self.j = np.triu_indices(d if d <= CROSSES else 0, 1)
        ends = np.cumsum([1, d, d, len(self.i), d > 1, covariates, contexts, contexts * d])
        cuts = [slice(a, b) for a, b in pairwise(ends)]
        self.v, self.squares, self.crosses, self.common, self.extra, self.levels, self.slopes = cuts
        self.products = slice(self.squares.start, self.crosses.stop)
        self.second = slice(self.squares.start, self.common.stop)
        self.p = int(ends[-1])
        eye, k = np.arange(d), np.arange(self.crosses.start, self.crosses.stop)
        self.first, self.other = np.append(eye, self.i), np.append(eye, self.j)
        self.half = np.where(self.first == self.other, 0.5, 1.0)
        """Factors of the products of the coordinates `first` and `other`."""
        every = eye[: d * (d > 1)]
        columns = (self.squares.start + eye, k, k, np.full(len(every), self.common.start))
        self.at = np.concatenate([eye, self.i, self.j, every]), np.concatenate(columns)
        """Entries of the slope that are a coordinate, and which one."""
        self.along = np.concatenate([eye, self.j, self.i, every])

    @cached_property
    def flat(self) -> Array:
        """The slope at 0."""
        return np.eye(self.d, self.p, 1)

    def row(self, v: Array, z: Array | None = None, e: Array | None = None) -> Array:
        """Return the features at v."""
        row = np.zeros(self.p)
        row[0], row[self.v] = 1.0, v
        row[self.products] = products = self.half * v[self.first] * v[self.other]
        row[self.common] = products[: self.d].sum()
        if z is not None:
            row[self.extra] = z
        if self.e and e is not None:
            row[self.levels], row[self.slopes] = e, np.outer(e, v).ravel()
        return row

    def slope(self, v: Array, e: Array | None = None) -> Array:
        """Return the derivative of the features at v, one row for each coordinate."""
        slope = self.flat.copy()
        slope[self.at] = v[self.along]
        if self.e and e is not None:
            slope[:, self.slopes] = np.kron(e, np.eye(self.d))
        return slope

    def bends(self, along: Array) -> Array:
        """Return the second derivative of the features along columns of length 1."""
        bends = np.ones((self.second.stop - self.second.start, along.shape[1]))
        bends[: len(self.half)] = 2.0 * self.half[:, None] * along[self.first] * along[self.other]
        return bends

    def of(self, i: int) -> Indices:
        """Return the features of coordinate i."""
        products = np.flatnonzero((self.first == i) | (self.other == i))
        return np.append(1 + i, self.second.start + products)

    def of_context(self, weights: Indices) -> Indices:
        """Return the features of some weights of the context."""
        slopes = self.slopes.start + weights[:, None] * self.d + np.arange(self.d)
        return np.append(self.levels.start + weights, slopes.ravel())

    def moved(self, by: Array) -> Array:
        """Return the matrix that takes the features of v to those of v - by."""
        matrix = np.eye(self.p)
        matrix[self.v, 0] = -by
        matrix[self.second, 0] = self.row(by)[self.second]
        matrix[self.second, self.v] = -self.slope(by)[:, self.second].T
        matrix[self.slopes, self.levels] = np.kron(np.eye(self.e), -by[:, None])
        return matrix

    def ridge(self) -> Array:
        """Return the weights of the ridge, in rows of the settings that were tried."""
        weights = np.full(self.p, 0.1)
        weights[0] = 0.0
        kinds = (self.v, self.squares, self.crosses, self.common)
        for kind, kappa in zip(kinds, KAPPA, strict=True):
            weights[kind] = kappa
        weights[self.levels] = 1e-3
        return weights


class Regression(Stateful):
    """A bank of members on one row of features."""

    MEMBERS: Members = (
        (3.0, 0.03, 0.0, -3.0),
        (12.0, 0.0, 0.0, -2.5),
        (12.0, 1.0, 0.0, -3.0),
        (24.0, 0.003, 0.06, 1.0),
        (48.0, 0.001, 0.02, 1.0),
        (96.0, 0.001, 0.005, 1.0),
        (inf, 0.1, 0.0, -0.5),
        (inf, 0.003, 0.0, 0.0),
    )
    TIMES: np.ufunc = np.matmul
    """Product of covariances and a row."""
    BY_FEATURE: dict[str, tuple[int, ...]] = {"A": (0, 1), "P": (0, 0), "m": (0,)}
    """Arrays of the state whose last axes are features, and so many more: A is [L | b]."""
    NUMBERS = ("offset", "largest", "rounds", "live", "last")
    OTHERS = ("N", "n", "S", "ll", "c", "at", *NUMBERS)
    PARTS = (*BY_FEATURE, *OTHERS)
    A: Array
    P: Array
    m: Array
    mean: Array | float = 0.0
    """Features from which the members count."""

    def __init__(
        self,
        features: Features,
        *,
        robust: bool = True,
        history: bool = False,
        origin: Array | None = None,
    ) -> None:
        self.robust, self.history = robust, history
        self.memory, self.q, self.om, prior = np.repeat(self.MEMBERS, 1 + history, axis=0).T
        self.reads = np.arange(len(prior)) % (1 + history) == 0
        """True for members that read history: the first of each two, if there is one."""
        self.prior = np.exp(prior - 2.0 * ~self.reads)
        self.prior /= self.prior.sum()
        walks = np.flatnonzero(self.om)
        self.walks = slice(walks[0], walks[-1] + 1) if len(walks) else slice(0)
        """Members between the first and the last whose minimiser walks."""
        self._use(features)
        self.c = np.zeros(features.d) if origin is None else origin.copy()
        self.at = self.c
        """The centre of exploring, for walks of the minimiser."""
        self.clear()

    def _use(self, features: Features) -> None:
        f = self.features = features
        self.kappa, self.keep = f.ridge(), 1.0 - 1.0 / (self.memory * f.p)
        self.keep_noise = np.maximum(self.keep, 0.9)
        self.bend, self.alike = np.zeros((2, f.p))
        """The mean curvature in terms of the coefficients, and which of them resemble it."""
        self.bend[f.squares], self.bend[f.common] = 1.0 / max(f.d, 1), 1.0
        self.alike[f.squares], self.alike[f.crosses] = 1.0, 2.0

    def clear(self) -> None:
        """Forget everything."""
        K, p = len(self.prior), self.features.p
        for name, more in self.BY_FEATURE.items():
            setattr(self, name, np.zeros((K, *[p + each for each in more])))
        self.N = np.zeros(K)
        """Rows in each member's memory."""
        self.n, self.S, self.ll = np.zeros(K), np.zeros(K), np.log(self.prior)
        self.offset, self.largest, self.rounds, self.live = 0.0, 0.0, 0, 0
        self.last: tuple[float, ...] = ()
        self._changed()

    def _changed(self) -> None:
        """Drop the results that were computed of the last state."""
        for name in ("s2", "weights", "average", "bends"):
            vars(self).pop(name, None)

    def widen(self, more: int) -> None:
        """Take in features of covariates, which were 0 in every row so far."""
        old, first = self.features, self.features.extra.stop - self.history
        self._use(Features(old.d, old.z + more, old.e))
        for name, axes in self.BY_FEATURE.items():
            for axis in range(-len(axes), 0):
                array = getattr(self, name)
                setattr(self, name, np.insert(array, [first] * more, 0.0, axis=axis))
        self._refresh(slice(first, first + more))

    def _refresh(self, new: slice = slice(0)) -> None:
        """Solve all members, after features were added or moved."""
        if self.rounds:
            self._solve(slice(None))
        self._changed()

    # --- learning ------------------------------------------------------------------------------

    def learn(
        self, row: Array, value: float, weight: float | None = None, history: bool = False
    ) -> None:
        """Learn a value. One with a weight changes neither noise nor scores."""
        scored = weight is None
        if self.rounds == 0:
            self.offset = value
        self.rounds += 1
        if abs(value) > self.largest:  # a noise of 0 is one in its last digits
            self.largest = abs(value)
            vars(self).pop("s2", None)
        if scored:
            self.last = (*self.last, value)[-LAST:]
        value -= self.offset
        row, s2 = row - self.mean, self.s2
        e, Pf = value - self.m @ row, self.TIMES(self.P, row)
        h = 1.0 + Pf @ row
        r2 = e * e / (s2 * h)
        w = np.ones(len(h))
        # Weights against outliers would take rare values, such as conversions, for outliers.
        if scored and self.robust and self.rounds > len(row) and common_value(self.last) is None:
            w = np.maximum((NU + 1.0) / (NU + r2), LEAST)
        reads = self.reads | (not history)
        if scored and self.rounds > 1:
            most = 1.0 - 1.0 / min(10.0 + 0.5 * self.rounds, 300.0)
            keep = np.minimum(self.keep_noise, most)
            self.n = np.where(reads, keep * self.n + 1.0, self.n)
            self.S = np.where(reads, keep * self.S + w * e * e / h, self.S)
            self.live += not history
            if self.live > UNSCORED and not history:
                if self.robust:
                    ll = self.ll - 0.5 * np.log(s2 * h) - 2.5 * np.log1p(r2 / NU)
                else:  # squares favour the mean of skewed metrics, densities their mode
                    ll = self.ll - 0.5 * e * e / (self.weights @ s2)
                likely = np.exp(ll - ll.max())
                self.ll = np.log((1.0 - SHARE) * likely / likely.sum() + SHARE * self.prior)
        w = w * reads if weight is None else weight * reads
        self._changed()
        if not history:
            self._forget()
        self._absorb(row, value, w, e, Pf)

    def _absorb(self, row: Array, value: float, w: Array, e: Array, Pf: Array) -> None:
        """Add a row with weights to the moments."""
        self.A += (w[:, None] * row)[:, :, None] * np.append(row, value)
        self.N += w
        if len(row) <= LARGE:
            self._solve(slice(None))
            return
        # one member anew, the others by a row
        gain = (w / (1.0 + w * (Pf @ row)))[:, None] * Pf
        self.P -= gain[:, :, None] * Pf[:, None, :]
        self.m += gain * e[:, None]
        one = self.rounds % len(w)
        self._solve(slice(one, one + 1))

    def _forget(self) -> None:
        """A round passes: members forget, the level and the minimiser walk."""
        keep = self.keep[:, None, None]
        self.A *= keep
        self.N *= self.keep
        self._forget_level(self.q / (1.0 + self.q * self.A[:, 0, 0]))
        # The slope at the centre walks, the value there does not: U' = [-apart | 1].
        f, walks, apart = self.features, self.walks, self.at - self.c
        om, A = self.om[walks, None, None], self.A[walks]
        U = A[:, f.v] - apart[:, None] * A[:, :1]
        G = U[:, :, f.v] - U[:, :, :1] * apart
        diagonal = G.diagonal(0, 1, 2)
        U = inverse_root(G, np.where(diagonal > 0.0, diagonal, inf), 1e-9) @ U
        A -= om / (1.0 + om) * (U[:, :, :-1].transpose(0, 2, 1) @ U)
        if f.p > LARGE:
            self.P /= keep
            self.P[:, 0, 0] += self.q
            P, walk = self.P[walks], om * self.P[walks, f.v, f.v]
            along = walk @ apart
            P[:, f.v, f.v] += walk
            P[:, 0, f.v] -= along
            P[:, f.v, 0] -= along
            P[:, 0, 0] += along @ apart

    def _forget_level(self, share: Array) -> None:
        """Take the level, and nothing else, from the moments."""
        self.A -= (share[:, None] * self.A[:, :, 0])[:, :, None] * self.A[:, :1]

    def _solve(self, which: slice) -> None:
        """Set means and covariances from the moments of some members."""
        A = self.A[which]
        if self.rounds < 3:  # nothing was tried but the start
            self.P[:, 0, 0] = 1.0 / np.maximum(self.A[:, 0, 0], 1e-3)
            self.m[:, 0] = self.P[:, 0, 0] * self.A[:, 0, -1]
            return
        full = A.diagonal(0, 1, 2) + self._ridge(which)
        full = np.where(full > 0.0, full, 1e-3)  # a level without a row
        root = inverse_root(A[:, :, :-1], full, 1e-11)
        P = np.matmul(root.transpose(0, 2, 1), root, out=self.P[which])
        self.m[which] = (P @ A[:, :, -1:])[:, :, 0]

    def _ridge(self, which: slice | Indices) -> Array:
        """Return the precision that coefficients have before anything is known, by member."""
        f, A, N = self.features, self.A[which], np.maximum(self.N[which, None], 1.0)
        diagonal = A.diagonal(0, 1, 2)
        tried = np.maximum(diagonal - A[:, :, 0] ** 2 / np.maximum(A[:, :1, 0], 1e-300), 0.0)
        tried = np.where(diagonal > 0.0, tried, 0.1 * N)
        if self.history:  # its level is any
            tried[:, f.extra.stop - 1 : f.extra.stop] = 0.01 * N
        if f.e:  # in a context that was never seen
            tried[:, f.levels] = N
            tried[:, f.slopes] = np.tile(tried[:, f.v], f.e)
        ridge: Array = self.kappa * (tried + 1e-9 * diagonal) / N
        if f.d > 1 and self.rounds > 4:  # curvatures resemble their mean
            mean, s2 = self.m[which] @ self.bend, self.s2[which]
            known = mean**2 + s2 * (self.P[which] @ self.bend @ self.bend)
            least = np.where(known > 0.0, s2 / np.maximum(known, 1e-300), 0.0)
            ridge = np.maximum(ridge, least[:, None] * self.alike)
        return ridge

    def loosen(self) -> None:
        """Take the noise for larger, after a value far from the expected one."""
        if self.rounds > 3:
            self.S = self.keep_noise * self.S + 4.5 * self.s2
            self.n = self.keep_noise * self.n + 1.0
            self._changed()

    def recentre(self, c: Array) -> None:
        """Move the features' origin without a change of the function."""
        T = self.features.moved(c - self.c)
        self.A = T @ self.A
        self.A[:, :, :-1] = self.A[:, :, :-1] @ T.T
        self.c = c.copy()
        self._refresh()

    def forget_level(self) -> None:
        """Forget the level after it jumped."""
        self._forget_level(0.999 / np.maximum(self.A[:, 0, 0], 1e-300))
        self._refresh()

    # --- results -------------------------------------------------------------------------------

    @cached_property
    def s2(self) -> Array:
        """The variance of the noise, by member."""
        least = (1e-15 * self.largest) ** 2 + 1e-300
        s2 = self.S / np.maximum(self.n, 1e-300)
        return np.maximum(np.where(self.n < 2.0, s2.max(), s2), least)

    @cached_property
    def weights(self) -> Array:
        """Belief in each member, with the sum 1."""
        weights = np.exp(self.ll - self.ll.max())
        if self.live <= UNSCORED:  # who reads no history knows nothing yet
            weights = weights * self.reads
        shares: Array = weights / weights.sum()
        return shares

    @cached_property
    def average(self) -> tuple[Array, Array]:
        """Mean and covariance of the coefficients, with the spread between the members."""
        w = self.weights
        m = w @ self.m
        apart = self.m - m
        K, p = apart.shape
        C = ((w * self.s2) @ self.P.reshape(K, p * p)).reshape(p, p)
        return m, C + (w[:, None] * apart).T @ apart

    @cached_property
    def bends(self) -> Array:
        """The matrix of second derivatives, its diagonal where no products are features."""
        f, m = self.features, self.average[0]
        diagonal: Array = m[f.squares] + (m[f.common] if f.d > 1 else 0.0)
        if not len(f.i):
            return diagonal
        matrix = np.diag(diagonal)
        matrix[f.i, f.j] = matrix[f.j, f.i] = m[f.crosses]
        return matrix

    def gradient(self, v: Array, e: Array) -> Array:
        """Return the slope of the values at v, one number for each coordinate."""
        f, m, bends = self.features, self.average[0], self.bends
        slope = bends * v if bends.ndim == 1 else bends @ v
        if f.e:
            slope = slope + e @ m[f.slopes].reshape(f.e, f.d)
        return np.asarray(m[f.v] + slope)

    def spread(self, y: Array) -> Array:
        """Return the mean square distance of the rows from y, along each coordinate."""
        v, a, A = self.features.v, y - self.c, self.A
        w = self.weights / np.maximum(A[:, 0, 0], 1e-300)
        square: Array = w @ A.diagonal(0, 1, 2)[:, v] - 2.0 * a * (w @ A[:, 0, v])
        return np.maximum(square + a * a, 0.0)

    def believed(self, row: Array, noise: float = 0.0) -> tuple[float, float]:
        """Return the expected value and its standard deviation, with noise that of a value."""
        row, w = row - self.mean, self.weights
        means = self.m @ row
        mean = w @ means
        variance = w @ (self.s2 * (noise + self.TIMES(self.P, row) @ row) + (means - mean) ** 2)
        return self.offset + float(mean), sqrt(max(float(variance), 0.0))

    def dependence(self, gone: Indices) -> tuple[float, float]:
        """Return how much worse values are explained without some features, and a usual amount.

        It is twice the logarithm of the ratio of likelihoods, averaged over the members.
        """
        which = np.flatnonzero(self.weights > 0.05)
        f, A, w = self.features, self.A[which], self.weights[which]
        ridge, explained = (1.0 + 1e-11) * self._ridge(which), []
        without = np.eye(f.p)
        without[f.common, gone[(gone >= f.squares.start) & (gone < f.squares.stop)]] = -1.0
        for dropped in (gone[:0], gone):
            T = np.delete(without if len(dropped) else np.eye(f.p), dropped, 0)
            L, b = T @ A[:, :, :-1] @ T.T, T @ A[:, :, -1:]
            full = np.maximum(L.diagonal(0, 1, 2) + np.delete(ridge, dropped, 1), 1e-300)
            explained.append(np.sum((inverse_root(L, full, 0.0) @ b) ** 2, axis=(1, 2)))
        known = (explained[0] - explained[1]) / self.s2[which]
        return float(w @ known / w.sum()), chi_square(len(gone), SURE)

    def restore(self, state: dict[str, Any], checked: bool = False) -> None:
        super().restore(state, checked)
        self._changed()


class Wide(Regression):
    """The same for many coordinates: coefficients count as independent of each other.

    Directions are drawn at random, and features are counted from their means: little is lost.
    Memory and time grow with the number of features, not with its square.
    """

    MEMBERS = (
        (3.0, 0.03, 0.0, -3.0),
        (24.0, 0.003, 0.03, 0.0),
        (inf, 0.1, 0.0, -0.5),
        (inf, 0.003, 0.0, 0.0),
    )
    TIMES = np.multiply
    BY_FEATURE = {"P": (0,), "m": (0,), "mean": (0,), "tried": (0,)}
    """`mean` and `tried` are mean and variance of the last features."""
    PARTS = (*BY_FEATURE, *Regression.OTHERS)
    mean: Array
    tried: Array

    def _use(self, features: Features) -> None:
        super()._use(features)
        self.kappa = np.maximum(features.d * self.kappa, 1e-3)

    def clear(self) -> None:
        super().clear()
        self.mean, self.tried = np.zeros((2, self.features.p))

    def _refresh(self, new: slice = slice(0)) -> None:
        self.P[:, new] = self._prior()[new]
        self._changed()

    def _forget(self) -> None:
        self.P /= self.keep[:, None]
        self.P[:, 0] += self.q
        self.P[:, self.features.v] *= 1.0 + self.om[:, None]

    def _absorb(self, row: Array, value: float, w: Array, e: Array, Pf: Array) -> None:
        t = self.rounds
        self.tried += (row * row - self.tried) / min(t, RECENT)
        prior = self._prior()
        self.P = np.minimum(self.P, prior) if t > 1 else np.tile(prior, (len(w), 1))
        Pf = self.P * row
        gain = w[:, None] * Pf / (1.0 + w * (Pf @ row))[:, None]
        self.m += gain * e[:, None]
        self.P -= gain * Pf
        step = row / min(t, RECENT)
        step[0] = 0.0
        self.mean += step
        self.m[:, 0] += self.m[:, 1:] @ step[1:]

    def _prior(self) -> Array:
        """Return the variances of coefficients before anything is known."""
        prior: Array = 1.0 / (self.kappa * np.where(self.tried > 0.0, self.tried, 0.1))
        return prior

    def recentre(self, c: Array) -> None:
        f, by = self.features, c - self.c
        bend = self.m[:, f.squares] + self.m[:, f.common]
        self.m[:, f.v] += bend * by
        self.P[:, f.v] += (self.P[:, f.squares] + self.P[:, f.common]) * by * by
        second = by * (0.5 * by - self.mean[f.v])
        self.mean[f.squares] += second
        self.mean[f.common] += second.sum()
        self.mean[f.v] -= by
        for n in range(f.e):
            slopes = slice(f.slopes.start + n * f.d, f.slopes.start + (n + 1) * f.d)
            self.m[:, f.levels.start + n] += self.m[:, slopes] @ by
            self.mean[slopes] -= self.mean[f.levels.start + n] * by
        self.c = c.copy()
        self._changed()

    def spread(self, y: Array) -> Array:
        found: Array = self.tried[self.features.v]
        return found

    def forget_level(self) -> None:
        self.P[:, 0] += 1000.0
        self._changed()

    @cached_property
    def average(self) -> tuple[Array, Array]:
        w = self.weights
        m = w @ self.m
        C = (w * self.s2) @ self.P + w @ (self.m - m) ** 2
        m[0] -= m[1:] @ self.mean[1:]
        return m, C

    def dependence(self, gone: Indices) -> tuple[float, float]:
        f, m, P, prior = self.features, self.m.copy(), self.P, self._prior()
        m[:, f.squares] += m[:, f.common]
        known = m[:, gone] ** 2 / P[:, gone] * np.maximum(1.0 - P[:, gone] / prior[gone], 0.0)
        return float(self.weights @ (known.sum(axis=1) / self.s2)), chi_square(len(gone), SURE)


def common_value(values: Sequence[float]) -> float | None:
    """Return the value that many of these values have, as 0 among conversions or revenues."""
    if len(set(values)) == len(values):
        return None
    value, count = Counter(values).most_common(1)[0]
    return value if count > max(1.0, COMMON * len(values)) else None


def chi_square(k: int, z: float) -> float:
    """Return the quantile of chi² with k degrees of freedom that belongs to a normal one."""
    return float(k * (1.0 - 2.0 / (9.0 * k) + z * np.sqrt(2.0 / (9.0 * k))) ** 3)


def inverse_root(matrices: Array, diagonals: Array, jitter: float) -> Array:
    """Return R with R'R the inverses of symmetric matrices, bounded if these are singular.

    They get other diagonals, which grow by a share. Where these are infinite, the inverse is 0.
    """
    scale = 1.0 / np.sqrt(diagonals)
    scaled = matrices * scale[:, :, None] * scale[:, None, :]
    np.einsum("kii->ki", scaled)[:] = 1.0 + jitter
    try:
        root = np.linalg.inv(np.linalg.cholesky(scaled))
    except np.linalg.LinAlgError:
        values, vectors = np.linalg.eigh(scaled)
        root = vectors.transpose(0, 2, 1) / np.sqrt(np.maximum(values, 1e-10))[:, :, None]
    return np.asarray(root * scale[:, None, :])
