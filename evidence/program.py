"""Six settings of zlib, tuned on this machine by the time until a text has arrived.

Each round takes a block of Python's own source files, compresses it in chunks on a pool of threads,
and measures how long that took. Sending the result over a line of 100 Mbit/s takes the rest. The
sum, in milliseconds, is the loss: nothing of it is made up. The players of a game compress the same
blocks, in turns. Costs are in per cent of those of zlib's defaults in the same game. The second
number is the final setting, measured again on new blocks.
"""

from __future__ import annotations

import sysconfig
import time
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import numpy as np

import dikin
from dikin.tuning.space import Params
from evidence.games import Outcome, Task
from evidence.rivals import KEEP, PLAYERS, USUAL, Parameters

TITLE, GAMES, WORKERS, LEAST = "zlib", 8, 1, 1e-9
ROUNDS, CHECKS = 400, 40
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


@cache
def corpus() -> bytes:
    """Return the source files of Python's own library, one after the other."""
    files = sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py"))
    return b"".join(file.read_bytes() for file in files)


def block(generator: np.random.Generator) -> bytes:
    """Return a block from a random place."""
    begin = int(generator.integers(len(corpus()) - BLOCK))
    return corpus()[begin : begin + BLOCK]


def compressed(block: bytes, params: Params) -> list[bytes]:
    """Return the chunks of a block, each compressed with the text before it as its dictionary."""
    size, known = int(params["chunk_kib"] * KIB), int(params["dictionary_kib"] * KIB)
    settings = zlib.DEFLATED, -params["window_bits"], params["memory_level"]

    def compress(begin: int) -> bytes:
        before = block[max(0, begin - known) : begin]
        words = {"zdict": before} if before else {}
        packer = zlib.compressobj(params["level"], *settings, **words)  # type: ignore[arg-type]
        return packer.compress(block[begin : begin + size]) + packer.flush()

    with ThreadPoolExecutor(params["threads"]) as pool:
        return list(pool.map(compress, range(0, len(block), size)))


def milliseconds(block: bytes, params: Params) -> float:
    """Return the loss: time to compress, measured, and time on the line."""
    begin = time.perf_counter()
    chunks = compressed(block, params)
    spent = 1000.0 * (time.perf_counter() - begin)
    return spent + sum(map(len, chunks)) / KIB / LINE


def together(
    names: list[str],
    rounds: int,
    generator: np.random.Generator,
    measure: Callable[[str, bytes], float],
) -> dict[str, float]:
    """Measure everybody in every round, in random order: a busy minute hits all alike."""
    totals, names = dict.fromkeys(names, 0.0), list(names)
    for _ in range(rounds):
        text = block(generator)
        generator.shuffle(names)
        for name in names:
            totals[name] += measure(name, text)
    return totals


def run(task: Task) -> dict[Task, Outcome]:
    """All players of a game."""
    generator = np.random.default_rng(task.game)
    players = {name: PLAYERS[name](PARAMETERS, False, task.game, task.rounds) for name in USUAL}

    def tuned(name: str, text: bytes) -> float:
        trial = players[name].ask()
        spent = milliseconds(text, trial.params)
        players[name].tell(trial, spent)
        return spent

    costs = together([*players], task.rounds, generator, tuned)
    best = {name: player.best for name, player in players.items()}
    finals = together(
        [*players], CHECKS, generator, lambda name, text: milliseconds(text, best[name])
    )
    return {
        task._replace(player=name): Outcome(
            *(100.0 * totals[name] / totals[KEEP] for totals in (costs, finals))
        )
        for name in players
    }


def tasks(games: range) -> list[Task]:
    """Every game."""
    return [Task("six settings", ROUNDS, player, 1 + game) for game in games for player in USUAL]
