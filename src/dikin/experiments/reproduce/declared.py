"""Losses of which a learner knows the constants of all rounds alone, as in the paper.

`play` tells a learner the constants of a round's loss if they are smaller than the declared ones
(Theorem 20 of docs/mathematics.md). The losses of Table 2 have such constants: a loss with less
curvature is less steep. The paper's algorithms are not told them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Self

from dikin.domains.base import Array, Domain
from dikin.environments.base import Environment
from dikin.environments.kink import Kink
from dikin.environments.wrappers import Wrapper
from dikin.feedback import Feedback


class DeclaredKernel(NamedTuple):
    """The losses of a kernel, without the constants of single rounds."""

    kernel: Any

    def value(self, round: int, chance: float, x: Array) -> float:
        loss: float = self.kernel.value(round, chance, x)
        return loss

    def strong_convexity(self, round: int) -> float:
        sigma: float = self.kernel.strong_convexity(round)
        return sigma

    def accumulate(self, round: int, chance: float, sums: Array) -> None:
        self.kernel.accumulate(round, chance, sums)


class Declared(Wrapper):
    """An environment that tells a learner the curvature of a round, and no other constant of it."""

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment)
        self.kernel = DeclaredKernel(environment.kernel)

    @property
    def offers(self) -> set[Feedback]:
        return {Feedback.VALUE, Feedback.PAIR}

    @property
    def steady(self) -> bool:
        return True

    @classmethod
    def examples(cls, domain: Domain, seed: int) -> Iterator[Self]:
        yield cls(Kink(domain, 1.5, 0.2, seed=seed))
