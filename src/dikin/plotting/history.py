"""Figure of the history of a tuner: the settings, the best guess, and the values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dikin.errors import StateError
from dikin.plotting.axes import (
    DPI,
    LARGE,
    NORMAL,
    SMALL,
    Axis,
    Label,
    heading,
    mark_outside,
    number_text,
    plain,
    short,
    show_scale,
    value_text,
    whole_ticks,
    write_labels,
)
from dikin.plotting.curves import band, far_off, limits, marks, rolling, window
from dikin.plotting.style import BLUE, FONTS, GREY, INK, ORANGE, PALETTE, require, styled
from dikin.vectors import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 10.0
MARGINS = 0.075, 0.86
"""Where the panels begin and end, as shares of the width: direct labels stand to their right."""
HEIGHTS = {"uplift": 1.3, "parameter": 1.05, "value": 1.5}
GAP, HEAD, TITLE, FOOT = 0.42, 0.36, 0.36, 0.55
"""Inches between panels, of the words above the first panel, of a title, and below the last."""

MOST_PANELS = 8
"""Parameters that are drawn; a figure of more is too high for a page."""
MOST_PARTS = 6
"""Parts of a Shares that have a colour and a label."""
FEW = 1000
"""Up to so many rounds each is a dot of its own."""
PAUSED = "#f2e6c8"


class Line(NamedTuple):
    """A number over the rounds, by its columns in the table."""

    played: str
    best: str
    """The column of the best guess."""
    start: float
    label: str = ""
    """Its name next to the line, where a panel has several."""


class Panel(NamedTuple):
    """A picture over the rounds: a number, or the parts of a Shares."""

    name: str
    lines: tuple[Line, ...]
    axis: Axis = Axis()


class UpliftCourse(NamedTuple):
    """The gain over the control, with its interval, over the rounds."""

    known: Table
    """With the columns round, mean, low and high, all finite."""
    unit: str
    """Text behind a number: a per-cent sign, or nothing."""


def draw_history(
    table: Table,
    panels: Sequence[Panel],
    *,
    maximize: bool,
    title: str = "",
    uplift: UpliftCourse | None = None,
) -> Figure:
    """Draw the panels and the value over the rounds."""
    if not len(table):
        raise StateError("there is no round to draw: tell a value first")
    if "held_back" in (table.dtype.names or ()):  # the control's rounds would hide the tuned ones
        tuned = table[~table["held_back"] | table["paused"]]
        table = tuned if len(tuned) else table
    drawn = panels[:MOST_PANELS]
    if uplift is not None and not len(uplift.known):
        uplift = None
    with styled():
        kinds = ["parameter"] * len(drawn) + ["uplift"] * (uplift is not None) + ["value"]
        figure, axes = _layout(kinds, HEAD + TITLE * bool(title))
        for panel, place in zip(drawn, axes, strict=False):
            _draw_parameter(place, table, panel)
        if uplift is not None:
            _draw_uplift(axes[-2], uplift)
        _draw_value(axes[-1], table, maximize)
        paused = _shade_paused(axes, table)
        _caption(figure, title, len(panels) - len(drawn), paused)
    return figure


def _layout(kinds: list[str], head: float) -> tuple[Figure, list[Axes]]:
    """Return a figure with a panel for each kind."""
    figures = require("matplotlib.figure")
    heights = [HEIGHTS[kind] for kind in kinds]
    total = head + FOOT + sum(heights) + GAP * len(kinds)
    figure: Figure = figures.Figure(figsize=(WIDTH, total), dpi=DPI, facecolor="white")
    axes: list[Axes] = []
    left, right, top = *MARGINS, total - head
    for height in heights:
        top -= GAP + height
        box = (left, top / total, right - left, height / total)
        axes.append(figure.add_axes(box, sharex=axes[0] if axes else None))
    for place in axes:
        plain(place)
        place.tick_params(labelbottom=place is axes[-1])  # rounds are written once
        place.xaxis.set_major_locator(whole_ticks(8))
        place.xaxis.set_major_formatter("{x:,.0f}")
        # Ticks are made when the figure is drawn, which the user may do in a style of theirs.
        place.tick_params(labelfontfamily=FONTS)
    axes[-1].set_xlabel("round", fontsize=NORMAL, color=GREY, loc="right")
    return figure, axes


def _draw_parameter(axes: Axes, table: Table, panel: Panel) -> None:
    if panel.axis.log:
        axes.set_yscale("log")
    several = len(panel.lines) > 1
    largest = sorted(panel.lines, key=lambda line: -table[line.best][-1])[:MOST_PARTS]
    shown = [line for line in panel.lines if line in largest]
    labels, at = [], marks(len(table))
    style = "steps-post" if panel.axis.whole else "default"
    for colour, line in zip(PALETTE, shown, strict=False):
        if not several or len(shown) <= 3:
            _draw_played(axes, table, line.played, colour)
        x, y = table["round"][at], table[line.best][at]
        axes.plot(x, y, color=colour, linewidth=1.8, drawstyle=style, label=line.best)
        best = float(y[-1])
        grey = colour if several else GREY
        axes.axhline(line.start, color=grey, linewidth=0.9, linestyle=(0, (5, 4)))
        if several:
            text = f"{short(line.label)} {value_text(best, panel.axis)}"
            labels.append(Label(best, text, colour))
        else:
            labels.append(Label(best, f"best {value_text(best, panel.axis)}", colour))
            labels.append(Label(line.start, f"start {value_text(line.start, panel.axis)}", GREY))
    left_out = len(panel.lines) - len(shown)
    heading(axes, panel.name, f"and {left_out} smaller shares" if left_out else "")
    show_scale(axes, panel.axis)
    write_labels(axes, labels)


def _draw_played(axes: Axes, table: Table, column: str, colour: str) -> None:
    """Draw the range outside of pauses, and each round where they are few."""
    x, played, at = table["round"], table[column], marks(len(table))
    where = ~table["paused"][at]
    _fill(axes, x[at], band(played), colour, column, where=where)
    if len(x) <= FEW:
        _dots(axes, x, played, colour)


def _fill(axes: Axes, x: Any, ends: Any, colour: str, label: str, **options: Any) -> None:
    axes.fill_between(x, *ends, color=colour, alpha=0.18, linewidth=0, label=label, **options)


def _dots(axes: Axes, x: Any, y: Any, colour: str) -> None:
    size, alpha = (3.5, 0.45) if len(x) <= 200 else (1.8, 0.3)
    axes.plot(
        x, y, "o", markersize=size, markeredgewidth=0, color=colour, alpha=alpha, rasterized=True
    )


def _draw_value(axes: Axes, table: Table, maximize: bool) -> None:
    notes = ["larger is better" if maximize else "smaller is better"]
    failed = table["failed"]
    if failed.any():
        notes.append(f"\u00d7 {failed.sum():,} failed")
        edge = axes.get_xaxis_transform()
        places = table["round"][failed]
        axes.plot(
            places, np.full(len(places), 0.02), "x", markersize=5, color=ORANGE, transform=edge,
            clip_on=False, label="failed", rasterized=True,
        )  # fmt: skip
    if failed.all():
        heading(axes, "value", " · ".join(notes))
        return
    x, values = table["round"], table["value"]
    at, size = marks(len(x)), min(window(len(x)), len(x))
    if len(x) <= FEW:
        _dots(axes, x, values, GREY)
    else:
        _fill(axes, x[at], band(values), GREY, "value")
    far = far_off(values)
    mean = rolling(np.where(far, np.nan, values), np.mean)
    axes.plot(x[at], mean, color=INK, linewidth=1.8, label="mean value")
    ends = limits(values)
    axes.set_ylim(*ends)
    expected = rolling(table["expected"], np.mean)
    if np.isfinite(expected).any():
        axes.plot(x[at], expected, color=BLUE, linewidth=1.2, label="expected")
        notes.append("blue: expected")
    notes.append(mark_outside(axes, x, values, ends))
    notes.append(f"{far.sum():,} far off, not in the mean" if far.any() else "")
    heading(axes, "value", " · ".join(filter(None, notes)))
    last = mean[np.isfinite(mean)][-1]
    write_labels(axes, [Label(float(last), f"{number_text(last)}\nmean of {size:,}", INK)])


def _draw_uplift(axes: Axes, uplift: UpliftCourse) -> None:
    known = uplift.known
    late = known[len(known) // 4 :]  # zero is within, the first wide intervals are cut
    low, high = min(0.0, float(late["low"].min())), max(0.0, float(late["high"].max()))
    room = 0.06 * ((high - low) or 1.0)
    _fill(axes, known["round"], (known["low"], known["high"]), BLUE, "interval")
    axes.plot(known["round"], known["mean"], color=BLUE, linewidth=1.8, label="uplift")
    axes.axhline(0.0, color=GREY, linewidth=0.9, linestyle=(0, (5, 4)))
    axes.set_ylim(low - room, high + room)
    axes.yaxis.set_major_formatter(lambda tick, _: f"{tick:,g}{uplift.unit}".replace("-", "\u2212"))
    heading(axes, "gain over the control", "band: 95 %, may be read at any time")
    last = float(known["mean"][-1])
    text = f"{last:+.3g}{uplift.unit}".replace("-", "\u2212")
    write_labels(axes, [Label(last, text, BLUE), Label(0.0, "control", GREY)])


def _shade_paused(axes: list[Axes], table: Table) -> bool:
    """Shade the pauses, in which nothing was explored or learnt, and return whether any is seen."""
    at = marks(len(table))
    x, paused = table["round"][at], table["paused"][at]
    for place in axes if paused.any() else ():
        style: dict[str, Any] = {"color": PAUSED, "zorder": 0.4, "linewidth": 0, "step": "post"}
        edge = place.get_xaxis_transform()
        place.fill_between(x, 0, 1, where=paused, transform=edge, label="paused", **style)
    return bool(paused.any())


def _caption(figure: Figure, title: str, left_out: int, paused: bool) -> None:
    height, left = figure.get_figheight(), MARGINS[0]
    note = "line: best guess · band: 5 to 95 % of the rounds · dashed: start"
    note += " · shaded: paused" * paused + f" · not drawn: {left_out} more" * bool(left_out)
    if title:
        style: dict[str, Any] = {"fontsize": LARGE, "fontweight": "bold", "color": INK, "va": "top"}
        figure.text(left, 1 - 0.2 / height, title, parse_math=False, **style)
    below = 0.2 + TITLE * bool(title)
    figure.text(left, 1 - below / height, note, fontsize=SMALL, color=GREY, va="top")
