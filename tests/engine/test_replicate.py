"""Many games: the same with any workers, in any order, and on a cluster that loses a machine."""

from __future__ import annotations

import os
import signal
import threading
import time
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


def waiting_learner(folder: Path, seed: int) -> dikin.Learner:
    """Waits until a worker was killed."""
    (folder / str(os.getpid())).touch()
    while not (folder / "killed").exists():
        time.sleep(0.01)
    return learner(seed)


def test_a_dask_cluster_that_loses_a_worker_gives_the_same_results(tmp_path: Path) -> None:
    alone = dikin.replicate(learner, world, 400, 12)
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        victim = next(iter(client.run(os.getpid).values()))

        def kill() -> None:
            while not (tmp_path / str(victim)).exists():  # it has begun a game
                time.sleep(0.01)
            os.kill(victim, signal.SIGKILL)
            (tmp_path / "killed").touch()

        threading.Thread(target=kill, daemon=True).start()
        with joblib.parallel_config("dask", client=client):
            together = dikin.replicate(
                partial(waiting_learner, tmp_path), world, 400, 12, workers=None
            )
        assert (tmp_path / "killed").exists()
    assert same(alone, together)
