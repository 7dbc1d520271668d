"""What knowing sigma is worth, and what believing a wrong one costs: a figure.

`HazanLevy` believes one sigma of every round, `AdaptiveSmooth` what it is told of each. Where every
round has that sigma they are alike. Where the first tenth of the rounds is flat (the losses say
nothing there), the one that assumes sigma stays near where it was by then.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

import dikin
from dikin import environments, learners
from dikin.environments.patterns import Constant, FlatFirst
from dikin.experiments import runner
from dikin.experiments.cell import Cell, Result, blocks
from dikin.experiments.fit import Curve
from dikin.experiments.tables import Columns, read_csv, six_decimals, write_csv
from dikin.plotting.publication import (
    DOTTED,
    REGRET,
    ROUNDS,
    WIDTH,
    EndLabel,
    Look,
    draw_curve,
    draw_slope,
    label_ends,
    looks,
    publish,
    pyplot,
)
from dikin.plotting.style import GREY
from evidence.commands import finish, parser

HORIZONS = (10_000, 31_623, 100_000, 316_228, 1_000_000)
SEEDS = range(16)
SIGMA = 1.0
CASES = {"constant": "every round curved", "tenth-flat": "first tenth of the rounds flat"}
LEARNERS = ("AdaptiveSmooth", "HazanLevy", "Discard")
Curves = dict[tuple[str, str], Curve]
"""By case and learner."""


@dataclass(frozen=True)
class CurvatureCell(Cell):
    """Games of a learner in a case, in units of half the range of the losses."""

    case: str
    learner: str

    @property
    def name(self) -> str:
        return f"known curvature/{self.case}/{self.learner}"

    @property
    def round_cost(self) -> float:
        return 1.0

    def start(self, seed: int) -> tuple[dikin.Learner, dikin.Environment]:
        flat = self.horizon // 10 if self.case == "tenth-flat" else 0
        pattern = FlatFirst(SIGMA, flat) if flat else Constant(SIGMA)
        game = environments.Quadratic(dikin.Ball(2), pattern, seed)
        return self._learner(game, seed), game

    def _learner(self, game: dikin.Environment, seed: int) -> dikin.Learner:
        domain, horizon, span = game.domain, self.horizon, game.loss_range
        if self.learner == "AdaptiveSmooth":
            return dikin.AdaptiveSmooth(domain, SIGMA, loss_range=span, horizon=horizon, seed=seed)
        kind = learners.HazanLevy if self.learner == "HazanLevy" else learners.Discard
        return kind(domain, horizon, SIGMA, SIGMA, loss_range=span, seed=seed)


def cells(horizons: Iterable[int] = HORIZONS, seeds: range = SEEDS) -> Iterator[CurvatureCell]:
    """Everything to be played."""
    for case in CASES:
        for learner in LEARNERS:
            for horizon in horizons:
                for block in blocks(seeds):
                    yield CurvatureCell(horizon, block, case, learner)


FILE: Columns[tuple[CurvatureCell, Result]] = {
    "case": lambda game: game[0].case,
    "learner": lambda game: game[0].learner,
    "horizon": lambda game: game[0].horizon,
    "seed": lambda game: game[1]["seed"],
    "regret": lambda game: six_decimals(game[1]["regret"]),
}


def read(file: Path) -> Curves:
    """The curves of a file of games."""
    found: dict[tuple[str, str], list[tuple[int, list[Result]]]] = {}
    for row in read_csv(file):
        game = int(row["horizon"]), [{"regret": float(row["regret"])}]
        found.setdefault((row["case"], row["learner"]), []).append(game)
    return {key: Curve.of(games) for key, games in found.items()}


def draw(measured: Curves, file: Path) -> None:
    """Both cases side by side."""
    figure, panels = pyplot().subplots(
        1, len(CASES), figsize=(WIDTH, 2.9), sharey=True, layout="constrained"
    )
    look = dict(zip(LEARNERS, looks(len(LEARNERS)), strict=True))
    drawn = {axes: _shown(measured, case) for axes, case in zip(panels, CASES, strict=True)}
    for axes, words in zip(panels, CASES.values(), strict=True):
        axes.set(xscale="log", yscale="log", xlabel=ROUNDS)
        axes.set_title(words, loc="left")
        for learner, curve in drawn[axes].items():
            draw_curve(axes, curve.band, look[learner])
        first = drawn[axes][LEARNERS[0]]
        draw_slope(
            axes, first.sizes, first.means[0] * np.sqrt(first.sizes[-1] / first.sizes[0]), 0.5
        )
    panels[0].set_ylabel(REGRET)
    for axes, curves in drawn.items():
        label_ends(axes, [_end(learner, curve, look[learner]) for learner, curve in curves.items()])
    _key(figure)
    publish(figure, file)


def _end(learner: str, curve: Curve, look: Look) -> EndLabel:
    fit = curve.power
    text = f"{learner}\n$T^{{{fit.exponent:.2f}}}$ ({fit.low:.2f} to {fit.high:.2f})"
    return EndLabel(curve.sizes[-1], curve.means[-1], text, look.colour)


def _key(figure: Any) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    games = Patch(color=GREY, alpha=0.2, lw=0, label=f"95% band of the mean, {len(SEEDS)} games")
    half = Line2D([], [], color=GREY, ls=DOTTED, lw=1.3, label="slope 1/2")
    figure.legend(handles=[games, half], loc="outside lower center", ncols=2)


def _shown(measured: Curves, case: str) -> dict[str, Curve]:
    """The curves of a case; `Discard` is `HazanLevy` itself where nothing is thrown away."""
    return {
        learner: curve
        for (of, learner), curve in measured.items()
        if of == case and (case, learner) != ("constant", "Discard")
    }


def main(folder: Path, workers: int, console: Console) -> None:
    """Play everything; known_curvature.csv, and the figure as PNG and SVG."""
    wanted = list(cells())
    results = runner.run(wanted, runner.Request(workers=workers), folder, console)
    games = [(cell, result) for cell in wanted for result in results[cell.key]]
    write_csv(folder / "known_curvature.csv", FILE, games)
    draw(read(folder / "known_curvature.csv"), folder / "known_curvature.png")


if __name__ == "__main__":
    chosen = parser(__doc__, "comparison").parse_args()
    finish(partial(main, chosen.out, chosen.workers))
