"""Plays the cells that are not in a store yet: on local processes or a Dask cluster, with a bar."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

import dikin
from dikin.errors import ParameterError
from dikin.experiments import source
from dikin.experiments.cell import Cell, Result
from dikin.experiments.store import Store

DASK_PATIENCE = 5.0
"""Seconds in which a cluster has to answer."""
GAMES = "games.csv"
"""The file in which an experiment writes every game."""
Results = dict[str, list[Result]]
"""The results of finished cells, by the cells' keys."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """What every experiment can be asked for."""

    seed: int = 0
    workers: int = 2
    dask: str | None = None
    """The address of a Dask cluster to play on instead of local processes."""
    store: str | None = None
    """The URL of a database for finished cells; without it, a file in the folder."""

    def settings(self) -> dict[str, Any]:
        """What a store belongs to besides the version of the package."""
        return {}


def run(cells: Sequence[Cell], request: Request, out: Path, console: Console) -> Results:
    """The results of all cells: those that are missing are played, and kept as they are finished.

    An interrupted run goes on where it was.
    """
    prepare_folder(out)
    url = request.store or f"sqlite:///{out / 'cells.sqlite'}"
    store = Store(url, {"version": dikin.__version__} | request.settings())
    finished = store.finished()
    missing = [cell for cell in cells if cell.key not in finished]
    if not finished:  # who goes on with a run of older code has results of that code
        source.record(out / GAMES, request.settings())
    if len(missing) < len(cells):
        console.print(f"{len(cells) - len(missing)} of {len(cells)} cells are there already.")
    with progress(console, sum(cell.work for cell in missing)) as bar:
        for batch, results in _played(_batches(missing), request):
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
    """A bar of the work done with the remaining time; none where there is nothing to do."""
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
    """Large ones first: no worker is left with the largest at the end."""
    batches: dict[str, list[Cell]] = {}
    for cell in cells:
        batches.setdefault(cell.batch, []).append(cell)
    return sorted(batches.values(), key=lambda batch: -sum(cell.work for cell in batch))


def _played(
    batches: list[list[Cell]], request: Request
) -> Iterator[tuple[list[Cell], list[list[Result]]]]:
    from joblib import Parallel, delayed

    workers = None if request.dask else request.workers
    with _backend(request.dask), warnings.catch_warnings():
        # A compiler keeps what it made: a worker that has grown is replaced, and nothing is lost.
        warnings.filterwarnings("ignore", "A worker stopped", UserWarning)
        games = (delayed(_play)(batch) for batch in batches)
        yield from Parallel(n_jobs=workers, return_as="generator_unordered")(games)


def _play(batch: list[Cell]) -> tuple[list[Cell], list[list[Result]]]:
    return batch, [cell.play() for cell in batch]


@contextmanager
def _backend(dask: str | None) -> Iterator[None]:
    """Local processes, or the Dask cluster at an address."""
    if dask is None:
        yield
        return
    try:
        from distributed import Client
    except ImportError as reason:
        raise ParameterError(
            "--dask needs the package distributed: pip install distributed"
        ) from reason
    from joblib import parallel_config

    try:
        client: Any = Client(dask, timeout=DASK_PATIENCE)  # type: ignore[no-untyped-call]
    except (OSError, ValueError, TimeoutError) as reason:
        raise ParameterError(f"no Dask cluster answers at {dask} ({reason})") from reason
    with client, parallel_config("dask", client=client):
        yield
