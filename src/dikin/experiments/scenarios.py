"""The scenarios of `dikin compare`, and what a learner may honestly be told about each.

One list: a scenario is a name, a group, sentences, and a function from the horizon and a seed to a
game.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import isfinite
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dikin.domains.ball import Ball
from dikin.domains.base import Domain
from dikin.domains.box import Box
from dikin.domains.polytope import Polytope
from dikin.domains.simplex import Simplex
from dikin.environments.base import Environment
from dikin.environments.bowl import Bowl, Circling, Jumping
from dikin.environments.hostile import KINDS, Hostile
from dikin.environments.kink import Distance, Kink
from dikin.environments.linear import Linear
from dikin.environments.pseudo_kink import PseudoKink
from dikin.environments.quadratic import Quadratic
from dikin.environments.ridge import Ridge
from dikin.environments.wrappers import Shifted

GROUPS = {
    "smooth": "Smooth losses",
    "lipschitz": "Lipschitz losses with kinks",
    "noise": "Noise, on several domains",
    "drift": "Drift and season",
    "hostile": "Hostile games",
}
DISC, BALL, LINE = Ball(2), Ball(8), Box([-1.0], [1.0])
CUBE, PLATE, SHARES = Box([-1.0] * 5, [1.0] * 5), Box([0.0, 0.0], [1.0, 1000.0]), Simplex(5)
CUT_CUBE = Polytope(
    [*np.eye(3).tolist(), *(-np.eye(3)).tolist(), [1.0, 1.0, 1.0]], [1.0] * 6 + [1.5]
)
DEEP = 0.8
"""How far out the best points lie: far enough that a fixed point is no way to play."""
MEMORY = 0.4
"""The share of the horizon after which a minimum jumps, and which a learner is told to remember."""


class Stretch(NamedTuple):
    """sigma t^(-alpha) in the rounds after `first` and up to `last`, else nothing.

    One pattern for all scenarios, so that one compiled loop serves those of the same losses.
    """

    sigma: float
    alpha: float = 0.0
    first: int = 0
    last: int = sys.maxsize

    def at(self, round: int) -> float:
        bend: float = self.sigma * float(round) ** -self.alpha
        return bend if self.first < round <= self.last else 0.0


Game = Callable[[int, int], Environment]
"""From the horizon and a seed."""


@dataclass(frozen=True)
class Scenario:
    """A game to be compared on."""

    name: str
    group: str
    losses: str
    """As somebody would say who has such losses."""
    words: str
    """What is played."""
    game: Game
    told: bool = True
    """Whether learners are told the curvature."""
    moving: bool = False
    """Whether regret is against the best point of each round: no certificate speaks about that."""


def _ridge(seed: int, pattern: Stretch) -> Environment:
    return Ridge(DISC, 1.0, pattern, seed, depth=DEEP)


def _offset(horizon: int, seed: int) -> Environment:
    """With constants twice as large as the losses themselves."""
    calm = _ridge(seed, Stretch(0.5))
    return Shifted(calm, 2.0 * calm.loss_range[1])


def _noisy(calm: Environment, share: float, season: float = 0.0) -> Environment:
    """With noise, and a season, of these shares of the losses' range."""
    low, high = calm.loss_range
    return Shifted(calm, noise=share * (high - low), season=season * (high - low))


def _noisy_bowl(
    domain: Domain, share: float, horizon: int, seed: int, scales: ArrayLike | None = None
) -> Environment:
    return _noisy(Bowl(domain, seed, depth=DEEP, scales=scales), share)


def _hostile(kind: str, horizon: int, seed: int) -> Environment:
    return Hostile(DISC, kind, horizon, seed)


SMOOTH = (
    Scenario(
        "constant",
        "smooth",
        "every loss curved alike, and you know how much",
        "constant curvature, disc",
        lambda horizon, seed: _ridge(seed, Stretch(0.5)),
    ),
    Scenario(
        "hidden",
        "smooth",
        "curved, and you do not know how much",
        "`constant`, and nobody tells the curvature",
        lambda horizon, seed: _ridge(seed, Stretch(0.5)),
        told=False,
    ),
    Scenario(
        "zero",
        "smooth",
        "smooth, not curved",
        "no curvature, disc",
        lambda horizon, seed: _ridge(seed, Stretch(0.0)),
    ),
    Scenario(
        "tenth-flat",
        "smooth",
        "nothing at first, then curved, and you know how much",
        "the first tenth of the rounds says nothing, then curved, disc",
        lambda horizon, seed: Quadratic(DISC, Stretch(1.0, first=horizon // 10), seed),
    ),
    Scenario(
        "half-flat",
        "smooth",
        "curved in part of the rounds, and you know how much",
        "curved, and no curvature in the second half, disc",
        lambda horizon, seed: _ridge(seed, Stretch(0.5, last=horizon // 2)),
    ),
    Scenario(
        "decaying",
        "smooth",
        "less and less curved, and you know how much",
        "curvature t^-0.3, disc",
        lambda horizon, seed: _ridge(seed, Stretch(1.0, 0.3)),
    ),
    Scenario(
        "linear",
        "smooth",
        "linear",
        "linear losses, disc",
        lambda horizon, seed: Linear(DISC, 1.0, seed),
    ),
    Scenario(
        "moving",
        "smooth",
        "bowls, each with its minimum at one of two points",
        "bowls whose minimum is drawn from two points each round, disc",
        lambda horizon, seed: Quadratic(DISC, Stretch(1.0), seed),
    ),
    Scenario(
        "offset",
        "smooth",
        "a large random constant in every loss",
        "`constant`, with a random constant in each loss",
        _offset,
    ),
    Scenario(
        "heavy",
        "smooth",
        "bowls, each with its minimum at one of two points, 50 dimensions",
        "bowls whose minimum is drawn from two points each round, ball, d = 50",
        lambda horizon, seed: Quadratic(Ball(50), Stretch(1.0), seed),
    ),
)
LIPSCHITZ = (
    Scenario(
        "cone",
        "lipschitz",
        "kinks, steep in every direction",
        "Lipschitz, steep in every direction, no curvature, disc",
        lambda horizon, seed: Distance(DISC, 1.0, Stretch(0.0), seed, depth=DEEP),
    ),
    Scenario(
        "line",
        "lipschitz",
        "kinks, one dimension",
        "Lipschitz with a kink, no curvature, d = 1",
        lambda horizon, seed: Kink(LINE, 1.0, Stretch(0.0), seed, depth=DEEP),
    ),
    Scenario(
        "pseudo",
        "lipschitz",
        "kinked functions of one product, eight dimensions",
        "Lipschitz functions of one product z.x, z known beforehand, ball, d = 8",
        lambda horizon, seed: PseudoKink(BALL, 1.0, seed=seed, depth=DEEP),
    ),
)
NOISE = (
    *(
        Scenario(
            f"box-{percent}",
            "noise",
            f"a bowl on a box, noise of {percent} % of its range",
            f"a bowl with noise of {percent} % of its range, cube, d = 5",
            partial(_noisy_bowl, CUBE, percent / 100),
        )
        for percent in (5, 20, 50)
    ),
    Scenario(
        "simplex-20",
        "noise",
        "a bowl of shares that add up to one, noise of 20 % of its range",
        "a bowl with noise of 20 % of its range, probability vectors of 5 entries",
        partial(_noisy_bowl, SHARES, 0.2),
    ),
    Scenario(
        "thin-20",
        "noise",
        "a bowl on a box with very unequal sides, noise of 20 % of its range",
        "a bowl in units of half the sides, noise of 20 % of its range, box of sides 1 and 1000",
        partial(_noisy_bowl, PLATE, 0.2, scales=(0.5, 500.0)),
    ),
    Scenario(
        "polytope-20",
        "noise",
        "a bowl on a polytope, noise of 20 % of its range",
        "a bowl with noise of 20 % of its range, cube without one corner, d = 3",
        partial(_noisy_bowl, CUT_CUBE, 0.2),
    ),
)
DRIFT = (
    Scenario(
        "circling",
        "drift",
        "a bowl whose minimum moves slowly",
        "a bowl whose minimum goes round once, noise of 2.5 % of its range, disc",
        lambda horizon, seed: _noisy(Circling(DISC, horizon, seed, depth=DEEP), 0.025),
        told=False,  # curvature that is told holds a learner where the minimum was
        moving=True,
    ),
    Scenario(
        "jumping",
        "drift",
        "a bowl whose minimum jumps now and then",
        "a bowl whose minimum jumps every 2/5 of the rounds, noise of 2.5 % of its range, disc",
        lambda horizon, seed: _noisy(
            Jumping(DISC, max(1, round(MEMORY * horizon)), seed, depth=DEEP), 0.025
        ),
        told=False,
        moving=True,
    ),
    Scenario(
        "season",
        "drift",
        "a bowl with a slow season in every loss",
        "a bowl and a sine of period 500 of half its range, noise of 2.5 % of its range, disc",
        lambda horizon, seed: _noisy(Bowl(DISC, seed, depth=DEEP), 0.025, season=0.5),
    ),
)
HOSTILE = tuple(
    Scenario(
        name,
        "hostile",
        kind.description,
        f"{kind.description}, disc",
        partial(_hostile, name),
        told=False,
    )
    for name, kind in KINDS.items()
)
SCENARIOS = {s.name: s for s in (*SMOOTH, *LIPSCHITZ, *NOISE, *DRIFT, *HOSTILE)}


@dataclass(frozen=True)
class Told:
    """What the constructor of a learner may be told about a game."""

    constants: dict[str, Any]
    """By the names that constructors use."""
    chosen: frozenset[str]
    """Those among them that the losses do not have: stated choices."""

    @classmethod
    def of(cls, scenario: Scenario, world: Environment, horizon: int) -> Told:
        """What is true of a game, or else the choices below.

        smoothness: where there is a kink, the slope over the radius.
        curvature, as one number for all rounds: their mean if they differ; where all are flat, a
        tenth of half the losses' range over the squared radius.
        """
        chosen, radius, smoothness = set(), world.domain.radius, world.smoothness
        if not isfinite(smoothness):
            smoothness = world.lipschitz / radius
            chosen.add("smoothness")
        rounds = np.unique(np.linspace(1, horizon, 1001).round().astype(int)).tolist()
        sigmas = [world.curvature(t) if scenario.told else 0.0 for t in rounds]
        curvature = float(np.mean(sigmas))
        if min(sigmas) < max(sigmas) or curvature == 0.0:
            chosen.add("curvature")
        if curvature == 0.0:
            low, high = world.loss_range
            curvature = 0.1 * (high - low) / 2 / radius**2
        constants = {
            "smoothness": smoothness,
            "lipschitz": world.lipschitz,
            "curvature": curvature,
            "loss_range": world.loss_range,
            "horizon": horizon,
        }
        return cls(constants, frozenset(chosen))
