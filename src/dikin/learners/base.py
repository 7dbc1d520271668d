"""The base of all learners: asked for a point, told one loss and one curvature.

The base implements the protocol (queries, refusals, units, randomness, state); a learner's own file
implements its mathematics: `_propose` a working vector, `_learn` from an answer, the numbers of the
state.

A query may be answered in any order, late, or never. A refused answer changes nothing. Most
learners are told one number; one that needs more declares it (`feedback`). A learner whose range of
losses is not known restarts in a wider one whenever a loss falls outside (`range_search`).
"""

from __future__ import annotations

import inspect
import logging
from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cached_property
from math import inf, isfinite, nan
from typing import Any, ClassVar, Self

import numpy as np

from dikin import rng, serialization
from dikin.arguments import LARGEST, nonnegative, real_number
from dikin.domains.base import Array, Domain, Geometry
from dikin.errors import (
    CovariateError,
    CurvatureError,
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
from dikin.learners.parameters import Limit, Parameter, with_parameters
from dikin.learners.range_search import (
    Range,
    RangeSearch,
    StaleQuery,
    Variation,
    first_range,
    widened,
)
from dikin.learners.threads import ignored, locked
from dikin.open_queries import Memo, OpenQueries, Query
from dikin.players import Player
from dikin.registry import Registry
from dikin.theory.certificate import RANGE, Part
from dikin.units import LossRange, Units

logger = logging.getLogger("dikin")

ROUNDING = 1e-9
"""Relative excess of a loss or curvature over its limit that counts as rounding and is clipped."""


CANNOT_COMPUTE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""What Python raises when numbers are not as expected."""


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
    domain
        The set to play on.
    geometry
        Its working form (`dikin.domains.geometry`).
    units
        How the learner measures lengths and losses: `units.loss_range` is the current range.
    feedback
        What must be told about a round.
    parameters
        The arguments that are declared as `Parameter`, by name.
    meanings
        The meanings of arguments that are not declared as `Parameter`, for the class's docstring.
    measures_range
        Whether the learner itself measures an unknown range, without restarts.
    equal_sides
        Whether lengths are measured after unequal sides of the domain have been scaled to equal
        length.

    Raises
    ------
    ParameterError
        If an argument is invalid.
    """

    feedback: ClassVar[Feedback] = Feedback.VALUE
    parameters: ClassVar[dict[str, Parameter[Any]]] = {}
    meanings: ClassVar[dict[str, str]] = {}
    measures_range: ClassVar[bool] = False
    equal_sides: ClassVar[bool] = False
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

    # --- the game ------------------------------------------------------------------------------

    def _ask(
        self,
        context: Any,
        forecast: Any,
        covariates: Any = None,
        make: Callable[[int, Array], Query] = Query,
    ) -> Query:
        """Ask; `make` makes the query of its id and point, and a tuner makes it a trial."""
        if covariates is not None:
            raise self._tuners_take("covariates")
        queries = self._open
        queries.acquire(type(self).__name__)
        try:
            self._take_context(context)
            if forecast is not None:
                self._expect(forecast)
            u, square, memo = self._propose()
            id = queries.next_id
            query = make(id, self._placed(u, square))
            queries[id], queries.next_id = (query, memo), id + 1
            return query
        except CANNOT_COMPUTE as reason:
            self._refuse_altered_state(reason)
            raise
        finally:
            queries.lock.release()

    def _take_context(self, context: Any) -> None:
        """Take the context of the query that is about to be asked."""
        if context is not None:
            name = type(self).__name__
            raise FeedbackError(f"{name} does not use a context: call ask() without one")

    def _tuners_take(self, what: str) -> CovariateError:
        return CovariateError(
            f"{type(self).__name__} does not use {what}: only a dikin.Tuner does, which is "
            "Predictive with names. Nothing was changed."
        )

    def tell(
        self,
        query: Query | int,
        loss: Any,
        curvature: float = 0.0,
        *,
        forecast: None = None,
        covariates: None = None,
        sem: None = None,
    ) -> None:
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
        forecast
            Refused: it comes too late once the point is known.
        covariates, sem
            Refused: only a tuner uses them.

        Raises
        ------
        QueryError
            If the query is not an open one of this learner.
        CovariateError
            If there are covariates or a standard error.
        LossError, LossRangeError, FeedbackError
            If the loss is not a finite number, lies outside the range, or is of another kind.
        CurvatureError
            If the curvature is negative or not finite, or more than any such loss can have.
        FeedbackError
            If there is a forecast.
        """
        if forecast is not None:
            raise late_forecast()
        if covariates is not None or sem is not None:
            raise self._tuners_take("a standard error" if covariates is None else "covariates")
        queries = self._open
        queries.lock.acquire()  # `with` takes twice as long
        try:
            asked, memo = queries.find(query, self._again)
            if self._search is None or self._within_range(self._search, memo, loss):
                f, sigma = self._scaled_answer(loss), self._scaled_curvature(curvature)
                self._learn(memo, f, sigma)
            else:
                self._search_range(self._search, memo, loss, curvature)
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

    def _expect(self, forecast: Any) -> None:
        """Take the forecast of the query that is about to be asked."""
        raise FeedbackError(
            f"{type(self).__name__} does not use a forecast: call ask() without one, or use "
            "Predictive"
        )

    def _again(self, id: int) -> Query:
        return Query(id, self._played(self._open[id][1]))

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
    @abstractmethod
    def center(self) -> Array:
        """The learner's current best guess, around which it explores.

        If this takes more than one attribute, read them under `locked`.
        """

    @abstractmethod
    def _propose(self) -> tuple[Array, float, Memo]:
        """A working vector to play, its squared length, and a memo for `_learn`."""

    @abstractmethod
    def _vector(self, memo: Memo) -> tuple[Array, float]:
        """The working vector of a memo, and its squared length."""

    @abstractmethod
    def _learn(self, memo: Memo, loss: Any, curvature: float) -> None:
        """Learn from an answer in the paper's units; on an exception nothing has changed.

        It counts the round, in `rounds` or in `_rounds_in_range`. Formulas take the number of the
        round from the latter, which starts again with every restart.
        """

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
        part, search = self._certificate_part(), self._search
        if part is None:
            return nan
        if search is None:
            return part.bound(self.domain, self._rounds_in_range, RANGE * part.scale)
        low, high = self.units.loss_range
        smoothness, lipschitz = getattr(self, "smoothness", nan), getattr(self, "lipschitz", None)
        variation = Variation.of(high - low, 2.0 * self.units.radius, smoothness, lipschitz)
        return search.certificate(part, self.domain, self.rounds, variation)

    def certificate_in_doubt(self, overstated: float) -> float:
        """The certificate if more curvature was told than there was.

        Parameters
        ----------
        overstated
            The sum over all rounds so far of what was told beyond the true strong convexity; not
            negative. 0 gives the certificate itself.

        Returns
        -------
        float
            The bound on the expected regret so far, in the user's units: the certificate and
            `overstated` D^2/2, with D twice the radius of the domain (docs/mathematics.md, 15.2).

        Raises
        ------
        ParameterError
            If `overstated` is negative or not a finite number.
        """
        doubt = nonnegative(overstated, "overstated")
        return self.certificate + 0.5 * doubt * (2.0 * self.units.radius) ** 2

    def _certificate_part(self) -> Part | None:
        """What the rounds since the last restart add to the certificate; None if not known."""
        return None

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

    def _form(self) -> Geometry:
        """The working form of the set."""
        return self.domain.geometry(self.units.radius)

    def _placed(self, u: Array, square: float) -> Array:
        """The point of a working vector, guaranteed to be inside."""
        point = u if self._same_units else self._point(u)
        return point if square <= self._surely_inside else self._inside(u, point)

    def _point(self, u: Array) -> Array:
        """The point of a working vector."""
        if self._same_units:
            return u
        x = np.empty(self._flat_center.size)
        self.geometry.write_point(u, self._flat_center, self.units.radius, x)
        return x.reshape(self.domain.point_shape)

    def _played(self, memo: Memo) -> Array:
        """The point of an open query, computed again: the caller may have modified the first."""
        if isinstance(memo, StaleQuery):
            return memo.point.copy()
        return self._placed(*self._vector(memo))

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

    def compiled_parts(self) -> Any:
        """The parts for the compiled loop; None if it cannot be compiled or queries are open."""
        return None

    def take_over(self, parts: Any, rounds: int) -> None:
        """Continue from a state that is `rounds` rounds later.

        Parameters
        ----------
        parts
            What `compiled_parts` gave, after those rounds.
        rounds
            How many were played.
        """
        raise NotImplementedError

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

    # --- a range that is not known ---------------------------------------------------------------

    def _within_range(self, search: RangeSearch, memo: Memo, answer: Any) -> bool:
        """Whether an answer can be learnt from in the present range."""
        if not search.begun or isinstance(memo, StaleQuery):
            return False
        try:
            self._scaled_answer(answer)
        except LossRangeError:
            return False
        return True

    def _search_range(self, search: RangeSearch, memo: Memo, answer: Any, curvature: float) -> None:
        """Take in an answer outside the present range, or to a query of an earlier one."""
        wider = self._range_around(search, answer)
        if isinstance(memo, StaleQuery) and wider == self.units.loss_range:
            self._scaled_answer(answer)
            self._scaled_curvature(curvature)
            self._search = search.with_idle_round()
            return
        fresh = self._successor(wider)
        fresh._scaled_answer(answer)
        sigma, rounds = self._scaled_curvature(curvature), self.rounds + 1
        stale = {
            key: (query, StaleQuery(self._played(memo_of_query)))
            for key, (query, memo_of_query) in self._open.items()
        }
        part = None if isinstance(memo, StaleQuery) else self._certificate_part()
        learns = search.begun and part is not None
        if learns:
            low, high = self.units.loss_range
            self._learn(memo, self._scaled_answer(min(max(float(answer), low), high)), sigma)
        # Everything that can fail has been done: from here on the state changes.
        ended = search.after_range(rounds, self._certificate_part(), idle=not learns)
        self._begin_anew(fresh, ended, stale)
        if self.restarts:
            logger.info(
                "%s begins anew for losses in (%g, %g) after %d rounds; restarts so far: %d",
                *(type(self).__name__, *wider, rounds, self.restarts),
            )

    def _range_around(self, search: RangeSearch, answer: Any) -> Range:
        """The range that has room for the losses of an answer."""
        with suppress(LossRangeError):
            self._scaled_answer(answer)  # is it an answer at all?
        losses = [real_number(part, "loss", LossError) for part in _losses(self.feedback, answer)]
        finite = [loss for loss in losses if isfinite(loss)]  # the others will be refused
        if search.begun:
            return widened(self.units.loss_range, finite)
        slope = (getattr(self, "lipschitz", None) or 0.0) * self.units.radius
        return widened(first_range(finite[0], slope), finite)

    def _successor(self, loss_range: Range) -> Self:
        """A learner with these arguments for another range, before its first round."""
        arguments = self.arguments() | {"loss_range": list(loss_range)}
        with ignored(SlowLearnerWarning):  # said when it was built
            return self._anew(self.domain, arguments, self._noise.seed())

    def _begin_anew(
        self, fresh: Self, search: RangeSearch, stale: dict[int, tuple[Query, Memo]]
    ) -> None:
        """Take over the mathematics of a fresh learner; attributes that a user has set stay."""
        own = {name: value for name, value in vars(self).items() if not hasattr(type(self), name)}
        protocol = {"_open": self._open, "_restored": self._restored}
        self._open.update(stale)
        # In one assignment: whoever reads an attribute without the lock sees all old or all new.
        self.__dict__ = own | _searching(fresh, search) | protocol

    # --- refusals ------------------------------------------------------------------------------

    def _scaled_answer(self, answer: Any) -> Any:
        """What was told in the paper's units: one loss here, more for another feedback."""
        return self._scaled_loss(answer)

    def _two_parts(self, answer: Any) -> tuple[Any, Any]:
        """An answer of a feedback that has two parts, taken apart."""
        row = isinstance(answer, np.ndarray) and answer.ndim > 0
        parts = tuple(answer) if row or isinstance(answer, tuple | list) else ()
        if len(parts) != 2:
            raise FeedbackError(
                f"{type(self).__name__} must be told {self.feedback.value}; got {shown(answer)}. "
                "Nothing was changed."
            )
        return parts[0], parts[1]

    def _scaled_loss(self, loss: Any) -> float:
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

    def _scaled_curvature(self, curvature: float) -> float:
        if type(curvature) is float and curvature == 0.0:  # nothing is known, as in most loops
            return 0.0
        limit, reason = self.curvature_limit
        if type(curvature) is float and 0.0 <= curvature <= limit:
            safe = curvature if self._search is None else self._understated(curvature)
            return self.units.curvature(safe)
        value = real_number(curvature, "curvature", CurvatureError)
        if not 0.0 <= value < np.inf:
            raise CurvatureError(
                f"the curvature must be finite and not negative, got {value}; tell 0 if nothing is "
                "known. Nothing was changed."
            )
        if value > limit * (1.0 + ROUNDING):
            raise CurvatureError(
                f"the curvature {value:g} exceeds {limit:g}, {reason}. Nothing was changed."
            )
        value = min(value, limit)
        return self.units.curvature(value if self._search is None else self._understated(value))

    def _understated(self, curvature: float) -> float:
        """As much of a curvature as a range holds that may yet be widened: less is safe."""
        own = type(self).curvature_limit is not Learner.curvature_limit
        if own or self._declared_limit() is not None:
            return curvature
        return min(curvature, range_limit(self.units, self.domain)[0])

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

    def _declared_limit(self) -> Limit | None:
        """The limit of the curvature that an argument sets, if one does."""
        for name, parameter in self.parameters.items():
            value = getattr(self, name)
            if parameter.limit is not None and value is not None:
                return parameter.limit(value, self.domain)
        return None

    def _assumed_curvature(self, curvature: float) -> float:
        """A strong convexity that is assumed of every loss, in the paper's units."""
        limit, reason = self.curvature_limit
        if curvature > limit:
            raise CurvatureError(f"curvature={curvature:g} exceeds {limit:g}, {reason}")
        sigma = self.units.curvature(curvature)
        if sigma * LARGEST < 1.0:
            raise ParameterError(
                f"curvature={curvature:g} is {sigma:g} in units of the domain's radius and the "
                f"losses' range; its inverse must be at most {LARGEST:g} to compute with"
            )
        return sigma

    @classmethod
    @abstractmethod
    def examples(cls, domain: Domain, seed: int) -> Iterator[Self]:
        """A few learners on a domain for the checks: plain, with a horizon, of other losses.

        Parameters
        ----------
        domain
            The set to play on.
        seed
            The seed of each.

        Yields
        ------
        Learner
            One after the other.

        Raises
        ------
        DomainError
            If the learner does not play on such a set.
        """

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

    @locked
    def state(self) -> dict[str, Any]:
        """Everything that the future depends on, as plain JSON values, open queries included.

        Returns
        -------
        dict
            What `dikin.restore` makes the same learner from.
        """
        memos = {key: memo for key, (_, memo) in self._open.items()}
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
                serialization.encode((key, self._memo_state(memo)))
                for key, memo in memos.items()
                if not isinstance(memo, StaleQuery)
            ],
        }
        if self._search is None:
            return state
        return state | {
            "arguments": self.arguments() | {"loss_range": None},
            "range": list(self.units.loss_range),
            "range_search": self._search.encoded(),
            "stale": [
                serialization.encode((key, memo.point))
                for key, memo in memos.items()
                if isinstance(memo, StaleQuery)
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
        """A learner that continues exactly as the one that gave the state would have.

        Parameters
        ----------
        domain
            The set that it played on.
        state
            What `state` gave.

        Returns
        -------
        Learner
            Of this class, with the same future as the one that gave the state.

        Raises
        ------
        StateError
            If the state is of another domain, or of a format that is no longer read.
        """
        _refuse_old_search(state)
        arguments = state["arguments"]
        if "range" in state:
            arguments = arguments | {"loss_range": state["range"]}
        with ignored(SlowLearnerWarning):  # said when it was built
            learner = cls._anew(domain, arguments)
        if state["size"] != learner.geometry.size:
            raise StateError(f"the state was saved on another domain than {domain}")
        if "range" in state:
            schedule = type(getattr(learner, "_schedule", None))
            search = RangeSearch.decoded(state["range_search"], schedule)
            learner.__dict__ = _searching(learner, search)
            for key, point in map(serialization.decode, state["stale"]):
                learner._open[key] = Query(key, point), StaleQuery(point)
        learner.rounds, learner._open.next_id = int(state["rounds"]), int(state["next"])
        learner._noise.restore(state["generator"])
        if cls.__module__.partition(".")[0] == "dikin":  # one's own may have a form that changes
            form = serialization.encode(learner._numbers())
            serialization.refuse_other_form(state["numbers"], form, "numbers")
        learner._set_numbers(serialization.decode(state["numbers"]))
        for item in state["open"]:
            serialization.refuse_infinite(item, "an open query")
            key, memo_state = serialization.decode(item)
            memo = learner._memo_from(memo_state)
            learner._open[key] = Query(key, learner._played(memo)), memo
        float(learner.certificate)  # computed once, as it is made of many numbers of the state
        learner._restored = True
        return learner

    def require_registered(self) -> None:
        LEARNERS.require(type(self))
        self.domain.require_registered()


LEARNERS: Registry[Learner] = Registry("learner", Learner, ("seed",))  # type: ignore[type-abstract]


def _losses(feedback: Feedback, answer: Any) -> tuple[Any, ...]:
    """The losses among what was told of a round."""
    match feedback:
        case Feedback.PAIR:
            return tuple(answer)
        case Feedback.GRADIENT:
            return (answer[0],)
        case _:
            return (answer,)


def _searching(learner: Learner, search: RangeSearch) -> dict[str, Any]:
    """The attributes of a learner of some range, as those of one that is searching for its range.

    A limit of the curvature that was cached for a fixed range is left out.
    """
    attributes = {name: value for name, value in vars(learner).items() if name != "curvature_limit"}
    return attributes | {"_range_known": False, "_search": search}


def _refuse_old_search(state: dict[str, Any]) -> None:
    if "unranged" in state:
        raise StateError(
            "the state of a learner with loss_range=None was written by an older dikin, in a "
            "format that is no longer read: continue with that version, or begin a new learner"
        )


def late_forecast() -> FeedbackError:
    """The error for a forecast that comes with the answer."""
    return FeedbackError(
        "a forecast counts only before the point is known: give it to ask(forecast=...). "
        "Nothing was changed."
    )


def range_limit(units: Units, domain: Domain) -> tuple[float, str]:
    """The largest curvature that a loss within the range can have.

    Half-way between two points at the distance D a sigma-strongly convex loss lies by sigma D^2/8
    below its mean there, and cannot lie below the range.

    Parameters
    ----------
    units
        Those of the learner, with the range.
    domain
        The set, of diameter D.

    Returns
    -------
    tuple of float and str
        The limit in the user's units, and its reason as a message.
    """
    limit = 8.0 * (2.0 * units.loss_scale) / domain.diameter**2
    return limit, "8 (high - low)/D^2: no loss within loss_range on a set that wide has more"
