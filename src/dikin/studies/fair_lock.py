"""A fair lock among the processes that write to one SQLite file, made of two lock files.

SQLite makes a waiting process sleep and try again, so the one that has just released the database
usually gets it again. Here one process at a time holds the first lock and is next in turn, and
whoever has just released the second must queue behind it. The operating system keeps both queues,
and frees both locks when a process dies, at whatever instant.

Nothing but the order of turns depends on this: what keeps two writers apart is the database. Where
there is no `flock` (Windows) SQLite's own waiting has to do.
"""

from __future__ import annotations

import os
import threading
import weakref
from pathlib import Path

from dikin.errors import BusyError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


class FairLock:
    """The lock of the database file `path`; one per connection."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._files: _LockFiles | None = None

    def acquire(self, patience: float) -> bool:
        """Wait for one's turn; whether there was anyone to wait for."""
        if fcntl is None:
            return False
        if self._files is None:
            self._files = _LockFiles(self._path)
        if self._files.try_acquire():
            return False
        # The system's queue knows no timeout: a thread waits in it, and this one waits for that.
        files, self._files = self._files, None
        if not _Waiter(files).wait(patience):
            raise BusyError(
                f"another process has held this study for more than {patience:g} seconds. "
                "Nothing was changed; try again, or give Study a longer patience"
            )
        self._files = files
        return True

    def release(self) -> None:
        """Let the next one in turn have it."""
        if self._files is not None:
            self._files.release()

    def close(self) -> None:
        """Release it for good."""
        if self._files is not None:
            self._files.close()
            self._files = None


_OPEN: weakref.WeakSet[_LockFiles] = weakref.WeakSet()


class _LockFiles:
    """The two locks, each a file beside the database."""

    def __init__(self, path: Path) -> None:
        # Anyone who may write to the database may queue.
        flags, mode = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, path.stat().st_mode & 0o666
        self._next = os.open(f"{path}-next", flags, mode)
        self._turn = os.open(f"{path}-turn", flags, mode)
        _OPEN.add(self)

    def try_acquire(self) -> bool:
        """Take the turn without waiting, or nothing."""
        try:
            fcntl.flock(self._next, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        try:
            fcntl.flock(self._turn, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        finally:
            fcntl.flock(self._next, fcntl.LOCK_UN)
        return True

    def acquire(self) -> None:
        """Become next, then take the turn, however long it takes."""
        fcntl.flock(self._next, fcntl.LOCK_EX)
        fcntl.flock(self._turn, fcntl.LOCK_EX)
        fcntl.flock(self._next, fcntl.LOCK_UN)

    def release(self) -> None:
        fcntl.flock(self._turn, fcntl.LOCK_UN)

    def close(self) -> None:
        _OPEN.discard(self)
        os.close(self._next)
        os.close(self._turn)


def _close_inherited() -> None:
    # A lock belongs to everyone who has the file open, and ends with the last of them. A child that
    # kept it open would keep the turn of a parent that was killed.
    for files in list(_OPEN):
        files.close()


if fcntl is not None:
    os.register_at_fork(after_in_child=_close_inherited)


class _Waiter:
    """A thread that acquires the lock, and releases it at once if nobody waits for it any more."""

    def __init__(self, files: _LockFiles) -> None:
        self._files, self._guard = files, threading.Lock()
        self._acquired, self._abandoned = threading.Event(), False
        threading.Thread(target=self._acquire, daemon=True).start()

    def _acquire(self) -> None:
        self._files.acquire()
        with self._guard:
            if self._abandoned:
                self._files.close()
            else:
                self._acquired.set()

    def wait(self, patience: float) -> bool:
        """Whether it was acquired within that many seconds; if not, the thread closes the files."""
        try:
            self._acquired.wait(patience)
        except BaseException:  # Ctrl-C: the turn is not taken, even if it has just come
            if not self._abandon():
                self._files.close()
            raise
        return not self._abandon()

    def _abandon(self) -> bool:
        """Wait no longer; whether it had not been acquired."""
        with self._guard:
            self._abandoned = not self._acquired.is_set()
            return self._abandoned
