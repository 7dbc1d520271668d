"""The rows of a study in a database: trials and answers, each row a fact, sealed.

    dikin_study     name, head (the number of the last row), its seal, epoch
    dikin_row       number, kind, the trial that it closes, key, client, time, body, seal
    dikin_snapshot  a cache of the state after a row, for each version, and the beginning

Rows are numbered from 0, and the number of an ask is the trial's id. The beginning is the tuner and
the rounds that were trimmed. The database refuses a second answer to a trial and a second row of a
key.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple, NoReturn

from dikin import serialization
from dikin.errors import StateError, UnknownStudyError
from dikin.studies.database import Database, Row, digest_of, seal_after

VERSION = 3  # of the tables
BEGINNING = 0  # in place of a version, in the snapshot with which the history begins
PAGE = 2000  # rows fetched at a time
COLUMNS = "kind, body, ask, key, who, at, n, seal"

TABLES = """
CREATE TABLE IF NOT EXISTS dikin_version (version INTEGER NOT NULL PRIMARY KEY);
CREATE TABLE dikin_study (
    id {serial}, name TEXT NOT NULL UNIQUE, head BIGINT NOT NULL, seal TEXT NOT NULL,
    epoch BIGINT NOT NULL
);
CREATE TABLE dikin_row (
    study BIGINT NOT NULL, n BIGINT NOT NULL, kind TEXT NOT NULL, ask BIGINT, key TEXT,
    who TEXT NOT NULL, at BIGINT NOT NULL, body TEXT NOT NULL, seal TEXT NOT NULL,
    PRIMARY KEY (study, n)
){clustered};
CREATE UNIQUE INDEX dikin_row_ask ON dikin_row (study, ask) WHERE ask IS NOT NULL;
CREATE UNIQUE INDEX dikin_row_key ON dikin_row (study, key) WHERE key IS NOT NULL;
CREATE TABLE dikin_snapshot (
    study BIGINT NOT NULL, version BIGINT NOT NULL, n BIGINT NOT NULL, seal TEXT NOT NULL,
    state TEXT NOT NULL, digest TEXT NOT NULL, PRIMARY KEY (study, version)
)"""


class Snapshot(NamedTuple):
    """The state after a row, as text."""

    n: int
    seal: str
    text: str


class Page(NamedTuple):
    """Some rows, and the study at the same instant."""

    head: int  # the number of the last row
    epoch: int
    base: int  # the row of the beginning
    saved: int  # the row of the snapshot, or of the beginning
    rows: list[Row]


class Damage(StateError):  # noqa: N818 - a StateError to everybody else
    """Rows were altered, or are missing."""

    def __init__(self, what: str, n: int) -> None:
        super().__init__(what)
        self.n = n  # the last row that is intact


class Log:
    """The rows of one study."""

    def __init__(self, database: Database, name: str) -> None:
        self.database, self.name = database, name
        self.study, self.version = 0, serialization.VERSION

    def damage(self, what: str, n: int) -> Damage:
        """Return the error for rows that differ from those written after row `n`."""
        return Damage(
            f"study {self.name!r} in {self.database.name} was altered or damaged: {what}. Rows up "
            f"to {n} are intact and can be read. Restore a copy, or continue from row {n}: "
            f"dikin study rewind {self.name}",
            n,
        )

    def find(self) -> bool:
        """Look up the study by its name. Return whether it exists."""
        sql, known = "SELECT id FROM dikin_study WHERE name = ?", has_tables(self.database)
        rows = self.database.run(sql, (self.name,)) if known else []
        self.study = rows[0][0] if rows else 0
        return bool(rows)

    def create(self, state: str, n: int = -1) -> bool:
        """Write a new study in a transaction; False if another client was first."""
        seal = seal_after("", n, state)
        made = self.database.run(
            "INSERT INTO dikin_study (name, head, seal, epoch) VALUES (?, ?, ?, 0) "
            "ON CONFLICT (name) DO NOTHING RETURNING id",
            (self.name, n, seal),
        )
        if made:
            self.study = made[0][0]
            self.save_snapshot(Snapshot(n, seal, state), BEGINNING)
        return bool(made)

    def lock(self) -> None:
        """Keep other writers out until the end of the transaction."""
        if self.database.path is None:  # SQLite has one writer at a time
            self.database.run("SELECT 1 FROM dikin_study WHERE id = ? FOR UPDATE", (self.study,))

    def delete(self) -> None:
        for table, column in (("row", "study"), ("snapshot", "study"), ("study", "id")):
            self.database.run(f"DELETE FROM dikin_{table} WHERE {column} = ?", (self.study,))

    def head(self) -> tuple[int, int]:
        """Return the number of the last row, and the epoch."""
        sql = "SELECT head, epoch FROM dikin_study WHERE id = ?"
        rows = self.database.run(sql, (self.study,))
        if not rows:
            raise UnknownStudyError(
                f"study {self.name!r} in {self.database.name} was deleted while it was open"
            )
        return rows[0][0], rows[0][1]

    def page(self, after: int, upto: int | None = None) -> Page:
        """Return up to 2,000 rows after one."""
        columns = "r." + COLUMNS.replace(", ", ", r.")
        found = self.database.run(
            f"SELECT s.head, s.epoch, b.n, coalesce(k.n, b.n), {columns} FROM dikin_study s "
            f"LEFT JOIN dikin_snapshot b ON b.study = s.id AND b.version = {BEGINNING} "
            "LEFT JOIN dikin_snapshot k ON k.study = s.id AND k.version = ? "
            "LEFT JOIN dikin_row r ON r.study = s.id AND r.n > ? AND r.n <= ? "
            f"WHERE s.id = ? ORDER BY r.n LIMIT {PAGE}",
            (self.version, after, 2**62 if upto is None else upto, self.study),
        )
        head, epoch, base, saved = found[0][:4] if found else (*self.head(), None, None)
        if set(map(type, (head, epoch, base, saved))) != {int}:
            self._no_beginning()
        there = found and found[0][4] is not None
        rows = [Row(*each[4:]) for each in found] if there else []
        return Page(head, epoch, base, saved, rows)

    def rows(
        self, after: int, seal: str, upto: int | None = None, first: Page | None = None
    ) -> Iterator[list[Row]]:
        """Yield the rows after a sealed one, those of one seal at a time, up to any `Damage`."""
        group, page = list[Row](), first or self.page(after, upto)
        while page.rows:
            for row in page.rows:
                if group and row.seal != group[0].seal:
                    yield self._checked(group, after, seal)
                    after, seal, group = group[-1].n, group[-1].seal, []
                group.append(row)
            if len(page.rows) < PAGE:
                break
            page = self.page(page.rows[-1].n, upto)
        if group:
            yield self._checked(group, after, seal)
            after = group[-1].n
        if upto is None and after < page.head:
            raise self.damage(f"rows after {after} are missing", after)

    def _checked(self, group: list[Row], after: int, seal: str) -> list[Row]:
        first = group[0].n
        numbered = [row.n for row in group] == list(range(first, first + len(group)))
        with suppress(TypeError, ValueError):  # a damaged file may have anything
            if numbered and group[0].seal == seal_after(seal, first, digest_of(group)):
                return group
        raise self.damage(f"row {first} is not the one that was written, or one before", after)

    def row(self, **part: int | str | None) -> Row | None:
        """Return the row of a number `n`, that closed a trial `ask`, or of a `key`, unless None."""
        ((name, value),) = part.items()
        return None if value is None else next(iter(self.some(f"{name} = ?", value)), None)

    def some(self, where: str, *values: int | str) -> list[Row]:
        """Return some rows, unchecked."""
        sql = f"SELECT {COLUMNS} FROM dikin_row WHERE study = ? AND {where} ORDER BY n"
        return [Row(*each) for each in self.database.run(sql, (self.study, *values))]

    def beginning(self) -> Snapshot:
        """Return the state with which the history begins."""
        return self.snapshot(BEGINNING) or self._no_beginning()

    def _no_beginning(self) -> NoReturn:
        self.head()  # it may be gone
        raise StateError(
            f"study {self.name!r} in {self.database.name} was altered or damaged: its beginning is "
            "missing or not the one that was written. Restore a copy"
        )

    def snapshot(self, version: int | None = None) -> Snapshot | None:
        """Return the newest state of a version, by default of this one, or None."""
        sql = "SELECT n, seal, state, digest FROM dikin_snapshot WHERE study = ? AND version = ?"
        key = self.study, self.version if version is None else version
        for n, seal, state, digest in self.database.run(sql, key):
            if isinstance(state, str) and digest == seal_after(seal, n, state):
                return Snapshot(n, seal, state)
        return None

    def save_snapshot(self, state: Snapshot, version: int | None = None) -> None:
        """Write the state after a row, unless there is a newer one."""
        digest = seal_after(state.seal, state.n, state.text)
        self.database.run(
            "INSERT INTO dikin_snapshot (study, version, n, seal, state, digest) "
            "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (study, version) DO UPDATE SET "
            "n = excluded.n, seal = excluded.seal, state = excluded.state, "
            "digest = excluded.digest WHERE excluded.n > dikin_snapshot.n",
            (self.study, self.version if version is None else version, *state, digest),
        )

    def trim(self, state: Snapshot, base: int) -> int:
        """Begin with a later state than that of row `base`. Return how many rows were removed."""
        with self.database.transaction():
            if self.beginning().n != base:
                raise StateError(f"study {self.name!r} was trimmed by another client meanwhile")
            self.save_snapshot(state, BEGINNING)
            return self._remove("n <= ?", state.n)

    def rewind(self) -> int:
        """Remove the rows from the first damaged one on. Return how many. No number is reused."""
        n, seal, _ = self.beginning()
        try:
            for group in self.rows(n, seal):
                n, seal = group[-1].n, group[-1].seal
        except Damage:
            with self.database.transaction():
                self.lock()
                head, epoch = self.head()
                count = self._remove("n > ?", n)
                sql = f"DELETE FROM dikin_snapshot WHERE study = ? AND version <> {BEGINNING}"
                self.database.run(sql, (self.study,))
                sql = "UPDATE dikin_study SET head = ?, seal = ? WHERE id = ?"
                self.database.run(sql, (n, seal, self.study))
                skip = Row("skip", json.dumps({"removed": count}))
                self.database.append(self.study, [skip], epoch, jump=max(0, head - n))
            return count
        return 0

    def _remove(self, where: str, n: int) -> int:
        sql = f"DELETE FROM dikin_row WHERE study = ? AND {where} RETURNING 1"
        return len(self.database.run(sql, (self.study, n)))


def has_tables(database: Database) -> bool:
    """Return whether studies were ever stored here. Those of an earlier version are converted."""
    if not database.has_table("dikin_version"):
        return False
    versions = [row[0] for row in database.run("SELECT version FROM dikin_version")]
    if versions == [2]:
        from dikin.studies.convert import convert  # only where there are old studies

        convert(database)
        return True
    found = versions[0] if len(versions) == 1 else versions
    serialization.refuse_version(database.name, found, VERSION)
    return True


def create_tables(database: Database) -> None:
    """Create the tables, in a transaction."""
    clustered = " WITHOUT ROWID" if database.path is not None else ""
    for statement in TABLES.format(serial=database.serial, clustered=clustered).split(";"):
        database.run(statement)
    database.run("DELETE FROM dikin_version")
    database.run("INSERT INTO dikin_version (version) VALUES (?)", (VERSION,))


def names(database: Database) -> list[str]:
    if not has_tables(database):
        return []
    rows = database.run("SELECT name FROM dikin_study ORDER BY name")
    return [row[0] for row in rows if isinstance(row[0], str)]  # a damaged file may have anything
