"""FKM (Flaxman, Kalai, McMahan, SODA 2005): gradient descent without a gradient.

With |f| <= 1, the set inside the unit ball and a ball of radius r inside it (all around the same
centre), eta = delta/(d sqrt T) in both tunings:

    Lipschitz:  delta = T^(-1/4) sqrt(d r/(3 (L r + 1))),   shrink = 1 - delta/r,
                regret <= 2 T^(3/4) sqrt(3 d (L + 1/r))
    general:    delta = (r d^2/(12 T))^(1/3),   shrink = 1 - (3 d/(2 r sqrt T))^(1/3),
                regret <= 3 12^(1/3) T^(5/6) (d/r)^(1/3)
"""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt
from typing import NamedTuple, Self

from dikin import arguments
from dikin.domains.base import Domain
from dikin.learners import parameters
from dikin.learners.descent import Descent
from dikin.learners.parameters import LIPSCHITZ, Parameter
from dikin.units import LossRange, Units


class FixedPace(NamedTuple):
    """The same step in every round."""

    dim: float
    reach: float
    shrink: float
    eta: float

    def step(self, round: int) -> float:
        return self.eta


def lipschitz_pace(dim: int, inradius: float, horizon: int, lipschitz: float) -> FixedPace:
    """The tuning for L-Lipschitz losses; delta is at most half the inradius."""
    reach = horizon**-0.25 * sqrt(dim * inradius / (3.0 * (lipschitz * inradius + 1.0)))
    reach = min(reach, inradius / 2.0)
    return FixedPace(dim, reach, 1.0 - reach / inradius, reach / (dim * sqrt(horizon)))


def general_pace(dim: int, inradius: float, horizon: int) -> FixedPace:
    """The tuning for bounded losses; alpha at most 1/2 and delta at most alpha r."""
    alpha = min((3.0 * dim / (2.0 * inradius * sqrt(horizon))) ** (1.0 / 3.0), 0.5)
    reach = min((inradius * dim**2 / (12.0 * horizon)) ** (1.0 / 3.0), alpha * inradius)
    return FixedPace(dim, reach, 1.0 - alpha, reach / (dim * sqrt(horizon)))


class FKM(Descent):
    """Learner for convex losses, `lipschitz` or merely bounded (None), over a known horizon.

    Regret of order sqrt(d) T^(3/4) for Lipschitz losses, T^(5/6) for bounded ones; curvature is not
    used.

    Notes
    -----
    Published: the algorithm, and delta, the step and the shrunk set of both tunings.

    Ours: the constants of the two bounds, which we derived from those numbers. The constant of the
    bounded case is larger than the one we know from the paper, 3 T^(5/6) (d/r)^(1/3). The limits on
    delta for small T are ours too.

    References
    ----------
    Flaxman, Kalai, McMahan: Online convex optimization in the bandit setting: gradient descent
    without a gradient. SODA 2005.

    Examples
    --------
    >>> from dikin import Ball
    >>> learner = FKM(Ball(2), horizon=1000, lipschitz=1.0, seed=1)
    >>> learner.tell(learner.ask(), 0.3)
    >>> learner.rounds
    1
    """

    horizon = parameters.horizon(1, "the step depends on it")
    lipschitz = Parameter(
        LIPSCHITZ + " None for losses that are only bounded.",
        arguments.optional(arguments.positive),
        scaled=Units.slope,
    )

    def __init__(
        self,
        domain: Domain,
        horizon: int,
        lipschitz: float | None = None,
        *,
        loss_range: LossRange = (-1.0, 1.0),
        seed: int | None = None,
    ) -> None:
        super().__init__(domain, loss_range, seed)
        self.horizon, self.lipschitz = horizon, lipschitz
        inradius = domain.inradius / domain.radius
        if self.lipschitz is None:
            self._descend(general_pace(domain.dim, inradius, self.horizon))
        else:
            slope = self._in_units("lipschitz")
            self._descend(lipschitz_pace(domain.dim, inradius, self.horizon, slope))

    @classmethod
    def examples(cls, domain: Domain, seed: int) -> Iterator[Self]:
        yield cls(domain, 1000, seed=seed)
        yield cls(domain, 5000, 2.0 / domain.radius, loss_range=(3, 11), seed=seed)
