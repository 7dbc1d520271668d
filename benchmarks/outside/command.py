"""Plays benchmarks that nobody here wrote, each game a row of a CSV, and writes docs/outside.md.

    python benchmarks/outside/command.py [PART ...] [--games N] [--out FOLDER] [--page PAGE]

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

import outside_page  # noqa: E402

from dikin.files import replace_file  # noqa: E402
from outside.games import play_missing  # noqa: E402

FOLDER = ROOT / "docs" / "outside"
PARTS = {"bbob": 4, "cats": 4, "autoscope": 4, "pendulum": 4, "postgres": 3}
"""Each part, and how many games of each problem it has unless another number is asked for."""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("parts", nargs="*", default=[*PARTS], metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--games", type=int, help=f"of each problem ({PARTS})")
    parser.add_argument("--out", type=Path, default=FOLDER, help="for the CSVs (docs/outside)")
    parser.add_argument("--page", type=Path, help="a page to write from all CSVs of the folder")
    chosen = parser.parse_args()
    if unknown := [name for name in chosen.parts if name not in PARTS]:
        parser.error(f"no part is called {unknown[0]!r}; there are {', '.join(PARTS)}")
    for name in chosen.parts:
        part = import_module(f"outside.{name}")
        tasks = part.tasks(chosen.games or PARTS[name])
        play_missing(part.play, tasks, chosen.out / f"{name}.csv")
    if chosen.page is not None:
        outside_page.draw(chosen.out)
        replace_file(chosen.page, outside_page.render(chosen.out).encode())


if __name__ == "__main__":
    main()
