"""Run the cells that are not in a store yet, on local processes, with a bar.

Finished cells are in an SQLite file, from which an interrupted run continues.
"""

from __future__ import annotations

import json
import sqlite3
import warnings
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

import dikin
from dikin.errors import ParameterError, StateError
from dikin.experiments.fit import Result

if TYPE_CHECKING:
    from dikin.experiments.reproduce.plan import PaperCell, Request

Results = dict[str, list[Result]]
"""The results of finished cells, by the cells' keys."""


def run(cells: Sequence[PaperCell], request: Request, out: Path, console: Console) -> Results:
    """Return the results of all cells, after running those that are missing, large ones first."""
    from joblib import Parallel, delayed

    try:
        out.mkdir(parents=True, exist_ok=True)
        TemporaryFile(dir=out).close()
    except OSError as reason:
        raise ParameterError(
            f"{out} cannot be written ({reason.strerror}); choose another --out"
        ) from reason
    settings = {"version": dikin.__version__} | request.settings()
    with closing(Store(out / "cells.sqlite", settings)) as store, warnings.catch_warnings():
        # A compiler keeps what it made: a worker that has grown is replaced, and nothing is lost.
        warnings.filterwarnings("ignore", "A worker stopped", UserWarning)
        finished = store.finished()
        missing = sorted((c for c in cells if c.key not in finished), key=lambda c: -c.work)
        if len(missing) < len(cells):
            console.print(f"{len(cells) - len(missing)} of {len(cells)} cells are there already.")
        columns = BarColumn(), TextColumn("{task.percentage:>3.0f}%"), TimeRemainingColumn()
        with Progress(*columns, console=console, disable=not missing) as bar:
            task = bar.add_task("", total=sum(cell.work for cell in missing))
            workers = Parallel(n_jobs=request.workers, return_as="generator_unordered")
            for cell, results in workers(delayed(_play)(cell) for cell in missing):
                store.keep(cell.key, results)
                finished[cell.key] = results
                bar.advance(task, cell.work)
    return finished


def _play(cell: PaperCell) -> tuple[PaperCell, list[Result]]:
    return cell, cell.play()


class Store:
    """The finished cells of one version and one set of settings."""

    def __init__(self, file: Path, settings: dict[str, Any]) -> None:
        self._database = sqlite3.connect(file)
        try:
            with self._database:
                for table in ("settings(name PRIMARY KEY, value)", "cells(key PRIMARY KEY, value)"):
                    self._database.execute(f"CREATE TABLE IF NOT EXISTS {table}")
                stored = dict(self._database.execute("SELECT name, value FROM settings"))
                current = {name: json.dumps(value) for name, value in settings.items()}
                if not stored:
                    rows = current.items()
                    self._database.executemany("INSERT INTO settings VALUES (?, ?)", rows)
        except sqlite3.Error as reason:
            self.close()
            raise StateError(
                f"{file} cannot be used as a store of results ({reason}); choose another --out, or "
                "move the file away"
            ) from reason
        if stored and stored != current:
            self.close()
            names = sorted(n for n in {*stored, *current} if stored.get(n) != current.get(n))
            changes = "; ".join(f"{n} was {stored.get(n)}, is {current.get(n)}" for n in names)
            raise StateError(
                f"the results in {file} were made with other settings ({changes}); a store "
                "belongs to one version of dikin and one set of settings: choose another --out to "
                "start afresh"
            )

    def keep(self, key: str, results: list[Result]) -> None:
        with self._database:
            self._database.execute("INSERT INTO cells VALUES (?, ?)", (key, json.dumps(results)))

    def finished(self) -> Results:
        rows = self._database.execute("SELECT key, value FROM cells")
        return {key: json.loads(results) for key, results in rows}

    def close(self) -> None:
        self._database.close()
