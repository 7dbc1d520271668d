"""Many runs at once: the same runs with any number of workers, in any order.

Sums use the processor's vectors, so machines of different kinds may differ in the last digits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from dikin import extras
from dikin.engine.play import Run, run_rounds
from dikin.environments.base import Environment
from dikin.errors import ParameterError, shown
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
    """Run `make_learner(seed)` in `make_environment(seed)` for every seed.

    Learner and environment draw from differently named streams of a seed, so the runs are
    independent, and a run depends on its seed alone.

    Parameters
    ----------
    make_learner : callable
        A new learner from a seed.
    make_environment : callable
        A new environment from a seed.
    rounds : int
        Number of rounds of each run.
    seeds : int or iterable of int
        The number of runs, with seeds 0, 1, ..., or the seeds themselves.
    workers : int or None, default 1
        Number of processes, -1 for all cores. With None the backend chosen by
        `joblib.parallel_config` decides, such as a Dask cluster.
    checkpoints : int, default 20
        Number of checkpoints for every factor of ten in the rounds.

    Returns
    -------
    list of Run
        One for each seed, in the order of the seeds, the same for any number of workers.

    Raises
    ------
    ParameterError
        If `seeds` is empty, `workers` is 0, or a maker is not a function.

    Examples
    --------
    >>> from dikin import AdaptiveSmooth, Ball, Ridge
    >>> runs = replicate(
    ...     lambda seed: AdaptiveSmooth(Ball(2), 1.0, seed=seed),
    ...     lambda seed: Ridge(Ball(2), 1.0, seed=seed), rounds=100, seeds=2)
    >>> len(runs)
    2
    """
    seed_list = list(range(seeds)) if isinstance(seeds, int | np.integer) else list(seeds)
    if not seed_list:
        raise ParameterError("seeds must be at least one, got 0")
    for name, function in (("make_learner", make_learner), ("make_environment", make_environment)):
        if not callable(function):
            raise ParameterError(f"{name} must be a function of the seed, got {shown(function)}")
    if workers == 0:
        raise ParameterError(
            "workers must be a number of processes, -1 for all cores, or None; got 0"
        )

    def one(seed: int) -> Run:
        learner, environment = make_learner(seed), make_environment(seed)
        return run_rounds(learner, environment, rounds, checkpoints, False, len(seed_list))

    if workers == 1:
        return list(map(one, seed_list))
    joblib = extras.require("joblib", "lab", f"replicate with workers={workers}")
    runs: list[Run] = joblib.Parallel(n_jobs=workers)(joblib.delayed(one)(s) for s in seed_list)
    return runs
