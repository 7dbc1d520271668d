"""The settings of a tuner over its contexts: bars for words, a line for a number."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, isfinite, log
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dikin.plotting.axes import (
    NORMAL,
    SMALL,
    Axis,
    Label,
    heading,
    plain,
    short,
    show_scale,
    value_text,
    write_labels,
)
from dikin.plotting.style import FONTS, GREY, INK, PALETTE
from dikin.vectors import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HEIGHT, GAP, FOOT = 1.2, 0.85, 0.15
"""Inches of a panel, above it (the names below the one before, and its heading), and below all."""
MOST_LINES = len(PALETTE)
"""Lines or bars at a place that have a colour and a label."""
MOST_NUMBERS = 16
"""Bars that have their value written next to them."""
BARS, WIDEST = 0.7, 0.3
"""The share of the horizontal axis that bars cover, and the most that one covers of its place."""
LEAST = 0.2
"""The share of a parameter's range that a panel shows at least: small differences look small."""
EVERY = 4
"""Of the points of a line every so many-th has its number below it."""
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
    """Draw the setting over a context, dashed where it began."""
    plain(axes)
    axes.use_sticky_edges = False  # a bar that begins at the start does not end the axis there
    axes.tick_params(labelfontfamily=FONTS)
    if panel.axis.log:
        axes.set_yscale("log")
    words = isinstance(panel.xs[0], str)
    lines = panel.lines[:MOST_LINES]
    (_draw_bars if words else _draw_lines)(axes, panel, lines)
    for start in dict.fromkeys(panel.starts[: len(lines)]):
        axes.axhline(start, color=GREY, linewidth=0.9, linestyle=(0, (5, 4)), zorder=1)
    show_scale(axes, panel.axis)
    axes.set_xlabel(panel.across, fontsize=NORMAL, color=GREY, loc="right", parse_math=False)
    left_out = len(panel.lines) - len(lines)
    note = f"best setting by {panel.across}, dashed: start"
    heading(axes, panel.name, f"{note} · not drawn: {left_out} more" if left_out else note)


def _widen(axes: Axes, axis: Axis) -> None:
    """Show no less than some share of the parameter's range."""
    if not isfinite(axis.high - axis.low):
        return
    there, back = (log, exp) if axis.log else (float, float)
    low, high = map(there, axes.get_ylim())
    missing = LEAST * (there(axis.high) - there(axis.low)) - (high - low)
    if missing > 0.0:
        axes.set_ylim(back(low - missing / 2), back(high + missing / 2))


def _draw_lines(axes: Axes, panel: ContextPanel, lines: Sequence[ContextLine]) -> None:
    labels, style = [], "steps-mid" if panel.axis.whole else "default"
    for colour, line in zip(PALETTE, lines, strict=False):
        axes.plot(panel.xs, line.y, color=colour, linewidth=1.8, drawstyle=style, label=line.label)
        text = short(line.label) if line.label else value_text(line.y[-1], panel.axis)
        labels.append(Label(float(line.y[-1]), text, colour))
    axes.set_xlim(panel.xs[0], panel.xs[-1])
    ticks = panel.xs[::EVERY]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.margins(y=0.15)
    _widen(axes, panel.axis)
    write_labels(axes, labels)


def _draw_bars(axes: Axes, panel: ContextPanel, lines: Sequence[ContextLine]) -> None:
    """Draw bars from the start to the setting, one for each line of each context."""
    at, width = np.arange(len(panel.xs), dtype=float), min(BARS / len(lines), WIDEST)
    numbered = len(panel.xs) * len(lines) <= MOST_NUMBERS
    labels = []
    for i, (colour, line) in enumerate(zip(PALETTE, lines, strict=False)):
        start, x = panel.starts[i], at + (i - (len(lines) - 1) / 2) * width
        axes.bar(x, line.y - start, 0.9 * width, bottom=start, color=colour, label=line.label)
        axes.hlines(line.y, x - 0.45 * width, x + 0.45 * width, color=colour, linewidth=1.8)
        for place, y in zip(x, line.y, strict=True) if numbered else ():
            text, above = value_text(float(y), panel.axis), y >= start
            style: dict[str, Any] = {"va": "bottom" if above else "top", "ha": "center"}
            style |= {"fontsize": SMALL, "color": INK, "parse_math": False}
            offset = (0, 4 if above else -4)
            axes.annotate(text, (place, y), offset, textcoords="offset points", **style)
        if line.label:
            labels.append(Label(float(line.y[-1]), short(line.label), colour))
    axes.set_xlim(-0.5, len(at) - 0.5)
    axes.margins(y=0.35 if numbered else 0.1)
    names = [short(str(word)) for word in panel.xs]
    steep = sum(map(len, names)) + len(names) > FLAT_LETTERS
    axes.set_xticks(at, names, rotation=90 if steep else 0, parse_math=False)
    _widen(axes, panel.axis)
    if labels:
        write_labels(axes, labels)
