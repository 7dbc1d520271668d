"""What every learner is: asked for a point, told one loss and one curvature.

The base keeps the protocol (queries, refusals, units, randomness, state); a learner's own file
keeps its mathematics: `_propose` a working vector, `_learn` from an answer, the state's numbers.

A query may be answered in any order, late, or never. A refused answer changes nothing. Most
learners are told one number; one that needs more declares it (`feedback`).
"""

from __future__ import annotations

import os
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cached_property
from math import inf, isfinite, nan
from numbers import Real
from typing import Any, ClassVar, NamedTuple, Self, cast

import numpy as np
from numpy.typing import ArrayLike

from dikin import rng, serialization
from dikin.domains.base import Array, Domain, Geometry
from dikin.errors import (
    ClosedQueryError,
    ConstructionWarning,
    CurvatureError,
    CurvatureTooLargeError,
    DikinError,
    FeedbackError,
    ForecastError,
    ForeignQueryError,
    LossError,
    LossRangeError,
    NotSavableError,
    NumericalError,
    ParameterError,
    StateError,
    UnknownQueryError,
)
from dikin.feedback import Feedback
from dikin.learners.player import Machine
from dikin.registry import Registry
from dikin.theory.certificate import Part
from dikin.units import LossRange, Units

ROUNDING = 1e-9
"""Relative excess of a loss or curvature over its limit that counts as rounding and is clipped."""


class Query(NamedTuple):
    """A question to the world: the loss at `point`."""

    id: int
    point: Array

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Query)
            and self.id == other.id
            and np.array_equal(self.point, other.point)
        )

    def __ne__(self, other: object) -> bool:
        return not self == other  # a tuple's own would ask an array for its truth

    def __hash__(self) -> int:
        return hash(self.id)


Memo = Any
"""What a learner needs to remember of a query until it is answered: its own file knows the type."""


class Learner(ABC):
    """A player of bandit convex optimization on a domain."""

    kind: ClassVar[str] = ""
    feedback: ClassVar[Feedback] = Feedback.VALUE
    measures_range: ClassVar[bool] = False
    """Whether the learner itself finds a range that is not known, without being begun anew."""
    equal_sides: ClassVar[bool] = False
    """Whether lengths are measured after unequal sides of the domain were made equal."""
    restarts = 0
    """How often a range that was not known had to be widened."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.kind = cls.__name__.lower()

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        if cls.measures_range or kwargs.get("loss_range", ()) is not None:
            return super().__new__(cls)
        from dikin.learners.unranged import Unranged  # which imports this file

        return cast(Self, Unranged.around(cls(*args, **kwargs | {"loss_range": (-1.0, 1.0)})))

    def __init__(self, domain: Domain, loss_range: LossRange, seed: int | None) -> None:
        if not isinstance(domain, Domain):
            raise ParameterError(f"domain must be a dikin domain such as Box, got {domain!r}")
        self.domain = domain
        self.units = Units.of(domain, loss_range)
        self.geometry: Geometry = self._form()
        self.rounds = 0
        """Rounds answered so far."""
        self._noise = rng.Noise(rng.stream(seed, "learner"), self.geometry.size)
        # |u|^2 below which no rounding can put a point outside: well within the inscribed ball.
        digits = 1e-9 + 1e-15 * float(np.abs(domain.center).max()) / domain.inradius
        self._surely_inside = max(0.0, (1.0 - digits) * domain.inradius / domain.radius) ** 2
        self._next = 0
        self._open: dict[int, tuple[Query, Memo]] = {}

    def __repr__(self) -> str:
        return f"<{type(self).__name__} on {self.domain}, {self.rounds} rounds>"

    # --- the game ------------------------------------------------------------------------------

    def ask(self, context: ArrayLike | None = None, *, forecast: float | None = None) -> Query:
        """The next point to play, with an id by which it is answered.

        A context is what is known of the round beforehand, a forecast the loss that one expects
        (last week's value at this hour, a model of the season). Only some learners make use of
        them, and the others refuse.
        """
        if context is not None:
            name = type(self).__name__
            raise FeedbackError(f"{name} makes no use of a context: ask() without one")
        if forecast is not None:
            self._expect(forecast)
        u, square, memo = self._propose()
        point = self._placed(u, square)
        key = self._next
        query = Query(key, point)
        self._open[key] = query, memo
        self._next = key + 1
        return query

    def tell(
        self, query: Query | int, loss: Any, curvature: float = 0.0, *, forecast: None = None
    ) -> None:
        """Answer a query with the loss at its point and the strong convexity of that loss.

        An understated curvature is always safe (zero says nothing about it); an overstated one
        voids the guarantee. Neither may be chosen by looking at the point that was played. The loss
        is one number unless the learner declares another `feedback`. A forecast comes too late.
        """
        refuse_late_forecast(forecast)
        asked, memo = self._find(query)
        f, sigma = self._normal_answer(loss), self._normal_curvature(curvature)
        self._learn(memo, f, sigma)
        del self._open[asked.id]

    def _expect(self, forecast: Any) -> None:
        """Take the forecast of the query that is about to be asked."""
        raise ForecastError(
            f"{type(self).__name__} makes no use of a forecast: ask() without one, or take "
            "Predictive"
        )

    def forget(self, query: Query | int) -> None:
        """Close a query that will never be answered."""
        del self._open[self._find(query)[0].id]

    @property
    def open_queries(self) -> list[Query]:
        """The queries that were asked and neither answered nor forgotten, oldest first."""
        return [Query(key, self._played(memo)) for key, (_, memo) in self._open.items()]

    @property
    @abstractmethod
    def center(self) -> Array:
        """The point that the learner believes in, around which it explores."""

    @abstractmethod
    def _propose(self) -> tuple[Array, float, Memo]:
        """A working vector to play, its square, and a memo of what `_learn` will need."""

    @abstractmethod
    def _vector(self, memo: Memo) -> tuple[Array, float]:
        """The working vector of a memo again, and its square."""

    @abstractmethod
    def _learn(self, memo: Memo, loss: Any, curvature: float) -> None:
        """Take in an answer in the paper's units; on an exception nothing has changed."""

    @property
    def certificate(self) -> float:
        """The bound on the regret so far; NaN for a learner that has none."""
        return nan

    @cached_property
    def curvature_limit(self) -> tuple[float, str]:
        """The largest possible curvature in the user's units, and the reason for it."""
        return range_limit(self.units, self.domain)

    def _form(self) -> Geometry:
        """The set as this learner works with it."""
        return self.domain.geometry(self.units.radius)

    def _placed(self, u: Array, square: float) -> Array:
        """The point of a working vector, surely inside."""
        point = self.units.point(self.geometry.outward(u))
        return point if square <= self._surely_inside else self._inside(u, point)

    def _played(self, memo: Memo) -> Array:
        """The point of an open query, made anew: what was given away may have been written into."""
        return self._placed(*self._vector(memo))

    @property
    def accepts(self) -> tuple[float, float]:
        """The losses that may be told."""
        return self.units.loss_range

    def _part(self) -> Part | None:
        """Its rounds as a part of a longer game, if a bound on their regret is known."""
        return None

    def machine(self) -> Machine | None:
        """The parts for the compiled loop; None where there is none, or with queries open."""
        return None

    def adopt(self, machine: Machine, rounds: int) -> None:
        """Take over a state that was `rounds` rounds further on."""
        raise NotImplementedError

    def _inside(self, u: Array, point: Array) -> Array:
        """The point of a working vector, pulled towards the centre by as many ulps as it takes.

        Dikin's ellipsoid keeps u inside; adding c and rounding may put it a hair outside.
        """
        shrink = 1e-15
        while not self.domain.margin(point) >= 0.0:
            if shrink > 1.0:
                raise NumericalError(
                    f"{self.domain} does not contain its own centre {self.domain.center}, "
                    f"or the working vector {u} is not finite"
                )
            point = self.units.point(self.geometry.outward(u * (1.0 - shrink)))
            shrink *= 4.0
        return point

    # --- refusals ------------------------------------------------------------------------------

    def _find(self, query: Query | int) -> tuple[Query, Memo]:
        if isinstance(query, Query):
            entry = self._open.get(query.id)
            if entry is not None:
                if query is not entry[0]:
                    _refuse_foreign(query, self._played(entry[1]))
                return entry
            raise self._not_open(query.id)
        if isinstance(query, int | np.integer) and not isinstance(query, bool):
            entry = self._open.get(int(query))
            if entry is not None:
                return entry
        raise self._not_open(query)

    def _not_open(self, key: Any) -> UnknownQueryError | ClosedQueryError:
        is_number = isinstance(key, int | np.integer) and not isinstance(key, bool)
        if is_number and 0 <= key < self._next:
            return ClosedQueryError(
                f"query {key} was already answered or forgotten; open are "
                f"{list(self._open) or 'none'}. Nothing was changed."
            )
        return UnknownQueryError(
            f"query {key!r} was never asked; open are {list(self._open) or 'none'}. Tell the query "
            "that ask() gave, or its id. Nothing was changed."
        )

    def _normal_answer(self, answer: Any) -> Any:
        """What was told in the paper's units: one loss here, more for another feedback."""
        return self._normal_loss(answer)

    def _two_parts(self, answer: Any) -> tuple[Any, Any]:
        """An answer of a feedback that has two parts, taken apart."""
        row = isinstance(answer, np.ndarray) and answer.ndim > 0
        parts = tuple(answer) if row or isinstance(answer, tuple | list) else ()
        if len(parts) != 2:
            raise FeedbackError(
                f"{type(self).__name__} must be told {self.feedback.value}; got {answer!r}. "
                "Nothing was changed."
            )
        return parts[0], parts[1]

    def _normal_loss(self, loss: Any) -> float:
        value = loss if type(loss) is float else real_number(loss, "loss", LossError)
        f = self.units.loss(value)
        if -1.0 <= f <= 1.0:
            return f
        if not isfinite(value):
            raise LossError(f"the loss must be a finite number, got {value}. Nothing was changed.")
        if abs(f) <= 1.0 + ROUNDING:
            return 1.0 if f > 0 else -1.0
        low, high = self.units.loss_range
        raise LossRangeError(
            f"the loss {value:g} lies outside loss_range=({low:g}, {high:g}); build the learner "
            "with a range that contains every loss, or None. Nothing was changed."
        )

    def _normal_curvature(self, curvature: float) -> float:
        limit, reason = self.curvature_limit
        if type(curvature) is float and 0.0 <= curvature <= limit:
            return self.units.curvature(curvature)
        value = real_number(curvature, "curvature", CurvatureError)
        if not 0.0 <= value < np.inf:
            raise CurvatureError(
                f"the curvature must be finite and not negative, got {value}; tell 0 if nothing is "
                "known. Nothing was changed."
            )
        if value > limit * (1.0 + ROUNDING):
            raise CurvatureTooLargeError(
                f"the curvature {value:g} exceeds {limit:g}, {reason}. Nothing was changed."
            )
        return self.units.curvature(min(value, limit))

    # --- state ---------------------------------------------------------------------------------

    @abstractmethod
    def arguments(self) -> dict[str, Any]:
        """The constructor's arguments besides the domain and the seed."""

    @classmethod
    @abstractmethod
    def examples(cls, domain: Domain, seed: int) -> Iterator[Self]:
        """A few learners on a domain for the checks: plain, with a horizon, of other losses."""

    @abstractmethod
    def _numbers(self) -> dict[str, Any]:
        """The state of the mathematics, as nested tuples, arrays and numbers."""

    @abstractmethod
    def _set_numbers(self, numbers: dict[str, Any]) -> None:
        """Take over what `_numbers` gave."""

    @abstractmethod
    def _memo_state(self, memo: Memo) -> tuple[Any, ...]:
        """A memo as nested tuples, arrays and numbers."""

    @abstractmethod
    def _memo_from(self, state: tuple[Any, ...]) -> Memo:
        """The memo that `_memo_state` was given."""

    def state(self) -> dict[str, Any]:
        """Everything that the future depends on, as plain JSON values, open queries included."""
        return {
            "learner": self.kind,
            "domain": self._domain_spec(),
            "size": self.geometry.size,
            "arguments": self.arguments(),
            "rounds": self.rounds,
            "next": self._next,
            "generator": self._noise.state(),
            "numbers": serialization.encode(self._numbers()),
            "open": [
                serialization.encode((key, self._memo_state(memo)))
                for key, (_, memo) in self._open.items()
            ],
        }

    def _domain_spec(self) -> dict[str, Any] | None:
        """None for a domain made of Python functions: it must be given again with the state."""
        try:
            return self.domain.spec()
        except NotSavableError:
            return None

    @classmethod
    def _anew(cls, domain: Domain, arguments: dict[str, Any], seed: int | None = None) -> Self:
        """The learner with these `arguments`, before its first round."""
        return cls(domain, **arguments, seed=seed)

    @classmethod
    def restore(cls, domain: Domain, state: dict[str, Any]) -> Self:
        """A learner that continues exactly as the one that gave the state would have."""
        if "unranged" in state:
            from dikin.learners.unranged import Unranged

            return cast(Self, Unranged.restored(cls, domain, state))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConstructionWarning)  # said when it was built
            learner = cls._anew(domain, state["arguments"])
        if state["size"] != learner.geometry.size:
            raise StateError(f"the state was saved on another domain than {domain}")
        learner.rounds, learner._next = int(state["rounds"]), int(state["next"])
        learner._noise.restore(state["generator"])
        learner._set_numbers(serialization.decode(state["numbers"]))
        for item in state["open"]:
            key, kept = serialization.decode(item)
            memo = learner._memo_from(kept)
            learner._open[key] = Query(key, learner._played(memo)), memo
        return learner

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state to a JSON file; a crash at any instant leaves the old file or the new."""
        self.require_registered()
        serialization.write(path, self.state())

    def require_registered(self) -> None:
        """Refuse a learner that cannot be loaded as its class, or its domain's, is not known."""
        LEARNERS.require(self.__class__)
        self.domain.require_registered()


LEARNERS: Registry[Learner] = Registry("learner", Learner, ("seed",))  # type: ignore[type-abstract]


def refuse_late_forecast(forecast: Any) -> None:
    """A forecast that comes with the answer is of no use."""
    if forecast is not None:
        raise ForecastError(
            "a forecast counts only before the point is known: give it to ask(forecast=...). "
            "Nothing was changed."
        )


def range_limit(units: Units, domain: Domain) -> tuple[float, str]:
    """The largest curvature that a loss within the range can have.

    Half-way between two points at the distance D a sigma-strongly convex loss lies by sigma D^2/8
    below its mean there, and cannot lie below the range.
    """
    limit = 8.0 * (2.0 * units.loss_scale) / domain.diameter**2
    return limit, "8 (high - low)/D^2: no loss within loss_range on a set that wide has more"


def _refuse_foreign(came: Query, ours: Array) -> None:
    if not np.array_equal(came.point, ours):
        raise ForeignQueryError(
            f"query {came.id} of this learner asked about {ours}, the one that came about "
            f"{came.point}: it belongs to another learner. Nothing was changed."
        )


def real_number(value: Any, name: str, error: type[DikinError]) -> float:
    """A real number that came with a call, infinite where it is too large; else that error."""
    if isinstance(value, Real) and not isinstance(value, bool | np.bool_):
        try:
            return float(value)
        except OverflowError:
            return inf if str(value)[0] != "-" else -inf
    if isinstance(value, np.ndarray) and value.ndim == 0 and value.dtype.kind in "fiu":
        return float(value)
    raise error(f"the {name} must be a real number, got {value!r}. Nothing was changed.")
