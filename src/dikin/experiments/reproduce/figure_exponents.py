"""Every row of both tables: the exponent that is proved and those that were measured."""

from __future__ import annotations

from typing import Any

from dikin.experiments.reproduce.results import Line, Measured
from dikin.plotting.formulas import maths
from dikin.plotting.publication import COLOURS, LEAST_TEXT, half_page_panels
from dikin.plotting.style import GREY

SERIES = (
    ("paper's learner", COLOURS[0], "o", 0.22),
    ("Predictive, shifted losses", COLOURS[1], "s", 0.0),
    ("Predictive", COLOURS[2], "D", -0.22),
)
"""Name, colour, marker, and where in its row."""


def draw(measured: Measured) -> tuple[Any, str, str]:
    """A panel per table, a row per row."""
    figure, panels = half_page_panels(len(measured.tables), 3.6)
    for axes, number in zip(panels, measured.tables, strict=True):
        own, others = measured.tables[number], measured.predictive[number]
        shifted = [line for line in others if line.shifted]
        plain = [line for line in others if not line.shifted]
        for look, lines in zip(SERIES, (own, shifted, plain), strict=True):
            _dots(axes, lines, *look)
        _proved(axes, own)
        axes.set_title(f"Table {number}")
        axes.set(xlabel="exponent of $T$", ylim=(-len(own) + 0.4, 0.6))
    handles, names = panels[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=4, frameon=False)
    caption = (
        "Exponents of T, proved by the paper and measured, with 95% intervals. To shifted losses a "
        "random sign is added, which changes no regret: nothing can be foreseen then."
    )
    return figure, "exponents", caption


def _dots(axes: Any, lines: list[Line], name: str, colour: str, marker: str, lift: float) -> None:
    fits = [line.curve.power for line in lines]
    middle = [fit.exponent for fit in fits]
    errors = [[f.exponent - f.low for f in fits], [f.high - f.exponent for f in fits]]
    heights = [lift - place for place in range(len(lines))]
    axes.errorbar(middle, heights, xerr=errors, fmt=marker, color=colour, ms=3.5, lw=1, label=name)


def _proved(axes: Any, lines: list[Line]) -> None:
    heights = [-place for place in range(len(lines))]
    exponents = [line.curve.proved for line in lines]
    ends = [height - 0.42 for height in heights], [height + 0.42 for height in heights]
    axes.vlines(exponents, *ends, color=GREY, lw=2.2, alpha=0.6, label="proved", zorder=0)
    axes.set_yticks(heights, [maths(line.row.label) for line in lines], fontsize=LEAST_TEXT)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", lw=0.4, alpha=0.5)
