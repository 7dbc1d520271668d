"""Standings of players: one rule for every table of costs.

Players meet the same problems, a number of games each. Game i of all players belongs together, and
small costs are good. In a problem, a player has the ratio of its cost to that of the best: a
geometric mean over games, with Student's 95% interval for the mean of its logarithm. Then it is

    behind   if the ratio is above 1 by Holm's correction over all comparisons of the table,
    level    if the interval lies between 1/`LEVEL_RATIO` and `LEVEL_RATIO`: known to be as good,
    open     otherwise: the games do not say.

A player that was measured badly is open, not level. Where means count, as with regrets, the
ratio is that of two means (`ratio_of_means`), and costs are tested, not their logarithms.

Holm's correction ("A simple sequentially rejective multiple test procedure", Scandinavian Journal
of Statistics 6, 1979): with p_1 <= ... <= p_m, hypotheses are rejected in this order as long as p_k
<= level/(m - k + 1). The odds that any true hypothesis is rejected are at most `level`, however the
tests depend on each other.

Over many problems there are two summaries: the geometric mean of the ratios between two players,
with its interval over problems, and mean ranks (Demsar, JMLR 7, 2006).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import exp, inf, isnan, log, nan, sqrt
from statistics import fmean, stdev
from typing import NamedTuple

import numpy as np
from scipy.stats import rankdata
from scipy.stats import t as student

from dikin.experiments.fit import half_interval
from evidence.games import Task

ERROR_RATE = 0.05
"""Odds of any wrong statement among all that a page makes."""
LEVEL_RATIO = 1.1
"""The precision to which the ratio of two that are level is known."""
BEST, LEVEL, BEHIND, OPEN = "best", "level", "behind", "open"
MARKED = {BEST: "**{}**", LEVEL: "{} =", OPEN: "{} ?", BEHIND: "{}"}
"""The form of a number on a page, by the standing of its player."""
Games = Mapping[int, float]
"""The cost of each game, by its number."""


def paired_p(one: Sequence[float], two: Sequence[float]) -> float:
    """Return the two-sided p-value of Student's test that paired values have the same mean."""
    apart = [a - b for a, b in zip(one, two, strict=True)]
    mean, spread = fmean(apart), stdev(apart)
    if spread == 0.0:
        return 1.0 if mean == 0.0 else 0.0
    return float(2 * student.sf(abs(mean) / spread * sqrt(len(apart)), len(apart) - 1))


def rejected(p_values: Sequence[float], level: float = ERROR_RATE) -> list[bool]:
    """Return, for each hypothesis, whether Holm's procedure rejects it."""
    count = len(p_values)
    order = np.argsort(p_values, kind="stable")
    result = [False] * count
    for rank, index in enumerate(order.tolist()):
        if not p_values[index] <= level / (count - rank):
            break
        result[index] = True
    return result


class Ratio(NamedTuple):
    """A ratio of two costs, with its 95% interval (NaN to NaN for a single game)."""

    value: float
    low: float
    high: float


def ratio_of(logarithms: Sequence[float]) -> Ratio:
    """Return a ratio from logarithms, one for each game or problem."""
    middle, half = float(np.mean(logarithms)), float(half_interval(logarithms))
    return Ratio(*(exp(min(end, 700.0)) for end in (middle, middle - half, middle + half)))


def ratio_of_means(one: Sequence[float], two: Sequence[float]) -> Ratio:
    """Return the ratio of two positive means of paired games.

    To first order a game adds its cost over the mean of its player to the logarithm of the ratio.
    """
    first, second = (np.asarray(costs) / np.mean(costs) for costs in (one, two))
    middle, half = log(fmean(one) / fmean(two)), float(half_interval(first - second))
    return Ratio(*(exp(min(end, 700.0)) for end in (middle, middle - half, middle + half)))


def standing_of(ratio: Ratio, distinguished: bool) -> str:
    """Return `behind`, `level` or `open`, by the ratio to the best."""
    if distinguished:
        return BEHIND
    known = ratio.low >= 1.0 / LEVEL_RATIO and ratio.high <= LEVEL_RATIO
    return LEVEL if known else OPEN


@dataclass(frozen=True)
class Orderings:
    """The costs of players in problems."""

    costs: Mapping[str, Mapping[str, Games]]
    """By problem, then by player. A player may be missing in a problem."""
    least: float
    """Smaller costs count as this much: it would not matter how small they are."""
    arithmetic: bool = False
    """True if means over games are arithmetic ones. Their ratio is that of `ratio_of_means`."""

    @property
    def problems(self) -> list[str]:
        return [*self.costs]

    @cached_property
    def players(self) -> list[str]:
        return list(dict.fromkeys(name for players in self.costs.values() for name in players))

    def among(self, players: Sequence[str]) -> Orderings:
        """Return the problems in which all of these players have games, with them alone."""
        return Orderings(
            {
                problem: {name: found[name] for name in players}
                for problem, found in self.costs.items()
                if all(name in found for name in players)
            },
            self.least,
            self.arithmetic,
        )

    def _averaged(self, problem: str, player: str) -> dict[int, float]:
        """Return costs, or their logarithms, game by game: a mean is taken of them."""
        games = self.costs[problem][player]
        costs = {game: max(cost, self.least) for game, cost in games.items()}
        return costs if self.arithmetic else {game: log(cost) for game, cost in costs.items()}

    @cached_property
    def _means(self) -> dict[str, dict[str, float]]:
        means = {
            problem: {name: fmean(self._averaged(problem, name).values()) for name in players}
            for problem, players in self.costs.items()
        }
        if self.arithmetic:
            return means
        return {
            problem: {name: exp(mean) for name, mean in players.items()}
            for problem, players in means.items()
        }

    def mean(self, problem: str, player: str) -> float:
        """The mean over games: geometric, unless `arithmetic`."""
        return self._means[problem][player]

    def best(self, problem: str) -> str:
        """Return the player with the least cost."""
        means = self._means[problem]
        return min(means, key=means.__getitem__)

    def _paired(self, problem: str, one: str, two: str) -> tuple[list[float], list[float]]:
        """Return the games that two players have in common."""
        first, second = self._averaged(problem, one), self._averaged(problem, two)
        common = sorted(first.keys() & second.keys())
        return [first[game] for game in common], [second[game] for game in common]

    def ratio(self, problem: str, player: str, to: str | None = None) -> Ratio:
        """The cost of a player over that of another, or of the best."""
        one, two = self._paired(problem, player, to or self.best(problem))
        if self.arithmetic:
            return ratio_of_means(one, two)
        return ratio_of([a - b for a, b in zip(one, two, strict=True)])

    def p_value(self, problem: str, one: str, two: str) -> float:
        """Return that of two players costing the same (NaN for fewer than two games)."""
        pair = self._paired(problem, one, two)
        return paired_p(*pair) if len(pair[0]) > 1 else nan

    # --- in each problem -------------------------------------------------------------------------

    @cached_property
    def _behind(self) -> frozenset[tuple[str, str]]:
        """Pairs of a problem and a player behind the best.

        As the best is chosen by the same games, k players that share the least cost exactly make
        more pairs than are tested: the level is then at most k/2 times as large.
        """
        tests: dict[tuple[str, str], float] = {}
        for problem, players in self.costs.items():
            best = self.best(problem)
            for player in players:
                p = self.p_value(problem, player, best)
                if player != best and not isnan(p):
                    tests[problem, player] = p
        decided = rejected([*tests.values()])
        return frozenset(one for one, yes in zip(tests, decided, strict=True) if yes)

    def standing(self, problem: str, player: str) -> str:
        """`best`, `behind`, `level` or `open`."""
        if player == self.best(problem):
            return BEST
        return standing_of(self.ratio(problem, player), (problem, player) in self._behind)

    # --- over all problems -----------------------------------------------------------------------

    def overall(self, player: str, to: str) -> Ratio:
        """Return the geometric mean of the ratio of two players over their common problems."""
        both = self.among((player, to))
        return ratio_of([log(both.mean(one, player) / both.mean(one, to)) for one in both.problems])

    def factors(self, player: str) -> list[float]:
        """Return the ratios to the best, sorted, and infinite where the player has no game."""
        found = [
            self.mean(problem, player) / self.mean(problem, self.best(problem))
            if player in players
            else inf
            for problem, players in self.costs.items()
        ]
        return sorted(found)

    def ranks(self) -> dict[str, float]:
        """Return mean ranks of players who all have games in every problem."""
        costs = [[self.mean(each, name) for name in self.players] for each in self.problems]
        means = rankdata(np.array(costs), axis=1).mean(axis=0)
        return dict(zip(self.players, means.tolist(), strict=True))


def orderings_of(costs: Mapping[Task, float], least: float, arithmetic: bool = False) -> Orderings:
    """Return the orderings of games, by problem and player."""
    found: dict[str, dict[str, dict[int, float]]] = {}
    for task, cost in costs.items():
        found.setdefault(task.problem, {}).setdefault(task.player, {})[task.game] = cost
    return Orderings(found, least, arithmetic)
