"""Common parts of panels: scales, headings, values beyond the ends, labels next to lines."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, log10
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dikin.plotting.curves import marks
from dikin.plotting.style import GREY, INK, ORANGE, PALE, require
from dikin.vectors import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes


DPI = 100
"""Pixels in an inch on a screen."""
SMALL, NORMAL, LARGE = 10.0, 11.0, 14.0
LONGEST = 12
LINE_HEIGHT = 0.19
"""Inches that a label needs."""


class Axis(NamedTuple):
    """Scale of the values of a parameter, in figures and on the page."""

    low: float = -inf
    high: float = inf
    log: bool = False
    whole: bool = False
    percent: bool = False
    """A value of 1 is read as 100 %."""
    labels: tuple[str, ...] = ()
    """Names of the values 0, 1, 2, ... where they are only positions."""


def whole_ticks(most: int) -> Any:
    """Return ticks at whole numbers, at least two."""
    ticker = require("matplotlib.ticker")
    return ticker.MaxNLocator(most, steps=[1, 2, 2.5, 5, 10], integer=True, min_n_ticks=1)


def mark_outside(axes: Axes, x: NDArray[Any], y: Array, ends: tuple[float, float]) -> str:
    """Mark values beyond the ends of the y-axis by triangles at its edge, and count them."""
    low, high = ends
    at, words = marks(len(x)), []
    for beyond, edge, marker, sign in ((y > high, high, "^", "▲"), (y < low, low, "v", "▼")):
        rows = np.flatnonzero(beyond)
        if not len(rows):
            continue
        places = x[at[np.unique(np.searchsorted(at, rows))]]  # at most one to a pixel or two
        style: dict[str, Any] = {"color": ORANGE, "markersize": 6, "markeredgewidth": 0}
        axes.plot(places, np.full(len(places), edge), marker, clip_on=False, label=sign, **style)
        words.append(f"{sign} {len(rows):,} {'above' if edge == high else 'below'}")
    return f"{' and '.join(words)} the axis" if words else ""


def spread(heights: Sequence[float], room: float) -> list[float]:
    """Return heights of labels, shares of the panel's, moved until neighbours are `room` apart."""
    order = np.argsort(heights, kind="stable")
    steps = room * np.arange(len(order))
    # With the steps taken off, the nearest ascending heights: those that would cross share a mean.
    ascending = require("scipy.optimize").isotonic_regression(np.asarray(heights)[order] - steps).x
    apart = np.empty(len(order))
    apart[order] = np.clip(ascending, 0.0, max(0.0, 1.0 - steps[-1])) + steps
    return [float(height) for height in apart]


class Label(NamedTuple):
    """A text next to the right end of a line."""

    y: float
    text: str
    colour: str


def plain(axes: Axes) -> None:
    """Draw no more lines than are read."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(PALE)
    axes.tick_params(labelsize=SMALL, color=PALE, labelcolor=GREY)
    axes.yaxis.grid(True, color="#eeeeee", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.margins(x=0)
    axes.locator_params(axis="y", nbins=4)


def heading(axes: Axes, name: str, note: str = "") -> None:
    """Write the name of a panel, and a note at its right end."""
    # A dollar sign in a name begins no formula.
    style: dict[str, Any] = {"pad": 5, "parse_math": False}
    axes.set_title(name, loc="left", fontsize=NORMAL, fontweight="bold", color=INK, **style)
    axes.set_title(note, loc="right", fontsize=SMALL, color=GREY, **style)


def show_scale(axes: Axes, axis: Axis) -> None:
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
        axes.yaxis.set_major_formatter(lambda y, _: value_text(y, axis))
    elif axis.percent:
        axes.yaxis.set_major_formatter(ticker.PercentFormatter(1.0))


def write_labels(axes: Axes, labels: list[Label]) -> None:
    """Write texts next to the ends of lines, moved apart where they would overlap."""
    height = axes.get_window_extent().height / DPI
    to_share = axes.transData + axes.transAxes.inverted()
    heights = [float(to_share.transform((1.0, label.y))[1]) for label in labels]
    heights = spread(heights, LINE_HEIGHT / height)
    for y, label in zip(heights, labels, strict=True):
        style: dict[str, Any] = {"color": label.colour, "fontsize": SMALL, "va": "center"}
        axes.text(1.012, y, label.text, transform=axes.transAxes, parse_math=False, **style)


def short(name: str) -> str:
    return name if len(name) <= LONGEST else name[: LONGEST - 1] + "…"


def value_text(value: float, axis: Axis) -> str:
    """Return the label of a value of a parameter, empty beyond the ends."""
    if axis.labels:
        return short(dict(enumerate(axis.labels)).get(round(value), ""))
    if axis.percent:
        return f"{100 * value:.1f} %"
    return f"{value:,.0f}" if axis.whole else number_text(value)


def number_text(value: float) -> str:
    """Return a number in four digits, or whole."""
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e7 else f"{value:.4g}"
