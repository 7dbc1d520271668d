"""Optimizers of other packages with the interface of a tuner: names in, one number back.

Each works on the cube [0, 1]^n, where every range has length 1, from today's setting, by its own
handling of bounds and with its own defaults. None is told the size of the values or of the noise.
Whole numbers are the nearest ones. For n shares the nearest point of the simplex is played, and a
rival is told the loss plus the squared distance, in units of the first loss: going farther out
never looks better. Dividing n weights by their sum, and a softmax, served the rivals no better.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Protocol

import numpy as np

import dikin
from dikin.rng import Generator, Noise, stream, stream_key
from dikin.tuning.space import Params, Space
from evidence.evolution import Evolution, NoiseHandlingEvolution, import_optional

Array = np.typing.NDArray[np.float64]
Parameters = Mapping[str, dikin.Real | dikin.Integer | dikin.Shares]

STEP = 0.3
"""The first step of CMA-ES on the cube: its manual asks for about a quarter of the range."""
WIDE = 1000.0
"""Bluefin divides the size of losses out, but must be told a range: so many times the first one."""


class Tuning(Protocol):
    """What plays in the examples: `dikin.Tuner` and every rival."""

    def ask(self) -> dikin.Trial: ...

    def tell(self, trial: dikin.Trial, value: float) -> None: ...

    @property
    def best(self) -> Params: ...


Maker = Callable[[Parameters, bool, int], Tuning]
"""From parameters, whether to maximize, and a seed."""


def tuner(parameters: Parameters, maximize: bool, seed: int) -> dikin.Tuner:
    """`dikin.Tuner`, which knows ranges and start alone."""
    return dikin.Tuner(parameters, maximize=maximize, seed=seed)


def nearest_shares(z: Array) -> Array:
    """The point of the simplex nearest to z: max(z - c, 0), with c so that the sum is 1."""
    falling = np.sort(z)[::-1]
    cuts = (np.cumsum(falling) - 1.0) / np.arange(1, z.size + 1)
    # The cut of the largest entries that stay above it.
    cut = cuts[np.flatnonzero(falling > cuts)[-1]]
    return np.asarray(np.maximum(z - cut, 0.0))


class Rival(ABC):
    """An optimizer on the cube; subclasses bring its ask and tell, for small losses.

    The parameters are numbers, or one `Shares`.
    """

    def __init__(self, parameters: Parameters, maximize: bool, seed: int) -> None:
        self.space = Space(parameters)
        self._sign = -1.0 if maximize else 1.0
        self._shares = any(each.parts for each in parameters.values())
        self._asked: dict[int, tuple[Any, float]] = {}
        self._trials, self._unit = 0, 0.0
        """The unit is the size of the first value that is not 0."""
        self._prepare(self._start(), stream(seed, "rival"))

    def _start(self) -> Array:
        """Today's setting on the cube."""
        values = self.space.start_values
        if self._shares:
            return values
        sides = zip(self.space.parameters.values(), values, strict=True)
        return np.array([side.to_unit(value) for side, value in sides])

    def _values(self, z: Array) -> Array:
        """The setting at a point of the cube, one number for each column."""
        if self._shares:
            return nearest_shares(z)
        sides = zip(self.space.parameters.values(), np.clip(z, 0.0, 1.0), strict=True)
        return np.array([side.best(float(u)) for side, u in sides])

    def ask(self) -> dikin.Trial:
        candidate, z = self._next()
        values, id = self._values(z), self._trials
        excess = float(((z - values) ** 2).sum()) if self._shares else 0.0
        self._asked[id], self._trials = (candidate, excess), id + 1
        return dikin.Trial(id, values, self.space.params(values))

    def tell(self, trial: dikin.Trial, value: float) -> None:
        self._unit = self._unit or abs(value)
        candidate, excess = self._asked.pop(trial.id)
        self._learn(candidate, self._sign * value + self._unit * excess)

    @property
    def best(self) -> Params:
        return self.space.params(self._values(self._recommended()))

    @abstractmethod
    def _prepare(self, start: Array, generator: Generator) -> None:
        """Build the optimizer, which draws from this generator alone."""

    @abstractmethod
    def _next(self) -> tuple[Any, Array]:
        """The next candidate, and where it lies on the cube."""

    @abstractmethod
    def _recommended(self) -> Array:
        """The point of the cube that the optimizer recommends."""

    @abstractmethod
    def _learn(self, candidate: Any, loss: float) -> None:
        """Take in the loss of a candidate."""


class Today(Rival):
    """Keeps today's setting."""

    def _prepare(self, start: Array, generator: Generator) -> None:
        pass

    def _next(self) -> tuple[Any, Array]:
        return None, self._recommended()

    def _values(self, z: Array) -> Array:
        return self.space.start_values

    def _recommended(self) -> Array:
        return np.zeros(len(self.space.columns))

    def _learn(self, candidate: Any, loss: float) -> None:
        pass


class PyCMA(Rival):
    """CMA-ES of the package cma, with its bounds and its population size."""

    first_step: ClassVar[float] = STEP
    strategy: ClassVar[type[Evolution]] = Evolution

    def _prepare(self, start: Array, generator: Generator) -> None:
        self._evolution = self.strategy(start, self.first_step, generator, {"bounds": [0, 1]})

    def _next(self) -> tuple[Any, Array]:
        return self._evolution.next()

    def _recommended(self) -> Array:
        return self._evolution.favourite

    def _learn(self, candidate: Any, loss: float) -> None:
        self._evolution.learn(candidate, loss)


class NoiseHandlingCMA(PyCMA):
    """CMA-ES of the package cma with its noise handling and with restarts."""

    strategy = NoiseHandlingEvolution


class TBPSA(Rival):
    """TBPSA of the package nevergrad, made for noise, with its bounds."""

    def _prepare(self, start: Array, generator: Generator) -> None:
        nevergrad = import_optional("nevergrad")
        space = nevergrad.p.Array(init=start, lower=0.0, upper=1.0)
        words = generator.integers(2**32, size=8, dtype=np.uint32)
        space.random_state = np.random.RandomState(words)
        self._optimizer = nevergrad.optimizers.TBPSA(parametrization=space)

    def _next(self) -> tuple[Any, Array]:
        candidate = self._optimizer.ask()
        return candidate, np.asarray(candidate.value, dtype=float)

    def _recommended(self) -> Array:
        return np.asarray(self._optimizer.provide_recommendation().value, dtype=float)

    def _learn(self, candidate: Any, loss: float) -> None:
        self._optimizer.tell(candidate, loss)


class Bluefin(Rival):
    """Bluefin of SelfTune (NSDI 2023) and OPPerTune (NSDI 2024) with two points: FKM with RMSprop.

    With s uniform on the unit sphere, and squares, roots and quotients entry by entry,

        z + delta s is played, then z - delta s in the next round,
        g = (d/(2 delta)) (f(z + delta s) - f(z - delta s)) s
        v <- 0.99 v + 0.01 g^2,    z <- z - eta g/(sqrt(v) + 1e-8)
        every entry of z is clipped to [delta, 1 - delta]

    Formulas and constants are those of OPPerTune 0.2.0 (github.com/microsoft), where one point is
    the default. Losses are divided by `WIDE` first ones, where the package divides a difference by
    the larger of the two values, which depends on where zero is. The answers of a pair may come at
    any time.
    """

    delta, eta = 0.1, 0.01

    def _prepare(self, start: Array, generator: Generator) -> None:
        self._noise = Noise(stream_key(int(generator.integers(2**31)), "learner"), start.size)
        self._z = np.clip(start, self.delta, 1.0 - self.delta)
        self._average = np.zeros(start.size)
        self._next_pair: tuple[Array, Array, int] | None = None
        """The centre and the direction of a pair, and its number, if its second point is due."""
        self._pairs = 0
        self._waiting: dict[int, float] = {}

    def _next(self) -> tuple[Any, Array]:
        if self._next_pair is not None:
            pair, sign, self._next_pair = self._next_pair, -1.0, None
        else:
            noise, self._pairs = self._noise.draw(), self._pairs + 1
            pair, sign = (self._z, noise / np.linalg.norm(noise), self._pairs), 1.0
            self._next_pair = pair
        center, direction, _ = pair
        return (pair, sign), center + sign * self.delta * direction

    def _recommended(self) -> Array:
        return self._z

    def _learn(self, candidate: Any, loss: float) -> None:
        (_, direction, number), sign = candidate
        share = loss / (WIDE * self._unit) if self._unit else 0.0
        signed = sign * float(np.clip(share, -1.0, 1.0))
        if number not in self._waiting:
            self._waiting[number] = signed
            return
        difference = signed + self._waiting.pop(number)
        g = direction.size / (2.0 * self.delta) * difference * direction
        self._average = 0.99 * self._average + 0.01 * g**2
        step = self.eta * g / (np.sqrt(self._average) + 1e-8)
        self._z = np.clip(self._z - step, self.delta, 1.0 - self.delta)


class TPE(Rival):
    """The tree-structured Parzen estimator of the package optuna, its default."""

    def _prepare(self, start: Array, generator: Generator) -> None:
        optuna = import_optional("optuna")
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        sampler = optuna.samplers.TPESampler(seed=int(generator.integers(2**31)))
        self._study = optuna.create_study(sampler=sampler)
        self._names = [f"x{i}" for i in range(start.size)]
        self._study.enqueue_trial(dict(zip(self._names, start.tolist(), strict=True)))

    def _next(self) -> tuple[Any, Array]:
        trial = self._study.ask()
        return trial, np.array([trial.suggest_float(name, 0.0, 1.0) for name in self._names])

    def _recommended(self) -> Array:
        best = self._study.best_params
        return np.array([best[name] for name in self._names])

    def _learn(self, candidate: Any, loss: float) -> None:
        self._study.tell(candidate, loss)


KEEP, BLUEFIN, CMA_ES, TBPSA_ = "keep today's", "Bluefin", "CMA-ES (pycma)", "TBPSA (nevergrad)"
RIVALS: dict[str, Maker] = {KEEP: Today, BLUEFIN: Bluefin, CMA_ES: PyCMA, TBPSA_: TBPSA}
