"""Run the games of one part, and write them into docs/games.

    python -m evidence PART [--games N] [--most N] [--again] [--workers N]

A game that is there is not run again: an interrupted run continues, and more games are added to
those that are there. With `--again`, the games of `dikin.Tuner` are run again, as after a change of
the code. With `--most`, players whose standing is open get more games, with the best of their
problem, until there are so many. `make page` then writes the tables of the pages.
"""

from __future__ import annotations

import argparse
import signal
import sys
from importlib import import_module
from pathlib import Path

from evidence.games import FOLDER, Task, read_games, run_missing
from evidence.orderings import OPEN, orderings_of

PARTS = ("price", "traffic", "oppertune", "bbob", "cats", "pendulum", "postgres",
         "pricing", "elo", "serving", "compression", "rows", "faults", "promises",
         "hostile")  # fmt: skip
TOGETHER = ("postgres", "traffic")
"""Parts that measure this machine: a game is run again by all players."""


def undecided(tasks: list[Task], part: str, least: float, folder: Path) -> list[Task]:
    """Return those of these games that are of players whose standing is open, or of the best."""
    chosen: set[tuple[object, ...]] = set()
    games = read_games(part, folder)
    for rounds in {task.rounds for task in games}:
        mine = {task: found.cost for task, found in games.items() if task.rounds == rounds}
        found = orderings_of(mine, least)
        for problem, players in found.costs.items():
            unknown = [one for one in players if found.standing(problem, one) == OPEN]
            both = [*unknown, found.best(problem)] if unknown else []
            chosen |= {(problem, rounds, player) for player in both}
    return [task for task in tasks if task[:3] in chosen]


def main() -> None:
    """Read the options and run."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--games", type=int, help="of each problem, instead of the usual number")
    parser.add_argument(
        "--most", type=int, default=0, help="games of a player whose standing is open, at most"
    )
    parser.add_argument("--again", action="store_true", help="run the tuner's games again")
    parser.add_argument("--workers", type=int, help="processes, instead of the usual number")
    parser.add_argument("--out", type=Path, default=FOLDER, help="for the CSV (docs/games)")
    chosen = parser.parse_args()
    # Finished games are kept when the command is ended, not only when it is interrupted.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended; finished games are kept"))
    name, part = chosen.part, import_module(f"evidence.{chosen.part}")
    workers, forget = chosen.workers or part.WORKERS, set[str]()

    if chosen.again:
        players = {task.player for task in part.tasks(range(1))}
        forget = {each for each in players if name in TOGETHER or each.startswith("dikin")}
    games = part.tasks(range(chosen.games or part.GAMES))
    found = run_missing(name, part.run, games, workers, chosen.out, forget)
    if chosen.most:
        more = undecided(part.tasks(range(chosen.most)), name, part.LEAST, chosen.out)
        found = run_missing(name, part.run, more, workers, chosen.out)
    print(f"{len(found):,} games in {chosen.out / name}.csv")


if __name__ == "__main__":
    main()
