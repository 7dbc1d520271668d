"""A learner as arithmetic on arrays: one text that `ask` and `tell` run and `play` compiles.

A kernel is a NamedTuple of constants that a compiler can take, with a `geometry` and

    ask(state, s, metric, u)      writes the vector to play into u, from noise s, made a direction
    tell(round, asked, loss, curvature, state)      learns from an answer, into the state

`asked` is (the state that the query was asked in, the metric, the result of `ask`), which a saved
state has as plain tuples. That state may share its arrays with the present one: it is read before
the present one is written.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dikin.feedback import Feedback
from dikin.learners.base import Learner
from dikin.players import locked
from dikin.vectors import Array

Proposal = tuple[float, float, Any]
"""Results of `ask`: |u|^2 of the vector to play, 1/|s|, and the result of the set's `explore`."""


class LearnerState(NamedTuple):
    """The state of a learner between rounds."""

    numbers: Any  # sums and rates, whose places have names: a list, in the compiled loop an array
    linear: Array  # the linear term of the update
    iterate: Array  # the centre, as the geometry describes it


Asked = tuple[LearnerState, Array, Proposal]
"""The memo of a query."""


class KernelLearner(Learner):
    """A learner whose rounds are those of a kernel."""

    def _start(self, kernel: Any, state: LearnerState, own_rows: int = 0) -> None:
        """Begin with a kernel, its first state, and rows of a metric that are the learner's own."""
        self._kernel, self._state = kernel, state
        self._metric_form = self.geometry.metric_size + own_rows, self.geometry.size

    @property
    @locked
    def center(self) -> Array:
        """The point that the learner believes in, around which it explores, in the user's units."""
        return self._inside(self._center_vector())

    def _center_vector(self) -> Array:
        return self.geometry.vector(self._state.iterate)

    def _propose(
        self, numbers: list[float] | None = None, s: Array | None = None
    ) -> tuple[Array, float, Asked]:
        """Propose from the present numbers and noise, or from others."""
        state, s = self._state, self._noise.draw() if s is None else s
        if numbers is not None:
            state = state._replace(numbers=numbers)
        u, metric = np.empty(s.size), np.zeros(self._metric_form)
        asked = self._kernel.ask(state, s, metric, u)
        return u, asked[0], (state, metric, asked)

    def _learn(self, memo: Asked, loss: float, curvature: float) -> None:
        numbers, linear, iterate = self._state
        state = LearnerState(numbers.copy(), linear.copy(), iterate.copy())
        self._kernel.tell(self.rounds - self._earlier + 1, memo, loss, curvature, state)
        self._state = state

    # --- the compiled loop ---------------------------------------------------------------------

    def compiled_state(self) -> LearnerState | None:
        """The state for the compiled loop. None if it cannot be compiled or queries are open."""
        answers = self.feedback is Feedback.VALUE  # the compiled loop answers with one loss
        if self._open or not answers or not self._kernel.geometry.compilable:
            return None
        numbers, linear, iterate = self._state
        return LearnerState(np.array(numbers), linear.copy(), iterate.copy())

    def _take_over(self, state: LearnerState, rounds: int) -> None:
        """Continue from a `compiled_state` after so many rounds."""
        self._state = state._replace(numbers=state.numbers.tolist())
        self.rounds += rounds
        self._open.next_id += rounds

    # --- what is saved -------------------------------------------------------------------------

    def _numbers(self) -> dict[str, Any]:
        return self._state._asdict() | {"numbers": tuple(self._state.numbers)}

    def _set_numbers(self, numbers: dict[str, Any]) -> None:
        self._state = LearnerState(**numbers | {"numbers": [*map(float, numbers["numbers"])]})
