"""What a study looks like in a terminal: a summary, and curves made of blocks."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite

import numpy as np

from dikin.studies.drawing import learner_curves
from dikin.studies.history import Table
from dikin.studies.study import Study
from dikin.tuning.drawing import far_off
from dikin.vectors import Array

WIDTH = 42
"""Blocks of a curve: with its name and two numbers it fits into 80 columns."""
MARGIN = 14
"""Columns that the names take, if none is longer."""
BLOCKS = "▁▂▃▄▅▆▇█"
FAR_OFF = "▼▲"
"""Below and above the scale."""


def curves(study: Study, rounds: Table) -> dict[str, Array]:
    """What is shown over the rounds."""
    if study.space is None:
        return learner_curves(rounds)
    return {name: rounds[name] for name in (*study.space.columns, "value")}


def sparkline(values: Array, width: int = WIDTH) -> str:
    """A curve as one line of blocks, each the mean of its share of the rounds; a gap for NaN.

    A share with a value far off is a triangle, which says on which side, and flattens no other.
    """
    shares = np.array_split(values, min(width, len(values))) if len(values) else []
    far = np.array_split(far_off(values), len(shares)) if shares else []
    means = np.array([np.mean(share) for share in shares])
    usual = np.array([not any(each) for each in far], bool)
    seen = means[usual & np.isfinite(means)]
    if not len(seen):
        return " " * len(means)
    low, spread = seen.min(), (seen.max() - seen.min()) or 1.0
    return "".join(
        _block((mean - low) / spread) if near else FAR_OFF[int(mean > low)]
        for mean, near in zip(means, usual, strict=True)
    )


def _block(height: float) -> str:
    """A height from 0 to 1 as a block; a gap for NaN."""
    return BLOCKS[round(height * (len(BLOCKS) - 1))] if isfinite(height) else " "


def text(study: Study) -> Iterator[str]:
    """The summary and the curves, line by line, for a terminal."""
    rounds = study.history()
    lines = list(study.status().lines())
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
    far = sum(int(far_off(values).sum()) for values in over.values())
    if far:
        yield f"{'':<{margin}}{FAR_OFF}: {far:,} far off, not in the scale"
