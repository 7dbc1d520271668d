"""The three roads of a game: ask and tell, the kernels as plain Python, the kernels compiled."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from itertools import product
from math import isfinite
from typing import Any, NamedTuple

from dikin import registry
from dikin.domains.base import ClosedGeometry, Domain
from dikin.engine import loop
from dikin.engine.play import compiles
from dikin.environments.base import Environment
from dikin.learners.player import Scratch

CONSTANTS = ("sharp", "paper")


class Game(NamedTuple):
    """A game that can be set up again and again from its beginning."""

    domain: Domain
    environment_class: type[Environment]
    example: int
    learner_class: Any
    constants: str

    def environment(self, seed: int = 5) -> Environment:
        return list(self.environment_class.examples(self.domain, seed))[self.example]

    def learner(self, seed: int = 5) -> Any:
        world = self.environment(seed)
        bend = {"smoothness": world.smoothness, "lipschitz": world.lipschitz}
        settings = {
            **bend,
            "loss_range": world.loss_range,
            "horizon": 10**12 if self.constants == "paper" else None,
            "constants": self.constants,
            "seed": seed,
        }
        wanted = inspect.signature(self.learner_class).parameters
        given = {name: value for name, value in settings.items() if name in wanted}
        return self.learner_class(self.domain, **given)

    def __str__(self) -> str:
        parts = (
            repr(self.domain),
            f"{self.environment_class.__name__}{self.example}",
            self.learner_class.__name__,
            self.constants,
        )
        return "-".join(parts)


def closed_domains() -> list[Domain]:
    """Every example of a domain whose geometry has a kernel."""
    found = [domain for cls in registry.domains().values() for domain in cls.examples()]
    return [d for d in found if isinstance(d.geometry(d.radius), ClosedGeometry)]


def games() -> Iterator[Game]:
    """Everything that has kernels, in every combination."""
    learners, constants = registry.learners().values(), CONSTANTS
    for domain, learner, constant in product(closed_domains(), learners, constants):
        for cls in registry.environments().values():
            for index, world in enumerate(cls.examples(domain, 0)):
                smooth = "smoothness" in inspect.signature(learner).parameters
                if compiles(world.world) and not (smooth and not isfinite(world.smoothness)):
                    yield Game(domain, cls, index, learner, constant)


def covering(games: list[Game]) -> list[Game]:
    """A few games in which every type of kernel, schedule, environment and pattern occurs."""
    seen: set[Any] = set()
    chosen = []
    for game in games:
        new = {type(part) for part in kernels(game)} - seen
        if new:
            chosen.append(game)
            seen |= new
    return chosen


def kernels(game: Game) -> list[Any]:
    """The kernels of a game, those inside others included."""
    machine = game.learner().machine()
    parts: list[Any] = [machine.player, game.environment().world]
    for part in parts:
        parts += [field for field in part if hasattr(field, "_fields")]
    return parts


def interpreted(learner: Any, environment: Environment) -> Callable[[int], None]:
    """The compiled road's source, run as plain Python."""
    scales = loop.Scales.of(learner.units)

    def advance(rounds: int) -> None:
        machine = learner.machine()
        loop.play_rounds(
            machine.player,
            environment.world,
            scales,
            machine.memory,
            Scratch.of(machine.player.kernel, scales.center.size),
            environment.sums,
            machine.generator,
            environment.chances,
            environment.rounds,
            rounds,
        )
        learner.adopt(machine, rounds)
        environment.rounds += rounds

    return advance
