"""The matrix as a picture: how many times the best regret each learner has, by scenario."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np

from dikin.experiments.compare.matrix import Matrix, Outcome
from dikin.experiments.compare.scenarios import GROUPS, SCENARIOS
from dikin.experiments.drawing import pyplot, save_figure

FAR = 30.0
"""The ratio at which the colours end."""
DARK = 4.0
"""The ratio from which on letters are white."""
BELOW = {
    "baseline": "the fixed-point baseline",
    "other packages": "optimizers of other packages",
    "sees more": "told more of a round",
}
"""What the sections below the lines are."""
WIDEST = 20
"""Scenarios in a row of panels, about."""
WRAP = 34
"""Characters in a line of what a column is."""


def draw(matrix: Matrix, file: Path) -> None:
    """One heat map a group of scenarios, in as few rows as stay readable."""
    plt = pyplot()
    learners, rows = matrix.learners(), arranged(matrix)
    widest = max(sum(len(names) for _, names in row) for row in rows)
    high = 3.0 + 0.27 * len(learners)
    size = max(8.0, 2.4 + 0.62 * widest), 0.9 + high * len(rows)
    figure = plt.figure(figsize=size, layout="constrained")
    figure.suptitle(_caption(matrix), fontsize=9, x=0.01, ha="left")
    bands = figure.subfigures(len(rows), 1, squeeze=False)[:, 0]
    for band, row in zip(bands, rows, strict=True):
        spare = widest - sum(len(names) for _, names in row)
        widths = [len(names) for _, names in row] + ([spare] if spare else [])
        panels = band.subplots(1, len(widths), width_ratios=widths, squeeze=False)[0]
        for panel in panels[len(row) :]:
            panel.axis("off")
        for k, (panel, (group, names)) in enumerate(zip(panels, row, strict=False)):
            image = _panel(panel, matrix, learners, names)
            panel.set_title(GROUPS.get(group, group), fontsize=10)
            panel.set_yticks(range(len(learners)), learners if k == 0 else [], fontsize=8)
        bar = band.colorbar(image, ax=panels, pad=0.01, ticks=[1, 2, 5, 10, 30], aspect=35)
        bar.ax.set_yticklabels(["1", "2", "5", "10", "30+"])
    save_figure(figure, file)


Row = list[tuple[str, list[str]]]


def arranged(matrix: Matrix) -> list[Row]:
    """The groups with their scenarios, in rows of about `WIDEST` scenarios."""
    rows: list[Row] = [[]]
    for group in matrix.groups:
        names = matrix.of_group(group)
        if rows[-1] and sum(len(n) for _, n in rows[-1]) + len(names) > WIDEST:
            rows.append([])
        rows[-1].append((group, names))
    return rows


def _panel(axes: Any, matrix: Matrix, learners: list[str], scenarios: list[str]) -> Any:
    from matplotlib.colors import LogNorm

    values = np.full((len(learners), len(scenarios)), np.nan)
    for i, learner in enumerate(learners):
        for j, scenario in enumerate(scenarios):
            outcome = matrix.at(learner, scenario)
            if outcome is not None and outcome.played:
                values[i, j] = matrix.ratio(outcome)
                _label(axes, j, i, matrix, outcome)
    norm = LogNorm(1.0, FAR)
    image = axes.imshow(np.clip(values, 1.0, FAR), cmap="cividis_r", norm=norm, aspect="auto")
    _frame(axes, matrix, learners, scenarios)
    return image


def _label(axes: Any, x: int, y: int, matrix: Matrix, outcome: Outcome) -> None:
    ratio, mark = matrix.ratio(outcome), matrix.mark(outcome)
    axes.text(
        x,
        y,
        _two_digits(ratio) + ("=" if mark == "tie" else "") + ("†" if outcome.broken else ""),
        ha="center",
        va="center",
        fontsize=7.5,
        color="white" if ratio > DARK else "black",
        fontweight="bold" if mark == "best" else "normal",
    )


def _two_digits(ratio: float) -> str:
    """A ratio with about two digits."""
    if ratio < 0.01:
        return "<0.01"
    return f"{ratio:.2f}" if ratio < 0.95 else f"{ratio:.1f}" if ratio < 9.95 else f"{ratio:.0f}"


def _frame(axes: Any, matrix: Matrix, learners: list[str], scenarios: list[str]) -> None:
    """What the columns are, white lines between the outcomes, black ones between the sections."""
    labels = [fill(_described(name), WRAP) for name in scenarios]
    axes.set_xticks(
        range(len(scenarios)), labels, rotation=90, ha="center", fontsize=6.5, linespacing=0.95
    )
    axes.set_xticks(np.arange(len(scenarios) + 1) - 0.5, minor=True)
    axes.set_yticks(np.arange(len(learners) + 1) - 0.5, minor=True)
    axes.grid(which="minor", color="white", lw=1.5)
    axes.tick_params(which="both", length=0)
    for side in axes.spines.values():
        side.set_visible(False)
    for i, (above, below) in enumerate(pairwise(learners)):
        if matrix.section(above) != matrix.section(below):
            axes.axhline(i + 0.5, color="black", lw=1.5)


def _described(scenario: str) -> str:
    """A scenario's name, and what is played where it is one of the library."""
    known = SCENARIOS.get(scenario)
    return f"{scenario}: {known.description}".replace("`", "") if known else scenario


def _caption(matrix: Matrix) -> str:
    there = {matrix.section(learner) for learner in matrix.learners()}
    below = ", then ".join(name for section, name in BELOW.items() if section in there)
    return (
        f"Regret after {matrix.rounds:,} rounds, in units of the best of this library's "
        "learners of one value a round.\nOn top the learner with the least median. "
        + (f"Below the lines: {below}.\n" if below else "\n")
        + "Bold: best. =: not distinguished from it. †: an assumption of the learner does not hold."
    )
