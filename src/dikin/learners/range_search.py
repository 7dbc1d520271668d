"""The search for an unknown range of losses: the state of a learner with `loss_range=None`.

The first loss sets a narrow range around itself (`first_range`). A loss outside it doubles the
range, as often as necessary, and the learner restarts: it begins again in the wider range, seeded
from its own stream. Before that it learns from the loss outside, clipped to the old range.
Otherwise its rounds would be a biased sample, and the sum of the certificates would not be a bound
(docs/mathematics.md, 5.5).

A learner that knows its range has no `RangeSearch`.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from math import isfinite, nan
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from dikin.arguments import LARGEST, real_number
from dikin.errors import LossError, LossRangeError, SlowLearnerWarning
from dikin.feedback import Feedback
from dikin.learners.threads import ignored
from dikin.theory.certificate import Account, Part

if TYPE_CHECKING:
    from dikin.learners.base import Learner

logger = logging.getLogger("dikin")

STALE = object()
"""The memo of a query asked before the last restart: its answer is not learnt from."""
FIRST_SHARE = 2.0**-16
"""Half the first range as a share of the first loss. Too narrow a range costs restarts; too wide a
range costs every round. If it were much smaller, rounding would decide which losses lie inside."""

FIRST_SLOPE_SHARE = 1.0 / 32.0
"""The least half-range as a share of L R: lambda_0 of Lipschitz losses grows as it narrows."""

FIRST_AT_ZERO = 2.0**-100
"""Half the first range if the first loss is 0 and no Lipschitz constant is declared.

The unit of loss is unknown then, and a range is never narrowed. So this is far below any loss: the
first loss other than 0 widens the range to its own size. It may be this small because nothing is
rounded near 0. It is a power of two, so that ranges are powers of two.
"""

Range = tuple[float, float]


class Variation(NamedTuple):
    """How much one loss may vary over the domain."""

    most: float
    """W: the difference of its values at two points."""
    slope: float
    """Lambda: grad f(x).(y - u) for x in the ellipsoid around y."""

    @classmethod
    def of(
        cls, width: float, diameter: float, smoothness: float, lipschitz: float | None
    ) -> Variation:
        """The variation of losses in a range.

        Parameters
        ----------
        width
            The width of the range.
        diameter
            D = 2R, of the ball around the domain.
        smoothness
            The smoothness that is declared; NaN if none is.
        lipschitz
            The Lipschitz constant that is declared, NaN if none is; it takes precedence.
        """
        if lipschitz is not None:
            return cls(max(width, lipschitz * diameter), lipschitz * diameter)
        return cls(width, width + 0.5 * smoothness * diameter**2)


@dataclass(frozen=True)
class RangeSearch:
    """The record of the rounds before the current range.

    Attributes
    ----------
    rounds
        Rounds that the current learner, since its restart, did not learn from.
    restarts
        How often the range had to be widened.
    idle
        Rounds that were never learnt from: each may have cost the whole variation of a loss.
    parts
        The certificate's parts of the earlier ranges.
    certified
        Whether every earlier range has a part of the certificate.
    """

    rounds: int = 0
    restarts: int = 0
    idle: int = 0
    parts: tuple[Part, ...] = ()
    certified: bool = True

    @property
    def begun(self) -> bool:
        """Whether a loss has been told, so that a range exists."""
        return self.rounds > 0

    def after_range(self, rounds: int, part: Part | None, idle: bool) -> Self:
        """The search after the current range has ended.

        Parameters
        ----------
        rounds
            All rounds so far, including the one that ended the range.
        part
            The certificate's part of the range, if it has one.
        idle
            Whether the round that ended the range was not learnt from.
        """
        after = replace(self, rounds=rounds, idle=self.idle + idle)
        if not self.begun:  # a placeholder range, for queries before the first loss
            return after
        if part is None:
            return replace(after, restarts=self.restarts + 1, certified=False)
        return replace(after, restarts=self.restarts + 1, parts=(*self.parts, part))

    # --- what a learner does that searches for its range ---------------------------------------

    def learn(self, learner: Learner, memo: Any, answer: Any, curvature: float) -> None:
        """Take in an answer, inside the present range or outside."""
        if self.has_room(learner, memo, answer):
            f = learner._scaled_answer(answer)
            learner._learn(memo, f, learner._scaled_curvature(curvature))
            return
        wider = self.range_around(learner, answer)
        if memo is STALE and wider == learner.units.loss_range:
            learner._scaled_answer(answer)
            learner._scaled_curvature(curvature)
            learner._search = replace(self, rounds=self.rounds + 1, idle=self.idle + 1)
            return
        fresh = self.successor(learner, wider)
        fresh._scaled_answer(answer)
        sigma, rounds = learner._scaled_curvature(curvature), learner.rounds + 1
        part = None if memo is STALE else learner._certificate_part()
        learns = self.begun and part is not None
        if learns:
            low, high = learner.units.loss_range
            learner._learn(memo, learner._scaled_answer(min(max(float(answer), low), high)), sigma)
        # Everything that can fail has been done: from here on the state changes.
        ended = self.after_range(rounds, learner._certificate_part(), idle=not learns)
        self.begin_anew(learner, fresh, ended)
        if learner.restarts:
            logger.info(
                "%s begins anew for losses in (%g, %g) after %d rounds; restarts so far: %d",
                *(type(learner).__name__, *wider, rounds, learner.restarts),
            )

    def has_room(self, learner: Learner, memo: Any, answer: Any) -> bool:
        """Whether an answer can be learnt from in the present range."""
        if not self.begun or memo is STALE:
            return False
        try:
            learner._scaled_answer(answer)
        except LossRangeError:
            return False
        return True

    def range_around(self, learner: Learner, answer: Any) -> Range:
        """The range that has room for the losses of an answer."""
        with suppress(LossRangeError):
            learner._scaled_answer(answer)  # is it an answer at all?
        told = _losses(learner.feedback, answer)
        losses = [real_number(part, "loss", LossError) for part in told]
        finite = [loss for loss in losses if isfinite(loss)]  # the others will be refused
        if self.begun:
            return widened(learner.units.loss_range, finite)
        slope = (getattr(learner, "lipschitz", None) or 0.0) * learner.units.radius
        return widened(first_range(finite[0], slope), finite)

    def successor(self, learner: Learner, loss_range: Range) -> Learner:
        """A learner with the same arguments for another range, before its first round."""
        arguments = learner.arguments() | {"loss_range": list(loss_range)}
        with ignored(SlowLearnerWarning):  # said when it was built
            return learner._anew(learner.domain, arguments, learner._noise.seed())

    def begin_anew(self, learner: Learner, fresh: Learner, search: RangeSearch) -> None:
        """Take over the mathematics of a fresh learner; attributes that a user has set stay."""
        kind = type(learner)
        own = {name: value for name, value in vars(learner).items() if not hasattr(kind, name)}
        protocol = {"_open": learner._open, "_restored": learner._restored}
        for id, (query, _) in learner._open.items():
            learner._open[id] = query, STALE
        # In one assignment: whoever reads an attribute without the lock sees all old or all new.
        learner.__dict__ = own | _searching(fresh, search) | protocol

    def certificate(self, learner: Learner, part: Part) -> float:
        """The bound on the regret of all rounds: the theorem of docs/mathematics.md, 5.5.

        `part` is that of the present range. NaN before the first loss, and if an earlier range has
        no bound.
        """
        if not (self.begun and self.certified):
            return nan
        low, high = learner.units.loss_range
        smoothness = getattr(learner, "smoothness", nan)
        lipschitz = getattr(learner, "lipschitz", None)
        variation = Variation.of(high - low, 2.0 * learner.units.radius, smoothness, lipschitz)
        domain, rounds = learner.domain, learner.rounds
        bounds = sum(each.bound(domain, rounds, variation.most) for each in (*self.parts, part))
        bias = 2 * domain.dim * variation.slope * self.restarts if self.restarts else 0.0
        return bounds + bias + self.idle * variation.most

    def state(self, learner: Learner) -> dict[str, Any]:
        """Return the part of a saved state that only such a learner has."""
        return {
            "arguments": learner.arguments() | {"loss_range": None},
            "range": list(learner.units.loss_range),
            "range_search": self.encoded(),
        }

    def encoded(self) -> dict[str, Any]:
        """Plain JSON values."""
        rows = [[list(part.account), list(part.schedule), part.scale] for part in self.parts]
        return asdict(replace(self, parts=())) | {"parts": rows}

    @classmethod
    def decoded(cls, values: dict[str, Any], schedule: Any) -> Self:
        """The search from its encoded values; the learner knows the class of its schedules."""
        rows = values["parts"]
        parts = tuple(Part(Account(*row[0]), schedule(*row[1]), row[2]) for row in rows)
        return cls(**values | {"parts": parts})


def first_range(loss: float, slope: float) -> Range:
    """The range around the first loss.

    Its width is a share of the loss, or of L R if that is more. If both are 0 there is no scale,
    and the range is as narrow as possible: the next loss other than 0 doubles it to its own size at
    once.

    Parameters
    ----------
    loss
        The first loss.
    slope
        L R, or 0 if no Lipschitz constant is declared.
    """
    half = max(FIRST_SHARE * abs(loss), FIRST_SLOPE_SHARE * slope) or FIRST_AT_ZERO
    return loss - half, loss + half


def widened(loss_range: Range, losses: list[float]) -> Range:
    """A range doubled around its middle until it contains these losses.

    Raises
    ------
    LossRangeError
        If it becomes wider than can be computed with.
    """
    low, high = loss_range
    while not (low <= min(losses) and max(losses) <= high):
        half = 0.5 * (high - low)
        low, high = low - half, high + half
    if not high - low < LARGEST:
        raise LossRangeError(
            f"the loss {max(losses, key=abs):g} makes the range wider than {LARGEST:g}, which "
            "cannot be computed with: choose another unit of loss. Nothing was changed."
        )
    return low, high


def known_range(state: dict[str, Any]) -> dict[str, Any]:
    """Return the argument of a restored learner that knows its range for the time being."""
    return {"loss_range": state["range"]} if "range" in state else {}


def restore(learner: Learner, state: dict[str, Any]) -> None:
    """Let a learner that was built for the present range of a state search again."""
    if "range" in state:
        schedule = type(getattr(learner, "_schedule", None))
        search = RangeSearch.decoded(state["range_search"], schedule)
        learner.__dict__ = _searching(learner, search)


def _searching(learner: Learner, search: RangeSearch) -> dict[str, Any]:
    """The attributes of a learner of some range, as those of one that is searching for its range.

    A limit of the curvature that was cached for a fixed range is left out.
    """
    attributes = {name: value for name, value in vars(learner).items() if name != "curvature_limit"}
    return attributes | {"_range_known": False, "_search": search}


def _losses(feedback: Feedback, answer: Any) -> tuple[Any, ...]:
    if feedback is Feedback.PAIR:
        return tuple(answer)
    return (answer[0],) if feedback is Feedback.GRADIENT else (answer,)
