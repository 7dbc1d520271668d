"""The price of regularisation: Lemmas 6 (lemma:H-function-main), 22 (lemma:H-function-lip-app).

Both settings of the paper are one formula. With S_t = sigma_{1:t} + lambda_{0:t}, the curvature
after round t,

    a sequence costs         B = sum_t lambda_t + sum_t (target / S_t)^(1/k)
    the paper's sequence is  lambda_t = (target / S_t)^(1/k),  that is  lambda_t^k S_t = target

where k = 2 and target = d^2 (beta + 1) for smooth losses, k = 3 and target = d^2 (L + 1)^2 for
Lipschitz ones. `first` is lambda_0 throughout: given, never chosen, and free of charge in B.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dikin.errors import ParameterError
from dikin.kernel import compilable
from dikin.vectors import Array

SMOOTH, LIPSCHITZ = 2, 3  # k


@dataclass(frozen=True)
class Setting:
    """One of the paper's two settings: `SMOOTH` losses, Algorithm 1, or `LIPSCHITZ` ones.

    Parameters
    ----------
    order : int
        The k of the setting: `SMOOTH` or `LIPSCHITZ`.
    dim : int
        The dimension d.
    constant : float
        The smoothness beta or the Lipschitz constant L, not negative.
    """

    order: int
    dim: int
    constant: float

    @property
    def target(self) -> float:
        """The target d^2 (constant + 1)^(k-1): as lambda_0 it keeps every lambda_t below 1."""
        target: float = self.dim**2 * (self.constant + 1.0) ** (self.order - 1)
        return target

    def objective(self, lambdas: ArrayLike, sigmas: ArrayLike, first: float) -> float:
        """B of Lemmas 6 and 22: lambda_{1:T} + sum_t (target / S_t)^(1/k).

        Parameters
        ----------
        lambdas : array_like
            The regularisation lambda_1, ..., lambda_T that is added, not negative.
        sigmas : array_like
            The strong convexity sigma_1, ..., sigma_T of the losses, finite, not negative.
        first : float
            The regularisation lambda_0 before the first round, positive.

        Returns
        -------
        float
            The cost of the sequence, without lambda_0 itself.
        """
        added = np.asarray(lambdas, dtype=np.float64)
        total = _curvature(sigmas, first) + np.cumsum(added)
        return float(added.sum() + ((self.target / total) ** (1 / self.order)).sum())

    def minimum(self, sigmas: ArrayLike, first: float) -> tuple[float, float]:
        """Min of B over lambda*_1, ..., lambda*_T >= 0, the right side of Lemmas 6 and 22.

        Move all of lambda*_{1:T} to round 1: the sum of the lambdas stays, every S_t stays or
        grows, so no term of B grows. So some minimiser is (m, 0, ..., 0), and with
        A_t = lambda_0 + sigma_{1:t}, p = 1/k, the rest is to minimise the convex
        m + sum_t (target / (A_t + m))^p over m >= 0.

        Its derivative vanishes where g(m) = p target^p sum_t (A_t + m)^(-p-1) is 1: there
        mass saves as much as it costs. Newton runs on g^(-1/(p+1)) = 1 instead. That function
        is, up to a factor, the power mean of the A_t + m with exponent -(p+1): increasing and
        concave in m. So Newton from the left of the root never passes it, and where the A_t are
        equal it is exact at once. If g(0) <= 1 the minimiser is m = 0, and the first step, which is
        not upwards, says so.

        Parameters
        ----------
        sigmas, first
            As for `objective`.

        Returns
        -------
        minimum : float
            The smallest B, 0 without rounds.
        mass : float
            The sum m = lambda*_{1:T} of a minimiser, all of which sits on round 1.
        """
        free = _curvature(sigmas, first)
        if not free.size:
            return 0.0, 0.0
        power = 1 / self.order
        mass = 0.0
        while True:
            total = free + mass
            terms = total ** (-power - 1)
            saved = power * self.target**power * float(terms.sum())
            step = (saved ** (1 / (power + 1)) - 1) * float(terms.sum() / (terms / total).sum())
            if not mass + step > mass:
                return mass + float(((self.target / total) ** power).sum()), mass
            mass += step

    def adaptive_lambdas(self, sigmas: ArrayLike, first: float) -> Array:
        """The paper's lambda_1, ..., lambda_T, each from its own past alone.

        They solve eqn:oracle-tuning-strongly-main or eqn:oracle-tuning-Lipschitz-main. Every prefix
        costs at most twice its minimum (Lemmas 6 and 22), and 2 is sharp.

        Parameters
        ----------
        sigmas, first
            As for `objective`.

        Returns
        -------
        numpy.ndarray
            One lambda_t for every sigma.
        """
        lambdas = []
        added = 0.0
        for free in _curvature(sigmas, first).tolist():
            lambdas.append(regularisation(free + added, self.target, self.order))
            added += lambdas[-1]
        return np.array(lambdas, dtype=np.float64)


def _curvature(sigmas: ArrayLike, first: float) -> Array:
    """lambda_0 + sigma_{1:t} for every t: the curvature that costs nothing."""
    array = np.asarray(sigmas, dtype=np.float64)
    if not first > 0:
        raise ParameterError(f"lambda_0 is {first}; wanted a positive number.")
    bad = np.flatnonzero(~(np.isfinite(array) & (array >= 0)))
    if bad.size:
        raise ParameterError(
            f"sigma of round {bad[0] + 1} is {array[bad[0]]}; wanted a finite number >= 0."
        )
    return first + np.cumsum(array)


def uncurved(first: float, target: float, rounds: int, order: int) -> float:
    """About S_T of the paper's sequence where no round is strongly convex, from T alone.

    lambda_t = (target/S_t)^(1/k) is a step of dS/dt = (target/S)^(1/k), of which this is the
    solution.

    Parameters
    ----------
    first, target : float
        The regularisation lambda_0 before the first round, and the target of the setting.
    rounds, order : int
        The number of rounds T, and the k of the setting.

    Returns
    -------
    float
        About lambda_{0:T}.
    """
    power = 1 + 1 / order
    total: float = (first**power + power * target ** (1 / order) * rounds) ** (1 / power)
    return total


STEPS = 60
"""Three are enough. With numbers that are none, which only an altered state has, none would be."""


@compilable
def regularisation(total: float, target: float, order: int) -> float:
    """Solve lambda^k (total + lambda) = target for lambda > 0: the paper's lambda_t.

    They are eqn:oracle-tuning-strongly-main and eqn:oracle-tuning-Lipschitz-main. Both
    (target/total)^(1/k) and target^(1/(k+1)) are at or above the root (put them in), and
    total >= target puts the first at or below 1. The smaller one is close, and Halley's method
    cubes the error: a step that moves by less than 1e-6 is the last.

    Parameters
    ----------
    total, target : float
        The curvature sigma_{1:t} + lambda_{0:t-1} and the target of the setting, positive.
    order : int
        The k of the setting: `SMOOTH` or `LIPSCHITZ`.

    Returns
    -------
    float
        The root, to a few units in the last place.
    """
    k = float(order)
    root: float = (target / total) ** (1.0 / k)
    if root > total:  # exactly when target^(1/(k+1)) is the smaller of the two
        root = target ** (1.0 / (k + 1.0))
    for _ in range(STEPS):
        power = root if order == SMOOTH else root * root  # root^(k-1)
        value = power * root * (total + root) - target
        slope = power * (k * total + (k + 1.0) * root)
        bend = 0.5 * k * power / root * ((k - 1.0) * total + (k + 1.0) * root)
        fall = value * slope / (slope * slope - value * bend)
        root -= fall
        if abs(fall) < 1e-6 * root:
            break
    return root
