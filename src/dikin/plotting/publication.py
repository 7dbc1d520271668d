"""Figures for print: curves with bands of the 95 % interval, in panels that share a style."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from dikin.plotting.style import PALETTE, STYLE, save_figure
from dikin.vectors import Array

COLOURS = [*PALETTE, "#000000"]
WIDTH = 7.0
"""Inches between the margins of a page: the width of a figure, at most."""
LEAST_TEXT, SMALL = 7.0, 8.0
"""Points of the smallest letters, and of those beside lines."""
ROUNDS, REGRET = "rounds $T$", "mean regret (units of $B$)"
BAND = "Bands: 95% intervals of the mean over games."
TINY = 1e-9
"""Drawn in place of numbers that are not positive, on a logarithmic axis."""

DOTTED = (0, (1.0, 1.4))
"""Dash of proved slopes alone."""


def pyplot() -> Any:
    """Matplotlib in the style of every figure here, without a screen."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.rcParams.update(STYLE)
    return plt


def small_multiples(count: int, columns: int, **options: Any) -> tuple[Any, list[Any]]:
    """A figure with many small panels, in rows, and the panels."""
    rows = -(-count // columns)
    options |= {"layout": "constrained", "squeeze": False, "sharex": True}
    size = (WIDTH, 1.65 * rows + 0.5)
    figure, panels = pyplot().subplots(rows, columns, figsize=size, **options)
    for axes in panels.flat[count:]:
        axes.remove()
    for axes in panels.flat[max(0, count - columns) : count]:
        axes.tick_params(labelbottom=True)
    return figure, list(panels.flat[:count])


def draw_curve(
    axes: Any, band: tuple[Array, Array, Array], colour: str, marker: str, dash: Any, **options: Any
) -> None:
    """Draw means with their markers, and the band around them."""
    sizes, means, half = band
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
