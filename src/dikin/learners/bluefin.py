"""Bluefin of SelfTune (Karthikeyan et al., NSDI 2023) and OPPerTune (NSDI 2024): FKM with RMSprop.

Every parameter is scaled to [0, 1]. With s uniform on the unit sphere, and squares, roots and
quotients entry by entry,

    one point:    z + delta s is played,     g = (d/delta) f(z + delta s) s
    two points:   z + delta s is played, then z - delta s in the next round,
                  g = (d/(2 delta)) (f(z + delta s) - f(z - delta s)) s
    RMSprop:      v <- 0.99 v + 0.01 g^2,    z <- z - eta g/(sqrt(v) + 1e-8)
    projection:   every entry of z is clipped to [delta, 1 - delta]

with eta = 0.01 and delta = 0.1. Formulas and constants are those of the authors' packages
(github.com/microsoft: SelfTune, and OPPerTune 0.2.0, where RMSprop is the default). RMSprop divides
out the size of the gradient: whatever the losses are, a step is about eta in every entry, the first
one ten times as much, and z never comes to rest. There is no guarantee. The two losses of a pair
come from two rounds and so from two functions: their difference estimates a slope only if
neighbouring rounds are alike.

What is ours: the cube is that of a box. On any other set z lives in the coordinates in which the
learner works (those of the user for a ball or a simplex), delta is measured in diameters 2 r of the
inscribed ball and eta in sides 2 R/sqrt(d) of the cube of the same radius R; the centre stays in
(1 - 2 delta) X. For a cube this is the algorithm above. The default is two points; that of the
packages is one. Losses are brought to [-1, 1] by their range; the packages (in Python, not in C#)
divide a difference by the larger of the two values, which depends on where zero is. The start is
the centre of the set. Rounding to whole numbers and a falling eta, both off by default in the
packages, are not implemented.

The answers of a pair may come at any time: the second point lies opposite the first, and the step
is made when both losses are known. An answer whose partner never comes is not learnt from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import sqrt
from typing import Any, NamedTuple, Self

import numpy as np

from dikin.arguments import LARGEST, number, whole
from dikin.domains.base import Array, Domain
from dikin.errors import ParameterError, shown
from dikin.learners.descent import Descent
from dikin.learners.fkm import FixedPace
from dikin.learners.kernel_learner import LearnerState, Memo
from dikin.learners.parameters import Parameter
from dikin.units import LossRange

DECAY, EPSILON = 0.99, 1e-8
"""The constants of RMSprop, as published."""
PATIENCE = 1000
"""The most answers that wait for their partners: with more, the oldest is dropped."""


def _one_or_two(value: Any, name: str) -> int:
    rounds = whole(value, name, 1, "the rounds that make one step")
    if rounds > 2:
        raise ParameterError(f"{name} must be 1 or 2, the rounds that make one step, got {rounds}")
    return rounds


def _share(limit: float) -> Callable[[Any, str], float]:
    """A check that an argument is a share of a side."""

    def check(value: Any, name: str) -> float:
        share = number(value, name)
        if not 1.0 / LARGEST < share < limit:
            raise ParameterError(
                f"{name} is a share of a side of the box, more than {1.0 / LARGEST:g} and less "
                f"than {limit:g}, got {shown(value)}"
            )
        return share

    return check


class PairMemo(NamedTuple):
    """What the learner remembers about a query."""

    first: Memo
    """The centre of the pair, and its direction."""
    sign: float
    """The side on which the point lies, 1 or -1."""
    pair: int


class Bluefin(Descent):
    """Learner that follows the signs of slopes; it needs losses that change slowly between rounds.

    It has no guarantee.

    Notes
    -----
    Published: the two estimates, RMSprop and all constants, in the authors' packages.

    Ours: sets other than a box, where delta is measured in diameters of the inscribed ball and eta
    in sides of the cube of the same radius; two points as the default, where the packages use one;
    losses scaled to [-1, 1] by their range, where the packages in Python divide a difference by the
    larger of the two values; the centre of the set as the start; and pairs whose answers may come
    at any time. Rounding to whole numbers and a falling eta, both off by default in the packages,
    are not implemented.

    References
    ----------
    Karthikeyan et al.: SelfTune: tuning cluster managers. NSDI 2023.
    Somashekar et al.: OPPerTune: post-deployment configuration tuning of services made easy. NSDI
    2024.

    Examples
    --------
    >>> from dikin import Box
    >>> learner = Bluefin(Box([0, 0], [10, 2]), seed=1)
    >>> one, two = learner.ask(), learner.ask()
    >>> ((one.point + two.point)/2).round(9).tolist()
    [5.0, 1.0]
    >>> learner.tell(one, 0.3)
    >>> learner.tell(two, 0.2)
    >>> learner.rounds
    2
    """

    points = Parameter("How many rounds make one step, 1 or 2.", _one_or_two)
    delta = Parameter("How far it explores, as a share of a side of the box.", _share(0.5))
    eta = Parameter("How far it steps, as a share of a side of the box.", _share(1.0))

    def __init__(
        self,
        domain: Domain,
        *,
        points: int = 2,
        delta: float = 0.1,
        eta: float = 0.01,
        loss_range: LossRange = (-1.0, 1.0),
        seed: int | None = None,
    ) -> None:
        super().__init__(domain, loss_range, seed)
        self.points, self.delta, self.eta = points, delta, eta
        inradius, sides = domain.inradius / domain.radius, self.geometry.sides
        self._width = np.array(2.0 * inradius) if sides is None else sides
        """The unit of delta."""
        self._side = np.array(2.0 / sqrt(domain.dim)) if sides is None else sides
        """The unit of eta."""
        self._average = np.zeros(self.geometry.size)
        """v."""
        self._pairs = 0
        self._first: PairMemo | None = None
        """The last query, if the opposite point is to be played next."""
        self._waiting: dict[int, float] = {}
        """Answers that wait for their partners, with their signs, by pair."""
        reach = self.delta * float(self._width.max())
        self._descend(FixedPace(domain.dim, reach, 1.0 - 2.0 * self.delta, self.eta))

    def _propose(self) -> tuple[Array, float, PairMemo]:
        first = self._first
        memo = self._new_pair() if first is None else first._replace(sign=-1.0)
        self._first = memo if first is None and self.points == 2 else None
        return *self._vector(memo), memo

    def _new_pair(self) -> PairMemo:
        """A new direction from the current centre."""
        self._pairs += 1
        return PairMemo(self._propose_from(self._state, self._noise.draw())[2], 1.0, self._pairs)

    def _vector(self, memo: PairMemo) -> tuple[Array, float]:
        middle = self.geometry.vector(memo.first.state.iterate) * self._pace.shrink
        u = middle + memo.sign * self.delta * self._width * self._unit_direction(memo.first)
        return u, float(u.dot(u))

    def _learn(self, memo: PairMemo, loss: float, curvature: float) -> None:
        signed, partner = memo.sign * loss, self._waiting.get(memo.pair)
        if self.points == 1:
            self._step(memo.first, signed)
        elif partner is None:
            answers = [*self._waiting.items(), (memo.pair, signed)]
            self._waiting = dict(answers[-PATIENCE:])
            self._rounds_in_range += 1
        else:
            self._step(memo.first, (signed + partner) / 2.0)
            self._waiting = {k: v for k, v in self._waiting.items() if k != memo.pair}

    def _step(self, memo: Memo, slope: float) -> None:
        """A step of RMSprop against a slope along the direction of a query."""
        g = self.domain.dim / self.delta * slope * self._unit_direction(memo)
        average = DECAY * self._average + (1.0 - DECAY) * g * g
        step = self.eta * self._side * g / (np.sqrt(average) + EPSILON)
        linear = step / self._pace.shrink - self.geometry.vector(self._state.iterate)
        iterate = self.geometry.projected(linear, self._state.iterate)
        self._state, self._average = LearnerState([], linear, iterate), average
        self._rounds_in_range += 1

    def compiled_parts(self, told: bool = True) -> None:
        # The compiled descent makes plain gradient steps, one in every round.
        return None

    @classmethod
    def examples(cls, domain: Domain, seed: int) -> Iterator[Self]:
        yield cls(domain, seed=seed)
        yield cls(domain, points=1, delta=0.3, eta=0.1, loss_range=(3, 11), seed=seed)

    def _numbers(self) -> dict[str, Any]:
        first = self._first
        return super()._numbers() | {
            "average": self._average,
            "pairs": self._pairs,
            "first": None if first is None else self._memo_state(first),
            "waiting": tuple(self._waiting.items()),
        }

    def _set_numbers(self, numbers: dict[str, Any]) -> None:
        super()._set_numbers(numbers)
        first = numbers["first"]
        self._average, self._pairs = numbers["average"], numbers["pairs"]
        self._first = None if first is None else self._memo_from(first)
        self._waiting = dict(numbers["waiting"])

    def _memo_state(self, memo: PairMemo) -> tuple[Any, ...]:
        return *super()._memo_state(memo.first), memo.sign, memo.pair

    def _memo_from(self, state: tuple[Any, ...]) -> PairMemo:
        *first, sign, pair = state
        return PairMemo(super()._memo_from(tuple(first)), sign, pair)
