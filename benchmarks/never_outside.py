"""Does a learner ever play a point outside its domain?   100 000 hostile rounds a case.

Every example of every domain, both learners, four ways of answering that push the centre about or
against the boundary. The table gives, for each case, the smallest margin seen (negative: outside)
and how many points the safety net against rounding had to move; exit status 1 if any was outside.

    python benchmarks/never_outside.py [--rounds N] [--only KIND ...]
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import dikin
from dikin import registry
from dikin.domains.base import Domain

Array = NDArray[np.float64]
Player = dikin.AdaptiveSmooth | dikin.AdaptiveLipschitz
Answer = Callable[[int, bool, float], tuple[float, float]]
"""Loss and curvature from the round, the side of the centre that was played, and the limit."""

ANSWERS: dict[str, Answer] = {
    "alternating": lambda t, beyond, limit: (1.0 if t % 2 else -1.0, 0.0),
    "all low": lambda t, beyond, limit: (-1.0, 0.0),
    "one side": lambda t, beyond, limit: (1.0 if beyond else -1.0, 0.0),
    "curved": lambda t, beyond, limit: (1.0 if beyond else -1.0, limit if t % 3 == 0 else 0.0),
}


@dataclass
class Outcome:
    """What one case saw."""

    margin: float
    moved: int
    seconds: float


def cases(only: list[str]) -> Iterator[tuple[str, Domain]]:
    """Every example of the chosen kinds, with a name."""
    for kind, cls in registry.domains().items():
        if not only or kind in only:
            for i, domain in enumerate(cls.examples()):
                yield f"{kind} {i}, d={domain.dim}", domain


def smooth(domain: Domain) -> Player:
    """A learner whose smoothness is one in the paper's units."""
    return dikin.AdaptiveSmooth(domain, 1 / domain.radius**2, seed=0)


def lipschitz(domain: Domain) -> Player:
    """A learner whose Lipschitz constant is one in the paper's units."""
    return dikin.AdaptiveLipschitz(domain, 1 / domain.radius, seed=0)


def play(learner: Player, answer: Answer, rounds: int) -> Outcome:
    """Answer `rounds` queries and measure every point."""
    domain = learner.domain
    limit, first = learner.curvature_limit[0], float(domain.center.flat[0])
    least, moved, start = np.inf, 0, time.process_time()
    net = learner._inside

    def counted(u: Array, point: Array | None = None) -> Array:
        nonlocal moved
        caught = net(u, point)
        moved += not np.array_equal(caught, learner._point(u))
        return caught

    learner._inside = counted  # type: ignore[method-assign]
    for t in range(rounds):
        query = learner.ask()
        margin = domain.margin(query.point)
        if not margin >= least:  # a NaN is kept, and counts as outside
            least = margin
        learner.tell(query, *answer(t, bool(query.point.flat[0] > first), limit))
    return Outcome(least, moved, time.process_time() - start)


def main() -> int:
    """Play every case and print the table."""
    parser = argparse.ArgumentParser(description="Smallest margin of any point played.")
    parser.add_argument("--rounds", type=int, default=100_000)
    parser.add_argument("--only", nargs="*", default=[], metavar="KIND")
    options = parser.parse_args()
    games = [(name, d, make) for name, d in cases(options.only) for make in (smooth, lipschitz)]
    outside = 0
    heads = "".join(f"{name:>13}" for name in ANSWERS)
    print(f"{'smallest margin':<22}{'learner':<11}{heads}{'moved':>7}{'us/round':>10}")
    for done, (name, domain, make) in enumerate(games, 1):
        outcomes = []
        for way, answer in ANSWERS.items():
            print(f"\r{done}/{len(games)} {name}, {way:<24}", end="", file=sys.stderr, flush=True)
            outcomes.append(play(make(domain), answer, options.rounds))
        outside += sum(not outcome.margin >= 0 for outcome in outcomes)
        margins = "".join(f"{outcome.margin:13.2e}" for outcome in outcomes)
        moved = sum(outcome.moved for outcome in outcomes)
        pace = 1e6 * sum(outcome.seconds for outcome in outcomes) / len(ANSWERS) / options.rounds
        print(f"{name:<22}{make.__name__:<11}{margins}{moved:7d}{pace:10.1f}", flush=True)
    print(file=sys.stderr)
    print(f"{outside} cases left their domain" if outside else "no point was outside")
    return 1 if outside else 0


if __name__ == "__main__":
    sys.exit(main())
