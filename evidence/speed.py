"""`make bench`: every claim about speed as a ratio, each pair timed in turns in the same run.

    python -m evidence.speed           the table
    python -m evidence.speed tuner     functions of dikin in the calls whose names contain the word

Times are the best of several repetitions. The functions that a call runs through are counted by a
tracer, generators that are resumed included: these numbers are the same in every run.
"""

from __future__ import annotations

import importlib.util
import math
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median
from types import CodeType, FrameType
from typing import Any, NamedTuple

import numba
import numpy as np

import dikin
from dikin.engine.play import compiled_rounds
from dikin.rng import counted, named_key

SOURCE = str(Path(dikin.__file__).resolve().parent)


class Row(NamedTuple):
    """A line of the table: a name, a figure, a ratio to something else, and the ratio's limit."""

    name: str
    figure: str
    against: str = ""
    ratio: float | None = None
    limit: float | None = None


def best_of(repeats: int, *jobs: Callable[[], object]) -> list[float]:
    """Return the least seconds of each job. A disturbance meets them all, as they take turns."""
    best = [math.inf] * len(jobs)
    for _ in range(repeats):
        for i, job in enumerate(jobs):
            start = time.perf_counter()
            job()
            best[i] = min(best[i], time.perf_counter() - start)
    return best


def pretty(seconds: float) -> str:
    """Return a duration in a unit that suits it."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


# --- learners ------------------------------------------------------------------------------------


@numba.njit(cache=True)  # type: ignore[untyped-decorator]
def draw(generator: Any, noise: Any, rounds: int) -> None:
    """Draw the random numbers of that many rounds, and nothing else."""
    for _ in range(rounds):
        for i in range(noise.size):
            noise[i] = generator.standard_normal()


DOMAINS: dict[str, tuple[dikin.Domain, float]] = {
    "ball, d=2": (dikin.Ball(2), 8.0),
    "ball, d=10": (dikin.Ball(10), 3.0),
    "ball, d=100": (dikin.Ball(100), 1.6),
    "ball, d=1000": (dikin.Ball(1000), 1.4),
    "box, d=100": (dikin.Box(-np.ones(100), np.linspace(1, 3, 100)), 4.0),
    "simplex, d=100": (dikin.Simplex(101), 4.0),
    "ellipsoid, d=100": (dikin.Ellipsoid(np.zeros(100), np.diag(np.linspace(1, 9, 100))), 3.0),
}
"""Sets, and the largest ratio of a compiled round to drawing its normals by the same generator."""


def compiled() -> Iterator[Row]:
    """A compiled round against the price of its random numbers."""
    for name, (domain, limit) in DOMAINS.items():
        rounds = max(20, 20_000 // domain.dim)
        world = dikin.Ridge(domain, 1.0, 0.1, seed=1)
        learner = dikin.AdaptiveSmooth(domain, 1.0, loss_range=world.loss_range, seed=1)
        advance = compiled_rounds(learner, world)
        assert advance is not None
        generator, noise = counted(named_key("", ""), 0), np.zeros(learner.geometry.size)
        advance(1000)
        draw(generator, noise, 1)
        ours, theirs = best_of(
            100, partial(advance, rounds), partial(draw, generator, noise, rounds)
        )
        against = f"drawing its normals, {pretty(theirs / rounds)}"
        yield Row(f"compiled round, {name}", pretty(ours / rounds), against, ours / theirs, limit)


def textbook(rounds: int, dim: int = 10) -> None:
    """The twelve lines that everybody writes first: Flaxman, Kalai, McMahan."""
    rng, y = np.random.default_rng(0), np.zeros(dim)
    delta, step = rounds**-0.25, 1 / math.sqrt(rounds)
    for _ in range(rounds):
        u = rng.standard_normal(dim)
        u /= np.linalg.norm(u)
        value = bowl(y + delta * u)
        y = y - step * value * u
        length = np.linalg.norm(y)
        if length > 1 - delta:
            y *= (1 - delta) / length


def bowl(x: Any) -> float:
    """A loss in [0, 1]."""
    v = x - 0.1
    return 0.2 * float(v.dot(v))


def ask_and_tell(player: Any, rounds: int, **known: Any) -> None:
    """Ask and tell so many rounds."""
    for _ in range(rounds):
        trial = player.ask(**known)
        player.tell(trial, bowl(trial.point))


def plain() -> Iterator[Row]:
    """Ask and tell in plain Python against a textbook loop, and imports in fresh processes."""
    rounds, learner = 100, dikin.AdaptiveSmooth(dikin.Ball(10), 1.0, seed=1)
    theirs, ours = best_of(400, partial(textbook, rounds), partial(ask_and_tell, learner, rounds))
    loop = f"12-line FKM loop, {pretty(theirs / rounds)}"
    yield Row("learner, ask + tell, ball, d=10", pretty(ours / rounds), loop, ours / theirs, 2.5)
    jobs = {
        "import dikin": ("import dikin", 0.4),
        "first ask of a process": (
            "import dikin; dikin.AdaptiveSmooth(dikin.Ball(9), 1.0).ask()",
            1.0,
        ),
    }
    for name, (code, limit) in jobs.items():
        command = [sys.executable, "-c", code]
        (seconds,) = best_of(5, partial(subprocess.run, command, check=True))
        yield Row(name, pretty(seconds), "one second", seconds, limit)


# --- tuners and studies --------------------------------------------------------------------------

PARAMETERS: dict[str, dict[str, Any]] = {
    "2 reals": {"a": dikin.Real(0, 1), "b": dikin.Real(0, 1)},
    "6 integers": {name: dikin.Integer(0, 9) for name in "abcdef"},
    "a real and 3 shares": {"a": dikin.Real(0, 1), "mix": dikin.Shares(["x", "y", "z"])},
}


def tuner(name: str = "2 reals", **more: Any) -> dikin.Tuner:
    """Return a new tuner."""
    return dikin.Tuner(PARAMETERS[name], seed=1, **more)


def cma(rounds: int) -> None:
    """Run pycma in batches, as it is made to be used."""
    import cma

    strategy = cma.CMAEvolutionStrategy(2 * [0.5], 0.3, {"verbose": -9, "seed": 1})
    for _ in range(rounds // strategy.popsize):
        points = strategy.ask()
        strategy.tell(points, [bowl(point) for point in points])


def optuna(rounds: int) -> None:
    """Run Optuna's default sampler in memory."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    kinds = {name: optuna.distributions.FloatDistribution(0, 1) for name in "ab"}
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=1))
    for _ in range(rounds):
        trial = study.ask(kinds)
        study.tell(trial, bowl(np.array([*trial.params.values()])))


def tuners() -> Iterator[Row]:
    """A tuner's own share of a round, and that of rivals."""
    rounds = 500
    for name in PARAMETERS:
        (ours,) = best_of(5, partial(lambda one: ask_and_tell(tuner(one), rounds), name))
        yield Row(f"tuner, ask + tell, {name}", pretty(ours / rounds))
    for package, job, count in (("cma", cma, rounds), ("optuna", optuna, rounds // 5)):
        if importlib.util.find_spec(package) is None:
            yield Row(f"{package}, ask + tell", "not installed", "pip install dikin[compare]")
            continue
        ours, theirs = best_of(3, lambda: ask_and_tell(tuner(), rounds), partial(job, count))
        ratio = (ours / rounds) / (theirs / count)
        against = f"{package}, {pretty(theirs / count)}"
        yield Row("tuner, ask + tell, 2 reals", pretty(ours / rounds), against, ratio)


def studies() -> Iterator[Row]:
    """A durable round against an append and fsync: medians, pair by pair, as disks have moods."""
    with tempfile.TemporaryDirectory() as name:
        folder, seconds = Path(name), list[tuple[float, float]]()
        file = os.open(folder / "log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        with dikin.Study(folder / "a.db", "bench", tuner()) as study:
            ask_and_tell(study, 200)
            for _ in range(600):
                start = time.perf_counter()
                ask_and_tell(study, 1)
                middle = time.perf_counter()
                os.write(file, b"x" * 99 + b"\n")
                os.fsync(file)
                seconds.append((middle - start, time.perf_counter() - middle))
            ask_and_tell(study, 9_000)
        os.close(file)
        ours, theirs = (median(each) for each in zip(*seconds, strict=True))
        ratio = median(one / other for one, other in seconds)
        against = f"append + fsync of 100 bytes, {pretty(theirs)}"
        yield Row("durable ask + tell, SQLite", pretty(ours), against, ratio, 4.0)
        (opening,) = best_of(3, lambda: dikin.Study(folder / "a.db", "bench").close())
        yield Row("opening a study of 10,000 rounds", pretty(opening), "every seal checked")


# --- functions called ----------------------------------------------------------------------------


def walk(call: Callable[[], Any]) -> tuple[list[str], Any]:
    """Return the functions of dikin that a call runs through, in order, and its result."""
    codes: list[CodeType] = []

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(SOURCE):
            codes.append(frame.f_code)

    sys.setprofile(note)
    try:
        result = call()
    finally:
        sys.setprofile(None)
    return [f"{c.co_filename[len(SOURCE) + 1 :]}:{c.co_qualname}" for c in codes], result


def usual_round(player: Any, **known: Any) -> tuple[list[str], list[str]]:
    """Return the ask and the tell of median length, some rounds after the start."""
    ask_and_tell(player, 40, **known)
    asks, tells = [], []
    for _ in range(9):
        asked, trial = walk(partial(player.ask, **known))
        asks.append(asked)
        tells.append(walk(partial(player.tell, trial, bowl(trial.point)))[0])
    return sorted(asks, key=len)[4], sorted(tells, key=len)[4]


def walks() -> Iterator[tuple[str, list[str]]]:
    """Yield the calls and their functions."""
    everything = tuner(context={"hour": dikin.Cycle(24)}, holdback=0.1, guard=0.02)
    known = {"context": {"hour": 14}, "covariates": {"load": 0.7}}
    with tempfile.TemporaryDirectory() as name:
        study = dikin.Study(Path(name) / "walk.db", "walk", tuner())
        cases: dict[str, tuple[Any, dict[str, Any]]] = {
            "learner": (dikin.AdaptiveSmooth(dikin.Ball(10), 1.0, seed=1), {}),
            "tuner": (tuner(), {}),
            "tuner with context, covariate, guard": (everything, known),
            "study of a tuner, SQLite": (study, {}),
        }
        for case, (player, circumstances) in cases.items():
            asked, answered = usual_round(player, **circumstances)
            yield f"{case}: ask", asked
            yield f"{case}: tell", answered
        study.close()


def calls() -> Iterator[Row]:
    """Yield the number of functions that a round calls, and of their files."""
    found = dict(walks())
    for name, stops in found.items():
        files = len({stop.partition(":")[0] for stop in stops})
        yield Row(f"{name}, functions called", f"{files} files", "", len(stops))
    both = found["learner: ask"] + found["learner: tell"]
    files = len({stop.partition(":")[0] for stop in both})
    yield Row("a learner's ask and tell", f"{files} files", "at most 6", len(both), 20.0)
    tell, own = found["study of a tuner, SQLite: tell"], found["tuner: tell"]
    files = len({stop.partition(":")[0] for stop in set(tell) - set(own)})
    yield Row("the study's share of its tell", f"{files} files", "", len(tell) - len(own), 60.0)


def main() -> None:
    """Print the table, or the functions of some calls."""
    if words := " ".join(sys.argv[1:]):
        for name, stops in walks():
            if words in name:
                print(f"{len(stops):4} {name}")
                for stop, count in Counter(stops).most_common():
                    print(f"     {count:3} {stop}")
        return
    for part in (plain, compiled, tuners, studies, calls):
        for row in part():
            ratio = "" if row.ratio is None else f"{row.ratio:.3g}"
            limit = "" if row.limit is None else f"<= {row.limit:g}"
            missed = row.ratio is not None and row.limit is not None and row.ratio > row.limit
            mark = "NO" if missed else "yes" if limit else ""
            print(f"{row.name:50} {row.figure:10} {row.against:42} {ratio:>7} {limit:7} {mark}")


if __name__ == "__main__":
    main()
