"""The history of a tuner as a figure: what was played, the best guess, and what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from math import log10
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dikin.errors import StateError
from dikin.plotting.axes import Axis, mark_outside, number_rounds, spread, whole_ticks
from dikin.plotting.curves import (
    MARKS,
    band,
    far_off,
    limits,
    marks,
    rolling,
    root_mean_square,
    stretches,
    window,
)
from dikin.plotting.style import BLUE, GREEN, GREY, INK, PALE, PALETTE, PURPLE, require, styled
from dikin.vectors import Array, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 10.0
DPI = 100
"""Pixels in an inch on a screen."""
MARGINS = 0.075, 0.86
"""Where the panels begin and end, as shares of the width: direct labels stand to their right."""
HEIGHTS = {"uplift": 1.3, "parameter": 1.05, "value": 1.5, "surprise": 0.8, "certificate": 0.8}
GAP, HEAD, TITLE, FOOT = 0.42, 0.36, 0.36, 0.55
"""Inches between panels, of the words above the first, of a title, and below the last panel."""

MOST_PANELS = 8
"""Parameters that are drawn; a figure of more is too high for a page."""
MOST_PARTS = 6
"""Parts of a Shares that have a colour and a label."""
FEW = 1000
"""Up to so many rounds each is a dot of its own."""
HELD = "#f2e6c8"
SMALL, NORMAL, LARGE = 10.0, 11.0, 14.0
"""Points of letters."""
LONGEST = 12
"""Letters of the name of a part, next to its share."""
LINE_HEIGHT = 0.19
"""Inches that a label needs."""


class Line(NamedTuple):
    """A number over the rounds, by its columns in the table."""

    played: str
    best: str
    """The column of the best guess."""
    start: float
    label: str = ""
    """Its name next to the line, where a panel has several."""


class Panel(NamedTuple):
    """One picture over the rounds: a number, or the parts of a Shares."""

    name: str
    lines: tuple[Line, ...]
    axis: Axis = Axis()


class Label(NamedTuple):
    """A text next to the right end of a line."""

    y: float
    text: str
    colour: str


def draw_history(
    table: Table,
    panels: Sequence[Panel],
    *,
    maximize: bool,
    title: str = "",
    uplift: Table | None = None,
) -> Figure:
    """Draw the panels, the value, the surprise and the certificate over the rounds.

    `table` has one row a round, with the columns that the panels name and those of a history;
    `uplift` the columns round, mean, low and high of the gain over a control.
    """
    if not len(table):
        raise StateError("there is no round to draw: tell a value first")
    if "held_back" in (table.dtype.names or ()):
        table = _tuned(table)
    with styled():
        return _draw(table, panels, maximize, title, uplift)


def _tuned(table: Table) -> Table:
    """Without the rounds of the control, which would hide what was tuned, if there are others."""
    tuned = table[~table["held_back"] | table["held"]]
    return tuned if len(tuned) else table


def _draw(
    table: Table, panels: Sequence[Panel], maximize: bool, title: str, uplift: Table | None
) -> Figure:
    drawn = panels[:MOST_PANELS]
    kinds = ["parameter"] * len(drawn)
    known = uplift is not None and bool(np.isfinite(uplift["high"] - uplift["low"]).any())
    kinds += ["uplift"] * known + ["value"]
    kinds += ["surprise"] * bool(np.isfinite(table["expected"][~far_off(table["value"])]).any())
    kinds += ["certificate"] * bool(np.isfinite(table["certificate"]).any())
    figure, axes = _layout(kinds, HEAD + TITLE * bool(title))
    for panel, place in zip(drawn, axes, strict=False):
        _draw_parameter(place, table, panel)
    for kind, place in zip(kinds[len(drawn) :], axes[len(drawn) :], strict=True):
        if kind == "value":
            _draw_value(place, table, maximize)
        elif uplift is not None and kind == "uplift":
            _draw_uplift(place, uplift)
        else:
            _draw_line(place, table, kind)
    _shade_held(axes, table)
    _caption(figure, title, len(panels) - len(drawn))
    return figure


# --- panels --------------------------------------------------------------------------------------


def _layout(kinds: list[str], head: float) -> tuple[Figure, list[Axes]]:
    """A figure with a panel for each kind, one below the other."""
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
        _plain(place, last=place is axes[-1])
    return figure, axes


def _plain(axes: Axes, last: bool) -> None:
    """No more lines than are read; the rounds are written once, at the bottom."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(PALE)
    axes.tick_params(labelsize=SMALL, color=PALE, labelcolor=GREY, labelbottom=last)
    axes.yaxis.grid(True, color="#eeeeee", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.margins(x=0)
    axes.locator_params(axis="y", nbins=4)
    number_rounds(axes)
    if last:
        axes.set_xlabel("round", fontsize=NORMAL, color=GREY, loc="right")


def _heading(axes: Axes, name: str, note: str = "") -> None:
    # A dollar sign in a name is one, and begins no formula.
    style: dict[str, Any] = {"pad": 5, "parse_math": False}
    axes.set_title(name, loc="left", fontsize=NORMAL, fontweight="bold", color=INK, **style)
    axes.set_title(note, loc="right", fontsize=SMALL, color=GREY, **style)


def _draw_parameter(axes: Axes, table: Table, panel: Panel) -> None:
    if panel.axis.log:
        axes.set_yscale("log")
    several = len(panel.lines) > 1
    largest = sorted(panel.lines, key=lambda line: -table[line.best][-1])[:MOST_PARTS]
    shown = [line for line in panel.lines if line in largest]
    labels = []
    for colour, line in zip(PALETTE, shown, strict=False):
        if not several or len(shown) <= 3:
            _draw_played(axes, table, line.played, colour)
        best = _draw_best(axes, table, panel, line.best, colour)
        grey = colour if several else GREY
        axes.axhline(line.start, color=grey, linewidth=0.9, linestyle=(0, (5, 4)))
        if several:
            text = f"{_short(line.label)} {_value(best, panel.axis)}"
            labels.append(Label(best, text, colour))
        else:
            labels.append(Label(best, f"best {_value(best, panel.axis)}", colour))
            labels.append(Label(line.start, f"start {_value(line.start, panel.axis)}", GREY))
    left_out = len(panel.lines) - len(shown)
    _heading(axes, panel.name, f"and {left_out} smaller shares" if left_out else "")
    _show_scale(axes, panel.axis)
    _write_labels(axes, labels)


def _show_scale(axes: Axes, axis: Axis) -> None:
    ticker = require("matplotlib.ticker")
    if axis.log:
        axes.yaxis.set_major_formatter("{x:g}")
        low, high = axes.get_ylim()
        decades = log10(high / low)
        if decades < 2.0:  # hardly a power of ten is within sight
            few = ticker.LogLocator(subs=(1.0, 3.0)) if decades > 1.0 else ticker.MaxNLocator(4)
            axes.yaxis.set_major_locator(few)
        axes.yaxis.set_minor_locator(ticker.NullLocator())
    elif axis.whole:
        axes.yaxis.set_major_locator(whole_ticks(4))
        axes.yaxis.set_major_formatter(lambda y, _: _value(y, axis))
    elif axis.percent:
        axes.yaxis.set_major_formatter(ticker.PercentFormatter(1.0))


def _draw_played(axes: Axes, table: Table, column: str, colour: str) -> None:
    """The range that was played, and each round where they are few; on hold nothing is explored."""
    x, played, at = table["round"], table[column], marks(len(table))
    where = ~table["held"][at]
    axes.fill_between(
        x[at], *band(played), where=where, color=colour, alpha=0.18, linewidth=0, label=column
    )
    if len(x) <= FEW:
        _dots(axes, x, played, colour)


def _dots(axes: Axes, x: Any, y: Any, colour: str) -> None:
    size, alpha = (3.5, 0.45) if len(x) <= 200 else (1.8, 0.3)
    axes.plot(
        x, y, "o", markersize=size, markeredgewidth=0, color=colour, alpha=alpha, rasterized=True
    )


def _draw_best(axes: Axes, table: Table, panel: Panel, column: str, colour: str) -> float:
    """The best guess as a line; its last value."""
    at = marks(len(table))
    style = "steps-post" if panel.axis.whole else "default"
    x, y = table["round"][at], table[column][at]
    axes.plot(x, y, color=colour, linewidth=1.8, drawstyle=style, label=column)
    return float(y[-1])


def _draw_value(axes: Axes, table: Table, maximize: bool) -> None:
    x, values = table["round"], table["value"]
    at, size = marks(len(x)), min(window(len(x)), len(x))
    if len(x) <= FEW:
        _dots(axes, x, values, GREY)
    else:
        axes.fill_between(x[at], *band(values), color=GREY, alpha=0.18, linewidth=0, label="value")
    far = far_off(values)
    mean = rolling(np.where(far, np.nan, values), np.mean)
    axes.plot(x[at], mean, color=INK, linewidth=1.8, label="mean value")
    ends = limits(values)
    axes.set_ylim(*ends)
    notes = ["larger is better" if maximize else "smaller is better"]
    notes.append(mark_outside(axes, x, values, ends))
    notes.append(f"{far.sum():,} far off, not in the mean" if far.any() else "")
    _heading(axes, "value", " · ".join(filter(None, notes)))
    last = mean[np.isfinite(mean)][-1]
    _write_labels(axes, [Label(float(last), f"{number_text(last)}\nmean of {size:,}", INK)])


def _draw_uplift(axes: Axes, uplift: Table) -> None:
    """The gain over the control, and its interval."""
    known = uplift[np.isfinite(uplift["high"] - uplift["low"])]
    low, high = uplift_limits(known)
    band_of: dict[str, Any] = {"color": BLUE, "alpha": 0.18, "linewidth": 0, "label": "interval"}
    axes.fill_between(known["round"], known["low"], known["high"], **band_of)
    axes.plot(known["round"], known["mean"], color=BLUE, linewidth=1.8, label="uplift")
    axes.axhline(0.0, color=GREY, linewidth=0.9, linestyle=(0, (5, 4)))
    axes.set_ylim(low, high)
    _heading(axes, "gain over the control", "band: 95 %, valid at any time")
    last = float(known["mean"][-1])
    _write_labels(axes, [Label(last, f"{last:+.3g}", BLUE), Label(0.0, "control", GREY)])


def uplift_limits(known: Table) -> tuple[float, float]:
    """Where the axis of an uplift ends: zero is within, the first wide intervals go beyond."""
    late = known[len(known) // 4 :]
    low, high = min(0.0, float(late["low"].min())), max(0.0, float(late["high"].max()))
    room = 0.06 * ((high - low) or 1.0)
    return low - room, high + room


def _draw_line(axes: Axes, table: Table, kind: str) -> None:
    at = marks(len(table))
    if kind == "surprise":
        usual = np.where(far_off(table["value"]), np.nan, table["value"])
        y = rolling(usual - table["expected"], root_mean_square)
        note, colour = "how far the value is from what was expected (root mean square)", GREEN
    else:
        y, note, colour = table["certificate"][at], "bound on the regret so far", PURPLE
    axes.plot(table["round"][at], y, color=colour, linewidth=1.8, label=kind)
    axes.set_ylim(0, 1.08 * _largest(y))
    _heading(axes, kind, note)
    finite = y[np.isfinite(y)]
    _write_labels(axes, [Label(float(finite[-1]), number_text(finite[-1]), colour)])


def _largest(y: Array) -> float:
    """Where the axis ends: the first rounds, which know nothing, may be beyond."""
    finite = y[np.isfinite(y)]
    return float(max(min(finite.max(), 8.0 * np.median(finite)), finite[-1])) or 1.0


# --- what is common to the panels -----------------------------------------------------------------


def _write_labels(axes: Axes, labels: list[Label]) -> None:
    """Texts next to the ends of lines, moved apart where they would overlap."""
    height = axes.get_window_extent().height / DPI
    heights = spread([_share(axes, label.y) for label in labels], LINE_HEIGHT / height)
    for y, label in zip(heights, labels, strict=True):
        axes.text(
            1.012,
            y,
            label.text,
            color=label.colour,
            fontsize=SMALL,
            va="center",
            transform=axes.transAxes,
            parse_math=False,
        )


def _share(axes: Axes, y: float) -> float:
    """How high a number stands in the panel, from 0 to 1."""
    return float(axes.transAxes.inverted().transform(axes.transData.transform((1.0, y)))[1])


def _shade_held(axes: list[Axes], table: Table) -> None:
    """Rounds on hold, in which nothing was explored or learnt."""
    x, held = table["round"], stretches(table["held"], len(table) // MARKS)
    if not held:
        return
    spans = [(float(x[first]), float(x[after - 1] + 1 - x[first])) for first, after in held]
    for place in axes:
        place.broken_barh(
            spans,
            (0, 1),
            transform=place.get_xaxis_transform(),
            color=HELD,
            zorder=0.4,
            linewidth=0,
            label="held",
        )
    axes[0].text(
        spans[0][0],
        0.98,
        " on hold",
        transform=axes[0].get_xaxis_transform(),
        va="top",
        fontsize=SMALL,
        color="#7a6420",
    )


def _caption(figure: Figure, title: str, left_out: int) -> None:
    """The title, and what the lines mean, in place of a legend."""
    height, left = figure.get_figheight(), MARGINS[0]
    note = "line: best guess · band: 5 to 95 % of the rounds · dashed: start"
    if left_out:
        note += f" · not drawn: {left_out} more"
    if title:
        style: dict[str, Any] = {"fontsize": LARGE, "fontweight": "bold", "color": INK, "va": "top"}
        figure.text(left, 1 - 0.2 / height, title, parse_math=False, **style)
    below = 0.2 + TITLE * bool(title)
    figure.text(left, 1 - below / height, note, fontsize=SMALL, color=GREY, va="top")


def _short(name: str) -> str:
    """A name that fits into the margin."""
    return name if len(name) <= LONGEST else name[: LONGEST - 1] + "…"


def _value(value: float, axis: Axis) -> str:
    """A value of a parameter; nothing beyond the ends of labels."""
    if axis.labels:
        return _short(dict(enumerate(axis.labels)).get(round(value), ""))
    if axis.percent:
        return f"{100 * value:.1f} %"
    return f"{value:,.0f}" if axis.whole else number_text(value)


def number_text(value: float) -> str:
    """A number for people: four digits, or all of a large one."""
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e7 else f"{value:.4g}"
