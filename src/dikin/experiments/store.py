"""Finished cells in an SQLite file, so that an interrupted run goes on where it was.

A store belongs to one version of the package and one set of settings: what was made with others is
never mixed in. It does not follow the source: a changed comment loses nothing, and who changes a
formula without changing the version begins a new store.
"""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

from dikin.errors import StateError

TABLE = "CREATE TABLE IF NOT EXISTS"


class Store:
    """The finished cells of one version and one set of settings."""

    def __init__(self, file: Path, settings: dict[str, Any]) -> None:
        self.file = file
        self._database = sqlite3.connect(file)
        try:
            with self._database:
                self._database.execute(f"{TABLE} settings(name PRIMARY KEY, value)")
                self._database.execute(f"{TABLE} cells(key PRIMARY KEY, value)")
                self._claim(settings)
        except sqlite3.Error as reason:
            self.close()
            raise StateError(
                f"{file} cannot be used as a store of results ({reason}); choose another --out, or "
                "move the file away"
            ) from reason
        except StateError:
            self.close()
            raise

    def _claim(self, settings: dict[str, Any]) -> None:
        current = {name: json.dumps(value, sort_keys=True) for name, value in settings.items()}
        stored = dict(self._database.execute("SELECT name, value FROM settings"))
        if not stored:
            self._database.executemany("INSERT INTO settings VALUES (?, ?)", current.items())
        elif stored != current:
            names = sorted(n for n in {*stored, *current} if stored.get(n) != current.get(n))
            changes = "; ".join(f"{n} was {stored.get(n)}, is {current.get(n)}" for n in names)
            raise StateError(
                f"the results in {self.file} were made with other settings ({changes}); a store "
                "belongs to one version of dikin and one set of settings: choose another --out to "
                "start afresh"
            )

    def keep(self, key: str, results: list[dict[str, Any]]) -> None:
        """Keep a finished cell, durably."""
        with self._database:
            self._database.execute("INSERT INTO cells VALUES (?, ?)", (key, json.dumps(results)))

    def finished(self) -> dict[str, list[dict[str, Any]]]:
        """Return every finished cell by key."""
        rows = self._database.execute("SELECT key, value FROM cells")
        return {key: json.loads(results) for key, results in rows}

    def close(self) -> None:
        """Close the file."""
        self._database.close()
