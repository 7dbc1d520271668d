"""Absurd values: what they cost, more and more of them, in five loops and of six kinds.

Prints for each loop the regret a round without faults, the ratio to it with 0.5, 1.5, 5 and 10 % of
faults, and what the setting that would be kept costs.

    python benchmarks/absurd.py [--games N] [--out FOLDER] [--page PAGE]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples"))

from loops import (
    PLAYERS,
    WITH_TBPSA,
    Generator,
    Kind,
    Loop,
    Player,
    excess,
    in_cube,
    loop_of,
    outcomes,
    ranges,
    rotation,
    standing,
    typical_size,
)
from report import Block, play_parallel, publish_blocks
from rivals import Array

import dikin
from dikin.experiments.tables import fields, write_csv

ROUNDS, GAMES, FEWER_GAMES, FIRST_SEED, WORKERS = 2000, 24, 12, 50_000, 2
"""Fewer games with whole numbers, which are not compiled."""
SHARES = (0.005, 0.015, 0.05, 0.1)
WANTED = {0.05: 1.3, 0.1: 2.0}
"""The largest ratio to the regret without faults, by the share of faults."""
BURST = 20
JUMP = 700
"""Rounds between two jumps of the minimum."""

Rounds = np.typing.NDArray[np.int64]
"""Some rounds, from 0 on."""


# --- what is tuned -----------------------------------------------------------------------------


def shop(chance: Generator, rounds: int) -> Loop:
    """The shop of README.md, its price and its advertising on the cube, with noise of 5."""
    start, best = np.array([3 / 13, 2 / 3]), np.array([7 / 13, 1 / 3])
    matrix = np.diag(np.sqrt([4.0, 0.05]) * [13.0, 60.0])
    losses = standing(matrix, best, True, 5.0 * chance.standard_normal(rounds))
    return Loop(ranges(start), losses._replace(offset=-500.0), typical_size(losses, start))


def of_kind(kind: Kind, turn: Callable[[Generator, int], Array]) -> Callable[..., Loop]:
    """Losses on the cube, with random start and minimum."""

    def make(chance: Generator, rounds: int) -> Loop:
        start, minimum = in_cube(chance, 2, kind.d)
        return loop_of(kind, start, minimum, turn(chance, kind.d), chance, rounds)

    return make


def as_it_is(chance: Generator, d: int) -> Array:
    """No rotation."""
    return np.eye(d)


def jumping(chance: Generator, rounds: int) -> Loop:
    """A bowl in three dimensions whose minimum jumps."""
    loop = of_kind(Kind(3, True, 1.0, 0.1), as_it_is)(chance, rounds)
    rows = np.arange(rounds) // JUMP
    minima = in_cube(chance, int(rows[-1]) + 1, 3)
    minima[0] = loop.losses.minima[0]
    return loop._replace(losses=loop.losses._replace(minima=minima, rows=rows))


def whole_numbers(chance: Generator, rounds: int) -> Loop:
    """A bowl of two whole numbers; the excess at the start is 1, and the noise 0.1."""
    start, minimum = chance.permutation(np.arange(3, 18))[:4].reshape(2, 2).astype(float)
    losses = standing(np.eye(2), minimum, True, 0.1 * chance.standard_normal(rounds))
    losses = losses._replace(scale=1.0 / excess(losses, 1, start))
    names = {f"n{i}": dikin.Integer(0, 20, start=int(value)) for i, value in enumerate(start)}
    return Loop(names, losses, typical_size(losses, start))


class Setting(NamedTuple):
    """A loop, who tunes it, and how often."""

    about: str
    make: Callable[[Generator, int], Loop]
    players: dict[str, Player]
    games: int = GAMES


LOOPS = {
    "shop": Setting("price and advertising, noise 5", shop, WITH_TBPSA),
    "bowl": Setting(
        "d = 5, condition 30, rotated, noise 0.3",
        of_kind(Kind(5, True, 30, 0.3), rotation),
        PLAYERS,
    ),
    "absolute": Setting(
        "absolute distances, d = 2, noise 0.1",
        of_kind(Kind(2, False, 1, 0.1), as_it_is),
        PLAYERS,
    ),
    "jumps": Setting(f"d = 3, the minimum jumps every {JUMP} rounds, noise 0.1", jumping, PLAYERS),
    "whole": Setting("two whole numbers, noise 0.1", whole_numbers, PLAYERS, FEWER_GAMES),
}


# --- faults ------------------------------------------------------------------------------------


class Change(NamedTuple):
    """What becomes of the values of some rounds: factor value + added."""

    factor: Array
    added: Array


def mixed(chance: Generator, loop: Loop, count: int) -> Change:
    """Half of them are multiplied by 40, the others one constant far above or below."""
    multiplied = chance.permutation(count) < count / 2
    constant = loop.losses.offset + chance.choice([-60.0, 60.0]) * loop.size
    return Change(np.where(multiplied, 40.0, 0.0), np.where(multiplied, 0.0, constant))


def above(chance: Generator, loop: Loop, count: int) -> Change:
    """Too large, each by another amount."""
    return Change(np.ones(count), 50.0 * loop.size * np.abs(chance.standard_normal(count)))


def around(chance: Generator, loop: Loop, count: int) -> Change:
    """Too large or too small."""
    return Change(np.ones(count), 200.0 * loop.size * chance.standard_normal(count))


def shifted(chance: Generator, loop: Loop, count: int) -> Change:
    """All of them too large by the same amount."""
    return Change(np.ones(count), np.full(count, 100.0 * loop.size))


def constant(value: float) -> Callable[[Generator, Loop, int], Change]:
    """Replaced by a number."""
    return lambda chance, loop, count: Change(np.zeros(count), np.full(count, value))


def single(chance: Generator, rounds: int, share: float) -> Rounds:
    """Rounds that are hit, anywhere: exactly that share of them."""
    return np.flatnonzero(chance.permutation(rounds) < round(share * rounds))


def bursts(chance: Generator, rounds: int, share: float) -> Rounds:
    """Rounds that are hit, twenty in a row: that share of them on average.

    A burst begins in the first half of its own piece of rounds, so that no two touch.
    """
    pieces = rounds // (2 * BURST)
    count = int(share * rounds / BURST + chance.random())
    chosen = chance.permutation(pieces)[:count]
    begins = 2 * BURST * chosen + chance.integers(BURST, size=count)
    return np.sort((begins[:, None] + np.arange(BURST)).ravel())


class Fault(NamedTuple):
    """Which rounds are hit, and what becomes of their values."""

    hit: Callable[[Generator, int, float], Rounds]
    change: Callable[[Generator, Loop, int], Change]


NONE = "none"
FAULTS = {
    "mixed": Fault(single, mixed),
    "one-sided": Fault(single, above),
    "two-sided": Fault(single, around),
    "bursts": Fault(bursts, shifted),
    "zero": Fault(single, constant(0.0)),
    "-999999": Fault(single, constant(-999_999.0)),
}


def with_faults(loop: Loop, fault: Fault, share: float, chance: Generator) -> Loop:
    """The same loop, some of whose values are absurd."""
    factor, added = loop.losses.factor.copy(), loop.losses.added.copy()
    hit = fault.hit(chance, len(factor), share)
    factor[hit], added[hit] = fault.change(chance, loop, len(hit))
    return loop._replace(losses=loop.losses._replace(factor=factor, added=added))


# --- games -------------------------------------------------------------------------------------


class Task(NamedTuple):
    """One game."""

    loop: str
    fault: str
    share: float
    player: str
    game: int


class Row(NamedTuple):
    """A line of the CSV."""

    loop: str
    fault: str
    share: float
    player: str
    game: int
    rounds: int
    cost: float
    """The regret a round."""
    final: float
    """That of the setting that would be kept."""


def new_loop(name: str, game: int, rounds: int) -> Loop:
    """What is tuned in a game, the same for all players and faults."""
    chance = np.random.default_rng([FIRST_SEED + game, [*LOOPS].index(name)])
    return LOOPS[name].make(chance, rounds)


def play(task: Task, rounds: int) -> Row:
    """One game."""
    seed, players = FIRST_SEED + task.game, LOOPS[task.loop].players
    loop = new_loop(task.loop, task.game, rounds)
    if task.fault != NONE:
        chance = np.random.default_rng([seed, [*FAULTS].index(task.fault), int(1000 * task.share)])
        loop = with_faults(loop, FAULTS[task.fault], task.share, chance)
    (outcome,) = outcomes(players[task.player], loop, seed, (rounds,))
    return Row(*task, *outcome)


def tasks(games: int | None) -> Iterator[Task]:
    """Every game; where a number is given, so many of each."""
    cases = [(NONE, 0.0), *product(FAULTS, SHARES)]
    for name, setting in LOOPS.items():
        for player, case in product(setting.players, cases):
            for game in range(games or setting.games):
                yield Task(name, case[0], case[1], player, game)


# --- what is seen ------------------------------------------------------------------------------


def mean_of(rows: list[Row], measure: str) -> float:
    return float(np.mean([getattr(row, measure) for row in rows]))


def select(rows: list[Row], fault: str, share: float, player: str) -> list[Row]:
    return [row for row in rows if (row.fault, row.share, row.player) == (fault, share, player)]


def ratios(rows: list[Row], fault: str, player: str) -> dict[float, float]:
    """The regret with a fault over that without, by the share of faults."""
    plain = mean_of(select(rows, NONE, 0.0, player), "cost")
    return {share: mean_of(select(rows, fault, share, player), "cost") / plain for share in SHARES}


def worst(rows: list[Row], player: str, share: float, measure: str) -> str:
    """Return the largest mean over the kinds of faults, and that kind. Costs are ratios."""
    plain = mean_of(select(rows, NONE, 0.0, player), "cost") if measure == "cost" else 1.0
    found = {
        fault: mean_of(select(rows, fault, share, player), measure) / plain for fault in FAULTS
    }
    fault = max(found, key=lambda name: found[name])
    return f"{found[fault]:{'.2f' if measure == 'cost' else '.2g'}} ({fault})"


def line(rows: list[Row], about: str, player: str) -> list[str]:
    """Regret without faults, the worst ratios, and the cost of the setting that is kept."""
    plain = select(rows, NONE, 0.0, player)
    return [
        f"{about}, {player}",
        f"{mean_of(plain, 'cost'):.3g}",
        *(worst(rows, player, share, "cost") for share in WANTED),
        f"{mean_of(plain, 'final'):.2g}",
        worst(rows, player, max(WANTED), "final"),
    ]


def verdict(rows: dict[str, list[Row]], player: str, share: float) -> str:
    """Return where a player misses the target."""
    missed, limit = [], WANTED[share]
    mine = {name: found for name, found in rows.items() if player in LOOPS[name].players}
    for name, found in mine.items():
        for fault in FAULTS:
            ratio = ratios(found, fault, player)[share]
            if ratio > limit:
                missed.append(f"{name} with {fault} ({ratio:.2f})")
    result = f"missed in {', '.join(missed)}" if missed else "met"
    cases = len(mine) * len(FAULTS)
    return f"{player}, at most {limit:g} at {percent(share)}, {cases} cases: {result}."


def percent(share: float) -> str:
    return f"{100 * share:g} %"


def fault_block(rows: dict[str, list[Row]]) -> Block:
    """The table of all loops, with the worst kind of faults for each player."""
    head = [
        f"faults: {len(rows)} loops of {ROUNDS:,} rounds, {len(FAULTS)} kinds of faults",
        "no faults",
        *(f"worst ratio at {percent(share)}" for share in WANTED),
        "kept: no faults",
        f"kept: worst at {percent(max(WANTED))}",
    ]
    lines = [
        line(found, name, player) for name, found in rows.items() for player in LOOPS[name].players
    ]
    players = dict.fromkeys(player for name in rows for player in LOOPS[name].players)
    notes = [verdict(rows, player, share) for player, share in product(players, WANTED)]
    return Block("faults", head, lines, notes)


def blocks(rows: list[Row]) -> list[Block]:
    """Return the table of all loops with faults."""
    return [fault_block({name: [row for row in rows if row.loop == name] for name in LOOPS})]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--games", type=int, help=f"of each case ({GAMES}, whole: {FEWER_GAMES})")
    parser.add_argument("--out", type=Path, help="a folder for faults.csv")
    parser.add_argument("--page", type=Path, help="a page whose tables are written anew")
    chosen = parser.parse_args()
    rows = play_parallel(lambda task: play(task, ROUNDS), [*tasks(chosen.games)], WORKERS)
    if chosen.out is not None:
        chosen.out.mkdir(parents=True, exist_ok=True)
        write_csv(chosen.out / "faults.csv", fields(*Row._fields), rows)
    publish_blocks(blocks(rows), chosen.page)


if __name__ == "__main__":
    main()
