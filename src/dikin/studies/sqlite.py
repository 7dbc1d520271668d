"""An SQLite file: durable commits, private to its owner, and the same file from call to call."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from dikin.errors import ParameterError, StateError, StoreError, shown
from dikin.files import OWNERS_ALONE
from dikin.studies import guard
from dikin.studies.database import (
    ANY,
    CONTROL,
    Again,
    Database,
    Heads,
    LostConnection,
    ReplacedFileError,
    Row,
    Taken,
    Values,
    digest_of,
    seal_after,
)

BESIDE = ("", "-wal", "-shm")  # suffixes of a database, of its log, and of the index of the log
CHECKPOINT_PAGES = 200
"""Pages of SQLite's log (800 KB) after which it is reused: that is faster than a growing log."""


class Sqlite(Database):
    """A file. `synchronous=FULL` makes commits durable. Readers never wait for writers."""

    serial = "INTEGER PRIMARY KEY AUTOINCREMENT"
    _errors = (sqlite3.Error, UnicodeDecodeError)  # a damaged file may contain anything

    def __init__(self, path: str, patience: float) -> None:
        if path == ":memory:" or "?" in path or not path:
            raise ParameterError(
                f"a study needs a file to live in, such as 'studies.db', got {shown(path)}"
            )
        try:
            self.path: Path = Path(path).resolve()
            self.path.exists()
        except (OSError, RuntimeError) as error:
            raise ParameterError(f"no file can be at {shown(path)}: {error.args[-1]}") from None
        if not self.path.parent.is_dir():
            raise StoreError(f"{path} cannot be opened: there is no folder {self.path.parent}")
        self._paths = [f"{self.path}{ending}" for ending in BESIDE]
        self._files: list[tuple[int, int] | None] = []
        """The identity of the database file, from the first connection on, and during a
        connection those of the log and its index."""
        super().__init__(str(self.path), path, patience)

    def _opened(self) -> Any:
        self._refuse_exchanged()  # SQLite would create a new file in place of a deleted one
        if guard.has_inherited(Sqlite):
            raise StoreError(
                f"{self.name} cannot be opened: this process was forked while a study was open in "
                "an SQLite file, by a program that forks without notifying Python. Open studies "
                "only after the fork (uWSGI: lazy-apps = true). Nothing was changed"
            )
        if not self._files:  # later it must be the same file
            try:
                with suppress(FileExistsError):  # its owner's alone, and so what is beside it
                    self.path.touch(OWNERS_ALONE, exist_ok=False)
            except OSError as error:
                raise StoreError(f"{self.name} cannot be opened: {error}") from error
        before = self._files[:1] or _identities(self._paths[:1])
        # Explicit transactions, from whichever thread holds the study at the moment.
        connection = sqlite3.connect(
            self.path, isolation_level=None, check_same_thread=False, timeout=0
        )
        try:
            connection.execute("PRAGMA synchronous=FULL")
            connection.execute(f"PRAGMA wal_autocheckpoint={CHECKPOINT_PAGES}")
            if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
                connection.execute("PRAGMA journal_mode=WAL")  # fails at once instead of waiting
            connection.execute("SELECT 1 FROM sqlite_master").fetchall()
            files = _identities(self._paths)
            if before != files[:1]:
                raise LostConnection("the file was replaced while it was being opened")
        except BaseException:
            connection.close()
            raise
        self._files = files
        return connection

    def close(self) -> None:
        super().close()
        del self._files[1:]

    def _refuse_exchanged(self) -> None:
        """Refuse to continue if the database's files were deleted or replaced."""
        known = self._files
        present = _identities(self._paths[: len(known)])
        if present != known:
            which = [a == b for a, b in zip(present, known, strict=True)].index(False)
            gone = present[which] is None
            happened = "is gone: it was deleted or moved" if gone else "is another file now"
            raise (StoreError if gone else ReplacedFileError)(
                f"{self._paths[which]} {happened} while this study was open. Nothing was "
                "acknowledged since then. Put back the file that was there, or open the study "
                "again to continue with what is there now"
            )

    def run(self, sql: str, values: Values = ()) -> list[tuple[Any, ...]]:
        if not self.inside:  # a transaction does so when it begins, and at its end
            self._refuse_exchanged()
        return super().run(sql, values)

    def _explained(self, error: Exception) -> Exception:
        text = str(error)
        if isinstance(error, sqlite3.IntegrityError) and "UNIQUE" in text:
            return Taken(text)
        if "locked" in text or "busy" in text:
            return Again(text)
        if isinstance(error, sqlite3.OperationalError):
            self.close()  # whatever its state
        if "not a database" in text:
            return StateError(f"{self.name} is not an SQLite database; it was left as it is")
        if "malformed" in text or "decode" in text:
            return StateError(f"{self.name} is damaged ({text}); restore it from a copy")
        return StoreError(f"{self.name} cannot be used: {text}. Nothing was changed")

    def _begin(self) -> None:
        self._run("BEGIN IMMEDIATE")
        self.inside = True
        self._refuse_exchanged()

    def commit(self) -> None:
        super().commit()
        self._refuse_exchanged()

    def append(
        self, study: int, rows: Sequence[Row], epoch: int, heads: Heads = ANY, jump: int = 0
    ) -> tuple[int, str] | None:
        if not self.inside:
            with self.transaction():
                return self.append(study, rows, epoch, heads, jump)
        found = self._run("SELECT head, seal, epoch FROM dikin_study WHERE id = ?", (study,))
        head, seal, present = found[0] if found else (0, "", None)
        if present != epoch or not heads[0] <= head <= heads[1]:
            return None
        first = head + 1 + jump
        after = seal_after(seal, first, digest_of(rows))
        for n, row in enumerate(rows, start=first):
            self._run(
                "INSERT INTO dikin_row (study, n, kind, body, ask, key, who, at, seal) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (study, n, *row[:6], after),
            )
        self._run(
            "UPDATE dikin_study SET head = ?, seal = ?, epoch = epoch + ? WHERE id = ?",
            (first + len(rows) - 1, after, int(rows[0].kind in CONTROL), study),
        )
        return first, after

    def has_table(self, name: str) -> bool:
        if self.connection is None and not self._files and not self.path.exists():
            return False
        return bool(self.run("SELECT 1 FROM sqlite_master WHERE name = ?", (name,)))


def _identities(paths: list[str]) -> list[tuple[int, int] | None]:
    """Return device and inode at each path, which identify a file under any name."""
    found: list[tuple[int, int] | None] = [None] * len(paths)
    for place, path in enumerate(paths):
        with suppress(OSError):
            status = os.stat(path)
            found[place] = status.st_dev, status.st_ino
    return found
