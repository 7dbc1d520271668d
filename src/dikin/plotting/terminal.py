from __future__ import annotations

from math import isfinite

import numpy as np

from dikin.plotting.curves import far_off
from dikin.vectors import Array

WIDTH = 42
"""Blocks of a curve: with its name and two numbers it fits into 80 columns."""
BLOCKS = "▁▂▃▄▅▆▇█"
FAR_OFF = "▼▲"
"""Below and above the scale."""


def sparkline(values: Array, width: int = WIDTH) -> str:
    """A curve as one line of blocks, each the mean of its share of the rounds, with a gap for NaN.

    A share with a value far off is a triangle, which says on which side, and flattens no other.
    """
    shares = np.array_split(values, min(width, len(values))) if len(values) else []
    far = np.array_split(far_off(values), len(shares)) if shares else []
    means = np.array([np.mean(share) for share in shares])
    usual = np.array([not any(each) for each in far], bool)
    usual_means = means[usual & np.isfinite(means)]
    if not len(usual_means):
        return " " * len(means)
    low, spread = usual_means.min(), (usual_means.max() - usual_means.min()) or 1.0
    return "".join(
        FAR_OFF[int(mean > low)] if not near
        else BLOCKS[round((mean - low) / spread * (len(BLOCKS) - 1))] if isfinite(mean) else " "
        for mean, near in zip(means, usual, strict=True)
    )  # fmt: skip
