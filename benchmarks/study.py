"""A durable ask and tell against an append and fsync, and what it costs to be less than durable."""

from __future__ import annotations

import importlib.util
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from timing import Row, best_of, pretty

import dikin

LINE = b"x" * 99 + b"\n"


def tuner(dim: int) -> dikin.Tuner:
    return dikin.Tuner({f"x{i}": dikin.Real(0, 1) for i in range(dim)}, seed=1)


def play(study: dikin.Study, rounds: int) -> None:
    for _ in range(rounds):
        study.tell(study.ask(), 0.3)


def append(file: int) -> None:
    os.write(file, LINE)
    os.fsync(file)


def against_fsync(job: Callable[[], None], file: int, pairs: int) -> tuple[float, float, float]:
    """Medians of the job's seconds, of an append's, and of their ratio, taken pair by pair.

    A disk has good and bad moments, longer than a job: what follows at once meets the same one.
    """
    seconds = []
    for _ in range(pairs):
        start = time.perf_counter()
        job()
        middle = time.perf_counter()
        append(file)
        seconds.append((middle - start, time.perf_counter() - middle))
    ratio = median(ours / theirs for ours, theirs in seconds)
    return median(ours for ours, _ in seconds), median(theirs for _, theirs in seconds), ratio


def rows() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file = os.open(folder / "log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        yield from durable_rows(folder, file)
        yield opening_row(folder)
        yield from optuna_rows(folder, file)
        os.close(file)


def durable_rows(folder: Path, file: int) -> Iterator[Row]:
    for dim in (2, 10):
        with dikin.Study(folder / f"{dim}.db", "bench", tuner(dim)) as study:
            play(study, 200)
            ours, theirs, ratio = against_fsync(partial(play, study, 1), file, 600)
        yield Row(
            f"durable ask + tell, SQLite, d={dim}",
            f"{pretty(ours)} a round, {1 / ours:,.0f}/s",
            f"append + fsync of 100 bytes, {pretty(theirs)}",
            ratio,
            "<= 4",
        )


def opening_row(folder: Path) -> Row:
    rounds = 20_000
    with dikin.Study(folder / "long.db", "bench", tuner(2)) as study:
        play(study, rounds)

    def reopen() -> None:
        dikin.Study(folder / "long.db", "bench").close()

    (seconds,) = best_of(5, reopen)
    return Row(f"opening a study of {rounds:,} rounds", pretty(seconds), "every seal checked")


def optuna_rows(folder: Path, file: int) -> Iterator[Row]:
    """The same loop in Optuna, with points at random, in its two durable stores."""
    if importlib.util.find_spec("optuna") is None:
        yield Row("optuna ask + tell", "not installed", "pip install dikin[compare]")
        return
    import optuna
    from optuna.storages.journal import JournalFileBackend

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    stores: dict[str, Callable[[], Any]] = {
        "SQLite": lambda: f"sqlite:///{folder}/optuna.db",
        "journal": lambda: optuna.storages.JournalStorage(
            JournalFileBackend(f"{folder}/optuna.log")
        ),
    }
    for name, store in stores.items():
        study = optuna.create_study(storage=store(), sampler=optuna.samplers.RandomSampler(seed=1))

        def ask_and_tell(study: Any = study) -> None:
            trial = study.ask()
            for i in range(2):
                trial.suggest_float(f"x{i}", -1, 1)
            study.tell(trial, 0.3)

        ours, theirs, ratio = against_fsync(ask_and_tell, file, 40)
        yield Row(
            f"optuna ask + tell, {name}, d=2",
            f"{pretty(ours)} a round",
            f"append + fsync of 100 bytes, {pretty(theirs)}",
            ratio,
        )
