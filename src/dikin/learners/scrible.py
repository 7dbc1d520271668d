"""SCRiBLe (Abernethy, Hazan, Rakhlin, COLT 2008), with directions from the sphere: linear losses.

Exploring costs nothing, so delta = 1 and the regret is at most 2 d sqrt(nu T ln T) + 2 for
T >= 4 nu ln T: order d sqrt(T) on a ball, d^(3/2) sqrt(T) on a box. The original plays along an
eigenvector of the Hessian drawn at random; any direction of its unit sphere serves as well
(docs/mathematics.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Self

from dikin.domains.base import Domain
from dikin.learners import parameters
from dikin.learners.fixed_rate import FixedRateFTRL
from dikin.units import LossRange


class Scrible(FixedRateFTRL):
    """Learner for linear losses over a known number of rounds.

    Notes
    -----
    Published: follow the regularised leader with a barrier, exploration over the whole of Dikin's
    ellipsoid, and regret of order d sqrt(nu T ln T).

    Ours: the directions and the rate. The text draws an eigenvector of the Hessian and a sign; here
    the direction is uniform on the sphere, which has the same second moment. As far as we know, the
    rate of 2008 is smaller, sqrt(nu ln T/T)/(4 d), with the bound 16 d sqrt(nu T ln T); this was
    not compared with the printed paper. Here eta = sqrt(nu ln T/T)/d, at most 1/(2 d), balances the
    two terms of the bound that is proved in docs/mathematics.md.

    References
    ----------
    Abernethy, Hazan, Rakhlin: Competing in the dark: an efficient algorithm for bandit linear
    optimization. COLT 2008.

    Examples
    --------
    >>> from dikin import Ball
    >>> learner = Scrible(Ball(2), horizon=1000, seed=1)
    >>> learner.tell(learner.ask(), 0.3)
    >>> learner.rounds
    1
    """

    smoothness = 0.0

    def __init__(
        self,
        domain: Domain,
        horizon: int,
        *,
        loss_range: LossRange = (-1.0, 1.0),
        seed: int | None = None,
    ) -> None:
        super().__init__(domain, horizon, loss_range, seed)
        self._explore(1.0, smoothness=0.0, lipschitz=0.0)

    @cached_property
    def curvature_limit(self) -> tuple[float, str]:
        """Zero: linear losses are not strongly convex."""
        return parameters.LINEAR

    @classmethod
    def examples(cls, domain: Domain, seed: int) -> Iterator[Self]:
        yield cls(domain, 1000, seed=seed)
        yield cls(domain, 5000, loss_range=(3, 11), seed=seed)
