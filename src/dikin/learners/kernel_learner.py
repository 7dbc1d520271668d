"""A learner as arithmetic on arrays: one text that `ask` and `tell` run and `play` compiles.

A learner's own file brings its `LearnerKernel` and the state to begin with. Late answers, saving
and the compiled loop are here.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from dikin.errors import CertificateWarning
from dikin.feedback import Feedback
from dikin.kernel import from_values, to_numpy, to_saved
from dikin.learners.base import Learner
from dikin.learners.threads import locked
from dikin.silence import SILENCE
from dikin.vectors import Array

NOT_CONVERGED = (
    "the centre is so close to the boundary that rounding decides where it is: the certificate is "
    "NaN until it is farther inside; the learner itself goes on"
)
EMPTY: Array = np.zeros(0)
Proposal = tuple[float, float, float]
"""Results of `ask`: |u|^2 of the vector to play, tr(H^-1) and 1/|s|."""


class LearnerState(NamedTuple):
    """What a learner carries from round to round."""

    numbers: Any
    """Sums and rates: a list or a `Record`; an array or a NumPy record in the compiled loop."""
    linear: Array
    """The linear term of the update."""
    iterate: Array
    """The centre, as the geometry describes it."""
    scratch: Array = EMPTY
    """Room for vectors of a round; nothing in it is kept."""

    def copied(self) -> LearnerState:
        """A state that can be written into."""
        numbers, linear, iterate, scratch = self
        return LearnerState(numbers.copy(), linear.copy(), iterate.copy(), scratch)


class Memo(NamedTuple):
    """What is remembered of a query until it is answered."""

    state: LearnerState
    """The learner's when it was asked: the present one in the compiled loop, an older one where the
    answer is late."""
    metric: Array
    """H at the direction, as the geometry describes it."""
    asked: Proposal


class LearnerKernel(Protocol):
    """A round of a learner in the paper's units: a NamedTuple that a compiler can take."""

    @property
    def geometry(self) -> Any: ...

    def ask(self, state: LearnerState, s: Array, metric: Array, u: Array) -> Proposal:
        """Write the vector to play into u, from s, which comes as noise and becomes a direction."""
        ...

    def tell(
        self, round: int, memo: Memo, loss: float, curvature: float, state: LearnerState
    ) -> None:
        """Learn from the answer of a round, into the state.

        The memo may share its arrays: what is read of it is read before the state is written.
        """
        ...


@dataclass(slots=True)
class CompiledParts:
    """A learner taken apart for the compiled loop."""

    kernel: LearnerKernel
    state: LearnerState
    metric_size: int


class KernelLearner(Learner):
    """A learner whose rounds are those of a kernel."""

    _kernel: LearnerKernel
    _state: LearnerState
    _metric_size: int

    def _begin(self, kernel: LearnerKernel, state: LearnerState) -> None:
        self._kernel, self._state = kernel, state
        self._metric_size = self.geometry.metric_size

    @property
    @locked
    def center(self) -> Array:
        """The point that the learner believes in, around which it explores, in the user's units."""
        return self._inside(self._center_vector())

    def _center_vector(self) -> Array:
        return self.geometry.vector(self._state.iterate)

    # --- a round -------------------------------------------------------------------------------

    def _propose(self) -> tuple[Array, float, Any]:
        return self._propose_from(self._state, self._noise.draw())

    def _propose_from(self, state: LearnerState, s: Array) -> tuple[Array, float, Memo]:
        size = s.size
        u, metric = np.empty(size), np.zeros((self._metric_size, size))
        asked = self._kernel.ask(state, s, metric, u)
        return u, asked[0], Memo(state, metric, asked)

    def _learn(self, memo: Any, loss: float, curvature: float) -> None:
        state, round = self._state.copied(), self._rounds_in_range + 1
        self._kernel.tell(round, memo, loss, curvature, state)
        if not self._has_converged(state) and self._has_converged(self._state) and not SILENCE.now:
            warnings.warn(NOT_CONVERGED, CertificateWarning, stacklevel=3)
        # Everything that can fail has been done: from here on the learner changes.
        self._state, self._rounds_in_range = state, round

    def _has_converged(self, state: LearnerState) -> bool:
        """Whether a certificate can be computed from a state."""
        return True

    # --- the compiled loop ---------------------------------------------------------------------

    def compiled_parts(self) -> CompiledParts | None:
        answers = self.feedback is Feedback.VALUE  # the compiled loop answers with one loss
        if self._open or not answers or not self._kernel.geometry.compilable:
            return None
        state = self._state.copied()._replace(numbers=to_numpy(self._state.numbers))
        return CompiledParts(self._kernel, state, self._metric_size)

    def take_over(self, parts: CompiledParts, rounds: int) -> None:
        numbers = from_values(self._state.numbers, parts.state.numbers)
        self._state = parts.state._replace(numbers=numbers)
        self._rounds_in_range += rounds
        self._open.next_id += rounds

    # --- what is saved -------------------------------------------------------------------------

    def _numbers(self) -> dict[str, Any]:
        numbers, linear, iterate, _ = self._state
        return {"numbers": to_saved(numbers), "linear": linear, "iterate": iterate}

    def _set_numbers(self, numbers: dict[str, Any]) -> None:
        own = from_values(self._state.numbers, numbers["numbers"])
        vectors = {name: numbers[name] for name in ("linear", "iterate")}
        self._state = self._state._replace(numbers=own, **vectors)

    def _memo_state(self, memo: Any) -> Any:
        return to_saved(memo.state.numbers), memo.state.iterate, memo.metric, memo.asked

    def _memo_from(self, state: Any) -> Any:
        numbers, iterate, metric, asked = state
        own = from_values(self._state.numbers, numbers)
        return Memo(LearnerState(own, self._state.linear, iterate), metric, asked)
