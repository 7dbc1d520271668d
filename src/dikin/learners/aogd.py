"""Adaptive online gradient descent (Bartlett, Hazan and Rakhlin, NIPS 2007): learns from gradients.

The full-information reference of the paper: it uses gradients where the paper's two algorithms
use values. With |u| <= 1, G_t the length of the gradient and H_t the curvature told,

    S_t      = H_{1:t} + lambda_{1:t-1}
    lambda_t = (sqrt(S_t^2 + 8 G_t^2/3) - S_t)/2,    so (3/2) lambda_t = G_t^2/(S_t + lambda_t)
    x_{t+1}  = the point of X nearest to x_t - (gradient f_t(x_t) + lambda_t x_t)/(S_t + lambda_t)

regret <= 3 min_l (l_{1:T} + sum_t (G_t + l_t)^2/(H_{1:t} + l_{1:t})), over all l_1, ..., l_T >= 0:
of order sqrt(T) without curvature, ln T with constant curvature, T^a for H_t = t^(-a), a <= 1/2. It
needs neither the horizon nor a Lipschitz constant, plays its centre and draws nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt
from typing import Any, Self

import numpy as np

from dikin.arguments import LARGEST
from dikin.domains.base import Array, Domain
from dikin.errors import FeedbackError, shown
from dikin.feedback import Feedback
from dikin.learners.base import Learner
from dikin.learners.parameters import finite_array, two_parts


class AOGD(Learner):
    """Learner that is told the gradient at the point it played, for losses of any curvature.

    Notes
    -----
    Published: the algorithm and its bound.

    Ours: only the units.

    References
    ----------
    Bartlett, Hazan, Rakhlin: Adaptive online gradient descent. NIPS 2007.

    Examples
    --------
    >>> from dikin import Ball
    >>> learner = AOGD(Ball(2))
    >>> query = learner.ask()
    >>> learner.tell(query, (0.3, [1.0, 0.0]), curvature=0.5)
    >>> float(learner.center[0].round(3))
    -0.906
    """

    feedback = Feedback.GRADIENT
    kept = ("_iterate", "_total")

    def _begin(self) -> None:
        self._iterate, self._total = self.geometry.start(), 0.0  # H_{1:t} + lambda_{1:t}

    @property
    def center(self) -> Array:
        """The point that it will play next."""
        return self._inside(self._propose()[0])

    def _propose(self) -> tuple[Array, float, Array]:
        u = self.geometry.vector(self._iterate)
        return u, float(u.dot(u)), self._iterate

    def _scaled_answer(self, answer: Any) -> Array:
        loss, gradient = two_parts(self, answer)
        super()._scaled_answer(loss)
        slope = finite_array(gradient, self.domain.point_shape, "gradient")
        with np.errstate(over="ignore"):
            scaled = self.units.slope(1.0) * slope
        if not np.abs(scaled).max() < LARGEST:
            raise FeedbackError(
                f"the gradient {shown(gradient)} is too steep: in units of the domain's radius and "
                f"the losses' range its entries must be below {LARGEST:g}. Nothing was changed."
            )
        return self.geometry.inward(scaled)

    def _learn(self, memo: Array, slope: Array, curvature: float) -> None:
        before = self._total + curvature
        square = float(slope.dot(slope))
        total = before + 0.5 * (sqrt(before * before + 8.0 / 3.0 * square) - before)
        if total > 0.0:  # otherwise this loss and all before it were flat
            pull = slope + (total - before) * self.geometry.vector(memo)
            linear = pull / total - self.geometry.vector(self._iterate)
            self._iterate = self._iterate.copy()
            self.geometry.project(linear, self._iterate)
            self._total = total

    @classmethod
    def examples(cls, domain: Domain, seed: int) -> Iterator[Self]:
        yield cls(domain, loss_range=(3, 11), seed=seed)
