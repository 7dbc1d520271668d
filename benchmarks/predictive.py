"""`Predictive` against `AdaptiveSmooth`: what a round that forecasts costs more."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from timing import Row, best_of, pretty

import dikin
from dikin.engine.play import compiled_rounds

DOMAINS: dict[str, Callable[[int], dikin.Domain]] = {
    "ball": dikin.Ball,
    "box": lambda d: dikin.Box(-np.ones(d), np.ones(d)),
}
PIECE = 2000


def both(domain: dikin.Domain) -> Iterator[tuple[dikin.Learner, dikin.Environment]]:
    for make in (dikin.Predictive, dikin.AdaptiveSmooth):
        world = dikin.Ridge(domain, 1.0, 0.5, seed=1)
        yield make(domain, 1.0, loss_range=world.loss_range, seed=1), world


def compiled(domain: dikin.Domain) -> Iterator[Callable[[], None]]:
    """A piece of a game in the compiled loop."""
    rounds = max(PIECE, 40_000 // domain.dim)
    for learner, world in both(domain):
        advance = compiled_rounds(learner, world)
        assert advance is not None
        advance(1000)
        yield lambda advance=advance: advance(rounds)  # type: ignore[misc]


def plain(domain: dikin.Domain) -> Iterator[Callable[[], None]]:
    """A piece of ask and tell."""
    for learner, world in both(domain):

        def play(learner: dikin.Learner = learner, world: dikin.Environment = world) -> None:
            for _ in range(PIECE):
                query = learner.ask()
                learner.tell(query, *world.answer(query.point))

        def answer(world: dikin.Environment = world) -> None:
            for _ in range(PIECE):
                world.answer(world.domain.center)

        yield play
        yield answer


def rows() -> Iterator[Row]:
    for name, make in DOMAINS.items():
        for d in (2, 10, 100):
            domain = make(d)
            ours, theirs = best_of(25, *compiled(domain))
            rounds = max(PIECE, 40_000 // d)
            yield Row(
                f"Predictive, compiled round, {name}, d={d}",
                pretty(ours / rounds),
                f"AdaptiveSmooth, {pretty(theirs / rounds)}",
                ours / theirs,
                "<= 1.5",
            )
            one, world, two, other = best_of(9, *plain(domain))
            ours, theirs = one - world, two - other
            yield Row(
                f"Predictive, ask + tell, {name}, d={d}",
                pretty(ours / PIECE),
                f"AdaptiveSmooth, {pretty(theirs / PIECE)}",
                ours / theirs,
                "<= 1.4",
            )
