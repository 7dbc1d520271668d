"""The scenarios, and what a learner may honestly be told about each.

One list: a scenario is a name, a group, two descriptions, and a function from the horizon and a
seed to a game.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import isfinite, isnan
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

import dikin
from dikin import environments
from dikin.domains.base import Domain
from dikin.environments.base import Environment
from dikin.errors import ParameterError, UnknownNameError, did_you_mean
from evidence.compare.bowl import Bowl, Circling, Jumping
from evidence.compare.hostile import KINDS, Hostile

GROUPS = {
    "smooth": "Smooth losses",
    "lipschitz": "Lipschitz losses with kinks",
    "noise": "Noise, on several domains",
    "drift": "Drift and season",
    "hostile": "Hostile games",
    "own": "Your own",
}
DISC, BALL, SEGMENT = dikin.Ball(2), dikin.Ball(8), dikin.Box([-1.0], [1.0])
CUBE, PLATE = dikin.Box([-1.0] * 5, [1.0] * 5), dikin.Box([0.0, 0.0], [1.0, 1000.0])
SHARES = dikin.Simplex(5)
CUT_CUBE = dikin.Polytope(
    [*np.eye(3).tolist(), *(-np.eye(3)).tolist(), [1.0, 1.0, 1.0]], [1.0] * 6 + [1.5]
)
DEPTH = 0.8
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
        sigma: float = self.sigma * float(round) ** -self.alpha
        return sigma if self.first < round <= self.last else 0.0


Game = Callable[[int, int], Environment]
"""From the horizon and a seed."""


@dataclass(frozen=True)
class Scenario:
    """A game to be compared on; `Scenario.own` makes one of your own."""

    name: str
    group: str
    losses: str
    """In the words of somebody who has such losses."""
    description: str
    """What is played."""
    game: Game
    tells_curvature: bool = True
    moving: bool = False
    """Whether regret is against the best point of each round: no certificate speaks about that."""

    @classmethod
    def own(
        cls, name: str, game: Game, tells_curvature: bool = True, moving: bool = False
    ) -> Scenario:
        """A scenario of a user: `game(horizon, seed)` gives an environment on any domain.

        Finished games are kept under the name: games with other numbers need another name.
        """
        return cls(name, "own", name, name, game, tells_curvature, moving)


def _ridge(seed: int, pattern: Stretch) -> Environment:
    return dikin.Ridge(DISC, 1.0, pattern, seed, depth=DEPTH)


def _offset(horizon: int, seed: int) -> Environment:
    """With constants twice as large as the losses themselves."""
    plain = _ridge(seed, Stretch(0.5))
    return environments.Shifted(plain, 2.0 * plain.loss_range[1])


def _noisy(plain: Environment, share: float, season: float = 0.0) -> Environment:
    """With noise, and a season, of these shares of the losses' range."""
    low, high = plain.loss_range
    return environments.Shifted(plain, noise=share * (high - low), season=season * (high - low))


def _noisy_bowl(
    domain: Domain, share: float, horizon: int, seed: int, scales: ArrayLike | None = None
) -> Environment:
    return _noisy(Bowl(domain, seed, depth=DEPTH, scales=scales), share)


# fmt: off
LISTED = (
    Scenario("constant", "smooth", "every loss curved alike, and you know how much",
             "constant curvature, disc",
             lambda T, seed: _ridge(seed, Stretch(0.5))),
    Scenario("hidden", "smooth", "curved, and you do not know how much",
             "`constant`, and nobody tells the curvature",
             lambda T, seed: _ridge(seed, Stretch(0.5)), tells_curvature=False),
    Scenario("zero", "smooth", "smooth, not curved", "no curvature, disc",
             lambda T, seed: _ridge(seed, Stretch(0.0))),
    Scenario("tenth-flat", "smooth", "nothing at first, then curved, and you know how much",
             "the first tenth of the rounds says nothing, then curved, disc",
             lambda T, seed: environments.Quadratic(DISC, Stretch(1.0, first=T // 10), seed)),
    Scenario("half-flat", "smooth", "curved in part of the rounds, and you know how much",
             "curved, and no curvature in the second half, disc",
             lambda T, seed: _ridge(seed, Stretch(0.5, last=T // 2))),
    Scenario("decaying", "smooth", "less and less curved, and you know how much",
             "curvature t^-0.3, disc",
             lambda T, seed: _ridge(seed, Stretch(1.0, 0.3))),
    Scenario("linear", "smooth", "linear", "linear losses, disc",
             lambda T, seed: environments.Linear(DISC, 1.0, seed)),
    Scenario("moving", "smooth", "bowls, each with its minimum at one of two points",
             "bowls whose minimum is drawn from two points each round, disc",
             lambda T, seed: environments.Quadratic(DISC, Stretch(1.0), seed)),
    Scenario("offset", "smooth", "a large random constant in every loss",
             "`constant`, with a random constant in each loss", _offset),
    Scenario("heavy", "smooth", "bowls, each with its minimum at one of two points, 50 dimensions",
             "bowls whose minimum is drawn from two points each round, ball, d = 50",
             lambda T, seed: environments.Quadratic(dikin.Ball(50), Stretch(1.0), seed)),
    Scenario("cone", "lipschitz", "kinks, steep in every direction",
             "Lipschitz, steep in every direction, no curvature, disc",
             lambda T, seed: environments.Distance(DISC, 1.0, Stretch(0.0), seed, depth=DEPTH)),
    Scenario("line", "lipschitz", "kinks, one dimension",
             "Lipschitz with a kink, no curvature, d = 1",
             lambda T, seed: dikin.Kink(SEGMENT, 1.0, Stretch(0.0), seed, depth=DEPTH)),
    Scenario("pseudo", "lipschitz", "kinked functions of one product, eight dimensions",
             "Lipschitz functions of one product z.x, z known beforehand, ball, d = 8",
             lambda T, seed: environments.PseudoKink(BALL, 1.0, seed=seed, depth=DEPTH)),
    *(Scenario(f"box-{percent}", "noise", f"a bowl on a box, noise of {percent} % of its range",
               f"a bowl with noise of {percent} % of its range, cube, d = 5",
               partial(_noisy_bowl, CUBE, percent / 100))
      for percent in (5, 20, 50)),
    Scenario("simplex-20", "noise",
             "a bowl of shares that add up to one, noise of 20 % of its range",
             "a bowl with noise of 20 % of its range, probability vectors of 5 entries",
             partial(_noisy_bowl, SHARES, 0.2)),
    Scenario("thin-20", "noise",
             "a bowl on a box with very unequal sides, noise of 20 % of its range",
             "a bowl in units of half the sides, noise of 20 % of its range, "
             "box of sides 1 and 1000",
             partial(_noisy_bowl, PLATE, 0.2, scales=(0.5, 500.0))),
    Scenario("polytope-20", "noise", "a bowl on a polytope, noise of 20 % of its range",
             "a bowl with noise of 20 % of its range, cube without one corner, d = 3",
             partial(_noisy_bowl, CUT_CUBE, 0.2)),
    # Curvature that is told would hold a learner where the minimum was.
    Scenario("circling", "drift", "a bowl whose minimum moves slowly",
             "a bowl whose minimum goes round once, noise of 2.5 % of its range, disc",
             lambda T, seed: _noisy(Circling(DISC, T, seed, depth=DEPTH), 0.025),
             tells_curvature=False, moving=True),
    Scenario("jumping", "drift", "a bowl whose minimum jumps now and then",
             "a bowl whose minimum jumps every 2/5 of the rounds, noise of 2.5 % of its range, "
             "disc",
             lambda T, seed: _noisy(
                 Jumping(DISC, max(1, round(MEMORY * T)), seed, depth=DEPTH), 0.025),
             tells_curvature=False, moving=True),
    Scenario("season", "drift", "a bowl with a slow season in every loss",
             "a bowl and a sine of period 500 of half its range, noise of 2.5 % of its range, "
             "disc",
             lambda T, seed: _noisy(Bowl(DISC, seed, depth=DEPTH), 0.025, season=0.5)),
    *(Scenario(name, "hostile", kind.description, f"{kind.description}, disc",
               partial(Hostile, DISC, name), tells_curvature=False)
      for name, kind in KINDS.items()),
)
# fmt: on
SCENARIOS = {scenario.name: scenario for scenario in LISTED}


def find_scenarios(selection: Sequence[str | Scenario]) -> list[Scenario]:
    """Return the scenarios asked for, by name, by group or as values; without any, the list."""
    chosen: dict[str, Scenario] = {}
    for one in selection or SCENARIOS:
        if isinstance(one, Scenario):
            found = [one]
        else:
            found = [s for s in LISTED if one.lower() in (s.name, s.group)]
            if not found:
                near = did_you_mean(one.lower(), [*SCENARIOS, *GROUPS])
                raise UnknownNameError(f"no scenario of compare is called {one.lower()!r}.{near}")
        for scenario in found:
            if chosen.get(scenario.name, scenario) != scenario:
                raise ParameterError(
                    f"two scenarios are called {scenario.name!r}, and games are kept by name: give "
                    "yours another"
                )
            chosen[scenario.name] = scenario
    order = [*dict.fromkeys([*SCENARIOS, *chosen])]
    return sorted(chosen.values(), key=lambda s: order.index(s.name))


@dataclass(frozen=True)
class DeclaredGame:
    """A game, and what the constructor of a learner may be told about it."""

    environment: Environment
    tells_curvature: bool
    constants: dict[str, Any]
    """By the names that constructors use; what the losses do not declare is not there."""
    chosen: frozenset[str]
    """Those among them that the losses do not have: stated choices."""

    @classmethod
    def of(cls, scenario: Scenario, horizon: int, seed: int) -> DeclaredGame:
        """What is true of a game, or else the choices below.

        smoothness: where there is a kink, the slope over the radius.
        curvature, as one number for all rounds: their mean if they differ; where all are flat, a
        tenth of half the losses' range over the squared radius.
        """
        game = scenario.game(horizon, seed)
        chosen, radius, smoothness = set(), game.domain.radius, game.smoothness
        if not isfinite(smoothness):
            smoothness = game.lipschitz / radius
            chosen.add("smoothness")
        rounds = np.unique(np.linspace(1, horizon, 1001).round().astype(int)).tolist()
        sigmas = [game.curvature(t) if scenario.tells_curvature else 0.0 for t in rounds]
        curvature = float(np.mean(sigmas))
        if min(sigmas) < max(sigmas) or curvature == 0.0:
            chosen.add("curvature")
        if curvature == 0.0:
            low, high = game.loss_range
            curvature = 0.1 * (high - low) / 2 / radius**2
        numbers = {"smoothness": smoothness, "lipschitz": game.lipschitz, "curvature": curvature}
        constants: dict[str, Any] = {name: c for name, c in numbers.items() if not isnan(c)}
        constants |= {"loss_range": game.loss_range, "horizon": horizon}
        return cls(game, scenario.tells_curvature, constants, frozenset(chosen))
