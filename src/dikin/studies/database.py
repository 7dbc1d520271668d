"""The database of studies: one connection, SQLite or PostgreSQL, one family of errors.

SQLAlchemy reads the URL, finds the driver and writes the tables. The connection is the driver's
own, and the statements of every event are plain SQL, written once with `?` for both: an event costs
one insert, one update and one commit, so the overhead of a layer would show.

Transactions are begun and ended by hand. A write begins by taking its turn: on SQLite in a queue
before the file (`fair_lock`) and then the write lock, on PostgreSQL an advisory lock, which the
server grants in the order of requests. Both end with the process or connection that holds them.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import quote

from dikin.errors import BusyError, NotAFileError, ParameterError, StateError, StoreError, shown
from dikin.files import Folder
from dikin.studies import forks
from dikin.studies.fair_lock import FairLock, FileBeside, open_beside
from dikin.studies.postgres_connection import connection_class

if TYPE_CHECKING:
    from sqlalchemy.engine import URL

Row = tuple[Any, ...]

RETRY_PAUSE = 0.02
"""Seconds between two attempts to reach a database that is unavailable or being created."""

MARK_BYTES = 70
"""Length of a record in the file of marks: a number, a seal and a digest of both."""

OF_SQLITE = ("-wal", "-shm", "-journal")
"""Suffixes of the files that SQLite creates beside a database."""
SQLITE_FILES = ("", "-wal", "-shm")
"""Suffixes of a database, of its log, and of the index of the log."""

REPLY_TAKES = 0.5
"""Seconds, besides the patience, that a server may take for a reply: it has waited for a turn as
long as this client is patient, and has to say so."""

CHECKPOINT_PAGES = 200
"""Pages of SQLite's log (800 KB) after which they are copied into the file and the log is reused
from its beginning: that is faster than a growing log."""


class ReplacedFileError(StoreError):
    """Another file has taken the place of the database; a study opened now goes on with it."""


class LostConnection(Exception):  # noqa: N818 - never leaves this package
    """The connection broke; uncommitted work is lost, and a commit in progress may be too."""


def open_database(url: str | os.PathLike[str], patience: float) -> Database:
    """The database at a URL, or the SQLite file at a path."""
    from sqlalchemy.engine import URL, make_url  # takes 0.1 s: imported for studies only
    from sqlalchemy.exc import ArgumentError

    text = _url_text(url)
    if "://" not in text:
        return Sqlite(URL.create("sqlite", database=text), patience)
    try:
        address = make_url(text)
        backend = address.get_backend_name()
    except (ArgumentError, ValueError):
        # Neither the text nor the reason is shown: a password may be anywhere in them.
        raise ParameterError(
            f"what begins with {text.partition('://')[0][:20]!r} is not the URL of a database; "
            "expected one such as postgresql://user:password@host:5432/database, with special "
            "characters of the password written as %40 and the like"
        ) from None
    if backend == "sqlite":
        return Sqlite(address, patience)
    if backend == "postgresql":
        if address.drivername not in ("postgresql", "postgresql+psycopg"):
            raise ParameterError(
                f"studies use the driver psycopg, not that of {address.drivername!r}: write "
                "postgresql://..."
            )
        return Postgres(address.set(drivername="postgresql+psycopg"), patience)
    raise ParameterError(
        f"studies are stored in SQLite (a path, or sqlite:///file.db) or PostgreSQL "
        f"(postgresql://user@host/database), not in {backend!r}"
    )


def _url_text(url: Any) -> str:
    """A URL or path as a string; anything else is refused."""
    text = os.fspath(url) if isinstance(url, os.PathLike) else url
    if not isinstance(text, str):
        raise ParameterError(
            "a study is stored in a file, given by its path, or in a database, given by its URL; "
            f"got {shown(url)}"
        )
    if "\0" in text or not text:
        raise ParameterError(
            f"a path or URL must not be empty or contain a NUL character, got {shown(text)}"
        )
    return text


SECRET = "password"
"""Parts of the names of URL options whose values are secret."""


def _secrets(url: URL) -> list[str]:
    """The passwords in a URL, wherever they are."""
    values = [url.password or ""]
    for name, value in url.query.items():
        if SECRET in name.lower():
            values += [value] if isinstance(value, str) else list(value)
    secrets = [str(value) for value in values if value]
    return sorted({*secrets, *(quote(value, safe="") for value in secrets)}, key=len, reverse=True)


class Database(ABC):
    """One connection, opened when it is first needed and again after it was lost."""

    begin_read: str

    def __init__(self, url: URL, patience: float) -> None:
        from sqlalchemy import create_engine
        from sqlalchemy.exc import ArgumentError

        self.url, self.patience = url, patience
        self._hidden = _secrets(url)
        self.name = self._without_secrets(url.render_as_string(hide_password=True))
        try:
            self.dialect = create_engine(url).dialect
            place, arguments = self.dialect.create_connect_args(url)
        except ArgumentError as reason:
            text = self._without_secrets(_one_line(reason))
            raise ParameterError(f"{self.name} cannot be opened: {text}") from None
        self._arguments: tuple[Any, dict[str, Any]] = place, dict(arguments)
        # A damaged SQLite file may contain anything, even where an error message quotes it.
        self._errors = (self.dialect.loaded_dbapi.Error, UnicodeDecodeError)
        self._connection: Any = None
        self._cursor: Any = None
        self.lock = threading.RLock()
        """Held by the thread that uses the connection."""
        self._cut_off = False
        """Whether a fork rolled back a transaction that its caller still believes to be open."""

    def check_folder(self) -> None:  # noqa: B027 - a server has no folder
        """Refuse a file that does not exist and cannot be created."""

    def another(self) -> Self:
        """Another connection to the same database."""
        return type(self)(self.url, self.patience)

    def _without_secrets(self, text: str) -> str:
        for secret in self._hidden:
            text = text.replace(secret, "***")
        return text

    @abstractmethod
    def _opened(self) -> Any:
        """A new connection of the driver."""

    @abstractmethod
    def _begin(self, key: int, deadline: float, prepare: Callable[[], None]) -> None:
        """Begin a write of the study `key`; the wait for others ends at the deadline."""

    @abstractmethod
    def _explain(self, error: Exception, waited: float) -> StateError:
        """The driver's error as one of ours; it came after `waited` seconds."""

    # --- connection ----------------------------------------------------------------------------

    def connect(self) -> None:
        """Open the connection unless it is open."""
        if self._cut_off:
            raise LostConnection("the process was forked in the middle of a transaction")
        if self._cursor is None:
            self._connect()

    def _connect(self) -> None:
        began = time.monotonic()
        try:
            self._connection = self._opened()
            self._cursor = self._connection.cursor()
            self._prepare()
        except self._errors as error:
            failure = self._lost_or_explained(error, began)
            self.disconnect()
            raise failure from error

    def _prepare(self) -> None:
        """Configure a new connection; some need no settings."""
        return

    def _lost_or_explained(self, error: Exception, began: float) -> Exception:
        if self._is_disconnect(error):
            self.disconnect()
            return LostConnection(self._without_secrets(_one_line(error)))
        return self._explain(error, time.monotonic() - began)

    def _is_disconnect(self, error: Exception) -> bool:
        return False

    def disconnect(self) -> None:
        """Drop the connection, whatever its state; an open transaction is rolled back."""
        connection, self._connection, self._cursor = self._connection, None, None
        if connection is not None:
            with suppress(*self._errors):
                connection.close()

    def close(self) -> None:
        """Close the connection."""
        self.disconnect()

    def cut_off(self) -> None:
        """Close the connection before a fork; a call in a transaction has to begin it again."""
        self._cut_off = self.in_transaction
        self.close()

    # --- statements ----------------------------------------------------------------------------

    def run(self, sql: str, values: Row = ()) -> list[Row]:
        """Run a statement on the connection, opened if need be; its rows, if it has any."""
        with self.lock:
            if self._cursor is None:
                self.connect()
            began = time.monotonic()
            try:
                self._cursor.execute(sql, values)
                return self._cursor.fetchall() if self._cursor.description else []
            except self._errors as error:
                raise self._lost_or_explained(error, began) from error

    # --- transactions --------------------------------------------------------------------------

    def begin(self, key: int, prepare: Callable[[], None] = lambda: None) -> None:
        """Begin a write when it is this client's turn; `prepare` is called while it waits."""
        with self.lock:
            if self._cut_off or self.in_transaction:
                self.rollback()  # of a call that was interrupted before it could
            if self._cursor is None:
                self.connect()
            began = time.monotonic()
            try:
                self._begin(key, began + self.patience, prepare)
            except self._errors as error:
                raise self._lost_or_explained(error, began) from error
            self._refuse_exchanged()

    @property
    @abstractmethod
    def in_transaction(self) -> bool:
        """Whether a transaction is open."""

    @contextmanager
    def view(self) -> Iterator[None]:
        """Run statements that all see the database as it was at the first of them."""
        with self.lock:
            if self._cut_off or self.in_transaction:
                self.rollback()
            try:
                self.run(self.begin_read)
                self._refuse_exchanged()
                yield
            finally:
                self._roll_back()  # clients that wait for a turn keep waiting

    def commit(self, head: tuple[int, int, str] | None = None) -> None:
        """End a write, which is durable when this returns.

        `head` is the study that was written, with the number and seal of its last row.
        """
        self.run("COMMIT")
        self._refuse_exchanged()
        if head is not None:
            self.mark(*head)
        self._end_turn()

    def rollback(self) -> None:
        """End a write as if it had not begun; if that fails, close the connection."""
        try:
            self._roll_back()
        finally:
            self._end_turn()

    def _roll_back(self) -> None:
        self._cut_off = False
        try:
            if self._cursor is not None:
                self._cursor.execute("ROLLBACK")
        except self._errors:
            self.disconnect()

    def _refuse_exchanged(self) -> None:
        """Refuse to continue if the database's files were deleted or replaced."""
        return

    def _end_turn(self) -> None:
        """Let the next client in, if the database does not do so itself."""
        return

    def mark(self, study: int, number: int, seal: str) -> None:
        """Note the last committed row of a study outside the database."""
        return

    def marked(self, study: int) -> tuple[int, str] | None:
        """The row that `mark` noted, if any."""
        return None


class Sqlite(Database):
    """An SQLite file. `synchronous=FULL` makes commits durable; readers never wait for writers."""

    begin_read = "BEGIN"

    def __init__(self, url: URL, patience: float) -> None:
        if not url.database or url.database == ":memory:" or "mode" in url.query:
            raise ParameterError(
                f"a study needs a file to live in, such as 'studies.db', got {str(url)!r}"
            )
        # Resolved once: always the same file, and one queue for all its names.
        self.path = _resolved(url.database)
        self._lock = FairLock(self.path)
        self._marks: FileBeside | None = None
        self._paths = [f"{self.path}{ending}" for ending in SQLITE_FILES]
        self._files: list[FileIdentity | None] = []
        """The identity of the database file, from the first connection on; and during a connection,
        those of the log and its index."""
        super().__init__(url.set(database=str(self.path)), patience)
        self.name = url.database

    def check_folder(self) -> None:
        folder = self.path.parent
        if self.path.exists():
            return
        if not folder.is_dir():
            raise StoreError(f"{self.path} cannot be created: there is no folder {folder}")
        if not os.access(folder, os.W_OK):
            raise StoreError(f"{self.path} cannot be created: the folder is not writable")

    def connect(self) -> None:
        if self._cursor is None:
            try:
                self._make_file()
            except OSError as error:
                raise StoreError(f"{self.name} cannot be opened: {error}") from error
        super().connect()

    def _make_file(self) -> None:
        """Create the file for its owner alone; SQLite gives its files beside it the same mode."""
        with Folder(self.path.parent) as folder:
            for ending in OF_SQLITE:  # SQLite follows no links either, but does not say why
                folder.refuse_link(f"{self.path.name}{ending}")
            if not self._files:  # later it must be the same file
                with suppress(FileExistsError):
                    folder.make_file(self.path.name)

    def _opened(self) -> Any:
        # Explicit transactions, from whichever thread holds the study at the moment.
        ours = {"isolation_level": None, "check_same_thread": False, "timeout": self.patience}
        (file,), others = self._arguments
        return sqlite3.connect(file, **others | ours)

    def _connect(self) -> None:
        self._refuse_exchanged()  # SQLite would create a new file in place of a deleted one
        forks.refuse_inherited(self.name)
        before = self._files[0] if self._files else _identities(self._paths[:1])[0]
        super()._connect()
        files = _identities(self._paths)
        if before not in (None, files[0]):
            self.disconnect()
            raise LostConnection("the file was replaced while it was being opened")
        self._files = files
        forks.note_open(self)

    def disconnect(self) -> None:
        super().disconnect()
        forks.note_closed(self)
        del self._files[1:]

    def _refuse_exchanged(self) -> None:
        known = self._files
        present = _identities(self._paths[: len(known)])
        if present != known:
            which = next(i for i, (a, b) in enumerate(zip(present, known, strict=True)) if a != b)
            gone = present[which] is None
            kind = StoreError if gone else ReplacedFileError
            raise kind(_exchanged(self._paths[which], gone))

    def _prepare(self) -> None:
        self._cursor.execute("PRAGMA synchronous=FULL")
        self._cursor.execute(f"PRAGMA wal_autocheckpoint={CHECKPOINT_PAGES}")
        deadline = time.monotonic() + self.patience
        while not self._open_log(time.monotonic() > deadline):
            time.sleep(RETRY_PAUSE)

    def _open_log(self, last_try: bool) -> bool:
        """Open the log, creating it the first time; False while another process creates it."""
        try:
            if self._cursor.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
                self._cursor.execute("PRAGMA journal_mode=WAL")  # fails at once instead of waiting
            self._cursor.execute("SELECT 1 FROM sqlite_master").fetchall()
        except self._errors as error:
            if last_try or not _is_held(error):
                raise
            return False
        return True

    def _begin(self, key: int, deadline: float, prepare: Callable[[], None]) -> None:
        try:
            if self._marks is None:
                self._open_marks()
            waited = self._lock.acquire(self.patience, prepare)
        except BusyError:
            raise
        except OSError as error:
            raise StoreError(f"{self.name} cannot be written: {error}") from error
        if not waited:
            self._cursor.execute("BEGIN IMMEDIATE")
            return
        left = max(1, int(1000 * (deadline - time.monotonic())))
        self._cursor.execute(f"PRAGMA busy_timeout={left}")
        try:
            self._cursor.execute("BEGIN IMMEDIATE")
        finally:
            self._cursor.execute(f"PRAGMA busy_timeout={int(1000 * self.patience)}")

    @property
    def in_transaction(self) -> bool:
        return self._connection is not None and bool(self._connection.in_transaction)

    def _end_turn(self) -> None:
        self._lock.release()

    def _explain(self, error: Exception, waited: float) -> StateError:
        text = str(error)
        if _is_held(error):
            return BusyError(
                f"another program holds {self.name} ({text}); this call has waited {waited:.2f} "
                "seconds. Nothing was changed; try again, or give Study a longer patience"
            )
        if "not a database" in text:
            return StateError(f"{self.name} is not an SQLite database; it was left as it is")
        if "malformed" in text or "decode" in text:
            return StateError(f"{self.name} is damaged ({text}); restore it from a copy")
        if "full" in text:
            return StoreError(f"{self.name}: the disk is full ({text}). Nothing was changed")
        if "readonly" in text or "read-only" in text:
            return StoreError(f"{self.name} may not be written to ({text}). Nothing was changed")
        return StoreError(f"{self.name} cannot be used: {text}. Nothing was changed")

    # A log whose last pages are damaged looks to SQLite like a shorter one, and the commits in them
    # are lost silently. The mark is written after each commit, and outlives the process. It needs
    # no fsync, since a mark older than the database does no harm.

    def mark(self, study: int, number: int, seal: str) -> None:
        record = _mark(number, seal or "-")
        if self._marks is not None:
            with suppress(OSError):  # a full disk: only the commit matters
                os.pwrite(self._marks.file, record, study * len(record))

    def _open_marks(self) -> None:
        """Open the file of marks, if there can be one; refuse a link in its place."""
        if hasattr(os, "pwrite"):  # not on Windows
            try:
                self._marks = open_beside(self.path, "-marks")
            except NotAFileError:
                raise
            except OSError:  # a full disk, or another user's file: continue without marks
                return

    def marked(self, study: int) -> tuple[int, str] | None:
        try:
            with Folder(self.path.parent) as folder:
                file = folder.open_file(f"{self.path.name}-marks", os.O_RDONLY)
            with open(file, "rb") as marks:
                marks.seek(study * MARK_BYTES)
                record = marks.read(MARK_BYTES)
            number, seal, _ = record.decode().split()
            # A damaged mark says nothing of the study.
            return (int(number), seal) if record == _mark(int(number), seal) else None
        except NotAFileError as error:
            raise StoreError(f"{self.name} cannot be read: {error}") from error
        except (OSError, ValueError):
            return None

    def close(self) -> None:
        super().close()
        self._lock.close()
        if self._marks is not None:
            self._marks.close()
            self._marks = None


class Postgres(Database):
    """A PostgreSQL server. It may crash and restart: a lost connection is opened again."""

    begin_read = "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY"
    NAMESPACE = int.from_bytes(b"diki", "big")

    def __init__(self, url: URL, patience: float) -> None:
        self._statements: dict[str, str] = {}
        self._class = connection_class(patience + REPLY_TAKES)
        super().__init__(url, patience)

    def _opened(self) -> Any:
        # Text in whatever encoding the role or the environment prefers would arrive as bytes.
        ours = {"autocommit": True, "client_encoding": "UTF8"}
        limits = {"connect_timeout": max(2, round(self.patience)), "tcp_user_timeout": self._limit}
        _, others = self._arguments
        return self._class.connect(**others | limits | ours)

    def _prepare(self) -> None:
        # A pooler in between (PgBouncer) gives each transaction another connection of its own to
        # the server: there, a statement that was prepared earlier may be unknown.
        server = self._cursor.execute("SELECT pg_backend_pid()").fetchone()[0]
        if server != self._connection.info.backend_pid:
            self._connection.prepare_threshold = None

    @property
    def _limit(self) -> int:
        """The patience in milliseconds."""
        return max(1, int(1000 * self.patience))

    def run(self, sql: str, values: Row = ()) -> list[Row]:
        known = self._statements.get(sql)
        if known is None:
            known = self._statements[sql] = sql.replace("?", "%s")
        return super().run(known, values)

    def _begin(self, key: int, deadline: float, prepare: Callable[[], None]) -> None:
        # One message; the reads that follow see everything committed before the turn, whatever the
        # role's default. Nothing is set for longer than the transaction, so that it may go through
        # a pooler. The server cuts off a client that stops in the middle of its turn, so that the
        # others need not wait. The client finds out when it continues.
        self._cursor.execute(
            "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL synchronous_commit=on; "
            f"SET LOCAL lock_timeout={self._limit}; "
            f"SET LOCAL idle_in_transaction_session_timeout={self._limit}; "
            f"SELECT pg_advisory_xact_lock({self.NAMESPACE}, {key})"
        )

    @property
    def in_transaction(self) -> bool:
        idle = 0  # PQTRANS_IDLE of libpq
        self._leave_interrupted()
        return self._connection is not None and self._connection.info.transaction_status != idle

    def _roll_back(self) -> None:
        self._leave_interrupted()
        super()._roll_back()

    def _leave_interrupted(self) -> None:
        """Close a connection that Ctrl-C has left locked: it would deadlock on itself."""
        # Only one thread at a time uses it, and it is this one.
        if self._connection is not None and self._connection.lock.locked():
            self.disconnect()

    def _is_disconnect(self, error: Exception) -> bool:
        if self._connection is None:  # could not connect at all, or the server is still starting
            code = getattr(error, "sqlstate", None)
            return code is None or code.startswith(("53", "57"))
        return bool(self._connection.closed)

    def _explain(self, error: Exception, waited: float) -> StateError:
        text, code = self._without_secrets(_one_line(error)), getattr(error, "sqlstate", None) or ""
        if code == "55P03":
            return BusyError(
                f"another client has held this study for more than {self.patience:g} seconds. "
                "Nothing was changed; try again, or give Study a longer patience"
            )
        return StoreError(f"{self.name} cannot be used: {text}. Nothing was changed")


def _mark(number: int, seal: str) -> bytes:
    """A record of the file of marks."""
    text = f"{number:>19} {seal:>32}"
    return f"{text} {blake2b(text.encode(), digest_size=8).hexdigest()}\n".encode()


FileIdentity = tuple[int, int]
"""Device and inode, which identify a file under any name."""


def _identities(paths: list[str]) -> list[FileIdentity | None]:
    """Which file is at each path, if any."""
    identities: list[FileIdentity | None] = []
    for path in paths:
        try:
            status = os.stat(path)
        except OSError:
            identities.append(None)
        else:
            identities.append((status.st_dev, status.st_ino))
    return identities


def _exchanged(file: str, gone: bool) -> str:
    what = "is gone: it was deleted or moved" if gone else "is another file now: it was replaced"
    return (
        f"{file} {what} while this study was open. Nothing was acknowledged since then. Put back "
        "the file that was there, or open the study again to go on with what is there now"
    )


def _is_held(error: Exception) -> bool:
    """Whether SQLite reports that another program has locked the file."""
    return "locked" in str(error) or "busy" in str(error)


def _resolved(path: str) -> Path:
    """The file that a path leads to; refused if no file can have that name."""
    try:
        resolved = Path(path).resolve()
        resolved.exists()
    except (OSError, RuntimeError) as error:
        raise ParameterError(f"no file can be at {shown(path)}: {error.args[-1]}") from None
    return resolved


def _one_line(error: Exception) -> str:
    """The message of a driver, on one line."""
    return " ".join(str(error).split())
