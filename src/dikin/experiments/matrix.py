"""The matrix of `dikin compare`: what was measured in every cell, who is best, and files of it."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import nan, sqrt
from pathlib import Path
from statistics import fmean, median, stdev

from scipy.stats import t as student
from scipy.stats import ttest_ind

from dikin.experiments.tables import write_csv

LEVEL = 0.95
FLOOR = 1.0
"""Regrets below half a range of the losses in a whole game count as that much in a ratio."""


OURS = "dikin"
SECTIONS = (OURS, "baseline", "other packages", "sees more")


@dataclass(frozen=True)
class Cell:
    """A learner in an environment."""

    learner: str
    environment: str
    feedback: str
    """VALUE for the learners that play the same game; what the others are told, they see more."""
    rounds: int
    seeds: tuple[int, ...] = ()
    regrets: tuple[float, ...] = ()
    """One a seed, in units of half the range of the losses."""
    seconds: float = nan
    """Of the fastest game."""
    fused: bool = False
    broken: tuple[str, ...] = ()
    """Assumptions of the learner that the environment does not keep."""
    left_out: str = ""
    """Why nothing was played."""
    package: str = OURS
    """Where the learner comes from."""

    @property
    def played(self) -> bool:
        return bool(self.regrets)

    @property
    def sees_more(self) -> bool:
        return self.feedback != "VALUE"

    @property
    def section(self) -> str:
        own = self.package if self.package in SECTIONS else "other packages"
        return "sees more" if self.sees_more else own

    @property
    def mean(self) -> float:
        return fmean(self.regrets)

    @property
    def half(self) -> float:
        """Half the 95% interval of the mean; NaN for a single game."""
        return half_interval(self.regrets)


def half_interval(values: Sequence[float]) -> float:
    """Half of Student's interval for the mean."""
    count = len(values)
    if count < 2:
        return nan
    return float(student.ppf((1 + LEVEL) / 2, count - 1)) * stdev(values) / sqrt(count)


@dataclass(frozen=True)
class Matrix:
    """Every cell that was asked for."""

    cells: tuple[Cell, ...]

    @property
    def environments(self) -> list[str]:
        return list(dict.fromkeys(cell.environment for cell in self.cells))

    def at(self, learner: str, environment: str) -> Cell | None:
        """The cell of a learner in an environment, if it was asked for."""
        for cell in self.cells:
            if (cell.learner, cell.environment) == (learner, environment):
                return cell
        return None

    def ranked(self, environment: str) -> list[Cell]:
        """The learners that see one value, least mean regret first."""
        found = [c for c in self.cells if c.environment == environment and c.played]
        return sorted((c for c in found if not c.sees_more), key=lambda c: c.mean)

    def own(self, environment: str) -> list[Cell]:
        """Those of them that this library has."""
        return [cell for cell in self.ranked(environment) if cell.package == OURS]

    def mark(self, cell: Cell) -> str:
        """`best`, or `tie` where the games do not tell a learner from the best, or nothing."""
        if cell.sees_more or not cell.played:
            return ""
        best = self.ranked(cell.environment)[0]
        if cell is best:
            return "best"
        return "tie" if ties(cell, best) else ""

    def ratio(self, cell: Cell) -> float:
        """The mean regret in units of the least that a learner of this library has."""
        rivals = self.own(cell.environment) or self.ranked(cell.environment) or [cell]
        return max(cell.mean, FLOOR) / max(rivals[0].mean, FLOOR)

    def learners(self) -> list[str]:
        """Those that played anything: by section, then by the median of their ratios.

        Those of a section that played in less than half of the environments come last in it.
        """
        found: dict[str, list[Cell]] = {}
        for cell in self.cells:
            if cell.played:
                found.setdefault(cell.learner, []).append(cell)
        return sorted(
            found,
            key=lambda name: (
                SECTIONS.index(found[name][0].section),
                2 * len(found[name]) < len(self.environments),
                median(map(self.ratio, found[name])),
                name,
            ),
        )

    def section(self, learner: str) -> str:
        """What a learner is compared with first."""
        return next(cell.section for cell in self.cells if cell.learner == learner)

    def absent(self) -> dict[str, list[Cell]]:
        """The cells that nothing was played in, by reason, which names the learner."""
        reasons: dict[str, list[Cell]] = {}
        for cell in self.cells:
            if not cell.played:
                named = cell.left_out.startswith(cell.learner)
                reason = cell.left_out if named else f"{cell.learner} {cell.left_out}"
                reasons.setdefault(reason, []).append(cell)
        return reasons


def ties(one: Cell, two: Cell) -> bool:
    """Whether the games do not tell two learners apart at 95%.

    Both met the same losses under a seed: games of the same seeds are compared pair by pair, others
    by Welch's test.
    """
    if min(len(one.seeds), len(two.seeds)) < 2:
        return False
    if one.seeds == two.seeds:
        apart = [a - b for a, b in zip(one.regrets, two.regrets, strict=True)]
        return abs(fmean(apart)) <= half_interval(apart)
    return float(ttest_ind(one.regrets, two.regrets, equal_var=False).pvalue) > 1 - LEVEL


# --- files --------------------------------------------------------------------------------------

HEADER = ["environment", "learner", "feedback", "rounds", "seeds", "regret", "low", "high", "ratio"]
HEADER += ["mark", "broken", "seconds", "fused", "left_out", "package"]


def write(matrix: Matrix, out: Path) -> None:
    """compare.csv, a row a cell, and games.csv, a row a game."""
    write_csv(out / "compare.csv", [HEADER, *(_row(matrix, cell) for cell in matrix.cells)])
    games = [
        [cell.environment, cell.learner, cell.rounds, seed, f"{regret:.6f}"]
        for cell in matrix.cells
        for seed, regret in zip(cell.seeds, cell.regrets, strict=True)
    ]
    write_csv(out / "games.csv", [["environment", "learner", "rounds", "seed", "regret"], *games])


def _row(matrix: Matrix, cell: Cell) -> list[str]:
    measured = [""] * 4
    if cell.played:
        ends = cell.mean - cell.half, cell.mean + cell.half
        measured = [f"{v:.6f}" for v in (cell.mean, *ends, matrix.ratio(cell))]
    return [
        cell.environment,
        cell.learner,
        cell.feedback,
        str(cell.rounds),
        str(len(cell.seeds)),
        *measured,
        matrix.mark(cell),
        " ".join(cell.broken),
        f"{cell.seconds:.4f}" if cell.played else "",
        "yes" if cell.fused else "",
        cell.left_out,
        cell.package,
    ]


def read(folder: Path) -> Matrix:
    """The matrix that `write` wrote into a folder."""
    with open(folder / "games.csv", encoding="utf-8") as opened:
        games: dict[tuple[str, str], list[tuple[int, float]]] = {}
        for row in csv.DictReader(opened):
            key = row["environment"], row["learner"]
            games.setdefault(key, []).append((int(row["seed"]), float(row["regret"])))
    with open(folder / "compare.csv", encoding="utf-8") as opened:
        return Matrix(tuple(_cell(row, games) for row in csv.DictReader(opened)))


def _cell(row: dict[str, str], games: dict[tuple[str, str], list[tuple[int, float]]]) -> Cell:
    played: Iterable[tuple[int, float]] = games.get((row["environment"], row["learner"]), [])
    seeds, regrets = zip(*played, strict=True) if played else ((), ())
    return Cell(
        row["learner"],
        row["environment"],
        row["feedback"],
        int(row["rounds"]),
        tuple(seeds),
        tuple(regrets),
        float(row["seconds"] or nan),
        row["fused"] == "yes",
        tuple(row["broken"].split()),
        row["left_out"],
        row["package"],
    )
