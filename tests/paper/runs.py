"""Real runs of the shipped learners, written down in the paper's units.

A `Record` holds, round by round, what the learner played and what it was told, with H_t and g_t
computed from their definitions: dense matrices, and the domain's own Hessian. From the learner
itself come only the points, the centres, eta_t, S_t and lambda_t.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from math import log1p, sqrt
from typing import Any

import numpy as np

import dikin
from dikin.errors import SlowLearnerWarning
from dikin.learners.adaptive import Adaptive
from dikin.learners.barrier_ftrl import RATE, TOTAL
from paper.charts import Array, Chart
from reference.barriers import (
    BallBarrier,
    BoxBarrier,
    EllipsoidBarrier,
    PolytopeBarrier,
    SimplexBarrier,
    UserBarrier,
)

Answer = Callable[[int, Array, Array], tuple[float, float]]
"""From t, y_t and x_t: a loss in [-1, 1] and a share of the largest curvature in [0, 1]."""

LOW, HIGH = 3.0, 11.0


def omega_star(s: float) -> float:
    """-s - ln(1 - s) = sup_r (s r - r + ln(1 + r)), for 0 <= s < 1."""
    return -s - log1p(-s)


def shipped_domain(barrier: UserBarrier) -> Any:
    """The domain of the package that has a barrier."""
    match barrier:
        case BallBarrier():
            return dikin.Ball(barrier.center.size, barrier.radius, barrier.center)
        case BoxBarrier():
            return dikin.Box(barrier.lower, barrier.upper)
        case SimplexBarrier():
            return dikin.Simplex(barrier.center.size)
        case EllipsoidBarrier():
            return dikin.Ellipsoid(barrier.center, barrier.shape)
        case PolytopeBarrier():
            return dikin.Polytope(barrier.rows, barrier.bounds)
    raise TypeError(f"no shipped domain for {barrier}")


SETS: dict[str, dikin.domains.base.Domain] = {
    "disc": dikin.Ball(2),
    "interval": dikin.Box([2], [2.5]),
    "box": dikin.Box([-1, 2, 0], [0.5, 5, 1]),
    "simplex": dikin.Simplex(4),
    "ellipsoid": dikin.Ellipsoid([0.5, -1], [[2, 0.7], [0.7, 0.5]]),
}
"""Domains of size about one in their own units: no digits are lost in moving points."""


def build(kind: str, domain: Any, **options: Any) -> Adaptive:
    """A learner of smooth or Lipschitz losses, beta or L being 1.5; user's losses in [3, 11]."""
    cls = {"smooth": dikin.AdaptiveSmooth, "lipschitz": dikin.AdaptiveLipschitz}[kind]
    options = {"loss_range": (LOW, HIGH), "seed": 5} | options
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SlowLearnerWarning)
        return cls(domain, 1.5, **options)


class Altered:
    """A schedule with some of its numbers or functions replaced."""

    def __init__(self, right: Any, **changes: Any) -> None:
        self._right = right
        self.__dict__.update(changes)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._right, name)


def altered(learner: Adaptive, **changes: Any) -> Adaptive:
    """The learner with another schedule, from the beginning: a mutant."""
    learner._follow(learner._kernel._replace(schedule=Altered(learner._schedule, **changes)))
    return learner


def alternating(t: int, y: Array, x: Array) -> tuple[float, float]:
    """The two extreme losses in turn."""
    return (1.0 if t % 2 else -1.0), (0.0, 0.3, 1.0)[t % 3]


def outwards(t: int, y: Array, x: Array) -> tuple[float, float]:
    """Extreme losses that drive the centre to the boundary and back: far points are praised.

    No convex loss does that. Twenty rounds of it bring the centre to 1e-3 of the boundary.
    """
    side = 1.0 if (t // 20) % 2 else -1.0
    return (side if x @ x >= y @ y else -side), 0.0


def middling(t: int, y: Array, x: Array) -> tuple[float, float]:
    """A bowl beside the centre, with changing curvature."""
    return float(0.2 * np.sum((x - 0.3) ** 2) - 0.3), (0.0, 0.9, 0.2, 1.0)[t % 4]


ANSWERS: dict[str, Answer] = {
    "alternating": alternating,
    "outwards": outwards,
    "middling": middling,
}


@dataclass(repr=False)  # a check that rejects a mutant would write out all its arrays
class Record:
    """One run. Index t - 1 of a list is round t; `y`, `eta` and `S` have one entry more.

    S[t] is S_t, so round t sees S[t-1]; eta[t-1] is eta_t.
    """

    learner: Adaptive
    y: list[Array] = field(default_factory=list)
    eta: list[float] = field(default_factory=list)
    S: list[float] = field(default_factory=list)
    x: list[Array] = field(default_factory=list)
    f: list[float] = field(default_factory=list)
    sigma: list[float] = field(default_factory=list)
    lam: list[float] = field(default_factory=list)
    H: list[Array] = field(default_factory=list)
    g: list[Array] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.units = self.learner.units
        self.psi = Chart(self.learner.domain)
        self.dim, self.nu = self.psi.dim, self.psi.nu
        schedule = self.learner._schedule
        self.kappa, self.first = schedule.kappa, schedule.first

        def listened(total: float) -> float:
            self.lam.append(schedule.regularisation(total))
            return self.lam[-1]

        # lambda_t with all its digits, of which S_t - S_{t-1} - sigma_t has lost some.
        heard = Altered(schedule, regularisation=listened)
        self.learner._kernel = self.learner._kernel._replace(schedule=heard)
        self._stand()

    def normal(self, point: Array) -> Array:
        return self.learner.domain.locate(point) / self.units.radius

    def _stand(self) -> None:
        self.y.append(self.normal(self.learner.center))
        numbers = self.learner._state.numbers
        self.eta.append(numbers[RATE])
        self.S.append(numbers[TOTAL])

    @property
    def rounds(self) -> int:
        return len(self.x)

    def play(self, answer: Answer, rounds: int) -> "Record":
        middle, half = self.units.loss_offset, self.units.loss_scale
        steepest = self.learner.curvature_limit[0]
        for _ in range(rounds):
            y, eta, S, query = self.y[-1], self.eta[-1], self.S[-1], self.learner.ask()
            x = self.normal(query.point)
            f, share = answer(self.rounds + 1, y, x)
            self.learner.tell(query, middle + half * f, share * steepest)
            self._stand()
            H = self.kappa * self.psi.hessian(y) + eta * S * np.eye(self.dim)
            self.x.append(x)
            self.f.append(f)
            self.sigma.append(share * steepest * self.units.radius**2 / half)
            self.H.append(H)
            self.g.append(self.dim * (f + self.lam[-1] / 2 * float(x @ x)) * (H @ (x - y)))
        return self

    # --- what the proofs speak of; t counts from 0 here -----------------------------------------

    def dual(self, t: int) -> float:
        """|g_t|*."""
        return sqrt(float(self.g[t] @ np.linalg.solve(self.H[t], self.g[t])))

    def move(self, t: int) -> float:
        """|y_{t+1} - y_t| in the norm of H_t."""
        step = self.y[t + 1] - self.y[t]
        return sqrt(float(step @ self.H[t] @ step))

    def divergence(self, t: int, u: Array, v: Array) -> float:
        """D(u, v) of F_t, the objective that y_t minimises: its linear terms cancel."""
        away = u - v
        barrier = self.psi.value(u) - self.psi.value(v) - float(self.psi.gradient(v) @ away)
        return self.S[t] / 2 * float(away @ away) + self.kappa / self.eta[t] * barrier

    def round_term(self, t: int) -> float:
        """g_t . (y_t - y_{t+1}) - D_{F_t}(y_{t+1}, y_t)."""
        fall = float(self.g[t] @ (self.y[t] - self.y[t + 1]))
        return fall - self.divergence(t, self.y[t + 1], self.y[t])

    def round_bound(self, t: int) -> float:
        """omega*(eta_t |g_t|*)/eta_t."""
        return omega_star(self.eta[t] * self.dual(t)) / self.eta[t]
