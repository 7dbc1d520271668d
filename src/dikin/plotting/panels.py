"""Common parts of the panels of a figure: headings, scales, labels next to lines."""

from __future__ import annotations

from math import log10
from typing import TYPE_CHECKING, Any, NamedTuple

from dikin.plotting.axes import Axis, spread, whole_ticks
from dikin.plotting.style import GREY, INK, PALE, require

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DPI = 100
"""Pixels in an inch on a screen."""
SMALL, NORMAL, LARGE = 10.0, 11.0, 14.0
"""Points of letters."""
LONGEST = 12
"""Letters of the name of a part, next to its share."""
LINE_HEIGHT = 0.19
"""Inches that a label needs."""


class Label(NamedTuple):
    """A text next to the right end of a line."""

    y: float
    text: str
    colour: str


def plain(axes: Axes) -> None:
    """No more lines than are read."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(PALE)
    axes.tick_params(labelsize=SMALL, color=PALE, labelcolor=GREY)
    axes.yaxis.grid(True, color="#eeeeee", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.margins(x=0)
    axes.locator_params(axis="y", nbins=4)


def heading(axes: Axes, name: str, note: str = "") -> None:
    """The name of a panel, and a note at its right end."""
    # A dollar sign in a name is one, and begins no formula.
    style: dict[str, Any] = {"pad": 5, "parse_math": False}
    axes.set_title(name, loc="left", fontsize=NORMAL, fontweight="bold", color=INK, **style)
    axes.set_title(note, loc="right", fontsize=SMALL, color=GREY, **style)


def show_scale(axes: Axes, axis: Axis) -> None:
    """Ticks of a parameter's values."""
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
    """Texts next to the ends of lines, moved apart where they would overlap."""
    height = axes.get_window_extent().height / DPI
    heights = spread([_share(axes, label.y) for label in labels], LINE_HEIGHT / height)
    for y, label in zip(heights, labels, strict=True):
        style: dict[str, Any] = {"color": label.colour, "fontsize": SMALL, "va": "center"}
        axes.text(1.012, y, label.text, transform=axes.transAxes, parse_math=False, **style)


def _share(axes: Axes, y: float) -> float:
    """Return the height of a number in the panel, from 0 to 1."""
    return float(axes.transAxes.inverted().transform(axes.transData.transform((1.0, y)))[1])


def short(name: str) -> str:
    """A name that fits into the margin."""
    return name if len(name) <= LONGEST else name[: LONGEST - 1] + "…"


def value_text(value: float, axis: Axis) -> str:
    """Return the label of a value of a parameter, empty beyond the ends."""
    if axis.labels:
        return short(dict(enumerate(axis.labels)).get(round(value), ""))
    if axis.percent:
        return f"{100 * value:.1f} %"
    return f"{value:,.0f}" if axis.whole else number_text(value)


def number_text(value: float) -> str:
    """A number in four digits, or whole."""
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e7 else f"{value:.4g}"
