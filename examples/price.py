"""Price and advertising of a shop, tuned by the revenue of every hour while demand changes.

Customers come more on some days of the week than on others, prices drift upwards, and half-way a
competitor opens. Nobody tells the tuner any of it: it has two ranges, today's setting and one noisy
number an hour. Prints the mean regret an hour against the best setting *of each hour*, for
`dikin.Tuner` and its rivals, and draws what was played.
"""

from __future__ import annotations

import argparse
from math import sqrt
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from comparison import (
    COLOURS,
    THIN,
    WIDE,
    interval,
    label_ends,
    new_figure,
    play_parallel,
    save,
)
from report import Results, publish
from rivals import BLUEFIN, CMA_ES, KEEP, RIVALS, TBPSA_, Array, Maker, tuner

import dikin

PARAMETERS = {"price": dikin.Real(1, 14, start=4), "ads": dikin.Real(0, 60, start=40)}
WEEK = (1.0, 0.95, 0.95, 1.0, 1.1, 1.25, 0.8)
"""Demand on the days of a week, in units of that on a Monday."""
HOURS = 24
BASE, SLOPE, LIFT, COST, NOISE = 560.0, 40.0, 8.0, 6.0, 100.0
"""Customers at price 0; those that a unit of price loses; those that advertising brings; what a
unit of it costs; the standard deviation of the revenue of an hour."""
DRIFT, COMPETITOR = 0.25, 0.7
"""By how much demand has grown at the end, and what the competitor leaves of it."""
MARKS, WORKERS = 250, 2
TUNER = "dikin.Tuner"
PLAYERS: dict[str, Maker] = {TUNER: tuner, **RIVALS}


class Market(NamedTuple):
    """What customers do in one game. Everything happens once, however many rounds there are."""

    rounds: int

    def _demand(self, round: int) -> tuple[float, float]:
        """Customers at price 0, and those that a unit of price loses."""
        day = WEEK[round // HOURS % len(WEEK)]
        growth = 1.0 + DRIFT * round / self.rounds
        left = COMPETITOR if 2 * round >= self.rounds else 1.0
        return BASE * day * growth * left, SLOPE * day

    def revenue(self, round: int, price: float, ads: float) -> float:
        """price (base - slope price + lift sqrt(1 + ads)) - cost ads, concave on the ranges.

        The determinant of its Hessian is not negative, as 2 slope price >= lift sqrt(1 + ads).
        """
        base, slope = self._demand(round)
        return price * (base - slope * price + LIFT * sqrt(1.0 + ads)) - COST * ads

    def best(self, round: int) -> tuple[float, float]:
        """The best price and the best advertising: where both derivatives are 0.

        With s = sqrt(1 + ads) the revenue is a quadratic in (price, s).
        """
        base, slope = self._demand(round)
        s = LIFT * base / (4.0 * COST * slope - LIFT**2)
        return (base + LIFT * s) / (2.0 * slope), s * s - 1.0


# --- the games -----------------------------------------------------------------------------------


class Task(NamedTuple):
    """One game."""

    player: str
    rounds: int
    seed: int


class Game(NamedTuple):
    """What came of it."""

    task: Task
    regret: float
    """The mean over the rounds."""
    prices: list[float]
    """The best guess at some rounds."""


def marks(rounds: int) -> Any:
    """The rounds at which the best guess is read."""
    return np.unique(np.linspace(0, rounds - 1, MARKS).astype(int))


def play(task: Task) -> Game:
    """One game by ask and tell."""
    player, market = PLAYERS[task.player](PARAMETERS, True, task.seed), Market(task.rounds)
    noise = NOISE * np.random.default_rng(task.seed).standard_normal(task.rounds)
    read, regret, prices = set(marks(task.rounds).tolist()), 0.0, []
    for round in range(task.rounds):
        trial = player.ask()
        revenue = market.revenue(round, **trial.params)
        player.tell(trial, revenue + noise[round])
        regret += market.revenue(round, *market.best(round)) - revenue
        if round in read:
            prices.append(player.best["price"])
    return Game(task, regret / task.rounds, prices)


def play_all(horizons: list[int], games: int, seed: int) -> list[Game]:
    """Every game, with a progress bar; the longest first, so that no worker waits for the other."""
    tasks = [
        Task(player, rounds, seed + game)
        for rounds in sorted(horizons, reverse=True)
        for player in PLAYERS
        for game in range(games)
    ]
    return play_parallel(play, tasks, WORKERS)


def results_of(horizons: list[int], games: list[Game]) -> Results:
    """Regret an hour by player and number of rounds."""
    values: dict[str, dict[str, Array]] = {}
    for player in PLAYERS:
        for rounds in horizons:
            mine = [game.regret for game in games if game.task[:2] == (player, rounds)]
            values.setdefault(player, {})[f"{rounds:,} rounds"] = np.array(mine)
    first = min(game.task.seed for game in games)
    about = "mean regret a round against the best setting of each round"
    return Results("price", about, values, first)


# --- the picture ---------------------------------------------------------------------------------

DRAWN = {
    KEEP: ("grey", "-"),
    TBPSA_: ("green", "-"),
    BLUEFIN: ("purple", "-"),
    CMA_ES: ("orange", "-"),
    TUNER: ("blue", "-"),
}
"""Colour and style of line; the last one is drawn on top."""
APART = 1.12
"""The distance of neighbours on the axis of rounds, as a factor."""


def draw(results: Results, horizons: list[int], games: list[Game], file: Path) -> None:
    """Left: the price over one game. Right: regret with intervals over the number of rounds."""
    figure, (left, right) = new_figure(1, 2, height=2.9, width_ratios=(5, 4))
    draw_prices(left, horizons[min(1, len(horizons) - 1)], games)
    draw_regret(right, results, horizons)
    save(figure, file)


def draw_prices(axes: Any, rounds: int, games: list[Game]) -> None:
    """Best guesses in the first game of this many rounds, and the best price of each round."""
    market, at = Market(rounds), marks(rounds)
    truth = [market.best(round)[0] for round in at]
    axes.plot(at, truth, color="black", linewidth=1.2, linestyle=":")
    ends = {"best of each round": (truth[-1], "black")}
    seed = min(game.task.seed for game in games)
    prices = {game.task: game.prices for game in games}
    for player, (colour, style) in DRAWN.items():
        line, wide = prices[Task(player, rounds, seed)], WIDE if player == TUNER else THIN
        axes.plot(at, line, style, color=COLOURS[colour], linewidth=wide)
        ends[player] = line[-1], COLOURS[colour]
    axes.set(xlim=(0, rounds), ylim=(3, 11), xlabel="round (an hour each)", ylabel="price")
    label_ends(axes, rounds, ends)
    axes.set_title(f"The price that each believes in, one game of {rounds:,} rounds", loc="left")


def draw_regret(axes: Any, results: Results, horizons: list[int]) -> None:
    """Means and intervals, labelled at the last horizon."""
    from matplotlib.ticker import LogLocator

    ends = {}
    for place, (player, (colour, style)) in enumerate(DRAWN.items()):
        games = results.values[player].values()
        means, halves = np.array([interval(each) for each in games]).T
        # A little beside each other, so that no interval hides another.
        beside = np.array(horizons) * APART ** (place - (len(DRAWN) - 1) / 2)
        axes.errorbar(
            beside, means, yerr=halves, color=COLOURS[colour], linestyle=style, marker="o",
            capsize=2,
        )  # fmt: skip
        ends[player] = means[-1], COLOURS[colour]
    # An interval of few games may reach below 0, where a logarithmic axis has no place.
    lowest = 0.6 * min(height for height, _ in ends.values())
    axes.set(yscale="log", ylim=(lowest, None))
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 3)))
    axes.yaxis.set_major_formatter("{x:g}")
    axes.set(xscale="log", xlabel="rounds", xticks=horizons)
    axes.set_xticklabels([f"{rounds:,}" for rounds in horizons])
    axes.minorticks_off()
    label_ends(axes, horizons[-1] * APART ** len(DRAWN), ends)
    count = results.games(results.settings[0])
    axes.set_title(f"Mean regret a round, {count} games, 95 % intervals", loc="left")
    axes.grid(axis="y", which="both", alpha=0.25, linewidth=0.5)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, nargs="+", default=[500, 5000], help="(%(default)s)")
    parser.add_argument("--games", type=int, default=8, help="of each length (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the first game (%(default)s)")
    parser.add_argument("--out", type=Path, default=Path("."), help="folder to write to")
    parser.add_argument("--page", type=Path, help="a page whose table is written anew")
    chosen = parser.parse_args()
    games = play_all(chosen.rounds, chosen.games, chosen.seed)
    results = results_of(chosen.rounds, games)
    publish([results], chosen.out / "price.csv", chosen.page)
    draw(results, chosen.rounds, games, chosen.out / "price.png")


if __name__ == "__main__":
    main()
