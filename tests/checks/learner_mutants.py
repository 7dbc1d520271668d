"""Learners with one thing wrong, each beside the law that must notice."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from dikin.domains.ball import Ball
from dikin.domains.base import Array, Domain
from dikin.learners.adaptive import AdaptiveSmooth
from dikin.learners.barrier_ftrl import SPENT, TOTAL
from dikin.learners.base import Learner
from dikin.open_queries import Query

LearnerFactory = Callable[[int], Learner]


def disc(kind: type[AdaptiveSmooth] = AdaptiveSmooth) -> LearnerFactory:
    """What makes a learner of a kind on a disc."""
    return lambda seed: kind(Ball(2, 2.0, [3.0, -1.0]), 0.5, seed=seed)


@dataclass(frozen=True)
class LearnerMutant:
    """What is wrong with a learner, and the law that this breaks."""

    law: str
    wrong: str
    broken: LearnerFactory


class Moved(AdaptiveSmooth):
    """Plays another point than the one it means."""

    def ask(self) -> Query:
        query = super().ask()
        moved = Query(query.id, self.move(query.point - self.domain.center) + self.domain.center)
        self._open[query.id] = moved, self._open[query.id][1]
        return moved

    def move(self, displacement: Array) -> Array:
        raise NotImplementedError


class HairOutside(Moved):
    """Never a millionth inside: rounds the last digits up where the set ends."""

    def move(self, displacement: Array) -> Array:
        length = float(np.linalg.norm(displacement))
        return displacement * (1 + 1e-12 if length < 1.9 else 2 * (1 + 1e-12) / length)


class SinglePrecision(AdaptiveSmooth):
    def ask(self) -> Query:
        query = super().ask()
        return Query(query.id, query.point.astype(np.float32))


class OneSided(Moved):
    def move(self, displacement: Array) -> Array:
        center = self.center - self.domain.center
        return center + np.abs(displacement - center)


class NewGenerator(AdaptiveSmooth):
    @classmethod
    def restore(cls, domain: Domain, state: dict[str, Any]) -> Self:
        generator = cls(domain, 0.5, seed=1)._noise.state()
        return super().restore(domain, state | {"generator": generator})


class ShortMemory(AdaptiveSmooth):
    """Writes S to twelve digits."""

    def _numbers(self) -> dict[str, Any]:
        numbers = tuple(float(f"{number:.12g}") for number in self._state.numbers)
        return super()._numbers() | {"numbers": numbers}


class Historian(AdaptiveSmooth):
    def state(self) -> dict[str, Any]:
        return super().state() | {"history": list(range(self.rounds))}


class SharedPoint(AdaptiveSmooth):
    """Gives its own linear term away as the centre."""

    @property
    def center(self) -> Array:
        return self._state.linear


class Restless(AdaptiveSmooth):
    """Draws when it is looked at."""

    def state(self) -> dict[str, Any]:
        self._noise.draw()
        return super().state() | {"generator": None}


class Hasty(AdaptiveSmooth):
    """Moves before it looks at the answer."""

    def tell(self, query: Any, loss: Any, curvature: Any = 0.0) -> None:
        total, *rest = self._state.numbers
        self._state = self._state._replace(numbers=[total + 1e-9, *rest])
        super().tell(query, loss, curvature)


class Clipping(AdaptiveSmooth):
    """Takes any loss for the nearest one of its range."""

    def _scaled_answer(self, loss: Any) -> float:
        return super()._scaled_answer(float(np.clip(loss, *self.units.loss_range)))


class FirstComeFirstServed(AdaptiveSmooth):
    """Closes the oldest query, whichever is answered."""

    def tell(self, query: Any, loss: Any, curvature: Any = 0.0) -> None:
        self._learn(self._open.find(query)[1], self._scaled_answer(loss), 0.0)
        self.rounds += 1
        del self._open[min(self._open)]


class SameIds(AdaptiveSmooth):
    def ask(self) -> Query:
        self._open.next_id = self._open.next_id % 4
        return super().ask()


class ForgetsAll(AdaptiveSmooth):
    def forget(self, query: Any) -> None:
        super().forget(query)
        self._open.clear()


class ForgetsNothing(AdaptiveSmooth):
    def forget(self, query: Any) -> None:
        self._open.find(query)


class PresentCentre(AdaptiveSmooth):
    """Accounts for an answer at the centre of today, not at that of its query."""

    def _learn(self, memo: Any, loss: float, curvature: float) -> None:
        before = self._state
        y, was = (self.geometry.vector(each.iterate) for each in (before, memo[0]))
        super()._learn(memo, loss, curvature)
        step = self._state.linear - before.linear
        added = self._state.numbers[TOTAL] - before.numbers[TOTAL]
        self._state.numbers[SPENT] += float((step + added * was) @ (y - was))


class NoBarrier(AdaptiveSmooth):
    """Leaves psi out of the objective that the last centre minimises."""

    def _certificate_part(self) -> Any:
        whole, barrier = super()._certificate_part(), self.geometry.barrier(self._state.iterate)
        account = whole.account
        spent = account.spent + account.stiff * barrier
        return whole._replace(account=account._replace(spent=spent))


ADDS_UP = "check_certificate_adds_up_with_late_answers"

WRONG = {
    "check_points_stay_inside": [HairOutside, SinglePrecision],
    "check_points_surround_the_center": [OneSided],
    "check_restored_learner_continues_exactly": [NewGenerator, ShortMemory],
    "check_state_does_not_grow": [Historian],
    "check_looking_changes_nothing": [SharedPoint, Restless],
    "check_refused_answer_changes_nothing": [Hasty, Clipping],
    "check_queries_are_answered_in_any_order": [SameIds, FirstComeFirstServed],
    "check_forget_closes_that_query_alone": [ForgetsAll, ForgetsNothing],
    ADDS_UP: [PresentCentre, NoBarrier],
}
LEARNER_MUTANTS = [
    LearnerMutant(law, kind.__name__, disc(kind)) for law, kinds in WRONG.items() for kind in kinds
]
LEARNER_MUTANTS += [
    LearnerMutant("check_same_seed_same_play", "ignores its seed", lambda seed: disc()(0))
]
