"""The older algorithms word for word, in the paper's units: lists of everything, nothing clever."""

from math import log, sqrt

import numpy as np

from reference.barriers import Array, Normalised, minimum


class OffTheSphereError(AssertionError):
    """A played point is not where the text puts it."""


class FixedRate:
    """A2, A4, A5: x_{t+1} = argmin eta <sum g, x> + R(x), exploring at the share delta."""

    def __init__(self, psi: Normalised, eta: float, delta: float) -> None:
        self.psi, self.eta, self.delta = psi, eta, delta
        self.estimates: list[Array] = []
        self.centers = [np.zeros(psi.dim)]

    def ellipsoid(self) -> Array:
        return self.psi.hessian(self.centers[-1])

    def told(self, x: Array, loss: float) -> None:
        H, y, d = self.ellipsoid(), self.centers[-1], self.psi.dim
        h = (x - y) / self.delta
        if abs(sqrt(h @ H @ h) - 1) > 1e-7:
            raise OffTheSphereError(f"h'Hh = {h @ H @ h}")
        values, vectors = np.linalg.eigh(H)
        root = (vectors * np.sqrt(values)) @ vectors.T
        u = root @ h
        self.estimates.append(d / self.delta * loss * (root @ u))
        self.centers.append(self.minimise())

    def minimise(self) -> Array:
        total = np.sum(self.estimates, axis=0)
        return minimum(
            lambda x: self.eta * total + self.psi.gradient(x), self.psi.hessian, self.centers[-1]
        )


class KnownCurvature(FixedRate):
    """A6: H_t = Hessian R(y_t) + eta sigma t I, and (sigma/2)|x - y_s|^2 in the leader."""

    def __init__(self, psi: Normalised, eta: float, sigma: float) -> None:
        super().__init__(psi, eta, 1.0)
        self.sigma = sigma

    def ellipsoid(self) -> Array:
        round = len(self.estimates) + 1
        return super().ellipsoid() + self.eta * self.sigma * round * np.eye(self.psi.dim)

    def minimise(self) -> Array:
        sigma, eta, played = self.sigma, self.eta, self.centers

        def gradient(x: Array) -> Array:
            terms = zip(self.estimates, played, strict=True)
            slope: Array = sum((g + sigma * (x - y) for g, y in terms), np.zeros(self.psi.dim))
            return eta * slope + self.psi.gradient(x)

        def hessian(x: Array) -> Array:
            bend = eta * sigma * len(self.estimates) * np.eye(self.psi.dim)
            return self.psi.hessian(x) + bend

        return minimum(gradient, hessian, self.centers[-1])


def scrible_rate(d: int, nu: float, T: int) -> float:
    """Not capped."""
    return sqrt(nu * log(T) / T) / d


def largest_rate(d: int, delta: float) -> float:
    """The proofs want eta |g|* <= 1/2, and |g|* <= d/delta for losses in [-1, 1]."""
    return 1 / (2 * (d / delta))


def saha_tewari_reach(d: int, nu: float, T: int, beta: float, D: float) -> float:
    """Not capped."""
    a, c = d * sqrt(nu * T * log(T)), 3 / 8 * beta * D**2
    return float(np.cbrt(a / (c * T)))


def lipschitz_reach(d: int, nu: float, T: int, L: float, D: float) -> float:
    """Not capped."""
    return sqrt(2 * d * sqrt(nu * T * log(T)) / (L * D * T))


def hazan_levy_rate(d: int, nu: float, T: int, beta: float, sigma: float) -> float:
    """Not capped."""
    return sqrt((nu + 2 * beta / sigma) * log(T) / (2 * d**2 * T))
