"""Corral (Agarwal, Luo, Neyshabur, Schapire, COLT 2017): a learner over learners.

Each of M bases proposes a point, one of the points is played, and mirror descent with the log
barrier moves the shares p towards the best base. With l_t = (1 + f_t)/2, gamma = 1/T, b = exp(1/ln
T), p_1 = 1/M, eta_{1,i} = eta and rho_{1,i} = 2M:

    pbar    = (1 - gamma) p + gamma/M,   i_t ~ pbar,   x_t the point of base i_t
    L       = (l_t/pbar_i) e_i,  i = i_t,
    1/p_j  <- 1/p_j + eta_j (L_j - lambda),   lambda in [0, L_i] so that the new p sum to one
    base i_t learns from f_t/pbar_i, the others from 0 at the points that they proposed
    if 1/pbar_j > rho_j:  rho_j = 2/pbar_j,  eta_j <- b eta_j,  base j starts anew for range rho_j

Each base learns the curvature of every round: its losses are sigma_t-strongly convex on average.
Regret, up to logarithms and for every base i: M/eta + T eta - E[rho_i]/eta +
E[rho_i^alpha] R_i, where base i alone has the regret R_i, and E[rho^alpha] R_i when its losses are
weighted: alpha is 1 for methods of rate sqrt(T), 2/3 for SahaTewari and 1/2 for FKM. For alpha = 1
the theorem requires eta = 1/(40 R_i ln T). The default sqrt(M/T) suits M fixed points.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from math import erfc, exp, log, sqrt
from typing import Any, Self

import numpy as np

from dikin.arguments import positive
from dikin.domains.base import Array, Domain
from dikin.errors import ParameterError, shown
from dikin.feedback import Feedback
from dikin.learners import parameters
from dikin.learners.barrier_family import HazanLevy, SahaTewari
from dikin.learners.base import LEARNERS, Learner
from dikin.learners.descent import FKM
from dikin.learners.noise import Noise
from dikin.learners.parameters import optional, parameter
from dikin.players import locked
from dikin.rng import stream_key
from dikin.silence import silence

Proposed = tuple[int, float, Array, tuple[Any, ...]]
"""The memo of a query: the base whose point it is, 1/pbar of that base, the lives of all bases (one
that was restarted since does not learn from it), and their memos."""


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
        If a base plays on another domain, needs more than a value, or is not a learner.

    Notes
    -----
    Published: the mirror descent on the shares, the thresholds, the rising rates, and the bound.

    Ours: bases learn from f_t/pbar, which has half the range of the paper's l_t/pbar, and from the
    curvature. A base that is restarted is built again for its wider range. The default of eta.

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
        "The first step of the mirror descent on the shares. None for sqrt(M/T).",
        optional(positive),
        default=None,
        kw_only=True,
    )

    kept = ("_inverse", "_etas", "_rhos", "_lives")

    def _begin(self) -> None:
        learners = [self._checked_base(base) for base in self.bases]
        self._blueprints = [(type(base), base.arguments()) for base in learners]
        self._limits = [base.curvature_limit for base in learners]
        self._noise = Noise(stream_key(self.seed, "learner"), 1)
        count = len(learners)
        self._inverse = np.full(count, float(count))  # 1/p
        self._etas = np.full(count, self.eta or sqrt(count / self.horizon))
        self._rhos, self._lives = 2.0 * self._inverse, np.ones(count)
        self._bases = [self._started(i, rho) for i, rho in enumerate(self._rhos.tolist())]

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

    @property
    @locked
    def shares(self) -> Array:
        """The probabilities pbar with which the bases are played."""
        return self._mixed(self._inverse)

    def _mixed(self, inverse: Array) -> Array:
        gamma = 1.0 / self.horizon
        return (1.0 - gamma) / inverse + gamma / inverse.size

    @property
    @locked
    def center(self) -> Array:
        """The centre of the base with the largest share."""
        return self._bases[int(np.argmin(self._inverse))].center

    def _declared_limit(self) -> tuple[float, str]:
        """The largest limit of a base. A larger curvature than its own is clipped for each."""
        return max(self._limits)

    def _propose(self) -> tuple[Array, float, Proposed]:
        shares = self.shares
        played = min(int(np.searchsorted(shares.cumsum(), self._chance())), shares.size - 1)
        proposals = [base._propose() for base in self._bases]
        point = self._bases[played]._inside(proposals[played][0])
        memos = tuple(memo for _, _, memo in proposals)
        return point, 0.0, (played, 1.0 / float(shares[played]), self._lives, memos)

    def _point(self, u: Array) -> Array:
        return u  # only the bases use working vectors

    def _learn(self, memo: Proposed, loss: float, curvature: float) -> None:
        played, weight, lives, memos = memo
        suffered = 0.5 * (1.0 + loss) * weight
        inverse = mirror_step(self._inverse, self._etas, played, suffered)
        weights = 1.0 / self._mixed(inverse)
        outgrown = weights > self._rhos
        rhos = np.where(outgrown, 2.0 * weights, self._rhos)
        bases = [
            self._started(i, float(rho)) if outgrown[i] else self._bases[i]
            for i, rho in enumerate(rhos)
        ]
        before = [dict(vars(base)) for base in self._bases]
        try:
            # A base's certificate means nothing here: its losses are not those of the game.
            with silence():
                for i in np.flatnonzero((lives == self._lives) & ~outgrown):
                    base, rho = bases[i], float(rhos[i])
                    f = loss * weight / rho if i == played else 0.0
                    most = base.units.curvature(base.curvature_limit[0])
                    base._learn(memos[i], f, min(curvature / rho, most))
                    base.rounds += 1
        except BaseException:  # if one cannot learn, none does
            for base, attributes in zip(self._bases, before, strict=True):
                base.__dict__ = attributes
            raise
        self._inverse, self._rhos, self._bases = inverse, rhos, bases
        self._etas = np.where(outgrown, exp(1.0 / log(self.horizon)), 1.0) * self._etas
        self._lives = self._lives + outgrown

    # --- state ---------------------------------------------------------------------------------

    def arguments(self) -> dict[str, Any]:
        rows = [{"learner": kind.kind, "arguments": own} for kind, own in self._blueprints]
        return super().arguments() | {"bases": rows}

    def require_registered(self) -> None:
        super().require_registered()
        for base in self._bases:
            base.require_registered()

    def _numbers(self) -> dict[str, Any]:
        bases = tuple(json.dumps(base.state()) for base in self._bases)
        return super()._numbers() | {"bases": bases}

    def _set_numbers(self, numbers: dict[str, Any]) -> None:
        super()._set_numbers(numbers)
        pairs = zip(self._bases, map(json.loads, numbers["bases"]), strict=True)
        self._bases = [base.restore(self.domain, state) for base, state in pairs]

    @classmethod
    def examples(cls, domain: Domain, seed: int) -> Iterator[Self]:
        smoothness, slope = 1.0 / domain.radius**2, 1.0 / domain.radius
        curved = HazanLevy(domain, 1000, smoothness, 0.5 * smoothness)
        smooth = SahaTewari(domain, 1000, smoothness)
        yield cls(domain, [curved, smooth], 1000, seed=seed)
        # So fast that a base restarts within a few rounds.
        bases = [FKM(domain, 1000, slope), curved]
        yield cls(domain, bases, 50, eta=5.0, loss_range=(3, 11), seed=seed)


def mirror_step(inverse: Array, etas: Array, played: int, loss: float) -> Array:
    """1/p after a step of mirror descent with the log barrier, from a loss >= 0 of one base."""
    # No new p exceeds one, which bounds lambda. Newton's method falls from there onto the root.
    most = (inverse - 1.0) / etas
    most[played] = loss
    lam = most.min()
    while True:
        moved = inverse - etas * lam
        moved[played] += etas[played] * loss
        excess = (1.0 / moved).sum() - 1.0
        below = lam - excess / (etas / moved**2).sum()
        if not below < lam:  # the root up to rounding, which the last factor corrects
            found: Array = np.maximum(moved * (1.0 + excess), 1.0)
            return found
        lam = below
