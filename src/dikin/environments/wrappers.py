"""Wrappers of another environment: its losses with a constant added, or with less curvature told.

Shifted losses are f_t + offset s_t with a random sign s_t. This changes no regret: every point
suffers the same. It changes the information in one value: a learner that sees one per round cannot
separate the constant from the loss.

Understating curvature is always safe: a sigma-strongly convex loss is sigma'-strongly convex for
every sigma' <= sigma.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import floor, inf
from typing import Any, NamedTuple, Self

import numpy as np

from dikin.arguments import positive
from dikin.domains.base import Array, Domain
from dikin.environments.base import Environment, add, one_sign
from dikin.environments.patterns import Constant, as_pattern
from dikin.environments.ridge import Ridge
from dikin.errors import ParameterError
from dikin.feedback import Feedback
from dikin.kernel import compilable


class Wrapper(Environment):
    """Another environment, of which a subclass changes something."""

    def __init__(self, environment: Environment) -> None:
        if not isinstance(environment, Environment):
            name = type(self).__name__
            raise ParameterError(f"{name} needs an environment, got {environment!r}")
        super().__init__(environment.domain, None)
        self.environment = environment
        self.rounds, self.chances = environment.rounds, environment.chances
        self.loss_range = environment.loss_range
        self.smoothness, self.lipschitz = environment.smoothness, environment.lipschitz
        self.sums = np.vstack([environment.sums, np.zeros((1, 2))])

    def _caught_up(self) -> Environment:
        """Return the environment inside, which has seen the rounds and sums so far."""
        inner = self.environment
        inner.rounds, inner.sums = self.rounds, self.sums[: len(inner.sums)]
        return inner

    @property
    def offers(self) -> set[Feedback]:
        return self.environment.offers

    def best(self) -> tuple[Array, float]:
        point, total = self._caught_up().best()
        return point, total + self.total(-1)


class Understated(Wrapper):
    """An environment that tells a learner less curvature than there is.

    Parameters
    ----------
    environment : Environment
        The environment whose losses are played.
    curvature : float or pattern, default 0.0
        The largest curvature that is reported in a round, or the true one if that is smaller.

    Attributes
    ----------
    environment : Environment
        The environment whose losses are played.

    Raises
    ------
    ParameterError
        If `environment` is not an environment.
        If `curvature` is neither a number nor a pattern, or negative.

    Examples
    --------
    >>> from dikin import Ball, Ridge
    >>> Understated(Ridge(Ball(2), smoothness=1.0, curvature=1.0, seed=1)).curvature(7)
    0.0
    """

    def __init__(self, environment: Environment, curvature: Any = 0.0) -> None:
        super().__init__(environment)
        self.kernel = WrappedKernel(environment.kernel, as_pattern(curvature))

    @classmethod
    def examples(cls, domain: Domain, seed: int) -> Iterator[Self]:
        yield cls(Ridge(domain, 1.0, 0.5, seed=seed), 0.2)


class Shifted(Wrapper):
    """An environment whose losses have a constant of the round added to them.

    Parameters
    ----------
    environment : Environment
        The environment whose losses are shifted.
    offset : float
        The size of the constant, which has a random sign, in the unit of the losses, positive.

    Attributes
    ----------
    environment : Environment
        The environment whose losses are shifted.

    Raises
    ------
    ParameterError
        If `environment` is not an environment, or `offset` is not positive.

    Examples
    --------
    >>> from dikin import Ball, Ridge
    >>> calm = Ridge(Ball(2), smoothness=1.0, seed=1)
    >>> Shifted(calm, 2.0).loss_range[1] == calm.loss_range[1] + 2.0
    True
    """

    def __init__(self, environment: Environment, offset: float) -> None:
        super().__init__(environment)
        size = positive(offset, "offset")
        self.kernel = WrappedKernel(environment.kernel, Constant(inf), size)
        low, high = environment.loss_range
        self.loss_range = (low - size, high + size)

    @classmethod
    def examples(cls, domain: Domain, seed: int) -> Iterator[Self]:
        yield cls(Ridge(domain, 1.0, 0.5, seed=seed), 3.0)


class WrappedKernel(NamedTuple):
    """The losses of a kernel with a constant added, and at most a pattern's curvature."""

    kernel: Any
    pattern: Any = Constant(inf)
    offset: float = 0.0

    def value(self, round: int, chance: float, x: Array) -> float:
        return float(self.kernel.value(round, chance, x)) + shift(chance, self.offset)

    def gradient(self, round: int, chance: float, x: Array) -> Array:
        return np.asarray(self.kernel.gradient(round, chance, x))

    def context(self, round: int) -> Array:
        return np.asarray(self.kernel.context(round))

    def strong_convexity(self, round: int) -> float:
        return float(min(self.pattern.at(round), self.kernel.strong_convexity(round)))

    def accumulate(self, round: int, chance: float, sums: Array) -> None:
        """Add the sums of the kernel, and the constants in the last row."""
        self.kernel.accumulate(round, chance, sums)
        add(sums, sums.shape[0] - 1, shift(chance, self.offset))


@compilable
def shift(chance: float, offset: float) -> float:
    """Return the constant of a round.

    Its sign is the 21st binary digit of the round's chance, at which no other loss looks.
    """
    fine = 1048576.0 * chance
    return offset * one_sign(fine - floor(fine))
