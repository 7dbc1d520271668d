"""Values that cannot be right: a pipeline that is broken, noticed with a few numbers.

Four faults: values stop coming; they are all the same; they jump by orders of magnitude; answers of
one arm get lost. The last is tested at any time: with n of N answers held back, the likelihood of n
for a share drawn from a Beta distribution, over that for the share of the coin, is a martingale. By
Ville's inequality it exceeds 1/alpha at some time with a probability of alpha at most if no answers
get lost (Lindon and Malek, NeurIPS 2022).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from math import copysign, exp, lgamma, log, log1p
from typing import Any, Self

from dikin.errors import StateError, shown
from dikin.serialization import LARGEST_COUNT
from dikin.worth.states import refuse_altered

LEAST_SILENCE, TIMES_SILENCE = 100, 10
"""Trials without a value, and how many times the longest such stretch before."""
LEAST_SAME, SAME_ALPHA = 100, 1e-6
"""Equal values in a row, and how unlikely such a stretch must be."""
ORDERS, LEAST_JUMP, LEAST_KNOWN = 30.0, 5, 30
"""The factor of a jump; the values in a row; the values that must be known before."""
STEP = 0.05
"""By which factor, about, the typical size follows with each value."""
LOST_ALPHA, PRIOR = 1e-4, 100.0
"""The chance of a false alarm about lost answers, ever; the weight of the Beta distribution."""


@dataclass(slots=True)
class PipelineWatch:
    """Notice that values stop coming, are all the same, jump, or get lost in one arm.

    Each trial is reported to `asked`, each answer to `told`; `notices` gives a sentence for each
    fault that is seen now. A fault that is over is not mentioned any more.

    Parameters
    ----------
    holdback : float, default 0.0
        The probability of the coin that holds a round back; 0 if there is none.
    silent, longest_silence : int, default 0
        Trials since the last value, and the most of them so far.
    values, repeats : int, default 0
        The values so far; how many of them were equal to the one before.
    same, longest_same : int, default 0
        How many the last ones are that are equal, and the most of them before.
    last : float, default 0.0
        The last value.
    size : float, default 0.0
        About the median of the absolute values that are not zero.
    jumps, longest_jumps : int, default 0
        How many of the last values in a row are of another order of magnitude; the most of them
        that were too few for a notice.
    tuned, held_back : int, default 0
        The answers of rounds that a coin decided, in either arm.

    Examples
    --------
    >>> watch = PipelineWatch()
    >>> for id in range(200):
    ...     watch.asked()
    ...     watch.told(12.0 + id % 5 if id < 80 else 0.0)
    >>> for notice in watch.notices():
    ...     print(notice)
    The last 120 values were all 0: is something broken between the system and the tuner?
    """

    holdback: float = 0.0
    silent: int = 0
    longest_silence: int = 0
    values: int = 0
    repeats: int = 0
    same: int = 0
    longest_same: int = 0
    last: float = 0.0
    size: float = 0.0
    jumps: int = 0
    longest_jumps: int = 0
    tuned: int = 0
    held_back: int = 0

    # --- what happens --------------------------------------------------------------------------

    def asked(self) -> None:
        """Count a trial."""
        self.silent += 1

    def told(self, value: float, held_back: bool | None = None) -> None:
        """Look at a value.

        Parameters
        ----------
        value : float
            What was told, a finite number.
        held_back : bool, optional
            Which arm the coin chose; None where no coin decided the round.
        """
        self.longest_silence = max(self.longest_silence, self.silent)
        self.silent = 0
        self._look_at_size(abs(value))
        equal = self.values > 0 and value == self.last
        self.values += 1
        if not equal:
            self.longest_same, self.same = max(self.longest_same, self.same), 0
        self.same += 1
        self.repeats += equal
        self.last = value
        if held_back is not None:
            self.held_back += held_back
            self.tuned += not held_back

    def _look_at_size(self, size: float) -> None:
        """Compare with the typical size, which then follows; zeros have no order of magnitude."""
        if size == 0.0:
            return
        if self.size == 0.0:
            self.size = size
        is_known = self.values >= LEAST_KNOWN
        if is_known and not self.size / ORDERS <= size <= self.size * ORDERS:
            self.jumps += 1
        else:
            if not self._jumped:
                self.longest_jumps = max(self.longest_jumps, self.jumps)
            self.jumps = 0
        self.size *= exp(copysign(STEP, size - self.size))

    # --- what is seen --------------------------------------------------------------------------

    def notices(self) -> Iterator[str]:
        """What somebody should look at, if there is anything.

        Yields
        ------
        str
            A sentence for each fault.
        """
        if self._is_silent:
            before = "none has ever come"
            if self.values:
                before = f"before, one came at least every {self.longest_silence:,}"
            yield (
                f"No value has come for the last {self.silent:,} trials ({before}): are values "
                "still told?"
            )
        if self._is_stuck:
            yield (
                f"The last {self.same:,} values were all {self.last:.6g}: is something broken "
                "between the system and the tuner?"
            )
        if self._jumped:
            yield (
                f"The last {self.jumps:,} values are of another order of magnitude, such as "
                f"{self.last:.3g} where {self.size:.3g} was usual: did their unit change?"
            )
        if self._lost > -log(LOST_ALPHA):
            answers = self.tuned + self.held_back
            yield (
                f"Of {answers:,} answers {self.held_back:,} came from rounds that were held back, "
                f"where about {self.holdback * answers:,.0f} are expected: answers of one arm get "
                "lost or come late, and the uplift cannot be trusted."
            )

    @property
    def _is_silent(self) -> bool:
        return self.silent >= max(LEAST_SILENCE, TIMES_SILENCE * self.longest_silence)

    @property
    def _is_stuck(self) -> bool:
        if self.same < max(LEAST_SAME, 2 * self.longest_same):
            return False
        before = self.values - self.same
        if before == 0:
            return True
        chance = (self.repeats - (self.same - 1) + 1.0) / (before + 2.0)
        return self.same * log(chance) < log(SAME_ALPHA)

    @property
    def _jumped(self) -> bool:
        return self.jumps >= max(LEAST_JUMP, 2 * self.longest_jumps)

    @property
    def _lost(self) -> float:
        """The logarithm of the martingale of the counts."""
        if self.holdback == 0.0:
            return 0.0
        a, b = PRIOR * self.holdback, PRIOR * (1.0 - self.holdback)
        drawn = _log_beta(a + self.held_back, b + self.tuned) - _log_beta(a, b)
        given = self.held_back * log(self.holdback) + self.tuned * log1p(-self.holdback)
        return drawn - given

    # --- state ---------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Everything that the future depends on, as plain JSON values."""
        return asdict(self)

    @classmethod
    def restore(cls, state: dict[str, Any]) -> Self:
        """A watch that continues exactly as the one that gave the state would have.

        Parameters
        ----------
        state : dict
            What `state` gave.

        Returns
        -------
        PipelineWatch
            With the same future.

        Raises
        ------
        StateError
            If the state was altered.
        """
        if not isinstance(state, dict):
            raise StateError("the state of a pipeline watch must be a dictionary")
        refuse_altered(state, asdict(cls()), "a pipeline watch")
        watch = cls(**state)
        counts = [state[field.name] for field in fields(cls) if field.type == "int"]
        if not (
            (watch.holdback == 0.0 or 1e-300 < watch.holdback < 1.0)
            and all(isinstance(count, int) and 0 <= count <= LARGEST_COUNT for count in counts)
            and watch.same <= watch.values
            and watch.same <= watch.repeats + 1
        ):
            raise StateError(f"the counts of a pipeline watch cannot be {shown(state)}")
        return watch


def _log_beta(a: float, b: float) -> float:
    return lgamma(a) + lgamma(b) - lgamma(a + b)
