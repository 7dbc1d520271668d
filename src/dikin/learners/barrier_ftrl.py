"""Learners that follow the regularised leader with a barrier: their state, and its certificate.

A kernel of theirs has a `schedule` with `kappa`, `first` (lambda_0), `rate`, and `typical(T)`, a
rate near eta_{T+1} that depends on T alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dikin.errors import CertificateWarning, SlowLearnerWarning
from dikin.learners.kernel_learner import KernelLearner, LearnerState
from dikin.silence import warn
from dikin.theory.certificate import Account, Part

TOTAL, RATE, SPENT, HELD = range(4)
"""The numbers of the state: S_t, eta_{t+1}, and two sums of the certificate."""
UNEQUAL = 10.0
"""The ratio of the longest side to the shortest above which a learner warns."""


class BarrierFTRL(KernelLearner):
    """Follow the regularised leader with a barrier. Subclasses supply the kernel."""

    @property
    def _schedule(self) -> Any:
        return self._kernel.schedule

    def _follow(self, kernel: Any) -> None:
        first = kernel.schedule.first
        numbers = [first, kernel.schedule.rate(first, 1), 0.0, first]
        self._start(
            kernel, LearnerState(numbers, np.zeros(self.geometry.size), self.geometry.start())
        )

    def _certificate_part(self) -> Part | None:
        """The account of the rounds. None if the centre is not known accurately enough."""
        geometry, right, (numbers, linear, iterate) = self.geometry, self._schedule, self._state
        if not geometry.converged(iterate):
            warn(
                "the centre is so close to the boundary that rounding decides where it is: the "
                "certificate is NaN until it is farther inside. The learner itself continues.",
                CertificateWarning,
                stacklevel=4,
            )
            return None
        y, weight = geometry.vector(iterate), right.kappa / numbers[RATE]
        least = float(linear.dot(y)) + 0.5 * numbers[TOTAL] * float(y.dot(y))
        least += weight * geometry.barrier(iterate)
        rounds = self.rounds - self._earlier
        account = Account(rounds, numbers[SPENT] - least, numbers[HELD], weight)
        return Part(account, right, self.units.loss_scale)

    def _warn_of_unequal_sides(self) -> None:
        rounded = self.domain.geometry(self.units.radius, equal_sides=True)
        ratio = rounded.longest / rounded.shortest
        if ratio > UNEQUAL:
            warn(
                f"the sides of {self.domain} differ by a factor of {ratio:.3g}, and "
                f"{type(self).__name__} measures plain lengths, as in the paper: it learns little "
                "along short sides. Use Predictive, which makes sides equal, or choose units in "
                "which they are",
                SlowLearnerWarning,
                stacklevel=4,
            )

    def _warn_of_short_horizon(self, horizon: int, needed: float) -> None:
        warn(
            f"the paper's theorem holds from T = {needed:.2g} rounds on, and horizon is "
            f"{horizon}: below that, its constants allow hardly any learning, and the "
            "certificate grows like T. The default constants='sharp' hold for every T.",
            SlowLearnerWarning,
            stacklevel=4,
        )
