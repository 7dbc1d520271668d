"""The rows of a study in a database: what was asked and answered, each row a fact, sealed.

    dikin_study     name, head (the number of the last row), its seal, epoch, base
    dikin_row       number, kind, the trial that it closes, key, client, time, body, seal
    dikin_snapshot  what a version of the library made of the rows: a cache

Rows are numbered from 0, and the number of an ask is the trial's id. Row `base` is the beginning:
the tuner, and what was trimmed. The database refuses a second answer to a trial and a second row of
a key. A control row, after which an ask from before it must not follow, raises the epoch.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from dikin.errors import StateError, UnknownStudyError
from dikin.serialization import refuse_version
from dikin.studies.database import Database, Head, Record, digest_of, seal_after

VERSION = 3
"""The version of the tables."""
PAGE = 2000
"""Rows fetched at a time."""
COLUMNS = "kind, body, ask, key, who, at, n, seal"

TABLES = """
CREATE TABLE IF NOT EXISTS dikin_version (version INTEGER NOT NULL PRIMARY KEY);
CREATE TABLE dikin_study (
    id {serial}, name TEXT NOT NULL UNIQUE, head BIGINT NOT NULL, seal TEXT NOT NULL,
    epoch BIGINT NOT NULL, base BIGINT NOT NULL
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


class Row(NamedTuple):
    """A row as it is stored; the first six parts are those of a `Record`."""

    kind: str
    body: str
    ask: int | None
    key: str | None
    who: str
    at: int
    n: int
    seal: str


class Page(NamedTuple):
    """Some rows, and what is said of the study at the same instant."""

    head: int
    """The number of the last row."""
    epoch: int
    base: int
    rows: list[Row]


class Damage(StateError):  # noqa: N818 - a StateError to everybody else
    """Rows were altered, or are missing."""

    def __init__(self, what: str, n: int) -> None:
        super().__init__(what)
        self.n = n
        """The last row that is intact."""


class Log:
    """The rows of one study."""

    def __init__(self, database: Database, name: str) -> None:
        self.database, self.name = database, name
        self.study = 0

    def damage(self, what: str, n: int) -> Damage:
        """Return the error for rows that are not what was written after row `n`."""
        return Damage(
            f"study {self.name!r} in {self.database.name} was altered or damaged: {what}. Rows up "
            f"to {n} are intact and can be read. Restore a copy, or continue from row {n}: "
            f"dikin study rewind {self.name}",
            n,
        )

    # --- the study -----------------------------------------------------------------------------

    def find(self) -> bool:
        """Look up the study by its name; return whether it exists."""
        rows = []
        if has_tables(self.database):
            sql = "SELECT id FROM dikin_study WHERE name = ?"
            rows = self.database.run(sql, (self.name,))
        self.study = rows[0][0] if rows else 0
        return bool(rows)

    def create(self, content: str, who: str, at: int, n: int = -1) -> bool:
        """Write a new study in a transaction; False if another client was first."""
        seal = seal_after("", n, content)
        made = self.database.run(
            "INSERT INTO dikin_study (name, head, seal, epoch, base) VALUES (?, ?, ?, 0, ?) "
            "ON CONFLICT (name) DO NOTHING RETURNING id",
            (self.name, n, seal, n),
        )
        if made:
            self.study = made[0][0]
            self._insert(beginning(content, seal, who, at), n, seal)
        return bool(made)

    def _insert(self, row: Record, n: int, seal: str) -> None:
        self.database.change(
            f"INSERT INTO dikin_row ({COLUMNS}, study) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (*row, n, seal, self.study),
        )

    def lock(self) -> None:
        """Keep other writers out until the end of the transaction."""
        if self.database.path is None:  # SQLite has one writer at a time
            self.database.run("SELECT 1 FROM dikin_study WHERE id = ? FOR UPDATE", (self.study,))

    def delete(self) -> None:
        """Remove the study with its rows, in a transaction."""
        for table, column in (("row", "study"), ("snapshot", "study"), ("study", "id")):
            self.database.run(f"DELETE FROM dikin_{table} WHERE {column} = ?", (self.study,))

    def head(self) -> tuple[int, int, int]:
        """Return the number of the last row, the epoch, and the base."""
        sql = "SELECT head, epoch, base FROM dikin_study WHERE id = ?"
        rows = self.database.run(sql, (self.study,))
        if not rows:
            raise self._gone()
        return rows[0][0], rows[0][1], rows[0][2]

    def _gone(self) -> UnknownStudyError:
        return UnknownStudyError(
            f"study {self.name!r} in {self.database.name} was deleted while it was open"
        )

    # --- rows ----------------------------------------------------------------------------------

    def append(
        self, rows: Sequence[Record], seen: Head, *, control: bool = False, jump: int = 0
    ) -> tuple[int, str] | None:
        """Append rows after whatever is there; see `Database.append`."""
        return self.database.append(self.study, rows, seen, control=control, jump=jump)

    def page(self, after: int, upto: int | None = None) -> Page:
        """Return up to 2,000 rows after one."""
        bound = "" if upto is None else f"AND r.n <= {int(upto)} "
        columns = ", ".join(f"r.{name}" for name in COLUMNS.split(", "))
        found = self.database.run(
            f"SELECT s.head, s.epoch, s.base, {columns} FROM dikin_study s LEFT JOIN dikin_row r "
            f"ON r.study = s.id AND r.n > ? {bound}WHERE s.id = ? ORDER BY r.n LIMIT {PAGE}",
            (after, self.study),
        )
        if not found:
            raise self._gone()
        rows = [Row(*each[3:]) for each in found if each[3] is not None]
        return Page(found[0][0], found[0][1], found[0][2], rows)

    def rows(
        self, after: int, seal: str, upto: int | None = None, first: Page | None = None
    ) -> Iterator[list[Row]]:
        """Yield the rows after a sealed one, checked, those of one seal at a time.

        The first page may have been read already.

        Raises
        ------
        StateError
            If rows were altered or are missing, after all that are intact were yielded.
        """
        group: list[Row] = []
        page = first or self.page(after, upto)
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
        try:
            intact = numbered and group[0].seal == seal_after(seal, first, digest_of(group))
        except (TypeError, ValueError):  # a damaged file may have anything
            intact = False
        if not intact:
            raise self.damage(f"row {first} is not the one that was written, or one before", after)
        return group

    def row(self, n: int) -> Row | None:
        """Return a row."""
        return self._one("n = ?", n)

    def closing(self, ask: int) -> Row | None:
        """Return the row that closed a trial."""
        return self._one("ask = ?", ask)

    def of_key(self, key: str) -> Row | None:
        """Return the row of a key."""
        return self._one("key = ?", key)

    def _one(self, where: str, value: int | str) -> Row | None:
        sql = f"SELECT {COLUMNS} FROM dikin_row WHERE study = ? AND {where}"
        rows = self.database.run(sql, (self.study, value))
        return Row(*rows[0]) if rows else None

    def last_time(self) -> int | None:
        """Return the time of the newest answer, in microseconds since 1970."""
        rows = self.database.run(
            "SELECT at FROM dikin_row WHERE study = ? AND kind = 'tell' ORDER BY n DESC LIMIT 1",
            (self.study,),
        )
        return rows[0][0] if rows else None

    def beginning(self) -> Row:
        """Return the row with which the history begins."""
        base = self.head()[2]
        row = self.row(base)
        try:
            kept = json.loads("{}" if row is None else row.body)
            intact = kept["digest"] == _digest(row.seal if row else "", kept["content"])
        except (KeyError, TypeError, ValueError):  # a damaged file may have anything
            intact = False
        if row is None or not intact:
            raise StateError(
                f"study {self.name!r} in {self.database.name} was altered or damaged: its "
                "beginning is missing or not the one that was written. Restore a copy"
            )
        return row

    # --- care ----------------------------------------------------------------------------------

    def trim(self, content: str, row: Row, base: int) -> int:
        """Put a beginning in the place of a row and remove those before it; return how many."""
        with self.database.transaction():
            if self.head()[2] != base:
                raise StateError(f"study {self.name!r} was trimmed by another client meanwhile")
            count = self._remove("n <= ?", row.n)
            self._insert(beginning(content, row.seal, row.who, row.at), row.n, row.seal)
            self.database.change(
                "UPDATE dikin_study SET base = ? WHERE id = ?", (row.n, self.study)
            )
        return count - 1

    def rewind(self) -> int:
        """Remove the rows from the first damaged one on; return how many. No number is reused."""
        row = self.beginning()
        n, seal = row.n, row.seal
        try:
            for group in self.rows(n, seal):
                n, seal = group[-1].n, group[-1].seal
        except Damage:
            with self.database.transaction():
                self.lock()
                head, epoch, _ = self.head()
                count = self._remove("n > ?", n)
                self.database.run("DELETE FROM dikin_snapshot WHERE study = ?", (self.study,))
                self.database.change(
                    "UPDATE dikin_study SET head = ?, seal = ? WHERE id = ?", (n, seal, self.study)
                )
                skip = Record("skip", json.dumps({"removed": count}))
                self.append([skip], Head(n, epoch), control=True, jump=max(0, head - n))
            return count
        return 0

    def _remove(self, where: str, n: int) -> int:
        sql = f"DELETE FROM dikin_row WHERE study = ? AND {where} RETURNING 1"
        return len(self.database.run(sql, (self.study, n)))

    # --- snapshots -----------------------------------------------------------------------------

    def snapshot_number(self, version: int) -> int | None:
        """Return the row of the snapshot of a version."""
        sql = "SELECT n FROM dikin_snapshot WHERE study = ? AND version = ?"
        rows = self.database.run(sql, (self.study, version))
        return rows[0][0] if rows else None

    def snapshot(self, version: int) -> tuple[int, str, str] | None:
        """Return number and seal of a row and the state after it; None if there is none."""
        sql = "SELECT n, seal, state, digest FROM dikin_snapshot WHERE study = ? AND version = ?"
        rows = self.database.run(sql, (self.study, version))
        if not rows or rows[0][3] != _digest(rows[0][1], rows[0][2]):
            return None
        return rows[0][0], rows[0][1], rows[0][2]

    def save_snapshot(self, version: int, n: int, seal: str, state: str) -> None:
        """Write the state after a row, unless there is a newer one."""
        self.database.run(
            "INSERT INTO dikin_snapshot (study, version, n, seal, state, digest) "
            "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (study, version) DO UPDATE SET "
            "n = excluded.n, seal = excluded.seal, state = excluded.state, "
            "digest = excluded.digest WHERE excluded.n > dikin_snapshot.n",
            (self.study, version, n, seal, state, _digest(seal, state)),
        )


def beginning(content: str, seal: str, who: str, at: int) -> Record:
    """Return the row with which a history begins; `seal` is that of the row in its place."""
    body = {"digest": _digest(seal, content), "content": content}
    return Record("begin", json.dumps(body), who=who, at=at)


def _digest(seal: str, content: str) -> str:
    return seal_after(seal, 0, content)


# --- tables --------------------------------------------------------------------------------------


def has_tables(database: Database) -> bool:
    """Return whether studies were ever stored here; those of an earlier version are converted."""
    if not database.has_table("dikin_version"):
        return False
    versions = [row[0] for row in database.run("SELECT version FROM dikin_version")]
    if versions == [2]:
        from dikin.studies.convert import convert  # only where there are old studies

        convert(database)
        return True
    refuse_version(database.name, versions[0] if len(versions) == 1 else versions, VERSION)
    return True


def create_tables(database: Database) -> None:
    """Create the tables, in a transaction."""
    clustered = " WITHOUT ROWID" if database.path is not None else ""
    for statement in TABLES.format(serial=database.serial, clustered=clustered).split(";"):
        database.run(statement)
    database.run("DELETE FROM dikin_version")
    database.run("INSERT INTO dikin_version (version) VALUES (?)", (VERSION,))


def names(database: Database) -> list[str]:
    """Return the studies in a database."""
    if not has_tables(database):
        return []
    rows = database.run("SELECT name FROM dikin_study ORDER BY name")
    return [row[0] for row in rows if isinstance(row[0], str)]  # a damaged file may have anything
