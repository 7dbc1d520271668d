"""The matrix as a picture: how many times the best regret each learner has, by environment."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from dikin.experiments.figures import pyplot, save_figure
from dikin.experiments.matrix import SECTIONS, Cell, Matrix

FAR = 30.0
"""The ratio at which the colours end."""
DARK = 4.0
"""The ratio from which on letters are white."""
SIGNS = {"best": "", "tie": "=", "": ""}


def draw(matrix: Matrix, file: Path) -> None:
    """The heat map."""
    from matplotlib.colors import LogNorm

    plt = pyplot()
    learners, environments = matrix.learners(), matrix.environments
    size = max(7.0, 2.2 + 0.78 * len(environments)), 2.1 + 0.34 * len(learners)
    figure, axes = plt.subplots(figsize=size, layout="constrained")
    values = np.full((len(learners), len(environments)), np.nan)
    for i, learner in enumerate(learners):
        for j, environment in enumerate(environments):
            cell = matrix.at(learner, environment)
            if cell is not None and cell.played:
                values[i, j] = matrix.ratio(cell)
                _label(axes, j, i, matrix, cell)
    norm = LogNorm(1.0, FAR)
    image = axes.imshow(np.clip(values, 1.0, FAR), cmap="cividis_r", norm=norm, aspect="auto")
    _frame(axes, matrix, learners, environments)
    bar = figure.colorbar(image, ax=axes, pad=0.02, ticks=[1, 2, 5, 10, 30])
    bar.ax.set_yticklabels(["1", "2", "5", "10", "30+"])
    axes.set_title(_caption(matrix), fontsize=9, loc="left")
    save_figure(plt, figure, file)


def _label(axes: Any, x: int, y: int, matrix: Matrix, cell: Cell) -> None:
    ratio, mark = matrix.ratio(cell), matrix.mark(cell)
    axes.text(
        x,
        y,
        _spoken(ratio) + SIGNS[mark] + ("†" if cell.broken else ""),
        ha="center",
        va="center",
        fontsize=8,
        color="white" if ratio > DARK else "black",
        fontweight="bold" if mark == "best" else "normal",
    )


def _spoken(ratio: float) -> str:
    """A ratio with two digits that count."""
    if ratio < 0.01:
        return "<0.01"
    return f"{ratio:.2f}" if ratio < 0.95 else f"{ratio:.1f}" if ratio < 9.95 else f"{ratio:.0f}"


def _frame(axes: Any, matrix: Matrix, learners: list[str], environments: list[str]) -> None:
    """Names, white lines between the cells, black ones between the sections."""
    axes.set_xticks(range(len(environments)), environments, rotation=35, ha="right")
    axes.set_yticks(range(len(learners)), learners)
    axes.set_xticks(np.arange(len(environments) + 1) - 0.5, minor=True)
    axes.set_yticks(np.arange(len(learners) + 1) - 0.5, minor=True)
    axes.grid(which="minor", color="white", lw=1.5)
    axes.tick_params(which="both", length=0)
    for side in axes.spines.values():
        side.set_visible(False)
    for i, (above, below) in enumerate(pairwise(learners)):
        if matrix.section(above) != matrix.section(below):
            axes.axhline(i + 0.5, color="black", lw=1.5)


def _caption(matrix: Matrix) -> str:
    there = {matrix.section(learner) for learner in matrix.learners()}
    words = dict(
        zip(
            SECTIONS,
            ("", "standing still", "optimisers of other packages", "told more of a round"),
            strict=True,
        )
    )
    below = ", then ".join(words[s] for s in SECTIONS[1:] if s in there)
    return (
        f"Regret after {matrix.cells[0].rounds:,} rounds, in units of the best of this library's "
        "learners of one value a round.\n"
        "Bold: best. =: not told apart from it. †: an assumption of the learner does not hold.\n"
        + (f"Below the lines: {below}." if below else "")
    )
