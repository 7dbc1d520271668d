"""Losses on which a learner pays the leading term of its own bound.

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

import dikin
from dikin import environments, learners
from dikin.domains.base import Domain
from dikin.environments.base import Environment
from dikin.errors import ParameterError
from dikin.learners.base import Learner
from dikin.vectors import Array

HORIZONS, SPREAD = 5, 100
"""How many horizons a case is played at, and how far they lie apart, the last over the first."""


class Bound(NamedTuple):
    """The growth of a learner's bound, T^power (ln T)^logs."""

    power: Fraction
    logs: Fraction = Fraction(0)

    def __str__(self) -> str:
        factors = [_power("T", self.power), _power("ln T", self.logs)]
        return " ".join(filter(None, factors))

    def exponent(self, horizons: Array) -> float:
        """The power of T, or of a mere logarithm what it looks like over these horizons."""
        return float(self.power) or self.slope(horizons)

    def slope(self, horizons: Array) -> float:
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


def _shown(constant: Any) -> str:
    """A number, or what becomes of it over the rounds."""
    if not isinstance(constant, dikin.Decaying):
        return f"{constant:g}"
    falls = f" t^(-{constant.alpha:g})" if constant.alpha else ""
    return f"{constant.sigma:g}{falls}"


@dataclass(frozen=True)
class Losses:
    """An environment before its seed is known."""

    kind: type[Environment]
    domain: Domain
    constants: Mapping[str, Any]

    def __str__(self) -> str:
        constants = ", ".join(f"{name}={_shown(value)}" for name, value in self.constants.items())
        return f"{self.kind.__name__}({constants}), {self.domain}"

    def start(self, seed: int) -> Environment:
        return self.kind(self.domain, **self.constants, seed=seed)


@dataclass(frozen=True)
class Offset:
    """Losses with a random constant in each, as large as they are: nothing is to be foreseen."""

    losses: Losses

    def __str__(self) -> str:
        return f"Shifted, {self.losses}"

    def start(self, seed: int) -> Environment:
        plain = self.losses.start(seed)
        return environments.Shifted(plain, plain.loss_range[1])


@dataclass(frozen=True)
class TunedLearner:
    """A learner before its game is known: it is built with the constants named here."""

    kind: type[Learner]
    names: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.kind.__name__}({', '.join(self.names)})"

    def start(self, game: Environment, horizon: int, seed: int) -> Learner:
        constants = {
            name: horizon if name == "horizon" else constant(game, name) for name in self.names
        }
        return self.kind(game.domain, **constants, loss_range=game.loss_range, seed=seed)


@dataclass(frozen=True)
class TunedCorral:
    """Corral over bases, at the rate T^(-power)."""

    bases: tuple[TunedLearner, ...]
    power: Fraction
    kind: type[Learner] = learners.Corral

    def __str__(self) -> str:
        names = ", ".join(base.kind.__name__ for base in self.bases)
        return f"Corral({names}; eta = T^(-{self.power}))"

    def start(self, game: Environment, horizon: int, seed: int) -> Learner:
        bases = [base.start(game, horizon, seed) for base in self.bases]
        eta = float(horizon) ** -float(self.power)
        span = game.loss_range
        return learners.Corral(game.domain, bases, horizon, eta=eta, loss_range=span, seed=seed)


def constant(game: Environment, name: str) -> float:
    """A constant of all losses of an environment, by the name that learners have for it."""
    return game.curvature(1) if name == "curvature" else float(getattr(game, name))


@dataclass(frozen=True)
class RateCase:
    """A learner, losses on which it pays its own bound, and how far it is played."""

    key: str
    learner: TunedLearner | TunedCorral
    losses: Losses | Offset
    bound: Bound
    longest: int = 10**7
    games: int = 32
    round_cost: float = 0.1
    """About how many microseconds a round takes: for the remaining time."""

    def __str__(self) -> str:
        return f"{self.key}: {self.learner} on {self.losses}"

    @property
    def learner_name(self) -> str:
        """The name of the learner's class."""
        return self.learner.kind.__name__

    def horizons(self, divisor: int) -> tuple[int, ...]:
        """The horizons played, the longest divided by `divisor`."""
        last = self.longest // divisor
        return tuple(np.geomspace(last / SPREAD, last, HORIZONS).round().astype(int).tolist())


DISC, SEGMENT, SQUARE = dikin.Ball(2), dikin.Box([-1], [1]), dikin.Box([-1, -1], [1, 1])
FALLS = (Fraction(0), Fraction(1, 4), Fraction(1, 2))
"""The a of constants that fall as t^(-a) and are told: Theorem 20 of docs/mathematics.md."""
CONE = Losses(environments.Distance, DISC, {"lipschitz": 1.0})
CURVED_CONE = Losses(environments.Distance, DISC, {"lipschitz": 1.0, "curvature": 0.5})
RIDGE = Losses(dikin.Ridge, DISC, {"smoothness": 1.0})
CURVED_RIDGE = Losses(dikin.Ridge, DISC, {"smoothness": 1.0, "curvature": 1.0})
BOWL = Losses(environments.Quadratic, DISC, {"curvature": 1.0})
LINEAR = Losses(environments.Linear, DISC, {"lipschitz": 1.0})
KINK = Losses(dikin.Kink, SEGMENT, {"lipschitz": 1.0})
TURNING_KINK = Losses(environments.PseudoKink, DISC, {"lipschitz": 1.0})


def bound(power: str, logs: str = "0") -> Bound:
    """T^power (ln T)^logs, from fractions as one writes them."""
    return Bound(Fraction(power), Fraction(logs))


def tuned(kind: type[Learner], names: str) -> TunedLearner:
    """A learner that is built with the constants named, with blanks between."""
    return TunedLearner(kind, tuple(names.split()))


def uncompiled(games: int, longest: int, round_cost: float = 40.0) -> dict[str, Any]:
    """The effort for a learner that the compiled loop cannot play."""
    return {"games": games, "longest": longest, "round_cost": round_cost}


# fmt: off
LISTED = (
    RateCase("predictive-smooth", tuned(dikin.Predictive, "smoothness"), Offset(RIDGE),
             bound("2/3"), longest=10**6, games=64, round_cost=0.3),
    RateCase("predictive-smooth-curved", tuned(dikin.Predictive, "smoothness"),
             Offset(CURVED_RIDGE), bound("1/2", "1/2"), longest=10**6, games=256, round_cost=0.3),
    RateCase("predictive-lipschitz", tuned(dikin.Predictive, "lipschitz"), Offset(CONE),
             bound("3/4"), longest=10**6, games=64, round_cost=0.3),
    RateCase("predictive-lipschitz-curved", tuned(dikin.Predictive, "lipschitz"),
             Offset(CURVED_CONE), bound("2/3"), longest=10**6, games=64, round_cost=0.3),
    RateCase("fkm-lipschitz", tuned(learners.FKM, "horizon lipschitz"), CONE, bound("3/4")),
    RateCase("fkm-general", tuned(learners.FKM, "horizon"), CONE, bound("5/6")),
    RateCase("lipschitz-barrier", tuned(learners.LipschitzBarrier, "horizon lipschitz"), CONE,
             bound("3/4", "1/4")),
    RateCase("pseudo-line", tuned(learners.PseudoLine, "horizon lipschitz"), TURNING_KINK,
             bound("3/4"), **uncompiled(4, 300_000)),
    RateCase("agarwal-dekel-xiao", tuned(learners.AgarwalDekelXiao, "horizon lipschitz curvature"),
             CURVED_CONE, bound("2/3", "1/3")),
    RateCase("saha-tewari", tuned(learners.SahaTewari, "horizon smoothness"), RIDGE,
             bound("2/3", "1/3")),
    RateCase("corral", TunedCorral((tuned(learners.SahaTewari, "horizon smoothness"),
                                    tuned(learners.FKM, "horizon lipschitz")), Fraction(2, 3)),
             RIDGE, bound("2/3"), **uncompiled(8, 300_000, 90.0)),
    RateCase("hazan-levy", tuned(learners.HazanLevy, "horizon smoothness curvature"), BOWL,
             bound("1/2", "1/2"), games=64),
    RateCase("kernel-line", tuned(learners.KernelLine, "horizon"), KINK, bound("1/2", "1"),
             **uncompiled(8, 300_000, 60.0)),
    RateCase("bandit-newton", tuned(learners.BanditNewton, "horizon lipschitz"),
             Losses(environments.Quadratic, SEGMENT, {"curvature": 1.0}), bound("1/2"),
             **uncompiled(8, 300_000, 80.0)),
    RateCase("tewa-flat", tuned(learners.Tewa, "horizon"), CONE, bound("3/4"), longest=10**6,
             games=8, round_cost=1.0),
    RateCase("tewa-curved", tuned(learners.Tewa, "horizon"), CURVED_RIDGE, bound("1/2"), games=16,
             round_cost=1.0),
    RateCase("scrible", tuned(learners.Scrible, "horizon"), LINEAR, bound("1/2", "1/2")),
    RateCase("two-point-flat", tuned(learners.TwoPoint, "horizon lipschitz"), CONE, bound("1/2"),
             **uncompiled(8, 100_000)),
    RateCase("two-point-curved", tuned(learners.TwoPoint, "horizon lipschitz curvature"), BOWL,
             bound("0", "1"), **uncompiled(16, 100_000)),
    RateCase("aogd-flat", tuned(learners.AOGD, ""), CONE, bound("1/2"), **uncompiled(8, 100_000)),
    RateCase("aogd-curved", tuned(learners.AOGD, ""), BOWL, bound("0", "1"),
             **uncompiled(16, 100_000)),
    *(RateCase(f"told-smoothness-{a}", tuned(dikin.AdaptiveSmooth, "smoothness"),
               Losses(dikin.Ridge, DISC, {"smoothness": dikin.Decaying(1.0, float(a))}),
               Bound((2 - a) / 3), longest=10**6, games=16) for a in FALLS),
    *(RateCase(f"told-lipschitz-{a}", tuned(dikin.AdaptiveLipschitz, "lipschitz"),
               Losses(environments.Distance, DISC, {"lipschitz": dikin.Decaying(1.0, float(a))}),
               Bound((3 - 2 * a) / 4), longest=10**6, games=16) for a in FALLS),
)
# fmt: on
RATE_CASES = {case.key: case for case in LISTED}


def cases_of(chosen: tuple[str, ...]) -> list[RateCase]:
    """Return the cases of the learners named, or all of them."""
    names = {case.learner_name.lower(): case.learner_name for case in RATE_CASES.values()}
    unknown = [name for name in chosen if name.lower() not in names]
    if unknown:
        raise ParameterError(
            f"the rate of {unknown[0]!r} is not measured; choose from {', '.join(names.values())}"
        )
    selection = {name.lower() for name in chosen} or set(names)
    return [case for case in RATE_CASES.values() if case.learner_name.lower() in selection]
