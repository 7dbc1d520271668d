"""Corral (Agarwal, Luo, Neyshabur, Schapire, COLT 2017): a learner over learners.

Each of M bases proposes a point, one of the points is played, and mirror descent with the log
barrier moves the shares p towards the best base. With l_t = (1 + f_t)/2, gamma = 1/T, b = exp(1/ln
T), p_1 = 1/M, eta_{1,i} = eta and rho_{1,i} = 2M:

    pbar    = (1 - gamma) p + gamma/M,   i_t ~ pbar,   x_t the point of base i_t
    L       = (l_t/pbar_i) e_i,  i = i_t,
    1/p_j  <- 1/p_j + eta_j (L_j - lambda),   lambda in [0, L_i] so that the new p sum to one
    base i_t learns from f_t/pbar_i, the others from 0 at the points that they proposed
    if 1/pbar_j > rho_j:  rho_j = 2/pbar_j,  eta_j <- b eta_j,  base j starts anew for range rho_j

Each base is told the curvature of every round: the losses that it learns from are sigma_t-strongly
convex on average. Regret, up to logarithms and for every base i: M/eta + T eta - E[rho_i]/eta +
E[rho_i^alpha] R_i, where base i alone has the regret R_i, and E[rho^alpha] R_i when its losses are
weighted: alpha is 1 for methods of rate sqrt(T), 2/3 for SahaTewari and 1/2 for FKM. For alpha = 1
the theorem requires eta = 1/(40 R_i ln T). The default sqrt(M/T) suits M fixed points.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import erfc, exp, log, sqrt
from typing import Any, NamedTuple, Self

import numpy as np

from dikin import rng
from dikin.arguments import optional, positive
from dikin.domains.base import Array, Domain
from dikin.errors import ParameterError, shown
from dikin.feedback import Feedback
from dikin.learners import parameters
from dikin.learners.barrier_family import HazanLevy, SahaTewari
from dikin.learners.base import LEARNERS, Learner
from dikin.learners.descent import FKM
from dikin.learners.parameters import parameter
from dikin.learners.threads import locked
from dikin.open_queries import Memo
from dikin.silence import silence


class Proposed(NamedTuple):
    """What the learner remembers about a query."""

    played: int  # the base whose point it is
    weight: float  # 1/pbar of that base
    restarts: tuple[int, ...]  # of each base: one restarted since then does not learn from it
    memos: tuple[Memo, ...]  # of each base's proposal


def _checked_bases(bases: Any, name: str) -> Sequence[Learner]:
    if isinstance(bases, Learner) or not all(isinstance(base, Learner | dict) for base in bases):
        raise ParameterError(f"bases must be learners such as FKM(domain, ...), got {shown(bases)}")
    if len(bases) < 2:
        raise ParameterError(f"Corral chooses among two bases or more, got {len(bases)}")
    return list(bases)


class Corral(Learner):
    """Learner that plays nearly as well as the best of its `bases`, learners of one value each.

    Only the class and the arguments of the bases are used: their randomness comes from `seed`, and
    the range of their losses from `loss_range`.

    Raises
    ------
    ParameterError
        If a base plays on another domain, must be told more than a value, or is not a learner.

    Notes
    -----
    Published: the mirror descent on the shares, the thresholds, the rising rates, and the bound.

    Ours: bases are told f_t/pbar, which has half the range of the paper's l_t/pbar; the curvature
    that they are told; a base that is restarted is built again for its wider range; and the default
    of eta.

    References
    ----------
    Agarwal, Luo, Neyshabur, Schapire: Corralling a band of bandit algorithms. COLT 2017.

    Examples
    --------
    >>> from dikin import Ball, HazanLevy, SahaTewari
    >>> disc, T = Ball(2), 1000
    >>> curved = HazanLevy(disc, T, smoothness=1.0, curvature=0.5)
    >>> learner = Corral(disc, [curved, SahaTewari(disc, T, smoothness=1.0)], T, seed=1)
    >>> learner.tell(learner.ask(), 0.3)
    >>> learner.shares.sum().round(12)
    np.float64(1.0)
    """

    bases: Sequence[Learner] = parameter(
        "Two or more learners on the same domain, each of one loss per round.", _checked_bases
    )
    horizon: int = parameters.horizon(2, "the rates contain ln T")
    eta: float | None = parameter(
        "The first step of the mirror descent on the shares; sqrt(M/T) for None.",
        optional(positive),
        default=None,
        kw_only=True,
    )

    def _begin(self) -> None:
        learners = [self._checked_base(base) for base in self.bases]
        self._blueprints = [(type(base), base.arguments()) for base in learners]
        count = len(learners)
        eta = self.eta or sqrt(count / self.horizon)
        self._limits = [base.curvature_limit for base in learners]
        self._noise = rng.Noise(rng.stream_key(self.seed, "learner"), 1)
        self._inverse = [float(count)] * count
        """1/p."""
        self._etas, self._rhos = [eta] * count, [2.0 * count] * count
        self._base_restarts = [0] * count
        self._bases = [self._started(i, rho) for i, rho in enumerate(self._rhos)]

    @property
    @locked
    def shares(self) -> Array:
        """The probabilities pbar with which the bases are played."""
        gamma, count = 1.0 / self.horizon, len(self._bases)
        return np.array([(1.0 - gamma) / each + gamma / count for each in self._inverse])

    @property
    @locked
    def center(self) -> Array:
        """The centre of the base with the largest share."""
        return self._bases[int(np.argmin(self._inverse))].center

    def _declared_limit(self) -> tuple[float, str]:
        """The largest limit of a base, for each of which a larger curvature is clipped."""
        return max(self._limits)

    def _checked_base(self, base: Learner | dict[str, Any]) -> Learner:
        """A base, which a saved state names by its class and its arguments."""
        if isinstance(base, dict):
            return LEARNERS.find(base["learner"])(self.domain, **base["arguments"])
        name, spec = type(base).__name__, self.domain.spec()
        if base.feedback is not Feedback.VALUE:
            raise ParameterError(
                f"{name} must be told {base.feedback.value}; Corral passes on one loss per round"
            )
        if base.domain is not self.domain and base.domain.spec() != spec:
            raise ParameterError(
                f"{name} plays on {base.domain} and Corral on another domain, {self.domain}: give "
                "both the same"
            )
        return base

    def _started(self, i: int, rho: float) -> Learner:
        """Base i before its first round, for losses that are rho times as large."""
        kind, arguments = self._blueprints[i]
        half = rho * self.units.loss_scale
        seed = int(self._chance() * 2**53)
        with silence():  # it was warned of when the caller built the base
            return kind(self.domain, **arguments | {"loss_range": [-half, half]}, seed=seed)

    def _chance(self) -> float:
        """A uniform number, from the normal one that the learner's stream gives."""
        return 0.5 * erfc(float(self._noise.draw()[0]) / sqrt(2.0))

    # --- a round -------------------------------------------------------------------------------

    def _propose(self) -> tuple[Array, float, Proposed]:
        shares = self.shares
        played = min(int(np.searchsorted(shares.cumsum(), self._chance())), shares.size - 1)
        proposals = [base._propose() for base in self._bases]
        point = self._bases[played]._placed(*proposals[played][:2])
        memos = tuple(memo for _, _, memo in proposals)
        weight = 1.0 / float(shares[played])
        return point, 0.0, Proposed(played, weight, tuple(self._base_restarts), memos)

    def _placed(self, u: Array, square: float) -> Array:
        return u  # only the bases use working vectors

    def _learn(self, memo: Proposed, loss: float, curvature: float) -> None:
        suffered = 0.5 * (1.0 + loss) * memo.weight
        inverse = mirror_step(self._inverse, self._etas, memo.played, suffered)
        anew = self._outgrown(inverse)
        self._teach_bases(memo, loss, curvature, anew.keys())
        self._inverse = inverse
        for i, (rho, base) in anew.items():
            self._rhos[i], self._bases[i] = rho, base
            self._etas[i] *= exp(1.0 / log(self.horizon))
            self._base_restarts[i] += 1

    def _outgrown(self, inverse: list[float]) -> dict[int, tuple[float, Learner]]:
        """The bases whose weight would leave their range, restarted, with their new ranges."""
        gamma, count = 1.0 / self.horizon, len(inverse)
        weights = [1.0 / ((1.0 - gamma) / each + gamma / count) for each in inverse]
        return {
            i: (2.0 * weight, self._started(i, 2.0 * weight))
            for i, (weight, rho) in enumerate(zip(weights, self._rhos, strict=True))
            if weight > rho
        }

    def _teach_bases(self, memo: Proposed, loss: float, curvature: float, outgrown: Any) -> None:
        """Every base learns from its share of the answer; if one cannot, none does."""
        before = [dict(vars(base)) for base in self._bases]
        try:
            # A base's certificate means nothing here: its losses are not those of the game.
            with silence():
                for i, base in enumerate(self._bases):
                    if memo.restarts[i] != self._base_restarts[i] or i in outgrown:
                        continue
                    rho = self._rhos[i]
                    f = loss * memo.weight / rho if i == memo.played else 0.0
                    most = base.units.curvature(base.curvature_limit[0])
                    base._learn(memo.memos[i], f, min(curvature / rho, most))
                    base.rounds += 1
        except BaseException:
            for base, attributes in zip(self._bases, before, strict=True):
                base.__dict__ = attributes
            raise

    # --- state ---------------------------------------------------------------------------------

    def arguments(self) -> dict[str, Any]:
        rows = [{"learner": kind.kind, "arguments": own} for kind, own in self._blueprints]
        return super().arguments() | {"bases": rows}

    def require_registered(self) -> None:
        super().require_registered()
        for base in self._bases:
            base.require_registered()

    def _numbers(self) -> dict[str, Any]:
        return {
            "inverse": tuple(self._inverse),
            "etas": tuple(self._etas),
            "rhos": tuple(self._rhos),
            "starts": tuple(self._base_restarts),
            "bases": tuple(
                {
                    "rounds": base.rounds,
                    "generator": base._noise.state(),
                    "numbers": base._numbers(),
                }
                for base in self._bases
            ),
        }

    def _set_numbers(self, numbers: dict[str, Any]) -> None:
        self._inverse, self._etas = list(numbers["inverse"]), list(numbers["etas"])
        self._rhos, self._base_restarts = list(numbers["rhos"]), list(numbers["starts"])
        before = self._noise.state()
        self._bases = [self._started(i, rho) for i, rho in enumerate(self._rhos)]
        self._noise.restore(before)  # as if no seeds had been drawn for them
        for base, state in zip(self._bases, numbers["bases"], strict=True):
            base.rounds = state["rounds"]
            base._noise.restore(state["generator"])
            base._set_numbers(state["numbers"])

    def _memo_state(self, memo: Proposed) -> tuple[Any, ...]:
        memos = tuple(
            base._memo_state(part) if then == now else None
            for base, part, then, now in zip(
                self._bases, memo.memos, memo.restarts, self._base_restarts, strict=True
            )
        )
        return memo.played, memo.weight, memo.restarts, memos

    def _memo_from(self, state: tuple[Any, ...]) -> Proposed:
        played, weight, restarts, parts = state
        memos = tuple(
            None if part is None else base._memo_from(part)
            for base, part in zip(self._bases, parts, strict=True)
        )
        return Proposed(played, weight, restarts, memos)

    @classmethod
    def examples(cls, domain: Domain, seed: int) -> Iterator[Self]:
        smoothness, slope = 1.0 / domain.radius**2, 1.0 / domain.radius
        curved = HazanLevy(domain, 1000, smoothness, 0.5 * smoothness)
        smooth = SahaTewari(domain, 1000, smoothness)
        yield cls(domain, [curved, smooth], 1000, seed=seed)
        # So fast that a base restarts within a few rounds.
        bases = [FKM(domain, 1000, slope), curved]
        yield cls(domain, bases, 50, eta=5.0, loss_range=(3, 11), seed=seed)


def mirror_step(inverse: list[float], etas: list[float], played: int, loss: float) -> list[float]:
    """1/p after a step of mirror descent with the log barrier, from a loss >= 0 of one base.

    Here lambda is a root of sum_j 1/(1/p_j + eta_j (L_j - lambda)) - 1, convex and increasing. No
    new p exceeds one, so lambda is at most (1/p_j - 1)/eta_j for every other base, and up to there
    no denominator is below one: Newton's method falls from that point monotonically onto the root.
    """
    most = [(a - 1.0) / eta for a, eta in zip(inverse, etas, strict=True)]
    lam = min(loss, *most[:played], *most[played + 1 :])
    while True:
        moved = [a - eta * lam for a, eta in zip(inverse, etas, strict=True)]
        moved[played] += etas[played] * loss
        excess = sum(1.0 / a for a in moved) - 1.0
        slope = sum(eta / a**2 for a, eta in zip(moved, etas, strict=True))
        below = lam - excess / slope
        if not below < lam:  # the root up to rounding, which the last factor corrects
            return [max(a * (1.0 + excess), 1.0) for a in moved]
        lam = below
