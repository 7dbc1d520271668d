"""What `Predictive` knows from the beginning, and the numbers it carries from round to round.

All in working units. docs/mathematics.md, section 13, has the letters, the reasons and the proofs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isfinite
from typing import Any, NamedTuple, Self

from dikin.arguments import LARGEST
from dikin.domains.base import Array
from dikin.forecasts import Forecasters
from dikin.kernel import Record, compilable, values_getter

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
    slope: Array
    """psi'(u_0); empty where the start is the analytic centre."""
    lift: float
    """psi'(u_0).u_0 - psi(u_0) + psi(0)."""
    memory: float
    """Rounds that are remembered, or infinity."""
    keep: float
    """gamma: what a round leaves of the terms before it, 1 or 1 - 1/memory."""
    adaptive: bool
    """Whether curvature and memory come from what is seen."""
    cells: int
    """Centres: one, or one that all contexts share and one for each of their features."""
    normals: Array
    """Unit vectors, one after the other, that are normal to the plane of the set, where there are
    contexts and a geometry has more entries than the set has dimensions; else empty."""
    certified: tuple[float, ...]
    """gamma of each certificate; the first is that of the memory."""


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
class Lists(Record):
    """A record whose fields are lists, of one number for each of several things."""

    def copy(self) -> Self:
        kind: Any = type(self)
        twin: Self = kind(*map(list.copy, values_getter(kind)(self)))
        return twin

    @classmethod
    def zeros(cls, count: int) -> Self:
        """As many of each as are wanted, all of them 0."""
        return cls(*(count * [0.0] for _ in cls.__slots__))


@dataclass(slots=True)
class Sums(Lists):
    """Sums over the answers, for each certificate; a memory discounts them."""

    rounds: list[float]
    """The number of answers, N."""
    clipped: list[float]
    """The number of those whose surprise was clipped."""
    g_y: list[float]
    """g.y, of estimates that are not clipped."""
    sigma_y_square: list[float]
    """sigma |y|^2."""
    tau: list[float]
    root_tau: list[float]
    """sqrt(tau)."""
    sigma_tau: list[float]
    """sigma tau."""
    swing: list[float]
    """sqrt(1 + d h^2), h the largest |y - u|_H: how much a loss that is not convex counts."""
    exploring: list[float]
    """What exploring costs: the smaller of the two prices, with the constants that are used."""


@dataclass(slots=True)
class Centres(Lists):
    """What every centre is computed with."""

    rate: list[float]
    """eta."""
    curvature: list[float]
    """sigma + lambda, and the curvature that is believed: S."""
    lam: list[float]
    """lambda."""
    exploring: list[float]
    """The price of exploring."""
    rate_changes: list[float]
    """What changes of the rate have cost: (1/eta_t - 1/eta_{t+1}) psi_0(y_{t+1})."""
    rounds: list[float]
    """Answers that it has learnt, by the weight of its cell; those that are remembered."""
    seen: list[float]
    """Answers in the regression of the estimates on the centres."""
    noise: list[float]
    """Sum of (g.(y - their mean))^2 over them."""
    rise: list[float]
    spread: list[float]
    """Sums of the products of their deviations from their means, and of the squares of those of the
    centres."""
    count: list[float]
    squares: list[float]
    """Answers in the models of a feature, and the sum of the squares of their estimates."""
    slope_square: list[float]
    """The square of the slope of these models at the common centre."""
    evidence: list[float]
    """How much more than by chance the models of a feature differ from those of all, and first
    those of all features from each other: 1 if that may be chance."""


@dataclass(slots=True)
class Expected(Lists):
    """What is expected of a loss in each feature of a context: its own forecasters."""

    last: list[float]
    level: list[float]
    trend: list[float]
    long_mean: list[float]
    """As those of all contexts, `Forecasters`."""
    count: list[float]
    """Losses that they have learnt, by the weight of the feature."""
    far: list[float]
    """The mean of the last losses that were far off and agree with each other."""
    far_count: list[float]
    """How many these are, less one for each that was not far off."""


@dataclass(slots=True)
class Numbers(Record):
    """The numbers that a round changes."""

    shift: float
    """H is the Hessian of psi and this times the identity: eta S."""
    forecasters: Forecasters
    levels: Levels
    centres: Centres
    sums: Sums
    expected: Expected
    sigma: list[float]
    """Sums of the curvature that was told, for each certificate and cell."""
    features: list[float]
    """How much each cell counts in the context of the round that is asked: the one that is shared
    counts 1, the others add up to 1."""
    shares: list[float]
    """Of the declared smoothness and Lipschitz constant: the mean of what rounds so far had."""

    def copy(self) -> Numbers:
        one_cell = len(self.features) == 1  # without contexts nobody writes what they expect
        return Numbers(
            self.shift,
            self.forecasters.copy(),
            self.levels.copy(),
            self.centres.copy(),
            self.sums.copy(),
            self.expected if one_cell else self.expected.copy(),
            self.sigma.copy(),
            self.features.copy(),
            self.shares.copy(),
        )


def first_numbers(plan: Plan) -> Numbers:
    """The numbers before the first round."""
    centres = Centres.zeros(plan.cells)
    centres.rate = [1.0] * len(centres.rate)  # no rate has an effect while S is 0
    levels = Levels()
    if isfinite(plan.widest):
        levels = Levels(current=plan.widest, top=plan.widest)
        centres.rate = [largest_rate(plan, plan.widest)] * len(centres.rate)
    return Numbers(
        shift=0.0,
        forecasters=Forecasters(),
        levels=levels,
        centres=centres,
        sums=Sums.zeros(len(plan.certified)),
        expected=Expected.zeros(plan.cells),
        sigma=[0.0] * (len(plan.certified) * plan.cells),
        features=[1.0] + [0.0] * (plan.cells - 1),
        shares=[1.0, 1.0],
    )


@compilable
def largest_rate(plan: Plan, level: float) -> float:
    """The cap of eta at a level: no step is longer than a share of 1 in the local norm."""
    return plan.cap / (plan.dim * level)


@compilable
def smoothness_of(plan: Plan, levels: Levels) -> float:
    """The smoothness as declared, or the guess."""
    return plan.smoothness if plan.smoothness >= 0.0 else plan.guess * levels.top
