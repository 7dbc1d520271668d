"""What is played: every learner in every scenario, a cell each."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isnan, nan

from dikin.engine.play import Run, compiled_rounds
from dikin.environments.base import Environment
from dikin.errors import (
    CertificateWarning,
    NumericalError,
    ParameterError,
    SlowLearnerWarning,
)
from dikin.experiments import runner
from dikin.experiments.cell import Cell, Result, experiment_seeds
from dikin.feedback import Feedback
from dikin.learners.base import Learner
from evidence.compare.competitors import (
    Competitor,
    LeftOutError,
    enter,
    find_competitors,
)
from evidence.compare.matrix import FLOOR, OURS, Matrix, Outcome
from evidence.compare.scenarios import (
    DeclaredGame,
    Scenario,
    find_scenarios,
)
from evidence.orderings import OPEN

ROUNDS = 2_000
SEEDS, SLOW_SEEDS = 8, 4
"""Games of a cell that the compiled loop plays, and of one that it cannot."""
NOT_COMPARED = 2
"""Games at most of a cell that the compiled loop cannot play, of a learner that sees more."""
FAR = 3.0
"""How many times the best regret a learner has at most that plays more games: beyond it nobody
doubts who is ahead, even if so few games cannot show it among so many comparisons."""
COMPILING, COMPILED_ROUND, PLAIN_ROUND = 1.5, 2e-6, 1e-4
"""Seconds, about, that a loop takes to compile, and a round with and without: for the remaining
time only."""
EXPECTED = (CertificateWarning, SlowLearnerWarning)
"""What is compared on purpose."""


@dataclass(frozen=True, kw_only=True)
class Request(runner.Request):
    """What `compare` was asked for."""

    learners: tuple[str | type[Learner], ...] = ()
    """Names or classes; without any, all that are known."""
    scenarios: tuple[str | Scenario, ...] = ()
    """Names of scenarios or groups, or scenarios."""
    rounds: int = ROUNDS
    seeds: int | None = None
    """Of every cell; without it, those above."""
    slow_seeds: int | None = None
    """Of every cell that the compiled loop cannot play; without it, as many as of the others."""
    most_seeds: int | None = None
    """Of a cell whose standing beside the best is open; without it, no cell plays more games."""
    external: bool = False

    def games(self, quick: bool, compared: bool) -> int:
        """How many games a cell has; a slow learner that is in no comparison plays few."""
        if quick:
            return self.seeds or SEEDS
        slow = self.slow_seeds or self.seeds or SLOW_SEEDS
        return slow if compared else min(slow, NOT_COMPARED)


@dataclass(frozen=True)
class Match(Cell):
    """Games of a competitor in a scenario."""

    competitor: Competitor
    """With its class: a worker imports the module of a user's own learner with it."""
    scenario: Scenario
    broken: tuple[str, ...] = ()
    """Assumptions of the learner that the scenario does not keep."""
    loop: str | None = None
    """Matches of one competitor that share a compiled loop have this in common; None without."""
    left_out: str = ""
    """Why it cannot be played."""

    expected_warnings = EXPECTED

    @property
    def name(self) -> str:
        return f"{self.competitor.name}/{self.scenario.name}"

    @property
    def batch(self) -> str:
        """Played one after the other, no two workers compile the same loop."""
        return f"{self.competitor.name}/{self.loop}" if self.loop else self.key

    @property
    def round_cost(self) -> float:
        """Seconds."""
        if self.loop is None:
            return PLAIN_ROUND
        return COMPILED_ROUND + COMPILING / (self.horizon * len(self.seeds))

    def start(self, seed: int) -> tuple[Learner, Environment]:
        game = DeclaredGame.of(self.scenario, self.horizon, seed)
        entry = enter(self.competitor, game, seed)
        return entry.learner, entry.environment

    def regret(self, run: Run, environment: Environment) -> float:
        regret = super().regret(run, environment)
        if self.scenario.moving:
            regret = run.total_loss - environment.dynamic_total()
        if isnan(regret):
            raise ParameterError(
                f"the scenario {self.scenario.name!r} has no regret, as its environment does not "
                "know the best point; FromFunction is told it as comparator"
            )
        return regret

    def play(self) -> list[Result]:
        try:
            return super().play()
        except NumericalError as reason:  # one learner that fails must not end the comparison
            return [{"left_out": str(reason)}]

    def continued(self, games: int) -> Match:
        """The games that are missing to so many."""
        return replace(self, seeds=range(self.seeds.stop, self.seeds.start + games))

    def outcome(self, results: list[Result], first_look: int = 0) -> Outcome:
        """What came of it; see `Outcome.first_look`."""
        failed = [game["left_out"] for game in results if "left_out" in game]
        games = [] if failed else results
        return Outcome(
            learner=self.competitor.name,
            scenario=self.scenario.name,
            feedback=self.competitor.cls.feedback.name,
            rounds=self.horizon,
            seeds=tuple(game["seed"] for game in games),
            regrets=tuple(game["regret"] for game in games),
            certificates=tuple(game["certificate"] for game in games),
            first_look=first_look,
            seconds=min((game["seconds"] for game in games), default=nan),
            compiled=any(game["compiled"] for game in games),
            broken=self.broken if games else (),
            left_out="".join(failed) or self.left_out,
            package=getattr(self.competitor.cls, "package", OURS),
            group=self.scenario.group,
            moving=self.scenario.moving,
        )


def plan_matches(request: Request) -> list[Match]:
    """Every learner in every scenario, those that cannot be played with the reason."""
    matches: list[Match] = []
    competitors = find_competitors(request.learners, request.external).values()
    for scenario in find_scenarios(request.scenarios):
        game = DeclaredGame.of(scenario, request.rounds, experiment_seeds(request.seed, 1)[0])
        for competitor in sorted(competitors, key=lambda c: c.name):
            if competitor.plays(scenario):
                matches.append(_match(competitor, scenario, game, request))
    return matches


def _match(
    competitor: Competitor, scenario: Scenario, game: DeclaredGame, request: Request
) -> Match:
    environment, loop = game.environment, None
    try:
        with warnings.catch_warnings():
            for category in EXPECTED:
                warnings.simplefilter("ignore", category)
            entry = enter(competitor, game, 0)
    except LeftOutError as reason:
        return Match(request.rounds, range(0), competitor, scenario, left_out=str(reason))
    if compiled_rounds(entry.learner, entry.environment) is not None:
        loop = f"{type(environment).__name__}/{type(environment.domain).__name__}"
    quick = loop is not None or getattr(competitor.cls, "quick", False)
    compared = competitor.cls.feedback is Feedback.VALUE
    seeds = experiment_seeds(request.seed, request.games(quick, compared))
    return Match(request.rounds, seeds, competitor, scenario, entry.broken, loop)


def undecided(matches: Sequence[Match], matrix: Matrix, most: int) -> dict[str, Match]:
    """Of each match that should play more games, by its key, those games.

    It is open whether the learner is behind the best of all, or behind the best of this library,
    and it is not far behind; the best play more as well. Who has played enough does not.
    """
    chosen: set[Outcome] = set()
    for scenario in matrix.scenarios:
        ranked = matrix.ranked(scenario)
        for bests in (ranked, matrix.of_library(scenario)):
            unknown = [one for one in ranked if bests and _in_doubt(matrix, one, bests[0])]
            chosen |= {*unknown, bests[0]} if unknown else set()
    names = {(outcome.learner, outcome.scenario) for outcome in chosen}
    return {
        match.key: match.continued(most)
        for match in matches
        if (match.competitor.name, match.scenario.name) in names and len(match.seeds) < most
    }


def _in_doubt(matrix: Matrix, outcome: Outcome, best: Outcome) -> bool:
    near = outcome.mean <= FAR * max(best.mean, FLOOR)
    return near and matrix.standing(outcome, best) == OPEN
