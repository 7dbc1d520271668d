"""Small multiples of regret against T: a panel per case."""

from __future__ import annotations

from math import ceil
from pathlib import Path
from typing import Any

import numpy as np

from dikin.experiments.drawing import COLOURS, GREY, pyplot, save_figure
from dikin.experiments.rates.results import Line

COLUMNS = 4


def draw(lines: list[Line], file: Path) -> None:
    """Measured means with their fitted slope, and the proved slope through the last of them."""
    plt = pyplot()
    columns = min(COLUMNS, len(lines))
    rows = ceil(len(lines) / columns)
    figure, panels = plt.subplots(
        rows,
        columns,
        figsize=(2.6 * columns, 2.3 * rows + 0.4),
        layout="constrained",
        squeeze=False,
    )
    for axes in panels.flat[len(lines) :]:
        axes.set_visible(False)
    for axes, line in zip(panels.flat, lines, strict=False):
        _panel(axes, line)
    for axes in panels[:, 0]:
        axes.set_ylabel("regret")
    for place in range(len(lines))[-columns:]:
        panels.flat[place].set_xlabel("rounds T")
    save_figure(figure, file)


def _panel(axes: Any, line: Line) -> None:
    bound, curve = line.case.bound, line.curve
    horizons, means, errors = curve.sizes, curve.means, curve.errors
    if bound.power == 0:  # a logarithm is straight where only T is on a logarithmic scale
        axes.semilogx(horizons, curve.logarithm.at(horizons), color=COLOURS[0], lw=1.2)
        axes.set_ylim(0, 1.25 * (means + 2 * errors).max())
    else:
        proved = means[-1] * (horizons / horizons[-1]) ** float(bound.power)
        axes.loglog(horizons, proved, ":", color=GREY, lw=1.6)
        axes.loglog(horizons, curve.power.at(horizons), color=COLOURS[0], lw=1.2)
        low, high = np.log10([means.min(), means.max()])
        axes.set_ylim(10 ** np.floor(low), 10 ** np.ceil(high + 0.1))
        axes.yaxis.set_minor_formatter("")
    axes.errorbar(horizons, means, 2 * errors, fmt="o", color=COLOURS[0], ms=3.5, lw=1)
    axes.set_title(f"{line.case.learner}\n{line.case.losses}", fontsize=6.5)
    text = f"proved {bound}\nmeasured {curve.power.exponent:.3f}"
    axes.text(0.04, 0.96, text, transform=axes.transAxes, va="top", fontsize=7)
