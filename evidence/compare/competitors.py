"""The competitors: learners, each built from what a game declares.

Nothing is listed: every learner that the registry finds takes part, its arguments found by their
names. One that asks for something else, or refuses the domain, is left out with the reason. One
that can forget takes part a second time, with a memory, where the best point moves.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from dikin import environments, learners, registry
from dikin.environments.base import Environment
from dikin.errors import (
    DikinError,
    DomainError,
    MissingExtraError,
    ParameterError,
    UnknownNameError,
    did_you_mean,
)
from dikin.learners.base import Learner
from evidence.compare.matrix import WITH_MEMORY
from evidence.compare.scenarios import MEMORY, DeclaredGame, Scenario
from evidence.external import EXTERNAL, FixedPoint

BASES: tuple[type[Learner], ...] = (learners.HazanLevy, learners.SahaTewari, learners.FKM)
"""What a learner over learners chooses among: one for each of three assumptions."""


WITHHELD = frozenset({"horizon"})
"""Constants that are true and not given to a learner which can do without.

Three learners have an optional horizon. Over 3 000 rounds of `constant`, `linear`, `cone`, `zero`
and `heavy`, 8 games each, `AdaptiveSmooth` has 4 to 14 % more regret with it, `BanditNewton` 9 to
66 % more, and `AdaptiveLipschitz` the same: the horizon serves their proofs and not their play.
"""


class LeftOutError(DikinError):
    """A learner cannot take part in a game; the message says why."""


@dataclass(frozen=True)
class Entry:
    """A learner in a game, ready to play."""

    learner: Learner
    environment: Environment
    broken: tuple[str, ...]
    """The assumptions of the learner that the game does not keep."""


@dataclass(frozen=True)
class Competitor:
    """A learner under the name that the tables have, with or without a memory."""

    name: str
    cls: type[Learner]
    with_memory: bool = False
    """Whether it is told to forget what is older than `MEMORY` of the horizon."""

    def plays(self, scenario: Scenario) -> bool:
        """With a memory, only where there is something to forget."""
        return scenario.moving or not self.with_memory


def find_competitors(
    selection: Iterable[str | type[Learner]], external: bool
) -> dict[str, Competitor]:
    """The learners asked for, by name or as classes; else all known and the fixed point.

    And the external optimizers if wanted.
    """
    known = registry.learners()
    for name in known.keys() & {FixedPoint.kind, *EXTERNAL}:
        raise ParameterError(
            f"compare has a competitor called {name!r} of its own, and the registered learner "
            f"{known[name].__module__}.{known[name].__name__} has the same name: rename it"
        )
    library: dict[str, type[Learner]] = known | {FixedPoint.kind: FixedPoint}
    chosen = [_find(one, library | EXTERNAL) for one in selection] or [*library.values()]
    chosen += [cls for cls in EXTERNAL.values() if external and cls not in chosen]
    competitors: dict[str, Competitor] = {}
    for cls in chosen:
        if competitors.get(cls.__name__, Competitor(cls.__name__, cls)).cls is not cls:
            raise ParameterError(f"two competitors are called {cls.__name__}: rename yours")
        competitors[cls.__name__] = Competitor(cls.__name__, cls)
        if "memory" in inspect.signature(cls).parameters:
            second = cls.__name__ + WITH_MEMORY
            competitors[second] = Competitor(second, cls, with_memory=True)
    return competitors


def _find(learner: str | type[Learner], classes: Mapping[str, type[Learner]]) -> type[Learner]:
    if not isinstance(learner, str):
        return learner
    name = learner.lower()
    if name not in classes:
        raise UnknownNameError(f"no learner is called {name!r}.{did_you_mean(name, classes)}")
    return classes[name]


def enter(competitor: Competitor, game: DeclaredGame, seed: int) -> Entry:
    """A learner, tuned for a game by what that declares, and the game."""
    cls, environment = competitor.cls, game.environment
    if cls.feedback not in environment.offers:
        raise LeftOutError(f"must be told {cls.feedback.value}")
    try:
        arguments = _arguments(cls, game, seed)
        if competitor.with_memory:
            arguments["memory"] = max(2, round(MEMORY * game.constants["horizon"]))
        learner = cls(environment.domain, **arguments)
    except MissingExtraError:
        raise
    except (ParameterError, DomainError) as refusal:
        raise LeftOutError(str(refusal)) from refusal
    limit = learner.curvature_limit[0] if game.tells_curvature else 0.0
    broken = _broken(learner, environment, arguments.keys() & game.chosen)
    return Entry(learner, environments.Understated(environment, limit), broken)


def _arguments(cls: type[Learner], game: DeclaredGame, seed: int) -> dict[str, Any]:
    """The arguments of a constructor besides the domain, by name."""
    arguments: dict[str, Any] = {}
    environment, chosen = game.environment, game.chosen
    true = {n: c for n, c in environment.constants(cls.equal_sides).items() if n not in chosen}
    for name, parameter in [*inspect.signature(cls).parameters.items()][1:]:
        optional = parameter.default is not parameter.empty
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        if name == "seed":
            arguments[name] = seed
        elif name == "bases":
            domain = environment.domain
            arguments[name] = [base(domain, **_arguments(base, game, 0)) for base in BASES]
        elif optional and (name in chosen or name in WITHHELD):
            continue
        elif name in game.constants:
            arguments[name] = true.get(name, game.constants[name])
        elif not optional:
            raise LeftOutError(f"asks for {name!r}, which the game does not declare")
    if "smoothness" in arguments and "curvature" in arguments:
        arguments["smoothness"] = max(arguments["smoothness"], arguments["curvature"])
    return arguments


def _broken(learner: Learner, game: Environment, chosen: Iterable[str]) -> tuple[str, ...]:
    """What a learner assumes and a game does not keep."""
    names = set(chosen)
    for name, true in game.constants(learner.equal_sides).items():
        assumed = getattr(learner, name, None)
        if assumed is not None and not true <= assumed * (1 + 1e-9):
            names.add(name)
    # A learner that believes in no curvature at all is one for linear losses.
    if learner.curvature_limit[0] == 0.0 and game.smoothness > 0.0:
        names = {"linearity"}
    return tuple(sorted(names))
