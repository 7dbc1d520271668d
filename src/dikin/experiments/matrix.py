"""The matrix of `dikin compare`: what was measured in every cell, who is best, and files of it."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isnan, nan, sqrt
from pathlib import Path
from statistics import fmean, median, stdev

from scipy.stats import t as student

from dikin.experiments.holm import paired_p, rejected, welch_p
from dikin.experiments.tables import write_csv

INTERVAL = 0.95
FLOOR = 1.0
"""Regrets below half a range of the losses in a whole game count as that much in a ratio."""
ERRORS = 3.0
"""Standard errors by which a mean regret may exceed the mean certificate that bounds it."""


OURS = "dikin"
SECTIONS = (OURS, "baseline", "other packages", "sees more")
REMEMBERS = "(memory)"
"""Ends the name of a learner that is told to forget."""
Pair = tuple[str, str, str]
"""A scenario and two learners, in the order of their names."""


@dataclass(frozen=True)
class Cell:
    """A learner in a scenario."""

    learner: str
    scenario: str
    feedback: str
    """VALUE for the learners that play the same game; what the others are told, they see more."""
    rounds: int
    seeds: tuple[int, ...] = ()
    regrets: tuple[float, ...] = ()
    """One a seed, in units of half the range of the losses."""
    certificates: tuple[float, ...] = ()
    """The bounds on the expected regret, in the same units; NaN for a learner that has none."""
    seconds: float = nan
    """Of the fastest game."""
    fused: bool = False
    broken: tuple[str, ...] = ()
    """Assumptions of the learner that the scenario does not keep."""
    left_out: str = ""
    """Why nothing was played."""
    package: str = OURS
    """Where the learner comes from."""
    group: str = ""
    """Of the scenario."""
    moving: bool = False
    """Whether regret is against the best point of each round."""

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

    @property
    def certificate(self) -> float:
        """The mean certificate; NaN where there is none."""
        return fmean(self.certificates) if self.certificates else nan

    @property
    def bounded(self) -> bool:
        """Whether a certificate is there and speaks about what was measured."""
        return not (self.broken or self.moving or isnan(self.certificate))

    @property
    def exceeds(self) -> bool:
        """Whether the mean regret is above the mean certificate by more than chance explains."""
        if not self.bounded:
            return False
        gaps = [c - r for c, r in zip(self.certificates, self.regrets, strict=True)]
        error = stdev(gaps) / sqrt(len(gaps)) if len(gaps) > 1 else 0.0
        return fmean(gaps) < -ERRORS * error


def half_interval(values: Sequence[float]) -> float:
    """Half of Student's interval for the mean."""
    count = len(values)
    if count < 2:
        return nan
    return float(student.ppf((1 + INTERVAL) / 2, count - 1)) * stdev(values) / sqrt(count)


@dataclass(frozen=True)
class Matrix:
    """Every cell that was asked for."""

    cells: tuple[Cell, ...]

    @property
    def scenarios(self) -> list[str]:
        return list(dict.fromkeys(cell.scenario for cell in self.cells))

    def of_group(self, group: str) -> list[str]:
        """The scenarios of a group."""
        names = (cell.scenario for cell in self.cells if cell.group == group)
        return list(dict.fromkeys(names))

    @property
    def groups(self) -> list[str]:
        return list(dict.fromkeys(cell.group for cell in self.cells))

    @cached_property
    def _found(self) -> dict[tuple[str, str], Cell]:
        return {(cell.learner, cell.scenario): cell for cell in self.cells}

    def at(self, learner: str, scenario: str) -> Cell | None:
        """The cell of a learner in a scenario, if it was asked for."""
        return self._found.get((learner, scenario))

    def ranked(self, scenario: str) -> list[Cell]:
        """The learners that see one value, least mean regret first."""
        found = [c for c in self.cells if c.scenario == scenario and c.played]
        return sorted((c for c in found if not c.sees_more), key=lambda c: c.mean)

    def own(self, scenario: str) -> list[Cell]:
        """Those of them that this library has."""
        return [cell for cell in self.ranked(scenario) if cell.package == OURS]

    def sound(self, scenario: str) -> list[Cell]:
        """Those of this library all of whose assumptions hold."""
        return [cell for cell in self.own(scenario) if not cell.broken]

    # --- what the games tell apart -------------------------------------------------------------

    @cached_property
    def p_values(self) -> dict[Pair, float]:
        """Of every comparison that is printed.

        In each scenario every learner is compared with the best of all, with the best of this
        library, and with the best of this library whose assumptions hold; and every learner with
        itself, with a memory. As the best is chosen by the same games, k learners that share the
        least mean exactly make k (k - 1)/2 possible pairs of which k - 1 are here: the level is
        then at most k/2 times as large.
        """
        pairs = {_pair(*pair): pair for s in self.scenarios for pair in self._compared(s)}
        return {
            name: p_value(one, two)
            for name, (one, two) in pairs.items()
            if one is not two and min(len(one.seeds), len(two.seeds)) > 1
        }

    def _compared(self, scenario: str) -> Iterator[tuple[Cell, Cell]]:
        ranked = self.ranked(scenario)
        for bests in (ranked, self.own(scenario), self.sound(scenario)):
            yield from ((cell, bests[0]) for cell in ranked if bests)
        for cell in ranked:
            without = self.at(cell.learner.removesuffix(REMEMBERS), scenario)
            if without is not None and without.played:
                yield cell, without

    @cached_property
    def _apart(self) -> frozenset[Pair]:
        pairs = list(self.p_values)
        decided = rejected(list(self.p_values.values()))
        return frozenset(p for p, yes in zip(pairs, decided, strict=True) if yes)

    def distinguished(self, one: Cell, two: Cell) -> bool:
        """Whether two means differ, by Holm's correction over all comparisons."""
        return _pair(one, two) in self._apart

    def level(self, cells: Sequence[Cell]) -> list[Cell]:
        """The first of some ranked cells, and those not distinguished from it."""
        return [c for c in cells if c is cells[0] or not self.distinguished(c, cells[0])]

    def mark(self, cell: Cell) -> str:
        """`best`, or `tie` where a learner is not distinguished from the best, or nothing."""
        if cell.sees_more or not cell.played:
            return ""
        best = self.ranked(cell.scenario)[0]
        if cell is best:
            return "best"
        return "" if self.distinguished(cell, best) else "tie"

    def exceeding(self) -> list[Cell]:
        """The cells whose mean regret is above its certificate: an error of ours, if any."""
        return [cell for cell in self.cells if cell.played and cell.exceeds]

    # --- sizes ---------------------------------------------------------------------------------

    def ratio(self, cell: Cell) -> float:
        """The mean regret in units of the least that a learner of this library has."""
        rivals = self.own(cell.scenario) or self.ranked(cell.scenario) or [cell]
        return max(cell.mean, FLOOR) / max(rivals[0].mean, FLOOR)

    def learners(self) -> list[str]:
        """Those that played anything: by section, then by the median of their ratios.

        Those of a section that played in less than half of the scenarios come last in it.
        """
        found: dict[str, list[Cell]] = {}
        for cell in self.cells:
            if cell.played:
                found.setdefault(cell.learner, []).append(cell)
        return sorted(
            found,
            key=lambda name: (
                SECTIONS.index(found[name][0].section),
                2 * len(found[name]) < len(self.scenarios),
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


def _pair(one: Cell, two: Cell) -> Pair:
    first, second = sorted((one.learner, two.learner))
    return one.scenario, first, second


def p_value(one: Cell, two: Cell) -> float:
    """Of the same mean regret of two learners in a scenario.

    Both met the same losses under a seed: games of the same seeds are compared pair by pair, others
    by Welch's test.
    """
    if one.seeds == two.seeds:
        return paired_p(one.regrets, two.regrets)
    return welch_p(one.regrets, two.regrets)


# --- files --------------------------------------------------------------------------------------

HEADER = ["group", "scenario", "learner", "feedback", "rounds", "seeds", "regret", "low", "high"]
HEADER += ["certificate", "ratio", "mark", "broken", "against", "seconds", "fused", "left_out"]
HEADER += ["package"]
GAMES = ["scenario", "learner", "rounds", "seed", "regret", "certificate"]
AGAINST = {False: "fixed", True: "moving"}


def write(matrix: Matrix, out: Path) -> None:
    """compare.csv, a row a cell, and games.csv, a row a game."""
    write_csv(out / "compare.csv", [HEADER, *(_row(matrix, cell) for cell in matrix.cells)])
    write_csv(out / "games.csv", [GAMES, *(row for cell in matrix.cells for row in _games(cell))])


def _games(cell: Cell) -> Iterator[list[str]]:
    for seed, regret, bound in zip(cell.seeds, cell.regrets, cell.certificates, strict=True):
        measured = (f"{regret:.4f}", f"{bound:.4f}")
        yield [cell.scenario, cell.learner, str(cell.rounds), str(seed), *measured]


def _row(matrix: Matrix, cell: Cell) -> list[str]:
    measured = [""] * 5
    if cell.played:
        ends = cell.mean - cell.half, cell.mean + cell.half
        values = (cell.mean, *ends, cell.certificate, matrix.ratio(cell))
        measured = [f"{v:.4f}" for v in values]
    return [
        cell.group,
        cell.scenario,
        cell.learner,
        cell.feedback,
        str(cell.rounds),
        str(len(cell.seeds)),
        *measured,
        matrix.mark(cell),
        " ".join(cell.broken),
        AGAINST[cell.moving],
        f"{cell.seconds:.4f}" if cell.played else "",
        "yes" if cell.fused else "",
        cell.left_out,
        cell.package,
    ]


Games = dict[tuple[str, str], list[tuple[int, float, float]]]


def read(folder: Path) -> Matrix:
    """The matrix that `write` wrote into a folder."""
    games: Games = {}
    with open(folder / "games.csv", encoding="utf-8") as opened:
        for row in csv.DictReader(opened):
            game = int(row["seed"]), float(row["regret"]), float(row["certificate"])
            games.setdefault((row["scenario"], row["learner"]), []).append(game)
    with open(folder / "compare.csv", encoding="utf-8") as opened:
        return Matrix(tuple(_cell(row, games) for row in csv.DictReader(opened)))


def _cell(row: dict[str, str], games: Games) -> Cell:
    played = games.get((row["scenario"], row["learner"]), [])
    seeds, regrets, bounds = zip(*played, strict=True) if played else ((), (), ())
    return Cell(
        learner=row["learner"],
        scenario=row["scenario"],
        feedback=row["feedback"],
        rounds=int(row["rounds"]),
        seeds=tuple(seeds),
        regrets=tuple(regrets),
        certificates=tuple(bounds),
        seconds=float(row["seconds"] or nan),
        fused=row["fused"] == "yes",
        broken=tuple(row["broken"].split()),
        left_out=row["left_out"],
        package=row["package"],
        group=row["group"],
        moving=row["against"] == AGAINST[True],
    )
