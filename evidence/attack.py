"""An attack on every certificate: learner x domain x game x delay, start, memory, range, scale.

A cell is one combination, with eight games of other seeds. Its losses are convex and of known
constants: a slope that begins late, one that turns round, a bowl, a ridge, a cone. Their size may
change from round to round. A cell is suspect if the mean regret is
above the mean certificate by two standard errors of their difference. It is then run again, on
other seeds and in six times as many games, and broken if these are 3.5. By chance alone a cell
whose certificate were the mean regret itself would be suspect in 4.3 % of cases (Student, 7 degrees
of freedom) and broken in 0.05 % of those (47): if all 1,485 cells were such cells, one attack in
twenty would have a false alarm. Seeds are fixed: change none after a look at the result.

Prints, for each learner, the number of cells and the tightest of them: that with the least ratio of
mean certificate to mean regret, among cells whose regret is positive by 3.5 standard errors. As
it was chosen for being tight, its ratio is that of 200 games more, on other seeds. *Caught* is the
power of the attack: the largest share of the certificate that these games show to be no bound. For
linear losses whose constants are 0 the certificate of `Predictive` has the regret itself
for its mean: a ratio of about 1 is right there.

    python -m evidence.attack [--only LEARNER] [--out FOLDER]
"""

from __future__ import annotations

import argparse
import logging
import sys
import warnings
import zlib
from collections.abc import Callable, Iterator
from itertools import product
from math import sqrt
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import dikin
from dikin.domains.base import Array, Domain
from dikin.engine.progress import Progress
from dikin.environments.base import linear_minimiser
from dikin.rng import Generator
from evidence.games import ROOT, write_table

ROUNDS, GAMES, AGAIN, LAST, FIRST_SEED = 80, 8, 6, 25, 41_000
SUSPECT, BROKEN = 2.0, 3.5
"""Standard errors: after these a cell is run again. With these its certificate is no bound."""
MEMORY = 40.0
SHARES_CAUGHT = (0.95, 0.9, 0.8, 0.75, 0.6, 0.5, 0.25, 0.1)
"""Shares of a certificate: the attack looks for the largest that is shown to be too small."""


class Losses(NamedTuple):
    """s_t (bowl/2 |v - w|^2 + ridge/2 (a.(v - w))^2 + cone |v - w| + slope_t a.v), and a constant.

    v is the point in units of the domain's radius, from its centre; a is a direction of its plane,
    w a point inside. So the range is known, and the best point is w, or an extreme of the domain.
    """

    bowl: float = 0.0
    ridge: float = 0.0
    cone: float = 0.0
    slope: float = 0.0
    begins: int = 0
    turns: int = ROUNDS

    @property
    def smoothness(self) -> float:
        return self.bowl + self.ridge

    @property
    def steepness(self) -> float:
        return 2.0 * (self.bowl + self.ridge) + self.cone + self.slope

    def slope_at(self, t: int) -> float:
        return 0.0 if t < self.begins else self.slope if t < self.turns else -self.slope


GAMES_OF = {
    "late slope": Losses(slope=1.0, begins=ROUNDS // 3),
    "turning slope": Losses(slope=1.0, turns=2 * ROUNDS // 3),
    "bowl": Losses(bowl=0.5),
    "ridge": Losses(ridge=0.5),
    "cone": Losses(cone=0.5),
}
SMOOTH = ("late slope", "turning slope", "bowl", "ridge")
SHARP = ("late slope", "turning slope", "bowl", "cone")
DOMAINS: dict[str, Domain] = {
    "line": dikin.Box([-1], [1]),
    "disc": dikin.Ball(2, 2.0, [1, 0]),
    "ball": dikin.Ball(5),
    "long box": dikin.Box([0, 0], [10, 1]),
    "simplex": dikin.Simplex(3),
    "product": dikin.Product(dikin.Box([0], [1]), dikin.Ball(2)),
}
DELAYS = ("at once", "late", "batch")
SHARES: dict[str, Callable[[int], float]] = {
    "nothing": lambda t: 1.0,
    "falling": lambda t: (t + 1.0) ** -0.5,
    "bursts": lambda t: 1.0 if t // 20 % 3 == 0 else 0.05,
}
"""s_t, the size of the losses: the constants that are declared hold for 1."""


class Cell(NamedTuple):
    """One combination."""

    learner: str
    domain: str
    game: str
    delay: str
    range: str
    scale: str
    mode: str = "plain"
    """The mode of `Predictive`: plain, start, memory, or curved if the curvature is reported."""

    @property
    def seed(self) -> int:
        """The first of its own, from its name alone."""
        return FIRST_SEED + zlib.crc32(repr(tuple(self)).encode()) % 10**9


def cells() -> Iterator[Cell]:
    """All of them."""
    everything = list(product(DOMAINS, DELAYS, ("known", "none"), SHARES))
    for domain, delay, span, scale in everything:
        for game in SMOOTH:
            yield Cell("AdaptiveSmooth", domain, game, delay, span, scale)
        for game in SHARP:
            yield Cell("AdaptiveLipschitz", domain, game, delay, span, scale)
    few = ("line", "disc", "simplex")
    for domain, delay in product(DOMAINS, DELAYS):
        for mode, span in (("plain", "known"), ("start", "none")):
            yield Cell("Predictive smooth", domain, "bowl", delay, span, "nothing", mode)
            yield Cell("Predictive lipschitz", domain, "cone", delay, span, "nothing", mode)
            for game in ("late slope", "turning slope"):
                yield Cell("Predictive smooth", domain, game, delay, span, "nothing", mode)
    for domain, delay, game in product(few, DELAYS, GAMES_OF):
        yield Cell("Predictive lipschitz", domain, game, delay, "known", "nothing", "memory")
    for name, domain, delay in product(FIXED, DOMAINS, DELAYS):
        for game in ("late slope", "turning slope"):
            yield Cell(name, domain, game, delay, "known", "nothing")
    yield from curved_cells()


def curved_cells() -> Iterator[Cell]:
    """Yield those with a curvature, reported or assumed."""
    for domain, delay in product(DOMAINS, DELAYS):
        yield Cell("HazanLevy", domain, "bowl", delay, "known", "nothing")
        yield Cell("Discard", domain, "bowl", delay, "known", "bursts", "curved")
        for learner, span, scale in product(CURVED, ("known", "none"), SHARES):
            if scale == "nothing" or not learner.startswith("Predictive"):
                yield Cell(learner, domain, "bowl", delay, span, scale, "curved")


# --- learners ------------------------------------------------------------------------------------


def build(cell: Cell, seed: int) -> Any:
    """Return the learner of a cell, with the constants of its losses."""
    domain, game = DOMAINS[cell.domain], GAMES_OF[cell.game]
    unit = domain.radius
    options: dict[str, Any] = {
        "loss_range": (-1.6, 1.6) if cell.range == "known" else None,
        "seed": seed,
    }
    constants = {
        "curvature": game.bowl / unit**2,
        "smoothness": max(game.smoothness, 0.01) / unit**2,
        "lipschitz": game.steepness / unit,
    }
    match cell.learner.split():
        case ["AdaptiveSmooth"]:
            return dikin.AdaptiveSmooth(domain, constants["smoothness"], **options)
        case ["AdaptiveLipschitz"]:
            return dikin.AdaptiveLipschitz(domain, constants["lipschitz"], **options)
        case ["Predictive", kind]:
            name = "smoothness" if kind == "smooth" else "lipschitz"
            inner = domain.point(0.5 * domain.inradius * np.eye(domain.dim)[0])
            modes: dict[str, Any] = {"start": {"start": inner}, "memory": {"memory": MEMORY}}
            options |= {name: constants[name]} | modes.get(cell.mode, {})
            return dikin.Predictive(domain, **options)
        case [name] if name in ASSUMING:
            known = constants["smoothness"], constants["curvature"]
            return ASSUMING[name](domain, ROUNDS, *known, **options)
        case [name]:
            return FIXED[name](domain, constants, options)
    raise ValueError(cell.learner)


FIXED: dict[str, Callable[[Domain, dict[str, float], dict[str, Any]], Any]] = {
    "Scrible": lambda domain, _, options: dikin.Scrible(domain, ROUNDS, **options),
    "SahaTewari": lambda domain, known, options: dikin.SahaTewari(
        domain, ROUNDS, known["smoothness"], **options
    ),
    "LipschitzBarrier": lambda domain, known, options: dikin.LipschitzBarrier(
        domain, ROUNDS, known["lipschitz"], **options
    ),
}
"""Learners of linear losses, or of any."""
ASSUMING: dict[str, Any] = {"HazanLevy": dikin.HazanLevy, "Discard": dikin.Discard}
"""Learners of a curvature that they assume."""
CURVED = ("AdaptiveSmooth", "AdaptiveLipschitz", "Predictive smooth", "Predictive lipschitz")


# --- a game --------------------------------------------------------------------------------------


class Game:
    """The losses of a cell on its domain, and those of its rounds."""

    def __init__(self, cell: Cell, seed: int) -> None:
        self.domain, self.losses = DOMAINS[cell.domain], GAMES_OF[cell.game]
        self.share = SHARES[cell.scale]
        self.chance: Generator = np.random.default_rng(seed)
        way = self.chance.standard_normal(self.domain.dim)
        self.a = self.domain.outward(way / np.linalg.norm(way)).ravel()
        self.w = 0.6 * self.domain.inradius / self.domain.radius * self.a
        self.level = float(self.chance.uniform(-0.5, 0.5))
        self.answered: list[tuple[int, float]] = []
        """Rounds in the order of their answers, with their losses."""

    def value(self, t: int, v: Array) -> float:
        losses, away = self.losses, v - self.w
        square, along = float(away @ away), float(self.a @ away)
        sharp = losses.cone * sqrt(square) + losses.slope_at(t) * float(self.a @ v)
        curved = 0.5 * losses.bowl * square + 0.5 * losses.ridge * along**2
        return self.share(t) * (curved + sharp) + self.level

    def curvature_of(self, t: int) -> float:
        return self.share(t) * self.losses.bowl / self.domain.radius**2

    def regret(self, keep: float) -> float:
        """Against the best point, where a round weighs `keep` times the next."""
        weights = keep ** np.arange(len(self.answered) - 1, -1, -1.0)
        rounds = [t for t, _ in self.answered]
        slopes = [self.share(t) * self.losses.slope_at(t) for t in rounds]
        slope = float(weights @ np.array(slopes))
        best = self.w
        if self.losses.slope:
            best = linear_minimiser(self.domain, slope * self.a) / self.domain.radius
        suffered = np.array([loss for _, loss in self.answered])
        return float(weights @ (suffered - [self.value(t, best) for t in rounds]))


def run(cell: Cell, seed: int) -> tuple[float, float]:
    """Regret and certificate of one game."""
    learner, game = build(cell, seed), Game(cell, seed)
    center, unit = game.domain.center.ravel(), game.domain.radius
    waiting: list[tuple[int, int, Any, float]] = []
    for t in range(ROUNDS):
        query = learner.ask()
        loss = game.value(t, (query.point.ravel() - center) / unit)
        due = {"at once": t, "late": t + int(game.chance.integers(4)), "batch": t - t % 8 + 7}
        waiting.append((due[cell.delay], t, query, loss))
        for answer in sorted(each[:2] for each in waiting if each[0] <= t):
            place = next(i for i, each in enumerate(waiting) if each[1] == answer[1])
            _, asked, late_query, late_loss = waiting.pop(place)
            learner.tell(late_query, late_loss, **_reported(cell, game, asked))
            game.answered.append((asked, late_loss))
    keep = 1.0 - 1.0 / MEMORY if cell.mode == "memory" else 1.0
    return game.regret(keep), learner.certificate


def _reported(cell: Cell, game: Game, t: int) -> dict[str, float]:
    return {"curvature": game.curvature_of(t)} if cell.mode == "curved" else {}


# --- the verdict ---------------------------------------------------------------------------------


class Line(NamedTuple):
    """A cell with its outcome."""

    cell: Cell
    games: int
    regret: float
    regret_error: float
    certificate: float
    margin: float
    """Mean certificate less mean regret, in standard errors of the difference."""

    @property
    def ratio(self) -> float:
        return self.certificate / self.regret

    @property
    def counts(self) -> bool:
        """True if the regret is surely positive."""
        return self.regret > BROKEN * self.regret_error

    @property
    def broken(self) -> bool:
        """True if it was run again, and its regret is above its certificate."""
        return self.games > GAMES and not self.margin > -BROKEN


def measured(cell: Cell, first: int, games: int) -> tuple[Line, Array]:
    """Return the line of a cell and the outcome of each game."""
    outcomes = np.array([run(cell, first + i) for i in range(games)])
    regrets, bounds = outcomes.T
    spread = float(regrets.std(ddof=1)) / sqrt(games)
    means = float(regrets.mean()), spread, float(bounds.mean())
    return Line(cell, games, *means, margin(outcomes, 1.0)), outcomes


def margin(outcomes: Array, share: float) -> float:
    """The mean of that share of the certificate less the regret, in standard errors."""
    above = share * outcomes[:, 1] - outcomes[:, 0]
    return float(above.mean()) / max(float(above.std(ddof=1)) / sqrt(len(outcomes)), 1e-12)


def caught(outcomes: Array) -> float:
    """Return the largest share of the certificate that the games show to be no bound, or 0."""
    found = (share for share in SHARES_CAUGHT if margin(outcomes, share) < -BROKEN)
    return next(found, 0.0)


def attacked(cell: Cell) -> Line:
    """Return the verdict on a cell, which is run again if it is suspect."""
    line, _ = measured(cell, cell.seed, GAMES)
    if line.margin > -SUSPECT:
        return line
    return measured(cell, cell.seed + 10**9, AGAIN * GAMES)[0]


class Summary(NamedTuple):
    """The outcome of the cells of a learner."""

    learner: str
    cells: int
    again: int
    broken: int
    ratio: float
    caught: float
    where: str


def summary(name: str, own: list[Line]) -> Summary:
    """Return the summary of a learner, whose tightest cell is run once more."""
    tight = min((line for line in own if line.counts), key=lambda line: line.ratio)
    line, outcomes = measured(tight.cell, tight.cell.seed + 2 * 10**9, LAST * GAMES)
    counts = len(own), sum(each.games > GAMES for each in own), sum(each.broken for each in own)
    return Summary(name, *counts, round(line.ratio, 3), caught(outcomes), ", ".join(tight.cell[1:]))


def main() -> None:
    """Attack, and write the two CSVs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", help="the cells of this learner alone")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "attack", help="for the CSVs")
    arguments = parser.parse_args()
    logging.disable()  # of clipped losses, thousands
    warnings.simplefilter("ignore")
    chosen = [cell for cell in cells() if arguments.only in (None, cell.learner)]
    if not chosen:
        names = ", ".join(dict.fromkeys(cell.learner for cell in cells()))
        raise SystemExit(f"--only is the name of a learner, one of {names}; got {arguments.only}")
    lines, learners = [], list(dict.fromkeys(cell.learner for cell in chosen))
    with Progress(len(chosen) + len(learners) * LAST, True) as progress:
        for cell in chosen:
            lines.append(attacked(cell))
            progress.move(1)
        found = []
        for name in learners:
            found.append(summary(name, [line for line in lines if line.cell.learner == name]))
            progress.move(LAST)
    head, rows = (*Cell._fields, *Line._fields[1:]), ((*line.cell, *line[1:]) for line in lines)
    write_table(arguments.out / "cells.csv", "make attack", head, rows)
    write_table(arguments.out / "learners.csv", "make attack", Summary._fields, found)
    if any(line.broken for line in lines):
        sys.exit(1)


if __name__ == "__main__":
    main()
