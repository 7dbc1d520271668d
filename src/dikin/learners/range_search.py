"""The search for an unknown range of losses: the state of a learner with `loss_range=None`.

A loss outside the range doubles it, and the learner restarts, seeded from its own stream. Before
that it learns from this loss, clipped to the old range (docs/mathematics.md, 5.5).
"""

from __future__ import annotations

import logging
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from math import isfinite, nan
from typing import TYPE_CHECKING, Any

from dikin.arguments import LARGEST, number
from dikin.errors import LossError, LossRangeError
from dikin.feedback import Feedback
from dikin.silence import silence
from dikin.theory.certificate import Account, Part

if TYPE_CHECKING:
    from dikin.learners.base import Learner

logger = logging.getLogger("dikin")

STALE = object()
"""The memo of a query asked before the last restart: its answer is not learnt from."""
FIRST_SHARE = 2.0**-16
"""Half the first range as a share of the first loss: far above rounding, and too wide is worse."""
FIRST_SLOPE_SHARE = 1.0 / 32.0
"""The least half-range as a share of L R: lambda_0 of Lipschitz losses grows as it narrows."""
FIRST_AT_ZERO = 2.0**-100
"""Half the first range if both are 0: far below any loss, and a power of two."""

Range = tuple[float, float]


@dataclass(frozen=True)
class RangeSearch:
    """The record of the rounds before the current range.

    Attributes
    ----------
    rounds
        Rounds that the current learner, since its restart, did not learn from.
    restarts
        Number of times that the range had to be widened.
    idle
        Rounds that were never learnt from: each may have cost the whole variation of a loss.
    parts
        The certificate's parts of the earlier ranges.
    """

    rounds: int = 0
    restarts: int = 0
    idle: int = 0
    parts: tuple[Part, ...] = ()

    @property
    def begun(self) -> bool:
        """True if a range exists, after the first loss."""
        return self.rounds > 0

    def learn(self, learner: Learner, memo: Any, answer: Any, curvature: float) -> None:
        """Take in an answer, inside the present range or outside, and count the round."""
        if self.has_room(learner, memo, answer):
            f = learner._scaled_answer(answer)
            learner._learn(memo, f, learner._scaled_curvature(curvature))
            learner.rounds += 1
            return
        wider = self.range_around(learner, answer)
        if memo is STALE and wider == learner.units.loss_range:
            learner._scaled_answer(answer)
            learner._scaled_curvature(curvature)
            idle = replace(self, rounds=self.rounds + 1, idle=self.idle + 1)
            learner._search, learner._earlier = idle, idle.rounds
            learner.rounds += 1
            return
        fresh = self.successor(learner, wider)
        fresh._scaled_answer(answer)
        sigma = learner._scaled_curvature(curvature)
        learns = self.begun and memo is not STALE and learner._certificate_part() is not None
        if learns:
            low, high = learner.units.loss_range
            learner._learn(memo, learner._scaled_answer(min(max(float(answer), low), high)), sigma)
        # Everything that can fail has been done: from here on the state changes.
        learner.rounds += 1
        learner._earlier += not learns
        ended = replace(self, rounds=learner.rounds, idle=self.idle + (not learns))
        if self.begun:  # otherwise the range was a placeholder, for queries before the first loss
            part = learner._certificate_part()
            parts = self.parts if part is None else (*self.parts, part)
            ended = replace(ended, restarts=self.restarts + 1, parts=parts)
        self.begin_anew(learner, fresh, ended)
        if learner.restarts:
            logger.info(
                "%s begins anew for losses in (%g, %g) after %d rounds; restarts so far: %d",
                *(type(learner).__name__, *wider, learner.rounds, learner.restarts),
            )

    def has_room(self, learner: Learner, memo: Any, answer: Any) -> bool:
        """Return True if an answer can be learnt from in the present range."""
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
            learner._scaled_answer(answer)  # an error if it is not an answer at all
        losses = [number(part, "the loss", LossError) for part in _losses(learner, answer)]
        finite = [loss for loss in losses if isfinite(loss)]  # the others will be refused
        if self.begun:
            return widened(learner.units.loss_range, finite)
        slope = (getattr(learner, "lipschitz", None) or 0.0) * learner.units.radius
        return widened(first_range(finite[0], slope), finite)

    def successor(self, learner: Learner, loss_range: Range) -> Learner:
        """A learner with the same arguments for another range, before its first round."""
        arguments = learner.arguments() | {"loss_range": list(loss_range)}
        with silence():  # it was warned of when the learner was built
            return type(learner)(learner.domain, **arguments, seed=learner._noise.seed())

    def begin_anew(self, learner: Learner, fresh: Learner, search: RangeSearch) -> None:
        """Take over the mathematics of a fresh learner. Attributes that a user has set stay."""
        kind = type(learner)
        own = {name: value for name, value in vars(learner).items() if not hasattr(kind, name)}
        kept = {name: getattr(learner, name) for name in ("_open", "rounds", "seed")}
        for id, (query, _) in learner._open.items():
            learner._open[id] = query, STALE
        # In one assignment: whoever reads an attribute without the lock sees all old or all new.
        learner.__dict__ = own | _searching(fresh, search) | kept

    def certificate(self, learner: Learner, part: Part) -> float:
        """The bound on the regret of all rounds. `part` is that of the present range."""
        if not self.begun or len(self.parts) < self.restarts:
            return nan
        low, high = learner.units.loss_range
        smoothness, lipschitz = (
            getattr(learner, name, nan) for name in ("smoothness", "lipschitz")
        )
        varies, slope = variation(high - low, 2.0 * learner.units.radius, smoothness, lipschitz)
        parts = (*self.parts, part)
        bounds = sum(each.bound(learner.domain, learner.rounds, varies) for each in parts)
        bias = 2 * learner.domain.dim * slope * self.restarts if self.restarts else 0.0
        return bounds + bias + self.idle * varies

    def state(self, learner: Learner) -> dict[str, Any]:
        """Return the part of a saved state that only such a learner has."""
        rows = [[list(part.account), list(part.schedule), part.scale] for part in self.parts]
        return {
            "range": list(learner.units.loss_range),
            "range_search": asdict(replace(self, parts=())) | {"parts": rows},
        }


def variation(
    width: float, diameter: float, smoothness: float, lipschitz: float
) -> tuple[float, float]:
    """The most by which a loss varies over the set, W, and its slope in the ellipsoid, Lambda."""
    if isfinite(lipschitz):
        return max(width, lipschitz * diameter), lipschitz * diameter
    return width, width + 0.5 * smoothness * diameter**2


def first_range(loss: float, slope: float) -> Range:
    """The range around the first loss, of which `slope` is L R, or 0 if no L is declared."""
    half = max(FIRST_SHARE * abs(loss), FIRST_SLOPE_SHARE * slope) or FIRST_AT_ZERO
    return loss - half, loss + half


def widened(loss_range: Range, losses: list[float]) -> Range:
    """A range doubled around its middle until it contains these losses."""
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


def restore(learner: Learner, state: dict[str, Any]) -> None:
    """Let a learner that was built for the present range of a state search again."""
    schedule: Any = type(getattr(learner, "_schedule", None))
    values, rows = state["range_search"], state["range_search"]["parts"]
    parts = tuple(Part(Account(*row[0]), schedule(*row[1]), row[2]) for row in rows)
    learner.__dict__ = _searching(learner, RangeSearch(**values | {"parts": parts}))


def _searching(learner: Learner, search: RangeSearch) -> dict[str, Any]:
    """The attributes of a learner of some range, as those of a learner in search of its range."""
    attributes = {name: value for name, value in vars(learner).items() if name != "curvature_limit"}
    return attributes | {"loss_range": None, "_search": search, "_earlier": search.rounds}


def _losses(learner: Learner, answer: Any) -> tuple[Any, ...]:
    if learner.feedback is Feedback.PAIR:
        return tuple(answer)
    return (answer[0],) if learner.feedback is Feedback.GRADIENT else (answer,)
