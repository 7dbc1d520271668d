"""Algorithms 1 and 2 of Luo, Zhang and Zhao (COLT 2022): one schedule, with k = 2 or 3.

With S_t = lambda_0 + sum_{s<=t} (sigma_s + lambda_s), lambda_t solves

    lambda^k (S_{t-1} + sigma_t + lambda) = target,
    eta_t = scale (coefficient/S_{t-1} + floor)^(1/k), at most a cap,

where target = d^2 coefficient; for smooth losses k = 2, coefficient = beta + 1, scale = 1/(2d), and
for Lipschitz ones k = 3, coefficient = (L + 1)^2, scale = d^(-4/3). Two sets of constants:

    sharp:  kappa = 1, lambda_0 = target, cap 1/(3d), floor nu ln T/T (k = 2) or 0 (k = 3)
    paper:  kappa = 400, lambda_0 = max{rho, target}, no cap, floor nu/(T ln T) or coefficient/T

`sharp` is the default; without a horizon the current round replaces T. `paper` follows the paper to
the letter. It needs the horizon, and below about 10^8 rounds its lambda_0 is so large that the
centre hardly moves.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from math import inf, log, sqrt
from typing import ClassVar, NamedTuple

from dikin.domains.base import Domain
from dikin.errors import ParameterError, SlowLearnerWarning, shown
from dikin.learners import parameters
from dikin.learners.barrier_ftrl import BarrierFTRL
from dikin.theory import certificate, schedules
from dikin.units import LossRange

PAPER_KAPPA = 400.0
UNEQUAL = 10.0
"""The ratio of the longest side to the shortest above which the learner warns."""
EARLIEST = 3.0
"""ln t/t falls only from t = e on. It is held constant before, so that the rate never rises."""


class AdaptiveSchedule(NamedTuple):
    """The formulas for lambda_t and eta_t, in the paper's units."""

    dim: float
    order: int
    """k."""
    constant: float
    """beta or L."""
    coefficient: float
    target: float
    first: float
    """lambda_0."""
    scale: float
    floor: float
    """The floor inside the root of the rate, if the horizon is known."""
    anytime: float
    """nu if no horizon is known, so that the floor is nu ln t/t; otherwise 0."""
    cap: float
    """The largest rate, which keeps eta_t |g_t|* at most 1/2."""
    kappa: float
    reach: float = 1.0
    trust: float = 1.0
    assumed: float = 0.0
    least: float = 0.0

    def regularisation(self, total: float) -> float:
        if self.order == schedules.SMOOTH:
            return schedules.smooth_regularisation(total, self.target)
        return schedules.lipschitz_regularisation(total, self.target)

    def rate(self, total: float, round: int) -> float:
        floor = self.floor
        if self.anytime > 0.0:
            rounds = float(round) if round > EARLIEST else EARLIEST
            floor = self.anytime * log(rounds) / rounds
        inside = self.coefficient / total + floor
        root: float = sqrt(inside) if self.order == schedules.SMOOTH else inside ** (1.0 / 3.0)
        rate = self.scale * root
        return rate if rate < self.cap else self.cap

    def price(self, sigma: float, trace: float) -> float:
        if self.order == schedules.SMOOTH:
            return certificate.smooth_price(sigma, trace, self.dim, self.constant)
        return certificate.lipschitz_price(sigma, trace, self.dim, self.constant)

    def typical(self, rounds: int) -> float:
        total = schedules.uncurved(self.first, self.target, rounds, self.order)
        return self.rate(total, rounds + 1)


def sharp_schedule(
    order: int, dim: int, nu: float, constant: float, horizon: int | None
) -> AdaptiveSchedule:
    """The constants of docs/mathematics.md."""
    coefficient, target, scale = _common(order, dim, constant)
    floor = anytime = 0.0
    if order == schedules.SMOOTH:
        floor = nu * log(horizon) / horizon if horizon else 0.0
        anytime = 0.0 if horizon else nu
    cap = 1.0 / (3.0 * dim)
    return AdaptiveSchedule(
        dim, order, constant, coefficient, target, target, scale, floor, anytime, cap, 1.0
    )


def paper_schedule(
    order: int, dim: int, nu: float, constant: float, horizon: int, lambda_0: float
) -> AdaptiveSchedule:
    """The constants of the paper's algorithm boxes, and the least lambda_0 that they require."""
    coefficient, target, scale = _common(order, dim, constant)
    floor = nu / (horizon * log(horizon)) if order == schedules.SMOOTH else coefficient / horizon
    first = max(lambda_0, target)
    return AdaptiveSchedule(
        dim, order, constant, coefficient, target, first, scale, floor, 0.0, inf, PAPER_KAPPA
    )


def _common(order: int, dim: int, constant: float) -> tuple[float, float, float]:
    """The coefficient, the target and the scale."""
    target = schedules.Setting(order, dim, constant).target
    scale = 0.5 / dim if order == schedules.SMOOTH else dim ** (-4.0 / 3.0)
    return (constant + 1.0) ** (order - 1), target, scale


class Adaptive(BarrierFTRL):
    """Adaptive bandit convex optimization with heterogeneous curvature (Luo, Zhang, Zhao 2022).

    Attributes
    ----------
    order
        The k of the formulas above: 2 for smooth losses, 3 for Lipschitz ones.
    """

    takes_constants = True
    order: ClassVar[int]
    """k."""
    horizon = parameters.optional_horizon(1, "or None")
    constants = parameters.constants()

    def __init__(
        self,
        domain: Domain,
        *,
        loss_range: LossRange,
        horizon: int | None,
        constants: str,
        seed: int | None,
    ) -> None:
        super().__init__(domain, loss_range, seed)
        self._warn_of_unequal_sides()
        self.horizon, self.constants = horizon, constants
        self._follow(self._sharp() if self.constants == "sharp" else self._paper())

    @abstractmethod
    def _constant(self) -> float:
        """beta or L in the paper's units."""

    @abstractmethod
    def _paper_start(self) -> tuple[float, float]:
        """The least lambda_0 of the paper, and the round from which its theorem holds."""

    def _warn_of_unequal_sides(self) -> None:
        rounded = self.domain.equal_sided_geometry(self.units.radius)
        ratio = rounded.longest / rounded.shortest
        if ratio > UNEQUAL:
            name = type(self).__name__
            warnings.warn(
                f"the sides of {self.domain} differ by a factor of {ratio:.3g}, and {name} "
                "measures plain lengths, as in the paper: it learns little along short sides. "
                "Use Predictive, which makes sides equal, or choose units in which they are",
                SlowLearnerWarning,
                stacklevel=4,
            )

    def _sharp(self) -> AdaptiveSchedule:
        dim, nu = self.domain.dim, self.domain.nu
        return sharp_schedule(self.order, dim, nu, self._constant(), self.horizon)

    def _paper(self) -> AdaptiveSchedule:
        if self.horizon is None or self.horizon < 2:
            raise ParameterError(
                "constants='paper' contain ln T and need horizon=T, at least 2, "
                f"got {shown(self.horizon)}; the default constants='sharp' need none"
            )
        lambda_0, needed = self._paper_start()
        if self.horizon < needed:
            warnings.warn(
                f"the paper's theorem holds from T = {needed:.2g} rounds on, and horizon is "
                f"{self.horizon}: below that, its constants allow hardly any learning, and the "
                "certificate grows like T. The default constants='sharp' hold for every T.",
                SlowLearnerWarning,
                stacklevel=4,
            )
        dim, nu, constant = self.domain.dim, self.domain.nu, self._constant()
        return paper_schedule(self.order, dim, nu, constant, self.horizon, lambda_0)
