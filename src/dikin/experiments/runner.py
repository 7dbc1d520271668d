"""Plays the cells that are not in a store yet, on local processes, with a bar."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

import dikin
from dikin.errors import ParameterError
from dikin.experiments.cell import Cell, Result
from dikin.experiments.store import Store

Results = dict[str, list[Result]]
"""The results of finished cells, by the cells' keys."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """Options of every experiment."""

    seed: int = 0
    workers: int = 2

    def settings(self) -> dict[str, Any]:
        """Return the settings of a store, without the version of the package."""
        return {}


def run(cells: Sequence[Cell], request: Request, out: Path, console: Console) -> Results:
    """Return the results of all cells, after playing those that are missing.

    Each is kept when it is finished: an interrupted run goes on where it was.
    """
    prepare_folder(out)
    settings = {"version": dikin.__version__} | request.settings()
    with closing(Store(out / "cells.sqlite", settings)) as store:
        finished = store.finished()
        missing = [cell for cell in cells if cell.key not in finished]
        if len(missing) < len(cells):
            console.print(f"{len(cells) - len(missing)} of {len(cells)} cells are there already.")
        with progress(console, sum(cell.work for cell in missing)) as bar:
            for batch, results in _played(_batches(missing), request.workers):
                for cell, games in zip(batch, results, strict=True):
                    store.keep(cell.key, games)
                    finished[cell.key] = games
                bar.advance(bar.task_ids[0], sum(cell.work for cell in batch))
    return finished


def prepare_folder(out: Path) -> None:
    """Make the folder, and make sure that it can be written."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        TemporaryFile(dir=out).close()
    except OSError as reason:
        raise ParameterError(
            f"{out} cannot be written ({reason.strerror}); choose another --out"
        ) from reason


def progress(console: Console, work: float) -> Progress:
    """Return a bar of the work done with the remaining time. Hidden if there is nothing to do."""
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        TimeRemainingColumn(),
        console=console,
        disable=work == 0,
    )
    bar.add_task("playing", total=work)
    return bar


def _batches(cells: Sequence[Cell]) -> list[list[Cell]]:
    """Return the batches, large ones first: no worker is left with the largest at the end."""
    batches: dict[str, list[Cell]] = {}
    for cell in cells:
        batches.setdefault(cell.batch, []).append(cell)
    return sorted(batches.values(), key=lambda batch: -sum(cell.work for cell in batch))


def _played(
    batches: list[list[Cell]], workers: int
) -> Iterator[tuple[list[Cell], list[list[Result]]]]:
    from joblib import Parallel, delayed

    with warnings.catch_warnings():
        # A compiler keeps what it made: a worker that has grown is replaced, and nothing is lost.
        warnings.filterwarnings("ignore", "A worker stopped", UserWarning)
        games = (delayed(_play)(batch) for batch in batches)
        yield from Parallel(n_jobs=workers, return_as="generator_unordered")(games)


def _play(batch: list[Cell]) -> tuple[list[Cell], list[list[Result]]]:
    return batch, [cell.play() for cell in batch]
