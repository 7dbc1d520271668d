"""Learners without a range that have one thing wrong, each beside the law that must notice."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self, cast

from checks.learner_mutants import LearnerMutant, Make, disc
from dikin.domains.base import Domain
from dikin.errors import LossError, LossRangeError
from dikin.learners.adaptive_smooth import AdaptiveSmooth
from dikin.learners.base import Learner
from dikin.learners.unranged import Past, Range, Unranged


def within(shell: type[Unranged]) -> Make:
    """What makes a learner that is sound where its range is given."""

    class Within(AdaptiveSmooth):
        def __new__(cls, *args: Any, **kwargs: Any) -> Self:
            made: Any = super().__new__(cls, *args, **kwargs)
            return cast(Self, shell.around(made._present)) if type(made) is Unranged else made

        @classmethod
        def restore(cls, domain: Domain, state: dict[str, Any]) -> Self:
            if "unranged" in state:
                return cast(Self, shell.restored(cls, domain, state))
            return super().restore(domain, state)

    return disc(Within)


class Refusing(Unranged):
    def _restart(self, key: int, wider: Range, loss: Any, curvature: float) -> None:
        if self.restarts:
            raise LossRangeError("that is enough")
        super()._restart(key, wider, loss, curvature)


class Tripling(Unranged):
    def _containing(self, answer: Any) -> Range:
        low, high = super()._containing(answer)
        return (low, high) if self.rounds == 0 else (low, low + 1.5 * (high - low))


class Generous(Unranged):
    """Begins with a range of its own choice, however small the losses are."""

    def _containing(self, answer: Any) -> Range:
        return (-1e6, 1e6) if self.rounds == 0 else super()._containing(answer)


class Clamped(Unranged):
    """Takes a loss outside for the nearest one inside."""

    def tell(self, query: Any, loss: Any, curvature: float = 0.0) -> None:
        low, high = self.units.loss_range
        inside = min(max(loss, low), high) if self.rounds else loss
        super().tell(query, inside, curvature)


class Nervous(Unranged):
    """Starts anew at every loss."""

    def _taught(self, key: int) -> bool:
        return False

    def _containing(self, answer: Any) -> Range:
        low, high = super()._containing(answer)
        return low, high + 1e-9 * (high - low)


class Uncounted(Unranged):
    def _closed(self, old: Learner, rounds: int, idle: bool) -> Past:
        return replace(super()._closed(old, rounds, idle), restarts=0)


class LosesARound(Unranged):
    def _closed(self, old: Learner, rounds: int, idle: bool) -> Past:
        past = super()._closed(old, rounds, idle)
        return replace(past, rounds=max(past.rounds - 1, 1))


class Clinging(Unranged):
    """Keeps in a new range what was learnt in other units."""

    def _successor(self, loss_range: Range) -> Learner:
        fresh = super()._successor(loss_range)
        fresh._set_numbers(self._present._numbers())
        return fresh


class Repeating(Unranged):
    """Draws the same directions after every restart."""

    def _successor(self, loss_range: Range) -> Learner:
        fresh = super()._successor(loss_range)
        fresh._noise.restore(disc()(0)._noise.state())
        return fresh


class Forgetful(Unranged):
    def _restart(self, key: int, wider: Range, loss: Any, curvature: float) -> None:
        super()._restart(key, wider, loss, curvature)
        self._late = {}


class Belated(Unranged):
    """Learns from what was asked in another range."""

    def tell(self, query: Any, loss: Any, curvature: float = 0.0) -> None:
        late = getattr(query, "id", query) in self._late
        super().tell(query, loss, curvature)
        if late:
            self._present._linear = self._present._linear + 0.01  # type: ignore[attr-defined]


class Hasty(Unranged):
    """Counts a round before it looks at the answer."""

    def _containing(self, answer: Any) -> Range:
        self._past = replace(self._past, idle=self._past.idle + 1)
        return super()._containing(answer)


class Credulous(Unranged):
    """Takes what is no loss for the one before."""

    def tell(self, query: Any, loss: Any, curvature: float = 0.0) -> None:
        try:
            super().tell(query, loss, curvature)
        except LossError:
            super().tell(query, 5.0, curvature)


class NothingLate(Unranged):
    @classmethod
    def restored(cls, kind: type[Learner], domain: Domain, state: dict[str, Any]) -> Unranged:
        own = state["unranged"] | {"late": []}
        return super().restored(kind, domain, state | {"unranged": own})


class NoPast(Unranged):
    @classmethod
    def restored(cls, kind: type[Learner], domain: Domain, state: dict[str, Any]) -> Unranged:
        shell = super().restored(kind, domain, state)
        shell._past = replace(shell._past, idle=0)
        return shell


DOUBLED = "check_unknown_range_is_doubled_by_a_loss_outside"
ANEW = "check_restarted_learner_is_that_of_the_wider_range"
OUTLIVE = "check_queries_outlive_a_restart"
RESTORED = "check_unknown_range_continues_exactly_when_restored"

UNRANGED_MUTANTS = [
    LearnerMutant(DOUBLED, "refuses a loss", within(Refusing)),
    LearnerMutant(DOUBLED, "by other factors", within(Tripling)),
    LearnerMutant(DOUBLED, "too wide", within(Generous)),
    LearnerMutant(DOUBLED, "too narrow", within(Clamped)),
    LearnerMutant(DOUBLED, "without need", within(Nervous)),
    LearnerMutant(DOUBLED, "restarts are not counted", within(Uncounted)),
    LearnerMutant(DOUBLED, "rounds are lost", within(LosesARound)),
    LearnerMutant(ANEW, "remembers", within(Clinging)),
    LearnerMutant(ANEW, "draws again", within(Repeating)),
    LearnerMutant(OUTLIVE, "forgets queries", within(Forgetful)),
    LearnerMutant(OUTLIVE, "learns late", within(Belated)),
    LearnerMutant(OUTLIVE, "moves first", within(Hasty)),
    LearnerMutant(OUTLIVE, "accepts anything", within(Credulous)),
    LearnerMutant(RESTORED, "late queries", within(NothingLate)),
    LearnerMutant(RESTORED, "the past", within(NoPast)),
]
