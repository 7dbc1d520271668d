"""Every row of both tables: the exponent that is proved and those that were measured."""

from __future__ import annotations

from typing import Any

from dikin.experiments.reproduce.results import Line, Measured
from dikin.plotting.formulas import maths
from dikin.plotting.publication import COLOURS, LEAST_TEXT, WIDTH, draw_interval, pyplot
from dikin.plotting.style import INK

SERIES = (
    ("paper's learner", COLOURS[0], "o", 0.24),
    ("Predictive, shifted losses", COLOURS[1], "s", 0.0),
    ("Predictive", COLOURS[2], "D", -0.24),
)
"""Name, colour, marker, and where in its row."""
ROOM = 0.13
"""How far the axis reaches beyond the exponents that are proved, at least and at most."""
MOST_ROOM = 0.22
SHADE = "#f3f3f3"


def draw(measured: Measured) -> tuple[Any, str, str]:
    """A panel per table, a row per row."""
    count = len(measured.tables)
    size: Any = {"figsize": (WIDTH * count / 2, 4.2), "layout": "constrained", "squeeze": False}
    figure, ((*panels,),) = pyplot().subplots(1, count, **size)
    for axes, number in zip(panels, measured.tables, strict=True):
        own, others = measured.tables[number], measured.predictive[number]
        view = _view(own, [*own, *others])
        _rows(axes, own)
        shifted = [line for line in others if line.shifted]
        plain = [line for line in others if not line.shifted]
        for look, lines in zip(SERIES, (own, shifted, plain), strict=True):
            _dots(axes, lines, view, *look)
        axes.set_title(f"Table {number}")
        axes.set(xlabel="exponent of $T$", xlim=view, ylim=(-len(own) + 0.5, 0.5))
    handles, names = panels[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=4, frameon=False)
    caption = (
        "Exponents of T, proved by the paper and measured, with 95% intervals; an arrow is the end "
        "of one that goes on. To shifted losses a random sign is added, which changes no regret: "
        "nothing can be foreseen then."
    )
    return figure, "exponents", caption


def _view(own: list[Line], every: list[Line]) -> tuple[float, float]:
    """The ends of the axis: wide intervals shall not make all the others small."""
    proved = [line.curve.proved for line in own]
    low, high = min(proved), max(proved)
    least = min(line.curve.power.low for line in every)
    most = max(line.curve.power.high for line in every)
    below, above = (min(max(ROOM, room), MOST_ROOM) for room in (low - least, most - high))
    return low - below - 0.01, high + above + 0.01


def _dots(
    axes: Any,
    lines: list[Line],
    view: tuple[float, float],
    name: str,
    colour: str,
    marker: str,
    lift: float,
) -> None:
    for place, line in enumerate(lines):
        fit = line.curve.power
        draw_interval(axes, lift - place, (fit.low, fit.high), view, color=colour)
    middle = [line.curve.power.exponent for line in lines]
    heights = [lift - place for place in range(len(lines))]
    axes.plot(middle, heights, ls="none", marker=marker, color=colour, ms=3.2, label=name)


def _rows(axes: Any, lines: list[Line]) -> None:
    """Draw names, every other row shaded, and the proved exponent as a tick across each."""
    heights = [-place for place in range(len(lines))]
    for height in heights[::2]:
        axes.axhspan(height - 0.5, height + 0.5, color=SHADE, lw=0, zorder=0)
    exponents = [line.curve.proved for line in lines]
    ends = [height - 0.44 for height in heights], [height + 0.44 for height in heights]
    axes.vlines(exponents, *ends, color=INK, lw=1.2, label="proved")
    axes.set_yticks(heights, [maths(line.row.label) for line in lines], fontsize=LEAST_TEXT)
    axes.tick_params(axis="y", length=0)
