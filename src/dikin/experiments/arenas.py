"""The environments of `dikin compare`, and what a learner may honestly be told about each.

One list: an arena is a name, a sentence, and a function from the horizon and a seed to a game.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from dikin.domains.ball import Ball
from dikin.domains.box import Box
from dikin.environments.base import Environment
from dikin.environments.cone import Cone
from dikin.environments.kink import Kink
from dikin.environments.linear import Linear
from dikin.environments.pseudo_kink import PseudoKink
from dikin.environments.quadratic import Quadratic
from dikin.environments.ridge import Ridge
from dikin.environments.shifted import Shifted

DISC, BALL, LINE = Ball(2), Ball(8), Box([-1.0], [1.0])
DEEP = 0.8
"""How far out the best points lie: far enough that standing still is no way to play."""


class Stretch(NamedTuple):
    """sigma t^(-alpha) in the rounds after `first` and up to `last`, else nothing.

    One pattern for all arenas, so that one compiled loop serves those of the same losses.
    """

    sigma: float
    alpha: float = 0.0
    first: int = 0
    last: int = sys.maxsize

    def at(self, round: int) -> float:
        bend: float = self.sigma * float(round) ** -self.alpha
        return bend if self.first < round <= self.last else 0.0


@dataclass(frozen=True)
class Arena:
    """A game to be compared on."""

    name: str
    words: str
    game: Callable[[int, int], Environment]
    """From the horizon and a seed."""
    told: bool = True
    """Whether learners are told the curvature."""


def _ridge(seed: int, pattern: Stretch) -> Environment:
    return Ridge(DISC, 1.0, pattern, seed, depth=DEEP)


def _shifted(calm: Environment) -> Environment:
    """With constants twice as large as the losses themselves."""
    return Shifted(calm, 2.0 * calm.loss_range[1])


ARENAS = {
    arena.name: arena
    for arena in (
        Arena(
            "constant",
            "constant curvature, disc",
            lambda horizon, seed: _ridge(seed, Stretch(0.5)),
        ),
        Arena(
            "hidden",
            "`constant`, and nobody tells the curvature",
            lambda horizon, seed: _ridge(seed, Stretch(0.5)),
            told=False,
        ),
        Arena(
            "zero",
            "no curvature, disc",
            lambda horizon, seed: _ridge(seed, Stretch(0.0)),
        ),
        Arena(
            "tenth-flat",
            "the first tenth of the rounds says nothing, then curved, disc",
            lambda horizon, seed: Quadratic(DISC, Stretch(1.0, first=horizon // 10), seed),
        ),
        Arena(
            "half-flat",
            "curved, and no curvature in the second half, disc",
            lambda horizon, seed: _ridge(seed, Stretch(0.5, last=horizon // 2)),
        ),
        Arena(
            "decaying",
            "curvature t^-0.3, disc",
            lambda horizon, seed: _ridge(seed, Stretch(1.0, 0.3)),
        ),
        Arena(
            "linear",
            "linear losses, disc",
            lambda horizon, seed: Linear(DISC, 1.0, seed),
        ),
        Arena(
            "moving",
            "bowls whose minimum jumps, disc",
            lambda horizon, seed: Quadratic(DISC, Stretch(1.0), seed),
        ),
        Arena(
            "offset",
            "`constant`, with a random constant in each loss",
            lambda horizon, seed: _shifted(_ridge(seed, Stretch(0.5))),
        ),
        Arena(
            "cone",
            "Lipschitz, steep in every direction, no curvature, disc",
            lambda horizon, seed: Cone(DISC, 1.0, Stretch(0.0), seed, depth=DEEP),
        ),
        Arena(
            "line",
            "Lipschitz with a kink, no curvature, d = 1",
            lambda horizon, seed: Kink(LINE, 1.0, Stretch(0.0), seed, depth=DEEP),
        ),
        Arena(
            "pseudo",
            "Lipschitz functions of one product z.x, z known beforehand, ball, d = 8",
            lambda horizon, seed: PseudoKink(BALL, 1.0, seed=seed, depth=DEEP),
        ),
        Arena(
            "heavy",
            "bowls whose minimum jumps, ball, d = 50",
            lambda horizon, seed: Quadratic(Ball(50), Stretch(1.0), seed),
        ),
    )
}


@dataclass(frozen=True)
class Told:
    """What the constructor of a learner may be told about a game."""

    constants: dict[str, Any]
    """By the names that constructors use."""
    chosen: frozenset[str]
    """Those among them that the losses do not have: stated choices."""

    @classmethod
    def of(cls, arena: Arena, world: Environment, horizon: int) -> Told:
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
        sigmas = [world.curvature(t) if arena.told else 0.0 for t in rounds]
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
