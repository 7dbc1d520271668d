"""Compression of real files: codec, level and size of the chunks, with a limit on the p99 of time.

The files are those of Python itself: sources, and shared libraries. A block of 256 KiB is packed in
chunks by zlib, bz2 or lzma. `python -m evidence.compression` measures every setting on eight
blocks, by the CPU seconds of its thread. All runs draw from this table, so that they can be
repeated: a round is one setting on a random block of a random kind, which is known before.

A round costs the size of the packed block, in per cent. The limit is on the p99 of the time per
chunk. The second number is the share of rounds, in per cent, whose setting breaks it in the mean of
the blocks of this kind. The start is zlib's default level with chunks of 64 KiB. Levels end at 6,
since those beyond hardly pack blocks of this size any better.
"""

from __future__ import annotations

import bz2
import lzma
import sysconfig
import time
import zlib
from collections.abc import Callable
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np

import dikin
from evidence.games import FOLDER, Outcome, Task, read_table, write_table
from evidence.limited import PENALIZED, TPE_LIMIT, TPE_PENALTY, UCB_CODECS, Limited
from evidence.rivals import KEEP, TUNER

TITLE, GAMES, WORKERS, LEAST = "Compression", 10, 2, 1e-9
FIGURES = ("size, %", "rounds above the limit, %")
ROUNDS, FIRST_SEED = 400, 78_000
KIB = 1024
BLOCK, BLOCKS = 256 * KIB, 4
CODECS: dict[str, Callable[[bytes, int], bytes]] = {
    "zlib": zlib.compress,
    "bz2": bz2.compress,
    "lzma": lambda data, level: lzma.compress(data, preset=level),
}
LEVELS, CHUNKS = range(1, 7), range(3, 9)
KINDS = ("sources", "libraries")
BOUNDS = {"p99 below 5 ms": 5.0, "p99 below 50 ms": 50.0}
PARAMETERS = {
    "codec": dikin.Choice([*CODECS], start="zlib"),
    "level": dikin.Integer(1, 6, start=6),
    "chunk_log2": dikin.Integer(3, 8, start=6),
}
TABLE = FOLDER / "compression_times.csv"


def blocks(kind: str) -> list[bytes]:
    """Return blocks from random places of Python's own files of a kind."""
    folder, pattern = {
        "sources": (sysconfig.get_paths()["stdlib"], "*.py"),
        "libraries": (sysconfig.get_config_var("DESTSHARED"), "*.so"),
    }[kind]
    data = b"".join(file.read_bytes() for file in sorted(Path(folder).glob(pattern)))
    begins = np.random.default_rng(FIRST_SEED).integers(len(data) - BLOCK, size=BLOCKS)
    return [data[begin : begin + BLOCK] for begin in begins]


def pack(codec: str, level: int, size: int, block: bytes) -> tuple[float, float]:
    """Return the size in per cent, and the p99 of milliseconds per chunk."""
    packed, spent = 0, []
    for begin in range(0, len(block), size):
        before = time.thread_time()
        packed += len(CODECS[codec](block[begin : begin + size], level))
        spent.append(1000.0 * (time.thread_time() - before))
    return 100.0 * packed / len(block), float(np.quantile(spent, 0.99))


def measure() -> None:
    """Write the table. Settings are measured in random order: a busy minute hits all alike."""
    cases = [*product(CODECS, LEVELS, CHUNKS, KINDS, range(BLOCKS))]
    data, rows = {kind: blocks(kind) for kind in KINDS}, {}
    for place in np.random.default_rng(FIRST_SEED).permutation(len(cases)):
        codec, level, chunk, kind, i = cases[place]
        found = pack(codec, level, KIB << chunk, data[kind][i])
        rows[cases[place]] = [f"{value:.5g}" for value in found]
    head = ("codec", "level", "chunk_log2", "kind", "block", "size", "p99_ms")
    lines = ((*case, *rows[case]) for case in cases)
    write_table(TABLE, "python -m evidence.compression", head, lines)


@cache
def table() -> dict[tuple[str, int, int, str], list[tuple[float, float]]]:
    """Return size and p99 on every block, by codec, level, chunk and kind."""
    found: dict[tuple[str, int, int, str], list[tuple[float, float]]] = {}
    for row in read_table(TABLE):
        case = row["codec"], int(row["level"]), int(row["chunk_log2"]), row["kind"]
        found.setdefault(case, []).append((float(row["size"]), float(row["p99_ms"])))
    return found


def run(task: Task) -> Outcome:
    """One run."""
    seed, bound = FIRST_SEED + task.game, BOUNDS[task.problem]
    chance, context = np.random.default_rng([seed, round(bound)]), {"kind": KINDS}
    player = Limited(task.player, PARAMETERS, bound, KINDS, context, seed, task.rounds)
    total, broken = 0.0, 0
    for _ in range(task.rounds):
        kind, block = KINDS[chance.integers(len(KINDS))], chance.integers(BLOCKS)
        trial = player.ask(kind, {"kind": kind})
        found = table()[*(trial.params[name] for name in PARAMETERS), kind]
        sizes, times = np.transpose(found)
        total += float(sizes.mean())
        broken += bool(times.mean() > bound)
        player.tell(kind, trial, *found[block])
    return Outcome(total / task.rounds, 100.0 * broken / task.rounds)


def tasks(games: range) -> list[Task]:
    """Every run."""
    players = (TUNER, KEEP, PENALIZED, UCB_CODECS, TPE_LIMIT, TPE_PENALTY)
    cases = product(games, BOUNDS, players)
    return [Task(problem, ROUNDS, player, game) for game, problem, player in cases]


if __name__ == "__main__":
    measure()
