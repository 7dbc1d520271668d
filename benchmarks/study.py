"""A durable ask and tell against an append and fsync, and what it costs to be less than durable."""

from __future__ import annotations

import importlib.util
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from timing import Row, best_of, pretty

import dikin

LINE = b"x" * 99 + b"\n"
BATCH = 20


def learner(dim: int) -> dikin.AdaptiveSmooth:
    return dikin.AdaptiveSmooth(dikin.Ball(dim), 1.0, seed=1)


def play(study: dikin.Study, rounds: int) -> None:
    for _ in range(rounds):
        query = study.ask()
        study.tell(query, 0.3, 0.1)


def append(file: int) -> None:
    for _ in range(BATCH):
        os.write(file, LINE)
        os.fsync(file)


def rows() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file = os.open(folder / "log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        yield from durable_rows(folder, file)
        yield from grouped_rows(folder)
        yield opening_row(folder)
        yield from optuna_rows(folder, file)
        os.close(file)


def durable_rows(folder: Path, file: int) -> Iterator[Row]:
    for dim in (2, 10):
        with dikin.Study(folder / f"{dim}.db", "bench", learner(dim)) as study:
            play(study, 200)
            ours, theirs = best_of(60, partial(play, study, BATCH), partial(append, file))
        yield Row(
            f"durable ask + tell, SQLite, d={dim}",
            f"{pretty(ours / BATCH)} a round, {BATCH / ours:,.0f}/s",
            f"append + fsync of 100 bytes, {pretty(theirs / BATCH)}",
            ours / theirs,
            "<= 4",
        )


def grouped_rows(folder: Path) -> Iterator[Row]:
    rounds = 5000
    for dim in (2, 10):
        path = folder / f"grouped-{dim}.db"
        with dikin.Study(path, "bench", learner(dim), commit_within=0.05) as study:
            play(study, 200)
            (seconds,) = best_of(8, partial(play, study, rounds))
        yield Row(
            f"ask + tell, commit_within=0.05, d={dim}",
            f"{pretty(seconds / rounds)} a round",
            "rounds a second",
            rounds / seconds,
            ">= 20000",
        )


def opening_row(folder: Path) -> Row:
    rounds = 20_000
    with dikin.Study(folder / "long.db", "bench", learner(2), commit_within=0.05) as study:
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

        start = time.perf_counter()
        ask_and_tell()
        once = time.perf_counter() - start
        ours, theirs = best_of(max(3, min(20, int(5 / once))), ask_and_tell, partial(append, file))
        yield Row(
            f"optuna ask + tell, {name}, d=2",
            f"{pretty(ours)} a round",
            f"append + fsync of 100 bytes, {pretty(theirs / BATCH)}",
            ours / (theirs / BATCH),
        )
