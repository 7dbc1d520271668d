"""A fair queue of processes before one SQLite file: two locks, the second behind the first.

SQLite makes a waiting process sleep and try again, so the one that has just released the database
usually gets it again. Here one process at a time stands between the two locks, next in turn, and
whoever has just left must line up behind it. The operating system keeps both queues, and frees both
locks when a process dies, at whatever instant.

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


class Turnstile:
    """The queue before the database file `path`; one per connection."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._doors: _Doors | None = None

    def enter(self, patience: float) -> bool:
        """Wait for one's turn; whether there was anyone to wait for."""
        if fcntl is None:
            return False
        if self._doors is None:
            self._doors = _Doors(self._path)
        if self._doors.walk_in():
            return False
        # The kernel's queue knows no timeout: a thread stands in it, and this one waits for that.
        doors, self._doors = self._doors, None
        if not _Walker(doors).join(patience):
            raise BusyError(
                f"another process has held this study for more than {patience:g} seconds. "
                "Nothing was changed; try again, or give Study a longer patience"
            )
        self._doors = doors
        return True

    def leave(self) -> None:
        """Let the next one in."""
        if self._doors is not None:
            self._doors.leave()

    def close(self) -> None:
        """Leave for good."""
        if self._doors is not None:
            self._doors.close()
            self._doors = None


_DOORS: weakref.WeakSet[_Doors] = weakref.WeakSet()


class _Doors:
    """The two locks, each a file beside the database."""

    def __init__(self, path: Path) -> None:
        # Anyone who may write to the database may line up.
        flags, mode = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, path.stat().st_mode & 0o666
        self._gate = os.open(f"{path}-gate", flags, mode)
        self._room = os.open(f"{path}-room", flags, mode)
        _DOORS.add(self)

    def walk_in(self) -> bool:
        """Both locks without waiting, or neither."""
        try:
            fcntl.flock(self._gate, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        try:
            fcntl.flock(self._room, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        finally:
            fcntl.flock(self._gate, fcntl.LOCK_UN)
        return True

    def wait_in(self) -> None:
        """Through the gate into the room, however long it takes."""
        fcntl.flock(self._gate, fcntl.LOCK_EX)
        fcntl.flock(self._room, fcntl.LOCK_EX)
        fcntl.flock(self._gate, fcntl.LOCK_UN)

    def leave(self) -> None:
        fcntl.flock(self._room, fcntl.LOCK_UN)

    def close(self) -> None:
        _DOORS.discard(self)
        os.close(self._gate)
        os.close(self._room)


def _close_inherited() -> None:
    # A lock belongs to everyone who has the file open, and ends with the last of them. A child that
    # kept it open would keep the turn of a parent that was killed.
    for doors in list(_DOORS):
        doors.close()


if fcntl is not None:
    os.register_at_fork(after_in_child=_close_inherited)


class _Walker:
    """A thread that waits to get in, and leaves at once if nobody waits for it any more."""

    def __init__(self, doors: _Doors) -> None:
        self._doors, self._lock = doors, threading.Lock()
        self._inside, self._abandoned = threading.Event(), False
        threading.Thread(target=self._walk, daemon=True).start()

    def _walk(self) -> None:
        self._doors.wait_in()
        with self._lock:
            if self._abandoned:
                self._doors.close()
            else:
                self._inside.set()

    def join(self, patience: float) -> bool:
        """Whether it got in within that many seconds; if not, it closes the doors behind it."""
        try:
            self._inside.wait(patience)
        except BaseException:  # Ctrl-C: the turn is not taken, even if it has just come
            self._abandon(late=True)
            raise
        return not self._abandon(late=False)

    def _abandon(self, late: bool) -> bool:
        with self._lock:
            self._abandoned = not self._inside.is_set()
            if late and not self._abandoned:
                self._doors.close()
            return self._abandoned
