"""Home grounds: for every learner, losses on which it pays the leading term of its own bound.

A bound is met from below only where everything in it costs what the proof charges: a cone makes
exploring cost L delta a round, a ridge or a bowl beta delta^2, linear losses nothing, so that only
the learning is seen. The constants are chosen once, so that the leading term is the larger one
within the horizons played; nothing is fitted to the result.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dikin.domains.ball import Ball
from dikin.domains.base import Domain
from dikin.domains.box import Box
from dikin.environments.base import Environment
from dikin.environments.kink import Distance, Kink
from dikin.environments.linear import Linear
from dikin.environments.pseudo_kink import PseudoKink
from dikin.environments.quadratic import Quadratic
from dikin.environments.ridge import Ridge
from dikin.environments.wrappers import Shifted
from dikin.errors import ParameterError
from dikin.learners.agarwal_dekel_xiao import AgarwalDekelXiao
from dikin.learners.aogd import AOGD
from dikin.learners.bandit_newton import BanditNewton
from dikin.learners.base import Learner
from dikin.learners.corral import Corral
from dikin.learners.fkm import FKM
from dikin.learners.hazan_levy import HazanLevy
from dikin.learners.ito import Ito
from dikin.learners.kernel_line import KernelLine
from dikin.learners.lifted_linear import LiftedLinear
from dikin.learners.lipschitz_barrier import LipschitzBarrier
from dikin.learners.predictive import Predictive
from dikin.learners.pseudo_line import PseudoLine
from dikin.learners.saha_tewari import SahaTewari
from dikin.learners.scrible import Scrible
from dikin.learners.tewa import Tewa
from dikin.learners.two_point import TwoPoint

COUNT, SPREAD = 5, 100
"""How many horizons a ground is played at, and how far they lie apart, the last over the first."""


class Bound(NamedTuple):
    """The growth of a learner's bound, T^power (ln T)^logs."""

    power: Fraction
    logs: Fraction = Fraction(0)

    def __str__(self) -> str:
        factors = [_power("T", self.power), _power("ln T", self.logs)]
        return " ".join(filter(None, factors))

    def exponent(self, horizons: NDArray[np.float64]) -> float:
        """The power of T, or of a mere logarithm what it looks like over these horizons."""
        return float(self.power) or self.slope(horizons)

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
    constants: Mapping[str, Any]

    def __str__(self) -> str:
        constants = ", ".join(f"{name}={value:g}" for name, value in self.constants.items())
        return f"{self.kind.__name__}({constants}), {self.domain}"

    def start(self, seed: int) -> Environment:
        return self.kind(self.domain, **self.constants, seed=seed)


@dataclass(frozen=True)
class Unforeseen:
    """Losses with a random constant in each, as large as they are: nothing is to be foreseen."""

    losses: Losses

    def __str__(self) -> str:
        return f"Shifted, {self.losses}"

    def start(self, seed: int) -> Environment:
        calm = self.losses.start(seed)
        return Shifted(calm, calm.loss_range[1])


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


@dataclass(frozen=True)
class Corralled:
    """Corral over bases, at the rate T^(-slowness)."""

    bases: tuple[Told, ...]
    slowness: Fraction
    kind: type[Learner] = Corral

    def __str__(self) -> str:
        names = ", ".join(base.kind.__name__ for base in self.bases)
        return f"Corral({names}; eta = T^(-{self.slowness}))"

    def start(self, world: Environment, horizon: int, seed: int) -> Learner:
        bases = [base.start(world, horizon, seed) for base in self.bases]
        eta = float(horizon) ** -float(self.slowness)
        return Corral(world.domain, bases, horizon, eta=eta, loss_range=world.loss_range, seed=seed)


def constant(world: Environment, name: str) -> float:
    """A constant of all losses of an environment, by the name that learners have for it."""
    return world.curvature(1) if name == "curvature" else float(getattr(world, name))


@dataclass(frozen=True)
class Ground:
    """A learner, its losses, its bound, and how far it is played."""

    key: str
    player: Told | Corralled
    losses: Losses | Unforeseen
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


DISC, SEGMENT, SQUARE = Ball(2), Box([-1], [1]), Box([-1, -1], [1, 1])
CONE = Losses(Distance, DISC, {"lipschitz": 1.0})
CURVED_CONE = Losses(Distance, DISC, {"lipschitz": 1.0, "curvature": 0.5})
RIDGE = Losses(Ridge, DISC, {"smoothness": 1.0})
CURVED_RIDGE = Losses(Ridge, DISC, {"smoothness": 1.0, "curvature": 1.0})
BOWL = Losses(Quadratic, DISC, {"curvature": 1.0})
LINEAR = Losses(Linear, DISC, {"lipschitz": 1.0})
KINK = Losses(Kink, SEGMENT, {"lipschitz": 1.0})
TURNING_KINK = Losses(PseudoKink, DISC, {"lipschitz": 1.0})


def bound(power: str, logs: str = "0") -> Bound:
    """T^power (ln T)^logs, from fractions as one writes them."""
    return Bound(Fraction(power), Fraction(logs))


def told(kind: type[Learner], names: str) -> Told:
    """A learner that is told the constants named, with blanks between."""
    return Told(kind, tuple(names.split()))


def by_hand(seeds: int, farthest: int, pace: float = 40.0) -> dict[str, Any]:
    """The effort for a learner that the compiled loop cannot play."""
    return {"seeds": seeds, "farthest": farthest, "pace": pace}


# fmt: off
LISTED = (
    Ground("predictive-smooth", told(Predictive, "smoothness"), Unforeseen(RIDGE), bound("2/3"),
           farthest=10**6, seeds=64, pace=0.3),
    Ground("predictive-smooth-curved", told(Predictive, "smoothness"), Unforeseen(CURVED_RIDGE),
           bound("1/2", "1/2"), farthest=10**6, seeds=256, pace=0.3),
    Ground("predictive-lipschitz", told(Predictive, "lipschitz"), Unforeseen(CONE), bound("3/4"),
           farthest=10**6, seeds=64, pace=0.3),
    Ground("predictive-lipschitz-curved", told(Predictive, "lipschitz"), Unforeseen(CURVED_CONE),
           bound("2/3"), farthest=10**6, seeds=64, pace=0.3),
    Ground("fkm-lipschitz", told(FKM, "horizon lipschitz"), CONE, bound("3/4")),
    Ground("fkm-general", told(FKM, "horizon"), CONE, bound("5/6")),
    Ground("lipschitz-barrier", told(LipschitzBarrier, "horizon lipschitz"),
           CONE, bound("3/4", "1/4")),
    Ground("pseudo-line", told(PseudoLine, "horizon lipschitz"), TURNING_KINK, bound("3/4"),
           **by_hand(4, 300_000)),
    Ground("agarwal-dekel-xiao", told(AgarwalDekelXiao, "horizon lipschitz curvature"),
           CURVED_CONE, bound("2/3", "1/3")),
    Ground("saha-tewari", told(SahaTewari, "horizon smoothness"), RIDGE, bound("2/3", "1/3")),
    Ground("corral", Corralled((told(SahaTewari, "horizon smoothness"),
                                told(FKM, "horizon lipschitz")), Fraction(2, 3)),
           RIDGE, bound("2/3"), **by_hand(8, 300_000, 90.0)),
    Ground("hazan-levy", told(HazanLevy, "horizon smoothness curvature"), BOWL,
           bound("1/2", "1/2"), seeds=64),
    Ground("ito", told(Ito, "horizon smoothness curvature"),
           Losses(Quadratic, SQUARE, {"curvature": 1.0}), bound("1/2", "1/2"),
           **by_hand(12, 300_000, 60.0)),
    Ground("kernel-line", told(KernelLine, "horizon"), KINK, bound("1/2", "1"), farthest=300_000,
           seeds=8, pace=12.0),
    Ground("bandit-newton", told(BanditNewton, "horizon lipschitz"),
           Losses(Quadratic, SEGMENT, {"curvature": 1.0}), bound("1/2"),
           **by_hand(8, 300_000, 80.0)),
    Ground("tewa-flat", told(Tewa, "horizon"), CONE, bound("3/4"), farthest=10**6, seeds=8,
           pace=1.0),
    Ground("tewa-curved", told(Tewa, "horizon"), CURVED_RIDGE, bound("1/2"), seeds=16, pace=1.0),
    Ground("scrible", told(Scrible, "horizon"), LINEAR, bound("1/2", "1/2")),
    Ground("lifted-linear", told(LiftedLinear, "horizon"), LINEAR, bound("1/2", "1/2"),
           **by_hand(8, 100_000, 180.0)),
    Ground("two-point-flat", told(TwoPoint, "horizon lipschitz"), CONE, bound("1/2"),
           **by_hand(8, 100_000)),
    Ground("two-point-curved", told(TwoPoint, "horizon lipschitz curvature"), BOWL,
           bound("0", "1"), **by_hand(16, 100_000)),
    Ground("aogd-flat", told(AOGD, ""), CONE, bound("1/2"), **by_hand(8, 100_000)),
    Ground("aogd-curved", told(AOGD, ""), BOWL, bound("0", "1"), **by_hand(16, 100_000)),
)
# fmt: on
GROUNDS = {ground.key: ground for ground in LISTED}


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
