"""`dikin rates`: every learner on its home ground, and the exponent of T that it shows there.

A learner is built anew for every horizon. The exponent is fitted as for the paper's tables, to the
mean regret at each horizon.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Column, Table

import dikin
from dikin.engine.jit import reproducible
from dikin.engine.play import play
from dikin.experiments.grounds import GROUNDS, Ground, grounds_of
from dikin.experiments.home_figure import draw
from dikin.experiments.measure import Fit, fit
from dikin.experiments.playing import play_missing, prepare_folder
from dikin.experiments.store import Store
from dikin.experiments.tables import write_csv

Array = NDArray[np.float64]

BAND = 0.08
"""How far a measured exponent may lie from the proved one."""
BLOCK = 4
"""Games that a cell plays."""


@dataclass(frozen=True)
class Effort:
    """How much is played: horizons and games, divided by a whole number each."""

    name: str
    horizons: int
    games: int


QUICK = Effort("quick", 10, 2)
FULL = Effort("full", 1, 1)


@dataclass(frozen=True)
class Request:
    """What was asked for."""

    effort: Effort
    learners: tuple[str, ...] = ()
    seed: int = 0
    workers: int = 2
    dask: None = None

    def settings(self) -> dict[str, Any]:
        """What the results depend on: a store holds one such configuration."""
        return {
            "version": dikin.__version__,
            "effort": asdict(self.effort),
            "seed": self.seed,
        }


@dataclass(frozen=True, order=True)
class Games:
    """Games of one ground at one horizon that are played together."""

    ground: str
    horizon: int
    first_seed: int
    seeds: int
    base_seed: int

    @property
    def key(self) -> str:
        """The cell's name in the store."""
        return "/".join(str(value) for value in asdict(self).values())

    @property
    def work(self) -> float:
        """Microseconds, about."""
        return GROUNDS[self.ground].pace * self.horizon * self.seeds


def cells(ground: Ground, effort: Effort, base_seed: int) -> list[Games]:
    """Everything to be played on a ground."""
    seeds = ground.seeds // effort.games
    return [
        Games(ground.key, horizon, first, min(BLOCK, seeds - first), base_seed)
        for horizon in ground.horizons(effort.horizons)
        for first in range(0, seeds, BLOCK)
    ]


def play_games(cell: Games) -> list[dict[str, Any]]:
    """The regret of each game in units of half the losses' range; a pure function of the cell."""
    ground, results = GROUNDS[cell.ground], []
    for offset in range(cell.seeds):
        seed = cell.base_seed * 1_000_003 + cell.first_seed + offset
        world = ground.losses.start(seed)
        learner = ground.player.start(world, cell.horizon, seed)
        with reproducible(inf):
            run = play(learner, world, cell.horizon, checkpoints=1, progress=False)
        regret = float(run.regret[-1]) / learner.units.loss_scale
        results.append({"seed": seed, "regret": regret})
    return results


@dataclass(frozen=True)
class Line:
    """A ground with what was measured on it."""

    ground: Ground
    horizons: Array
    regrets: Array
    """One row a horizon, one column a game."""
    fit: Fit

    @classmethod
    def of(cls, ground: Ground, horizons: Array, regrets: Array) -> Line:
        return cls(ground, horizons, regrets, fit(horizons, regrets, f"home/{ground.key}"))

    @property
    def means(self) -> Array:
        return np.asarray(self.regrets.mean(axis=1))

    @property
    def errors(self) -> Array:
        """Standard errors of the means."""
        count = self.regrets.shape[1]
        return np.asarray(self.regrets.std(axis=1, ddof=1) / np.sqrt(count))

    @property
    def gap(self) -> float:
        """Measured minus proved exponent."""
        return self.fit.exponent - self.ground.bound.exponent(self.horizons)


@dataclass(frozen=True)
class Logarithm:
    """regret = start + step ln T, and how far it misses the means, against the power law."""

    start: float
    step: float
    misfit: float
    """The largest distance of a mean from the line, as a share of the mean."""
    power_misfit: float
    """The same for factor T^exponent."""

    @classmethod
    def of(cls, line: Line) -> Logarithm:
        logs, means = np.log(line.horizons), line.means
        step, start = np.polyfit(logs, means, 1)
        power = line.fit.factor * line.horizons**line.fit.exponent
        miss, other = (np.abs(f / means - 1).max() for f in (start + step * logs, power))
        return cls(float(start), float(step), float(miss), float(other))


def rates(request: Request, out: Path, console: Console) -> list[Line]:
    """Measure the grounds asked for into a folder."""
    chosen = grounds_of(request.learners)
    prepare_folder(out)
    store = Store(f"sqlite:///{out / 'cells.sqlite'}", request.settings())
    wanted = [cell for ground in chosen for cell in cells(ground, request.effort, request.seed)]
    play_missing(wanted, play_games, store, request, console)
    finished = store.finished()
    lines = [line_of(ground, request, finished) for ground in chosen]
    write_all(lines, out)
    console.print(screen_table(lines))
    console.print(f"The figure is {out / 'rates.png'}")
    return lines


def line_of(ground: Ground, request: Request, finished: dict[str, Any]) -> Line:
    """A ground's line from finished cells."""
    by_horizon: dict[int, list[float]] = {}
    for cell in cells(ground, request.effort, request.seed):
        games = [result["regret"] for result in finished[cell.key]]
        by_horizon.setdefault(cell.horizon, []).extend(games)
    return Line.of(ground, np.array([*by_horizon], dtype=float), np.array([*by_horizon.values()]))


def write_all(lines: list[Line], out: Path) -> None:
    """Every file of the folder."""
    header = "ground learner losses bound proved bound_slope measured low high gap"
    rows = [
        [
            line.ground.key,
            str(line.ground.player),
            str(line.ground.losses),
            str(line.ground.bound),
            *(
                f"{number:.6f}"
                for number in (
                    line.ground.bound.exponent(line.horizons),
                    line.ground.bound.slope(line.horizons),
                    line.fit.exponent,
                    line.fit.low,
                    line.fit.high,
                    line.gap,
                )
            ),
            line.regrets.shape[1],
        ]
        for line in lines
    ]
    write_csv(out / "rates.csv", [[*header.split(), "games"], *rows])
    write_csv(
        out / "regrets.csv",
        [["ground", "horizon", "regret", "error"]]
        + [
            [line.ground.key, int(horizon), f"{mean:.6f}", f"{error:.6f}"]
            for line in lines
            for horizon, mean, error in zip(line.horizons, line.means, line.errors, strict=True)
        ],
    )
    slow = [line for line in lines if line.ground.bound.power == 0]
    write_csv(
        out / "logarithms.csv",
        [["ground", "start", "step", "misfit", "power_misfit"]]
        + [
            [line.ground.key, *(f"{n:.6f}" for n in asdict(Logarithm.of(line)).values())]
            for line in slow
        ],
    )
    draw(lines, out / "rates.png")


def screen_table(lines: list[Line]) -> Table:
    """The table for the terminal."""
    shown = Table(
        Column("ground", no_wrap=True),
        *("proved", "measured", "95%", "gap", "up to T"),
        box=SIMPLE_HEAD,
        title="Exponents of T on home ground",
        caption=f"gap: measured minus proved exponent; ! marks one of more than {BAND}",
    )
    for line in lines:
        shown.add_row(
            line.ground.key,
            str(line.ground.bound.power or "ln T"),
            f"{line.fit.exponent:.3f}",
            f"{line.fit.low:.3f}-{line.fit.high:.3f}",
            f"{line.gap:+.3f}{' !' if abs(line.gap) > BAND else ''}",
            f"{int(line.horizons[-1]):,}",
        )
    return shown
