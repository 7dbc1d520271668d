"""Home grounds: for every learner, losses on which it pays the leading term of its own bound.

A bound is met from below only where everything in it costs what the proof charges: a cone makes
exploring cost L delta a round, a ridge or a bowl beta delta^2, linear losses nothing, so that only
the learning is seen. The constants are chosen once, so that the leading term is the larger one
within the horizons played; nothing is fitted to the result.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dikin.domains.ball import Ball
from dikin.domains.base import Domain
from dikin.environments.base import Environment
from dikin.environments.cone import Cone
from dikin.environments.linear import Linear
from dikin.environments.quadratic import Quadratic
from dikin.environments.ridge import Ridge
from dikin.errors import ParameterError
from dikin.learners.base import Learner
from dikin.learners.fkm import FKM
from dikin.learners.hazan_levy import HazanLevy
from dikin.learners.lipschitz_barrier import LipschitzBarrier
from dikin.learners.saha_tewari import SahaTewari
from dikin.learners.scrible import Scrible

COUNT, SPREAD = 5, 100
"""How many horizons a ground is played at, and how far they lie apart, the last over the first."""


class Bound(NamedTuple):
    """The growth of a learner's bound, T^power (ln T)^logs."""

    power: Fraction
    logs: Fraction = Fraction(0)

    def __str__(self) -> str:
        factors = [_power("T", self.power), _power("ln T", self.logs)]
        return " ".join(filter(None, factors))

    def slope(self, horizons: NDArray[np.float64]) -> float:
        """What a fit to the bound itself would give: its logarithms are seen at any horizon."""
        logs = np.log(horizons)
        values = float(self.power) * logs + float(self.logs) * np.log(logs)
        return float(np.polyfit(logs, values, 1)[0])


def _power(base: str, exponent: Fraction) -> str:
    if exponent == 0:
        return ""
    if exponent == 1:
        return base
    return f"{base if base == 'T' else f'({base})'}^({exponent})"


@dataclass(frozen=True)
class Losses:
    """An environment before its seed is known."""

    kind: type[Environment]
    domain: Domain
    constants: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))

    def __str__(self) -> str:
        constants = ", ".join(f"{name}={value:g}" for name, value in self.constants.items())
        return f"{self.kind.__name__}({constants}), {self.domain}"

    def start(self, seed: int) -> Environment:
        return self.kind(self.domain, **self.constants, seed=seed)


@dataclass(frozen=True)
class Told:
    """A learner before its game is known: of the losses it is told the constants named here."""

    kind: type[Learner]
    names: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.kind.__name__}({', '.join(self.names)})"

    def start(self, world: Environment, horizon: int, seed: int) -> Learner:
        known = {
            name: horizon if name == "horizon" else constant(world, name) for name in self.names
        }
        return self.kind(world.domain, **known, loss_range=world.loss_range, seed=seed)


def constant(world: Environment, name: str) -> float:
    """A constant of all losses of an environment, by the name that learners have for it."""
    return world.curvature(1) if name == "curvature" else float(getattr(world, name))


@dataclass(frozen=True)
class Ground:
    """A learner, its losses, its bound, and how far it is played."""

    key: str
    player: Told
    losses: Losses
    bound: Bound
    farthest: int = 10**7
    seeds: int = 32
    pace: float = 0.1
    """About how many microseconds a round takes: for the remaining time."""

    @property
    def learner(self) -> str:
        """The name of the learner's class."""
        return self.player.kind.__name__

    def horizons(self, share: int) -> tuple[int, ...]:
        """The horizons played, the farthest divided by `share`."""
        last = self.farthest // share
        return tuple(np.geomspace(last / SPREAD, last, COUNT).round().astype(int).tolist())


HALF, LOG = Fraction(1, 2), Fraction(1)
DISC = Ball(2)
STEEP = Losses(Cone, DISC, {"lipschitz": 1.0})
BOWL = Losses(Quadratic, DISC, {"curvature": 1.0})
LINEAR = Losses(Linear, DISC, {"lipschitz": 1.0})

GROUNDS = {
    ground.key: ground
    for ground in (
        Ground(
            "fkm-lipschitz",
            Told(FKM, ("horizon", "lipschitz")),
            STEEP,
            Bound(Fraction(3, 4)),
        ),
        Ground("fkm-general", Told(FKM, ("horizon",)), STEEP, Bound(Fraction(5, 6))),
        Ground(
            "lipschitz-barrier",
            Told(LipschitzBarrier, ("horizon", "lipschitz")),
            STEEP,
            Bound(Fraction(3, 4), Fraction(1, 4)),
        ),
        Ground(
            "saha-tewari",
            Told(SahaTewari, ("horizon", "smoothness")),
            Losses(Ridge, DISC, {"smoothness": 1.0}),
            Bound(Fraction(2, 3), Fraction(1, 3)),
        ),
        Ground(
            "hazan-levy",
            Told(HazanLevy, ("horizon", "smoothness", "curvature")),
            BOWL,
            Bound(HALF, HALF),
        ),
        Ground("scrible", Told(Scrible, ("horizon",)), LINEAR, Bound(HALF, HALF)),
    )
}


def grounds_of(learners: tuple[str, ...]) -> list[Ground]:
    """The grounds of the learners named, or all of them."""
    known = {ground.learner.lower(): ground.learner for ground in GROUNDS.values()}
    unknown = [name for name in learners if name.lower() not in known]
    if unknown:
        raise ParameterError(
            f"no home ground belongs to {unknown[0]!r}; choose from {', '.join(known.values())}"
        )
    wanted = {name.lower() for name in learners} or set(known)
    return [ground for ground in GROUNDS.values() if ground.learner.lower() in wanted]
