"""Promises of the tuner, each measured in games whose truth is known.

Settings are in [-1, 1]^d with the start at 0, and the values are a bowl around a random minimiser,
unless a problem says otherwise. `PROMISES` names the two figures of each program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from math import nan
from typing import Any, NamedTuple

import numpy as np

import dikin
from dikin.vectors import Array
from evidence.games import Outcome, Task
from evidence.limited import TPE, Codecs
from evidence.rivals import TPE_, TUNER

TITLE, GAMES, WORKERS, LEAST = "Promises of the tuner", 16, 2, 1e-9
SEED = 401
Generator = np.random.Generator
Program = Callable[[str, str, int, Generator, int], tuple[float, float]]


class Promise(NamedTuple):
    """Programs of one promise, and the names of their two figures."""

    program: Program
    rounds: int
    problems: tuple[str, ...]
    players: tuple[str, ...]
    games: int
    figures: tuple[str, str]


PROMISES: dict[str, Promise] = {}


def promise(
    rounds: int,
    *problems: str,
    figures: tuple[str, str],
    players: tuple[str, ...] = (TUNER,),
    games: int = GAMES,
) -> Callable[[Program], Program]:
    def keep(program: Program) -> Program:
        PROMISES[program.__name__] = Promise(program, rounds, problems, players, games, figures)
        return program

    return keep


def tasks(games: range) -> list[Task]:
    """Every run."""
    return [
        Task(f"{name}: {problem}", each.rounds, player, game)
        for name, each in PROMISES.items()
        for problem in each.problems
        for player in each.players
        for game in games[: each.games]
    ]


def run(task: Task) -> Outcome:
    """One game."""
    name, problem = task.problem.split(": ")
    rng = np.random.default_rng([SEED, task.game, *problem.encode()])
    seed = 1000 * SEED + task.game
    return Outcome(*PROMISES[name].program(problem, task.player, task.rounds, rng, seed))


def reals(d: int, low: float = -1.0, high: float = 1.0) -> dict[str, Any]:
    return {f"x{i}": dikin.Real(low, high, start=0.0) for i in range(d)}


def point(params: dict[str, Any]) -> Array:
    return np.array([params[name] for name in sorted(params) if name.startswith("x")])


def minimiser(rng: Generator, d: int) -> Array:
    """Draw a point that is neither near the start nor near the edge."""
    while True:
        w: Array = rng.uniform(-0.7, 0.7, d)
        if np.linalg.norm(w) >= 0.4 * np.sqrt(d):
            return w


@dataclass
class Bowl:
    """A function that is 1 at the start and 0 at its minimum."""

    w: Array
    kink: bool = False

    def __call__(self, x: Array) -> float:
        return self._height(x - self.w) / self._height(-self.w)

    def _height(self, u: Array) -> float:
        return float(np.abs(u).sum() if self.kink else u @ u)


# --- nothing is forgotten ------------------------------------------------------------------------


@promise(50_000, "2 contexts", "8 contexts", "2 contexts, drift", "8 contexts, drift", "hour",
         "covariate", "covariate, drift", "optimum outside the range", games=6,
         figures=("worst block of 500 rounds / the middle one", "total cost"))  # fmt: skip
def long(problem: str, _player: str, rounds: int, rng: Generator, seed: int) -> tuple[float, float]:
    number = int(problem[0]) if problem[0].isdigit() else 2
    labels, outside = [f"c{i}" for i in range(number)], problem.startswith("optimum")
    has_load, hourly, drifts = "covariate" in problem, problem == "hour", "drift" in problem
    context: dict[str, Any] = {"hour": dikin.Cycle(24)} if hourly else {"where": labels}
    centers = np.array([minimiser(rng, 2) for _ in labels])
    centers[:, 0] = 1.3 if outside else centers[:, 0]
    turn, phase, loads = minimiser(rng, 2), rng.uniform(0, 6.3), rng.uniform(-1, 1, rounds)
    tuner = dikin.Tuner(reals(2), context=None if has_load else context,
                        covariates={"load": float} if has_load else None, seed=seed)  # fmt: skip
    cost = np.empty(rounds)
    for t in range(rounds):
        c = int(rng.integers(24 if hourly else number)) * (not has_load)
        center = centers[0] * np.cos(2 * np.pi * c / 24) if hourly else centers[c]
        if drifts:
            center = center + 0.3 * turn * np.sin(t / 4000 + phase)
        given: dict[str, Any] = {"hour": c} if hourly else {"where": labels[c]}
        if has_load:
            trial = tuner.ask(covariates={"load": float(loads[t])})
        else:
            trial = tuner.ask(context=given)
        x, least = point(trial.params), np.clip(center, -1, 1) - center
        cost[t] = (x - center) @ (x - center) - least @ least
        tuner.tell(trial, float(cost[t] + loads[t] * has_load + 0.1 * rng.normal()))
    blocks = cost[rounds // 2 :].reshape(-1, 500).mean(axis=1)
    return float(blocks.max() / np.median(blocks)), float(cost.sum())


# --- timeouts and faults -------------------------------------------------------------------------


@promise(1_000, "pool", "pool, 1 % at random", "one side", "two sides", "one of four",
         "by the hour", players=("as 1000", "failed=True", "a limit of 2 %"),
         figures=("share timed out from round 300 on, beyond that of the best", ""))  # fmt: skip
def timeouts(
    problem: str, player: str, rounds: int, rng: Generator, seed: int
) -> tuple[float, float]:
    d, pooled = 4 if problem == "one of four" else 2, problem.startswith("pool")
    context = {"hour": dikin.Cycle(24)} if problem == "by the hour" else None
    pool = {"pool": dikin.Integer(1, 20, start=3)}
    limits = ["failed <= 0.02"] if player == "a limit of 2 %" else []
    tuner = dikin.Tuner(pool if pooled else reals(d), context=context, limits=limits, seed=seed)
    w, late, rare = minimiser(rng, d), 0, 0.01 if "random" in problem else 0.0
    w[0] = 0.6
    for t in range(rounds):
        hour = int(rng.integers(24))
        trial = tuner.ask(context={"hour": hour} if context else None)
        if pooled:
            over, value = trial.params["pool"] > 6, 20.0 - trial.params["pool"]
        else:
            x, end = point(trial.params), 0.2
            if context:
                end += 0.2 * np.cos(2 * np.pi * hour / 24)
            over = x[0] > end or (problem == "two sides" and x[1] < -0.3)
            value = Bowl(w)(x)
        over = bool(over or rng.random() < rare)
        late += over and t >= 300
        if over and player == "as 1000":
            tuner.tell(trial, 1000.0)
        elif over:
            tuner.tell(trial, failed=True)
        else:
            tuner.tell(trial, value + 0.05 * rng.normal())
    return late / (rounds - 300) - rare, nan


# --- limits --------------------------------------------------------------------------------------


@promise(1_000, "start inside", "start outside", "skewed", "drifting", "two", "three",
         "impossible", players=(TUNER, "a penalty", "TPE (Optuna)"),
         figures=("rounds above a limit from 500 on", "cost / the best allowed"))  # fmt: skip
def limits(
    problem: str, player: str, rounds: int, rng: Generator, seed: int
) -> tuple[float, float]:
    number, w = {"two": 2, "three": 3}.get(problem, 1), minimiser(rng, 2)
    ways = np.array([w / np.linalg.norm(w), *rng.normal(size=(2, 2))])[:number]
    ways /= np.linalg.norm(ways, axis=1, keepdims=True)
    ends = ways @ (0.4 * w) + np.array([0.0, 0.25, 0.25])[:number]
    if problem == "start outside":
        ways, w, ends = -ways, -w, ends - 0.6
    if problem == "impossible":
        ends = ends - 5.0
    axes = np.meshgrid(*[np.linspace(-1, 1, 401)] * 2)
    grid = np.stack(axes, -1).reshape(-1, 2)
    values, metrics_there = 1.0 + 2.0 * ((grid - w) ** 2).sum(axis=1), grid @ ways.T
    names, over, cost, best = [f"m{i}" for i in range(number)], [], [], nan
    asked = (_constrained_tpe if player.startswith("TPE") else _limited)(player, names, seed)
    for t in range(rounds):
        end = ends + (0.15 * np.sin(t / 350.0) if problem == "drifting" else 0.0)
        if t == 0 or (problem == "drifting" and t % 25 == 0):
            worst = (metrics_there - end).max(axis=1)
            best = float(values[worst <= max(0.0, float(worst.min()))].min())
        x, tell = next(asked)
        metrics, value = ways @ x - end, 1.0 + 2.0 * float((x - w) @ (x - w))
        noise = rng.normal(size=number)
        if problem == "skewed":
            noise = np.exp(noise - 0.5) - 1.0
        tell(value + 0.1 * rng.normal(), metrics + 0.1 * noise)
        if t >= 500:
            over.append(float(metrics.max()) > 1e-9)
            cost.append(value / best)
    return float(np.mean(over)), float(np.mean(cost))


Asked = Iterator[tuple[Array, Callable[[float, Array], Any]]]


def _limited(player: str, names: list[str], seed: int) -> Asked:
    """The tuner, with limits or with a penalty of ten times the excess."""
    kept = [f"{name} <= 0" for name in names] if player == TUNER else []
    tuner = dikin.Tuner(reals(2), limits=kept, seed=seed)
    while True:
        trial = tuner.ask()

        def tell(value: float, metrics: Array, trial: dikin.Trial = trial) -> None:
            if kept:
                measured = {n: float(m) for n, m in zip(names, metrics, strict=True)}
                tuner.tell(trial, value, metrics=measured)
            else:
                tuner.tell(trial, value + 10.0 * float(np.maximum(metrics, 0.0).sum()))

        yield point(trial.params), tell


def _constrained_tpe(_player: str, _names: list[str], seed: int) -> Asked:
    tpe = TPE(reals(2), seed, limited=True)
    while True:
        trial = tpe.ask()
        yield point(trial.params), partial(tpe.tell, trial)


# --- choices and whole numbers -------------------------------------------------------------------

SEVEN = ("same", "different", "hardly", "much", "hidden", "curvature", "swapped")


@promise(1_000, *[f"{game}, noise {noise}" for game in SEVEN for noise in ("0.05", "0.3")],
         players=(TUNER, "UCB1-Tuned over tuners", "TPE (Optuna)"),
         figures=("cost beyond the best choice at its best setting", ""))  # fmt: skip
def choices(
    problem: str, player: str, rounds: int, rng: Generator, seed: int
) -> tuple[float, float]:
    game, noise = problem.split(", noise ")
    w = np.array([minimiser(rng, 2) for _ in range(3)])
    if game not in ("different", "hidden"):
        w[:] = w[0]
    order = rng.permutation(3)
    levels = {"hardly": 0.02, "much": 1.0}.get(game, 0.3) * order
    bends = np.array([1.0, 3.0, 0.3])[order] if game == "curvature" else np.ones(3)
    if game == "hidden":  # the best choice is the worst at the start
        best = int(np.argmin(levels))
        w[best] *= 1.1 / np.linalg.norm(w[best])
        bends = np.where(levels == 0.0, 1.5, 0.5)
    makers: dict[str, Any] = {TUNER: dikin.Tuner, TPE_: TPE}
    codecs = {"codec": dikin.Choice(["0", "1", "2"], start="0")}
    chosen, total = makers.get(player, Codecs)({**codecs, **reals(2)}, seed=seed), 0.0
    for t in range(rounds):
        at = levels[::-1] if game == "swapped" and t >= rounds // 2 else levels
        trial = chosen.ask()
        c, x = int(trial.params["codec"]), point(trial.params)
        value = at[c] + bends[c] * float((x - w[c]) @ (x - w[c])) - at.min()
        total += value
        chosen.tell(trial, float(value + float(noise) * rng.normal()))
    return total, nan


@promise(500, "1 to 4", "flag", "1 to 1000", players=(TUNER, "TPE (Optuna)"),
         figures=("cost beyond the best", ""))  # fmt: skip
def integers(
    problem: str, player: str, rounds: int, rng: Generator, seed: int
) -> tuple[float, float]:
    low, high = {"1 to 4": (1, 4), "flag": (0, 1), "1 to 1000": (1, 1000)}[problem]
    log, total = high == 1000, 0.0
    at = float(np.exp(rng.uniform(0.5, 6.4))) if log else float(rng.integers(low, high + 1))
    far = low if at > (31.0 if log else 2.0) else high
    kind: Any = dikin.Integer(low, high, start=far, log=log)
    if problem == "flag" and player == TUNER:
        kind = dikin.Choice([0, 1], start=1 - int(at))

    def cost(n: float) -> float:
        away = np.log(n / at) / np.log(1000) if log else (n - at) / (high - low)
        return float(away * away)

    chosen: Any = (dikin.Tuner if player == TUNER else TPE)({"n": kind}, seed=seed)
    least = min(cost(n) for n in range(low, high + 1))
    for _ in range(rounds):
        trial = chosen.ask()
        n = trial.params["n"]
        total += cost(n) - least
        chosen.tell(trial, cost(n) + 0.1 * rng.normal())
    return total, nan


# --- intervals -----------------------------------------------------------------------------------

SHAPES = [f"{shape}, {noise}" for shape in ("bowl", "kink", "drift", "contexts", "limit")
          for noise in ("no noise", "0.05", "0.5", "heavy tails")]  # fmt: skip


@promise(1_000, *SHAPES, figures=("interval of the value holds the truth",
                                  "that of the best setting, or of the limit"))  # fmt: skip
def intervals(
    problem: str, _player: str, rounds: int, rng: Generator, seed: int
) -> tuple[float, float]:
    asked = _recommended(problem, rounds, rng, seed)
    value, settings = np.mean([found[:2] for found in asked], axis=0)
    return float(value), float(settings)


@promise(1_000, *SHAPES, figures=("a parameter without effect seems to have one",
                                  "one with an effect does"))  # fmt: skip
def importance(
    problem: str, _player: str, rounds: int, rng: Generator, seed: int
) -> tuple[float, float]:
    asked = _recommended(problem, rounds, rng, seed)
    none, some = np.mean([found[2:] for found in asked], axis=0)
    return float(none), float(some)


def _recommended(
    problem: str, rounds: int, rng: Generator, seed: int
) -> Iterator[tuple[bool, float, bool, bool]]:
    """Yield what holds of `recommend` at three rounds; the third parameter has no effect."""
    shape, noise = problem.split(", ")
    context = {"where": ["a", "b"]} if shape == "contexts" else None
    limit = ["m <= 0.1"] if shape == "limit" else []
    tuner = dikin.Tuner(reals(3), context=context, limits=limit, seed=seed)
    centers, turn, way = [minimiser(rng, 2), minimiser(rng, 2)], minimiser(rng, 2), None
    phase, way = rng.uniform(0, 6.3), minimiser(rng, 2)
    for t in range(rounds + 1):
        c = int(rng.integers(2)) if context else 0
        w = centers[c] + (0.3 * turn * np.sin(t / 500 + phase) if shape == "drift" else 0.0)
        f, given = Bowl(w, shape == "kink"), {"where": "ab"[c]} if context else None
        if t in (rounds // 5, rounds // 2, rounds):
            found = tuner.recommend(given)
            x, said = point(found.params)[:2], found.importance
            inside = [found.intervals[f"x{i}"].low <= w[i] <= found.intervals[f"x{i}"].high
                      for i in range(2)]  # fmt: skip
            if limit:
                inside = [each.low <= way @ x <= each.high for each in found.limits.values()]
            value = found.value.low <= f(x) <= found.value.high
            effect = max(said["x0"].low, said["x1"].low) > 0.0
            yield value, float(np.mean(inside)), said["x2"].low > 0.0, effect
        trial = tuner.ask(context=given)
        x, error = point(trial.params)[:2], rng.normal()
        size = {"no noise": 0.0, "heavy tails": 0.1}.get(noise) or float(
            noise.replace("no noise", "0")
        )
        if noise == "heavy tails":
            error = rng.standard_t(2.2)
        metrics = {"m": float(way @ x + 0.1 * rng.normal())} if limit else None
        tuner.tell(trial, float(f(x) + size * error), metrics=metrics)


# --- other rows, other ranges, many at a time -----------------------------------------------------


@promise(200, "20 helpful rows", "200 rows at one setting", "20 misleading rows",
         figures=("cost / cost without them", ""))  # fmt: skip
def history(
    problem: str, _player: str, rounds: int, rng: Generator, seed: int
) -> tuple[float, float]:
    f, noises, cost = Bowl(minimiser(rng, 2)), 0.1 * rng.normal(size=rounds), []
    rows = rng.uniform(-0.9, 0.9, (20, 2))
    if problem == "200 rows at one setting":
        rows = np.full((200, 2), 0.3)
    origin = Bowl(-f.w) if "misleading" in problem else f
    values = [origin(x) + 0.1 * rng.normal() for x in rows]
    for some in (True, False):
        tuner, total = dikin.Tuner(reals(2), seed=seed), 0.0
        for x, value in zip(rows if some else [], values, strict=some):
            tuner.add_trial({"x0": float(x[0]), "x1": float(x[1])}, float(value))
        for noise in noises:
            trial = tuner.ask()
            value = f(point(trial.params))
            total += value
            tuner.tell(trial, float(value + noise))
        cost.append(total)
    return cost[0] / cost[1], nan


@promise(200, "wider", "narrower", "one more", "one less",
         figures=("cost / that of a fresh tuner from the same start", ""))  # fmt: skip
def changes(
    problem: str, _player: str, rounds: int, rng: Generator, seed: int
) -> tuple[float, float]:
    """After 300 rounds the parameters change."""
    w = minimiser(rng, 3)
    w[0] = 1.5 if problem == "wider" else w[0]
    d, after = (2 if problem == "one more" else 3), (2 if problem == "one less" else 3)
    half = {"wider": 2.0, "narrower": 0.8}.get(problem, 1.0)
    f, noises = Bowl(w), 0.1 * rng.normal(size=300 + rounds)

    def use(tuner: dikin.Tuner, noises: Array) -> float:
        total = 0.0
        for noise in noises:
            trial = tuner.ask()
            values = point(trial.params)
            value = f(np.concatenate([values, np.zeros(3 - len(values))]))
            total += value
            tuner.tell(trial, float(value + noise))
        return total

    old = dikin.Tuner(reals(d), seed=seed)
    use(old, noises[:300])
    starts = {name: float(np.clip(old.best.get(name, 0.0), -half, half)) for name in reals(after)}
    parameters = {name: dikin.Real(-half, half, start=x) for name, x in starts.items()}
    old.set_parameters(parameters)
    fresh = dikin.Tuner(parameters, seed=seed + 1)
    return use(old, noises[300:]) / use(fresh, noises[300:]), nan


@promise(2_000, "8 open, d = 2", "8 open, d = 5", "64 open, d = 2", "64 open, d = 5",
         figures=("cost / that of answers at once, but for the first", ""))  # fmt: skip
def late(problem: str, _player: str, rounds: int, rng: Generator, seed: int) -> tuple[float, float]:
    """Answers come in random order, and 5 % never."""
    number, d = int(problem.split()[0]), int(problem[-1])
    f, noises, cost = Bowl(minimiser(rng, d)), 0.1 * rng.normal(size=rounds), []
    for width in (number, 1):
        tuner, total, waiting = dikin.Tuner(reals(d), seed=seed), 0.0, []
        for t, noise in enumerate(noises):
            trial = tuner.ask()
            value = f(point(trial.params))
            waiting.append((trial, float(value + noise)))
            total += value * (width == 1 or t >= width)
            if len(waiting) >= width:
                answer = waiting.pop(int(rng.integers(len(waiting))))
                if width == 1 or rng.random() >= 0.05:
                    tuner.tell(*answer)
                else:
                    tuner.forget(answer[0])
        cost.append(total)
    return cost[0] / cost[1], nan
