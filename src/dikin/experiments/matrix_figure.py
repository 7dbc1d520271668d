"""The matrix as a picture: how many times the best regret each learner has, by environment."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from dikin.experiments.figures import saved
from dikin.experiments.matrix import Matrix

FAR = 30.0
"""The ratio at which the colours end."""


SIGNS = {"best": "", "tie": "=", "": ""}


def draw(matrix: Matrix, file: Path) -> None:
    """The heat map."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.colors import LogNorm

    learners, environments = matrix.learners(), matrix.environments
    values = np.full((len(learners), len(environments)), np.nan)
    figure, axes = plt.subplots(
        figsize=(max(7.0, 2.2 + 0.78 * len(environments)), 2.0 + 0.34 * len(learners)),
        layout="constrained",
    )
    for i, learner in enumerate(learners):
        for j, environment in enumerate(environments):
            cell = matrix.at(learner, environment)
            if cell is None or not cell.played:
                continue
            values[i, j] = ratio = matrix.ratio(cell)
            mark = matrix.mark(cell)
            axes.text(
                j,
                i,
                _spoken(ratio) + SIGNS[mark] + ("†" if cell.broken else ""),
                ha="center",
                va="center",
                fontsize=8,
                color="white" if ratio > 4 else "black",
                fontweight="bold" if mark == "best" else "normal",
            )
    norm = LogNorm(1.0, FAR)
    image = axes.imshow(np.clip(values, 1.0, FAR), cmap="cividis_r", norm=norm, aspect="auto")
    axes.set_xticks(range(len(environments)), environments, rotation=35, ha="right")
    axes.set_yticks(range(len(learners)), learners)
    more = sum(
        1 for name in learners if any(c.learner == name and c.sees_more for c in matrix.cells)
    )
    if 0 < more < len(learners):
        axes.axhline(len(learners) - more - 0.5, color="black", lw=1.5)
        for tick in axes.get_yticklabels()[len(learners) - more :]:
            tick.set_fontstyle("italic")
    axes.set_xticks(np.arange(len(environments) + 1) - 0.5, minor=True)
    axes.set_yticks(np.arange(len(learners) + 1) - 0.5, minor=True)
    axes.grid(which="minor", color="white", lw=1.5)
    axes.tick_params(which="both", length=0)
    for side in axes.spines.values():
        side.set_visible(False)
    bar = figure.colorbar(image, ax=axes, pad=0.02, ticks=[1, 2, 5, 10, 30])
    bar.ax.set_yticklabels(["1", "2", "5", "10", "30+"])
    rounds = matrix.cells[0].rounds
    axes.set_title(
        f"Regret after {rounds:,} rounds, in units of the best learner's (one value a round).\n"
        "Bold: best. =: not told apart from it. †: an assumption of the learner does not hold.\n"
        + ("Below the line: learners that are told more of a round." if more else ""),
        fontsize=9,
        loc="left",
    )
    saved(plt, figure, file)


def _spoken(ratio: float) -> str:
    """A ratio with two digits that count."""
    if ratio < 0.01:
        return "<0.01"
    return f"{ratio:.2f}" if ratio < 0.95 else f"{ratio:.1f}" if ratio < 9.95 else f"{ratio:.0f}"
