"""Many games: the same with any workers and in any order."""

import os
from functools import partial
from pathlib import Path

import distributed
import joblib
import numpy as np
import pytest

import dikin


def world(seed: int) -> dikin.Environment:
    return dikin.Ridge(dikin.Ball(2), 1.0, 0.1, seed=seed)


def learner(seed: int) -> dikin.Learner:
    return dikin.AdaptiveSmooth(dikin.Ball(2), 1.0, loss_range=world(0).loss_range, seed=seed)


def same(one: list[dikin.Run], two: list[dikin.Run]) -> bool:
    return len(one) == len(two) and all(
        np.array_equal(a.regret, b.regret) and np.array_equal(a.certificate, b.certificate)
        for a, b in zip(one, two, strict=True)
    )


def test_results_do_not_depend_on_workers_or_order() -> None:
    alone = dikin.replicate(learner, world, 400, 6)
    assert same(alone, dikin.replicate(learner, world, 400, 6, workers=2))
    assert same(alone[::-1], dikin.replicate(learner, world, 400, range(5, -1, -1)))
    assert not same(alone, dikin.replicate(learner, world, 400, range(1, 7)))
    assert len({run.regret[-1] for run in alone}) == 6


def test_no_seeds_and_a_learner_in_the_place_of_its_maker_are_refused() -> None:
    with pytest.raises(dikin.DikinError, match="at least one"):
        dikin.replicate(learner, world, 10, 0)
    with pytest.raises(dikin.DikinError, match="make_learner must be a function of the seed"):
        dikin.replicate(learner(0), world, 10, 2)  # type: ignore[arg-type]


def noting(folder: Path, seed: int) -> dikin.Learner:
    (folder / str(os.getpid())).touch()
    return learner(seed)


def test_without_a_number_of_workers_joblib_decides_such_as_for_a_dask_cluster(
    tmp_path: Path,
) -> None:
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50
        ) as cluster,
        distributed.Client(cluster) as client,
        joblib.parallel_config("dask", client=client),
    ):
        together = dikin.replicate(partial(noting, tmp_path), world, 100, 4, workers=None)
    assert same(together, dikin.replicate(learner, world, 100, 4))
    pids = {path.name for path in tmp_path.iterdir()}
    assert pids
    assert str(os.getpid()) not in pids
