"""A fair lock among the processes that write to one SQLite file: a lock file and a queue.

SQLite makes a waiting process sleep and try again, so the one that has just released the database
usually gets it again. Here who has to wait draws a ticket: a file in a folder beside the database,
named by the time, and locked for as long as its owner waits. The oldest ticket whose owner lives is
next. A ticket is removed by its owner, whether it got its turn or not, or by others if its owner
died: the operating system frees the locks of a process that dies, at whatever instant.

Nothing but the order of turns depends on this: what keeps two writers apart is the database. Where
there is no `flock` (Windows) SQLite's own waiting has to do.
"""

from __future__ import annotations

import itertools
import os
import time
import weakref
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from dikin.errors import BusyError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

NEXT_LOOKS_EVERY = 0.0004
"""Seconds: who is next looks so often. A turn takes ten times as long at least."""
OTHERS_LOOK_EVERY = 0.001
"""Seconds for each ticket ahead: with many waiting, few of them look at the same time."""
LONGEST_SLEEP = 0.05
SOON = 8
"""With so few tickets ahead it is time to prepare."""

_tickets = itertools.count()


class FairLock:
    """The lock of the database file `path`; one per connection.

    Parameters
    ----------
    path : Path
        The database. The lock file and the folder of tickets lie beside it.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._turn: _Turn | None = None
        self._ticket: _Ticket | None = None
        """The place in the queue; kept here, so that whoever is interrupted gives it up later."""

    def acquire(self, patience: float, prepare: Callable[[], None]) -> bool:
        """Wait for one's turn; whether there was anyone to wait for.

        Parameters
        ----------
        patience : float
            Seconds to wait.
        prepare : callable
            What to do shortly before one's turn after a long wait, so that the turn is short.

        Raises
        ------
        BusyError
            If it was not one's turn by then. The place in the queue is given up.
        """
        if fcntl is None:
            return False
        if self._turn is None:
            self._turn = _Turn(open_beside(self._path, "-turn"))
        queue = _Queue(self._path)
        if queue.is_empty() and self._turn.try_lock():
            return False
        try:
            self._ticket = queue.draw()
            self._wait(queue, self._ticket.name, patience, prepare)
        finally:
            self._leave_queue()
        return True

    def _wait(
        self, queue: _Queue, ticket: str, patience: float, prepare: Callable[[], None]
    ) -> None:
        assert self._turn is not None
        deadline = time.monotonic() + patience
        crowd = queue.ahead(ticket) > SOON
        while not (queue.is_next(ticket) and self._turn.try_lock()):
            left = deadline - time.monotonic()
            if left <= 0:
                raise BusyError(_explanation(self._turn, patience, queue.ahead(ticket)))
            ahead = queue.ahead(ticket)
            if crowd and 0 < ahead <= SOON:
                crowd = False  # once is enough: few can go before this one now
                prepare()
            time.sleep(min(left, _pause(ahead)))

    def _leave_queue(self) -> None:
        if self._ticket is not None:
            self._ticket.remove()
            self._ticket = None

    def release(self) -> None:
        """Let the next one in turn have it."""
        self._leave_queue()  # of a wait that was interrupted
        if self._turn is not None:
            self._turn.unlock()

    def close(self) -> None:
        """Release it for good."""
        self._leave_queue()
        if self._turn is not None:
            self._turn.close()
            self._turn = None


def _explanation(turn: _Turn, patience: float, waiting: int) -> str:
    holder, age = turn.holder()
    if holder and age >= patience:
        why = (
            f"another process has held this study for more than {patience:g} seconds: {holder}, "
            f"for {age:.1f} s"
        )
    else:
        why = f"{waiting} others wait for this study, and {patience:g} seconds were not enough"
    return f"{why}. Nothing was changed; try again, or give Study a longer patience"


def _pause(ahead: int) -> float:
    """Seconds to sleep before looking again: the longer, the more tickets are ahead."""
    return min(LONGEST_SLEEP, ahead * OTHERS_LOOK_EVERY) if ahead else NEXT_LOOKS_EVERY


# --- files ---------------------------------------------------------------------------------------

_OPEN: weakref.WeakSet[FileBeside] = weakref.WeakSet()


class FileBeside:
    """An open file that is closed once: by hand, with its owner, or in a child after a fork."""

    def __init__(self, file: int) -> None:
        self.file = file
        self._close = weakref.finalize(self, os.close, file)
        _OPEN.add(self)

    def close(self) -> None:
        """Close it, unless that was done."""
        self._close()


def open_beside(path: Path, ending: str) -> FileBeside:
    """A file beside a database that anyone may use who may write to the database."""
    return _created(Path(f"{path}{ending}"), _mode(path), 0)


def _created(path: Path, mode: int, flags: int) -> FileBeside:
    flags |= os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
    opened = FileBeside(os.open(path, flags, mode))
    with suppress(PermissionError):  # another user's, who has done it
        os.fchmod(opened.file, mode)  # whatever the mask of this process is
    return opened


def _mode(path: Path) -> int:
    """Who may write to a file may write to those beside it."""
    return path.stat().st_mode & 0o666


def _close_inherited() -> None:
    # A lock belongs to everyone who has the file open, and ends with the last of them. A child that
    # kept it open would keep the turn, or the place in the queue, of a parent that was killed.
    for file in list(_OPEN):
        file.close()


if fcntl is not None:
    os.register_at_fork(after_in_child=_close_inherited)


class _Turn:
    """A file that one process at a time holds; it says which, and since when."""

    def __init__(self, opened: FileBeside) -> None:
        self._opened = opened

    def try_lock(self) -> bool:
        """Take it without waiting, or not."""
        if not self._lock():
            return False
        os.pwrite(self._opened.file, f"{os.getpid():>20} {time.time():>20.3f}".encode(), 0)
        return True

    def _lock(self) -> bool:
        try:
            fcntl.flock(self._opened.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def unlock(self) -> None:
        fcntl.flock(self._opened.file, fcntl.LOCK_UN)

    def holder(self) -> tuple[str, float]:
        """Who holds it, for a message, and for how many seconds; nothing if nobody does."""
        if self._lock():
            self.unlock()
            return "", 0.0
        try:
            process, since = os.pread(self._opened.file, 64, 0).split()
            stopped = " (stopped by a signal)" if _is_stopped(int(process)) else ""
            return f"process {int(process)}{stopped}", time.time() - float(since)
        except (OSError, ValueError):
            return "", 0.0

    def close(self) -> None:
        self._opened.close()


def _is_stopped(process: int) -> bool:
    """Whether a process was stopped by a signal, where the system says so."""
    with suppress(OSError, IndexError):
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "T"
    return False


# --- the queue -----------------------------------------------------------------------------------


class _Ticket:
    """A place in the queue: a file that is locked while its owner waits."""

    def __init__(self, path: Path, opened: FileBeside) -> None:
        self.name, self._path, self._opened = path.name, path, opened

    def remove(self) -> None:
        """Give up the place."""
        with suppress(FileNotFoundError):
            self._path.unlink()
        self._opened.close()


class _Queue:
    """The folder of tickets, the oldest first."""

    def __init__(self, path: Path) -> None:
        self._folder, self._mode = Path(f"{path}-queue"), _mode(path)

    def is_empty(self) -> bool:
        """Whether nobody waits; tickets of dead owners are removed."""
        return not any(self._is_alive(name) for name in self._names())

    def _names(self) -> list[str]:
        """The tickets; one that is being made begins with a point."""
        try:
            return sorted(name for name in os.listdir(self._folder) if not name.startswith("."))
        except FileNotFoundError:
            return []

    def draw(self) -> _Ticket:
        """A place at the end of the queue."""
        # A clock that all processes share, and never goes back. The rest keeps names apart.
        name = f"{time.monotonic_ns():020d}.{os.getpid()}.{next(_tickets)}"
        making, made = self._folder / f".{name}", self._folder / name
        try:
            opened = self._create(making)
            fcntl.flock(opened.file, fcntl.LOCK_EX)
            os.rename(making, made)  # only now: a ticket that is not locked is a dead one's
            return _Ticket(made, opened)
        except BaseException:  # the file is closed with its owner, which nobody has any more
            for path in (making, made):
                with suppress(FileNotFoundError):
                    path.unlink()
            raise

    def _create(self, path: Path) -> FileBeside:
        try:
            return _created(path, self._mode, os.O_EXCL)
        except FileNotFoundError:
            # Who may read files there may look into the folder.
            with suppress(FileExistsError):
                os.mkdir(self._folder)
                os.chmod(self._folder, self._mode | (self._mode >> 2) & 0o111)
            return _created(path, self._mode, os.O_EXCL)

    def is_next(self, ticket: str) -> bool:
        """Whether no living owner has an older ticket; those of dead ones are removed."""
        for name in self._names():
            if name >= ticket:
                return True
            if self._is_alive(name):
                return False
        return True

    def _is_alive(self, name: str) -> bool:
        path = self._folder / name
        try:
            file = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            return False
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        else:
            with suppress(FileNotFoundError):
                path.unlink()
            return False
        finally:
            os.close(file)

    def ahead(self, ticket: str) -> int:
        """How many older tickets there are."""
        return sum(name < ticket for name in self._names())
