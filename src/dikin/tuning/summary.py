"""What a tuner has to say about itself, for a terminal and for a notebook."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite
from typing import Any

from dikin.plotting.notebook import pairs_table

WIDTH = 16
"""Columns of the terminal that the names take."""


@dataclass(frozen=True)
class Summary:
    """A tuner at one instant; `print` it, or read its parts.

    Parameters
    ----------
    rounds : int
        Values told so far.
    maximize : bool
        Whether large values are good.
    held : bool
        Whether the tuner plays its best setting and learns nothing.
    open_trials : int
        Trials that wait for their value.
    start, best : dict
        Where it began, and the best guess now, by name.
    recent_rounds : int
        Of how many rounds the recent mean is.
    recent_mean : float
        The mean of the last values told; NaN before the first.
    surprise : float
        How far off expectations are of late; NaN before that is known.
    exploring_cost : float
        What exploring may cost in the next round at most, if values are about as smooth as a bowl
        that fills their range, or as declared; NaN before that is known.
    ahead : int
        Rounds for which `outlook` looks ahead.
    outlook : float
        How much worse than the best fixed setting these rounds together are expected to be at most,
        if surprises stay as large as now; NaN before that is known.
    certificate : float
        The bound on the regret so far; NaN where there is none (`Tuner.certificate`).
    clipped : int
        How many of the values were not learnt in full: they were too far off what was expected, or
        outside `loss_range`, and look like faults.
    """

    rounds: int
    maximize: bool
    held: bool
    open_trials: int
    start: dict[str, Any]
    best: dict[str, Any]
    recent_rounds: int
    recent_mean: float
    surprise: float
    exploring_cost: float
    ahead: int
    outlook: float
    certificate: float
    clipped: int

    def lines(self) -> Iterator[tuple[str, str]]:
        """What there is to say, as names and texts.

        Yields
        ------
        tuple of str
            A name, and what is said of it.
        """
        sense = "larger is better" if self.maximize else "smaller is better"
        waiting = f", {self.open_trials} open" if self.open_trials else ""
        yield "rounds", f"{self.rounds:,}{waiting} ({sense})"
        if self.held:
            yield "on hold", "plays the best setting and learns nothing, until it is resumed"
        for name, value in self.best.items():
            yield name, f"{_text(value)}   (began at {_text(self.start[name])})"
        if self.recent_rounds:
            about = (
                f"±{self.surprise:.4g} from what was expected" if isfinite(self.surprise) else ""
            )
            yield f"last {self.recent_rounds}", f"mean {self.recent_mean:.6g}   {about}".rstrip()
        if self.clipped:
            yield (
                "clipped",
                f"{self.clipped:,} of {self.rounds:,} values, too far off to be learnt in full",
            )
        if isfinite(self.exploring_cost):
            yield "exploring", f"costs at most about {self.exploring_cost:.4g} a round now"
        else:
            yield "exploring", "the size of the values is not known yet"
        if isfinite(self.outlook):
            each = self.outlook / self.ahead
            yield (
                f"next {self.ahead:,}",
                f"at most about {each:.4g} a round from the best fixed setting, if surprises stay "
                "as they are",
            )
        if isfinite(self.certificate):
            yield "certificate", f"{self.certificate:.6g} for the rounds so far"

    def __str__(self) -> str:
        return "\n".join(f"{name:<{WIDTH}}{text}" for name, text in self.lines())

    def _repr_html_(self) -> str:
        return pairs_table(self.lines())


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {100 * share:.1f} %" for name, share in value.items())
    return f"{value:,}" if isinstance(value, int) else f"{value:.5g}"
