"""Playing a cell, and fitting exponents to what was played."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dikin.engine.jit import reproducible
from dikin.engine.play import play
from dikin.errors import PaperConstantsWarning
from dikin.experiments.plan import TABLES, Cell
from dikin.rng import stream

Array = NDArray[np.float64]
RESAMPLES = 2000


def play_cell(cell: Cell) -> list[dict[str, Any]]:
    """One result a seed: regret and certificate at the horizon, in the paper's units.

    A pure function of the cell.
    """
    table, domain = TABLES[cell.table], cell.domain()
    results = []
    for offset in range(cell.seeds):
        seed = cell.base_seed * 1_000_003 + cell.first_seed + offset
        world = table.environment(domain, cell.row, cell.horizon, seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PaperConstantsWarning)
            learner = table.learner(world, cell.constants, cell.horizon, seed)
        with reproducible(inf):
            run = play(learner, world, cell.horizon, checkpoints=1, progress=False)
        scale = learner.units.loss_scale
        results.append(
            {
                "seed": seed,
                "regret": float(run.regret[-1]) / scale,
                "certificate": float(run.certificate[-1]) / scale,
            }
        )
    return results


@dataclass(frozen=True)
class Fit:
    """A measured exponent with its 95% interval."""

    exponent: float
    low: float
    high: float
    factor: float
    """regret = factor * T^exponent."""


def fit(sizes: Array, regrets: Array, name: str) -> Fit:
    """Least squares on the log-log curve of mean regrets (rows: sizes, columns: seeds).

    The interval is from a bootstrap over seeds; `name` fixes its randomness.
    """
    exponent, factor = _slope(sizes, regrets.mean(axis=1))
    rng = stream(0, name)
    count = regrets.shape[1]
    resampled = [
        _slope(sizes, regrets[:, rng.integers(0, count, count)].mean(axis=1))[0]
        for _ in range(RESAMPLES)
    ]
    low, high = np.quantile(resampled, [0.025, 0.975])
    return Fit(exponent, float(low), float(high), factor)


def _slope(sizes: Array, means: Array) -> tuple[float, float]:
    slope, intercept = np.polyfit(np.log(sizes), np.log(np.maximum(means, 1e-12)), 1)
    return float(slope), float(np.exp(intercept))
