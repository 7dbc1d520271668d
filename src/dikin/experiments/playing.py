"""Playing cells that are not in a store yet: on local processes or a Dask cluster, with a bar."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol, TypeVar

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from dikin.errors import ParameterError
from dikin.experiments.store import Store

Results = list[dict[str, Any]]


class Playable(Protocol):
    """Games that are played together and kept together."""

    @property
    def key(self) -> str:
        """The cell's name in the store."""
        ...

    @property
    def work(self) -> float:
        """About how long it takes, in any unit."""
        ...


Cell = TypeVar("Cell", bound=Playable)


class Crew(Protocol):
    """Who plays."""

    @property
    def workers(self) -> int: ...

    @property
    def dask(self) -> str | None: ...


def prepare_folder(out: Path) -> None:
    """Make the folder, and make sure that it can be written."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        probe = out / ".writable"
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as reason:
        raise ParameterError(
            f"{out} cannot be written ({reason.strerror}); choose another --out"
        ) from reason


def play_missing(
    wanted: Sequence[Cell],
    play: Callable[[Cell], Results],
    store: Store,
    crew: Crew,
    console: Console,
) -> None:
    """Play the cells that are not in the store, and keep each as it is finished."""
    from joblib import Parallel, delayed

    finished = store.finished()
    # Large cells first: no worker is left with the largest at the end.
    missing = sorted((c for c in wanted if c.key not in finished), key=lambda c: -c.work)
    if len(missing) < len(wanted):
        console.print(f"{len(wanted) - len(missing)} of {len(wanted)} cells are there already.")
    if not missing:
        return
    with backend(crew), progress(console) as bar:
        task = bar.add_task("playing", total=sum(c.work for c in missing))
        games = (delayed(_keyed)(play, cell) for cell in missing)
        jobs = None if crew.dask else crew.workers
        for cell, results in Parallel(n_jobs=jobs, return_as="generator_unordered")(games):
            store.keep(cell.key, results)
            bar.update(task, advance=cell.work)


def _keyed(play: Callable[[Cell], Results], cell: Cell) -> tuple[Cell, Results]:
    return cell, play(cell)


@contextmanager
def backend(crew: Crew) -> Iterator[None]:
    """Local processes, or the Dask cluster at an address."""
    if crew.dask is None:
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
        client: Any = Client(crew.dask, timeout=5)  # type: ignore[no-untyped-call]
    except (OSError, ValueError, TimeoutError) as reason:
        raise ParameterError(f"no Dask cluster answers at {crew.dask} ({reason})") from reason
    with client, parallel_config("dask", client=client):
        yield


def progress(console: Console) -> Progress:
    """A bar of work done with the remaining time."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        TimeRemainingColumn(),
        console=console,
    )
