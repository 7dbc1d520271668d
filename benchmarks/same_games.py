"""The digits of many short games, to show that a change of the code changed none of them.

    python benchmarks/same_games.py before.json                       with the code as it was
    python benchmarks/same_games.py after.json --compare before.json  and as it is

Learners with a compiled round play several losses on several sets, compiled and not, told the
constants of the losses and twice as much. Kept are total loss, certificate and centre, bit for bit.
docs/same_games.csv lists the changes for which this was done: figures that were measured before
them are as good as new.
"""

from __future__ import annotations

import argparse
import inspect
import json
import logging
import sys
import warnings
from collections.abc import Callable, Iterator
from itertools import product
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
from rich.progress import track

import dikin
from dikin.engine.play import compiled_rounds, plain_rounds
from dikin.environments.patterns import Decaying
from dikin.errors import DikinError

LEARNERS = (
    *("AdaptiveSmooth", "AdaptiveLipschitz", "HazanLevy", "Discard", "LipschitzBarrier"),
    *("SahaTewari", "FKM", "Predictive"),
)
DOMAINS = {
    "disc": dikin.Ball(2),
    "box": dikin.Box([-1, -1, -1], [1, 2, 1]),
    "simplex": dikin.Simplex(4),
    "ball": dikin.Ball(7),
}
LOSSES: dict[str, Callable[[Any], Any]] = {
    "ridge": lambda domain: dikin.Ridge(domain, 1.0, 0.1, seed=3),
    "ridge, falling": lambda domain: dikin.Ridge(
        domain, Decaying(1.0, 0.2), Decaying(0.1, 0.5), seed=4
    ),
    "kink": lambda domain: dikin.Kink(domain, 1.0, seed=5),
    "kink, falling": lambda domain: dikin.Kink(domain, Decaying(1.0, 0.2), seed=5),
    "linear": lambda domain: dikin.Linear(domain, seed=6),
    "quadratic": lambda domain: dikin.Quadratic(domain, 1.0, seed=7),
}
ROUNDS = {"compiled": (compiled_rounds, 3000), "plain": (plain_rounds, 400)}
Game = tuple[str, str, str, str, float]


def games() -> Iterator[Game]:
    """Learner, domain, losses, loop, and how much more than the truth is declared."""
    yield from product(LEARNERS, DOMAINS, LOSSES, ROUNDS, (1.0, 2.0))


def digits(game: Game) -> list[str]:
    """What a game gives, or the name of the error for what cannot be played."""
    learner, domain, losses, loop, factor = game
    world = LOSSES[losses](DOMAINS[domain])
    known = {
        "smoothness": factor * world.smoothness,
        "lipschitz": factor * world.lipschitz,
        "curvature": 0.1,
        "horizon": 3000,
    }
    kind = getattr(dikin, learner)
    takes = inspect.signature(kind).parameters
    told = {name: value for name, value in known.items() if name in takes and isfinite(value)}
    try:
        player = kind(world.domain, loss_range=world.loss_range, seed=1, **told)
        begin, rounds = ROUNDS[loop]
        advance = begin(player, world)
        if advance is None:
            return ["not compiled"]
        advance(rounds)
        advance(50)
    except (DikinError, TypeError) as error:
        return [type(error).__name__]
    numbers = (world.total_loss, player.certificate, *np.ravel(player.center))
    return [float(number).hex() for number in numbers]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("out", type=Path, help="a file for the digits")
    parser.add_argument("--compare", type=Path, help="a file of another version")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    found = {" / ".join(map(str, game)): digits(game) for game in track([*games()], "playing")}
    chosen.out.write_text(json.dumps(found, indent=0), encoding="utf-8")
    played = sum(len(each) > 1 for each in found.values())
    print(f"{played} games played, {len(found) - played} not possible")
    if chosen.compare is None:
        return 0
    other = json.loads(chosen.compare.read_text(encoding="utf-8"))
    differ = [name for name in found.keys() | other.keys() if found.get(name) != other.get(name)]
    print(f"{len(differ)} differ from {chosen.compare}", *sorted(differ)[:10], sep="\n")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
