"""Figures for print: curves with bands, labels beside lines.

A figure is drawn at the size at which it is printed, at most `WIDTH` inches wide, with letters of
at least `LEAST_TEXT` points:

    plt = pyplot()
    figure, axes = plt.subplots(figsize=(WIDTH, 3.0), layout="constrained")
    for line, look in zip(lines, looks(len(lines)), strict=True):
        draw_curve(axes, line.curve.band, look)
    axes.set(xlabel=ROUNDS, ylabel=REGRET, xscale="log", yscale="log")
    label_ends(axes, [EndLabel(x, y, maths(line.row.label), look.colour) ...])
    publish(figure, out / "regret1")

- `pyplot` has the style. Do not set font sizes but `SMALL` and `LEAST_TEXT`.
- `publish` writes a PNG and an SVG, for pages and for print: the same bytes every time. For a file
  that a user named there is `save_figure` of `style`.
- `looks` gives lines that differ in colour, marker and dash.
- `draw_curve` draws means with the 95% band of Student's t over games. Add `BAND` to the caption.
  `draw_slope` draws a proved power of T, dotted, through the last mean.
- `small_multiples` gives a panel to each line where lines would cover each other.
- `label_ends` writes the names beside the lines, once all limits are set. `number_ticks` gives an
  axis that is short of two powers of ten numbers that are read.
- `formulas.maths` turns a label of a table, such as `sigma_t = t^-0.3`, into a formula. A label is
  written once, as plain text. A name that a user chose is not a label: give it to matplotlib with
  `parse_math=False`.
- Thousands of points or marks in one panel: draw them with `rasterized=True`, or an SVG is large.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dikin.plotting.axes import spread
from dikin.plotting.style import GREY, PALETTE, STYLE, save_figure
from dikin.vectors import Array

COLOURS = [*PALETTE, "#000000"]
WIDTH = 7.0
"""Inches between the margins of a page: the width of a figure, at most."""
LEAST_TEXT, SMALL = 7.0, 8.0
"""Points of the smallest letters, and of those beside lines."""
ROUNDS, REGRET = "rounds $T$", "mean regret (units of $B$)"
BAND = "Bands: 95% intervals of the mean over games."
TINY = 1e-9
"""Where a logarithmic axis has no place: what is not positive is drawn as this."""
LINE_SPACE = 1.15
"""From one text to the next beside the ends of lines, in heights of a text."""

SOLID, DASHED, DASH_DOT = "-", (0, (4.5, 1.5)), (0, (4.5, 1.2, 1.0, 1.2))
DOTTED = (0, (1.0, 1.4))
"""The dash of what is proved, and of nothing else."""


class Look(NamedTuple):
    """Style of a line. Readers who do not see its colour see its marker and its dash."""

    colour: str
    marker: str
    dash: Any


class EndLabel(NamedTuple):
    """A text to the right of the point where a line ends."""

    x: float
    y: float
    text: str
    colour: str


def pyplot() -> Any:
    """Matplotlib in the style of every figure here, without a screen."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.rcParams.update(STYLE)
    return plt


def half_page_panels(count: int, height: float) -> tuple[Any, list[Any]]:
    """A figure with panels side by side, each half as wide as a page."""
    figure, panels = pyplot().subplots(
        1, count, figsize=(WIDTH * count / 2, height), layout="constrained", squeeze=False
    )
    return figure, list(panels[0])


def small_multiples(
    count: int, columns: int, height: float, **options: Any
) -> tuple[Any, list[Any]]:
    """A figure with many small panels, in rows of this height, and the panels."""
    rows = -(-count // columns)
    options |= {"layout": "constrained", "squeeze": False, "sharex": True}
    size = (WIDTH, height * rows + 0.5)
    figure, panels = pyplot().subplots(rows, columns, figsize=size, **options)
    for axes in panels.flat[count:]:
        axes.remove()
    for axes in panels.flat[max(0, count - columns) : count]:
        axes.tick_params(labelbottom=True)
    return figure, list(panels.flat[:count])


def looks(count: int) -> list[Look]:
    """Return styles that differ in two ways or three. Colours repeat from the eighth on."""
    markers, dashes = "osD^vPX", (SOLID, DASHED, DASH_DOT)
    return [
        Look(COLOURS[i % 7], markers[(i + i // 7) % 7], dashes[(i + i // 7) % 3])
        for i in range(count)
    ]


# --- lines ----------------------------------------------------------------------------------------


def draw_curve(axes: Any, band: tuple[Array, Array, Array], look: Look, **options: Any) -> None:
    """Draw means with their markers, and the band around them."""
    sizes, means, half = band
    colour, marker, dash = look
    low = np.maximum(means - half, TINY)
    axes.fill_between(sizes, low, means + half, color=colour, alpha=0.14, lw=0)
    axes.plot(sizes, np.maximum(means, TINY), color=colour, marker=marker, ls=dash, **options)


def draw_interval(
    axes: Any, place: float, ends: tuple[float, float], view: tuple[float, float], **look: Any
) -> None:
    """Draw a horizontal interval, with an arrow at the edge where it leaves the view."""
    low, high = max(ends[0], view[0]), min(ends[1], view[1])
    axes.plot([low, high], [place, place], lw=0.9, solid_capstyle="butt", **look)
    for cut, edge, marker in ((ends[0] < view[0], view[0], "<"), (ends[1] > view[1], view[1], ">")):
        if cut:
            axes.plot(edge, place, marker=marker, ms=3, clip_on=False, **look)


def draw_slope(axes: Any, sizes: Array, last: float, power: float, colour: str = GREY) -> None:
    """A power of the size, dotted, through the value at the largest size."""
    axes.plot(sizes, last * (sizes / sizes[-1]) ** power, color=colour, ls=DOTTED, lw=1.3)


def label_ends(axes: Any, labels: list[EndLabel], size: float = SMALL) -> None:
    """Write texts beside the ends of lines, moved apart where they would overlap.

    The limits of the axes must be set: a text stays where it is written.
    """
    label_panels([(axes, labels)], size)


def label_panels(panels: list[tuple[Any, list[EndLabel]]], size: float = SMALL) -> None:
    """The same for panels of one figure: to lay it out takes long, and is done once."""
    panels_with_texts = [
        (axes, labels, [_write_beside(axes, label, size) for label in labels])
        for axes, labels in panels
        if labels
    ]
    if panels_with_texts:
        # The layout decides how high the axes are.
        panels_with_texts[0][0].figure.canvas.figure.draw_without_rendering()
    for axes, labels, texts in panels_with_texts:
        _move_apart(axes, labels, texts)


def _move_apart(axes: Any, labels: list[EndLabel], texts: list[Any]) -> None:
    to_share = (axes.transData + axes.transAxes.inverted()).transform
    places = [to_share((label.x, label.y)) for label in labels]
    high = max(text.get_window_extent().height for text in texts)
    room = LINE_SPACE * high / axes.get_window_extent().height
    heights = spread([float(y) for _, y in places], room)
    for text, (x, _), height in zip(texts, places, heights, strict=True):
        text.xycoords = "axes fraction"
        text.xy = float(x), height


def _write_beside(axes: Any, label: EndLabel, size: float) -> Any:
    style = {"va": "center", "fontsize": size, "linespacing": 1.05, "annotation_clip": False}
    beside = {"xytext": (4, 0), "textcoords": "offset points"}
    return axes.annotate(label.text, (label.x, label.y), color=label.colour, **beside, **style)


def number_ticks(axis: Any) -> None:
    """Plain numbers at 1, 2 and 5 on a logarithmic axis that is short of two powers of ten."""
    from matplotlib.ticker import LogLocator, NullFormatter

    low, high = axis.get_view_interval()
    if high / low < 100:
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axis.set_major_formatter("{x:,.10g}")
        axis.set_minor_formatter(NullFormatter())


def publish(figure: Any, file: Path) -> None:
    """Write a figure as PNG and as SVG, whatever the suffix of the file is."""
    for suffix in (".png", ".svg"):
        save_figure(figure, file.with_suffix(suffix))
    pyplot().close(figure)
