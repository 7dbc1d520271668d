"""What M flat rounds cost, against M."""

from __future__ import annotations

from fractions import Fraction
from math import log
from typing import Any

from dikin.experiments.reproduce.flat_rounds import NONE, FlatRounds
from dikin.experiments.reproduce.plan import TABLES
from dikin.experiments.reproduce.results import Measured
from dikin.plotting.publication import (
    DOTTED,
    LEAST_TEXT,
    EndLabel,
    half_page_panels,
    label_ends,
    looks,
)
from dikin.plotting.style import GREY

FLOOR = 0.6
"""The lowest end of a bar, in units of the least ratio: an interval of few games may reach below 0,
where a logarithmic axis has no place."""
DECADE = 10.0
"""A ratio above which the axis is logarithmic."""


def draw(measured: Measured) -> tuple[Any, str, str]:
    """A panel per table."""
    numbers = list(measured.tables)
    figure, panels = half_page_panels(len(numbers), 2.9)
    for axes, number in zip(panels, numbers, strict=True):
        _panel(axes, number, [line for line in measured.flat_rounds if line.table == number])
    horizon = measured.flat_rounds[0].horizon
    caption = (
        f"Mean regret with M flat rounds at the beginning of a game of T = {horizon:,}, over the "
        "mean regret with none, both from the same seeds. Bars: 95% intervals, cut off below. "
        "Dotted: as many as leave the rate as it is, by the paper: for its learner, and for one "
        "that discards flat rounds."
    )
    return figure, "flat_rounds", caption


def _panel(axes: Any, number: int, lines: list[FlatRounds]) -> None:
    floor = FLOOR * min(line.ratio for line in lines)
    names, ends = list(dict.fromkeys(line.learner for line in lines)), list[EndLabel]()
    for name, look in zip(names, looks(len(names)), strict=True):
        own = [line for line in lines if line.learner == name and line.power != NONE]
        places = [log(line.rounds) / log(line.horizon) for line in own]
        lows = [max(line.low, floor) for line in own]
        axes.vlines(places, lows, [line.high for line in own], color=look.colour, lw=0.9)
        axes.plot(places, [x.ratio for x in own], look.marker, color=look.colour, ls=look.dash)
        ends.append(EndLabel(places[-1], own[-1].ratio, name, look.colour))
    order = TABLES[number].order
    for power in (TABLES[number].flat_power, Fraction(order - 1, order)):
        axes.axvline(float(power), color=GREY, ls=DOTTED, lw=1.3)
        axes.annotate(
            f"$T^{{{power}}}$",
            (float(power), 1.0),
            xycoords=("data", "axes fraction"),
            xytext=(2, -2),
            textcoords="offset points",
            va="top",
            fontsize=LEAST_TEXT,
            color=GREY,
        )
    axes.set(xlabel=r"$\ln M\,/\,\ln T$", ylabel="regret / regret with $M = 0$")
    if max(line.ratio for line in lines) > DECADE:
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter("{x:g}")
    axes.margins(x=0.04, y=0.08)
    axes.set_title(f"Table {number}: {TABLES[number].losses} losses")
    label_ends(axes, ends)
