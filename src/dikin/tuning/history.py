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
from dikin.status import Status
from dikin.tuning.contexts import Contexts, Part, Values
from dikin.tuning.covariates import LONGEST
from dikin.tuning.space import Space
from dikin.vectors import Array, Table
from dikin.worth.clipping import in_range
from dikin.worth.estimate import UpliftEstimate
from dikin.worth.uplift import Uplift

BEST = "best."
"""Before the name of a column: the best guess after the round."""
COVARIATE = "covariate."
"""Before the name of a column: a covariate."""
CONTEXT = "context."
"""Before the name of a column: a context."""
NOTHING: Mapping[str, Any] = MappingProxyType({})
"""Of covariates or contexts."""


class Row(NamedTuple):
    """One round of a tuner."""

    round: int
    point: Array | Sequence[float]
    """What was played, one number for each column of the space."""
    value: float
    expected: float
    held: bool
    center: Array | Sequence[float]
    """The best guess after the round."""
    certificate: float
    covariates: Mapping[str, float | str] = NOTHING
    """By name, as far as they were given."""
    sem: float = nan
    """The standard error of the value, or NaN."""
    context: Mapping[str, float | str] = NOTHING
    """The context that it was asked for."""
    held_back: bool = False
    expected_control: float = nan
    """What was expected of the control, or NaN where no coin decided the round."""


def history_table(
    space: Space,
    rows: Sequence[Row],
    covariates: Mapping[str, Any] = NOTHING,
    *,
    contexts: Mapping[str, Any] = NOTHING,
    sem: bool = False,
    compared: bool = False,
) -> Table:
    """The rounds as a structured array, with the columns that `Tuner.history` describes.

    `covariates` and `contexts` are their kinds by name, as in `Status`; each gets a column. `sem`
    and `compared` say whether there are columns for standard errors and for the comparison.
    """
    names = space.columns
    columns: list[tuple[str, Any]] = [
        ("round", np.int64),
        *zip(names, space.types, strict=True),
        ("value", np.float64),
        ("expected", np.float64),
        ("held", np.bool_),
        *((BEST + name, kind) for name, kind in zip(names, space.types, strict=True)),
        ("certificate", np.float64),
    ]
    places, missing = _empty(contexts), _empty(covariates)
    columns += _types(CONTEXT, places) + _types(COVARIATE, missing)
    columns += [("sem", np.float64)] if sem else []
    columns += [("held_back", np.bool_), ("expected_control", np.float64)] if compared else []
    flat = [
        (row.round, *row.point, row.value, row.expected, row.held, *row.center, row.certificate)
        + tuple(row.context.get(name, empty) for name, empty in places.items())
        + tuple(row.covariates.get(name, empty) for name, empty in missing.items())
        + ((row.sem,) if sem else ())
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
            for column in parameter.columns(name)
        ]
        panels.append(Panel(name, tuple(lines), parameter.axis))
    return panels


def context_panels(
    space: Space, contexts: Contexts | None, center_in: Callable[[Values], Array]
) -> list[ContextPanel]:
    """What is drawn of each parameter over the contexts; nothing without contexts.

    The horizontal axis is the first context that is a number, or else the one of most words; all
    others have a line or a bar for each of their values.
    """
    if contexts is None:
        return []
    across = max(contexts.parts, key=lambda name: _width(contexts.parts[name]))
    along = contexts.parts[across]
    xs: tuple[Any, ...] = along.curve or along.knots
    curves = [
        (label, np.array([center_in(place | {across: x}) for x in xs]))
        for label, place in _others(contexts, across)
    ]
    panels, first = [], 0
    for name, parameter in space.parameters.items():
        columns = parameter.columns(name)
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


def _width(part: Part) -> tuple[bool, int]:
    return bool(part.curve), len(part.labels)


def _others(contexts: Contexts, across: str) -> Iterator[tuple[str, Values]]:
    """The combinations of all contexts but one, at the knots, with a label for each."""
    rest = {name: part for name, part in contexts.parts.items() if name != across}
    for labels, values in zip(
        product(*(part.labels for part in rest.values())),
        product(*(part.knots for part in rest.values())),
        strict=True,
    ):
        named = [
            f"{name} {label}" if part.curve else label
            for (name, part), label in zip(rest.items(), labels, strict=True)
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
