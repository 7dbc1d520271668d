"""Discard: throw away every round without strong convexity, learn from the others.

The naive method that the paper compares itself with in its remarks on Theorem 7: `hazan_levy` on
the rounds whose curvature is told to be at least sigma, nothing on the others. Each of M rounds
thrown away may cost the whole range, so it tolerates only M of order sqrt(T).
"""

from __future__ import annotations

from dikin.learners.hazan_levy import HazanLevy
from dikin.open_queries import Memo
from dikin.theory.certificate import Part


class Discard(HazanLevy):
    """Learner for losses that are `curvature`-strongly convex in the rounds that count.

    Notes
    -----
    Published: the idea, as the naive method in the remarks of Luo, Zhang and Zhao, and how many
    rounds it tolerates.

    Ours: the algorithm, which is `HazanLevy` on the rounds whose curvature reaches `curvature`.

    References
    ----------
    Luo, Zhang, Zhao: Adaptive bandit convex optimization with heterogeneous curvature. COLT 2022,
    after Corollary 10.

    Examples
    --------
    >>> from dikin import Ball
    >>> learner = Discard(Ball(2), horizon=1000, smoothness=1.0, curvature=0.5, seed=1)
    >>> learner.tell(learner.ask(), 0.3)  # no curvature told: thrown away
    >>> learner.center
    array([0., 0.])
    """

    meanings = {
        "curvature": "The strong convexity of the rounds that count: a round that is told less is "
        "thrown away."
    }

    def _least(self, sigma: float) -> float:
        return sigma

    def _learn(self, memo: Memo, loss: float, curvature: float) -> None:
        before = self._state.iterate
        super()._learn(memo, loss, curvature)
        if curvature < self._schedule.least:
            # The update solved the last problem again, which may move the centre slightly.
            self._state = self._state._replace(iterate=before)

    def _certificate_part(self) -> Part | None:
        # If the range may still be widened, a round thrown away may cost more than its width.
        return None if self.may_restart else super()._certificate_part()
