"""A learner whose range of losses is not known: what `loss_range=None` builds.

The first loss told places a narrow range around itself. A loss outside doubles that range, as often
as it takes, and the learner starts anew there: a learner of the wider range before its first round,
seeded from the stream of the last one. The last one still learns from the loss outside, clipped;
without that its rounds would be a biased sample, and the sum of the certificates no bound
(docs/mathematics.md, 5.5).

What may be asked of a learner may be asked of this: what it does not say itself the present learner
does.
"""

from __future__ import annotations

import contextlib
import logging
import os
import warnings
from dataclasses import asdict, dataclass, replace
from math import inf, isfinite, nan
from typing import Any, NamedTuple, cast

from numpy.typing import ArrayLike

from dikin import serialization
from dikin.domains.base import Array, Domain
from dikin.errors import ConstructionWarning, LossError, LossRangeError
from dikin.feedback import Feedback
from dikin.learners.base import Learner, Query, real_number, refuse_late_forecast
from dikin.theory.certificate import Account, Part
from dikin.units import LARGEST

logger = logging.getLogger("dikin")

NARROW = 2.0**-16
"""Half the first range as a share of the first loss: too narrow it costs restarts, too wide it
costs every round. Much less, and rounding would decide which losses lie inside."""

STEEP = 1.0 / 32.0
"""The least of it as a share of L R: for Lipschitz losses lambda_0 grows as the range narrows."""

Range = tuple[float, float]


class Late(NamedTuple):
    """A query of an earlier range: only its point is still of interest."""

    point: Array


@dataclass(frozen=True)
class Past:
    """What is left of the rounds that the present learner did not learn from."""

    rounds: int = 0
    restarts: int = 0
    idle: int = 0
    """Rounds that no learner learnt from: each may have cost the whole range."""
    parts: tuple[Part, ...] = ()
    """The rounds of the learners before, each of a range of its own."""
    certified: bool = True

    def state(self) -> dict[str, Any]:
        """Plain JSON values."""
        rows = [[list(part.account), list(part.schedule), part.scale] for part in self.parts]
        return asdict(replace(self, parts=())) | {"parts": rows}

    @classmethod
    def restored(cls, state: dict[str, Any], schedule: Any) -> Past:
        """The past that gave the state; of which kind its schedules were is known."""
        rows = state["parts"]
        parts = tuple(Part(Account(*row[0]), schedule(*row[1]), row[2]) for row in rows)
        return cls(**state | {"parts": parts})


class Unranged:
    """A learner that is begun anew in a wider range whenever a loss falls outside."""

    def __init__(self, present: Learner, past: Past, late: dict[int, tuple[Query, Late]]) -> None:
        self._present, self._past, self._late = present, past, late

    @classmethod
    def around(cls, learner: Learner) -> Unranged:
        """The unranged learner whose first queries are those of a learner of some range."""
        return cls(learner, Past(), {})

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "_present":  # looked for while this is being copied
            raise AttributeError(name)
        return getattr(self._present, name)

    # An instance of the class that it was built from.
    __class__ = property(lambda self: type(self._present))

    @property
    def _itself(self) -> Learner:
        return cast(Learner, self)

    # --- what it knows -------------------------------------------------------------------------

    @property
    def rounds(self) -> int:
        """Rounds answered so far, in all ranges."""
        return self._past.rounds + self._present.rounds

    @property
    def restarts(self) -> int:
        """How often the range had to be widened."""
        return self._past.restarts

    @property
    def accepts(self) -> Range:
        """Any loss may be told."""
        return -inf, inf

    @property
    def certificate(self) -> float:
        """The bound on the regret so far, in the user's units: E[regret] <= E[certificate].

        It covers losses that are Lipschitz, or smooth and varying by no more than the present
        range is wide. NaN for learners without a certificate.
        """
        past, present = self._past, self._present._part()
        if present is None or not past.certified:
            return nan
        domain, (low, high) = self._present.domain, self._present.units.loss_range
        most, steep = variation(self._present, high - low)
        bias = 2 * domain.dim * steep * past.restarts if past.restarts else 0.0
        learnt = sum(part.bound(domain, self.rounds, most) for part in (*past.parts, present))
        return learnt + bias + past.idle * most

    @property
    def curvature_limit(self) -> tuple[float, str]:
        """The present learner's, or hardly any where only the range limits it."""
        if not self._limited_by_range():
            return self._present.curvature_limit
        most = 8.0 * LARGEST / self._present.domain.diameter**2
        return most, "the largest that can be computed with on a set that wide"

    def _limited_by_range(self) -> bool:
        return type(self._present).curvature_limit is Learner.curvature_limit

    def machine(self) -> None:
        """None: the compiled loop does not look whether a loss lies outside."""

    # --- the game ------------------------------------------------------------------------------

    def ask(self, context: ArrayLike | None = None, *, forecast: float | None = None) -> Query:
        """The next point to play, with an id by which it is answered."""
        return self._present.ask(context, forecast=forecast)

    def tell(
        self, query: Query | int, loss: Any, curvature: float = 0.0, *, forecast: None = None
    ) -> None:
        """Answer a query with its loss, anywhere, and the strong convexity of that loss.

        The answer to a query of an earlier range counts as a round and teaches nothing. A curvature
        that only a wider range could hold is understated, which is safe.
        """
        refuse_late_forecast(forecast)
        key = self._find(query)[0].id
        if self._taught(key):
            try:
                self._present.tell(key, loss, self._believable(self._present, curvature))
                return
            except LossRangeError:
                pass
        wanted = self._containing(loss)
        if key not in self._late or wanted != self._present.units.loss_range:
            self._restart(key, wanted, loss, curvature)
            return
        self._refuse(self._present, loss, curvature)
        del self._late[key]
        past = self._past
        self._past = replace(past, rounds=past.rounds + 1, idle=past.idle + 1)

    def forget(self, query: Query | int) -> None:
        """Close a query that will never be answered."""
        key = self._find(query)[0].id
        if key in self._late:
            del self._late[key]
        else:
            self._present.forget(key)

    @property
    def open_queries(self) -> list[Query]:
        """The queries that were asked and neither answered nor forgotten, oldest first."""
        return [Query(key, self._played(memo)) for key, (_, memo) in self._open.items()]

    @property
    def _open(self) -> dict[int, tuple[Query, Any]]:
        return self._late | self._present._open

    def _played(self, memo: Any) -> Array:
        return memo.point.copy() if isinstance(memo, Late) else self._present._played(memo)

    def _find(self, query: Query | int) -> tuple[Query, Any]:
        return Learner._find(self._itself, query)

    def _not_open(self, key: Any) -> Exception:
        return Learner._not_open(self._itself, key)

    def _taught(self, key: int) -> bool:
        """Whether the present learner asked this and has a range to learn in."""
        return self._past.rounds > 0 and key not in self._late

    # --- answers -------------------------------------------------------------------------------

    def _believable(self, learner: Learner, curvature: float) -> float:
        """What is told, or as much of it as the range of a learner can hold."""
        if not self._limited_by_range():
            return curvature
        Learner._normal_curvature(self._itself, curvature)
        return min(float(curvature), learner.curvature_limit[0])

    def _refuse(self, learner: Learner, loss: Any, curvature: float) -> None:
        """What a learner refuses."""
        learner._normal_answer(loss)
        learner._normal_curvature(self._believable(learner, curvature))

    def _containing(self, answer: Any) -> Range:
        """The range that has room for the losses of an answer."""
        with contextlib.suppress(LossRangeError):
            self._present._normal_answer(answer)  # is it an answer at all?
        told = [real_number(part, "loss", LossError) for part in self._losses(answer)]
        finite = [loss for loss in told if isfinite(loss)]  # the learner will refuse the others
        if self._past.rounds:
            return widened(self._present.units.loss_range, finite)
        half = guess(self._present, finite[0])
        return widened((finite[0] - half, finite[0] + half), finite)

    def _losses(self, answer: Any) -> tuple[Any, ...]:
        match self._present.feedback:
            case Feedback.PAIR:
                return tuple(answer)
            case Feedback.GRADIENT:
                return (answer[0],)
            case _:
                return (answer,)

    # --- restarts ------------------------------------------------------------------------------

    def _restart(self, key: int, wider: Range, loss: Any, curvature: float) -> None:
        old, rounds = self._present, self.rounds + 1
        fresh = self._successor(wider)
        self._refuse(fresh, loss, curvature)
        learnt = self._taught(key) and old._part() is not None
        if learnt:
            low, high = old.units.loss_range
            clipped = min(max(float(loss), low), high)
            old.tell(key, clipped, self._believable(old, curvature))
        # Everything that can fail has been done: from here on the state changes.
        queries = {k: (query, Late(self._played(memo))) for k, (query, memo) in self._open.items()}
        queries.pop(key, None)
        self._past = self._closed(old, rounds, idle=not learnt)
        self._present, self._late = fresh, queries
        if self.restarts:
            logger.info(
                "%s begins anew for losses in (%g, %g) after %d rounds; restarts so far: %d",
                *(type(fresh).__name__, *wider, rounds, self.restarts),
            )

    def _closed(self, old: Learner, rounds: int, idle: bool) -> Past:
        """The past once the present learner belongs to it."""
        past = replace(self._past, rounds=rounds, idle=self._past.idle + idle)
        if self._past.rounds == 0:  # a range that was only there to ask in
            return past
        past, ended = replace(past, restarts=past.restarts + 1), old._part()
        if ended is None:
            return replace(past, certified=False)
        return replace(past, parts=(*past.parts, ended))

    def _successor(self, loss_range: Range) -> Learner:
        """The learner of a range before its first round; its queries are numbered on."""
        old = self._present
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConstructionWarning)  # said when it was built
            arguments = old.arguments() | {"loss_range": list(loss_range)}
            fresh = type(old)._anew(old.domain, arguments, old._noise.seed())
        fresh._next = old._next
        return fresh

    # --- state ---------------------------------------------------------------------------------

    def arguments(self) -> dict[str, Any]:
        """The constructor's arguments besides the domain and the seed."""
        return self._present.arguments() | {"loss_range": None}

    def state(self) -> dict[str, Any]:
        """Everything that the future depends on, as plain JSON values, open queries included."""
        own = {
            "range": list(self._present.units.loss_range),
            "past": self._past.state(),
            "late": [
                serialization.encode((key, memo.point)) for key, (_, memo) in self._late.items()
            ],
        }
        changed = {"arguments": self.arguments(), "rounds": self.rounds, "unranged": own}
        return self._present.state() | changed

    @classmethod
    def restored(cls, kind: type[Learner], domain: Domain, state: dict[str, Any]) -> Unranged:
        """The unranged learner of a kind that gave the state."""
        own = state["unranged"]
        changed = {
            "arguments": state["arguments"] | {"loss_range": own["range"]},
            "rounds": state["rounds"] - own["past"]["rounds"],
        }
        rest = {key: value for key, value in state.items() if key != "unranged"}
        late = {key: (Query(key, p), Late(p)) for key, p in map(serialization.decode, own["late"])}
        present = kind.restore(domain, rest | changed)
        past = Past.restored(own["past"], type(getattr(present, "_schedule", None)))
        return cls(present, past, late)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the state to a JSON file; a crash at any instant leaves the old file or the new."""
        Learner.save(self._itself, path)


def guess(learner: Learner, loss: float) -> float:
    """Half the first range, around the first loss."""
    steep = (getattr(learner, "lipschitz", None) or 0.0) * learner.units.radius
    return max(NARROW * abs(loss), STEEP * steep) or NARROW


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


def variation(learner: Learner, width: float) -> tuple[float, float]:
    """How much one loss may vary over the domain, and grad f(x).(y - u) for x close to y."""
    across = 2.0 * learner.units.radius
    if (lipschitz := getattr(learner, "lipschitz", None)) is not None:
        return max(width, lipschitz * across), lipschitz * across
    return width, width + 0.5 * getattr(learner, "smoothness", nan) * across**2
