"""Plays benchmarks that nobody here wrote, each game a row of a CSV, and writes docs/outside.md.

    python benchmarks/outside/command.py [PART ...] [--games N] [--most N] [--again] [--page PAGE]

A game whose row is there is not played again: an interrupted run goes on where it was, and more
games are added to those that are there. With `--again`, our own games are played again, as after a
change of the code. With `--most`, players whose standing is open play more games, with the best of
their problem, until there are so many.
"""

from __future__ import annotations

import argparse
import signal
import sys
from importlib import import_module
from pathlib import Path

HERE = Path(__file__).resolve()
ROOT = HERE.parents[2]
sys.path[:0] = [str(HERE.parents[1]), str(ROOT / "examples"), str(ROOT / "docs" / "build")]

import outside_page  # noqa: E402
from pages import filled  # noqa: E402

from dikin.experiments.tables import read_csv  # noqa: E402
from dikin.files import replace_file  # noqa: E402
from evidence.orderings import OPEN  # noqa: E402
from outside.games import Task, forget, play_missing  # noqa: E402

FOLDER = ROOT / "docs" / "outside"
PARTS = {"bbob": 2, "cats": 8, "pendulum": 8, "postgres": 3}
"""Each part, and how many games of each problem it has unless another number is asked for."""
TOGETHER = {"postgres"}
"""Parts whose players take turns on one machine: a game is played again by all of them."""


def undecided(tasks: list[Task], file: Path, name: str) -> list[Task]:
    """Of these games, those of players whose standing is open, and of the best there."""
    chosen: set[tuple[object, ...]] = set()
    rows = read_csv(file)
    for rounds in {row["rounds"] for row in rows}:
        mine = [row for row in rows if row["rounds"] == rounds]
        found = outside_page.orderings(mine, "cost", outside_page.PARTS[name].least)
        for problem, players in found.costs.items():
            unknown = [one for one in players if found.standing(problem, one) == OPEN]
            both = [*unknown, found.best(problem)] if unknown else []
            chosen |= {(problem, int(rounds), player) for player in both}
    return [task for task in tasks if task[:3] in chosen]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("parts", nargs="*", default=[*PARTS], metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--games", type=int, help=f"of each problem ({PARTS})")
    parser.add_argument(
        "--most", type=int, default=0, help="games of a player whose standing is open, at most"
    )
    parser.add_argument("--again", action="store_true", help="play our own games again")
    parser.add_argument("--out", type=Path, default=FOLDER, help="for the CSVs (docs/outside)")
    parser.add_argument("--page", type=Path, help="a page to write from all CSVs of the folder")
    chosen = parser.parse_args()
    if unknown := [name for name in chosen.parts if name not in PARTS]:
        parser.error(f"no part is called {unknown[0]!r}; there are {', '.join(PARTS)}")
    # What is finished is kept when the command is ended, not only when it is interrupted.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended; finished games are kept"))
    for name in chosen.parts:
        part, file = import_module(f"outside.{name}"), chosen.out / f"{name}.csv"
        games = chosen.games or PARTS[name]
        file.parent.mkdir(parents=True, exist_ok=True)
        if chosen.again:
            forget(file, None if name in TOGETHER else outside_page.TUNERS)
        play_missing(part.play, part.tasks(range(games)), file)
        play_missing(part.play, undecided(part.tasks(range(chosen.most)), file, name), file)
    if chosen.page is not None:
        text = chosen.page.read_text(encoding="utf-8")
        replace_file(chosen.page, filled(text, outside_page.parts(chosen.out.parent)).encode())


if __name__ == "__main__":
    main()
