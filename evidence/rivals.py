"""Optimizers of other packages with the interface of a tuner, and `dikin.Tuner` itself.

Each works on the cube [0, 1]^n, where every range has length 1, from today's setting, by its own
handling of bounds and with its own defaults. The sizes of values and noise are unknown to all.
Whole numbers are the nearest ones. For n shares the nearest point of the simplex is used, and a
rival gets the loss plus the squared distance, in units of the first loss: going farther out
never looks better. Dividing n weights by their sum, and a softmax, served the rivals no better.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from importlib import import_module
from math import inf, nan
from statistics import median
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

import dikin
from dikin.errors import MissingExtraError
from dikin.learners.noise import Noise
from dikin.rng import Generator, stream, stream_key
from dikin.tuning.space import Params, Space

Array = np.typing.NDArray[np.float64]
Parameters = Mapping[str, dikin.Real | dikin.Integer | dikin.Shares]

STEP = 0.3
"""The first step of CMA-ES on the cube: its manual asks for about a quarter of the range."""
WIDE = 1000.0
"""Bluefin divides the size of losses out, but needs a range: so many times the first one."""
CONVERGED = 1e-10
"""The smallest step of CMA-ES, in units of the radius."""
MOST_EVALUATIONS = 30
"""Evaluations of one candidate, where values are noisy: as in the manual of `cma.NoiseHandler`."""
LARGER = 2
"""A generation has so many times as many candidates after a restart: pycma's own number."""


class Tuning(Protocol):
    """Methods that `dikin.Tuner` and every rival have."""

    def ask(self) -> dikin.Trial: ...

    def tell(self, trial: dikin.Trial, value: float) -> None: ...

    @property
    def best(self) -> Params: ...


Maker = Callable[[Parameters, bool, int, int], Tuning]
"""From parameters, whether to maximize, a seed, and the number of rounds."""


def tuner(parameters: Parameters, maximize: bool, seed: int, rounds: int) -> dikin.Tuner:
    """Return `dikin.Tuner`, which knows ranges and start alone."""
    return dikin.Tuner(parameters, maximize=maximize, seed=seed)


def nearest_shares(z: Array) -> Array:
    """Return the point of the simplex nearest to z: max(z - c, 0), with c so that the sum is 1."""
    falling = np.sort(z)[::-1]
    cuts = (np.cumsum(falling) - 1.0) / np.arange(1, z.size + 1)
    # The cut of the largest entries that stay above it.
    cut = cuts[np.flatnonzero(falling > cuts)[-1]]
    return np.asarray(np.maximum(z - cut, 0.0))


class Rival(ABC):
    """An optimizer on the cube; subclasses bring its ask and tell, for small losses.

    The parameters are numbers, or one `Shares`.
    """

    def __init__(self, parameters: Parameters, maximize: bool, seed: int, rounds: int) -> None:
        self.space, self.rounds = Space(parameters), rounds
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


def import_optional(package: str) -> Any:
    """A package of the extra `compare`."""
    try:
        return import_module(package)
    except ImportError as reason:
        raise MissingExtraError(
            f"{package} is not installed: pip install 'dikin[compare]'"
        ) from reason


# --- CMA-ES, asked for one candidate at a time ---------------------------------------------------


class Evolution:
    """One run of CMA-ES. Once its steps have shrunk to nothing, its favourite is used."""

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
    """True if it measures the noise, after the strategy has the generation."""
    member: int
    repetition: int


class NoiseHandlingEvolution(Evolution):
    """CMA-ES with noise handling and restarts.

    A member of a generation is evaluated `evaluations` times and its median counts. Then some of
    them are evaluated again. If their ranks change by more than chance allows, the handler asks for
    more evaluations and a larger step. A run that pycma would stop begins anew, with a larger
    population. The recommendation is the favourite of the run whose last generation had the least
    median.
    """

    _wanted: dict[Evaluation, None]
    """Evaluations that are asked for now."""
    _losses: dict[Evaluation, float]
    """The answers to it."""
    _handed: int
    """Number of those without an answer that have been handed out."""

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
        # After the last one, those without an answer are handed out again.
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
        self._optimizer = self._optimizer_of(nevergrad.optimizers, space)

    def _optimizer_of(self, optimizers: Any, space: Any) -> Any:
        return optimizers.TBPSA(parametrization=space)

    def _next(self) -> tuple[Any, Array]:
        candidate = self._optimizer.ask()
        return candidate, np.asarray(candidate.value, dtype=float)

    def _recommended(self) -> Array:
        return np.asarray(self._optimizer.provide_recommendation().value, dtype=float)

    def _learn(self, candidate: Any, loss: float) -> None:
        self._optimizer.tell(candidate, loss)


class NGOpt(TBPSA):
    """The optimizer that nevergrad chooses by itself, for noisy values and so many rounds."""

    def _optimizer_of(self, optimizers: Any, space: Any) -> Any:
        space.function.deterministic = False
        return optimizers.NGOpt(parametrization=space, budget=self.rounds)


class Bluefin(Rival):
    """Bluefin of SelfTune (NSDI 2023) and OPPerTune (NSDI 2024) with two points: FKM with RMSprop.

    With s uniform on the unit sphere, and squares, roots and quotients entry by entry,

        z + delta s is used, then z - delta s in the next round,
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


TUNER, KEEP, BLUEFIN, CMA_ES = "dikin.Tuner", "keep today's", "Bluefin", "CMA-ES (pycma)"
NOISE_CMA, TBPSA_ = "CMA-ES, noise handling (pycma)", "TBPSA (nevergrad)"
NGOPT, TPE_ = "NGOpt (nevergrad)", "TPE (Optuna)"
PLAYERS: dict[str, Maker] = {
    TUNER: tuner,
    KEEP: Today,
    BLUEFIN: Bluefin,
    CMA_ES: PyCMA,
    NOISE_CMA: NoiseHandlingCMA,
    TBPSA_: TBPSA,
    NGOPT: NGOpt,
    TPE_: TPE,
}
"""By the names in the tables."""
USUAL = (TUNER, KEEP, BLUEFIN, CMA_ES, TBPSA_)
"""The players of every live loop."""


# --- contexts ------------------------------------------------------------------------------------


class OneEach:
    """A player without contexts: one of them for each value of the context."""

    def __init__(
        self, make: Maker, parameters: Parameters, contexts: list[str], seed: int, rounds: int
    ) -> None:
        each = max(rounds // len(contexts), 1)
        self._players = {
            name: make(parameters, False, seed + place, each) for place, name in enumerate(contexts)
        }

    def ask(self, context: str) -> Any:
        return self._players[context].ask()

    def tell(self, context: str, trial: Any, value: float) -> None:
        self._players[context].tell(trial, value)


class OneTuner:
    """One `dikin.Tuner` that knows the context before it chooses."""

    def __init__(self, parameters: Parameters, contexts: list[str], seed: int) -> None:
        self._tuner = dikin.Tuner(parameters, context={"context": contexts}, seed=seed)

    def ask(self, context: str) -> Any:
        return self._tuner.ask(context={"context": context})

    def tell(self, context: str, trial: Any, value: float) -> None:
        self._tuner.tell(trial, value)


def last_tenth(costs: Any) -> float:
    """Return the mean cost of the last tenth of the rounds, exploring included."""
    return float(np.mean(costs[-max(len(costs) // 10, 1) :]))
