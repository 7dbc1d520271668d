"""Learners whose range is not known, with one thing wrong, each beside the law that must notice."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

from checks.learner_mutants import LearnerMutant, disc
from dikin.domains.base import Domain
from dikin.errors import LossError, LossRangeError
from dikin.learners.adaptive import AdaptiveSmooth
from dikin.learners.barrier_ftrl import SPENT
from dikin.learners.range_search import STALE, Range, RangeSearch


def searching(search: type[RangeSearch]) -> Any:
    """Learners that search for their range in another way."""

    class Searching(AdaptiveSmooth):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **options)
            if self._search is not None:
                self._search = search()

    Searching.__name__ = AdaptiveSmooth.__name__
    return disc(Searching)


class RefusesTheSecond(RangeSearch):
    def range_around(self, learner: Any, answer: Any) -> Range:
        if self.restarts:
            raise LossRangeError("that is enough")
        return super().range_around(learner, answer)


class Tripling(RangeSearch):
    def range_around(self, learner: Any, answer: Any) -> Range:
        low, high = super().range_around(learner, answer)
        return (low, low + 1.5 * (high - low)) if self.begun else (low, high)


class WideFirst(RangeSearch):
    """Begins with a range of its own choice, however small the losses are."""

    def range_around(self, learner: Any, answer: Any) -> Range:
        return super().range_around(learner, answer) if self.begun else (-1e6, 1e6)


class Clamping(AdaptiveSmooth):
    """Takes a loss outside for the nearest one inside."""

    def tell(self, query: Any, loss: Any, curvature: float = 0.0) -> None:
        low, high = self.units.loss_range
        super().tell(query, min(max(loss, low), high) if self.rounds else loss, curvature)


class RestartsAlways(RangeSearch):
    def has_room(self, learner: Any, memo: Any, answer: Any) -> bool:
        return False

    def range_around(self, learner: Any, answer: Any) -> Range:
        low, high = super().range_around(learner, answer)
        return low, high + 1e-9 * (high - low)


class RestartsUncounted(RangeSearch):
    def begin_anew(self, learner: Any, fresh: Any, search: RangeSearch) -> None:
        super().begin_anew(learner, fresh, replace(search, restarts=0))


class LosesARound(RangeSearch):
    def begin_anew(self, learner: Any, fresh: Any, search: RangeSearch) -> None:
        learner.rounds = max(learner.rounds - 1, 1)
        super().begin_anew(learner, fresh, search)


class KeepsItsNumbers(RangeSearch):
    """Keeps in a new range what was learnt in other units."""

    def successor(self, learner: Any, loss_range: Range) -> Any:
        fresh = super().successor(learner, loss_range)
        fresh._set_numbers(learner._numbers())
        return fresh


class CountsOn(RangeSearch):
    """Goes on with the number of the round in its formulas."""

    def begin_anew(self, learner: Any, fresh: Any, search: RangeSearch) -> None:
        super().begin_anew(learner, fresh, replace(search, rounds=learner._earlier or 1))


class DrawsAgain(RangeSearch):
    """Draws the same directions after every restart."""

    def successor(self, learner: Any, loss_range: Range) -> Any:
        fresh = super().successor(learner, loss_range)
        fresh._noise.restore(disc()(0)._noise.state())
        return fresh


class ForgetsQueries(RangeSearch):
    def begin_anew(self, learner: Any, fresh: Any, search: RangeSearch) -> None:
        newest = max(learner._open)  # the one that is being answered in these laws, or asked last
        for id in [id for id in learner._open if newest - 3 < id < newest]:
            del learner._open[id]
        super().begin_anew(learner, fresh, search)


class LearnsLate(RangeSearch):
    """Learns from what was asked in another range."""

    def learn(self, learner: Any, memo: Any, answer: Any, curvature: float) -> None:
        super().learn(learner, memo, answer, curvature)
        if memo is STALE:
            learner._state = learner._state._replace(linear=learner._state.linear + 0.01)


class CountsFirst(RangeSearch):
    """Counts a round before it looks at the answer."""

    def range_around(self, learner: Any, answer: Any) -> Range:
        learner._search = replace(self, rounds=self.rounds + 1)
        return super().range_around(learner, answer)


class AcceptsAnything(AdaptiveSmooth):
    """Takes what is no loss for the one before."""

    def tell(self, query: Any, loss: Any, curvature: float = 0.0) -> None:
        try:
            super().tell(query, loss, curvature)
        except LossError:
            super().tell(query, 5.0, curvature)


class RestoresNoStale(AdaptiveSmooth):
    @classmethod
    def restore(cls, domain: Domain, state: dict[str, Any]) -> Self:
        return super().restore(
            domain, state | {"open": [each for each in state["open"] if len(each) > 2]}
        )


class RestoresNoIdleRounds(AdaptiveSmooth):
    @classmethod
    def restore(cls, domain: Domain, state: dict[str, Any]) -> Self:
        learner = super().restore(domain, state)
        if learner._search is not None:
            learner._search = replace(learner._search, idle=0)
        return learner


class CertifiesEarly(AdaptiveSmooth):
    @property
    def certificate(self) -> float:
        return super().certificate if self.rounds else 0.0


class CertifiesThePresent(AdaptiveSmooth):
    """Has a bound for the present range alone, and takes it for one of the game."""

    def _certificate_part(self) -> None:
        return None

    @property
    def certificate(self) -> float:
        return self._state.numbers[SPENT] if self.rounds else super().certificate


DOUBLED = "check_unknown_range_is_doubled_by_a_loss_outside"
ANEW = "check_restarted_learner_is_that_of_the_wider_range"
OPEN = "check_queries_stay_open_after_a_restart"
RESTORED = "check_unknown_range_continues_exactly_when_restored"
COVERS = "check_certificate_of_unknown_range_covers_every_range"

UNKNOWN_RANGE_MUTANTS = [
    LearnerMutant(DOUBLED, "refuses a loss", searching(RefusesTheSecond)),
    LearnerMutant(DOUBLED, "by other factors", searching(Tripling)),
    LearnerMutant(DOUBLED, "too wide", searching(WideFirst)),
    LearnerMutant(DOUBLED, "too narrow", disc(Clamping)),
    LearnerMutant(DOUBLED, "without need", searching(RestartsAlways)),
    LearnerMutant(DOUBLED, "restarts are not counted", searching(RestartsUncounted)),
    LearnerMutant(DOUBLED, "rounds are lost", searching(LosesARound)),
    LearnerMutant(ANEW, "remembers", searching(KeepsItsNumbers)),
    LearnerMutant(ANEW, "counts on", searching(CountsOn)),
    LearnerMutant(ANEW, "draws again", searching(DrawsAgain)),
    LearnerMutant(OPEN, "forgets queries", searching(ForgetsQueries)),
    LearnerMutant(OPEN, "learns late", searching(LearnsLate)),
    LearnerMutant(OPEN, "moves first", searching(CountsFirst)),
    LearnerMutant(OPEN, "accepts anything", disc(AcceptsAnything)),
    LearnerMutant(RESTORED, "stale queries", disc(RestoresNoStale)),
    LearnerMutant(RESTORED, "idle rounds", disc(RestoresNoIdleRounds)),
    LearnerMutant(COVERS, "before the first loss", disc(CertifiesEarly)),
    LearnerMutant(COVERS, "the present range alone", disc(CertifiesThePresent)),
]
