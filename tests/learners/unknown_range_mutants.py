"""Learners whose range is not known, with one thing wrong, each beside the law that must notice."""

from typing import Any, Self

from checks.learner_mutants import LearnerMutant, disc
from dikin.domains.base import Domain
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


class Tripling(RangeSearch):
    def range_around(self, learner: Any, answer: Any) -> Range:
        low, high = super().range_around(learner, answer)
        return (low, low + 1.5 * (high - low)) if self.begun else (low, high)


class KeepsItsNumbers(RangeSearch):
    """Keeps in a new range what was learnt in other units."""

    def successor(self, learner: Any, loss_range: Range) -> Any:
        fresh = super().successor(learner, loss_range)
        fresh._set_numbers(learner._numbers())
        return fresh


class LearnsLate(RangeSearch):
    """Learns from what was asked in another range."""

    def learn(self, learner: Any, memo: Any, answer: Any, curvature: float) -> None:
        super().learn(learner, memo, answer, curvature)
        if memo is STALE:
            learner._state = learner._state._replace(linear=learner._state.linear + 0.01)


class RestoresNoStale(AdaptiveSmooth):
    @classmethod
    def restore(cls, domain: Domain, state: dict[str, Any]) -> Self:
        return super().restore(
            domain, state | {"open": [each for each in state["open"] if len(each) > 2]}
        )


class CertifiesThePresent(AdaptiveSmooth):
    """Has a bound for the present range alone, and takes it for one of the game."""

    def _certificate_part(self) -> None:
        return None

    @property
    def certificate(self) -> float:
        return self._state.numbers[SPENT] if self.rounds else super().certificate


WRONG: dict[str, type] = {
    "check_unknown_range_is_doubled_by_a_loss_outside": Tripling,
    "check_restarted_learner_is_that_of_the_wider_range": KeepsItsNumbers,
    "check_queries_stay_open_after_a_restart": LearnsLate,
    "check_unknown_range_continues_exactly_when_restored": RestoresNoStale,
    "check_certificate_of_unknown_range_covers_every_range": CertifiesThePresent,
}
UNKNOWN_RANGE_MUTANTS = [
    LearnerMutant(
        law, kind.__name__, (disc if issubclass(kind, AdaptiveSmooth) else searching)(kind)
    )
    for law, kind in WRONG.items()
]
