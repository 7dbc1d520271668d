"""Two points a round: a query has both, and the difference of their losses is learnt from."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from dikin.domains.base import Array
from dikin.feedback import Feedback
from dikin.learners.kernel_learner import KernelLearner, Memo


class PairLearner(KernelLearner):
    """A learner whose queries have two points; a class beside it brings the kernel."""

    feedback = Feedback.PAIR

    @abstractmethod
    def _both(self, memo: Memo) -> Array:
        """The two vectors to play, one in each row."""

    def _propose(self) -> tuple[Array, float, Memo]:
        _, _, memo = super()._propose()
        return *self._vector(memo), memo

    def _vector(self, memo: Memo) -> tuple[Array, float]:
        both = self._both(memo)
        return both, float((both * both).sum(axis=1).max())

    def _placed(self, u: Array, square: float) -> Array:
        one, two = (super(PairLearner, self)._placed(each, square) for each in u)
        return np.stack([one, two])

    def _scaled_answer(self, answer: Any) -> float:
        """Half the difference of the two losses: what one loss is to the one-point estimate."""
        one, two = (self._scaled_loss(part) for part in self._two_parts(answer))
        return (one - two) / 2.0
