"""The learners that project, word for word, in the paper's units: R = C = 1 and D = 2."""

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


class BanditGradientDescent(OnePoint):
    """A1: y <- Proj_{(1-alpha)K}(y - nu_step v u), u the direction played at distance delta."""

    step: float

    def eta(self, t: int) -> float:
        return self.step

    def estimate(self, seen: Round) -> Array:
        return seen.losses[0] * direction(seen, self.delta)


class OneMeasurement(OnePoint):
    """y <- Proj_{0.9 K}(y - eta (d/delta) (f - b) u), b a mean of the losses before."""

    step = 40.0

    def __init__(self, project: Projection, d: int, r: float, size: int) -> None:
        super().__init__(project, d, r, 0.1 * r, size)
        self.r, self.losses = r, list[float]()

    def eta(self, t: int) -> float:
        return float(self.step * 0.1 * self.r / self.d * (101 / (100 + t)) ** 0.602)

    def baseline(self) -> float:
        mean = 0.0
        for t, loss in enumerate(self.losses, 1):
            mean = (1 - t**-0.5) * mean + t**-0.5 * loss
        return mean

    def estimate(self, seen: Round) -> Array:
        u = direction(seen, self.delta)
        away = seen.losses[0] - self.baseline() if self.losses else 0.0
        return self.d / self.delta * away * u

    def told(self, seen: Round) -> None:
        self.delta = 0.1 * self.r / len(self.centers) ** 0.101
        super().told(seen)
        self.losses.append(seen.losses[0])


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
        moved = self.centers[-1] - 10 * reach / (length * sqrt(self.T)) * g
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


def one_point_balance(d: int, T: int, L: float, sigma: float, S: float) -> float:
    """The delta at which d^2 (1 + ln T)/(2 sigma delta^2) + (3L + S) delta T is least."""
    return float(np.cbrt(d**2 * (1 + log(T)) / (sigma * (3 * L + S) * T)))
