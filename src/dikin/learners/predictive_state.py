"""What `Predictive` knows from the beginning, and the numbers it carries from round to round.

All in working units. docs/mathematics.md, section 13, has the letters, the reasons and the proofs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isfinite
from typing import NamedTuple

from dikin.arguments import LARGEST
from dikin.domains.base import Array
from dikin.forecasts import Forecasters
from dikin.kernel import Record, compilable

MEASURED = 8
"""Losses around the start that tell their size where no range is known."""
BEYOND = LARGEST**3
"""More than any loss in working units, for the least of none; a state as JSON has no infinity."""


class Plan(NamedTuple):
    """What is fixed from the beginning."""

    dim: float
    nu: float
    square_price: float
    """Exploring costs at most this times beta tau."""
    length_price: float
    """And at most this times L sqrt(tau)."""
    smoothness: float
    """beta; infinity where only L is known, -1 where neither is: then it is guessed."""
    guess: float
    """The guess then, in units of the largest level."""
    cap: float
    """The rate is at most this over d c."""
    share: float
    """The budgets of clipped rounds and of rises are so many times all else."""
    lipschitz: float
    """L, or infinity."""
    widest: float
    """The largest level: the width of the range, or infinity where it is not known."""
    by_lot: bool
    """Whether rare values may say as much as frequent ones: then the level falls little."""
    curved: float
    """lambda_t/2 is this many times the price of exploring a smooth loss after it."""
    keep: float
    """gamma: what a round leaves of the terms before it, 1 or 1 - 1/memory."""
    memory: float
    """Rounds that are remembered, or infinity."""
    slope: Array
    """psi'(u_0); empty where the start is the analytic centre."""
    lift: float
    """psi'(u_0).u_0 - psi(u_0) + psi(0)."""


@dataclass(slots=True)
class Levels(Record):
    """How large surprises and losses are."""

    current: float = 0.0
    """The level c: a surprise is clipped to [-c, c]. 0 while the size of losses is not known."""
    top: float = 0.0
    """The largest level so far, c*."""
    mean_square: float = 0.0
    """The mean square of recent surprises, V."""
    halvings: float = 0.0
    """How many doublings would bring the level back to the top."""
    median: float = 0.0
    """The median of recent |surprise|."""
    smoothed: float = 0.0
    """The level that the median asks for, over the last rounds."""
    low: float = BEYOND
    high: float = -BEYOND
    """The least and the largest loss, as clipped."""
    faults: float = 0.0
    """How many losses were far off, less one for each that was not."""
    known_since: float = 0.0
    """The round in which sizes were known; 0 while they are not, or provisionally."""
    samples: list[float] = field(default_factory=lambda: MEASURED * [0.0])
    """Losses that were measured, sorted; later on, some of the last ones that were far off."""

    def copy(self) -> Levels:
        twin = Record.copy(self)  # a class with slots is made twice: super() has the first
        twin.samples = self.samples.copy()
        return twin


@dataclass(slots=True)
class Sums(Record):
    """Sums over the answers, which a memory discounts."""

    rounds: float = 0.0
    """The number of answers, N."""
    clipped: float = 0.0
    """The number of those whose surprise was clipped."""
    curvature: float = 0.0
    """sigma + lambda: S."""
    lam: float = 0.0
    """lambda."""
    g_y: float = 0.0
    """g.y, of estimates that are not clipped."""
    y_square: float = 0.0
    """|y|^2."""
    sigma_y_square: float = 0.0
    """sigma |y|^2."""
    tau: float = 0.0
    root_tau: float = 0.0
    """sqrt(tau)."""
    sigma_tau: float = 0.0
    """sigma tau."""
    exploring: float = 0.0
    """What exploring costs: the smaller of the two prices, with the constants that are used."""
    rate_changes: float = 0.0
    """What changes of the rate have cost: (1/eta_t - 1/eta_{t+1}) psi_0(y_{t+1})."""


@dataclass(slots=True)
class Numbers(Record):
    """The numbers that a round changes."""

    rate: float
    """eta."""
    forecasters: Forecasters
    levels: Levels
    sums: Sums

    def copy(self) -> Numbers:
        return Numbers(self.rate, self.forecasters.copy(), self.levels.copy(), self.sums.copy())


def first_numbers(plan: Plan) -> Numbers:
    """The numbers before the first round."""
    if not isfinite(plan.widest):
        return Numbers(1.0, Forecasters(), Levels(), Sums())  # no rate has an effect while S is 0
    levels = Levels(current=plan.widest, top=plan.widest)
    return Numbers(largest_rate(plan, plan.widest), Forecasters(), levels, Sums())


@compilable
def largest_rate(plan: Plan, level: float) -> float:
    """The cap of eta at a level: no step is longer than a share of 1 in the local norm."""
    return plan.cap / (plan.dim * level)


@compilable
def smoothness_of(plan: Plan, levels: Levels) -> float:
    """The smoothness as declared, or the guess."""
    return plan.smoothness if plan.smoothness >= 0.0 else plan.guess * levels.top
