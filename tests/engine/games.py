"""Games that can be compiled, and the compiled loop's text run as plain Python."""

import inspect
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from itertools import islice
from math import inf
from typing import Any, NamedTuple

import dikin
from dikin import registry
from dikin.domains.base import Domain
from dikin.engine import loop
from dikin.engine.play import compiles
from dikin.environments.base import Environment
from dikin.errors import DikinError, SlowLearnerWarning
from dikin.learners.kernel_learner import KernelLearner


class Game(NamedTuple):
    """A game that can be set up again and again from its beginning."""

    domain: Domain
    environment_class: type[Environment]
    example: int
    learner_class: Any
    constants: str = "sharp"
    options: dict[str, Any] = {}
    """Arguments of the learner besides, or instead."""

    def environment(self, seed: int = 5) -> Environment:
        return nth(self.environment_class.examples(self.domain, seed), self.example)

    def learner(self, seed: int = 5) -> Any:
        wanted, world = inspect.signature(self.learner_class).parameters, self.environment(seed)
        horizon = 10**12 if self.constants == "paper" else 1000
        settings = {
            "smoothness": world.smoothness,
            "lipschitz": world.lipschitz,
            "curvature": world.curvature(1) or world.smoothness / 2 or 1.0,
            "loss_range": world.loss_range,
            "horizon": None if self.constants == "sharp" and "constants" in wanted else horizon,
            "constants": self.constants,
            "seed": seed,
        }
        given = {name: value for name, value in settings.items() if name in wanted}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SlowLearnerWarning)
            return self.learner_class(self.domain, **given | self.options)

    def __str__(self) -> str:
        world = f"{self.environment_class.__name__}{self.example}"
        more = [f"{name}={value}" for name, value in self.options.items()]
        return "-".join(
            [repr(self.domain), world, self.learner_class.__name__, self.constants, *more]
        )


def nth(examples: Iterator[Any], place: int) -> Any:
    """One of the examples; those after it are not built."""
    return next(islice(examples, place, None))


@cache
def closed_domains() -> list[Domain]:
    """Domains whose geometry has a kernel: awkward ones, each kind of kernel once."""
    kinds: dict[type, Domain] = {}
    for cls in registry.FOLDERS["domains"].every().values():
        for domain in cls.examples():
            form = domain.geometry(domain.radius)
            if form.compilable:
                kinds[type(form)] = domain
    return list(kinds.values())


def covering(found: list[Game], compiled: set[type]) -> Iterator[Game]:
    """A few of the games, in which every other type of kernel occurs: each compiles for seconds."""
    missing = set().union(*map(kernel_types, found)) - compiled
    while missing:
        game = max(found, key=lambda game: len(kernel_types(game) & missing))
        missing -= kernel_types(game)
        yield game


@cache
def games() -> list[Game]:
    """Every learner on every domain, and `AdaptiveSmooth` in every environment besides."""
    return list(_games())


def _games() -> Iterator[Game]:
    worlds = [
        (cls, index, world)
        for cls in registry.FOLDERS["environments"].every().values()
        for index, world in enumerate(cls.examples(dikin.Ball(2), 0))
        if compiles(world.kernel)
    ]
    for learner in registry.FOLDERS["learners"].every().values():
        twofold = "constants" in inspect.signature(learner).parameters
        for constants in ("sharp", "paper") if twofold else ("sharp",):
            for i, domain in enumerate(closed_domains()):
                found = [
                    game
                    for cls, index, world in worlds
                    if playable(game := Game(domain, cls, index, learner, constants), world)
                ]
                every = learner is dikin.AdaptiveSmooth and constants == "sharp"
                step = len(closed_domains()) if every else max(len(found), 1)
                yield from found[i % max(len(found), 1) :: step]


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
        learner = game.learner()
        return isinstance(learner, KernelLearner) and learner.compiled_state() is not None
    except (DikinError, TypeError, StopIteration):
        return False  # not on such a domain, or built from other things


def options() -> Iterator[Game]:
    """What a learner may be told of its range, start and memory, which no environment knows."""
    nothing = {"smoothness": None, "lipschitz": None}
    unequal = dikin.Product(dikin.Box([0, -5], [1, 5]), dikin.Ball(2, 0.1))
    for domain in (dikin.Ball(2), unequal):
        start = domain.point(0.4 * domain.inradius * domain.basis[:, 0]).tolist()
        for options in (
            {"loss_range": None},
            {"loss_range": None, "start": start, "memory": 20} | nothing,
            {"start": start, "smoothness": None},
            {"memory": 20, "lipschitz": None},
        ):
            yield Game(domain, dikin.Linear, 1, dikin.Predictive, "sharp", options)


def kernel_types(game: Game) -> set[type]:
    """The types of the kernels of a game, those inside others included."""
    kernel = game.learner()._kernel
    return types_in(kernel) | types_in(game.environment().kernel)


def types_in(kernel: Any) -> set[type]:
    inside = (types_in(field) for field in kernel if hasattr(field, "_fields"))
    return {type(kernel)}.union(*inside)


def uncompiled_rounds(learner: Any, environment: Environment) -> Callable[[int], None]:
    """The compiled loop's text, run as plain Python."""
    units = loop.UnitConversion.of(learner)

    def advance(rounds: int) -> None:
        state = learner.compiled_state()
        loop.play_rounds(
            learner._kernel,
            environment.kernel,
            units,
            state,
            loop.Workspace.of(learner),
            environment.sums,
            learner._noise.generator()[0],
            environment.chances,
            environment.rounds,
            rounds,
        )
        learner._noise.drawn += rounds
        learner._take_over(state, rounds)
        environment.rounds += rounds

    return advance
