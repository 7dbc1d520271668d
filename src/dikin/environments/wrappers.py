"""Wrappers of another environment: its losses with a constant added, or with less curvature told.

Shifted losses are f_t + o_t with

    o_t = offset s_t + noise u_t + season sin(2 pi t/period),

s_t a random sign and u_t uniform in [-1, 1], both drawn again every round. This changes no regret:
every point suffers the same. It changes what one value reveals: a learner that sees one per round
cannot separate the constant from the loss, unless the constant can be predicted.

Understating curvature is always safe: a sigma-strongly convex loss is sigma'-strongly convex for
every sigma' <= sigma. To measure what understating costs, play both.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import floor, inf, pi, sin
from typing import Any, NamedTuple, Self

import numpy as np

from dikin.arguments import number, positive
from dikin.domains.base import Array, Domain
from dikin.environments.base import Environment, LossKernel, add, constants_of
from dikin.environments.patterns import as_pattern
from dikin.environments.ridge import Ridge
from dikin.environments.signs import one_sign
from dikin.errors import ParameterError
from dikin.feedback import Feedback
from dikin.kernel import compilable


class Wrapper(Environment):
    """Another environment, of which a subclass changes something. Both play the same game on."""

    def __init__(self, environment: Environment, kernel: LossKernel, extra_sums: int = 0) -> None:
        super().__init__(environment.domain, None)
        self.environment, self.kernel = environment, kernel
        self.rounds, self.chances = environment.rounds, environment.chances
        self.loss_range = environment.loss_range
        self.smoothness, self.lipschitz = environment.smoothness, environment.lipschitz
        self._share(np.vstack([environment.sums, np.zeros((extra_sums, 2))]))

    def _share(self, sums: Array) -> None:
        """Keep these sums, of which the first rows are the environment's own.

        It may be a wrapper itself: then what it wraps looks for its sums there as well.
        """
        self.sums, first = sums, sums[: len(self.environment.sums)]
        if isinstance(self.environment, Wrapper):
            self.environment._share(first)
        else:
            self.environment.sums = first

    @property
    def offers(self) -> set[Feedback]:
        return self.environment.offers

    def constants(self, equal_sides: bool) -> dict[str, float]:
        return self.environment.constants(equal_sides)

    @property
    def steady(self) -> bool:
        return self.environment.steady

    def best(self) -> tuple[Array, float]:
        self.environment.rounds = self.rounds
        return self.environment.best()

    def dynamic_total(self) -> float:
        self.environment.rounds = self.rounds
        return self.environment.dynamic_total()


def _require(environment: Any, name: str) -> Environment:
    if not isinstance(environment, Environment):
        raise ParameterError(f"{name} needs an environment, got {environment!r}")
    return environment


class Understated(Wrapper):
    """An environment that tells a learner less curvature than there is.

    Parameters
    ----------
    environment : Environment
        The environment whose losses are played.
    curvature : float or pattern, default 0.0
        The largest curvature that is told in a round; the true one, if that is smaller.

    Attributes
    ----------
    environment : Environment
        The environment whose losses are played.

    Raises
    ------
    ParameterError
        If `environment` is not an environment.
    CurvatureError
        If `curvature` is neither a number nor a pattern, or negative.

    Examples
    --------
    >>> from dikin import Ball, Ridge
    >>> Understated(Ridge(Ball(2), smoothness=1.0, curvature=1.0, seed=1)).curvature(7)
    0.0
    """

    def __init__(self, environment: Environment, curvature: Any = 0.0) -> None:
        inner = _require(environment, "Understated")
        super().__init__(inner, UnderstatedKernel(inner.kernel, as_pattern(curvature)))

    @classmethod
    def examples(cls, domain: Domain, seed: int) -> Iterator[Self]:
        yield cls(Ridge(domain, 1.0, 0.5, seed=seed), 0.2)


class UnderstatedKernel(NamedTuple):
    """The losses of a kernel, and at most a pattern's curvature."""

    kernel: Any
    pattern: Any

    def value(self, round: int, chance: float, x: Array) -> float:
        loss: float = self.kernel.value(round, chance, x)
        return loss

    def gradient(self, round: int, chance: float, x: Array) -> Array:
        return np.asarray(self.kernel.gradient(round, chance, x))

    def context(self, round: int) -> Array:
        return np.asarray(self.kernel.context(round))

    def constants(self, round: int) -> tuple[float, float]:
        return constants_of(self.kernel, round)

    def strong_convexity(self, round: int) -> float:
        sigma: float = min(self.pattern.at(round), self.kernel.strong_convexity(round))
        return sigma

    def accumulate(self, round: int, chance: float, sums: Array) -> None:
        self.kernel.accumulate(round, chance, sums)


class Shifted(Wrapper):
    """An environment whose losses have a constant of the round added to them.

    Parameters
    ----------
    environment : Environment
        The environment whose losses are shifted.
    offset : float, default 0.0
        The size of a random sign, in the unit of the losses.
    noise : float, default 0.0
        The largest size of a uniform number around 0, in the unit of the losses.
    season : float, default 0.0
        The amplitude of a sine, in the unit of the losses.
    period : float, default 500.0
        The period of the sine, in rounds; positive.

    Attributes
    ----------
    environment : Environment
        The environment whose losses are shifted.

    Raises
    ------
    ParameterError
        If `environment` is not an environment, a size is negative, all are 0, or `period` is not
        positive.

    Examples
    --------
    >>> from dikin import Ball, Ridge
    >>> calm = Ridge(Ball(2), smoothness=1.0, seed=1)
    >>> Shifted(calm, 2.0, noise=1.0).loss_range[1] == calm.loss_range[1] + 3.0
    True
    """

    def __init__(
        self,
        environment: Environment,
        offset: float = 0.0,
        *,
        noise: float = 0.0,
        season: float = 0.0,
        period: float = 500.0,
    ) -> None:
        inner = _require(environment, "Shifted")
        offset, noise, season = _sizes(offset=offset, noise=noise, season=season)
        frequency = 2 * pi / positive(period, "period")
        kernel = ShiftedKernel(inner.kernel, offset, noise, season, frequency)
        super().__init__(inner, kernel, extra_sums=1)
        (low, high), most = inner.loss_range, offset + noise + season
        self.loss_range = (low - most, high + most)

    def best(self) -> tuple[Array, float]:
        point, total = super().best()
        return point, total + self.total(-1)

    def dynamic_total(self) -> float:
        return super().dynamic_total() + self.total(-1)

    @classmethod
    def examples(cls, domain: Domain, seed: int) -> Iterator[Self]:
        yield cls(Ridge(domain, 1.0, 0.5, seed=seed), 3.0)
        yield cls(Ridge(domain, 1.0, 0.5, seed=seed), noise=1.0, season=2.0, period=50)


def _sizes(**arguments: float) -> list[float]:
    """The sizes of the parts, of which one at least is there."""
    sizes = {name: number(value, name) for name, value in arguments.items()}
    for name, size in sizes.items():
        if not 0.0 <= size < inf:
            raise ParameterError(f"{name} must be finite and at least 0, got {arguments[name]!r}")
    if not any(sizes.values()):
        raise ParameterError(
            "Shifted without offset, noise and season is the environment itself: give one of them"
        )
    return list(sizes.values())


class ShiftedKernel(NamedTuple):
    """The losses of a kernel, each with a constant added."""

    kernel: Any
    offset: float
    noise: float
    season: float
    frequency: float

    def value(self, round: int, chance: float, x: Array) -> float:
        loss: float = self.kernel.value(round, chance, x)
        return loss + shift(round, chance, self.offset, self.noise, self.season, self.frequency)

    def gradient(self, round: int, chance: float, x: Array) -> Array:
        return np.asarray(self.kernel.gradient(round, chance, x))

    def context(self, round: int) -> Array:
        return np.asarray(self.kernel.context(round))

    def constants(self, round: int) -> tuple[float, float]:
        return constants_of(self.kernel, round)

    def strong_convexity(self, round: int) -> float:
        sigma: float = self.kernel.strong_convexity(round)
        return sigma

    def accumulate(self, round: int, chance: float, sums: Array) -> None:
        self.kernel.accumulate(round, chance, sums)
        added = shift(round, chance, self.offset, self.noise, self.season, self.frequency)
        add(sums, sums.shape[0] - 1, added)


@compilable
def shift(
    round: int, chance: float, offset: float, noise: float, season: float, frequency: float
) -> float:
    """The constant of a round.

    Sign and uniform number are binary digits of the round's chance from the 21st on, the first of
    them and the others, at which no other loss looks.
    """
    fine = 1048576.0 * chance
    fine -= floor(fine)
    rest = 2.0 * fine
    rest -= floor(rest)
    return offset * one_sign(fine) + noise * (2.0 * rest - 1.0) + season * sin(frequency * round)
