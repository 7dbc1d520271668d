"""Small multiples of regret against T: a panel per case."""

from __future__ import annotations

from math import ceil
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np

from dikin.plotting.formulas import maths
from dikin.plotting.publication import (
    COLOURS,
    DOTTED,
    LEAST_TEXT,
    ROUNDS,
    SOLID,
    TINY,
    WIDTH,
    Look,
    draw_curve,
    draw_slope,
    publish,
    pyplot,
)
from dikin.plotting.style import GREY
from evidence.rates.results import BAND, Line, LogFit

COLUMNS, HEIGHT = 4, 1.62
"""Panels in a row, and inches of a row."""
WRAP = 33
"""Letters in a line above a panel."""
WITHIN, OUTSIDE = COLOURS[:2]
"""The colour of an exponent near the proved one, and of one that is not."""


def draw(lines: list[Line], file: Path) -> None:
    """Measured means with their fitted slope, and the proved slope through the last of them."""
    plt = pyplot()
    rows = ceil(len(lines) / COLUMNS)
    figure, panels = plt.subplots(
        rows,
        COLUMNS,
        figsize=(WIDTH, HEIGHT * rows + 0.4),
        layout="constrained",
        squeeze=False,
    )
    for axes in panels.flat[len(lines) :]:
        axes.set_axis_off()
    for axes, line in zip(panels.flat, lines, strict=False):
        _panel(axes, line)
    for axes in panels[:, 0]:
        axes.set_ylabel("mean regret")
    for place in range(len(lines))[-COLUMNS:]:
        panels.flat[place].set_xlabel(ROUNDS)
    _key(figure, any(line.missed for line in lines))
    publish(figure, file)


def _panel(axes: Any, line: Line) -> None:
    bound, curve = line.case.bound, line.curve
    colour = OUTSIDE if line.missed else WITHIN
    axes.set_xscale("log")
    draw_curve(axes, curve.band, Look(colour, "o", "none"))
    if bound.power == 0:  # a logarithm is straight where only T is on a logarithmic scale
        axes.plot(curve.sizes, LogFit.of(curve).at(curve.sizes), color=colour, ls=SOLID)
        axes.set_ylim(0, 1.6 * (curve.means + 2 * np.nan_to_num(curve.errors)).max())
    else:
        axes.set_yscale("log")
        means = np.maximum(curve.means, TINY)  # as they are drawn
        draw_slope(axes, curve.sizes, means[-1], float(bound.power))
        axes.plot(curve.sizes, curve.power.at(curve.sizes), color=colour, ls=SOLID)
        low, high = np.log10([means.min(), means.max()])
        axes.set_ylim(10 ** np.floor(low), 10 ** np.ceil(high + 0.35))
        axes.yaxis.set_minor_formatter("")
    axes.xaxis.set_minor_formatter("")
    heading = f"{fill(str(line.case.learner), WRAP)}\n{fill(str(line.case.losses), WRAP)}"
    axes.set_title(maths(heading), fontsize=LEAST_TEXT, loc="left", linespacing=1.0)
    axes.tick_params(labelsize=LEAST_TEXT)
    fit = curve.power
    text = f"proved {maths(str(bound))}\n{fit.exponent:.3f} ({fit.low:.3f} to {fit.high:.3f})"
    style = {"va": "top", "fontsize": LEAST_TEXT, "linespacing": 1.1, "color": "black"}
    axes.text(0.04, 1.0, text, transform=axes.transAxes, **style)


def _key(figure: Any, missed: bool) -> None:
    """What the lines mean, below the panels."""
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], color=WITHIN, marker="o", label="mean, 95% band, fitted growth"),
        Line2D([], [], color=GREY, ls=DOTTED, lw=1.3, label="proved power of $T$"),
    ]
    if missed:
        words = f"exponent more than {BAND:g} from the proved one"
        handles.insert(1, Line2D([], [], color=OUTSIDE, marker="o", label=words))
    figure.legend(handles=handles, loc="outside lower center", ncols=3)
