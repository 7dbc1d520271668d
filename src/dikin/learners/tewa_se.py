"""TEWA-SE (Liu, Baudry, Zimmert, Rebeschini, Akhavan, NeurIPS 2025): a minimum that moves.

The experts of `tewa`, and those of one interval after the other: sleeping experts. The intervals
cover the rounds geometrically (Daniely, Gonen, Shalev-Shwartz, ICML 2015),

    I = [i 2^k, (i + 1) 2^k - 1],         k = 0, ..., floor(log2(T)),    i = 1, 2, ...

so that in round t one of each length 2^k <= t goes on. An interval has experts of its own, with the
rates eta_j = 2^(-j)/(5 G D), j = 0, ..., ceil(k/2). With B the length of the intervals on which the
regret is to be small and s_t uniform on the unit sphere, in the paper's units,

    h = sqrt(d) B^(-1/4), at most r/2,    G = d/h,    D = 2,    shrink = 1 - h/r
    x_t   = sum w x_{t,I,j} / sum w  over the experts awake,    w = eta_j exp(-L_{t-1,I,j})
    z_t   = x_t + h s_t is played,        g_t = (d/h) f_t(z_t) s_t
    l_{t,j}(x)  = eta_j g_t.(x - x_t) + eta_j^2 G^2 |x - x_t|^2
    L_{t,I,j}   = the sum of l_{s,j}(x_{s,I,j}) over the rounds s <= t of I
    x_{t+1,I,j} = the point of `shrink` X nearest to
                  x_{t,I,j} - gradient l_{t,j}(x_{t,I,j})/(2 eta_j^2 G^2 n),
                  where t is the n-th round of I

Regret on any interval of at most B rounds, logarithms left out, of order sqrt(d) B^(3/4) for
Lipschitz losses and d sqrt(B)/sigma for smooth and sigma-strongly convex ones with their minimisers
inside. Against a point that changes S - 1 times, with B = T/S: sqrt(d) S^(1/4) T^(3/4), and
d sqrt(S T)/sigma.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import floor, log2, sqrt
from typing import Any, NamedTuple, Self

import numpy as np

from dikin import arguments
from dikin.domains.base import Array, Domain
from dikin.errors import ParameterError
from dikin.learners import parameters
from dikin.learners.experts import ASLEEP, ExpertsLearner, explore_around_average, place_expert
from dikin.learners.kernel_learner import LearnerState, Memo, Proposal
from dikin.learners.parameters import Parameter
from dikin.learners.tewa import grid_of_rates, teach_expert
from dikin.units import LossRange


class TewaSEKernel(NamedTuple):
    """A round of the learner; the priors are the rates.

    lengths are those of the experts' intervals, the same expert serving one after the other.
    """

    geometry: Any
    reach: float
    shrink: float
    gradient_bound: float
    priors: Array
    lengths: Array

    def ask(self, state: LearnerState, s: Array, metric: Array, u: Array) -> Proposal:
        return explore_around_average(self, state, s, metric, u)

    def tell(
        self, round: int, memo: Memo, loss: float, curvature: float, state: LearnerState
    ) -> None:
        for i in range(self.priors.size):
            if (round + 1) % self.lengths[i] == 0.0:
                # The next round begins an interval: what was learnt in the last one is forgotten.
                place_expert(self, i, memo.metric[: self.geometry.size], state)
                state.numbers[i] = 0.0
            elif state.numbers[i] < ASLEEP:
                teach_expert(self, i, round % self.lengths[i] + 1.0, memo, loss, state)


class TewaSE(ExpertsLearner):
    """Learner for losses whose minimum moves, over a known horizon; what is told is ignored.

    Raises
    ------
    ParameterError
        If the interval is longer than the horizon.

    Notes
    -----
    Published: the algorithm: experts on the intervals of a geometric cover, h = sqrt(d) B^(-1/4),
    the surrogate losses, the experts' steps and their weights; and the rates of the regret.

    Ours: all that the abstract and secondary sources leave open, as we have not read the printed
    algorithm. The scale 1/(5 G D) of the grid of rates and 1 + ceil(k/2) experts on an interval of
    2^k rounds are, as far as we know, those of UMA (Zhang, Wang, Tu, Jiang, Zhou, NeurIPS 2021). A
    new expert begins at the point around which the last round explored: its first step leads to a
    place that does not depend on where it began. The set of the experts, the limit r/2 on h and
    G = d/h are as in `Tewa`. The layer that finds an unknown B (bandit over bandit) is not here.

    References
    ----------
    Liu, Baudry, Zimmert, Rebeschini, Akhavan: Non-stationary bandit convex optimization: a
    comprehensive study. NeurIPS 2025, arXiv 2506.02980.

    Examples
    --------
    >>> from dikin import Ball
    >>> learner = TewaSE(Ball(2), horizon=10_000, interval=1000, seed=1)
    >>> learner.tell(learner.ask(), 0.3)
    >>> learner.rounds
    1
    """

    horizon = parameters.horizon(1, "the exploration depends on it")
    interval = Parameter(
        "B, the length of the intervals on which the regret is to be small: about as many rounds "
        "as the minimum stays near one place. None for the horizon.",
        arguments.optional(arguments.horizon(1, "the exploration depends on it")),
    )

    def __init__(
        self,
        domain: Domain,
        horizon: int,
        interval: int | None = None,
        *,
        loss_range: LossRange = (-1.0, 1.0),
        seed: int | None = None,
    ) -> None:
        super().__init__(domain, loss_range, seed)
        self.horizon, self.interval = horizon, interval
        longest = self.horizon if self.interval is None else self.interval
        if longest > self.horizon:
            raise ParameterError(
                f"interval must be at most the horizon, {self.horizon}, got {longest}: leave it "
                "out where the minimum stays near one place"
            )
        inradius = domain.inradius / domain.radius
        reach = min(sqrt(domain.dim) * longest**-0.25, inradius / 2.0)
        gradient_bound = domain.dim / reach
        cover = [2.0**k for k in range(1 + floor(log2(self.horizon)))]
        grids = [grid_of_rates(gradient_bound, length) for length in cover]
        rates, lengths = np.concatenate(grids), np.repeat(cover, [grid.size for grid in grids])
        shrink = 1.0 - reach / inradius
        kernel = TewaSEKernel(self.geometry, reach, shrink, gradient_bound, rates, lengths)
        # Round 1 is an interval; those of more rounds begin later.
        self._begin_experts(kernel, np.where(lengths > 1.0, ASLEEP, 0.0).tolist())

    @classmethod
    def examples(cls, domain: Domain, seed: int) -> Iterator[Self]:
        yield cls(domain, 4, loss_range=(3, 11), seed=seed)
        yield cls(domain, 20, 5, seed=seed)
