"""What knowing sigma is worth, and what believing a wrong one costs: a figure.

`HazanLevy` believes one sigma of every round, `AdaptiveSmooth` what it is told of each. Where every
round has that sigma they are alike. Where the first tenth of the rounds is flat (the losses say
nothing there), the one that believes in sigma ties itself to where it stood by then.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dikin.domains.ball import Ball
from dikin.engine.replicate import replicate
from dikin.environments.patterns import Constant, FlatFirst
from dikin.environments.quadratic import Quadratic
from dikin.experiments.figures import COLOURS, GREY, pyplot, save_figure
from dikin.experiments.measure import Fit, fit
from dikin.experiments.tables import write_csv
from dikin.learners.adaptive_smooth import AdaptiveSmooth
from dikin.learners.base import Learner
from dikin.learners.discard import Discard
from dikin.learners.hazan_levy import HazanLevy

HORIZONS = (10_000, 31_623, 100_000, 316_228, 1_000_000)
SEEDS = 16
SIGMA = 1.0
CASES = {"constant": "every round curved", "tenth-flat": "first tenth of the rounds flat"}
LEARNERS = ("AdaptiveSmooth", "HazanLevy", "Discard")


@dataclass(frozen=True)
class Curve:
    """The regrets of a learner in a case: rows are horizons, columns games."""

    case: str
    learner: str
    horizons: NDArray[np.float64]
    regrets: NDArray[np.float64]

    @property
    def means(self) -> NDArray[np.float64]:
        return np.asarray(self.regrets.mean(axis=1))

    @property
    def fit(self) -> Fit:
        return fit(self.horizons, self.regrets, f"known/{self.case}/{self.learner}")


def measure(case: str, learner: str, horizons: tuple[int, ...], seeds: int, workers: int) -> Curve:
    """Play a curve, each horizon anew; regrets in units of half the range of the losses."""
    rows = []
    for horizon in horizons:
        flat = horizon // 10 if case == "tenth-flat" else 0
        pattern = FlatFirst(SIGMA, flat) if flat else Constant(SIGMA)

        def game(seed: int, pattern: Any = pattern) -> Quadratic:
            return Quadratic(Ball(2), pattern, seed)

        def player(seed: int, horizon: int = horizon) -> Learner:
            return _learner(learner, horizon, game(seed).loss_range, seed)

        runs = replicate(player, game, horizon, seeds, workers, checkpoints=1)
        scale = player(0).units.loss_scale
        rows.append([float(run.regret[-1]) / scale for run in runs])
    return Curve(case, learner, np.array(horizons, dtype=float), np.array(rows))


def _learner(name: str, horizon: int, span: tuple[float, float], seed: int) -> Learner:
    if name == "AdaptiveSmooth":
        return AdaptiveSmooth(Ball(2), SIGMA, loss_range=span, horizon=horizon, seed=seed)
    kind = HazanLevy if name == "HazanLevy" else Discard
    return kind(Ball(2), horizon, SIGMA, SIGMA, loss_range=span, seed=seed)


def write(curves: list[Curve], file: Path) -> None:
    """Every game as CSV."""
    rows = [
        [curve.case, curve.learner, int(horizon), seed, f"{regret:.6f}"]
        for curve in curves
        for horizon, regrets in zip(curve.horizons, curve.regrets, strict=True)
        for seed, regret in enumerate(regrets)
    ]
    write_csv(file, [["case", "learner", "horizon", "seed", "regret"], *rows])


def read(file: Path) -> list[Curve]:
    """The curves that `write` wrote."""
    with open(file, encoding="utf-8") as opened:
        rows = list(csv.DictReader(opened))
    return list(_curves(rows))


def _curves(rows: list[dict[str, str]]) -> Iterator[Curve]:
    for case, learner in dict.fromkeys((row["case"], row["learner"]) for row in rows):
        own: dict[int, list[float]] = {}
        for row in rows:
            if (row["case"], row["learner"]) == (case, learner):
                own.setdefault(int(row["horizon"]), []).append(float(row["regret"]))
        yield Curve(case, learner, np.array(list(own), dtype=float), np.array([*own.values()]))


def draw(curves: list[Curve], file: Path) -> None:
    """Both cases side by side."""
    plt = pyplot()
    figure, panels = plt.subplots(
        1, len(CASES), figsize=(8.6, 3.6), sharey=True, layout="constrained"
    )
    for axes, (case, words) in zip(panels, CASES.items(), strict=True):
        for curve, colour, mark in zip(_of(curves, case), COLOURS, "osD", strict=False):
            label = f"{curve.learner}: T^{curve.fit.exponent:.2f}"
            axes.loglog(curve.horizons, curve.means, f"{mark}-", color=colour, ms=4, label=label)
        last = _of(curves, case)[0]
        half = last.means[0] * np.sqrt(last.horizons / last.horizons[0])
        axes.loglog(last.horizons, half, ":", color=GREY, label="slope 1/2")
        axes.set_title(words, fontsize=10)
        axes.set_xlabel("rounds T")
        axes.legend(frameon=False, fontsize=8)
    panels[0].set_ylabel("mean regret (units of B)")
    save_figure(plt, figure, file)


def _of(curves: list[Curve], case: str) -> list[Curve]:
    """Of a case; `Discard` is `HazanLevy` itself where nothing is thrown away."""
    hidden = {"Discard"} if case == "constant" else set()
    return [c for c in curves if c.case == case and c.learner not in hidden]


def main(folder: Path, workers: int = 2) -> None:
    """Play everything; known_curvature.csv and known_curvature.png."""
    curves = [
        measure(case, learner, HORIZONS, SEEDS, workers) for case in CASES for learner in LEARNERS
    ]
    write(curves, folder / "known_curvature.csv")
    draw(curves, folder / "known_curvature.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
