"""What a study looks like in a terminal: a summary, and curves made of blocks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dikin.studies.drawing import learner_curves
from dikin.studies.history import Table
from dikin.studies.study import Study
from dikin.vectors import Array

WIDTH = 42
"""Blocks of a curve: with its name and two numbers it fits into 80 columns."""
MARGIN = 14
"""Columns that the names take, if none is longer."""
BLOCKS = "▁▂▃▄▅▆▇█"


def curves(study: Study, rounds: Table) -> dict[str, Array]:
    """What is shown over the rounds."""
    if study.space is None:
        return learner_curves(rounds)
    return {name: rounds[name] for name in (*study.space.columns, "value")}


def sparkline(values: Array, width: int = WIDTH) -> str:
    """A curve as one line of blocks, each the mean of its share of the rounds; a gap for NaN."""
    shares = np.array_split(values, min(width, len(values))) if len(values) else []
    means = np.array([np.mean(share) for share in shares])
    seen = means[np.isfinite(means)]
    if not len(seen):
        return " " * len(means)
    low, spread = seen.min(), seen.max() - seen.min()
    heights = np.zeros(len(means)) if spread == 0 else (means - low) / spread * (len(BLOCKS) - 1)
    return "".join(BLOCKS[round(h)] if np.isfinite(h) else " " for h in heights)


def text(study: Study) -> Iterator[str]:
    """The summary and the curves, line by line, for a terminal."""
    rounds = study.history()
    lines = list(study.facts())
    if len(rounds):
        lines.append(("history", f"rounds {rounds['round'][0]:,} to {rounds['round'][-1]:,}"))
    over = curves(study, rounds) if len(rounds) else {}
    margin = max(MARGIN, *(len(name) + 1 for name in [*over, *(name for name, _ in lines)]))
    yield f"study {study.name}"
    for name, fact in lines:
        yield f"{name:<{margin}}{fact}"
    if over:
        yield f"{'':<{margin}}{'over the rounds':<{WIDTH}}{'first':>11}{'last':>11}"
    for name, values in over.items():
        ends = f"{values[0]:>11,.5g}{values[-1]:>11,.5g}"
        yield f"{name:<{margin}}{sparkline(values):<{WIDTH}}{ends}"
