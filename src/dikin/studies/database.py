"""A database of studies: one connection to SQLite or PostgreSQL, one family of errors.

The statements are plain SQL with `?` for both.
"""

from __future__ import annotations

import json
import os
import random
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple, Self, TypeVar

from dikin.errors import BusyError, ParameterError, StateError, StoreError, shown
from dikin.studies import guard

Values = Sequence[Any]
T = TypeVar("T")

PATIENCE = 0.8
"""The default patience in seconds: a call ends within one second, including its own work."""
JITTER = 0.0005, 0.02
"""Seconds between two attempts while another client writes or the database is unavailable, drawn at
random: whoever has waited long has no worse chance, which SQLite's own waits do not give."""
CHARACTERS = 32  # length of a seal


class ReplacedFileError(StoreError):
    """Another file has taken the place of the database. A study opened now continues with it."""


class LostConnection(Exception):  # noqa: N818 - never leaves this package
    """The connection broke. Uncommitted work is lost, and a commit in progress may be too."""


class Taken(Exception):  # noqa: N818 - never leaves this package
    """A row of that key, or another answer to that trial, is in the database already."""


class Again(Exception):  # noqa: N818 - never leaves this package
    """Somebody else writes at this instant."""


class Row(NamedTuple):
    """A row of a study. Its number and seal are unknown before it is written."""

    kind: str
    body: str
    ask: int | None = None
    """The trial that it closes."""
    key: str | None = None
    who: str = ""
    at: int = 0
    """Microseconds since 1970."""
    n: int = -1
    seal: str = ""


CONTROL = ("parameters", "pause", "resume", "skip")
"""Kinds of rows that raise the epoch: an ask or answer from before them must not follow."""
Heads = tuple[int, int]
ANY: Heads = (-(2**62), 2**62)  # bounds of the number of the last row


class Database(ABC):
    """One connection, opened when it is first needed and again after it was lost."""

    marker = "?"  # the driver's placeholder for a value
    serial: str  # the type of a column that numbers the rows of a table
    exclusive = ""  # the statement that keeps out other transactions, where a file does not
    path: Path | None = None  # the file, if it is one

    def __init__(self, url: str, name: str, patience: float) -> None:
        self.url, self.name, self.patience = url, name, patience
        self.guard = guard.Guard()
        self.connection: Any = None
        self.inside = False  # True between the begin and the end of a transaction
        self.process = os.getpid()
        self.on_fork: Callable[[], None] = lambda: None  # before a fork between two calls
        guard.register(self)

    def another(self) -> Self:
        return type(self)(self.url, self.patience)  # type: ignore[call-arg]

    @abstractmethod
    def _opened(self) -> Any:
        """Return a new connection of the driver."""

    @abstractmethod
    def _explained(self, error: Exception) -> Exception:
        """Return an error of the driver as one of ours."""

    @property
    @abstractmethod
    def _errors(self) -> tuple[type[Exception], ...]:
        """The errors of the driver."""

    def close(self) -> None:
        """Close the connection. An open transaction is rolled back."""
        connection, self.connection = self.connection, None
        if connection is not None:
            with suppress(*self._errors):
                connection.close()

    def before_fork(self, idle: bool) -> None:
        """Close the connection, which no process may share."""
        if idle:
            self.on_fork()
        self.close()

    def refuse_child(self) -> None:
        """Refuse a process that was forked from the one that opened it."""
        if os.getpid() != self.process:
            raise StateError("a study does not go through a fork: open it again in the new process")

    def connect(self) -> None:
        self.refuse_child()
        if self.inside:
            raise LostConnection("the connection was closed in the middle of a transaction")
        try:
            self.connection = self._opened()
        except self._errors as error:
            failure = self._explained(error)
            self.close()
            raise failure from error

    def run(self, sql: str, values: Values = ()) -> list[tuple[Any, ...]]:
        """Run a statement and return its rows. Outside a transaction it is repeated if it fails."""
        if self.inside:
            return self._run(sql, values)
        return self.insist(lambda: self._run(sql, values))

    def insist(self, act: Callable[[], T], undo: Callable[[Exception], None] | None = None) -> T:
        """Repeat an act while other clients or the connection prevent it, up to the patience."""
        deadline = time.monotonic() + self.patience
        while True:
            try:
                return act()
            except (Again, LostConnection) as reason:
                if undo is not None:
                    undo(reason)
                if time.monotonic() > deadline:
                    raise self.failure(reason) from reason
                time.sleep(random.uniform(*JITTER))

    def failure(self, reason: Exception) -> StoreError:
        if isinstance(reason, Again):
            return BusyError(
                f"other clients write to {self.name} ({reason}); this call has waited "
                f"{self.patience:g} seconds. Nothing was changed; try again, or give Study a "
                "longer patience"
            )
        return StoreError(
            f"{self.name} is unavailable: {reason}. Repeat the call later: an answer counts once, "
            "and so does an ask with a key"
        )

    def _run(self, sql: str, values: Values = ()) -> list[tuple[Any, ...]]:
        if self.connection is None:
            self.connect()
        try:
            # psycopg reads a % in a statement without values as it stands
            given = (values,) if values else ()
            cursor = self.connection.execute(sql.replace("?", self.marker), *given)
            return cursor.fetchall() if cursor.description else []
        except self._errors as error:
            raise self._explained(error) from error

    @abstractmethod
    def _begin(self) -> None:
        """Begin a transaction with the exclusive right to write; `Again` if another has it."""

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write some statements as one, durable at the end. After an error nothing is written."""
        try:
            self.begin()
            if self.exclusive:
                self._run(self.exclusive)
            yield
            self.commit()
        except (Again, LostConnection) as reason:
            raise self.failure(reason) from reason
        finally:
            if self.inside:
                self.rollback()

    def begin(self) -> None:
        if self.inside:
            self.rollback()  # of a call that was interrupted before it could
        self.insist(self._begin)

    def commit(self) -> None:
        """End a transaction, which is durable when this returns."""
        if not self.inside:
            raise LostConnection("the transaction has ended early")
        self._run("COMMIT")
        self.inside = False

    def rollback(self) -> None:
        """End a transaction, if there is one, as if it had not begun."""
        if self.inside:
            self.inside = False
            if self.connection is not None:
                try:
                    self.connection.execute("ROLLBACK")
                except self._errors:
                    self.close()

    @abstractmethod
    def append(
        self, study: int, rows: Sequence[Row], epoch: int, heads: Heads = ANY, jump: int = 0
    ) -> tuple[int, str] | None:
        """Append rows with one seal. Return the number of the first row, and the seal.

        None if the epoch has changed, the last row is not within bounds, or the study is gone.
        `jump` numbers are left out before them. A key or trial in use raises `Taken`.
        """

    @abstractmethod
    def has_table(self, name: str) -> bool:
        """Return whether a table of this name exists."""


# A seal is a digest of the seal before it, of the number of the first row, and of the rows, which
# have one seal if they were appended together. So an altered, missing, duplicate or swapped row is
# noticed. The client makes the digest of the rows, the statement that appends them the seal.


def digest_of(rows: Sequence[Row]) -> str:
    """Return the digest of the content of rows, without their numbers and seals."""
    return sha256(json.dumps([*map(itemgetter(slice(6)), rows)]).encode()).hexdigest()


def seal_after(before: str, first: int, digest: str) -> str:
    """Return the seal of rows from number `first` on, after rows with the seal `before`."""
    return sha256(f"{before} {first} {digest}".encode()).hexdigest()[:CHARACTERS]


def open_database(url: str | os.PathLike[str], patience: float) -> Database:
    """Return the database at a URL, or the SQLite file at a path."""
    from dikin.studies.postgres import Postgres
    from dikin.studies.sqlite import Sqlite

    text = os.fspath(url) if isinstance(url, os.PathLike) else url
    if not isinstance(text, str) or "\0" in text or not text:
        raise ParameterError(
            "a study is stored in a file, given by its path, or in a database, given by its URL; "
            f"got {shown(url)}"
        )
    scheme, separator, rest = text.partition("://")
    if not separator:
        return Sqlite(text, patience)
    if scheme == "sqlite" and rest.startswith("/"):
        return Sqlite(rest.removeprefix("/"), patience)
    if scheme in ("postgresql", "postgres"):
        return Postgres(f"postgresql://{rest}", patience)
    raise ParameterError(
        "studies are stored in SQLite (a path, or sqlite:///file.db) or PostgreSQL "
        f"(postgresql://user@host/database), not in {shown(scheme[:20])}"
    )
