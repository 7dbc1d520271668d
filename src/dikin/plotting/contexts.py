"""The settings of a tuner over its contexts: bars for words, a line for a number."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, isfinite, log
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dikin.plotting.axes import (
    NORMAL,
    Axis,
    Label,
    heading,
    plain,
    short,
    show_scale,
    value_text,
    write_labels,
)
from dikin.plotting.style import FONTS, GREY, PALETTE
from dikin.vectors import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HEIGHT, GAP, FOOT = 1.2, 0.85, 0.15
"""Inches of a panel, above it (the names below the one before, and its heading), and below all."""
MOST_LINES = len(PALETTE)
"""Lines that have a colour and a label."""
APART = 0.12
"""Distance of the dots of a word, as a share of the distance between words."""
LEAST = 0.2
"""Share of a parameter's range that a panel shows at least: small differences look small."""
EVERY = 4
"""Distance of the points of a line that have a number below them."""
FLAT_LETTERS = 90
"""Letters of words that fit below a panel side by side."""


class ContextLine(NamedTuple):
    """The setting over a context, for one value of the others."""

    label: str
    y: Array


class ContextPanel(NamedTuple):
    """A parameter over a context."""

    name: str
    across: str
    """The name of the context on the horizontal axis."""
    xs: tuple[Any, ...]
    """Its values: words, or numbers."""
    lines: tuple[ContextLine, ...]
    starts: tuple[float, ...]
    """Where each of the lines began."""
    axis: Axis = Axis()


def height_of(panels: Sequence[ContextPanel]) -> float:
    """Inches that the panels need below the history."""
    return len(panels) * (HEIGHT + GAP) + FOOT * bool(panels)


def context_axes(
    figure: Figure, panels: Sequence[ContextPanel], margins: tuple[float, float]
) -> list[Axes]:
    """Axes for the panels, at the bottom of the figure."""
    total, (left, right) = figure.get_figheight(), margins
    bottoms = [FOOT + 0.4 + (len(panels) - 1 - i) * (HEIGHT + GAP) for i in range(len(panels))]
    return [
        figure.add_axes((left, bottom / total, right - left, HEIGHT / total)) for bottom in bottoms
    ]


def draw_context(axes: Axes, panel: ContextPanel) -> None:
    """Draw the setting over a context, dashed where it began: dots at words, lines over numbers."""
    plain(axes)
    axes.tick_params(labelfontfamily=FONTS)
    if panel.axis.log:
        axes.set_yscale("log")
    lines = panel.lines[:MOST_LINES]
    at: Any = panel.xs
    words = isinstance(at[0], str)
    style: dict[str, Any] = {"drawstyle": "steps-mid" if panel.axis.whole else "default"}
    if words:
        at, style = range(len(at)), {"linestyle": "none", "marker": "o", "markersize": 6}
    labels = []
    for i, (colour, line) in enumerate(zip(PALETTE, lines, strict=False)):
        x = np.array(at) + words * APART * (i - (len(lines) - 1) / 2)
        axes.plot(x, line.y, color=colour, linewidth=1.8, label=line.label, **style)
        text = short(line.label) if line.label else value_text(line.y[-1], panel.axis)
        labels.append(Label(float(line.y[-1]), text, colour))
    for start in dict.fromkeys(panel.starts[: len(lines)]):
        axes.axhline(start, color=GREY, linewidth=0.9, linestyle=(0, (5, 4)), zorder=1)
    if words:
        names = [short(word) for word in panel.xs]
        steep = sum(map(len, names)) + len(names) > FLAT_LETTERS
        axes.set_xlim(-0.5, len(names) - 0.5)
        axes.set_xticks(at, names, rotation=90 if steep else 0, parse_math=False)
    else:
        axes.set_xlim(at[0], at[-1])
        axes.set_xticks(at[::EVERY], [f"{tick:g}" for tick in at[::EVERY]])
    axes.margins(y=0.15)
    _widen(axes, panel.axis)
    write_labels(axes, labels)
    show_scale(axes, panel.axis)
    axes.set_xlabel(panel.across, fontsize=NORMAL, color=GREY, loc="right", parse_math=False)
    left_out = len(panel.lines) - len(lines)
    note = f"best setting by {panel.across}, dashed: start"
    heading(axes, panel.name, note + f" · not drawn: {left_out} more" * bool(left_out))


def _widen(axes: Axes, axis: Axis) -> None:
    """Show no less than some share of the parameter's range."""
    if not isfinite(axis.high - axis.low):
        return
    there, back = (log, exp) if axis.log else (float, float)
    low, high = map(there, axes.get_ylim())
    missing = LEAST * (there(axis.high) - there(axis.low)) - (high - low)
    if missing > 0.0:
        axes.set_ylim(back(low - missing / 2), back(high + missing / 2))
