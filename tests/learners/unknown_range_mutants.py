"""Learners whose range is not known, with one thing wrong, each beside the law that must notice."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

from checks.learner_mutants import LearnerMutant, disc
from dikin.domains.base import Domain
from dikin.errors import LossError, LossRangeError
from dikin.learners.adaptive import SPENT, AdaptiveSmooth
from dikin.learners.range_search import Range, RangeSearch


class RefusesTheSecond(AdaptiveSmooth):
    def _search_range(self, search: RangeSearch, *answer: Any) -> None:
        if search.restarts:
            raise LossRangeError("that is enough")
        super()._search_range(search, *answer)


class Tripling(AdaptiveSmooth):
    def _range_around(self, search: RangeSearch, answer: Any) -> Range:
        low, high = super()._range_around(search, answer)
        return (low, low + 1.5 * (high - low)) if search.begun else (low, high)


class WideFirst(AdaptiveSmooth):
    """Begins with a range of its own choice, however small the losses are."""

    def _range_around(self, search: RangeSearch, answer: Any) -> Range:
        return super()._range_around(search, answer) if search.begun else (-1e6, 1e6)


class Clamping(AdaptiveSmooth):
    """Takes a loss outside for the nearest one inside."""

    def tell(self, query: Any, loss: Any, curvature: float = 0.0) -> None:
        low, high = self.units.loss_range
        super().tell(query, min(max(loss, low), high) if self.rounds else loss, curvature)


class RestartsAlways(AdaptiveSmooth):
    def _within_range(self, search: RangeSearch, memo: Any, answer: Any) -> bool:
        return False

    def _range_around(self, search: RangeSearch, answer: Any) -> Range:
        low, high = super()._range_around(search, answer)
        return low, high + 1e-9 * (high - low)


class RestartsUncounted(AdaptiveSmooth):
    def _begin_anew(self, fresh: Self, search: RangeSearch, stale: Any) -> None:
        super()._begin_anew(fresh, replace(search, restarts=0), stale)


class LosesARound(AdaptiveSmooth):
    def _begin_anew(self, fresh: Self, search: RangeSearch, stale: Any) -> None:
        super()._begin_anew(fresh, replace(search, rounds=max(search.rounds - 1, 1)), stale)


class KeepsItsNumbers(AdaptiveSmooth):
    """Keeps in a new range what was learnt in other units."""

    def _successor(self, loss_range: Range) -> Self:
        fresh = super()._successor(loss_range)
        fresh._set_numbers(self._numbers())
        return fresh


class CountsOn(AdaptiveSmooth):
    """Goes on with the number of the round in its formulas."""

    def _begin_anew(self, fresh: Self, search: RangeSearch, stale: Any) -> None:
        fresh._rounds_in_range = self._rounds_in_range
        ahead = replace(search, rounds=search.rounds - self._rounds_in_range)
        super()._begin_anew(fresh, ahead, stale)


class DrawsAgain(AdaptiveSmooth):
    """Draws the same directions after every restart."""

    def _successor(self, loss_range: Range) -> Self:
        fresh = super()._successor(loss_range)
        fresh._noise.restore(disc()(0)._noise.state())
        return fresh


class ForgetsQueries(AdaptiveSmooth):
    def _begin_anew(self, fresh: Self, search: RangeSearch, stale: Any) -> None:
        newest = max(stale)  # the one that is being answered in these laws, or asked last
        super()._begin_anew(fresh, search, {key: stale[key] for key in stale if key <= newest - 3})


class LearnsLate(AdaptiveSmooth):
    """Learns from what was asked in another range."""

    def _search_range(self, search: RangeSearch, *answer: Any) -> None:
        super()._search_range(search, *answer)
        self._state = self._state._replace(linear=self._state.linear + 0.01)


class CountsFirst(AdaptiveSmooth):
    """Counts a round before it looks at the answer."""

    def _range_around(self, search: RangeSearch, answer: Any) -> Range:
        self._search = search.with_idle_round()
        return super()._range_around(search, answer)


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
        return super().restore(domain, state | ({"stale": []} if "stale" in state else {}))


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
    LearnerMutant(DOUBLED, "refuses a loss", disc(RefusesTheSecond)),
    LearnerMutant(DOUBLED, "by other factors", disc(Tripling)),
    LearnerMutant(DOUBLED, "too wide", disc(WideFirst)),
    LearnerMutant(DOUBLED, "too narrow", disc(Clamping)),
    LearnerMutant(DOUBLED, "without need", disc(RestartsAlways)),
    LearnerMutant(DOUBLED, "restarts are not counted", disc(RestartsUncounted)),
    LearnerMutant(DOUBLED, "rounds are lost", disc(LosesARound)),
    LearnerMutant(ANEW, "remembers", disc(KeepsItsNumbers)),
    LearnerMutant(ANEW, "counts on", disc(CountsOn)),
    LearnerMutant(ANEW, "draws again", disc(DrawsAgain)),
    LearnerMutant(OPEN, "forgets queries", disc(ForgetsQueries)),
    LearnerMutant(OPEN, "learns late", disc(LearnsLate)),
    LearnerMutant(OPEN, "moves first", disc(CountsFirst)),
    LearnerMutant(OPEN, "accepts anything", disc(AcceptsAnything)),
    LearnerMutant(RESTORED, "stale queries", disc(RestoresNoStale)),
    LearnerMutant(RESTORED, "idle rounds", disc(RestoresNoIdleRounds)),
    LearnerMutant(COVERS, "before the first loss", disc(CertifiesEarly)),
    LearnerMutant(COVERS, "the present range alone", disc(CertifiesThePresent)),
]
