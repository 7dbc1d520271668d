"""The history: one row a round, with a column for each name, as a table and in figures."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import nan
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dikin import extras
from dikin.plotting.curves import marks
from dikin.plotting.history import Line, Panel, UpliftCourse, draw_history
from dikin.plotting.style import save_figure
from dikin.serialization import number_or_nan
from dikin.status import Status
from dikin.tuning.circumstances import LONGEST
from dikin.tuning.space import Space
from dikin.vectors import Array, Table
from dikin.worth.estimate import UpliftEstimate
from dikin.worth.uplift import Uplift

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BEST = "best."
"""Before the name of a column: the best setting after the round."""
NOTHING: Mapping[str, Any] = MappingProxyType({})
"""No covariates, contexts or metrics."""


class Row(NamedTuple):
    """One round of a tuner."""

    round: int
    """Its number, 0 for a trial that was added."""
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
    """The value expected of the control, NaN where no coin decided the round."""
    center: Array | Sequence[float] = ()
    """The best setting after the round."""


COLUMNS_9 = (*Row._fields[:-1], "left_out", "center")
"""The columns of a row in states of version 9."""


def rows_of(state: Mapping[str, Any]) -> Iterator[Row]:
    """Yield the rows in the state of a tuner, whose columns may be those of another version."""
    columns = state["columns"] if "version" in state else COLUMNS_9
    for content in state["history"]:
        known = zip(columns, content, strict=True)
        row = Row(**{name: value for name, value in known if name in Row._fields})
        yield row._replace(
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
    """Return the rounds as a structured array, with the columns that `Tuner.history` describes."""
    columns: dict[str, tuple[Any, Iterable[Any]]] = {"round": (np.int64, [r.round for r in rows])}
    kinds = [np.int64 if axis.whole else np.float64 for axis in space.axes]
    for i, (name, kind) in enumerate(zip(space.columns, kinds, strict=True)):
        columns[name] = kind, [row.point[i] for row in rows]
    own = {"value": np.float64, "expected": np.float64, "paused": np.bool_, "failed": np.bool_}
    columns |= {name: (kind, [getattr(r, name) for r in rows]) for name, kind in own.items()}
    for i, (name, kind) in enumerate(zip(space.columns, kinds, strict=True)):
        columns[BEST + name] = kind, [row.center[i] for row in rows]
    metrics = {name: None for row in rows for name in row.metrics}
    for part, known in (("metrics", metrics), ("context", contexts), ("covariates", covariates)):
        for name, spec in known.items():
            empty: Any = "" if isinstance(spec, list) else nan
            found = [getattr(row, part).get(name, empty) for row in rows]
            kind_of = np.float64 if empty else f"U{LONGEST}"
            columns[f"{part.removesuffix('s')}.{name}"] = kind_of, found
    if compared:
        columns["held_back"] = np.bool_, [row.held_back for row in rows]
        columns["expected_control"] = np.float64, [row.expected_control for row in rows]
    table = np.empty(len(rows), [(name, kind) for name, (kind, _) in columns.items()])
    for name, (_, values) in columns.items():
        table[name] = values
    return table


def figure_of(
    table: Table,
    status: Status,
    space: Space,
    path: str | os.PathLike[str] | None,
    title: str = "",
) -> Figure:
    """Draw a history: the parameters, the value, and the gain over the control."""
    compared = status.uplift is not None and len(table)
    figure = draw_history(
        table,
        panels_of(space),
        maximize=status.maximize,
        title=title,
        uplift=uplift_course(table, status) if compared else None,
    )
    if path is not None:
        save_figure(figure, path)
    return figure


def uplift_course(table: Table, status: Status) -> UpliftCourse:
    """Return the estimate of the gain over the control at some hundred rounds of a history.

    The gain is in per cent of the control's mean value where the last interval is known so.
    """
    low_high = status.value_range
    ends = None if low_high is None else (low_high[0], low_high[1])
    estimate = UpliftEstimate(status.holdback, maximize=status.maximize, value_range=ends)
    table = table[~(table["failed"] | (table["round"] == 0))]
    at, uplifts = set(marks(len(table)).tolist()), list[tuple[int, Uplift]]()
    names = ("round", "value", "held_back", "expected", "expected_control")
    for place, row in enumerate(zip(*(table[name].tolist() for name in names), strict=True)):
        estimate.add(*row[1:])
        if place in at:
            uplifts.append((row[0], estimate.uplift()))
    in_percent = bool(uplifts) and uplifts[-1][1].has_percent
    parts = ("mean", "low", "high")
    end = "_percent" if in_percent else ""
    rows = [(round, *(getattr(uplift, part + end) for part in parts)) for round, uplift in uplifts]
    course = np.array(rows, dtype=[("round", np.int64), *((part, np.float64) for part in parts)])
    known = course[np.isfinite(course["high"] - course["low"])]
    return UpliftCourse(known, " %" if in_percent else "")


def panels_of(space: Space) -> list[Panel]:
    """Return the panel of each parameter over the rounds."""
    panels, starts = [], iter(space.start_values.tolist())
    for place in space.places:
        lines = [
            Line(column, BEST + column, next(starts), label)
            for column, label in zip(place.columns, place.parameter.parts or ("",), strict=True)
        ]
        panels.append(Panel(place.name, tuple(lines), place.parameter.axis))
    return panels


def to_frame(table: Table) -> Any:
    """Return a table as a pandas DataFrame."""
    pandas = extras.require("pandas", "data", "to_frame()")
    return pandas.DataFrame({name: table[name] for name in table.dtype.names or ()})
