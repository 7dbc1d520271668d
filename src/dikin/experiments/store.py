"""Finished cells, kept in a database so that an interrupted run goes on where it was.

An SQLite file by default; any URL that SQLAlchemy takes. A store belongs to one version of the
package and one set of settings: what was made with others is never mixed in. It does not follow the
source: a changed comment loses nothing, and who changes a formula without changing the version
begins a new store.
"""

from __future__ import annotations

import json
from typing import Any

from sqlalchemy import Column, MetaData, String, Table, Text, create_engine, select
from sqlalchemy.exc import SQLAlchemyError

from dikin.errors import StateError

METADATA = MetaData()
SETTINGS = Table(
    "settings", METADATA, Column("name", String(64), primary_key=True), Column("value", Text)
)
CELLS = Table(
    "cells", METADATA, Column("key", String(200), primary_key=True), Column("results", Text)
)


class Store:
    """The finished cells of one version and one set of settings."""

    def __init__(self, url: str, settings: dict[str, Any]) -> None:
        self.url = url
        try:
            self._engine = create_engine(url)
            METADATA.create_all(self._engine)
            self._claim(settings)
        except (ImportError, SQLAlchemyError) as reason:
            cause = getattr(reason, "orig", None) or reason
            raise StateError(
                f"{url} cannot be used as a store of results ({cause}); "
                "choose another --out or --store, or move the file away"
            ) from reason

    def _claim(self, settings: dict[str, Any]) -> None:
        current = {name: json.dumps(value, sort_keys=True) for name, value in settings.items()}
        with self._engine.begin() as connection:
            stored = dict(connection.execute(select(SETTINGS.c.name, SETTINGS.c.value)).all())
            if not stored:
                connection.execute(
                    SETTINGS.insert(), [{"name": n, "value": v} for n, v in current.items()]
                )
            elif stored != current:
                names = sorted(n for n in {*stored, *current} if stored.get(n) != current.get(n))
                changes = "; ".join(f"{n} was {stored.get(n)}, is {current.get(n)}" for n in names)
                raise StateError(
                    f"the results in {self.url} were made with other settings ({changes}); a store "
                    "belongs to one version of dikin and one set of settings: choose another --out "
                    "to start afresh"
                )

    def keep(self, key: str, results: list[dict[str, Any]]) -> None:
        """Keep a finished cell, durably."""
        with self._engine.begin() as connection:
            connection.execute(CELLS.insert(), {"key": key, "results": json.dumps(results)})

    def finished(self) -> dict[str, list[dict[str, Any]]]:
        """Every finished cell by key."""
        with self._engine.connect() as connection:
            rows = connection.execute(select(CELLS.c.key, CELLS.c.results)).all()
        return {key: json.loads(results) for key, results in rows}
