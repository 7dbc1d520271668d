"""Estimate the uplift while a tuner runs, with an interval for any time, and stop harm.

The estimate of a round's gain is augmented inverse probability weighting, which is unbiased however
bad the guesses are (docs/mathematics.md, 14).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import ceil, copysign, exp, inf, isfinite, isnan, nan, sqrt
from typing import Any

from dikin.errors import StateError
from dikin.serialization import count_of, finite_or_none, refuse_other_form
from dikin.worth.holdback import guard_share, lost_answers
from dikin.worth.power import rounds_to_see
from dikin.worth.sums import ANSWERS, FEWEST, Sums
from dikin.worth.uplift import Uplift

ALPHA = 0.05
"""The probability that the truth ever leaves the interval."""
WINDOW = 50
"""Control answers that are expected in a window of recent rounds."""
MEMORY = 50.0
"""Answers of an arm that its guess remembers."""
RARE = 5
"""Rare values of an arm that have come before they are clipped no more."""
QUANTILE, TIMES, STEP = 0.98, 3.0, 0.5
"""The level of both arms is three times the 98 % quantile of the residuals."""
ROUNDS = 600
"""Rounds without a declared range before an interval is printed."""


def next_level(level: float, size: float) -> float:
    """Return the level of both arms after a residual of a size: infinite before one is not 0."""
    if size == 0.0:
        return level
    if level == inf:
        return TIMES * size
    return level * exp(STEP * (QUANTILE if TIMES * size > level else QUANTILE - 1.0))


def in_range(value: float, ends: tuple[float, float]) -> float:
    """Return a value as it counts: outside the declared range as its end, NaN as NaN."""
    return value if isnan(value) else min(max(value, ends[0]), ends[1])


@dataclass(slots=True)
class Arm:
    """The guess of an arm's next value, and how far from it a value counts.

    There are two guesses: the expected value plus the mean of its errors, and the mean value of
    the arm. They are averaged with the inverse of their mean squared errors
    (Bates and Granger, Operational Research Quarterly 1969), close to the better one of them.
    """

    answers: int = 0
    offset: float = 0.0
    mean: float = 0.0
    offset_error: float = 0.0
    mean_error: float = 0.0
    """The mean squared errors of these two."""
    total: float = 0.0
    squares: float = 0.0
    """The sums of the values and of the squared residuals, not clipped."""

    def guess(self, expected: float) -> float:
        """Return the guess of the arm's value in a round."""
        moved, total = expected + self.offset, self.offset_error + self.mean_error
        if not total > 0.0:
            return moved
        return moved + (self.mean - moved) * (self.offset_error / total)

    def level(self, common: float) -> float:
        """Return how far from its guess a value counts, at least the `common` level of both arms.

        Rare values of the arm's own hold the level up: a value counts in full as soon as five as
        large have come, whatever the share of rounds in which they come.
        """
        return inf if self.answers < FEWEST else max(common, sqrt(self.squares / RARE))

    def learn(self, value: float, expected: float, residual: float, beyond: float) -> None:
        """Take in an answer, the distance from its guess, and how much of that was clipped."""
        off, away = value - beyond - expected - self.offset, value - beyond - self.mean
        if self.answers > 0:  # at first neither knows anything
            step = 1.0 / min(self.answers, MEMORY)
            self.offset_error += step * (off * off - self.offset_error)
            self.mean_error += step * (away * away - self.mean_error)
        self.answers += 1
        step = 1.0 / min(self.answers, MEMORY)
        self.offset += step * off
        self.mean += step * away
        self.total += value
        self.squares += residual * residual


class UpliftEstimate:
    """Estimate the gain of tuned rounds over the control, round by round, and guard against harm.

    Each round that a coin decided is added once its value has come, or counted as a miss.
    `holdback` is the probability of the coin and `value_range` the least and the largest possible
    value, with which nothing is clipped. `guard` is the share of the control's mean value by which
    tuned rounds may be worse. `reason` says why the guard holds, and is None while it does not.
    """

    def __init__(
        self,
        holdback: float,
        *,
        maximize: bool = False,
        value_range: tuple[float, float] | None = None,
        guard: float | None = None,
    ) -> None:
        self.holdback, self.maximize, self.value_range = holdback, maximize, value_range
        self.limit = None if guard is None else guard_share(guard)
        self._level = inf
        self._arms = Arm(), Arm()
        self._all = Sums()
        self._missing = [0, 0]
        """Rounds without a value, tuned and held back."""
        self._lost: str | None = None
        self.resume()

    def resume(self) -> None:
        """Let the guard begin again, without the rounds so far."""
        self.reason: str | None = None
        self._guarded = [] if self.limit is None else [Sums(), Sums()]
        """Those of the guard: all rounds since it began, and one or two windows of recent ones."""
        self._first_window = 0
        """The number of the first window. A new one begins every `WINDOW` / holdback rounds."""

    # --- rounds --------------------------------------------------------------------------------

    def add(self, value: float, held_back: bool, expected: float, expected_control: float) -> None:
        """Add a round that a coin decided, if both values were expected before the coin fell."""
        if isnan(expected) or isnan(expected_control):
            return
        arms, both, ends = self._arms, (expected, expected_control), self.value_range
        guesses = arms[0].guess(expected), arms[1].guess(expected_control)
        if ends is not None:
            value = in_range(value, ends)
            guesses = in_range(guesses[0], ends), in_range(guesses[1], ends)
        place = 1 if held_back else 0
        arm = arms[place]
        residual = value - guesses[place]
        level = inf if ends else arm.level(self._level)
        clipped = min(max(residual, -level), level)
        for sums in (self._all, *self._guarded):
            sums.add(clipped, residual - clipped, held_back, guesses, self.holdback)
        self._level = next_level(self._level, abs(residual))
        arm.learn(value, both[place], residual, residual - clipped)
        if self.limit is not None:
            self._watch(self.limit)

    def miss(self, held_back: bool) -> None:
        """Count a round that gets no value."""
        self._missing[held_back] += 1
        self._lost = lost_answers(self.holdback, *self._missing)

    # --- results -------------------------------------------------------------------------------

    def uplift(self) -> Uplift:
        """Return the gain over all rounds, without an interval in case of doubt."""
        return self._uplift(self._all, ALPHA, self._lost or self.doubt())

    def warnings(self) -> dict[str, str]:
        """Return the reasons not to trust the figures, each with a name that stays."""
        found = {}
        if self.reason is not None:
            found["guard"] = f"The guard holds. {self.reason}"
        if (doubt := self.guard_doubt()) is not None:
            found["guard cannot know"] = f"The guard cannot know whether tuning does harm: {doubt}."
        if self._lost is not None:
            found["lost"] = f"Uplift and guard cannot be trusted: {self._lost}."
        return found

    def doubt(self) -> str | None:
        """Return the reason why no interval is printed, or None."""
        known = self._all
        if known.held_back < ANSWERS:
            return f"{known.held_back} of {ANSWERS} answers of the control have come"
        if self.value_range is None and known.rounds < ROUNDS:
            enough = "with a value_range fewer are enough"
            return f"{known.rounds} of {ROUNDS} rounds have come, and {enough}"
        return known.doubt(self.holdback, ALPHA)

    def guard_doubt(self) -> str | None:
        """Return the reason why the guard cannot know whether tuning does harm, or None."""
        if self.limit is None or self.reason is not None or self._all.rounds < ROUNDS:
            return None
        guarded, q = self._guarded[0], self.holdback
        low, high = guarded.interval(q, ALPHA)
        doubt = guarded.doubt(q, ALPHA)
        if doubt is None and (high - low) * guarded.rounds > abs(guarded.control_values):
            lost = "a loss of half of the control's value could not be seen"
            return f"{lost}. {self._outlook(self.limit)}"
        return doubt

    def _outlook(self, share: float) -> str:
        """Say how many rounds a change by a share of the control takes to be seen."""
        one, other = self._arms
        answers = max(one.answers + other.answers, 1)
        gain = share * abs(one.total + other.total) / answers
        noise = sqrt((one.squares + other.squares) / answers)
        rounds = rounds_to_see(gain, noise, self.holdback) if 0.0 < noise < inf else inf
        after = f"about {float(f'{rounds:.2g}'):,.0f} rounds" if rounds < inf else "no known time"
        return f"A change by {100 * share:g} % shows after {after}"

    def _uplift(self, sums: Sums, alpha: float, note: str | None = None) -> Uplift:
        q, rounds = self.holdback, max(sums.rounds, 1)
        sense = 1.0 if self.maximize else -1.0
        known = sums.held_back > 0 and sums.tuned > 0
        control = sums.control_values / rounds if known else nan
        mean = sense * (sums.tuned_values - sums.control_values) / rounds if known else nan
        low, high = sorted(sense * end for end in sums.interval(q, alpha))
        side = sense * copysign(1.0, sums.control_values)
        low_ratio, high_ratio = sorted(side * (y - 1.0) for y in sums.ratios(q, alpha))
        if note is not None:
            low = low_ratio = -inf
            high = high_ratio = inf
        elif self.reason is None and low <= 0.0 <= high and high - low > 0.2 * abs(control):
            note = self._outlook(0.1 if high - low < abs(control) else 0.5)
        return Uplift(
            mean=mean,
            low=low,
            high=high,
            mean_percent=100.0 * mean / abs(control) if control else nan,
            low_percent=100.0 * low_ratio,
            high_percent=100.0 * high_ratio,
            control_mean=control,
            tuned_rounds=sums.tuned,
            held_back_rounds=sums.held_back,
            confidence=1.0 - ALPHA,
            maximize=self.maximize,
            note=note,
        )

    # --- the guard -----------------------------------------------------------------------------

    def _watch(self, limit: float) -> None:
        """Hold if tuned rounds, all or recent ones, are surely worse than the limit allows.

        The window with number j = 0, 1, ... may fail with a probability of 1/((j + 1)(j + 2)) of
        the whole, so that the intervals of all windows together are valid at any time.
        """
        if self.reason is None:
            for place, sums in enumerate(self._guarded):
                index = self._first_window + place
                alpha = ALPHA / (index * (index + 1.0)) if place else ALPHA
                if self._is_short(sums, alpha, limit):
                    self.reason = _sentence(self._uplift(sums, alpha), limit)
                    break
        if self._guarded[0].rounds % ceil(WINDOW / self.holdback) == 0:
            self._guarded.append(Sums())
            if len(self._guarded) > 3:
                del self._guarded[1]
                self._first_window += 1

    def _is_short(self, sums: Sums, alpha: float, limit: float) -> bool:
        """Return whether v(tuned) - v(control) is surely below -limit |v(control)|.

        With both signs of the control's value: v(tuned) - y v(control) for y = 1 -+ limit.
        """
        if sums.first_spread == 0.0:
            return False
        for weight in (1.0 - limit, 1.0 + limit):
            low, high = sums.interval(self.holdback, alpha, weight)
            if (high if self.maximize else -low) >= 0.0:
                return False
        return sums.doubt(self.holdback, alpha) is None

    # --- state ---------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Return everything that the future depends on, as plain JSON values."""
        return {
            "reason": self.reason,
            "level": finite_or_none(self._level),
            "arms": [asdict(arm) for arm in self._arms],
            "all": asdict(self._all),
            "guarded": [asdict(sums) for sums in self._guarded],
            "first_window": self._first_window,
            "missing": [*self._missing],
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from a state of an estimate with the same arguments."""
        what, sums = "an uplift", asdict(Sums())
        windows = 2 + (len(state["guarded"]) == 3) if self.limit is not None else 0
        form = self.state() | {"reason": None, "level": None, "guarded": [sums] * windows}
        refuse_other_form(state, form, what)
        if len(state["guarded"]) != windows:
            raise StateError(f"{what} has {len(state['guarded'])} windows, not {windows}")
        self.reason = None if state["reason"] is None else str(state["reason"])
        self._level = inf if state["level"] is None else float(state["level"])
        self._arms = Arm(**state["arms"][0]), Arm(**state["arms"][1])
        self._all = Sums(**state["all"])
        self._guarded = [Sums(**each) for each in state["guarded"]]
        self._first_window = int(state["first_window"])
        self._missing = [*map(count_of, state["missing"])]
        self._lost = lost_answers(self.holdback, *self._missing)


def _sentence(found: Uplift, limit: float) -> str:
    least, most = -found.high_percent, -found.low_percent
    size = f", by {least:.3g} % to {most:.3g} %," if isfinite(most - least) else ""
    return (
        f"Over {found.rounds:,} rounds, {found.held_back_rounds:,} of them held back, tuned "
        f"rounds were worse than the control{size} and surely by more than "
        f"{100 * limit:g} %: the control is used until somebody resumes."
    )
