"""Losses f_t(x) = l_t(z_t.x) of one prediction (Saha, Natarajan, Netrapalli, Jain, ICML 2021).

z_t, the context, is known before the round is played; l_t is not. Along z_t the loss is a function
of one variable, and elsewhere it is constant, so only that line need be explored. With n_t the
direction of z_t in the set's plane, |f| <= 1, the set inside the unit ball and a ball of radius r
inside it, and a random sign s_t,

    x_t     = w_t + delta s_t n_t                             (z_t.x_t is moved by delta |z_t|)
    g_t     = (1/delta) f_t(x_t) s_t n_t                      |g_t| <= 1/delta, whatever d is
    w_{t+1} = the point of (1 - delta/r) X nearest to w_t - eta g_t

This is `fkm` with d = 1 and has its tuning and its bound, 2 T^(3/4) sqrt(3 (L + 1/r)). L is the
Lipschitz constant of the losses on the domain: that of l_t times the length of z_t in the plane.
The length of z_t and the origin of the coordinates make no difference.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from dikin.domains.base import Array, Domain
from dikin.errors import FeedbackError, shown
from dikin.feedback import Feedback
from dikin.learners import parameters
from dikin.learners.descent import Descent
from dikin.learners.fkm import lipschitz_pace
from dikin.units import LossRange

ROUNDING = 1e-12
"""The share of a context within the set's plane below which it counts as rounding."""


class PseudoLine(Descent):
    """Learner for `lipschitz` losses l_t(z_t.x) with z_t known beforehand, over a known horizon.

    `ask(z)` takes z_t as an array of the shape of a point, in the user's coordinates: z.x is the
    sum of the products of their entries. Where z.x is the same on the whole domain there is nothing
    to explore, and the centre itself is played.

    Notes
    -----
    Published: losses of one known product can be learnt at the rate T^(3/4) for any d, and at the
    rate sqrt(d T).

    Ours: the algorithm for the first rate, descent along the context with the tuning of `FKM` at d
    = 1, reconstructed from the idea and not from the printed algorithm. The one for sqrt(d T) is
    not implemented: its cover of the set grows exponentially with d.

    References
    ----------
    Saha, Natarajan, Netrapalli, Jain: Optimal regret algorithm for pseudo-1d bandit convex
    optimization. ICML 2021.

    Examples
    --------
    >>> from dikin import Ball
    >>> learner = PseudoLine(Ball(3), horizon=1000, lipschitz=1.0, seed=1)
    >>> query = learner.ask([0.0, 2.0, 0.0])
    >>> abs(query.point).round(3)
    array([0.   , 0.073, 0.   ])
    >>> learner.tell(query, 0.3)
    """

    horizon = parameters.horizon(1, "the step depends on it")
    lipschitz = parameters.lipschitz()

    feedback = Feedback.CONTEXT

    def __init__(
        self,
        domain: Domain,
        horizon: int,
        lipschitz: float,
        *,
        loss_range: LossRange = (-1.0, 1.0),
        seed: int | None = None,
    ) -> None:
        super().__init__(domain, loss_range, seed)
        self.horizon, self.lipschitz = horizon, lipschitz
        slope = self._in_units("lipschitz")
        self._descend(lipschitz_pace(1, domain.inradius / domain.radius, self.horizon, slope))

    def _take_context(self, context: Any) -> None:
        """Take z, which has the shape of a point: the loss is a function of z.x."""
        self._line = self._direction(context)

    def _propose(self) -> tuple[Array, float, Any]:
        side = 1.0 if self._noise.draw()[0] >= 0.0 else -1.0
        return self._propose_from(self._state, side * self._line)

    def _direction(self, context: ArrayLike | None) -> Array:
        """A context as a unit working vector; zero if the prediction is constant."""
        shape = self.domain.point_shape
        if context is None:
            raise FeedbackError(
                "PseudoLine needs a context: call ask(z), where the loss is a function of "
                f"z.x and z has the shape {shape}"
            )
        try:
            z = np.array(context, dtype=float)
        except (TypeError, ValueError, OverflowError):
            z = np.empty(0)
        if z.shape != shape or not np.isfinite(z).all():
            raise FeedbackError(
                f"a context must be finite numbers of shape {shape}, got {shown(context)}. "
                "Nothing was changed."
            )
        z /= float(np.abs(z).max()) or 1.0  # otherwise its square might overflow
        line = self.geometry.inward(z)
        length = float(np.linalg.norm(line))
        if length <= ROUNDING * float(np.linalg.norm(z)):
            return np.zeros(self.geometry.size)
        return line / length

    @classmethod
    def examples(cls, domain: Domain, seed: int) -> Iterator[Self]:
        yield cls(domain, 1000, 4.0 / domain.radius, loss_range=(3, 11), seed=seed)
