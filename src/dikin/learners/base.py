"""The base of all learners: asked for a point, told one loss and one curvature.

The base has the protocol: ids, refusals, late answers, units, and the state as JSON. A learner's
own file has its mathematics: `_propose` a working vector, `_learn` from an answer, and the names of
the attributes that make up its state.

A query may be answered in any order, late, or never. A refused answer changes nothing.
"""

from __future__ import annotations

import inspect
from abc import abstractmethod
from collections.abc import Iterator
from functools import cached_property
from math import inf, isfinite, nan
from typing import Any, ClassVar, Self

import numpy as np

from dikin import rng, serialization
from dikin.arguments import LARGEST, real_number, whole
from dikin.domains.base import Array, Domain, Geometry
from dikin.errors import (
    DikinError,
    FeedbackError,
    LossError,
    LossRangeError,
    NotSavableError,
    NumericalError,
    ParameterError,
    SlowLearnerWarning,
    StateError,
    shown,
)
from dikin.feedback import Feedback
from dikin.learners import range_search
from dikin.learners.parameters import Limit, Parameter, range_limit, with_parameters
from dikin.learners.range_search import RangeSearch
from dikin.learners.threads import ignored, locked
from dikin.open_queries import Memo, OpenQueries, Query
from dikin.players import Player
from dikin.registry import Registry
from dikin.theory.certificate import RANGE, Part
from dikin.units import LossRange, Units

ROUNDING = 1e-9
"""Relative excess of a loss or curvature over its limit that counts as rounding and is clipped."""
CANNOT_COMPUTE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""Exceptions of Python where numbers are not as expected."""


class Learner(Player[Query]):
    """A player of bandit convex optimization on a domain.

    Threads may share a learner: calls are atomic, and every query has its own id. Processes may
    not: a copy in another process is another learner. A `Tuner` is shared by `dikin.Study`.

    Parameters
    ----------
    domain
        The set to play on.
    loss_range
        The smallest and the largest possible loss. None if they are not known: then every finite
        loss may be told, and the learner restarts with a wider range whenever one falls outside.
    seed
        The whole number from which all randomness is derived; None for a fresh one.

    Attributes
    ----------
    kind
        The name in saved states and on the command line: that of the class in lower case.
    geometry
        The working form of the domain (`dikin.domains.geometry`).
    units
        Lengths and losses as the learner measures them: `units.loss_range` is the current range.
    feedback
        What must be told about a round.
    parameters
        The arguments that are declared as `Parameter`, by name.
    meanings
        The meanings of arguments that are not declared as `Parameter`, for the class's docstring.
    kept
        The names of the attributes that make up the state.
    measures_range
        True if the learner measures an unknown range without restarts.

    Raises
    ------
    ParameterError
        If an argument is invalid.
    """

    feedback: ClassVar[Feedback] = Feedback.VALUE
    parameters: ClassVar[dict[str, Parameter[Any]]] = {}
    meanings: ClassVar[dict[str, str]] = {}
    kept: ClassVar[tuple[str, ...]] = ()
    measures_range: ClassVar[bool] = False
    _restored = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.kind = cls.__name__.lower()
        own = {name: part for name, part in vars(cls).items() if isinstance(part, Parameter)}
        cls.parameters = cls.parameters | own
        if vars(cls).get("__doc__") and not inspect.isabstract(cls):
            meanings = {name: part.meaning for name, part in cls.parameters.items()} | cls.meanings
            constructor = inspect.signature(cls).parameters
            cls.__doc__ = with_parameters(cls.__doc__ or "", constructor, meanings)

    def __init__(self, domain: Domain, loss_range: LossRange, seed: int | None) -> None:
        if not isinstance(domain, Domain):
            raise ParameterError(f"domain must be a dikin domain such as Box, got {shown(domain)}")
        self.domain = domain
        self.units = Units.of(domain, (-1.0, 1.0) if loss_range is None else loss_range)
        self._range_known = loss_range is not None
        self.geometry: Geometry = self._form()
        self._flat_center = domain.center.ravel()
        unit = domain.radius == 1.0 and not domain.center.any()
        self._same_units = unit and self.geometry.identity
        self._search = None if self._range_known or self.measures_range else RangeSearch()
        self._rounds_in_range = 0
        """Rounds since the mathematics began, which is at the last restart."""
        self._noise = rng.Noise(rng.stream_key(seed, "learner"), self.geometry.size)
        # |u|^2 below which no rounding can put a point outside: well within the inscribed ball.
        digits = 1e-9 + 1e-15 * float(np.abs(domain.center).max()) / domain.inradius
        self._surely_inside = max(0.0, (1.0 - digits) * domain.inradius / domain.radius) ** 2
        self._open = OpenQueries()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} on {self.domain}, {self.rounds} rounds>"

    # --- ask and tell --------------------------------------------------------------------------

    def ask(
        self, context: Any = None, *, n: int | None = None, forecast: float | None = None
    ) -> Any:
        """Ask for the next point, or for several.

        Parameters
        ----------
        context
            Features of the round that are known beforehand. Only `PseudoLine` uses them.
        n
            How many to ask for at once, for several machines that run at the same time.
        forecast
            The loss that you expect, wherever the point is. A good one makes `Predictive` faster, a
            bad one costs little. Other learners use none.

        Returns
        -------
        Query, or list of Query
            The point, which cannot be written into, and the id. A list with `n`.

        Raises
        ------
        FeedbackError
            If a context or a forecast is passed that the learner does not use or that is not
            finite.
        ParameterError
            If `n` is not a whole number of at least 1.
        """
        if n is not None:
            count = whole(n, "n", 1, "how many to ask for")
            return [self.ask(context, forecast=forecast) for _ in range(count)]
        queries = self._open
        queries.acquire(type(self).__name__)
        try:
            if context is not None or self.feedback is Feedback.CONTEXT:
                self._take_context(context)
            if forecast is not None:
                self._expect(forecast)
            u, square, memo = self._propose()
            id, point = queries.next_id, self._placed(u, square)
            point.setflags(write=False)
            query = Query(id, point)
            queries[id], queries.next_id = (query, memo), id + 1
            return query
        except CANNOT_COMPUTE as reason:
            self._refuse_altered_state(reason)
            raise
        finally:
            queries.lock.release()

    def _take_context(self, context: Any) -> None:
        """Take the context of the query that is about to be asked."""
        name = type(self).__name__
        raise FeedbackError(f"{name} does not use a context: call ask() without one")

    def _expect(self, forecast: Any) -> None:
        """Take the forecast of the query that is about to be asked."""
        raise FeedbackError(
            f"{type(self).__name__} does not use a forecast: call ask() without one, or use "
            "Predictive"
        )

    def tell(self, query: Query | int, loss: Any, curvature: float = 0.0) -> None:
        """Answer a query. An answer that is refused changes nothing.

        Parameters
        ----------
        query
            What `ask` gave, or its id.
        loss
            The loss at the query's point: one number, unless the learner declares another
            `feedback`. It must not depend on other points.
        curvature
            The strong convexity of that loss. An understated curvature is always safe (0 if nothing
            is known); an overstated one voids the guarantee. It must not depend on the point that
            was played.

        Raises
        ------
        QueryError
            If the query is not an open one of this learner.
        LossError, LossRangeError, FeedbackError
            If the loss is not a finite number, lies outside the range, or is of another kind.
        ParameterError
            If the curvature is negative or not finite, or more than any such loss can have.
        """
        queries = self._open
        queries.lock.acquire()  # `with` takes twice as long
        try:
            asked, memo = queries.find(query)
            if self._search is None:
                self._learn(memo, self._scaled_answer(loss), self._scaled_curvature(curvature))
            else:
                self._search.learn(self, memo, loss, curvature)
            del queries[asked.id]
        except CANNOT_COMPUTE as reason:
            self._refuse_altered_state(reason)
            raise
        finally:
            queries.lock.release()

    def _refuse_altered_state(self, reason: Exception) -> None:
        """Explain an error that no state written by this library can cause."""
        if self._restored and not isinstance(reason, DikinError):
            raise StateError(
                f"this {type(self).__name__} cannot compute with the state that it was restored "
                f"from ({reason!r}): the state was altered. Load another copy"
            ) from reason

    # --- the mathematics -----------------------------------------------------------------------

    @property
    @abstractmethod
    def center(self) -> Array:
        """The learner's current best guess, around which it explores.

        If this takes more than one attribute, read them under `locked`.
        """

    @abstractmethod
    def _propose(self) -> tuple[Array, float, Memo]:
        """A working vector to play, its squared length, and a memo for `_learn`."""

    @abstractmethod
    def _learn(self, memo: Memo, loss: Any, curvature: float) -> None:
        """Learn from an answer in the paper's units; on an exception nothing has changed.

        It counts the round, in `rounds` or in `_rounds_in_range`. Formulas take the number of the
        round from the latter, which starts again with every restart.
        """

    @classmethod
    @abstractmethod
    def examples(cls, domain: Domain, seed: int) -> Iterator[Self]:
        """Yield a few learners for the checks: plain, with a horizon, of other losses.

        Parameters
        ----------
        domain
            The set to play on. A `DomainError` says that the learner does not.
        seed
            The seed of each.

        Yields
        ------
        Learner
            One after the other.
        """

    def _certificate_part(self) -> Part | None:
        """What the rounds since the last restart add to the certificate; None if not known."""
        return None

    def compiled_parts(self) -> Any:
        """The parts for the compiled loop; None if it cannot be compiled or queries are open."""
        return None

    def take_over(self, parts: Any, rounds: int) -> None:
        """Continue from a state that is some rounds later.

        Parameters
        ----------
        parts
            What `compiled_parts` gave, after those rounds.
        rounds
            How many were played.
        """
        raise NotImplementedError

    @property
    def rounds(self) -> int:
        """Rounds answered so far."""
        if self._search is None:
            return self._rounds_in_range
        with self._open.lock:
            return self._search.rounds + self._rounds_in_range

    @rounds.setter
    def rounds(self, rounds: int) -> None:
        self._rounds_in_range = rounds - (0 if self._search is None else self._search.rounds)

    @property
    def restarts(self) -> int:
        """How often an unknown range had to be widened."""
        return 0 if self._search is None else self._search.restarts

    @property
    @locked
    def certificate(self) -> float:
        """The bound on the regret so far, in the user's units: E[regret] <= E[certificate].

        It covers late answers, if neither a point nor its loss influences when its answer arrives.
        Forgotten queries are not rounds. It is NaN for a learner without a bound, and where
        rounding at the boundary dominates the centre, of which `tell` warns. If the range of the
        losses is not known, it is NaN before the first loss, and covers losses that are Lipschitz,
        or that are smooth and vary by at most the width of the current range.
        """
        part = self._certificate_part()
        if part is None:
            return nan
        if self._search is not None:
            return self._search.certificate(self, part)
        return part.bound(self.domain, self._rounds_in_range, RANGE * part.scale)

    # --- points --------------------------------------------------------------------------------

    def _form(self) -> Geometry:
        """The working form of the set."""
        return self.domain.geometry(self.units.radius)

    def _point(self, u: Array) -> Array:
        """The point of a working vector."""
        if self._same_units:
            return u
        x = np.empty(self._flat_center.size)
        self.geometry.write_point(u, self._flat_center, self.units.radius, x)
        return x.reshape(self.domain.point_shape)

    def _placed(self, u: Array, square: float) -> Array:
        """The point of a working vector, guaranteed to be inside."""
        point = u if self._same_units else self._point(u)
        return point if square <= self._surely_inside else self._inside(u, point)

    def _inside(self, u: Array, point: Array | None = None) -> Array:
        """The point of a working vector, pulled towards the centre by as many ulps as it takes.

        Dikin's ellipsoid keeps u inside; adding c and rounding may put it a hair outside.
        """
        shrink, point = 1e-15, self._point(u) if point is None else point
        while not self.domain.margin(point) >= 0.0:
            if shrink > 1.0:
                raise NumericalError(
                    f"{self.domain} does not contain its own centre {self.domain.center}, "
                    f"or the working vector {u} is not finite"
                )
            point = self._point(u * (1.0 - shrink))
            shrink *= 4.0
        return point

    # --- refusals ------------------------------------------------------------------------------

    @property
    def loss_range(self) -> list[float] | None:
        """The range of the losses as declared: the smallest and the largest, or None."""
        return list(self.units.loss_range) if self._range_known else None

    @property
    def accepts(self) -> tuple[float, float]:
        """The losses that may be told: between these two."""
        return self.units.loss_range if self._search is None else (-inf, inf)

    @property
    def may_restart(self) -> bool:
        """Whether a loss can make it restart: the range is not known, and not measured either."""
        return self._search is not None

    @cached_property
    def curvature_limit(self) -> tuple[float, str]:
        """The largest possible curvature in the user's units, and the reason for it."""
        declared = self._declared_limit()
        if declared is not None:
            return declared
        if self._search is None:
            return range_limit(self.units, self.domain)
        most = 8.0 * LARGEST / self.domain.diameter**2
        return most, "the largest that can be computed with on a set that wide"

    def _declared_limit(self) -> Limit | None:
        """The limit of the curvature that an argument sets, if one does."""
        for name, parameter in self.parameters.items():
            value = getattr(self, name)
            if parameter.limit is not None and value is not None:
                return parameter.limit(value, self.domain)
        return None

    def _scaled_answer(self, answer: Any) -> Any:
        """What was told in the paper's units: one loss here, more for another feedback."""
        return self._scaled_loss(answer)

    def _scaled_loss(self, loss: Any) -> float:
        value = loss if type(loss) is float else real_number(loss, "loss", LossError)
        units = self.units
        f = (value - units.loss_offset) * (1.0 / units.loss_scale)
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

    def _scaled_curvature(self, curvature: float) -> float:
        if type(curvature) is float and curvature == 0.0:  # nothing is known, as in most loops
            return 0.0
        limit, reason = self.curvature_limit
        value = curvature
        if type(curvature) is not float:
            value = real_number(curvature, "curvature", ParameterError)
        if not 0.0 <= value < inf:
            raise ParameterError(
                f"the curvature must be finite and not negative, got {value}; tell 0 if nothing is "
                "known. Nothing was changed."
            )
        if value > limit * (1.0 + ROUNDING):
            raise ParameterError(
                f"the curvature {value:g} exceeds {limit:g}, {reason}. Nothing was changed."
            )
        if self._search is not None:
            limit = min(limit, self._safe_limit())
        return self.units.curvature(min(value, limit))

    def _safe_limit(self) -> float:
        """As much curvature as a range holds that may yet be widened: less than told is safe."""
        own = type(self).curvature_limit is not Learner.curvature_limit
        if own or self._declared_limit() is not None:
            return inf
        return range_limit(self.units, self.domain)[0]

    def _assumed_curvature(self, curvature: float) -> float:
        """A strong convexity that is assumed of every loss, in the paper's units."""
        limit, reason = self.curvature_limit
        if curvature > limit:
            raise ParameterError(f"curvature={curvature:g} exceeds {limit:g}, {reason}")
        sigma = self.units.curvature(curvature)
        if sigma * LARGEST < 1.0:
            raise ParameterError(
                f"curvature={curvature:g} is {sigma:g} in units of the domain's radius and the "
                f"losses' range; its inverse must be at most {LARGEST:g} to compute with"
            )
        return sigma

    # --- state ---------------------------------------------------------------------------------

    def arguments(self) -> dict[str, Any]:
        """The constructor's arguments besides the domain and the seed, as JSON values.

        Those that are declared as `Parameter`, and `loss_range`.
        """
        declared = {name: getattr(self, name) for name in self.parameters}
        return declared | {"loss_range": self.loss_range}

    def _in_units(self, name: str) -> float:
        """An argument in the paper's units."""
        return self.parameters[name].in_units(self.units, getattr(self, name))

    def _numbers(self) -> dict[str, Any]:
        """The state of the mathematics, as nested tuples, arrays and numbers."""
        return {name.lstrip("_"): getattr(self, name) for name in self.kept}

    def _set_numbers(self, numbers: dict[str, Any]) -> None:
        """Take over what `_numbers` gave."""
        for name in self.kept:
            setattr(self, name, numbers[name.lstrip("_")])

    def _memo_state(self, memo: Memo) -> Any:
        """A memo as nested tuples, arrays and numbers."""
        return memo

    def _memo_from(self, state: Any) -> Memo:
        """The memo that `_memo_state` was given."""
        return state

    @locked
    def state(self) -> dict[str, Any]:
        """Everything that the future depends on, as plain JSON values, open queries included.

        Returns
        -------
        dict
            What `dikin.restore` makes the same learner from.
        """
        state = {
            "learner": self.kind,
            "domain": self._domain_spec(),
            "size": self.geometry.size,
            "arguments": self.arguments(),
            "rounds": self.rounds,
            "next": self._open.next_id,
            "generator": self._noise.state(),
            "numbers": serialization.encode(self._numbers()),
            "open": [
                serialization.encode((id, query.point, *self._written(memo)))
                for id, (query, memo) in self._open.items()
            ],
        }
        return state if self._search is None else state | self._search.state(self)

    def _written(self, memo: Memo) -> tuple[Any, ...]:
        """The memo's state, or nothing where it is not learnt from."""
        return () if memo is range_search.STALE else (self._memo_state(memo),)

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
        """Make the learner that a `state` is of, with the same future.

        Parameters
        ----------
        domain
            The set that it played on.
        state
            What `state` gave.

        Returns
        -------
        Learner
            Of this class.

        Raises
        ------
        StateError
            If the state is of another domain.
        """
        arguments = state["arguments"] | range_search.known_range(state)
        with ignored(SlowLearnerWarning):  # said when it was built
            learner = cls._anew(domain, arguments)
        if state["size"] != learner.geometry.size:
            raise StateError(f"the state was saved on another domain than {domain}")
        range_search.restore(learner, state)
        learner.rounds, learner._open.next_id = int(state["rounds"]), int(state["next"])
        learner._noise.restore(state["generator"])
        if cls.__module__.partition(".")[0] == "dikin":  # one's own may have a form that changes
            form = serialization.encode(learner._numbers())
            serialization.refuse_other_form(state["numbers"], form, "numbers")
        learner._set_numbers(serialization.decode(state["numbers"]))
        for item in state["open"]:
            serialization.refuse_infinite(item, "an open query")
            id, point, *memo = serialization.decode(item)
            point.setflags(write=False)
            known = learner._memo_from(memo[0]) if memo else range_search.STALE
            learner._open[id] = Query(id, point), known
        float(learner.certificate)  # computed once, as it is made of many numbers of the state
        learner._restored = True
        return learner

    def require_registered(self) -> None:
        LEARNERS.require(type(self))
        self.domain.require_registered()


LEARNERS: Registry[Learner] = Registry("learner", Learner)  # type: ignore[type-abstract]
