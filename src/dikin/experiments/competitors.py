"""The competitors of `dikin compare`: learners, each built from what a game declares.

Nothing is listed: every learner that the registry finds takes part, its arguments found by their
names. One that asks for something else, or refuses the domain, is left out with the reason. One
that can forget takes part a second time, with a memory, where the best point moves.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from dikin import registry
from dikin.environments.base import Environment
from dikin.environments.wrappers import Understated
from dikin.errors import (
    AssumptionWarning,
    DikinError,
    DomainError,
    MissingExtraError,
    ParameterError,
    UnknownKindError,
    did_you_mean,
)
from dikin.experiments.external import EXTERNAL
from dikin.experiments.fixed_point import FixedPoint
from dikin.experiments.matrix import REMEMBERS
from dikin.experiments.scenarios import GROUPS, MEMORY, SCENARIOS, Scenario, Told
from dikin.feedback import Feedback
from dikin.learners.base import Learner
from dikin.learners.fkm import FKM
from dikin.learners.hazan_levy import HazanLevy
from dikin.learners.saha_tewari import SahaTewari

BASES: tuple[type[Learner], ...] = (HazanLevy, SahaTewari, FKM)
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
    world: Environment
    broken: tuple[str, ...]
    """The assumptions of the learner that the game does not keep."""


@dataclass(frozen=True)
class Competitor:
    """A learner under the name that the tables have, with or without a memory."""

    name: str
    cls: type[Learner]
    remembers: bool = False
    """Whether it is told to forget what is older than `MEMORY` of the horizon."""

    def plays(self, scenario: Scenario) -> bool:
        """With a memory, only where there is something to forget."""
        return scenario.moving or not self.remembers


def find_competitors(names: Iterable[str], external: bool) -> dict[str, Competitor]:
    """The learners of these names, or all of the library's and the fixed-point baseline.

    And the external optimizers if wanted.
    """
    known = registry.learners()
    for name in known.keys() & {FixedPoint.kind, *EXTERNAL}:
        raise ParameterError(
            f"compare has a competitor called {name!r} of its own, and the registered learner "
            f"{known[name].__module__}.{known[name].__name__} has the same name: give it another"
        )
    library: dict[str, type[Learner]] = known | {FixedPoint.kind: FixedPoint}
    every = library | EXTERNAL
    wanted = [name.lower() for name in names]
    for name in wanted:
        if name not in every:
            raise UnknownKindError(f"no learner is called {name!r}.{did_you_mean(name, every)}")
    chosen = wanted or [*library]
    chosen += [name for name in EXTERNAL if external and name not in chosen]
    found: dict[str, Competitor] = {}
    for cls in (every[name] for name in chosen):
        found[cls.__name__] = Competitor(cls.__name__, cls)
        if "memory" in inspect.signature(cls).parameters:
            second = cls.__name__ + REMEMBERS
            found[second] = Competitor(second, cls, remembers=True)
    return found


def find_scenarios(names: Iterable[str]) -> dict[str, Scenario]:
    """The scenarios of these names, or of the groups of these names, or all."""
    wanted = [name.lower() for name in names]
    for name in wanted:
        if name not in SCENARIOS and name not in GROUPS:
            near = did_you_mean(name, [*SCENARIOS, *GROUPS])
            raise UnknownKindError(f"no scenario of compare is called {name!r}.{near}")
    chosen = {*wanted} or {*SCENARIOS}
    return {name: s for name, s in SCENARIOS.items() if {name, s.group} & chosen}


def enter(competitor: Competitor, scenario: Scenario, horizon: int, seed: int) -> Entry:
    """A learner, tuned for a game by what that declares, and the game."""
    cls, world = competitor.cls, scenario.game(horizon, seed)
    told = Told.of(scenario, world, horizon)
    if cls.feedback not in world.offers:
        raise LeftOutError(f"must be told {cls.feedback.value}")
    try:
        given = _arguments(cls, world, told, seed)
        if competitor.remembers:
            given["memory"] = max(2, round(MEMORY * horizon))
        learner = cls(world.domain, **given)
    except MissingExtraError:
        raise
    except (ParameterError, DomainError) as refusal:
        raise LeftOutError(str(refusal)) from refusal
    known = learner.curvature_limit[0] if scenario.told else 0.0
    broken = _broken(learner, world, given.keys() & told.chosen)
    return Entry(learner, Understated(world, known), broken)


def _arguments(cls: type[Learner], world: Environment, told: Told, seed: int) -> dict[str, Any]:
    """The arguments of a constructor besides the domain, by name."""
    given: dict[str, Any] = {}
    true = {n: c for n, c in world.constants(cls.equal_sides).items() if n not in told.chosen}
    for name, parameter in [*inspect.signature(cls).parameters.items()][1:]:
        optional = parameter.default is not parameter.empty
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        if name == "seed":
            given[name] = seed
        elif name == "bases":
            given[name] = [base(world.domain, **_arguments(base, world, told, 0)) for base in BASES]
        elif optional and (name in told.chosen or name in WITHHELD):
            continue
        elif name in told.constants:
            given[name] = true.get(name, told.constants[name])
        elif not optional:
            raise LeftOutError(f"asks for {name!r}, which no game of compare declares")
    if "smoothness" in given and "curvature" in given:
        given["smoothness"] = max(given["smoothness"], given["curvature"])
    return given


def _broken(learner: Learner, world: Environment, chosen: Iterable[str]) -> tuple[str, ...]:
    """What a learner assumes and a game does not keep."""
    found = set(chosen)
    for name, true in world.constants(learner.equal_sides).items():
        assumed = getattr(learner, name, None)
        if assumed is not None and not true <= assumed * (1 + 1e-9):
            found.add(name)
    # A learner that believes in no curvature at all is one for linear losses.
    if learner.curvature_limit[0] == 0.0 and world.smoothness > 0.0:
        found = {"linearity"}
    return tuple(sorted(found))


def sees_more(cls: type[Learner]) -> bool:
    """Whether a learner is told more of a round than one value."""
    return cls.feedback is not Feedback.VALUE


def quietly() -> warnings.catch_warnings[None]:
    """Assumptions that do not hold are marked in the table, not warned of."""
    return warnings.catch_warnings(action="ignore", category=AssumptionWarning)
