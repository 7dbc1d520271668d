"""The matrix: what came of every learner in every scenario, and who is best."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from math import isnan, nan, sqrt
from pathlib import Path
from statistics import fmean, median, stdev

from dikin.experiments.fit import half_interval
from dikin.experiments.tables import Columns, fields, items, write_csv
from evidence.orderings import BEST, Ratio, paired_p, ratio_of_means, rejected, standing_of, welch_p

FLOOR = 1.0
"""Regrets below half a range of the losses in a whole game count as that much in a ratio."""
ERRORS = 3.0
"""Standard errors by which a mean regret may exceed the mean certificate that bounds it."""
OURS = "dikin"
SECTIONS = (OURS, "baseline", "other packages", "sees more")
WITH_MEMORY = "(memory)"
"""Ends the name of a learner that is told to forget."""
Pair = tuple[str, str, str]
"""A scenario and two learners, in the order of their names."""


@dataclass(frozen=True)
class Outcome:
    """A learner in a scenario."""

    learner: str
    scenario: str
    feedback: str
    """VALUE for the learners that play the same game; what the others are told, they see more."""
    rounds: int
    seeds: tuple[int, ...] = ()
    regrets: tuple[float, ...] = ()
    """One per seed, in units of half the range of the losses."""
    certificates: tuple[float, ...] = ()
    """The bounds on the expected regret, in the same units; NaN for a learner that has none."""
    first_look: int = 0
    """Games that were looked at to decide whether to play more; 0 where this was not asked for."""
    seconds: float = nan
    """Of the fastest game."""
    compiled: bool = False
    broken: tuple[str, ...] = ()
    """Assumptions of the learner that the scenario does not keep."""
    left_out: str = ""
    """Why nothing was played."""
    package: str = OURS
    """Where the learner comes from."""
    group: str = ""
    """Of the scenario."""
    moving: bool = False
    """Whether regret is against the best point of each round."""

    @property
    def played(self) -> bool:
        return bool(self.regrets)

    @property
    def sees_more(self) -> bool:
        return self.feedback != "VALUE"

    @property
    def section(self) -> str:
        own = self.package if self.package in SECTIONS else "other packages"
        return "sees more" if self.sees_more else own

    @property
    def mean(self) -> float:
        return fmean(self.regrets)

    @property
    def half(self) -> float:
        """Half the 95% interval of the mean; NaN for a single game."""
        return float(half_interval(self.regrets))

    @property
    def certificate(self) -> float:
        """The mean certificate; NaN where there is none."""
        return fmean(self.certificates) if self.certificates else nan

    @property
    def bounded(self) -> bool:
        """Whether a certificate is there and speaks about what was measured."""
        return not (self.broken or self.moving or isnan(self.certificate))

    @property
    def exceeds(self) -> bool:
        """Whether the mean regret is above the mean certificate by more than chance explains."""
        if not self.bounded:
            return False
        gaps = [c - r for c, r in zip(self.certificates, self.regrets, strict=True)]
        error = stdev(gaps) / sqrt(len(gaps)) if len(gaps) > 1 else 0.0
        return fmean(gaps) < -ERRORS * error


@dataclass(frozen=True)
class Matrix:
    """Every learner in every scenario, of those that were asked for."""

    outcomes: tuple[Outcome, ...]

    @property
    def rounds(self) -> int:
        return self.outcomes[0].rounds

    @property
    def scenarios(self) -> list[str]:
        return list(dict.fromkeys(outcome.scenario for outcome in self.outcomes))

    def of_group(self, group: str) -> list[str]:
        """The scenarios of a group."""
        names = (outcome.scenario for outcome in self.outcomes if outcome.group == group)
        return list(dict.fromkeys(names))

    @property
    def groups(self) -> list[str]:
        return list(dict.fromkeys(outcome.group for outcome in self.outcomes))

    @cached_property
    def _by_learner_and_scenario(self) -> dict[tuple[str, str], Outcome]:
        return {(outcome.learner, outcome.scenario): outcome for outcome in self.outcomes}

    def at(self, learner: str, scenario: str) -> Outcome | None:
        """The outcome of a learner in a scenario, if it was asked for."""
        return self._by_learner_and_scenario.get((learner, scenario))

    def ranked(self, scenario: str) -> list[Outcome]:
        """The learners that see one value, least mean regret first."""
        outcomes = [c for c in self.outcomes if c.scenario == scenario and c.played]
        return sorted((c for c in outcomes if not c.sees_more), key=lambda c: c.mean)

    def of_library(self, scenario: str) -> list[Outcome]:
        """Those of them that this library has."""
        return [outcome for outcome in self.ranked(scenario) if outcome.package == OURS]

    def sound(self, scenario: str) -> list[Outcome]:
        """Those of this library all of whose assumptions hold."""
        return [outcome for outcome in self.of_library(scenario) if not outcome.broken]

    def led_by_others(self) -> list[Outcome]:
        """The optimizers of other packages with the least mean of a scenario, distinguished or not.

        Few games and many comparisons leave little power: what is not distinguished may be real.
        """
        leaders = [ranked[0] for name in self.scenarios if (ranked := self.ranked(name))]
        return [one for one in leaders if one.section == "other packages"]

    # --- what the games distinguish -------------------------------------------------------------

    @property
    def looks(self) -> int:
        """How often games are looked at: once, or before and after some learners play more."""
        return 2 if any(one.first_look for one in self.outcomes) else 1

    @cached_property
    def p_values(self) -> dict[Pair, float]:
        """Of every comparison that is printed, times the number of looks.

        In each scenario every learner is compared with the best of all, with the best of this
        library, and with the best of this library whose assumptions hold; and every learner with
        itself, with a memory. As the best is chosen by the same games, k learners that share the
        least mean exactly make k (k - 1)/2 possible pairs of which k - 1 are here: the level is
        then at most k/2 times as large. Which games a pair has in the end may depend on the first
        look at them: its p-value is one of two, and twice the smaller of two p-values is one.
        """
        pairs = {_pair(*pair): pair for s in self.scenarios for pair in self._compared(s)}
        return {
            name: min(1.0, self.looks * p_value(one, two))
            for name, (one, two) in pairs.items()
            if one is not two and min(len(one.seeds), len(two.seeds)) > 1
        }

    def _compared(self, scenario: str) -> Iterator[tuple[Outcome, Outcome]]:
        ranked = self.ranked(scenario)
        for bests in (ranked, self.of_library(scenario), self.sound(scenario)):
            yield from ((outcome, bests[0]) for outcome in ranked if bests)
        for outcome in ranked:
            without = self.at(outcome.learner.removesuffix(WITH_MEMORY), scenario)
            if without is not None and without.played:
                yield outcome, without

    @cached_property
    def _distinguished(self) -> frozenset[Pair]:
        pairs = list(self.p_values)
        decided = rejected(list(self.p_values.values()))
        return frozenset(p for p, yes in zip(pairs, decided, strict=True) if yes)

    def distinguished(self, one: Outcome, two: Outcome) -> bool:
        """Whether two means differ, by Holm's correction over all comparisons."""
        return _pair(one, two) in self._distinguished

    def mark(self, outcome: Outcome) -> str:
        """The standing beside the best of all; nothing where a learner sees more, or did not play.

        See `evidence.orderings`.
        """
        if outcome.sees_more or not outcome.played:
            return ""
        return self.standing(outcome, self.ranked(outcome.scenario)[0])

    def standing(self, outcome: Outcome, best: Outcome) -> str:
        """Beside a best one: `best`, `behind`, `level` or, where the games do not tell, `open`.

        A regret below `FLOOR` has no ratio: such a pair is open unless it is distinguished.
        """
        if outcome is best:
            return BEST
        if min(outcome.mean, best.mean) <= FLOOR:
            ratio = Ratio(nan, nan, nan)
        else:
            paired = outcome.seeds == best.seeds
            ratio = ratio_of_means(outcome.regrets, best.regrets, paired)
        return standing_of(ratio, self.distinguished(outcome, best))

    def exceeding(self) -> list[Outcome]:
        """The outcomes whose mean regret is above its certificate: an error of ours, if any."""
        return [outcome for outcome in self.outcomes if outcome.played and outcome.exceeds]

    # --- sizes ---------------------------------------------------------------------------------

    def ratio(self, outcome: Outcome) -> float:
        """The mean regret in units of the least that a learner of this library has."""
        rivals = self.of_library(outcome.scenario) or self.ranked(outcome.scenario) or [outcome]
        return max(outcome.mean, FLOOR) / max(rivals[0].mean, FLOOR)

    def factor(self, outcome: Outcome) -> float:
        """The mean regret in units of the least of all that see one value, other packages' too."""
        return max(outcome.mean, FLOOR) / max(self.ranked(outcome.scenario)[0].mean, FLOOR)

    def learners(self) -> list[str]:
        """Those that played anything: by section, then by the median of their ratios.

        Those of a section that played in less than half of the scenarios come last in it.
        """
        by_learner: dict[str, list[Outcome]] = {}
        for outcome in self.outcomes:
            if outcome.played:
                by_learner.setdefault(outcome.learner, []).append(outcome)
        return sorted(
            by_learner,
            key=lambda name: (
                SECTIONS.index(by_learner[name][0].section),
                2 * len(by_learner[name]) < len(self.scenarios),
                median(map(self.ratio, by_learner[name])),
                name,
            ),
        )

    def section(self, learner: str) -> str:
        """What a learner is compared with first."""
        return next(outcome.section for outcome in self.outcomes if outcome.learner == learner)

    def absent(self) -> dict[str, list[Outcome]]:
        """The outcomes that nothing was played in, by reason, which names the learner."""
        reasons: dict[str, list[Outcome]] = {}
        for outcome in self.outcomes:
            if not outcome.played:
                named = outcome.left_out.startswith(outcome.learner)
                reason = outcome.left_out if named else f"{outcome.learner} {outcome.left_out}"
                reasons.setdefault(reason, []).append(outcome)
        return reasons


def _pair(one: Outcome, two: Outcome) -> Pair:
    first, second = sorted((one.learner, two.learner))
    return one.scenario, first, second


def p_value(one: Outcome, two: Outcome) -> float:
    """Of the same mean regret of two learners in a scenario.

    Both met the same losses under a seed: games of the same seeds are compared pair by pair, others
    by Welch's test.
    """
    if one.seeds == two.seeds:
        return paired_p(one.regrets, two.regrets)
    return welch_p(one.regrets, two.regrets)


# --- files --------------------------------------------------------------------------------------

AGAINST = {False: "fixed", True: "moving"}


def write(matrix: Matrix, out: Path) -> None:
    """compare.csv, a row per learner and scenario, and games.csv, a row per game."""
    write_csv(out / "compare.csv", _columns(matrix), matrix.outcomes)
    names = items("scenario", "learner", "rounds", "seed", "regret", "certificate")
    write_csv(out / "games.csv", names, (g for one in matrix.outcomes for g in _games(one)))


def _games(outcome: Outcome) -> Iterator[dict[str, object]]:
    for seed, *measured in zip(outcome.seeds, outcome.regrets, outcome.certificates, strict=True):
        regret, certificate = (f"{value:.4f}" for value in measured)
        yield vars(outcome) | {"seed": seed, "regret": regret, "certificate": certificate}


def _columns(matrix: Matrix) -> Columns[Outcome]:
    def number(value: Callable[[Outcome], float]) -> Callable[[Outcome], str]:
        return lambda one: f"{value(one):.4f}" if one.played else ""

    return {
        **fields("group", "scenario", "learner", "feedback", "rounds"),
        "seeds": lambda one: len(one.seeds),
        **fields("first_look"),
        "regret": number(lambda one: one.mean),
        "low": number(lambda one: one.mean - one.half),
        "high": number(lambda one: one.mean + one.half),
        "certificate": number(lambda one: one.certificate),
        "ratio": number(matrix.ratio),
        "mark": matrix.mark,
        "broken": lambda one: " ".join(one.broken),
        "against": lambda one: AGAINST[one.moving],
        "seconds": number(lambda one: one.seconds),
        "compiled": lambda one: "yes" if one.compiled else "",
        **fields("left_out", "package"),
    }
