"""The journal of a study: every ask, tell, forget, pause and resume, in order, each sealed.

A row's seal is a digest of the row and of the seal before it, and the study's own row has the last
one. So an altered, missing, duplicate or swapped row is noticed when the journal is read. Rows are
only ever appended; the history is trimmed from its beginning.

A snapshot is the state of the tuner after some row. From the first one, before the first row, the
whole journal can be replayed; a client starts from the newest.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import blake2b
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from dikin.errors import StateError, UnknownStudyError
from dikin.serialization import refuse_version
from dikin.studies.database import Database, Row, Sqlite

if TYPE_CHECKING:
    from sqlalchemy import MetaData, Table

VERSION = 2
"""The version of the tables and of the states in them."""
PAGE = 2000
"""Rows fetched at a time."""
SEAL_BYTES = 16
ROWS_AT_ONCE = 64
"""Rows inserted by one statement."""
RECENT = 100_000
"""Rows whose seals are checked when a study is opened; `Study.verify` checks all."""
HOUR = 3600 * 1_000_000
"""In microseconds."""
KEY_LIVES = 7 * 24 * HOUR
"""The least time for which the key of a request is remembered, in microseconds."""
SWEEP_EVERY = 1000
"""Queries after which old keys are looked for."""
SCHEMA_LOCK = 0
"""The key of the lock that guards the tables themselves; studies count from 1."""


class Event(NamedTuple):
    """A row of the journal."""

    number: int
    kind: str
    query: int
    client: str
    time: int
    body: str
    seal: str


class Snapshot(NamedTuple):
    """The state of the tuner after row `number`."""

    number: int
    seal: str
    state: str


def seal_after(before: str, *parts: object) -> str:
    """The seal of `parts`, which come after the seal `before`."""
    content = "\n".join([before, *map(str, parts)])
    return blake2b(content.encode(), digest_size=SEAL_BYTES).hexdigest()


def row_seal(
    before: str, number: int, kind: str, query: int, client: str, time: int, body: str
) -> str:
    """The seal of a row; none of its parts contains a line break."""
    content = f"{before}\n{number}\n{kind}\n{query}\n{client}\n{time}\n{body}"
    return blake2b(content.encode(), digest_size=SEAL_BYTES).hexdigest()


class Journal:
    """The rows of one study in a database."""

    def __init__(self, database: Database, name: str) -> None:
        self.database, self.name = database, name
        self.study = 0

    def _damaged(self, what: str) -> StateError:
        return StateError(
            f"study {self.name!r} in {self.database.name} was altered or damaged: {what}. "
            "Restore it from a copy; nothing was changed"
        )

    # --- the study -----------------------------------------------------------------------------

    def find(self) -> bool:
        """Look up the study by its name; return whether it exists."""
        if not has_tables(self.database):
            return False
        rows = self.database.run("SELECT id FROM dikin_studies WHERE name = ?", (self.name,))
        self.study = rows[0][0] if rows else 0
        return bool(rows)

    def create(self, state: str) -> bool:
        """Write a new study, in a transaction; False if another client was first."""
        database = self.database
        seal = seal_after("", "study", self.name, state)
        database.run(
            "INSERT INTO dikin_studies (name, head, seal) VALUES (?, 0, ?) "
            "ON CONFLICT (name) DO NOTHING",
            (self.name, seal),
        )
        rows = database.run("SELECT id FROM dikin_studies WHERE name = ?", (self.name,))
        self.study = rows[0][0]
        if database.run("SELECT 1 FROM dikin_snapshots WHERE study = ?", (self.study,)):
            return False
        self.save_snapshot(Snapshot(0, seal, state))
        return True

    def delete(self) -> None:
        """Remove the study and all its rows, in a transaction."""
        tables = [("events", "study"), ("snapshots", "study"), ("studies", "id")]
        if self.has_keys():
            tables.insert(0, ("keys", "study"))
        for table, key in tables:
            self.database.run(f"DELETE FROM dikin_{table} WHERE {key} = ?", (self.study,))

    def head(self) -> tuple[int, str]:
        """Number and seal of the last row."""
        rows = self.database.run(
            "SELECT head, seal, (SELECT max(version) FROM dikin_version) FROM dikin_studies "
            "WHERE id = ?",
            (self.study,),
        )
        if not rows:
            raise UnknownStudyError(f"study {self.name!r} in {self.database.name} was deleted")
        number, seal, version = rows[0]
        if version != VERSION:  # changed by another dikin while this client had the study open
            refuse_version(self.database.name, version, VERSION)
        if not (isinstance(number, int) and isinstance(seal, str)):
            raise self._damaged("it does not say which row is its last")
        return number, seal

    # --- rows ----------------------------------------------------------------------------------

    def append(self, events: list[Event]) -> None:
        """Insert rows."""
        # Not by executemany: that of psycopg does not bear to be interrupted.
        for first in range(0, len(events), ROWS_AT_ONCE):
            some = events[first : first + ROWS_AT_ONCE]
            places = ", ".join([f"({self.study}, ?, ?, ?, ?, ?, ?, ?)"] * len(some))
            self.database.run(
                "INSERT INTO dikin_events (study, number, kind, query, client, time, body, seal) "
                f"VALUES {places}",
                tuple(chain.from_iterable(some)),
            )

    def remove_from(self, number: int) -> None:
        """Remove this row and all after it, with their snapshots, in their own transaction."""
        values = (self.study, number)
        self.database.run("DELETE FROM dikin_events WHERE study = ? AND number >= ?", values)
        self.database.run("DELETE FROM dikin_snapshots WHERE study = ? AND number >= ?", values)

    def move_head(self, number: int, seal: str) -> None:
        """Record which row is the last."""
        self.database.run(
            "UPDATE dikin_studies SET head = ?, seal = ? WHERE id = ?", (number, seal, self.study)
        )

    def events(
        self, number: int, seal: str, head: tuple[int, str] | None = None
    ) -> Iterator[Event]:
        """The rows after the row with this number and seal up to the last, each seal checked.

        `head` is the last row's number and seal, if they are known.
        """
        last, final = head or self.head()
        while number < last:
            for row in self._page(number):
                event = self._checked(row, number, seal)
                if event.number > last:  # appended since
                    break
                number, seal = event.number, event.seal
                yield event
        if (number, seal) != (last, final):
            raise self._damaged(f"row {number} is not the one that the study ends with")

    def _page(self, number: int) -> list[Row]:
        page = self.database.run(
            "SELECT number, kind, query, client, time, body, seal FROM dikin_events "
            f"WHERE study = ? AND number > ? ORDER BY number LIMIT {PAGE}",
            (self.study, number),
        )
        if not page:
            raise self._damaged(f"row {number + 1} is missing")
        return page

    def _checked(self, row: Row, number: int, seal: str) -> Event:
        event = Event(*row)
        if event.number != number + 1:
            raise self._damaged(f"row {number + 1} is missing")
        try:
            wanted = row_seal(seal, *event[:-1])
        except (TypeError, ValueError) as reason:
            raise self._damaged(f"row {event.number} cannot be read ({reason})") from reason
        if event.seal != wanted:
            raise self._damaged(f"the seal of row {event.number} does not match its content")
        return event

    def seal_at(self, number: int) -> str | None:
        """The seal of a row, if it is there."""
        rows = self.database.run(
            "SELECT seal FROM dikin_events WHERE study = ? AND number = ?", (self.study, number)
        )
        return rows[0][0] if rows else None

    def closing_row(self, query: int) -> tuple[str, str] | None:
        """Kind and body of the row that closed a query, if it is still there."""
        rows = self.database.run(
            "SELECT kind, body FROM dikin_events WHERE study = ? AND query = ? AND kind <> 'ask'",
            (self.study, query),
        )
        return (rows[0][0], rows[0][1]) if rows else None

    def first_round(self) -> int | None:
        """The first round whose row is here; None if there is none."""
        tell = self._first_tell_after(self._first_snapshot_number(), self.head()[0])
        return None if tell is None else tell[1]

    def last_tell_time(self) -> int | None:
        """The time of the newest round, in microseconds since 1970; None before the first."""
        rows = self.database.run(
            "SELECT time FROM dikin_events WHERE study = ? AND kind = 'tell' "
            "ORDER BY number DESC LIMIT 1",
            (self.study,),
        )
        return rows[0][0] if rows else None

    # --- keys ----------------------------------------------------------------------------------
    #
    # Beside the journal: which query was asked under which key. A request that is sent again
    # because its answer was lost gets the same query.

    def has_keys(self) -> bool:
        """Whether the table of keys exists: it is created with the first key."""
        return has_table(self.database, "dikin_keys")

    def create_keys(self) -> None:
        """Create the table of keys unless it exists, in a transaction."""
        if not self.has_keys():
            create_table(self.database, _schema().tables["dikin_keys"])

    def noted_under(self, keys: tuple[str, ...]) -> dict[str, int]:
        """What was noted under each of these keys, where there is something."""
        places = ", ".join("?" * len(keys))
        return dict(
            self.database.run(
                f"SELECT name, query FROM dikin_keys WHERE study = ? AND name IN ({places})",
                (self.study, *keys),
            )
        )

    def remember(self, key: str, query: int, time: int) -> None:
        """Note under which key a query was asked; from time to time, drop old keys."""
        self.database.run(
            "INSERT INTO dikin_keys (study, name, query, time) VALUES (?, ?, ?, ?)",
            (self.study, key, query, time),
        )
        if query % SWEEP_EVERY == 0:
            self._drop_old_keys()

    def _drop_old_keys(self) -> None:
        """Drop the keys that are certainly old, even if the clocks of some clients are wrong.

        What passed between two of every thousand queries counts as an hour at most: a clock that
        is ahead makes a key an hour older, not a week. A later query with an earlier time shows
        that the clock of the first was ahead.
        """
        rows = self.database.run(
            "SELECT query, time FROM dikin_keys WHERE study = ? "
            f"AND query = query / {SWEEP_EVERY} * {SWEEP_EVERY} ORDER BY query DESC",
            (self.study,),
        )
        age, later = 0, rows[0][1]
        for query, time in rows:
            age += min(max(0, later - time), HOUR)
            later = min(later, time)
            if age > KEY_LIVES:
                values = (self.study, query)
                self.database.run("DELETE FROM dikin_keys WHERE study = ? AND query <= ?", values)
                return

    def ask_body(self, query: int) -> str | None:
        """The body of the row that asked a query, if it is still there."""
        rows = self.database.run(
            "SELECT body FROM dikin_events WHERE study = ? AND query = ? AND kind = 'ask'",
            (self.study, query),
        )
        return rows[0][0] if rows else None

    def check_mark(self, marked: tuple[int, str] | None) -> None:
        """Refuse a database that has lost committed rows.

        `marked` is the result of `Database.marked` before this read of the database began.
        """
        if marked is None:
            return
        number, seal = marked
        last, _ = self.head()
        if number > last:
            raise self._damaged(
                f"row {number} was committed, and the last one now is row {last}: the end of the "
                f"log (-wal) was damaged, or an older copy was put in its place. Restore a newer "
                "copy; or, to go on with what is there, delete the file that ends in -marks, and "
                f"then run: dikin study skip-ids {self.name}"
            )
        present = self.seal_at(number)
        if present is not None and present != seal:
            raise self._damaged(f"row {number} is not the one that was committed")

    def check_recent(self) -> None:
        """Read the newest rows and check their seals."""
        base, (last, _) = self.first_snapshot(), self.head()
        number, seal = base.number, base.seal
        if last - RECENT > number:
            number, seal = last - RECENT, self.seal_at(last - RECENT) or ""
        newest = self.newest_snapshot()
        for event in self.events(number, seal):
            if event.number == newest.number and event.seal != newest.seal:
                raise self._damaged(f"its snapshot does not belong to row {event.number}")
        if newest.number > self.head()[0]:
            raise self._damaged(f"rows up to {newest.number} are missing")

    # --- snapshots -----------------------------------------------------------------------------

    def save_snapshot(self, taken: Snapshot) -> None:
        """Write a snapshot in place of all but the first, in a transaction.

        Another client may have written one of the same row, which is identical.
        """
        self.database.run(
            "DELETE FROM dikin_snapshots WHERE study = ? AND number > (SELECT min(number) "
            "FROM dikin_snapshots WHERE study = ?)",
            (self.study, self.study),
        )
        self._insert(taken)

    def trim(self, base: Snapshot) -> None:
        """Remove the rows up to a snapshot, which becomes the first; in a transaction."""
        values = (self.study, base.number)
        self.database.run("DELETE FROM dikin_events WHERE study = ? AND number <= ?", values)
        self.database.run("DELETE FROM dikin_snapshots WHERE study = ? AND number <= ?", values)
        self._insert(base)

    def _insert(self, taken: Snapshot) -> None:
        digest = seal_after(taken.seal, self.name, taken.number, taken.state)
        self.database.run(
            "INSERT INTO dikin_snapshots (study, number, seal, state, digest) "
            "VALUES (?, ?, ?, ?, ?) ON CONFLICT (study, number) DO NOTHING",
            (self.study, taken.number, taken.seal, taken.state, digest),
        )

    def first_snapshot(self) -> Snapshot:
        """The snapshot at which the history begins."""
        return self._snapshot("ASC")

    def newest_snapshot(self) -> Snapshot:
        """The snapshot from which a client starts."""
        return self._snapshot("DESC")

    def newest_snapshot_number(self) -> int:
        """The number of the row before the newest snapshot."""
        return self._snapshot_number("max")

    def _first_snapshot_number(self) -> int:
        return self._snapshot_number("min")

    def _snapshot_number(self, which: str) -> int:
        rows = self.database.run(
            f"SELECT {which}(number) FROM dikin_snapshots WHERE study = ?", (self.study,)
        )
        return rows[0][0] or 0

    def _snapshot(self, order: str) -> Snapshot:
        return self._some_snapshots(f"ORDER BY number {order} LIMIT 1")[0]

    def snapshots(self) -> list[Snapshot]:
        """All snapshots, in the order of the journal."""
        return self._some_snapshots("ORDER BY number")

    def _some_snapshots(self, which: str) -> list[Snapshot]:
        rows = self.database.run(
            f"SELECT number, seal, state, digest FROM dikin_snapshots WHERE study = ? {which}",
            (self.study,),
        )
        if not rows:
            self.head()  # deleted?
            raise self._damaged("it has no snapshot")
        return [self._checked_snapshot(*row) for row in rows]

    def _checked_snapshot(self, number: int, seal: str, state: str, digest: str) -> Snapshot:
        try:
            matches = digest == seal_after(seal, self.name, number, state)
        except (TypeError, ValueError):
            matches = False
        if not matches:
            raise self._damaged("the digest of its snapshot does not match its content")
        return Snapshot(number, seal, state)

    def last_row_before_round(self, round: int) -> int:
        """The number of the last row that told a round before this one.

        If there is none, that of the first snapshot.
        """
        rows = self.database.run(
            "SELECT max(number) FROM dikin_events WHERE study = ? AND kind = 'tell' AND number < ?",
            (self.study, self._row_of_round(round)),
        )
        return rows[0][0] or self.first_snapshot().number

    def row_before_round(self, round: int) -> tuple[int, str]:
        """Number and seal of the row before the one that told a round."""
        number = self._row_of_round(round) - 1
        seal = self.seal_at(number)
        if seal is not None:
            return number, seal
        base = self.first_snapshot()
        return base.number, base.seal

    def _row_of_round(self, round: int) -> int:
        """The number of the row that told this round, or one more than the last; by bisection."""
        low, high = self._first_snapshot_number(), self.head()[0]
        if round <= 1:
            return low + 1
        while low < high:  # the row is among those after low, up to the one after high
            middle = (low + high) // 2
            tell = self._first_tell_after(middle, high)
            if tell is None or tell[1] >= round:
                high = middle
            else:
                low = tell[0]
        return low + 1

    def _first_tell_after(self, number: int, last: int) -> tuple[int, int] | None:
        """Number and round of the first row that tells, after one row and up to another."""
        rows = self.database.run(
            "SELECT number, body FROM dikin_events WHERE study = ? AND kind = 'tell' "
            "AND number > ? AND number <= ? ORDER BY number LIMIT 1",
            (self.study, number, last),
        )
        return (rows[0][0], json.loads(rows[0][1])["round"]) if rows else None


# --- tables --------------------------------------------------------------------------------------


def has_tables(database: Database) -> bool:
    """Whether studies were ever stored here; an error if by another version of dikin."""
    if not has_table(database, "dikin_version"):
        return False
    versions = [row[0] for row in database.run("SELECT version FROM dikin_version")]
    refuse_version(database.name, versions[0] if len(versions) == 1 else versions, VERSION)
    return True


def has_table(database: Database, name: str) -> bool:
    """Whether a table of this name exists."""
    if isinstance(database, Sqlite):
        if not database.path.exists():
            return False
        sql = "SELECT 1 FROM sqlite_master WHERE name = ?"
    else:
        # Not to_regclass, which may cache that there was none before this client's turn.
        sql = (
            "SELECT 1 FROM pg_catalog.pg_tables WHERE tablename = ? "
            "AND schemaname = ANY (current_schemas(false))"
        )
    return bool(database.run(sql, (name,)))


def _schema() -> MetaData:
    """The tables; SQLAlchemy is imported only when needed, as that takes a tenth of a second."""
    from sqlalchemy import (
        BigInteger,
        Column,
        ForeignKey,
        Index,
        Integer,
        MetaData,
        String,
        Table,
        Text,
        UniqueConstraint,
        text,
    )

    metadata = MetaData()
    Table("dikin_version", metadata, Column("version", Integer, primary_key=True))
    Table(
        "dikin_studies",
        metadata,
        Column("id", Integer, primary_key=True),
        Column("name", String(200), nullable=False),
        Column("head", BigInteger, nullable=False),  # the last row's number
        Column("seal", String(32), nullable=False),  # and its seal
        UniqueConstraint("name"),
        sqlite_autoincrement=True,
    )
    events = Table(
        "dikin_events",
        metadata,
        Column("study", Integer, ForeignKey("dikin_studies.id"), primary_key=True),
        Column("number", BigInteger, primary_key=True),
        Column("kind", String(8), nullable=False),
        Column("query", BigInteger, nullable=False),
        Column("client", String(200), nullable=False),
        Column("time", BigInteger, nullable=False),  # microseconds since 1970
        Column("body", Text, nullable=False),
        Column("seal", String(32), nullable=False),
        sqlite_with_rowid=False,
    )
    # The database itself refuses to count a query twice, and finds its answer by an index. A row
    # without a query (pause, resume) has its own number below 0 there.
    Index(
        "dikin_closed_once",
        events.c.study,
        events.c.query,
        unique=True,
        sqlite_where=text("kind <> 'ask'"),
        postgresql_where=text("kind <> 'ask'"),
    )
    Table(
        "dikin_snapshots",
        metadata,
        Column("study", Integer, ForeignKey("dikin_studies.id"), primary_key=True),
        Column("number", BigInteger, primary_key=True),
        Column("seal", String(32), nullable=False),  # of the row before it
        Column("state", Text, nullable=False),
        Column("digest", String(32), nullable=False),
    )
    Table(
        "dikin_keys",
        metadata,
        Column("study", Integer, ForeignKey("dikin_studies.id"), primary_key=True),
        Column("name", String(200), primary_key=True),
        Column("query", BigInteger, nullable=False),
        Column("time", BigInteger, nullable=False),
    )
    return metadata


def create_tables(database: Database) -> None:
    """Create missing tables, in a transaction."""
    if has_tables(database):
        return
    for table in _schema().sorted_tables:
        create_table(database, table)
    database.run("INSERT INTO dikin_version (version) VALUES (?)", (VERSION,))


def create_table(database: Database, table: Table) -> None:
    """Create a table and its indices, in a transaction."""
    from sqlalchemy.schema import CreateIndex, CreateTable

    dialect = database.dialect
    database.run(str(CreateTable(table).compile(dialect=dialect)))
    for index in table.indexes:
        database.run(str(CreateIndex(index).compile(dialect=dialect)))


def names(database: Database) -> list[str]:
    """The studies in a database."""
    if not has_tables(database):
        return []
    rows = database.run("SELECT name FROM dikin_studies ORDER BY name")
    return [
        row[0] for row in rows if isinstance(row[0], str)
    ]  # a damaged file may contain anything
