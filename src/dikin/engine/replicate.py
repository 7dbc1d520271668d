"""Many games at once: the same games with any number of workers, in any order.

Sums use the processor's vectors, so machines of different kinds may differ in the last digits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

import numpy as np

from dikin import extras
from dikin.engine.jit import reproducible
from dikin.engine.play import Run, play
from dikin.environments.base import Environment
from dikin.errors import ParameterError
from dikin.learners.base import Learner


def replicate(
    make_learner: Callable[[int], Learner],
    make_environment: Callable[[int], Environment],
    rounds: int,
    seeds: int | Iterable[int],
    workers: int | None = 1,
    *,
    checkpoints: int = 20,
) -> list[Run]:
    """Play one game for every seed: `make_learner(seed)` against `make_environment(seed)`.

    `seeds` is a number of games (seeds 0, 1, ...) or the seeds themselves. Learner and environment
    draw from differently named streams of a seed, so the games are independent, and a game depends
    on its seed alone. `workers` processes share the work, -1 for all cores; with None the backend
    chosen by `joblib.parallel_config` decides, such as a Dask cluster. More than one worker needs
    joblib: `pip install "dikin[lab]"`.

    >>> from dikin import AdaptiveSmooth, Ball, Ridge
    >>> runs = replicate(
    ...     lambda seed: AdaptiveSmooth(Ball(2), 1.0, seed=seed),
    ...     lambda seed: Ridge(Ball(2), 1.0, seed=seed), rounds=100, seeds=2)
    >>> len(runs)
    2
    """
    wanted = list(range(seeds)) if isinstance(seeds, int | np.integer) else list(seeds)
    if not wanted:
        raise ParameterError("seeds must be at least one game, got none")
    for name, made in (("make_learner", make_learner), ("make_environment", make_environment)):
        if not callable(made):
            raise ParameterError(f"{name} must be a function of the seed, got {made!r}")
    if workers == 0:
        raise ParameterError(
            "workers must be a number of processes, -1 for all cores, or None; got 0"
        )
    game = partial(_game, make_learner, make_environment, rounds, checkpoints, len(wanted))
    if workers == 1:
        return list(map(game, wanted))
    joblib = extras.require("joblib", "lab", f"replicate with workers={workers}")
    runs: list[Run] = joblib.Parallel(n_jobs=workers)(joblib.delayed(game)(s) for s in wanted)
    return runs


def _game(
    make_learner: Callable[[int], Learner],
    make_environment: Callable[[int], Environment],
    rounds: int,
    checkpoints: int,
    games: int,
    seed: int,
) -> Run:
    learner, environment = make_learner(seed), make_environment(seed)
    with reproducible(games):
        return play(learner, environment, rounds, checkpoints=checkpoints, progress=False)
