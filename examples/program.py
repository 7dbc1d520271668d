"""Six settings of zlib, tuned on this machine by the time until a text has arrived.

Each round takes a block of Python's own source files, compresses it in chunks on a pool of threads,
and measures how long that took; sending the result over a line of 100 Mbit/s takes the rest. The
sum, in milliseconds, is the loss: nothing of it is made up. Everyone compresses the same blocks,
in turns. Prints what each setting costs in per cent of zlib's defaults, and draws it.
"""

from __future__ import annotations

import argparse
import sysconfig
import time
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from report import Results, publish
from rich.console import Console
from rich.progress import track
from rich.table import Table
from rivals import KEEP, RIVALS, Array, Maker, Parameters, tuner

import dikin
from dikin.tuning.space import Params

KIB = 1024
PARAMETERS: Parameters = {
    "level": dikin.Integer(1, 9, start=6),
    "window_bits": dikin.Integer(9, 15, start=15),
    "memory_level": dikin.Integer(1, 9, start=8),
    "chunk_kib": dikin.Real(4, 256, start=64, log=True),
    "dictionary_kib": dikin.Real(0, 32, start=0),
    "threads": dikin.Integer(1, 4, start=1),
}
"""The starts are zlib's defaults, in chunks of 64 KiB."""
BLOCK = 256 * KIB
LINE = 12_500 / KIB
"""KiB that a line of 100 Mbit/s carries in a millisecond."""
CHECKS = 40
"""Blocks on which the settings are measured once more at the end of a game."""
TUNER = "dikin.Tuner"
PLAYERS: dict[str, Maker] = {TUNER: tuner, **RIVALS}


def corpus() -> bytes:
    """The source files of Python's own library, one after the other."""
    files = sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py"))
    return b"".join(file.read_bytes() for file in files)


def block_of(text: bytes, generator: np.random.Generator) -> bytes:
    """A block from a random place."""
    begin = int(generator.integers(len(text) - BLOCK))
    return text[begin : begin + BLOCK]


def compressed(block: bytes, params: Params) -> list[bytes]:
    """The chunks of a block, each compressed with the text before it as its dictionary."""
    size, known = int(params["chunk_kib"] * KIB), int(params["dictionary_kib"] * KIB)

    def compress(begin: int) -> bytes:
        before = block[max(0, begin - known) : begin]
        options = {"zdict": before} if before else {}
        packer = zlib.compressobj(
            params["level"],
            zlib.DEFLATED,
            -params["window_bits"],
            params["memory_level"],
            **options,  # type: ignore[arg-type]
        )
        return packer.compress(block[begin : begin + size]) + packer.flush()

    with ThreadPoolExecutor(params["threads"]) as pool:
        return list(pool.map(compress, range(0, len(block), size)))


def milliseconds(block: bytes, params: Params) -> float:
    """The loss: time to compress, measured, and time on the line."""
    begin = time.perf_counter()
    chunks = compressed(block, params)
    spent = 1000.0 * (time.perf_counter() - begin)
    return spent + sum(map(len, chunks)) / KIB / LINE


# --- the games -----------------------------------------------------------------------------------


class Game(NamedTuple):
    """What came of one game, by player."""

    losses: dict[str, Array]
    """Milliseconds of each round."""
    checks: dict[str, Array]
    """Milliseconds of the final settings, on new blocks."""
    best: dict[str, Params]


def play(text: bytes, rounds: int, checks: int, seed: int, game: str) -> Game:
    """Everyone plays every round, in random order: a busy minute of the machine hits all alike."""
    generator = np.random.default_rng(seed)
    players = {name: make(PARAMETERS, False, seed) for name, make in PLAYERS.items()}
    losses = {name: np.empty(rounds) for name in players}
    names = list(players)
    for round in track(range(rounds), game):
        block = block_of(text, generator)
        generator.shuffle(names)
        for name in names:
            trial = players[name].ask()
            losses[name][round] = milliseconds(block, trial.params)
            players[name].tell(trial, float(losses[name][round]))
    best = {name: player.best for name, player in players.items()}
    again = {name: np.empty(checks) for name in players}
    for check in range(checks):
        block = block_of(text, generator)
        generator.shuffle(names)
        for name in names:
            again[name][check] = milliseconds(block, best[name])
    return Game(losses, again, best)


def play_all(rounds: int, checks: int, games: int, seed: int) -> list[Game]:
    """One game after the other: two at a time would measure each other."""
    text = corpus()
    return [
        play(text, rounds, checks, seed + game, f"game {game + 1} of {games}")
        for game in range(games)
    ]


def shares(values: dict[str, Array], player: str) -> Any:
    """A player's milliseconds in per cent of what the defaults took in the same rounds."""
    return 100.0 * values[player] / values[KEEP].mean()


def results_of(games: list[Game], seed: int) -> Results:
    """Milliseconds in per cent of those of the defaults: while tuning, and with the final one."""
    rounds = len(games[0].losses[TUNER])
    values = {
        player: {
            f"mean of {rounds:,} measurements": np.array(
                [shares(game.losses, player).mean() for game in games]
            ),
            "setting at the end": np.array([shares(game.checks, player).mean() for game in games]),
        }
        for player in PLAYERS
    }
    about = "time until a text has arrived, % of zlib's defaults"
    return Results("program", about, values, seed)


def print_settings(game: Game) -> None:
    """Today's settings, and what each player found."""
    table = Table(title="Settings at the end of the first game", title_justify="left")
    table.add_column("")
    for player in game.best:
        table.add_column(player, justify="right")
    for name in PARAMETERS:
        table.add_row(name, *(f"{best[name]:.3g}" for best in game.best.values()))
    Console().print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=400, help="measurements (%(default)s)")
    parser.add_argument("--checks", type=int, default=CHECKS, help="at the end (%(default)s)")
    parser.add_argument("--games", type=int, default=3, help="one after the other (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the first game (%(default)s)")
    parser.add_argument("--out", type=Path, default=Path("."), help="folder to write to")
    parser.add_argument("--page", type=Path, help="a page whose table is written anew")
    chosen = parser.parse_args()
    games = play_all(chosen.rounds, chosen.checks, chosen.games, chosen.seed)
    results = results_of(games, chosen.seed)
    print_settings(games[0])
    publish(results, chosen.out, chosen.page)


if __name__ == "__main__":
    main()
