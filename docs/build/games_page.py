"""Tables of games: four live loops, problems from outside, synthetic games and absurd values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from math import isnan
from pathlib import Path
from statistics import fmean, geometric_mean, median, pstdev
from typing import NamedTuple

from pages import table

from dikin.experiments.fit import half_interval
from evidence import hostile
from evidence.games import Outcome, Task, read_games
from evidence.orderings import BEST, MARKED, Orderings, Ratio, orderings_of
from evidence.promises import GAMES, PROMISES
from evidence.rivals import CMA_ES, KEEP, NGOPT, TPE_, TUNER
from evidence.rows import RANGED, Kind

TUNERS = (TUNER, "dikin.Tuner, contexts")
KNOWS = "knows the capacities"
"""A reference, which is left out of comparisons."""
TIE = 1.0001
"""Costs within this factor of each other are the same."""
CATS, CATS_BEST = "CATS ", "CATS, best of 24 settings in hindsight"
WIDEST = 1000.0
"""An interval whose ends are farther apart is written as unknown."""
SHORT, LONG = 1000, 10000
"""Rounds of a game of bbob-noisy."""
LIVE = ("price", "traffic", "oppertune")
OUTSIDE = ("bbob", "cats", "pendulum", "postgres", "pricing", "elo")
LIMITED = ("serving", "compression")
WHEN = {"cost": "while tuning", "final": "in the end"}
Games = dict[Task, Outcome]


class Part(NamedTuple):
    """The games of a part, and how they are compared."""

    title: str
    least: float
    arithmetic: bool
    games: Games

    @classmethod
    def read(cls, name: str, docs: Path) -> Part:
        """Read a part. Of the settings of CATS only the best in hindsight is left."""
        module = import_module(f"evidence.{name}")
        games = read_games(name, docs / "games")
        part = cls(module.TITLE, module.LEAST, name in LIVE, games)
        return part._replace(games=_hindsight(part)) if name == "cats" else part

    @property
    def lengths(self) -> list[int]:
        """The numbers of rounds."""
        return sorted({task.rounds for task in self.games})

    @property
    def measures(self) -> list[str]:
        """The measures that every game has."""
        whole = not any(isnan(found.final) for found in self.games.values())
        return [*WHEN] if whole else ["cost"]

    def of(self, wanted: Callable[[Task], bool]) -> Part:
        """Return some of the games."""
        return self._replace(games={task: c for task, c in self.games.items() if wanted(task)})

    def long(self, rounds: int, words: str = "") -> Part:
        """Return the games of so many rounds, in problems with these words in their names."""
        return self.of(lambda task: task.rounds == rounds and words in task.problem)

    def orderings(self, measure: str = "cost") -> Orderings:
        """Compare all players but the reference."""
        costs = {t: getattr(c, measure) for t, c in self.games.items() if t.player != KNOWS}
        return orderings_of(costs, self.least, self.arithmetic)


def _hindsight(part: Part) -> Games:
    """Return the games with the best settings of CATS alone, problem by problem."""
    found = part.of(lambda task: task.player.startswith(CATS)).orderings()
    games = {t: c for t, c in part.games.items() if not t.player.startswith(CATS)}
    return games | {
        task._replace(player=CATS_BEST): costs
        for task, costs in part.games.items()
        if task.player.startswith(CATS) and task.player == found.best(task.problem)
    }


def outside_parts(docs: Path) -> dict[str, str]:
    """Return the parts of the page on problems from outside."""
    read = {name: Part.read(name, docs) for name in OUTSIDE}
    bbob = read["bbob"]
    return {
        "wins": "\n".join(
            [line for part in read.values() for line in _wins(part)]
            + [line for name in LIMITED for line in _limited_wins(name, docs)]
        ),
        "keep": _keep(bbob),
        "tuning": _groups(bbob, "cost"),
        "final": _groups(bbob, "final"),
        **{name: _section(read[name]) for name in OUTSIDE if name != "bbob"},
        **{name: _limited(name, docs) for name in LIMITED},
    }


def live_parts(docs: Path) -> dict[str, str]:
    """Return the parts of the page on live loops."""
    read = {name: Part.read(name, docs) for name in LIVE}
    wins = "\n".join(line for part in read.values() for line in _wins(part))
    return {"wins": wins} | {name: _section(part) for name, part in read.items()}


# --- where rivals win -----------------------------------------------------------------------------


def _wins(part: Part) -> list[str]:
    """Return the problems in which a rival has the least mean, the largest ratios first."""
    lines = []
    for rounds in part.lengths:
        mine = part.long(rounds)
        found = (
            f"{WHEN[measure]} {_winners(mine.orderings(measure))}" for measure in part.measures
        )
        lines.append(f"- **{part.title}**, {rounds:,} rounds: {', '.join(found)}.")
    return lines


def _winners(found: Orderings) -> str:
    lost: dict[str, list[tuple[float, str]]] = {}
    for problem, players in found.costs.items():
        best = found.best(problem)
        if best not in TUNERS:
            ours = min(found.mean(problem, tuner) for tuner in TUNERS if tuner in players)
            factor = ours / found.mean(problem, best)
            if factor > 1.0:
                lost.setdefault(best, []).append((factor, problem))
    total = len(found.problems)
    if not lost:
        return f"0 of {total}"
    counts = sorted(lost.items(), key=lambda one: -len(one[1]))
    names = ", ".join(f"{player} {len(factors)}" for player, factors in counts[:3])
    worst, where, who = max((*each, player) for player, found in counts for each in found)
    won, where = sum(len(each) for _, each in counts), where.removesuffix(", values")
    return f"{won} of {total} ({names}), at most {worst:.3g} ({who}, {where})"


def _limited_wins(name: str, docs: Path) -> list[str]:
    """Return the rivals with the smaller cost or the limit kept better, problem by problem."""
    lines = []
    for problem, players in _figures(name, docs).items():
        ours = [fmean(values) for values in players.pop(TUNER)]
        better: list[list[str]] = [[], []]
        for player, figures in players.items():
            means = [fmean(values) for values in figures]
            for i, (mean, our) in enumerate(zip(means, ours, strict=True)):
                if mean < our:
                    better[i].append(f"{player} ({_number(means[0])}, {_number(means[1])} %)")
        cost, limit = (", ".join(each) or "no rival" for each in better)
        here = f"**{import_module(f'evidence.{name}').TITLE}**, {problem}"
        lines.append(
            f"- {here}: the tuner {_number(ours[0])}, {_number(ours[1])} %. "
            f"Cheaper: {cost}. Fewer broken: {limit}."
        )
    return lines


def least_of_all(found: Orderings) -> int:
    """Return the number of problems in which no player costs less than a tuner."""
    return sum(
        min(found.mean(one, tuner) for tuner in TUNERS if tuner in players)
        <= TIE * found.mean(one, found.best(one))
        for one, players in found.costs.items()
    )


def _keep(bbob: Part) -> str:
    """Return in how many problems it is better not to tune, and under which noise."""
    found = complete(bbob, "cost")
    worse = [one for one in found.problems if found.mean(one, KEEP) < found.mean(one, TUNER)]
    uniform = sum("uniform" in one for one in worse)
    total = sum("uniform" in one for one in found.problems)
    return (
        f"Keeping the start costs less than tuning it with `{TUNER}` in {len(worse)} of "
        f"{len(found.problems)} problems of 1,000 rounds. {uniform} of these are among the "
        f"{total} with uniform noise, where a value says next to nothing about its setting."
    )


# --- tables ---------------------------------------------------------------------------------------


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 999.5 else f"{value:.3g}"


def _interval(ratio: Ratio) -> str:
    if not ratio.high <= WIDEST * ratio.low:  # NaN for a single game
        return f"{_number(ratio.value)} (unknown)"
    return f"{_number(ratio.value)} ({_number(ratio.low)}\N{EN DASH}{_number(ratio.high)})"


def _section(part: Part) -> str:
    """Return a table of every player in every problem, and how many games it has."""
    if not part.games:
        return "Not run yet."
    problems = dict.fromkeys(task.problem for task in part.games)
    if min(len(problems), len(part.lengths)) == 1:
        tables = [_table(part)]
    else:
        tables = [f"{rounds:,} rounds:\n\n{_table(part.long(rounds))}" for rounds in part.lengths]
    return "\n\n".join([*tables, f"{_count(part.games)}."])


def _figures(name: str, docs: Path) -> dict[str, dict[str, list[list[float]]]]:
    """Return the costs, and the shares that break the limit, by problem and player."""
    found: dict[str, dict[str, list[list[float]]]] = {}
    for task, outcome in read_games(name, docs / "games").items():
        both = found.setdefault(task.problem, {}).setdefault(task.player, [[], []])
        for values, value in zip(both, outcome, strict=True):
            values.append(value)
    return found


def _limited(name: str, docs: Path) -> str:
    """Return a table of the cost and of what breaks the limit: means with 95 % intervals."""
    part = import_module(f"evidence.{name}")
    found = _figures(name, docs)
    if not found:
        return "Not run yet."
    several = len(found) > 1
    heads = [f"{one}: {words}" if several else words for one in found for words in part.FIGURES]
    lines = [
        [player, *(_mean_interval(values) for each in found.values() for values in each[player])]
        for player in _ordered(next(iter(found.values())))
    ]
    counted = _count(read_games(name, docs / "games"))
    return f"{table(' | '.join(['player', *heads]), lines)}\n\n{counted}."


def _mean_interval(values: Sequence[float]) -> str:
    mean, half = fmean(values), float(half_interval(values))
    return f"{_number(mean)}±{half:.2g}"


def _table(part: Part) -> str:
    """Return one table. All of its comparisons share one correction."""
    columns: dict[str, dict[str, dict[int, float]]] = {}
    known: dict[str, list[str]] = {}
    for measure in part.measures:
        for task, costs in part.games.items():
            length = f", {task.rounds:,} rounds" if len(part.lengths) > 1 else ""
            players = columns.setdefault(f"{task.problem}{length}, {WHEN[measure]}", {})
            players.setdefault(task.player, {})[task.game] = getattr(costs, measure)
    for name, players in columns.items():
        if KNOWS in players:
            known.setdefault(KNOWS, []).append(_number(fmean(columns[name].pop(KNOWS).values())))
    found = Orderings(columns, part.least, part.arithmetic)
    lines = [
        [name, *(_cell(found, one, name) for one in columns)] for name in _ordered(found.players)
    ]
    lines += [[name, *cells] for name, cells in known.items()]
    return table(" | ".join(["player", *columns]), lines)


def _cell(found: Orderings, problem: str, player: str) -> str:
    if player not in found.costs[problem]:
        return ""
    standing, text = found.standing(problem, player), _number(found.mean(problem, player))
    if standing != BEST:
        text += f"; {_interval(found.ratio(problem, player))}"
    return MARKED[standing].format(text)


def _count(games: Games) -> str:
    counts: dict[tuple[object, ...], int] = {}
    for task in games:
        counts[task[:3]] = counts.get(task[:3], 0) + 1
    least, most = min(counts.values()), max(counts.values())
    numbers = str(most) if least == most else f"{least} to {most}"
    return f"{numbers} games each, {len(games):,} in all"


def _ordered(players: Iterable[str]) -> list[str]:
    return sorted({*players}, key=lambda name: (name not in TUNERS, name))


GROUPS = {
    **{
        f"{rounds:,} rounds, d = {d}": (rounds, f"d = {d}, values")
        for rounds in (SHORT, LONG)
        for d in (2, 5, 20)
    },
    "1,000 rounds, d = 5, logarithms": (SHORT, "d = 5, logarithms"),
}
"""Groups of bbob-noisy: their rounds, and words in the names of their problems."""


def _groups(bbob: Part, measure: str) -> str:
    """Return, for groups of problems, how many times the cost of the tuner: a geometric mean."""
    found = {
        name: bbob.long(rounds, words).orderings(measure)
        for name, (rounds, words) in GROUPS.items()
    }
    columns = [f"{name} ({len(each.problems)})" for name, each in found.items()]
    lines = [
        [player, *(_overall(each, player) for each in found.values())]
        for player in _ordered(player for each in found.values() for player in each.players)
        if player != TUNER
    ]
    return table(" | ".join(["player", *columns]), lines)


def _overall(found: Orderings, player: str) -> str:
    count = len(found.among((player, TUNER)).problems)
    if not count:
        return ""
    part = "" if count == len(found.problems) else f", {count} problems"
    return _interval(found.overall(player, TUNER)) + part


def complete(bbob: Part, measure: str) -> Orderings:
    """Return the short games of plain values, of the players that met all of them."""
    slow = (NGOPT, TPE_)
    found = bbob.of(
        lambda t: t.rounds == SHORT and "values" in t.problem and t.player not in slow
    ).orderings(measure)
    return found.among(found.players)


# --- synthetic games -----------------------------------------------------------------------------


def rows_table(docs: Path) -> str:
    """Return geometric means over kinds, at every mark."""
    kinds: dict[tuple[bool, int, str], dict[str, list[Outcome]]] = {}
    for task, found in read_games("rows", docs / "games").items():
        moving = Kind.of(task.problem).world != "still"
        games = kinds.setdefault((moving, task.rounds, task.player), {})
        games.setdefault(task.problem, []).append(found)
    lines = []
    for moving, rounds in dict.fromkeys(place[:2] for place in kinds):
        words = "optimum or level moves" if moving else "nothing changes"
        line = [f"{words}, {rounds:,} rounds"]
        both = [kinds[moving, rounds, player].values() for player in (TUNER, CMA_ES)]
        for measure, mean in (("cost", fmean), ("final", median)):
            one, other = (
                geometric_mean(max(mean(getattr(g, measure) for g in k), 1e-12) for k in each)
                for each in both
            )
            line += [f"{one:.2g}", f"{other:.2g}", f"{one / other:.2f}"]
        lines.append(line)
    head = "kinds and rounds | cost of a round: dikin.Tuner | CMA-ES | ratio"
    return table(f"{head} | last setting: dikin.Tuner | CMA-ES | ratio", lines)


NAMES = {
    "5-bowl30-normal.3-still": "five settings, condition 30, noise 0.3",
    "2-bowl30-normal.05-still": "two settings, condition 30, noise 0.05",
    "2-abs1-normal.1-still": "absolute distances, noise 0.1",
    "3-bowl1-normal.1-jump": "the optimum jumps every 500 rounds, noise 0.1",
    "2-whole-normal.1-still": "two whole numbers, noise 0.1",
}
"""The kinds of games with absurd values, in words."""


def faults_table(docs: Path) -> str:
    """Return the cost with the worst of six kinds of faults over that without."""
    costs: dict[tuple[str, str], dict[str, list[float]]] = {}
    for task, found in read_games("faults", docs / "games").items():
        kind, _, faults = task.problem.rpartition("-")
        costs.setdefault((kind, task.player), {}).setdefault(faults, []).append(found.cost)
    lines = []
    for kind in dict.fromkeys(kind for kind, _ in costs):
        cells = []
        for player in (TUNER, RANGED, CMA_ES):
            means = {name: fmean(each) for name, each in costs[kind, player].items()}
            plain = means.pop("none")
            cells.append(f"{plain:.2g}")
            for share in ("@0.05", "@0.1"):
                hit = {name: mean / plain for name, mean in means.items() if name.endswith(share)}
                worst = max(hit, key=hit.__getitem__)
                cells.append(f"{hit[worst]:.2f} ({worst.removesuffix(share)})")
        lines.append([NAMES[kind], *cells])
    heads = [
        f"{name}: {words}"
        for name in (TUNER, "with value_range", "CMA-ES")
        for words in ("no faults", "5 %", "10 %")
    ]
    return table(" | ".join(["worst of six faults", *heads]), lines)


def promises_parts(docs: Path) -> dict[str, str]:
    """Return a table for each promise: means over games, plus and minus two standard errors."""
    found: dict[str, dict[str, dict[str, list[Outcome]]]] = {}
    for task, outcome in read_games("promises", docs / "games").items():
        name, problem = task.problem.split(": ")
        players = found.setdefault(name, {}).setdefault(problem, {})
        players.setdefault(task.player, []).append(outcome)
    tables: dict[str, list[list[str]]] = {}
    for name, each in PROMISES.items():
        figures = [figure for figure in each.figures if figure]
        several = len(each.players) > 1
        heads = (f"{one}: {words}" for one in each.players for words in figures)
        head = ["game", *(heads if several else figures)]
        if several and len(figures) == 1:
            head = [figures[0], *each.players]
        lines = [[*head, *["games"] * (each.games != GAMES)]]
        for problem in each.problems:
            cells = [problem]
            for player in each.players:
                games = found.get(name, {}).get(problem, {}).get(player, [])
                cells += [_mean_text([game[i] for game in games]) for i in range(len(figures))]
            lines.append([*cells, *[str(len(games))] * (each.games != GAMES)])
        tables[name] = lines
    effects = tables.pop("importance")  # of the same runs as the intervals
    for line, more in zip(tables["intervals"], effects, strict=True):
        line += more[1:]
    parts = {name: table(" | ".join(head), body) for name, (head, *body) in tables.items()}
    return parts | {"hostile": hostile_table(docs)}


def hostile_table(docs: Path) -> str:
    """Return mean regrets of three players in each case, and the certificate above the regret."""
    found: dict[tuple[str, str, str], list[Outcome]] = {}
    for task, outcome in read_games("hostile", docs / "games").items():
        kind, case = task.problem.split(", ", 1)
        found.setdefault((kind, case, task.player), []).append(outcome)
    within, lines = dict.fromkeys(hostile.CASES, 0), []
    for kind in hostile.KINDS:
        cells, above = [kind], []
        for case in hostile.CASES:
            ours, *others = (fmean(o.cost for o in found[kind, case, p]) for p in hostile.PLAYERS)
            near = ours <= min(others) + 0.3 * abs(min(others))
            cells.append(
                ("**{}**" if near else "{}").format("/".join(map(_number, (ours, *others))))
            )
            within[case] += near
            above += [o.final - o.cost for o in found[kind, case, TUNER]]
        lines.append([*cells, _mean_text(above)])
    lines.append(["**bold**", *(f"{n} of {len(lines)}" for n in within.values()), ""])
    head = ["Tuner/Predictive/AdaptiveSmooth", *within, "certificate above the regret"]
    return table(" | ".join(head), lines) + f"\n\n{_count(read_games('hostile', docs / 'games'))}."


def _mean_text(values: Sequence[float]) -> str:
    if not values:
        return "not run"
    mean, error = fmean(values), 2.0 * pstdev(values) / max(len(values) - 1, 1) ** 0.5
    return f"{mean:.3g}±{error:.2g}" if mean >= 1.0 else f"{mean:.3f}±{error:.2g}"
