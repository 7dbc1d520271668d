"""What every environment is: losses fixed before the game, answered one number at a time.

The losses are arithmetic, kept in a kernel (`dikin.kernel`) so that the same source runs as plain
Python and compiled. All chance of a round comes from one uniform number of the environment's own
stream, so nothing the learner does can move the adversary. What the best fixed point will need
is tallied along the way, and the point itself is exact.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from math import nan
from typing import Any, ClassVar, Protocol, Self, runtime_checkable

import numpy as np

from dikin import rng
from dikin.domains.base import Array, Domain
from dikin.errors import FeedbackError, ParameterError
from dikin.feedback import Feedback
from dikin.kernel import compiled
from dikin.registry import Registry
from dikin.units import number

DEEPEST = 0.85


class World(Protocol):
    """The kernel of an environment. Points come flattened, in the user's units."""

    def value(self, round: int, chance: float, x: Array) -> float:
        """f_t(x); `chance` is the round's uniform number in [0, 1)."""
        ...

    def bend(self, round: int) -> float:
        """sigma_t."""
        ...

    def tally(self, round: int, chance: float, sums: Array) -> None:
        """Add to the sums, from row 1 on, what the best fixed point depends on."""
        ...


@runtime_checkable
class Sloped(Protocol):
    """A kernel that also knows the slope of its losses: for learners that are told gradients."""

    def gradient(self, round: int, chance: float, x: Array) -> Array:
        """The gradient of f_t at x, flattened; any subgradient at a kink."""
        ...


@runtime_checkable
class Foretold(Protocol):
    """A kernel whose losses are functions of z_t.x, z_t known before the round is played."""

    def context(self, round: int) -> Array:
        """z_t, flattened, in the user's coordinates."""
        ...


@compiled
def add(sums: Array, row: int, value: float) -> None:
    """Add a value to a row (total, compensation): Neumaier's summation, good to an ulp."""
    before = sums[row, 0]
    after = before + value
    if abs(before) >= abs(value):
        sums[row, 1] += (before - after) + value
    else:
        sums[row, 1] += (value - after) + before
    sums[row, 0] = after


class Environment(ABC):
    """An oblivious adversary on a domain."""

    kind: ClassVar[str] = ""
    tallies: ClassVar[int] = 0
    """How many sums the best fixed point depends on."""

    domain: Domain
    loss_range: tuple[float, float]
    """Bounds that every loss keeps."""
    smoothness: float
    """Largest smoothness of a loss; infinite where a loss has a kink, NaN where not declared."""
    lipschitz: float
    """Largest slope of a loss on the domain; NaN where not declared."""
    world: World

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.kind = cls.__name__.lower()

    def __init__(self, domain: Domain, seed: int | None) -> None:
        if not isinstance(domain, Domain):
            raise ParameterError(f"domain must be a dikin domain such as Box, got {domain!r}")
        self.domain = domain
        self.rounds = 0
        """Rounds answered so far."""
        self.chances = rng.stream(seed, "environment")
        self.sums = np.zeros((1 + self.tallies, 2))
        """Row 0: the losses suffered; the others: tallies. Each with its compensation."""
        self._setup = rng.stream(seed, "environment's shape")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.domain!r})"

    @property
    def offers(self) -> set[Feedback]:
        """What a learner may be told here."""
        more = {Feedback.GRADIENT: Sloped, Feedback.CONTEXT: Foretold}
        known = {kind for kind, role in more.items() if isinstance(self.world, role)}
        return {Feedback.VALUE, Feedback.PAIR} | known

    def _require(self, kind: Feedback) -> Any:
        """The kernel, where it offers that kind of feedback."""
        if kind not in self.offers:
            raise FeedbackError(f"{self} does not offer a {kind.name.lower()}")
        return self.world

    def answer(self, point: Array) -> tuple[float, float]:
        """Play the next round at a point: its loss and its strong convexity."""
        chance, round = self.chances.random(), self.rounds + 1
        loss = float(self.world.value(round, chance, point.ravel()))
        return loss, self._close(round, chance, loss)

    def context(self) -> Array:
        """Z_t of the next round, where its loss is a function of z_t.x and contexts are offered."""
        world: Foretold = self._require(Feedback.CONTEXT)
        return world.context(self.rounds + 1).reshape(self.domain.point_shape)

    def answer_pair(self, points: Array) -> tuple[tuple[float, float], float]:
        """Play the next round at two points: both losses, of which the mean is suffered."""
        chance, round = self.chances.random(), self.rounds + 1
        one, two = (float(self.world.value(round, chance, point.ravel())) for point in points)
        return (one, two), self._close(round, chance, (one + two) / 2)

    def answer_gradient(self, point: Array) -> tuple[tuple[float, Array], float]:
        """Play the next round at a point: its loss and gradient there."""
        sloped: Sloped = self._require(Feedback.GRADIENT)
        chance, round = self.chances.random(), self.rounds + 1
        loss = float(self.world.value(round, chance, point.ravel()))
        gradient = sloped.gradient(round, chance, point.ravel()).reshape(point.shape)
        return (loss, gradient), self._close(round, chance, loss)

    def _close(self, round: int, chance: float, suffered: float) -> float:
        """Tally a round once all of it is known; its strong convexity."""
        sums = self.sums.copy()
        self.world.tally(round, chance, sums)
        add(sums, 0, suffered)
        self.rounds, self.sums[:] = round, sums
        return float(self.world.bend(round))

    def constants(self, equal_sides: bool) -> dict[str, float]:
        """Smoothness and Lipschitz constant, by name, for the lengths that a learner measures.

        Where sides are made equal first, lengths are at least the plain ones: so the plain
        constants are right there too, and an environment may know smaller ones.
        """
        return {"smoothness": self.smoothness, "lipschitz": self.lipschitz}

    def curvature(self, round: int) -> float:
        """sigma_t, for t = 1, 2, ..."""
        return float(self.world.bend(round))

    @property
    def total_loss(self) -> float:
        """The sum of the losses suffered so far."""
        return self.total(0)

    def total(self, row: int) -> float:
        """A compensated sum."""
        return float(self.sums[row, 0] + self.sums[row, 1])

    @abstractmethod
    def best(self) -> tuple[Array, float]:
        """The best fixed point for the rounds so far, and what it would have suffered."""

    def moving_total(self) -> float:
        """What the best point of each round so far would have suffered; NaN where not known."""
        return nan

    @classmethod
    @abstractmethod
    def examples(cls, domain: Domain, seed: int) -> Iterator[Self]:
        """Small awkward instances on a domain, for the checks."""

    def _direction(self) -> Array:
        """A random unit vector of the domain's own plane, flattened, in the user's coordinates."""
        v = self._setup.standard_normal(self.domain.dim)
        return self.domain.outward(v / np.linalg.norm(v)).ravel()

    def _inner_point(self, depth: float) -> Array:
        """A random point at `depth` times the inradius from the centre, flattened.

        At most 0.85, so that there is room for what noise does to the best point.
        """
        if not 0.0 <= number(depth, "depth") <= DEEPEST:
            raise ParameterError(
                f"depth is a share of the inradius from 0, the centre, to {DEEPEST}; got {depth!r}"
            )
        return self.domain.center.ravel() + depth * self.domain.inradius * self._direction()


ENVIRONMENTS: Registry[Environment] = Registry("environment", Environment)  # type: ignore[type-abstract]
