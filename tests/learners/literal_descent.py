"""The learners that project, word for word, in the paper's units: R = C = 1 and D = 2.

Each is told a round as the shipped learner lived it, recovers the direction from the points that
were played, and says where its own centre goes.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, log, log2, sqrt
from typing import NamedTuple

import numpy as np

from learners.literal import Array, OffTheSphereError

Projection = Callable[[Array], Array]


class Round(NamedTuple):
    """What a learner saw: where it stood, what it played, what it was told."""

    center: Array
    points: list[Array]
    losses: list[float]
    slope: Array
    sigma: float
    context: Array
    """As a vector of the set's plane."""


def direction(seen: Round, delta: float) -> Array:
    """The direction is seen from the shipped centre: rounding would grow by 1/delta."""
    u = (seen.points[0] - seen.center) / delta
    if abs(float(np.linalg.norm(u)) - 1) > 1e-9:
        raise OffTheSphereError(f"|u| = {np.linalg.norm(u)}")
    return u


class OnePoint:
    """A3a: g = (d/delta) f(y + delta u) u; y <- Proj_{(1-xi)K}(y - g/(sigma t)), xi = delta/r."""

    def __init__(self, project: Projection, d: int, r: float, delta: float, size: int) -> None:
        self.project, self.d, self.delta, self.xi = project, d, delta, delta / r
        self.centers = [np.zeros(size)]

    def eta(self, t: int) -> float:
        raise NotImplementedError

    def estimate(self, seen: Round) -> Array:
        return self.d / self.delta * seen.losses[0] * direction(seen, self.delta)

    def told(self, seen: Round) -> None:
        t = len(self.centers)
        moved = self.centers[-1] - self.eta(t) * self.estimate(seen)
        self.centers.append((1 - self.xi) * self.project(moved / (1 - self.xi)))


class StronglyConvex(OnePoint):
    """The steps 1/(sigma t)."""

    sigma: float
    other: float
    """What delta would be without one of the minima in its formula."""

    def eta(self, t: int) -> float:
        return 1 / (self.sigma * t)


class TwoPoints(OnePoint):
    """A3b: g = (d/(2 delta)) (f(y + delta u) - f(y - delta u)) u."""

    step: float

    def eta(self, t: int) -> float:
        return self.step

    def estimate(self, seen: Round) -> Array:
        u = direction(seen, self.delta)
        if float(np.abs(seen.points[1] - (seen.center - self.delta * u)).max()) > 1e-9:
            raise OffTheSphereError("the second point is not opposite to the first")
        plus, minus = seen.losses
        return self.d / (2 * self.delta) * (plus - minus) * u


class TwoPointsStronglyConvex(TwoPoints, StronglyConvex):
    """Two points with the steps 1/(sigma t)."""

    def eta(self, t: int) -> float:
        return StronglyConvex.eta(self, t)


class Predictions(OnePoint):
    """A11 (ii), with the context as long as it came.

    Play a w with the prediction <z, w_t> + delta' s; g = (1/delta') l s z; w <- Proj(w - eta g),
    eta = R delta'/(C X sqrt T). Here delta' = delta |z| and X = |z|, round by round.
    """

    T: int

    def told(self, seen: Round) -> None:
        z = seen.context
        length = float(np.linalg.norm(z))
        reach = self.delta * length
        predicted = float(z @ (seen.points[0] - seen.center)) / reach
        s = np.sign(predicted)
        played = seen.center + reach * s * z / length**2
        if float(np.abs(seen.points[0] - played).max()) > 1e-9:
            raise OffTheSphereError(f"the prediction moved by {predicted} of what it should")
        g = seen.losses[0] * s * z / reach
        moved = self.centers[-1] - reach / (length * sqrt(self.T)) * g
        self.centers.append((1 - self.xi) * self.project(moved / (1 - self.xi)))


class AdaptiveGradient:
    """A7, with D = 1 = max |x| and lists of everything."""

    def __init__(self, project: Projection, size: int) -> None:
        self.project, self.H, self.lam = project, [0.0], [0.0]
        self.centers = [np.zeros(size)]

    def regularisation(self, S: float, G: float) -> float:
        return (sqrt(S**2 + 8 * G**2 / 3) - S) / 2

    def told(self, seen: Round) -> None:
        x, g = self.centers[-1], seen.slope
        if float(np.abs(seen.points[0] - seen.center).max()) > 1e-12:
            raise OffTheSphereError("the point that was played is not the centre")
        self.H.append(seen.sigma)
        S = sum(self.H) + sum(self.lam)
        self.lam.append(self.regularisation(S, float(np.linalg.norm(g))))
        eta = 1 / (sum(self.H) + sum(self.lam))
        self.centers.append(self.project(x - eta * (g + self.lam[-1] * x)))


class Tilted:
    """A15, the static version, on the set (1 - h/r) K inside K_h."""

    def __init__(self, project: Projection, d: int, r: float, T: int, size: int) -> None:
        self.uncut = sqrt(d) * T**-0.25
        self.h = min(self.uncut, r / 2)
        self.project, self.d, self.shrunk = project, d, 1 - self.h / r
        self.G, D = d / self.h, 2
        self.etas = [2.0**-i / (5 * self.G * D) for i in range(ceil(0.5 * log2(T)) + 1)]
        self.experts = [np.zeros(size) for _ in self.etas]
        self.losses: list[list[float]] = [[] for _ in self.etas]
        self.centers = [np.zeros(size)]

    def weight(self, i: int) -> float:
        return self.etas[i] * float(np.exp(-sum(self.losses[i])))

    def surrogate(self, eta: float, g: Array, x: Array, at: Array) -> float:
        return -eta * float(g @ (x - at)) + eta**2 * self.G**2 * float((x - at) @ (x - at))

    def told(self, seen: Round) -> None:
        x, t = self.centers[-1], len(self.centers)
        g = self.d / self.h * seen.losses[0] * direction(seen, self.h)
        for i, eta in enumerate(self.etas):
            at = self.experts[i]
            self.losses[i].append(self.surrogate(eta, g, x, at))
            slope = eta * g + 2 * eta**2 * self.G**2 * (at - x)
            moved = at - slope / (2 * eta**2 * self.G**2 * t)
            self.experts[i] = self.shrunk * self.project(moved / self.shrunk)
        weights = [self.weight(i) for i in range(len(self.etas))]
        mean = sum(w * e for w, e in zip(weights, self.experts, strict=True)) / sum(weights)
        self.centers.append(np.asarray(mean))


class Expert:
    """One of TEWA-SE: where it is, what it has lost, and the rounds of its interval."""

    def __init__(self, at: Array, first: int, last: int, eta: float) -> None:
        self.at, self.first, self.last, self.eta = at, first, last, eta
        self.losses: list[float] = []


class Sleeping(Tilted):
    """Algorithm TEWA-SE, with a list of the experts that are awake.

    Round t begins the intervals [i 2^k, (i + 1) 2^k - 1] with i 2^k = t, and ends others.
    """

    def __init__(
        self, project: Projection, d: int, r: float, T: int, size: int, B: int | None = None
    ) -> None:
        super().__init__(project, d, r, T if B is None else B, size)
        self.T = T
        self.awake: list[Expert] = []
        self.begin(1, np.zeros(size))

    def rates(self, length: int) -> list[float]:
        return [2.0**-j / (5 * self.G * 2) for j in range(ceil(0.5 * log2(length)) + 1)]

    def begin(self, t: int, at: Array) -> None:
        """The experts of the intervals that begin in round t."""
        self.awake = [expert for expert in self.awake if expert.last >= t]
        for k in range(self.T.bit_length()):
            if t % 2**k == 0:
                last = t + 2**k - 1
                self.awake += [Expert(at.copy(), t, last, eta) for eta in self.rates(2**k)]

    def tilt(self, expert: Expert) -> float:
        return expert.eta

    def age(self, expert: Expert, t: int) -> int:
        return t - expert.first + 1

    def told(self, seen: Round) -> None:
        x, t = self.centers[-1], len(self.centers)
        g = self.d / self.h * seen.losses[0] * direction(seen, self.h)
        for one in self.awake:
            one.losses.append(self.surrogate(one.eta, g, x, one.at))
            slope = one.eta * g + 2 * one.eta**2 * self.G**2 * (one.at - x)
            moved = one.at - slope / (2 * one.eta**2 * self.G**2 * self.age(one, t))
            one.at = self.shrunk * self.project(moved / self.shrunk)
        self.begin(t + 1, x)
        weights = [self.tilt(one) * float(np.exp(-sum(one.losses))) for one in self.awake]
        mean = sum(w * one.at for w, one in zip(weights, self.awake, strict=True)) / sum(weights)
        self.centers.append(np.asarray(mean))


class StepPool:
    """PBGD, with weights that are multiplied and divided by their sum in every round.

    R = C = 1 and D = 2; the steps double until one is beyond the best for the longest path, 2 T.
    """

    def __init__(self, project: Projection, d: int, r: float, T: int, size: int) -> None:
        self.project, self.d, self.T = project, d, T
        self.uncut = self.reach()
        self.delta = min(self.uncut, r / 2)
        self.xi, self.G = self.delta / r, self.bound()
        self.etas = [self.best_step(0.0)]
        while self.etas[-1] < self.best_step(2.0 * T):
            self.etas.append(2 * self.etas[-1])
        N = len(self.etas)
        self.weights = [(N + 1) / N / (i * (i + 1)) for i in range(1, N + 1)]
        self.epsilon = sqrt(8 / T) / (self.G * 2)
        self.experts = [np.zeros(size) for _ in self.etas]
        self.centers = [np.zeros(size)]

    def reach(self) -> float:
        return sqrt(self.d) * self.T**-0.25

    def bound(self) -> float:
        return self.d / self.delta

    def best_step(self, path: float) -> float:
        return sqrt((7 + path) / self.T) / self.G

    def estimate(self, seen: Round) -> Array:
        return self.d / self.delta * seen.losses[0] * direction(seen, self.delta)

    def told(self, seen: Round) -> None:
        x, g = self.centers[-1], self.estimate(seen)
        for i, eta in enumerate(self.etas):
            at = self.experts[i]
            self.weights[i] *= float(np.exp(-self.epsilon * g @ (at - x)))
            moved = at - eta * g
            self.experts[i] = (1 - self.xi) * self.project(moved / (1 - self.xi))
        total = sum(self.weights)
        self.weights = [weight / total for weight in self.weights]
        mean = sum(w * e for w, e in zip(self.weights, self.experts, strict=True))
        self.centers.append(np.asarray(mean))


class TwoPointStepPool(StepPool):
    """PBGD with two points: |g| <= d L."""

    def __init__(self, project: Projection, d: int, r: float, T: int, size: int, L: float) -> None:
        self.L = L
        super().__init__(project, d, r, T, size)

    def reach(self) -> float:
        return self.d / sqrt(self.T)

    def bound(self) -> float:
        return self.d * self.L

    def best_step(self, path: float) -> float:
        return sqrt((7 + path) / (2 * self.T)) / self.G

    def estimate(self, seen: Round) -> Array:
        u = direction(seen, self.delta)
        if float(np.abs(seen.points[1] - (seen.center - self.delta * u)).max()) > 1e-9:
            raise OffTheSphereError("the second point is not opposite to the first")
        plus, minus = seen.losses
        return self.d / (2 * self.delta) * (plus - minus) * u


# --- the tunings of the text ---------------------------------------------------------------------


def one_point_reach(d: int, T: int, L: float, sigma: float, r: float) -> float:
    """S = 2C/r by convexity or L |x|/r by the slope, with |x| <= 1: the smaller one."""
    return one_point_balance(d, T, L, sigma, min(2 / r, L / r))


def one_point_balance(d: int, T: int, L: float, sigma: float, S: float) -> float:
    """The delta at which d^2 (1 + ln T)/(2 sigma delta^2) + (3L + S) delta T is least."""
    return float(np.cbrt(d**2 * (1 + log(T)) / (sigma * (3 * L + S) * T)))


def prediction_reach(T: int, L: float, r: float) -> float:
    """A1 in dimension one, which counts what shrinking the set costs."""
    return T**-0.25 * sqrt(r / (3 * (L * r + 1)))
