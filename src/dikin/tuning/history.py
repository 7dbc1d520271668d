"""What was played and what came of it: one row a round, with a column for each name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from math import nan
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from dikin import extras
from dikin.plotting.contexts import ContextLine, ContextPanel
from dikin.plotting.curves import marks
from dikin.plotting.history import Line, Panel, UpliftCourse
from dikin.serialization import finite_or_none, number_or_nan
from dikin.status import Status
from dikin.tuning.circumstances import LONGEST, Contexts, Kind, Values
from dikin.tuning.space import Space, columns_of
from dikin.vectors import Array, Table
from dikin.worth.estimate import UpliftEstimate, in_range
from dikin.worth.uplift import Uplift

BEST = "best."
"""Before the name of a column: the best guess after the round."""
COVARIATE = "covariate."
"""Before the name of a column: a covariate."""
METRIC = "metric."
"""Before the name of a column: a metric."""
CONTEXT = "context."
"""Before the name of a column: a context."""
NOTHING: Mapping[str, Any] = MappingProxyType({})
"""Of covariates or contexts."""


class Row(NamedTuple):
    """One round of a tuner."""

    round: int
    """Its number; 0 for a trial that was added."""
    point: Array | Sequence[float]
    """The setting, one number for each column of the space."""
    value: float
    """NaN for a trial that failed."""
    expected: float = nan
    paused: bool = False
    failed: bool = False
    metrics: Mapping[str, float] = NOTHING
    covariates: Mapping[str, float | str] = NOTHING
    context: Mapping[str, float | str] = NOTHING
    held_back: bool = False
    expected_control: float = nan
    """The value expected of the control; NaN where no coin decided the round."""
    left_out: bool = False
    """Whether the value was left out or bounded."""
    center: Array | Sequence[float] = ()
    """The best setting after the round."""

    @property
    def imported(self) -> bool:
        """Whether the tuner did not ask for it."""
        return self.round == 0

    def to_json(self) -> list[Any]:
        """Return the row as plain JSON values."""
        return [
            list(map(float, each)) if isinstance(each, np.ndarray) else
            dict(each) if isinstance(each, Mapping) else
            finite_or_none(each) if isinstance(each, float) else each
            for each in self
        ]  # fmt: skip

    @classmethod
    def from_json(cls, content: Sequence[Any]) -> Row:
        """Return the row that `to_json` wrote."""
        row = cls(*content)
        return row._replace(
            point=np.array(row.point, dtype=float),
            center=np.array(row.center, dtype=float),
            value=number_or_nan(row.value),
            expected=number_or_nan(row.expected),
            expected_control=number_or_nan(row.expected_control),
        )


def history_table(
    space: Space,
    rows: Sequence[Row],
    covariates: Mapping[str, Any] = NOTHING,
    *,
    contexts: Mapping[str, Any] = NOTHING,
    compared: bool = False,
) -> Table:
    """Return the rounds as a structured array, with the columns that `Tuner.history` describes.

    `covariates` and `contexts` are their kinds by name, as in `Status`; each gets a column.
    """
    names = space.columns
    metrics = {name: nan for row in rows for name in row.metrics}
    columns: list[tuple[str, Any]] = [
        ("round", np.int64),
        *zip(names, space.types, strict=True),
        ("value", np.float64),
        ("expected", np.float64),
        ("paused", np.bool_),
        ("failed", np.bool_),
        *((BEST + name, kind) for name, kind in zip(names, space.types, strict=True)),
    ]
    places, missing = _empty(contexts), _empty(covariates)
    columns += _types(METRIC, metrics) + _types(CONTEXT, places) + _types(COVARIATE, missing)
    columns += [("held_back", np.bool_), ("expected_control", np.float64)] if compared else []
    flat = [
        (row.round, *row.point, row.value, row.expected, row.paused, row.failed, *row.center)
        + tuple(row.metrics.get(name, empty) for name, empty in metrics.items())
        + tuple(row.context.get(name, empty) for name, empty in places.items())
        + tuple(row.covariates.get(name, empty) for name, empty in missing.items())
        + ((row.held_back, row.expected_control) if compared else ())
        for row in rows
    ]
    return np.array(flat, dtype=columns)


def _empty(kinds: Mapping[str, Any]) -> dict[str, float | str]:
    """What stands where there is no value: of words an empty text, of numbers NaN."""
    return {name: "" if isinstance(kind, list) else nan for name, kind in kinds.items()}


def _types(before: str, missing: Mapping[str, float | str]) -> list[tuple[str, Any]]:
    return [
        (before + name, f"U{LONGEST}" if empty == "" else np.float64)
        for name, empty in missing.items()
    ]


def uplift_course(table: Table, status: Status) -> UpliftCourse:
    """What was known of the gain over the control as the rounds went by, at some hundred rounds.

    `table` is a history with the columns of the comparison. The gain is in per cent of the
    control's mean value where the last interval is known so.
    """
    low_high = status.value_range
    ends = None if low_high is None else (low_high[0], low_high[1])
    estimate = UpliftEstimate(status.holdback, maximize=status.maximize, value_range=ends)
    table = table[~(table["failed"] | (table["round"] == 0))]
    at, uplifts = set(marks(len(table)).tolist()), list[tuple[int, Uplift]]()
    names = ("round", "value", "held_back", "expected", "expected_control")
    for place, row in enumerate(zip(*(table[name].tolist() for name in names), strict=True)):
        round, value, held_back, *guesses = row
        estimate.add(in_range(value, ends), held_back, *guesses)
        if place in at:
            uplifts.append((round, estimate.uplift()))
    in_percent = bool(uplifts) and uplifts[-1][1].has_percent
    parts = ("mean", "low", "high")
    end = "_percent" if in_percent else ""
    rows = [(round, *(getattr(uplift, part + end) for part in parts)) for round, uplift in uplifts]
    course = np.array(rows, dtype=[("round", np.int64), *((part, np.float64) for part in parts)])
    known = course[np.isfinite(course["high"] - course["low"])]
    return UpliftCourse(known, " %" if in_percent else "")


def panels_of(space: Space) -> list[Panel]:
    """What is drawn of each parameter."""
    panels, starts = [], iter(space.start_values.tolist())
    for name, parameter in space.parameters.items():
        lines = [
            Line(column, BEST + column, next(starts), _part_of(column, name))
            for column in columns_of(name, parameter)
        ]
        panels.append(Panel(name, tuple(lines), parameter.axis))
    return panels


def context_panels(
    space: Space, contexts: Contexts, center_in: Callable[[Values], Array]
) -> list[ContextPanel]:
    """What is drawn of each parameter over the contexts; nothing without contexts.

    The horizontal axis is the first context that is a number, or else the one of most words; all
    others have a line or a bar for each of their values.
    """
    if not contexts.kinds:
        return []
    across = max(contexts.kinds, key=lambda name: _width(contexts.kinds[name]))
    along = contexts.kinds[across]
    xs: tuple[Any, ...] = along.curve or along.places
    curves = [
        (label, np.array([center_in({**place, across: x}) for x in xs]))
        for label, place in _others(contexts, across)
    ]
    panels, first = [], 0
    for name, parameter in space.parameters.items():
        columns = columns_of(name, parameter)
        lines = [
            ContextLine(
                ", ".join(filter(None, (label, _part_of(column, name)))), values[:, first + i]
            )
            for label, values in curves
            for i, column in enumerate(columns)
        ]
        starts = tuple(space.start_values[first : first + len(columns)].tolist()) * len(curves)
        panels.append(ContextPanel(name, across, xs, tuple(lines), starts, parameter.axis))
        first += len(columns)
    return panels


def _width(kind: Kind) -> tuple[bool, int]:
    return bool(kind.curve), len(kind.places)


def _others(contexts: Contexts, across: str) -> Iterator[tuple[str, Values]]:
    """Yield the combinations of all contexts but one, at their places, with a label for each."""
    rest = {name: kind for name, kind in contexts.kinds.items() if name != across}
    for values in product(*(kind.places for kind in rest.values())):
        named = [
            value if isinstance(value, str) else f"{name} {value:.6g}"
            for name, value in zip(rest, values, strict=True)
        ]
        yield ", ".join(named), dict(zip(rest, values, strict=True))


def _part_of(column: str, name: str) -> str:
    """What tells a column from the others of its parameter."""
    return column.removeprefix(name).removeprefix(".")


def to_frame(table: Table) -> Any:
    """A table as a pandas DataFrame; columns of arrays become a column for each entry."""
    pandas = extras.require("pandas", "data", "to_frame()")
    columns: dict[str, Any] = {}
    for name in table.dtype.names or ():
        column = table[name]
        if column.ndim == 1:
            columns[name] = column
            continue
        for place in np.ndindex(column.shape[1:]):
            columns["_".join([name, *map(str, place)])] = column[(slice(None), *place)]
    return pandas.DataFrame(columns)
