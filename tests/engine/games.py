"""Games that can be compiled, and the compiled loop's text run as plain Python."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from itertools import combinations, islice, product
from math import inf
from random import Random
from typing import Any, NamedTuple

import numpy as np

import dikin
from dikin import registry
from dikin.domains.base import Domain
from dikin.engine import loop
from dikin.engine.play import compiles
from dikin.environments.base import Environment
from dikin.errors import DikinError
from dikin.learners.kernel_learner import KernelLearner


class Game(NamedTuple):
    """A game that can be set up again and again from its beginning."""

    domain: Domain
    environment_class: type[Environment]
    example: int
    learner_class: Any
    constants: str
    options: dict[str, Any] = {}
    """What the learner is told besides, or instead."""

    def environment(self, seed: int = 5) -> Environment:
        return nth(self.environment_class.examples(self.domain, seed), self.example)

    def learner(self, seed: int = 5) -> Any:
        wanted = inspect.signature(self.learner_class).parameters
        settings = declared(self.domain, self.environment_class, self.example, seed) | {
            "horizon": 10**12 if self.constants == "paper" else 1000,
            "constants": self.constants,
            "seed": seed,
        }
        if self.constants == "sharp" and "constants" in wanted:
            settings["horizon"] = None
        given = {name: value for name, value in settings.items() if name in wanted}
        return self.learner_class(self.domain, **given | self.options)

    def __str__(self) -> str:
        parts = (
            repr(self.domain),
            f"{self.environment_class.__name__}{self.example}",
            self.learner_class.__name__,
            self.constants,
            *(f"{name}={value}" for name, value in self.options.items()),
        )
        return "-".join(parts)


def nth(examples: Iterator[Any], place: int) -> Any:
    """One of the examples; those after it are not built."""
    return next(islice(examples, place, None))


@cache
def declared(domain: Domain, cls: type[Environment], example: int, seed: int) -> dict[str, Any]:
    """What an environment declares: the same for every learner that plays against it."""
    world = nth(cls.examples(domain, seed), example)
    return {
        "smoothness": world.smoothness,
        "lipschitz": world.lipschitz,
        "curvature": world.curvature(1) or world.smoothness / 2 or 1.0,
        "loss_range": world.loss_range,
    }


def closed_domains() -> list[Domain]:
    """Every example of a domain whose geometry has a kernel."""
    found = [
        domain for cls in registry.FOLDERS["domains"].every().values() for domain in cls.examples()
    ]
    return [d for d in found if d.geometry(d.radius).compilable]


@cache
def examples(cls: type[Environment], domain: Domain) -> list[tuple[int, Environment]]:
    """The environments of a class on a domain, to look at: nobody plays with these."""
    return list(enumerate(cls.examples(domain, 0)))


def games() -> Iterator[Game]:
    """Every learner, domain and environment that have kernels, each pair in some game.

    A learner sees of an environment no more than a loss and a curvature, and an environment of a
    learner no more than a point: what goes wrong between two of the three is seen in any game of
    these two. `AdaptiveSmooth` meets every example of an environment on every domain.
    """
    found = all_games()
    met: set[tuple[Any, ...]] = set()
    for game in Random(0).sample(found, len(found)):  # so that no domain is the first for all
        learner = game.learner_class, game.constants
        pairs = set(combinations((learner, game.domain, game.environment_class), 2))
        if learner == (dikin.AdaptiveSmooth, "sharp") or pairs - met:
            met |= pairs
            yield game


@cache
def all_games() -> list[Game]:
    """On one domain of each kind, the last, most awkward one."""
    return list(_all_games())


def _all_games() -> Iterator[Game]:
    awkward = {type(domain): domain for domain in closed_domains()}
    for domain, learner in product(awkward.values(), registry.FOLDERS["learners"].every().values()):
        twofold = "constants" in inspect.signature(learner).parameters
        for constants in ("sharp", "paper") if twofold else ("sharp",):
            every = learner is dikin.AdaptiveSmooth and constants == "sharp"
            for cls in registry.FOLDERS["environments"].every().values():
                worlds = examples(cls, domain)
                for index, world in worlds if every else worlds[-1:]:
                    game = Game(domain, cls, index, learner, constants)
                    if compiles(world.kernel) and playable(game, world):
                        yield game


def options() -> Iterator[Game]:
    """What a learner may be told of its range, start and memory, which no environment knows."""
    nothing = {"smoothness": None, "lipschitz": None}
    unequal = dikin.Product(dikin.Box([0, -5], [1, 5]), dikin.Ball(2, 0.1))
    for domain in (dikin.Ball(2), unequal):
        start = domain.point(0.4 * domain.inradius * np.eye(domain.dim)[0]).tolist()
        for options in (
            {"loss_range": None},
            {"loss_range": None, "start": start, "memory": 20} | nothing,
            {"start": start, "smoothness": None},
            {"memory": 20, "lipschitz": None},
        ):
            yield Game(domain, dikin.Linear, 1, dikin.Predictive, "sharp", options)


def playable(game: Game, world: Environment) -> bool:
    """Whether a learner is made for such losses, and can be compiled."""
    if getattr(game.learner_class, "smoothness", None) == 0.0 and world.smoothness != 0.0:
        return False
    wanted = inspect.signature(game.learner_class).parameters
    if "smoothness" in wanted and not (0 <= world.smoothness < inf):
        return False
    if "curvature" in wanted and world.smoothness == 0.0:
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            learner = game.learner()
        return isinstance(learner, KernelLearner) and learner.compiled_parts() is not None
    except (DikinError, TypeError):
        return False  # not on such a domain, or built from other things


def covering(games: list[Game], besides: list[Game]) -> list[Game]:
    """A few games in which every type of kernel, schedule, environment and pattern occurs.

    Those that occur in other games, which are compiled anyway, need not occur once more. A game
    costs seconds of compiling: the next one has much that is new and little that is not.
    """
    parts = [(game, kernel_types(game)) for game in games]
    missing = set().union(*(types for _, types in parts))
    missing -= {kind for game in besides for kind in kernel_types(game)}
    chosen = []
    while missing:
        useful = [(game, types) for game, types in parts if types & missing]
        game, types = max(useful, key=lambda pair: 2 * len(pair[1] & missing) - len(pair[1]))
        chosen.append(game)
        missing -= types
    return chosen


KNOWN: dict[tuple[Any, ...], set[type]] = {}
"""Types of kernels: a learner has the same in every environment, and the other way round."""


def kernel_types(game: Game) -> set[type]:
    """The types of the kernels of a game, those inside others included."""
    learner = game.domain, game.learner_class, game.constants
    world = game.domain, game.environment_class, game.example
    if learner not in KNOWN:
        KNOWN[learner] = types_in(game.learner().compiled_parts().kernel)
    if world not in KNOWN:
        KNOWN[world] = types_in(game.environment().kernel)
    return KNOWN[learner] | KNOWN[world]


def types_in(kernel: Any) -> set[type]:
    inside = (types_in(field) for field in kernel if hasattr(field, "_fields"))
    return {type(kernel)}.union(*inside)


def uncompiled_rounds(learner: Any, environment: Environment) -> Callable[[int], None]:
    """The compiled loop's text, run as plain Python."""
    units = loop.UnitConversion.of(learner)

    def advance(rounds: int) -> None:
        parts = learner.compiled_parts()
        loop.play_rounds(
            parts.kernel,
            environment.kernel,
            units,
            parts.state,
            loop.Workspace.of(learner.geometry.size, parts.metric_size, units.center.size),
            environment.sums,
            learner._noise.generator()[0],
            environment.chances,
            environment.rounds,
            rounds,
        )
        learner._noise.skip(rounds)
        learner.take_over(parts, rounds)
        environment.rounds += rounds

    return advance
