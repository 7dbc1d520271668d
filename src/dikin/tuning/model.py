"""The regression that a tuner learns with: a bank of quadratic models that forget differently.

Every member keeps the moments of all rows, discounted; together they say what value to expect at a
setting, with which error, and what its slope and curvature are. Letters: d coordinates, p features,
K members, L and b the moments, m and P mean and covariance (in units of the noise, s2) of the
coefficients.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dikin.vectors import Array

CROSSES = 12
"""Coordinates up to which products of two of them are features; beyond, curvature is diagonal."""
MANY = 50
"""Coordinates up to which covariances of all coefficients are known."""
LARGE = 40
"""Features from which on one member is solved anew a round, and the others are updated."""
NU = 4.0
"""Degrees of freedom of the noise: values far from the expected one count less."""
LEAST = 0.1
"""The least weight of a row: where noise looks like 0, every surprise is a large one."""
SURE = 2.1
"""The normal quantile beyond which the value is known to depend on a parameter."""
SHARE = 0.003
"""How probable it is that another member is right from a round on."""


class Member(NamedTuple):
    """How a member forgets: memory in rows a feature; walks of level and minimiser a round."""

    memory: float
    level: float
    minimum: float
    prior: float


EIGHT = (
    Member(3.0, 0.03, 0.0, -3.0),
    Member(12.0, 0.0, 0.0, -2.5),
    Member(12.0, 1.0, 0.0, -3.0),
    Member(24.0, 0.003, 0.06, 1.0),
    Member(48.0, 0.001, 0.02, 1.0),
    Member(96.0, 0.001, 0.005, 1.0),
    Member(np.inf, 0.1, 0.0, -0.5),
    Member(np.inf, 0.003, 0.0, 0.0),
)
FOUR = (
    Member(3.0, 0.03, 0.0, -3.0),
    Member(24.0, 0.003, 0.03, 0.0),
    Member(np.inf, 0.1, 0.0, -0.5),
    Member(np.inf, 0.003, 0.0, 0.0),
)
RECENT = 10
"""Rows of which a wide model knows mean and variance of the features."""
KAPPA = [0.03, 3.0, 3.0, 0.3]


class Features:
    """The features [1 | v | v²/2 | v_i v_j | |v|²/2 | z | e, e⊗v], v = x - c."""

    def __init__(self, d: int, covariates: int = 0, contexts: int = 0) -> None:
        self.d, self.z, self.e = d, covariates, contexts
        pairs = np.triu_indices(d if d <= CROSSES else 0, 1)
        self.i: NDArray[np.int_] = pairs[0]
        self.j: NDArray[np.int_] = pairs[1]
        ends = np.cumsum([1, d, d, len(self.i), d > 1, covariates, contexts, contexts * d])
        cuts = [slice(a, b) for a, b in pairwise(ends)]
        self.v, self.squares, self.crosses, self.common, self.extra, self.levels, self.slopes = cuts
        self.second = slice(self.squares.start, self.common.stop)
        self.p = int(ends[-1])

    def row(self, v: Array, z: Array | None = None, e: Array | None = None) -> Array:
        """The features at v."""
        half = 0.5 * v * v
        parts = [np.ones(1), v, half, v[self.i] * v[self.j]]
        if self.d > 1:
            parts.append(half.sum(keepdims=True))
        if self.z:
            parts.append(np.zeros(self.z) if z is None else z)
        if self.e:
            e = np.zeros(self.e) if e is None else e
            parts += [e, np.outer(e, v).ravel()]
        return np.concatenate(parts)

    def slope(self, v: Array, e: Array | None = None) -> Array:
        """The derivative of the features at v, one row for each coordinate."""
        d, eye = self.d, np.arange(self.d)
        slope = np.zeros((d, self.p))
        slope[eye, 1 + eye] = 1.0
        slope[eye, self.squares.start + eye] = v
        k = np.arange(self.crosses.start, self.crosses.stop)
        slope[self.i, k], slope[self.j, k] = v[self.j], v[self.i]
        if d > 1:
            slope[:, self.common.start] = v
        if self.e and e is not None:
            slope[:, self.slopes].reshape(d, self.e, d)[eye, :, eye] = e
        return slope

    def gradient(self, m: Array, v: Array, e: Array | None = None) -> Array:
        """Return the slope of the values at v, one number for each coordinate."""
        bend: Array = self.curvature(m) @ v if len(self.i) else self.diagonal(m) * v
        if self.e and e is not None:
            bend = bend + e @ m[self.slopes].reshape(self.e, self.d)
        return m[self.v] + bend

    def diagonal(self, m: Array) -> Array:
        """Return the second derivative along each coordinate."""
        found: Array = m[self.squares] + (m[self.common] if self.d > 1 else 0.0)
        return found

    def bends(self, along: Array) -> Array:
        """The second derivative of the features along each column."""
        u = along.T
        parts = [u * u, 2.0 * u[:, self.i] * u[:, self.j]]
        if self.d > 1:
            parts.append(np.ones((len(u), 1)))
        return np.concatenate(parts, axis=1)

    def curvature(self, m: Array) -> Array:
        """The matrix of second derivatives."""
        matrix = np.diag(self.diagonal(m))
        matrix[self.i, self.j] = matrix[self.j, self.i] = m[self.crosses]
        return matrix

    def of(self, i: int) -> NDArray[np.int_]:
        """Return the features of coordinate i."""
        crosses = self.crosses.start + np.flatnonzero((self.i == i) | (self.j == i))
        return np.array([1 + i, self.squares.start + i, *crosses])

    def of_context(self, weights: NDArray[np.int_]) -> NDArray[np.int_]:
        """Return the features of some weights of the context."""
        slopes = self.slopes.start + weights[:, None] * self.d + np.arange(self.d)
        return np.append(self.levels.start + weights, slopes.ravel())

    def moved(self, by: Array) -> Array:
        """The matrix that takes the features of v to those of v - by."""
        d, eye = self.d, np.arange(self.d)
        matrix = np.eye(self.p)
        matrix[self.v, 0] = -by
        matrix[self.second, 0] = self.row(by)[self.second]
        matrix[self.squares.start + eye, 1 + eye] = -by
        k = np.arange(self.crosses.start, self.crosses.stop)
        matrix[k, 1 + self.i], matrix[k, 1 + self.j] = -by[self.j], -by[self.i]
        if d > 1:
            matrix[self.common.start, self.v] = -by
        for n in range(self.e):
            matrix[self.slopes.start + n * d + eye, self.levels.start + n] = -by
        return matrix

    def ridge(self) -> Array:
        """The weights of the ridge, in rows of what was tried."""
        weights = np.full(self.p, 0.1)
        weights[0] = 0.0
        weights[self.v] = KAPPA[0]
        weights[self.squares] = KAPPA[1]
        weights[self.crosses] = KAPPA[2]
        weights[self.common] = KAPPA[3]
        weights[self.levels], weights[self.slopes] = 1e-3, 0.1
        return weights


class Regression:
    """A bank of members on one row of features.

    Attributes
    ----------
    features : Features
        What values are explained by.
    rounds : int
        Rows that were learnt.
    """

    arrays: tuple[str, ...] = ("L", "b", "N", "n", "S", "ll", "P", "m", "c", "at")
    """Of the state."""

    def __init__(
        self,
        features: Features,
        members: Sequence[Member] = EIGHT,
        *,
        robust: bool = True,
        history: bool = False,
        origin: Array | None = None,
    ) -> None:
        self.features, self.robust = features, robust
        self.reads = np.arange(len(members) * (1 + history)) < len(members)
        """Which members read history."""
        if history:  # each member twice
            members = (*members, *members)
        self.memory, self.q, self.om, self.prior = np.array(members).T
        self.prior = np.exp(self.prior - 2.0 * ~self.reads)
        self.prior /= self.prior.sum()
        self.keep = 1.0 - 1.0 / (self.memory * features.p)
        self.walks = np.flatnonzero(self.om)
        self.kappa = self._kappa()
        self.c = np.zeros(features.d) if origin is None else origin.copy()
        self.at = self.c
        """Where is played, for walks of the minimiser."""
        self._known: dict[str, Array] = {}
        """What was computed since something was learnt."""
        self.clear()

    def clear(self) -> None:
        """Forget everything."""
        K, p = len(self.prior), self.features.p
        self.L, self.b = np.zeros((K, p, p)), np.zeros((K, p))
        self.N = np.zeros(K)
        """Rows in each member's memory."""
        self.n, self.S, self.ll = np.zeros(K), np.zeros(K), np.log(self.prior)
        self.P, self.m = np.zeros((K, p, p)), np.zeros((K, p))
        self.offset, self.largest, self.rounds, self.live = 0.0, 0.0, 0, 0
        self._known.clear()

    def widen(self, more: int) -> None:
        """Take in features of covariates, which were 0 in every row so far."""
        old, first = self.features, self.features.extra.stop - (not self.reads.all())
        self.features = Features(old.d, old.z + more, old.e)
        self.kappa, self.keep = self._kappa(), 1.0 - 1.0 / (self.memory * self.features.p)
        for name in {*self.arrays} & {"L", "b", "P", "m", "mean", "tried"}:
            array = getattr(self, name)
            for axis in range(name not in ("mean", "tried"), array.ndim):
                array = np.insert(array, [first] * more, 0.0, axis=axis)
            setattr(self, name, array)
        self._unknown(slice(first, first + more))

    def _kappa(self) -> Array:
        """Return the weights of the ridge."""
        return self.features.ridge()

    def _unknown(self, new: slice) -> None:
        """Nothing is known of new coefficients."""
        if self.rounds:
            self._solve(np.arange(len(self.N)))

    # --- learning ------------------------------------------------------------------------------

    def learn(
        self,
        row: Array,
        value: float,
        weight: float = 1.0,
        scored: bool = True,
        history: bool = False,
    ) -> None:
        """Learn one value; what is not scored says nothing about the noise and the members."""
        if self.rounds == 0:
            self.offset = value
        self.rounds += 1
        self.largest = max(self.largest, abs(value))
        value -= self.offset
        row, s2 = self._centred(row), self.s2
        e, Pf = value - self.m @ row, self._spread(row)
        h = 1.0 + Pf @ row
        r2 = e * e / (s2 * h)
        w = np.ones(len(h))
        if scored and self.robust and self.rounds > len(row):
            w = np.maximum((NU + 1.0) / (NU + r2), LEAST)
        told = self.reads | (not history)
        self._known.clear()
        if scored and self.rounds > 1:
            most = 1.0 - 1.0 / min(10.0 + 0.5 * self.rounds, 300.0)
            keep = np.minimum(np.maximum(self.keep, 0.9), most)
            self.n = np.where(told, keep * self.n + 1.0, self.n)
            self.S = np.where(told, keep * self.S + w * e * e / h, self.S)
            self.live += not history
            if self.live > (3 if self.reads.all() else len(row)) and not history:
                ll = self.ll - 0.5 * np.log(s2 * h) - 2.5 * np.log1p(r2 / NU)
                likely = np.exp(ll - ll.max())
                self.ll = np.log((1.0 - SHARE) * likely / likely.sum() + SHARE * self.prior)
        w = weight * w * told
        if not history:
            self._forget()
        self._absorb(row, value, w, e, Pf)

    def _centred(self, row: Array) -> Array:
        """Return the features as members count them."""
        return row

    def _spread(self, row: Array) -> Array:
        """Return the covariances of a row's value with the coefficients."""
        return self.P @ row

    def _absorb(self, row: Array, value: float, w: Array, e: Array, Pf: Array) -> None:
        """Add a row with weights to the moments."""
        h = 1.0 + Pf @ row
        self.L += (w[:, None] * row)[:, :, None] * row
        self.b += (w * value)[:, None] * row
        self.N += w
        if len(row) > LARGE:  # one member anew, the others by a row
            gain = (w / (1.0 + w * (h - 1.0)))[:, None] * Pf
            self.P -= gain[:, :, None] * Pf[:, None, :]
            self.m += gain * e[:, None]
            self._solve(np.array([self.rounds % len(h)]))
        else:
            self._solve(np.arange(len(h)))

    def _forget(self) -> None:
        """A round passes: members forget, the level and the minimiser walk."""
        keep = self.keep
        self.L *= keep[:, None, None]
        self.b *= keep[:, None]
        self.N *= keep
        column = self.L[:, :, 0].copy()
        share = self.q / (1.0 + self.q * column[:, 0])
        self.L -= (share[:, None] * column)[:, :, None] * column[:, None, :]
        self.b -= (share * self.b[:, 0])[:, None] * column
        if len(column[0]) > LARGE:
            self.P /= keep[:, None, None]
            self.P[:, 0, 0] += self.q
        if not self.walks.size:  # the slope at the centre walks, the value there does not
            return
        f, walks, apart = self.features, self.walks, self.at - self.c
        share = (self.om / (1.0 + self.om))[walks, None]
        L, b = self.L[walks], self.b[walks]
        LU = L[:, :, f.v] - L[:, :, :1] * apart  # U' = [-apart | 1], the slope at the centre
        G = LU[:, f.v] - apart[:, None] * LU[:, :1]
        F = halves(G)  # of its information: L -= share LU G⁻¹ U'L, symmetric
        X, along = LU @ F, F.transpose(0, 2, 1) @ (b[:, f.v] - b[:, :1] * apart)[:, :, None]
        self.b[walks] -= share * (X @ along)[:, :, 0]
        self.L[walks] -= share[:, :, None] * (X @ X.transpose(0, 2, 1))
        if f.p > LARGE:
            walk = self.om[walks, None, None] * self.P[walks, f.v, f.v]
            along = walk @ apart
            self.P[walks, f.v, f.v] += walk
            self.P[walks, 0, f.v] -= along
            self.P[walks, f.v, 0] -= along
            self.P[walks, 0, 0] += along @ apart

    def _solve(self, which: NDArray[np.int_]) -> None:
        """Means and covariances from the moments of the members."""
        f = self.features
        if self.rounds < 3:  # nothing was tried but the start
            self.P[:, 0, 0] = 1.0 / np.maximum(self.L[:, 0, 0], 1e-3)
            self.m[:, 0] = self.P[:, 0, 0] * self.b[:, 0]
            return
        L, ridge = self.L[which], self._ridge(which)
        full = np.diagonal(L, axis1=1, axis2=2) + ridge
        full = np.where(full > 0.0, full, 1e-3)  # a level without a row
        scale = 1.0 / np.sqrt(full)
        L = L * scale[:, :, None] * scale[:, None, :]
        at = np.arange(f.p)
        L[:, at, at] = 1.0 + 1e-11
        P = inverse(L) * scale[:, :, None] * scale[:, None, :]
        self.P[which] = P
        self.m[which] = (P @ self.b[which][:, :, None])[:, :, 0]
        self._known.clear()

    def _ridge(self, which: NDArray[np.int_]) -> Array:
        """Return the precision that coefficients have before anything is known, by member."""
        f, L, N = self.features, self.L[which], np.maximum(self.N[which], 1.0)
        diagonal = np.diagonal(L, axis1=1, axis2=2)
        tried = np.maximum(diagonal - L[:, :, 0] ** 2 / np.maximum(L[:, :1, 0], 1e-300), 0.0)
        tried = np.where(diagonal > 0.0, tried, 0.1 * N[:, None])
        if not self.reads.all():  # the level of history is any
            tried[:, f.extra.stop - 1] = 0.01 * N
        if f.e:  # in a context that was never seen
            tried[:, f.levels] = N[:, None]
            tried[:, f.slopes] = np.tile(tried[:, f.v], f.e)
        ridge = self.kappa * (tried + 1e-9 * diagonal) / N[:, None]
        if f.d > 1 and self.rounds > 4:  # curvatures resemble their mean
            bends = np.zeros(f.p)
            bends[f.squares], bends[f.common] = 1.0 / f.d, 1.0
            mean, s2 = self.m[which] @ bends, self.s2[which]
            spread = self.P[which] @ bends @ bends
            known = mean**2 + s2 * spread
            least = np.where(known > 0.0, s2 / np.maximum(known, 1e-300), 0.0)[:, None]
            ridge[:, f.squares] = np.maximum(ridge[:, f.squares], least)
            ridge[:, f.crosses] = np.maximum(ridge[:, f.crosses], 2.0 * least)
        return ridge

    @property
    def s2(self) -> Array:
        """The variance of the noise, by member."""
        known: Array | None = self._known.get("s2")
        if known is None:
            least = (1e-15 * self.largest) ** 2 + 1e-300
            s2 = self.S / np.maximum(self.n, 1e-300)
            known = np.maximum(np.where(self.n < 2.0, s2.max(), s2), least)
            self._known["s2"] = known
        return known

    def loosen(self, value: bool) -> None:
        """A value was far off: the noise may be larger than believed."""
        if value and self.rounds > 3:
            self.n = np.maximum(self.keep, 0.9) * self.n + 1.0
            self.S = np.maximum(self.keep, 0.9) * self.S + 4.5 * self.s2
            self._known.clear()

    def recentre(self, c: Array) -> None:
        """Move the features' origin; nothing learnt changes."""
        T = self.features.moved(c - self.c)
        self.L, self.b = T @ self.L @ T.T, self.b @ T.T
        self.c = c.copy()
        if self.rounds:
            self._solve(np.arange(len(self.N)))

    def forget_level(self) -> None:
        """The level has jumped: everything but the level stays."""
        column = self.L[:, :, 0].copy()
        share = 0.999 / np.maximum(column[:, 0], 1e-300)
        self.L -= (share[:, None] * column)[:, :, None] * column[:, None, :]
        self.b -= (share * self.b[:, 0])[:, None] * column
        self._solve(np.arange(len(self.N)))

    # --- what is known -------------------------------------------------------------------------

    def weights(self) -> Array:
        """How far each member is believed."""
        if (known := self._known.get("weights")) is not None:
            return known
        weights = np.exp(self.ll - self.ll.max())
        if self.live <= self.features.p < self.rounds:  # who reads no history knows nothing yet
            weights = weights * self.reads
        shares: Array = weights / weights.sum()
        self._known["weights"] = shares
        return shares

    def average(self) -> tuple[Array, Array]:
        """Mean and covariance of the coefficients, with the spread between the members."""
        if "m" in self._known:
            return self._known["m"], self._known["C"]
        w = self.weights()
        m = w @ self.m
        apart = self.m - m
        K, p = apart.shape
        C = ((w * self.s2) @ self.P.reshape(K, p * p)).reshape(p, p)
        self._known["m"], self._known["C"] = m, C + (w[:, None] * apart).T @ apart
        return m, self._known["C"]

    def believed(self, row: Array) -> tuple[float, float]:
        """The expected value, and the standard deviation of this expectation."""
        return self._expected(row, 0.0)

    def predict(self, row: Array) -> tuple[float, float]:
        """The expected value, and the standard deviation of a measured one."""
        return self._expected(row, 1.0)

    def _expected(self, row: Array, noise: float) -> tuple[float, float]:
        row, w = self._centred(row), self.weights()
        means = self.m @ row
        mean = w @ means
        variance = w @ (self.s2 * (noise + self._spread(row) @ row) + (means - mean) ** 2)
        return self.offset + float(mean), float(np.sqrt(max(float(variance), 0.0)))

    def dependence(self, gone: NDArray[np.int_]) -> tuple[float, float]:
        """Return how much worse values are explained without some features, and a usual amount.

        It is twice the logarithm of the ratio of likelihoods, averaged over the members.
        """
        w = self.weights()
        which = np.flatnonzero(w > 0.05)
        f, keep = self.features, np.setdiff1d(np.arange(self.features.p), gone)
        without = np.eye(f.p)
        without[f.common, gone[(gone >= f.squares.start) & (gone < f.squares.stop)]] = -1.0
        without = without[keep]
        L, b, ridge = self.L[which], self.b[which], self._ridge(which)
        explained = []
        for T, own in ((np.eye(f.p), ridge), (without, ridge[:, keep])):
            A, linear = T @ L @ T.T + 1e-11 * np.eye(len(T)) * own[:, None, :], b @ T.T
            at = np.arange(len(T))
            A[:, at, at] += own
            scale = 1.0 / np.sqrt(np.maximum(A[:, at, at], 1e-300))
            linear = linear * scale
            found = inverse(A * scale[:, :, None] * scale[:, None, :]) @ linear[:, :, None]
            explained.append(np.sum(found[:, :, 0] * linear, axis=1))
        known = (explained[0] - explained[1]) / self.s2[which]
        return float(w[which] @ known / w[which].sum()), chi_square(len(gone), SURE)

    # --- state ---------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """All that it knows, as plain data."""
        names = ("offset", "largest", "rounds", "live")
        return {name: getattr(self, name).tolist() for name in self.arrays} | {
            name: getattr(self, name) for name in names
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from plain data."""
        for name, value in state.items():
            setattr(self, name, np.array(value, float) if isinstance(value, list) else value)
        self._known.clear()


class Wide(Regression):
    """The same for many coordinates: coefficients count as independent of each other.

    Directions are drawn at random, and features are counted from their means, so that little is
    lost. Memory and time grow with the number of features, not with its square.
    """

    arrays = ("n", "S", "ll", "P", "m", "c", "at", "mean", "tried")

    def __init__(self, features: Features, members: Sequence[Member] = FOUR, **known: Any) -> None:
        super().__init__(features, members, **known)

    def _kappa(self) -> Array:
        return np.maximum(self.features.d * self.features.ridge(), 1e-3)

    def clear(self) -> None:
        K, p = len(self.prior), self.features.p
        self.n, self.S, self.ll = np.zeros(K), np.zeros(K), np.log(self.prior)
        self.P, self.m = np.zeros((K, p)), np.zeros((K, p))
        self.mean, self.tried = np.zeros(p), np.zeros(p)
        """Mean and variance of the features of late."""
        self.offset, self.largest, self.rounds, self.live = 0.0, 0.0, 0, 0
        self._known.clear()

    def _unknown(self, new: slice) -> None:
        self.P[:, new] = self._prior()[new]

    def _centred(self, row: Array) -> Array:
        return row - self.mean

    def _spread(self, row: Array) -> Array:
        return self.P * row

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
        self._known.clear()

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
        self._known.clear()

    def forget_level(self) -> None:
        self.P[:, 0] += 1000.0
        self._known.clear()

    def average(self) -> tuple[Array, Array]:
        if "m" not in self._known:
            w = self.weights()
            m = w @ self.m
            C = (w * self.s2) @ self.P + w @ (self.m - m) ** 2
            m[0] -= m[1:] @ self.mean[1:]
            self._known["m"], self._known["C"] = m, C
        return self._known["m"], self._known["C"]

    def dependence(self, gone: NDArray[np.int_]) -> tuple[float, float]:
        f, m, P, prior = self.features, self.m.copy(), self.P.copy(), self._prior()
        m[:, f.squares] += m[:, f.common]
        known = m[:, gone] ** 2 / P[:, gone] * np.maximum(1.0 - P[:, gone] / prior[gone], 0.0)
        found = self.weights() @ (known.sum(axis=1) / self.s2)
        return float(found), chi_square(len(gone), SURE)


def chi_square(k: int, z: float) -> float:
    """Return the quantile of chi² with k degrees of freedom that belongs to a normal one."""
    return float(k * (1.0 - 2.0 / (9.0 * k) + z * np.sqrt(2.0 / (9.0 * k))) ** 3)


def halves(matrices: Array) -> Array:
    """Return matrices F with F F' the inverse, where there is one."""
    diagonal = np.diagonal(matrices, axis1=1, axis2=2)
    scale = np.where(diagonal > 0.0, 1.0 / np.sqrt(np.maximum(diagonal, 1e-300)), 0.0)
    scaled = matrices * scale[:, :, None] * scale[:, None, :] + 1e-9 * np.eye(len(matrices[0]))
    found: Array = scale[:, :, None] * np.linalg.inv(np.linalg.cholesky(scaled)).transpose(0, 2, 1)
    return found


def inverse(matrices: Array) -> Array:
    """Inverses of symmetric matrices with unit diagonals; what is not known is bounded."""
    try:
        root = np.linalg.inv(np.linalg.cholesky(matrices))
        found: Array = root.transpose(0, 2, 1) @ root
        return found
    except np.linalg.LinAlgError:
        values, vectors = np.linalg.eigh(matrices)
        values = np.maximum(values, 1e-10)
        inverses: Array = (vectors / values[:, None, :]) @ vectors.transpose(0, 2, 1)
        return inverses
