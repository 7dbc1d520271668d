"""The status of a tuner or study, for the terminal, notebooks, JSON and metrics."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import isfinite, nan
from typing import Annotated, Any, Self, get_origin, get_type_hints

import numpy as np

from dikin.plotting.notebook import pairs_table
from dikin.serialization import number_or_nan, plain
from dikin.vectors import Array
from dikin.worth.uplift import Uplift

WIDTH = 16
"""Columns of the terminal that the labels take."""


@dataclass(frozen=True)
class OpenQueries:
    """Trials that wait for an answer."""

    count: int = 0
    first: int | None = None
    """The id of the one that has waited longest."""
    oldest_seconds: float = nan
    """Its age. NaN outside a study, where times are not recorded."""


class Record:
    """A record that is printed as pairs of a label and its text."""

    def lines(self) -> Iterable[tuple[str, str]]:
        """Return the record as pairs of a label and its text."""
        raise NotImplementedError

    def to_json(self) -> dict[str, Any]:
        """Return the record as plain JSON values, with None for NaN and the infinite."""
        return {name: plain(part) for name, part in vars(self).items()}

    def __str__(self) -> str:
        return text_of(self.lines())

    def _repr_html_(self) -> str:
        return pairs_table(self.lines())


@dataclass(frozen=True, kw_only=True)
class Status(Record):
    """The status of a tuner or study at one instant. `print` it, or read its parts.

    Entries that do not apply are None, and unknown numbers are NaN.
    """

    name: Annotated[str | None, "The name of the study."] = None
    service: Annotated[str | None, "The address of the service that keeps the study."] = None
    space: Annotated[dict[str, Any], "The parameters and constraints."]
    columns: Annotated[tuple[str, ...], "A name for each number of a point."]
    ranges: Annotated[list[list[float]], "The bounds of each column."]
    log: Annotated[list[bool], "Which columns have a logarithmic scale."]
    labels: Annotated[
        list[list[str]], "The names of the numbers 0, 1, ... of a column. Empty for most."
    ]
    maximize: Annotated[bool, "Whether large values are good."]
    value_range: Annotated[
        list[float] | None, "The least and the largest possible value, if they were declared."
    ] = None
    limits: Annotated[list[str] | None, "The limits on metrics, as they were declared."] = None
    paused: Annotated[bool, "Whether the tuner is paused: trials are at its best setting."] = False
    rounds: Annotated[int, "Number of rounds answered so far."]
    asked: Annotated[int, "Number of trials asked so far."] = 0
    open: Annotated[OpenQueries, "Trials that wait for an answer."] = OpenQueries()
    last_told_seconds: Annotated[float, "Seconds since the last answer."] = nan
    first_round: Annotated[int, "The first round whose history is kept."] = 1
    start: Annotated[dict[str, Any], "The setting that the tuner began with, by name."]
    best: Annotated[dict[str, Any], "The best guess now, by name."]
    center: Annotated[Array, "The best guess now as numbers, one for each of the columns."]
    recent_rounds: Annotated[int, "The number of rounds in `recent_mean`."] = 0
    recent_mean: Annotated[
        float, "The mean of the last values, without failures and rounds held back."
    ] = nan
    best_value: Annotated[
        list[float] | None,
        "The expected value of the best setting, and the ends of its 95 % interval.",
    ] = None
    certificate: Annotated[
        float,
        "The bound on the expected regret of all rounds so far. Not known where no constant was "
        "declared, and with whole numbers, choices and limits.",
    ] = nan
    contexts: Annotated[
        dict[str, Any] | None, "The contexts by name: words, a cycle, or a range."
    ] = None
    by_context: Annotated[
        dict[str, dict[str, Any]] | None,
        "The best guess in each context, at its knots, of the first 16 of them.",
    ] = None
    covariates: Annotated[
        dict[str, Any] | None,
        "The covariates by name: null for a number, words for a category, or a cycle.",
    ] = None
    left_out: Annotated[
        int, "Number of values that were left out or bounded, because they look like faults."
    ] = 0
    failed: Annotated[int, "Number of trials that failed, of the last 10,000."] = 0
    added: Annotated[int, "Number of trials that were added, which the tuner did not ask for."] = 0
    holdback: Annotated[float, "The share of rounds at the control, 0 without a comparison."] = 0.0
    control: Annotated[
        dict[str, Any] | None, "The setting that tuning is compared with, by name."
    ] = None
    uplift: Annotated[
        Uplift | None,
        "Gain of a tuned round over the control, with an interval that may be read at any time.",
    ] = None
    guard: Annotated[
        float | None, "The share of the control's value by which tuned rounds may be worse."
    ] = None
    guard_reason: Annotated[
        str | None, "Why the guard holds the tuner at the control, if it does."
    ] = None
    warnings: Annotated[tuple[str, ...], "Conditions that need attention."] = ()

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> Self:
        """Return the record that `to_json` wrote. Other keys are ignored."""
        return cls(**{name: _read(kind, content[name]) for name, kind in KINDS.items()})

    def lines(self) -> Iterator[tuple[str, str]]:
        """Yield the status as pairs of a label and its text."""
        if self.service is not None:
            yield "service", self.service
        if self.guard_reason is not None:
            yield "guard holds", self.guard_reason
        if self.uplift is not None:
            arms = f"{self.uplift.tuned_rounds:,} tuned, {self.uplift.held_back_rounds:,} held back"
            yield "uplift", str(self.uplift)
            yield "compared", f"{arms} at {setting_text(self.control or {})}"
        sense = "larger is better" if self.maximize else "smaller is better"
        waiting = f", {self.open.count} open" if self.open.count else ""
        yield "rounds", f"{self.rounds:,}{waiting} ({sense})"
        if self.guard_reason is None and self.paused:
            yield "paused", "trials are at the best setting, and nothing is learnt until resume"
        mean = " in the mean of contexts" if self.contexts else ""
        for name, value in self.best.items():
            yield name, f"{value_text(value)}{mean}   (began at {value_text(self.start[name])})"
        if self.best_value is not None:
            middle, low, high = self.best_value
            yield "expected value", f"{middle:.5g} (95 %: {low:.5g} to {high:.5g})"
        for label, setting in (self.by_context or {}).items():
            yield label, setting_text(setting)
        if self.recent_rounds:
            yield f"last {self.recent_rounds}", f"mean {self.recent_mean:.6g}"
        for label, count in (("added", self.added), ("failed", self.failed)):
            if count:
                yield label, f"{count:,} trials"
        if self.left_out:
            yield "left out", f"{self.left_out:,} of {self.rounds:,} values look like faults"
        for warning in self.warnings:
            yield "warning", warning
        if isfinite(self.certificate):
            yield "certificate", f"{self.certificate:.6g} for the rounds so far"
        if self.name is not None:
            age = f", the oldest for {self.open.oldest_seconds:,.0f} s (dikin study open)"
            yield "open trials", f"{self.open.count:,}{age}" if self.open.count else "none"


KINDS = get_type_hints(Status)
MEANINGS: dict[str, str] = {
    name: part.__metadata__[0] for name, part in get_type_hints(Status, include_extras=True).items()
}
"""The meaning of each part, for `help`, the OpenAPI file and the metrics."""
_listed = "".join(f"    {name}\n        {meaning}\n" for name, meaning in MEANINGS.items())
Status.__doc__ = f"{Status.__doc__}\n    Parameters\n    ----------\n{_listed}    "


def _read(kind: Any, value: Any) -> Any:
    """Return the argument of `plain`, for a part of this type."""
    if kind is float:
        return number_or_nan(value)
    if kind is OpenQueries:
        return OpenQueries(**value | {"oldest_seconds": number_or_nan(value["oldest_seconds"])})
    if kind == Array:
        return np.array(value)
    if kind == Uplift | None and value is not None:
        return Uplift.from_json(value)
    return tuple(value) if get_origin(kind) is tuple else value


def text_of(lines: Iterable[tuple[str, str]]) -> str:
    """Return (label, text) pairs, one a line, for a terminal."""
    return "\n".join(f"{label + ' ':<{WIDTH}}{text}" for label, text in lines)


def setting_text(setting: dict[str, Any]) -> str:
    """Return a setting by name, in a line."""
    return ", ".join(f"{name} {value_text(value)}" for name, value in setting.items())


def value_text(value: Any) -> str:
    """Return the value of a parameter for people: a few digits, shares in percent."""
    if isinstance(value, dict):
        return ", ".join(f"{name} {100 * share:.1f} %" for name, share in value.items())
    if isinstance(value, float):
        return f"{value:.5g}"
    return f"{value:,}" if isinstance(value, int) else str(value)
