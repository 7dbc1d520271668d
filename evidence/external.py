"""Optimizers of other packages and a fixed point, asked and told like a learner, for comparison.

They work in chart coordinates in units of the radius, z = v/R, so that the set lies in the unit
ball around z = 0, and are told losses in [-1, 1]. They know no constraint: for a point outside the
nearest point of the set is played, and they are told its loss plus the squared distance, so that
going farther out never looks better. They make no use of curvature, and their state cannot be
saved.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from math import sqrt
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from dikin.arguments import positive, whole
from dikin.domains.base import Array, Domain
from dikin.errors import NotSavableError
from dikin.learners.base import Learner
from dikin.rng import Generator, stream
from dikin.units import LossRange
from evidence.evolution import Evolution, NoiseHandlingEvolution, import_optional

STEP = 0.3
"""The first step of every optimizer, in units of the radius: a quarter of a range is what the
manual of pycma asks for."""


class Memo(NamedTuple):
    """What is remembered of a query."""

    candidate: Any
    """The optimizer's own."""
    point: Array
    excess: float
    """Squared distance from the candidate to what was played."""


class ExternalOptimizer(Learner):
    """An optimizer of another package; subclasses bring its ask and tell."""

    package: ClassVar[str]
    """Its name, as one imports it."""
    quick: ClassVar[bool] = False
    """Whether a game takes so little time that there can be as many as compiled ones."""

    def __init__(
        self,
        domain: Domain,
        *,
        loss_range: LossRange = (-1.0, 1.0),
        seed: int | None = None,
    ) -> None:
        super().__init__(domain, loss_range, seed)
        units = np.eye(self.geometry.size)
        self._working = np.stack([self.geometry.outward(unit).ravel() for unit in units])
        self._prepare(stream(seed, "learner"))

    def _prepare(self, generator: Generator) -> None:
        """Build the optimizer, which draws from this generator alone."""

    @abstractmethod
    def _next_candidate(self) -> tuple[Any, Array]:
        """The next candidate, and its coordinates z."""

    @abstractmethod
    def _recommended(self) -> Array:
        """The coordinates z that the optimizer would recommend."""

    @abstractmethod
    def _tell_candidate(self, candidate: Any, loss: float) -> None:
        """Take in the loss of a candidate."""

    @property
    def center(self) -> Array:
        return self._nearest(self._recommended())[0]

    def arguments(self) -> dict[str, Any]:
        return {"loss_range": self.loss_range}

    @classmethod
    def examples(cls, domain: Domain, seed: int) -> Iterator[Self]:
        yield cls(domain, loss_range=(3, 11), seed=seed)

    def _nearest(self, z: Array) -> tuple[Array, float]:
        """The point of the domain nearest to that of z, and their squared distance in z."""
        domain, geometry = self.domain, self.geometry
        displacement = domain.outward(z)
        point = domain.center + domain.radius * displacement
        if domain.margin(point) >= 0.0:
            return point, 0.0
        pull = -self._working @ displacement.ravel()
        u = geometry.vector(geometry.projected(pull, geometry.start()))
        gap = displacement.ravel() - geometry.outward(u)
        return self._inside(u), float(gap @ gap)

    def _propose(self) -> tuple[Array, float, Memo]:
        candidate, z = self._next_candidate()
        memo = Memo(candidate, *self._nearest(z))
        return *self._vector(memo), memo

    def _vector(self, memo: Memo) -> tuple[Array, float]:
        return memo.point.copy(), 0.0

    def _placed(self, u: Array, square: float) -> Array:
        return u

    def _learn(self, memo: Memo, loss: float, curvature: float) -> None:
        self._tell_candidate(memo.candidate, loss + memo.excess)
        self.rounds += 1

    def _refuse_saving(self, *_: Any, **__: Any) -> Any:
        raise NotSavableError(
            f"{type(self).__name__} is a competitor of evidence.compare and cannot be saved; the "
            "learners of dikin can"
        )

    save = state = _numbers = _set_numbers = _memo_state = _memo_from = _refuse_saving


class FixedPoint(ExternalOptimizer):
    """The baseline that a learner must beat: the centre in every round."""

    package = "baseline"
    quick = True

    def _next_candidate(self) -> tuple[Any, Array]:
        return None, self._recommended()

    def _recommended(self) -> Array:
        return np.zeros(self.domain.dim)

    def _tell_candidate(self, candidate: Any, loss: float) -> None:
        pass


class CMA(ExternalOptimizer):
    """CMA-ES (Hansen) of the package cma, as it comes: its own population size.

    It ranks the losses of a generation: made for one function, and here every round has another.
    Once its steps have shrunk to nothing, its mean is played.
    """

    package = "cma"
    strategy: ClassVar[type[Evolution]] = Evolution

    def _prepare(self, generator: Generator) -> None:
        self._evolution = self.strategy(np.zeros(self.domain.dim), STEP, generator, {})

    def _next_candidate(self) -> tuple[Any, Array]:
        return self._evolution.next()

    def _recommended(self) -> Array:
        return self._evolution.favourite

    def _tell_candidate(self, candidate: Any, loss: float) -> None:
        self._evolution.learn(candidate, loss)


class NoiseHandlingCMA(CMA):
    """CMA-ES of the package cma with its noise handling and with restarts, as its manual advises.

    A part of the rounds measures the noise: some points are played again, and all of them several
    times if it is large.
    """

    strategy = NoiseHandlingEvolution


class NevergradOptimizer(ExternalOptimizer):
    """An optimizer of the package nevergrad on R^dim, with a generator of ours."""

    package = "nevergrad"
    first_step: ClassVar[float] = 1.0
    """The unit of its own coordinates."""

    def _prepare(self, generator: Generator) -> None:
        nevergrad = import_optional(self.package)
        space = nevergrad.p.Array(shape=(self.domain.dim,)).set_mutation(sigma=self.first_step)
        words = generator.integers(2**32, size=8, dtype=np.uint32)
        space.random_state = np.random.RandomState(words)
        self._optimizer = self._build(space, nevergrad.optimizers)

    @abstractmethod
    def _build(self, space: Any, optimizers: Any) -> Any:
        """The optimizer for a space, from the module that has them all."""

    def _next_candidate(self) -> tuple[Any, Array]:
        candidate = self._optimizer.ask()
        return candidate, np.asarray(candidate.value, dtype=float)

    def _tell_candidate(self, candidate: Any, loss: float) -> None:
        self._optimizer.tell(candidate, loss)


class SPSA(NevergradOptimizer):
    """SPSA (Spall 1992), with the gain that nevergrad's source asks for.

    Its own gain, 1e-5, is called arbitrary there and moves nothing. By the rule that is quoted, the
    first step should be a reasonable one: 0.1 in every coordinate where the losses are steepest.
    """

    def __init__(
        self,
        domain: Domain,
        horizon: int,
        lipschitz: float,
        *,
        loss_range: LossRange = (-1.0, 1.0),
        seed: int | None = None,
    ) -> None:
        self.horizon = whole(horizon, "horizon", 1, "the gain depends on it")
        self.lipschitz = positive(lipschitz, "lipschitz")
        super().__init__(domain, loss_range=loss_range, seed=seed)

    def _build(self, space: Any, optimizers: Any) -> Any:
        optimizer = optimizers.SPSA(parametrization=space, budget=self.horizon)
        slope = self.units.slope(self.lipschitz) * sqrt(self.domain.dim)
        optimizer.a = 0.1 / slope * (1.0 + optimizer.A) ** 0.602
        return optimizer

    def _recommended(self) -> Array:
        return np.asarray(self._optimizer.t, dtype=float)

    def arguments(self) -> dict[str, Any]:
        return {"horizon": self.horizon, "lipschitz": self.lipschitz} | super().arguments()

    @classmethod
    def examples(cls, domain: Domain, seed: int) -> Iterator[Self]:
        yield cls(domain, 1000, 1.0 / domain.radius, loss_range=(3, 11), seed=seed)


class TBPSA(NevergradOptimizer):
    """TBPSA as nevergrad has it: an evolution strategy for noisy functions.

    Test-based population size adaptation (after Hellwig and Beyer, PPSN 2016): where a generation
    is no better than the one before, noise is taken to be the reason, and the next one is larger.
    It is made for one function with noise in its values. Its centre, a mean over the better part of
    a generation, is what it recommends. Its first step is that of the other strategies: with its
    own, 1, most of the first points would lie outside the set.
    """

    first_step = STEP

    def _build(self, space: Any, optimizers: Any) -> Any:
        return optimizers.TBPSA(parametrization=space)

    def _recommended(self) -> Array:
        return np.asarray(self._optimizer.provide_recommendation().value, dtype=float)


EXTERNAL: dict[str, type[ExternalOptimizer]] = {
    cls.kind: cls for cls in (CMA, NoiseHandlingCMA, SPSA, TBPSA)
}
