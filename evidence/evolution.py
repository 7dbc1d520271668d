"""CMA-ES of the package cma (Hansen), asked for one candidate and told one loss at a time.

`Evolution` is the strategy as it comes. `NoiseHandlingEvolution` has what its manual recommends for
noisy functions: the noise handling of Hansen et al. (IEEE Transactions on Evolutionary Computation
13, 2009) as `cma.NoiseHandler` has it, and restarts with a population twice as large (Auger and
Hansen, CEC 2005), the option `restarts` of `cma.fmin2`. Both draw from a generator of ours alone.
"""

from __future__ import annotations

from importlib import import_module
from math import inf, nan
from statistics import median
from typing import Any, NamedTuple

import numpy as np

from dikin.domains.base import Array
from dikin.errors import MissingExtraError
from dikin.rng import Generator

CONVERGED = 1e-10
"""A step of CMA-ES, in units of the radius, that is none."""
MOST_EVALUATIONS = 30
"""Of one candidate, where values are noisy: as in the manual of `cma.NoiseHandler`."""
LARGER = 2
"""How many times as many candidates a generation has after a restart: pycma's own number."""


def import_optional(package: str) -> Any:
    """A package of the extra `compare`."""
    try:
        return import_module(package)
    except ImportError as reason:
        raise MissingExtraError(
            f"{package} is not installed: pip install 'dikin[compare]'"
        ) from reason


class Evolution:
    """One run of CMA-ES; once its steps have shrunk to nothing, its favourite is played."""

    def __init__(
        self, start: Array, step: float, generator: Generator, options: dict[str, Any]
    ) -> None:
        normal = generator.standard_normal
        # A seed of NaN: it leaves NumPy's global generator alone and draws from ours.
        quiet = {"verbose": -9, "seed": nan, "randn": lambda *shape: normal(shape)}
        if len(start) == 1:  # pycma fails where it limits the step of a single coordinate
            quiet["maxstd"] = inf
        self._start, self._step, self._options = start, step, quiet | options
        self._begin()

    def _begin(self, **options: Any) -> None:
        make = import_optional("cma").CMAEvolutionStrategy
        self.strategy = make(self._start, self._step, self._options | options)
        self._queue: list[Array] = []
        self._answers: list[tuple[Array, float]] = []

    @property
    def converged(self) -> bool:
        """Smaller steps would soon be no numbers any more."""
        return not self.strategy.sigma > CONVERGED

    @property
    def favourite(self) -> Array:
        """The mean. With bounds it lives in other coordinates, and pycma has the way back."""
        return np.asarray(self.strategy.result.xfavorite, dtype=float)

    def next(self) -> tuple[Any, Array]:
        """A candidate, and where it lies."""
        if self.converged:
            return None, self.favourite
        if not self._queue:
            self._queue = list(self.strategy.ask())
        z = self._queue.pop(0)
        return z, np.asarray(z, dtype=float)

    def learn(self, candidate: Any, loss: float) -> None:
        """Take in the loss of a candidate."""
        if candidate is None or self.converged:
            return
        self._answers.append((candidate, loss))
        if len(self._answers) >= self.strategy.popsize:
            points, losses = zip(*self._answers, strict=True)
            self.strategy.tell(list(points), list(losses))
            self._queue, self._answers = [], []


class Evaluation(NamedTuple):
    """One value that is wanted of a member of a generation."""

    generation: int
    again: bool
    """Whether it measures the noise, after the generation was told."""
    member: int
    repetition: int


class NoiseHandlingEvolution(Evolution):
    """CMA-ES with noise handling and restarts.

    Every member of a generation is played `evaluations` times and its median counts; then some of
    them are played again. If their ranks change by more than chance allows, the handler asks for
    more evaluations and a larger step. A run that pycma would stop begins anew, with a larger
    population; what is recommended is the favourite of the run whose last generation had the least
    median.
    """

    _wanted: dict[Evaluation, None]
    """What is asked for now."""
    _losses: dict[Evaluation, float]
    """The answers to it."""
    _handed: int
    """How many of those that have no answer yet have been handed out."""

    def _begin(self, **options: Any) -> None:
        super()._begin(**options)
        most = [1, 1, MOST_EVALUATIONS]
        self._noise = import_optional("cma").NoiseHandler(len(self._start), maxevals=most)
        self._generations = getattr(self, "_generations", 0)
        self._best: tuple[float, Array] = getattr(self, "_best", (inf, self._start))
        self._level = inf
        """The median of the last generation."""
        self._sample()

    @property
    def favourite(self) -> Array:
        level, point = self._best
        return point if level < self._level else super().favourite

    def next(self) -> tuple[Any, Array]:
        missing = [wanted for wanted in self._wanted if wanted not in self._losses]
        # Where all that is wanted has been handed out, what has not been answered is played again.
        place = self._handed if self._handed < len(missing) else 0
        wanted = missing[place]
        self._handed = place + 1
        return wanted, np.asarray(self._members[wanted.member], dtype=float)

    def learn(self, candidate: Any, loss: float) -> None:
        if candidate not in self._wanted or candidate in self._losses:
            return
        self._losses[candidate] = loss
        self._handed -= 1
        if len(self._losses) == len(self._wanted):
            self._treat() if candidate.again else self._tell()

    def _want(self, members: list[int], again: bool) -> None:
        repetitions = range(int(self._noise.evaluations))
        asked = (Evaluation(self._generations, again, i, k) for i in members for k in repetitions)
        self._wanted = dict.fromkeys(asked)
        self._losses = {}
        self._handed = 0

    def _medians(self) -> dict[int, float]:
        found: dict[int, list[float]] = {}
        for wanted, loss in self._losses.items():
            found.setdefault(wanted.member, []).append(loss)
        return {member: median(losses) for member, losses in sorted(found.items())}

    def _sample(self) -> None:
        self._generations += 1
        self._members = list(self.strategy.ask())
        self._want([*range(len(self._members))], again=False)

    def _tell(self) -> None:
        """A generation is complete: the first members and the best of the others play again."""
        losses = [*self._medians().values()]
        self.strategy.tell(self._members, losses)
        self._level, self._noise.fit = median(losses), losses
        count = round(2 + len(losses) / 20)
        first = count - count // 2
        others = np.argsort(losses[first:])[: count - first] + first
        self._want([*range(first), *others.tolist()], again=True)

    def _treat(self) -> None:
        """The noise of a generation is measured: more evaluations, a larger step, or neither."""
        again = self._medians()
        self._noise.idx = np.array([*again])
        self._noise.fitre = [again.get(i, loss) for i, loss in enumerate(self._noise.fit)]
        self._noise.update_measure()
        self.strategy.sigma *= self._noise.treat()
        if self.converged or self.strategy.stop():
            self._best = min(self._best, (self._level, super().favourite), key=lambda run: run[0])
            self._begin(popsize=LARGER * self.strategy.popsize)
        else:
            self._sample()
