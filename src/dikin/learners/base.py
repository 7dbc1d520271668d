"""The base of all learners: ids, refusals, late answers, points.

A learner's own file has its mathematics: `_begin` sets up the state, `_propose` gives a working
vector, `_learn` takes an answer, and `kept` names the attributes that make up the state.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from math import inf, isfinite, nan
from typing import Any, ClassVar, Self

import numpy as np

from dikin.arguments import checked_range, number, whole
from dikin.domains.base import Array, Domain, Geometry
from dikin.errors import (
    FeedbackError,
    LossError,
    LossRangeError,
    NumericalError,
    ParameterError,
)
from dikin.feedback import Feedback
from dikin.learners.noise import Noise
from dikin.learners.parameters import Declared, a_domain, optional, parameter
from dikin.learners.range_search import RangeSearch
from dikin.learners.saving import Saved
from dikin.learners.units import InUnits, LossRange, Units
from dikin.open_queries import OpenQueries, Query
from dikin.players import locked
from dikin.registry import Registry
from dikin.rng import stream_key
from dikin.theory.certificate import RANGE, Part

ROUNDING = 1e-9
"""Relative excess of a loss or curvature over its limit that counts as rounding and is clipped."""
CANNOT_COMPUTE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""Exceptions of Python where numbers are not as expected."""


class Learner(Declared, InUnits, Saved):
    """A player of bandit convex optimization on a domain.

    Threads may share a learner: calls are atomic, and every query has its own id. Processes may
    not: a copy in another process is another learner. A `Tuner` is shared by `dikin.Study`.

    Attributes
    ----------
    kind
        The name in saved states and on the command line: that of the class in lower case.
    feedback
        The kind of answer to a query.
    kept
        The names of the attributes that make up the state.
    units
        Lengths and losses as the learner measures them: `units.loss_range` is the current range.
    rounds
        Number of rounds answered so far.

    Raises
    ------
    ParameterError
        If an argument is invalid.
    """

    feedback: ClassVar[Feedback] = Feedback.VALUE
    measures_range: ClassVar[bool] = False  # True if an unknown range needs no restarts
    domain: Domain = parameter("The set to play on.", a_domain)
    loss_range: LossRange = parameter(
        "The least and the largest possible loss. None if they are not known: the learner finds "
        "them, and restarts where a loss does not fit.",
        optional(lambda ends, _: checked_range(ends)),
        default=(-1.0, 1.0),
        kw_only=True,
    )
    seed: int | None = parameter(
        "Whole number that all randomness comes from. None for a fresh one.",
        default=None,
        kw_only=True,
    )

    def _prepare(self) -> None:
        domain = self.domain
        self.units = Units.of(domain, self.loss_range or (-1.0, 1.0))
        self.geometry: Geometry = self._form()
        self._flat_center = domain.center.ravel()
        unit = domain.radius == 1.0 and not domain.center.any()
        self._same_units = unit and self.geometry.identity
        searches = self.loss_range is None and not self.measures_range
        self._search = RangeSearch() if searches else None
        self.rounds = 0
        self._earlier = 0  # rounds before the last restart
        self._noise = Noise(stream_key(self.seed, "learner"), self.geometry.size)
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
        if queries.made_after != queries.forks:
            queries.continue_in_child(type(self).__name__)
        queries.lock.acquire()  # `with` takes twice as long
        try:
            if context is None and forecast is None:
                u, square, memo = self._propose()
            else:
                u, square, memo = self._propose_knowing(context, forecast)
            id, point = queries.next_id, u if self._same_units else self._point(u)
            if square > self._surely_inside:
                point = self._inside(u, point)
            point.setflags(write=False)
            query = Query(id, point)
            queries[id], queries.next_id = (query, memo), id + 1
            return query
        finally:
            queries.lock.release()

    def tell(self, query: Query | int, loss: Any, curvature: float = 0.0) -> None:
        """Answer a query. An answer that is refused changes nothing.

        Parameters
        ----------
        query
            The result of `ask`, or its id.
        loss
            The loss at the query's point: one number, unless the learner declares another
            `feedback`. It must not depend on other points.
        curvature
            The strong convexity of that loss. An understated curvature is always safe, such as 0
            for an unknown one. An overstated one voids the guarantee. It must not depend on the
            point.

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
        queries.lock.acquire()
        try:
            entry = queries.get(query.id) if isinstance(query, Query) else None
            if entry is None or entry[0] is not query:
                entry = queries.find(query)
            asked, memo = entry
            if self._search is None:
                self._learn(memo, self._scaled_answer(loss), self._scaled_curvature(curvature))
                self.rounds += 1
            else:
                self._search.learn(self, memo, loss, curvature)
            del queries[asked.id]
        finally:
            queries.lock.release()

    # --- the mathematics -----------------------------------------------------------------------

    @property
    @abstractmethod
    def center(self) -> Array:
        """The learner's current best guess, around which it explores.

        If this takes more than one attribute, read them under `locked`.
        """

    @abstractmethod
    def _propose(self) -> tuple[Array, float, Any]:
        """A working vector to play, its squared length, and a memo for `_learn`."""

    def _propose_knowing(self, context: Any, forecast: Any) -> tuple[Array, float, Any]:
        """Propose with a context or a forecast: an error for a learner that uses none."""
        known = "context" if context is not None else "forecast"
        raise FeedbackError(f"{type(self).__name__} does not use a {known}: call ask() without one")

    @abstractmethod
    def _learn(self, memo: Any, loss: Any, curvature: float) -> None:
        """Learn from an answer in the paper's units. On an exception nothing has changed."""

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
        """The share of the rounds since the last restart in the certificate. None if not known."""
        return None

    @property
    def may_restart(self) -> bool:
        """True if a loss can make it restart: the range is neither known nor measured."""
        return self._search is not None

    @property
    def restarts(self) -> int:
        """Number of times that an unknown range had to be widened."""
        return 0 if self._search is None else self._search.restarts

    @property
    @locked
    def certificate(self) -> float:
        """The bound on the regret so far, in the user's units: E[regret] <= E[certificate].

        It covers late answers, if neither a point nor its loss influences when its answer arrives.
        Forgotten queries are not rounds. It is NaN for a learner without a bound, and, with a
        warning, where rounding at the boundary dominates the centre. If the range of the losses is
        not known, it is NaN before the first loss, and covers losses that are Lipschitz, or that
        are smooth and vary by at most the width of the current range.
        """
        part = self._certificate_part()
        if part is None:
            return nan
        if self._search is not None:
            bound: float = self._search.certificate(self, part)
            return bound
        return part.bound(self.domain, self.rounds, RANGE * part.scale)

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

    def _inside(self, u: Array, point: Array | None = None) -> Array:
        """The point of a working vector, which rounding may put a hair outside, pulled inside."""
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

    def _scaled_answer(self, answer: Any) -> Any:
        """The answer in the paper's units: one loss here, more for another feedback."""
        value = answer if type(answer) is float else number(answer, "the loss", LossError)
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
            f"the loss {value:g} lies outside loss_range=({low:g}, {high:g}). Build the learner "
            "with a range that contains every loss, or None. Nothing was changed."
        )

    def _scaled_curvature(self, curvature: float) -> float:
        value = curvature
        if type(curvature) is not float:
            value = number(curvature, "the curvature", ParameterError)
        limit, reason = self.curvature_limit
        if not 0.0 <= value < inf:
            raise ParameterError(
                f"the curvature must be finite and not negative, got {value}. Report 0 if nothing "
                "is known. Nothing was changed."
            )
        if value > limit:
            if value > limit * (1.0 + ROUNDING):
                raise ParameterError(
                    f"the curvature {value:g} exceeds {limit:g}, {reason}. Nothing was changed."
                )
            value = limit
        if self._search is not None and self._declared_limit() is None:
            # As much as a range holds that may yet be widened: less than was reported is safe.
            value = min(value, self._range_limit()[0])
        return value * self.curvature_unit

    def require_registered(self) -> None:
        LEARNERS.require(type(self))
        self.domain.require_registered()


LEARNERS: Registry[Learner] = Registry("learner", Learner)  # type: ignore[type-abstract]
