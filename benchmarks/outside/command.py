"""Plays benchmarks that nobody here wrote, each game a row of a CSV, and writes docs/outside.md.

    python benchmarks/outside/command.py [PART ...] [--games N] [--out FOLDER]

A game whose row is there is not played again: an interrupted run goes on where it was, and more
games are added to those that are there.
"""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from pathlib import Path

HERE = Path(__file__).resolve()
ROOT = HERE.parents[2]
sys.path[:0] = [str(HERE.parents[1]), str(ROOT / "examples"), str(ROOT / "docs" / "build")]

from outside.games import play_missing  # noqa: E402

PARTS = {"bbob": 4, "cats": 4, "autoscope": 8, "pendulum": 4, "postgres": 3}
"""Each part, and how many games of each problem it has unless another number is asked for."""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("parts", nargs="*", default=[*PARTS], metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--games", type=int, help=f"of each problem ({PARTS})")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "outside", help="for the CSVs")
    chosen = parser.parse_args()
    if unknown := [name for name in chosen.parts if name not in PARTS]:
        parser.error(f"no part is called {unknown[0]!r}; there are {', '.join(PARTS)}")
    for name in chosen.parts:
        part = import_module(f"outside.{name}")
        tasks = part.tasks(chosen.games or PARTS[name])
        play_missing(part.play, tasks, chosen.out / f"{name}.csv")


if __name__ == "__main__":
    main()
