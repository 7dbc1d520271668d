"""A loss of your own: a plain Python function, or one that Numba compiles with the game."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import nan
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from dikin.arguments import checked_range, number
from dikin.domains.base import Array, Domain
from dikin.environments.base import Environment, add
from dikin.environments.patterns import as_pattern


class FromFunction(Environment):
    """The game against a loss of your own.

    Parameters
    ----------
    domain : Domain
        The set to play on.
    loss : callable
        `loss(round, point)` returns the loss as a float, for rounds 1, 2, ... and flattened points.
        It must be convex in the point and depend on nothing else. A function compiled with
        `numba.njit` runs in the compiled loop.
    curvature : float or pattern, default 0.0
        A strong convexity that every loss has: a number, or a pattern such as `Decaying`.
    loss_range : tuple of float
        Bounds (low, high) of the losses on the whole domain.
    smoothness : float, default NaN
        A smoothness that every loss has, NaN if not known.
    lipschitz : float, default NaN
        A Lipschitz constant of every loss, NaN if not known.
    comparator : array_like, optional
        The point that regret is measured against. Without one the regret is NaN.
    seed : int, optional
        Has no effect on the losses, which are the function's own.

    Raises
    ------
    ParameterError
        If the range or a constant is invalid.
    DomainError
        If the comparator lies outside the domain.

    Examples
    --------
    >>> from dikin import Box
    >>> env = FromFunction(Box([0], [4]), lambda t, x: (x[0] - 1) ** 2 / 9, curvature=2 / 9,
    ...                    loss_range=(0, 1), smoothness=2 / 9, comparator=[1.0])
    >>> env.answer(env.domain.center)
    (0.1111111111111111, 0.2222222222222222)
    """

    comparator_sums = 1

    def __init__(
        self,
        domain: Domain,
        loss: Callable[[int, Array], float],
        curvature: Any = 0.0,
        *,
        loss_range: tuple[float, float],
        smoothness: float = nan,
        lipschitz: float = nan,
        comparator: ArrayLike | None = None,
        seed: int | None = None,
    ) -> None:
        super().__init__(domain, seed)
        self.loss_range = checked_range(loss_range)
        self.smoothness = number(smoothness, "smoothness")
        self.lipschitz = number(lipschitz, "lipschitz")
        self._has_comparator = comparator is not None
        self._comparator = domain.center if comparator is None else domain.require(comparator)
        self.kernel: FunctionKernel = FunctionKernel(
            loss, as_pattern(curvature), np.array(self._comparator.ravel())
        )

    def best(self) -> tuple[Array, float]:
        return self._comparator, self.total(1) if self._has_comparator else nan

    @classmethod
    def examples(cls, domain: Domain, seed: int) -> Iterator[Self]:
        center = domain.center.ravel()

        def bowl(round: int, x: Array) -> float:
            v = x - center
            return float(v @ v) / (2 * domain.radius**2)

        slope, best = 1 / domain.radius, domain.center
        constants = {"smoothness": slope**2, "lipschitz": slope}
        yield cls(
            domain, bowl, slope**2, loss_range=(0, 1), comparator=best, seed=seed, **constants
        )


class FunctionKernel(NamedTuple):
    """The user's losses. Those of the comparator are added up."""

    loss: Any
    pattern: Any
    comparator: Array

    def value(self, round: int, chance: float, x: Array) -> float:
        return float(self.loss(round, x))

    def strong_convexity(self, round: int) -> float:
        return float(self.pattern.at(round))

    def accumulate(self, round: int, chance: float, sums: Array) -> None:
        add(sums, 1, self.loss(round, self.comparator))
