"""A fair lock among the processes that write to one SQLite file: a lock file and a queue.

SQLite makes a waiting process sleep and try again. So the process that has just released the
database usually gets it again, and many processes do little but retry. Here a process that has to
wait draws a ticket: a named pipe in a folder beside the database, named by the time, on which its
owner listens. The oldest ticket with a living owner is next; a process that ends its turn writes
into that pipe. A ticket is removed by its owner, whether it got its turn or not, or by others if
its owner died: then nobody listens on the pipe, which the operating system guarantees at whatever
instant a process dies. A process that was stopped by a signal is passed by while it is stopped, and
has its old place when it continues.

Only the order of turns depends on this: the database itself keeps two writers apart. Without
`flock` or named pipes (Windows, some network drives) SQLite's own waiting must suffice.

The owner of a database's folder can put anything there, and another user, even root, may write to
that database. So no link beside it is followed, nothing is removed unless it is named like a
ticket, and only files created just now are given to the owner of the database.
"""

from __future__ import annotations

import errno
import itertools
import os
import re
import select
import stat
import time
import weakref
from bisect import bisect, bisect_left
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from dikin.errors import BusyError, NotAFileError
from dikin.files import Folder, give

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

LOOKS_EVERY = 0.05
"""Seconds per ticket ahead after which a client looks itself: the one to wake it may be dead."""
LONGEST_SLEEP = 0.5
SOON = 6
"""The number of tickets ahead at which it is time to prepare."""
MAKING_TAKES = 10.0
"""Seconds after which an unfinished ticket counts as abandoned."""
NO_QUEUE = {errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL, errno.EACCES, errno.EROFS}
"""Errors of a file system without named pipes, or without the right to create them."""

STOPPED = {"T", "t"}
"""How Linux marks a process that was stopped by a signal, or by a debugger."""

HAS_PIPES = fcntl is not None and os.mkfifo in os.supports_dir_fd

TICKET = re.compile(r"\.?\d{20}\.\d+\.\d+")
"""Time, process and number; preceded by a dot while the ticket is being created."""

_tickets = itertools.count()


class FairLock:
    """The lock of the database file `path`, beside it; one per connection."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._turn: _Turn | None = None
        self._ticket: _Ticket | None = None
        """The place in the queue; stored here, so that an interrupted call gives it up later."""
        self._queue = _Queue(path)
        self._may_hold = False
        """Whether it may be this client's turn, or it may have been told so."""

    def acquire(self, patience: float, prepare: Callable[[], None]) -> bool:
        """Wait some seconds for this client's turn; return whether it had to wait for others.

        `prepare` is called shortly before the turn after a long wait, so that the turn is short. If
        the turn does not come in time, the place in the queue is given up, and it is a `BusyError`.
        """
        if not HAS_PIPES:
            return False
        try:
            if self._turn is None:
                self._turn = _Turn(open_beside(self._path, "-turn"))
            self._may_hold = True
            if self._queue.is_empty() and self._turn.try_lock():
                return False
            try:
                self._ticket = self._queue.draw()
                self._wait(self._ticket, patience, prepare)
            finally:
                self._leave_queue()
        except OSError as error:
            if error.errno in NO_QUEUE:
                return False
            raise
        return True

    def _wait(self, ticket: _Ticket, patience: float, prepare: Callable[[], None]) -> None:
        assert self._turn is not None
        deadline = time.monotonic() + patience
        ahead = self._queue.ahead(ticket.name)
        crowd = ahead > SOON
        while ahead or not self._turn.try_lock():
            left = deadline - time.monotonic()
            if left <= 0:
                raise BusyError(_explanation(self._turn, patience, ahead))
            if crowd and 0 < ahead <= SOON:
                crowd = False  # once is enough: few can come before this one now
                prepare()
            ticket.wait(min(left, _pause(ahead)))
            ahead = self._queue.ahead(ticket.name)

    def _leave_queue(self) -> None:
        if self._ticket is not None:
            self._ticket.remove()
            self._ticket = None

    def release(self) -> None:
        """End the turn and let the next client have it."""
        if self._ticket is not None:  # left by an interrupted wait
            self._leave_queue()
        if self._turn is not None and self._may_hold:
            self._turn.unlock()
            with suppress(OSError):  # the turn is over, whether others are told or look themselves
                self._queue.wake()
            self._may_hold = False

    def close(self) -> None:
        """Close the lock for good."""
        self.release()
        if self._turn is not None:
            self._turn.close()
            self._turn = None


def _explanation(turn: _Turn, patience: float, waiting: int) -> str:
    process, age = turn.holder()
    if process and _is_stopped(process):
        # Nobody can take the turn from it: SQLite's own lock would stay with it.
        return (
            f"process {process} holds this study, for {age:.1f} s, and was stopped by a signal or "
            f"a debugger. Let it continue (kill -CONT {process}), or end it (kill -9 {process}): "
            "nothing that was acknowledged is lost. Nothing was changed"
        )
    if process and age >= patience:
        why = (
            f"another process has held this study for more than {patience:g} seconds: process "
            f"{process}, for {age:.1f} s"
        )
    else:
        why = f"{waiting} others wait for this study, and {patience:g} seconds were not enough"
    return f"{why}. Nothing was changed; try again, or give Study a longer patience"


def _pause(ahead: int) -> float:
    """Seconds to listen before looking again: longer with more tickets ahead."""
    return min(LONGEST_SLEEP, (ahead + 1) * LOOKS_EVERY)


# --- files ---------------------------------------------------------------------------------------


class FileBeside:
    """An open file that is closed once: explicitly, or with its owner."""

    def __init__(self, file: int) -> None:
        self.file = file
        self._close = weakref.finalize(self, os.close, file)

    def close(self) -> None:
        """Close it, unless it is closed."""
        self._close()


def open_beside(path: Path, ending: str) -> FileBeside:
    """A file beside a database; a new one is for the users of the database."""
    name = f"{path.name}{ending}"
    with Folder(path.parent) as folder:
        try:
            file = FileBeside(folder.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return FileBeside(folder.open_file(name, os.O_RDWR))
        database = folder.stat(path.name)
        give(file.file, database, database.st_mode & 0o666)
    return file


class _Turn:
    """A file that one process at a time locks; it says which process, and since when."""

    def __init__(self, file: FileBeside) -> None:
        self._file = file

    def try_lock(self) -> bool:
        """Take the lock if it is free; never waits."""
        if not self._lock():
            return False
        os.pwrite(self._file.file, f"{os.getpid():>20} {time.time():>20.3f}".encode(), 0)
        return True

    def _lock(self) -> bool:
        try:
            fcntl.flock(self._file.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def unlock(self) -> None:
        fcntl.flock(self._file.file, fcntl.LOCK_UN)

    def holder(self) -> tuple[int, float]:
        """The process that holds it, and for how many seconds; 0 if there is none, or unknown."""
        if self._lock():
            self.unlock()
            return 0, 0.0
        try:
            process, since = os.pread(self._file.file, 64, 0).split()
            return int(process), time.time() - float(since)
        except (OSError, ValueError):
            return 0, 0.0

    def close(self) -> None:
        self._file.close()


def _is_stopped(process: int) -> bool:
    """Whether a process was stopped by a signal, if the system can say so."""
    with suppress(OSError, IndexError):
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] in STOPPED
    return False


# --- the queue -----------------------------------------------------------------------------------


class _Ticket:
    """A place in the queue: a pipe on which its owner listens while it waits."""

    def __init__(self, queue: _Queue, name: str, pipe: FileBeside) -> None:
        self.name, self._queue, self._pipe = name, queue, pipe
        self._poll = select.poll()
        self._poll.register(pipe.file, select.POLLIN)

    def wait(self, seconds: float) -> None:
        """Wait for a message about a change, or until the time is over."""
        if self._poll.poll(1000 * seconds):
            with suppress(BlockingIOError):
                os.read(self._pipe.file, 4096)

    def remove(self) -> None:
        """Give up the place."""
        with suppress(OSError), self._queue.folder() as folder:
            folder.remove(self.name)
        self._pipe.close()  # without a listener it counts as dead, if it is still there


class _Queue:
    """The folder of tickets, the oldest first."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._folder = f"{path}-queue"

    @contextmanager
    def folder(self) -> Iterator[Folder]:
        """The folder, opened."""
        path = Path(self._folder)
        with Folder(path.parent) as beside:
            try:
                folder = Folder(path, beside)
            except OSError as error:
                if error.errno in (errno.ELOOP, errno.ENOTDIR):
                    raise NotAFileError(
                        f"{path} is a link or a file, and clients wait in a folder of that name; "
                        "remove it, and find out who put it there"
                    ) from error
                raise
        with folder:
            yield folder

    def _names(self) -> list[str]:
        """The tickets, in order; those being created begin with a dot, and come first."""
        if not os.path.lexists(self._folder):  # nobody has ever waited
            return []
        try:
            with self.folder() as folder:
                names = sorted(filter(TICKET.fullmatch, folder.names()))
                begin = bisect(names, "/")  # sorts between the dot and the digits
                for name in names[:begin]:
                    if _is_old(name):  # its process was killed while creating it
                        _remove(folder, name)
        except (FileNotFoundError, PermissionError):  # no folder, or another user's
            return []
        return names[begin:]

    def is_empty(self) -> bool:
        """Whether nobody is waiting; tickets of dead owners are removed."""
        return not any(map(self._is_next, self._names()))

    def ahead(self, ticket: str) -> int:
        """The number of clients before this one; dead tickets at the front are removed."""
        names = self._names()
        older = names[: bisect_left(names, ticket)]
        while older and not self._is_next(older[0]):
            del older[0]
        return len(older)

    def _is_next(self, name: str) -> bool:
        """Whether the owner of the first ticket can take its turn: it is alive, and not stopped."""
        return self._listens(name) and not _is_stopped(_owner(name))

    def draw(self) -> _Ticket:
        """A place at the end of the queue."""
        # A clock that all processes share and that never goes back. The rest makes names distinct.
        name = f"{time.monotonic_ns():020d}.{os.getpid()}.{next(_tickets)}"
        try:
            return self._draw(name)
        except FileNotFoundError:
            self._make_folder()
            return self._draw(name)

    def _draw(self, name: str) -> _Ticket:
        with self.folder() as folder:
            try:
                folder.make_pipe(f".{name}")
                # Open for reading and writing, so that it does not end with its first writer.
                pipe = FileBeside(folder.open(f".{name}", os.O_RDWR))
                if _is_ours(pipe.file) and _is_pipe(pipe.file):
                    queue = folder.stat(".")
                    give(pipe.file, queue, queue.st_mode & 0o666)
                # Only now: a ticket without a listener counts as dead.
                folder.rename(f".{name}", name)
                return _Ticket(self, name, pipe)
            except BaseException:  # the pipe closes itself: nothing refers to it any more
                for ticket in (f".{name}", name):
                    with suppress(FileNotFoundError):
                        folder.remove(ticket)
                raise

    def _make_folder(self) -> None:
        """Create the folder for the users of the database."""
        name = f"{self._path.name}-queue"
        with Folder(self._path.parent) as beside, suppress(FileExistsError):
            beside.make_folder(name)
            folder = FileBeside(beside.open(name, os.O_RDONLY | os.O_DIRECTORY))
            # Another folder may have taken its place since: if it has anything in it, it stays.
            if _is_ours(folder.file) and all(map(TICKET.fullmatch, os.listdir(folder.file))):
                database = beside.stat(self._path.name)
                mode = database.st_mode & 0o666
                give(folder.file, database, mode | (mode >> 2) & 0o111)  # readers may list it
            folder.close()

    def wake(self) -> None:
        """Tell the first listener that the turn may be free, and another one to prepare."""
        names = self._names()
        next(filter(self._tell, names), None)
        for name in names[SOON : SOON + 1]:
            self._tell(name)

    def _tell(self, name: str) -> bool:
        """Write into a pipe; return whether anybody listened."""
        if not self._is_next(name):
            return False
        try:
            with self.folder() as folder:
                # Open for reading and writing, so that a reader that leaves now causes no broken
                # pipe.
                file = folder.open(name, os.O_RDWR)
        except OSError:  # removed, or another user's
            return False
        try:
            if not _is_pipe(file):  # replaced since
                return False
            with suppress(BlockingIOError):  # full: it has been told often enough
                os.write(file, b".")
            return True
        finally:
            os.close(file)

    def _listens(self, name: str) -> bool:
        """Whether the owner of a ticket is alive; the ticket of a dead owner is removed."""
        try:
            with self.folder() as folder:
                alive = _is_listened_to(folder, name)
                if not alive:
                    _remove(folder, name)
        except FileNotFoundError:
            return False
        return alive


def _is_listened_to(folder: Folder, ticket: str) -> bool:
    try:
        file = folder.open(ticket, os.O_WRONLY)
    except FileNotFoundError:
        raise
    except OSError as error:
        # ENXIO means a pipe without a listener, ELOOP a link. For another user's ticket only the
        # process number tells.
        return error.errno not in (errno.ENXIO, errno.ELOOP) and _is_alive(_owner(ticket))
    try:
        return _is_pipe(file)  # not a ticket of an older dikin, or a foreign file
    finally:
        os.close(file)


def _is_pipe(file: int) -> bool:
    return stat.S_ISFIFO(os.fstat(file).st_mode)


def _is_ours(file: int) -> bool:
    """Whether this process's user created a file, and it has no second name elsewhere."""
    status = os.fstat(file)
    return status.st_uid == os.geteuid() and (stat.S_ISDIR(status.st_mode) or status.st_nlink == 1)


def _owner(ticket: str) -> int:
    """The process that drew a ticket; 0 if its name does not say."""
    with suppress(IndexError, ValueError):
        return int(ticket.split(".")[1])
    return 0


def _is_old(ticket: str) -> bool:
    """Whether a ticket was begun long ago, or before the last boot."""
    # The process number does not help: in another container it is a different one.
    with suppress(ValueError):
        return abs(time.monotonic_ns() - int(ticket.split(".")[1])) > 1e9 * MAKING_TAKES
    return True


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # another user's process process
        return True
    return process > 0


def _remove(folder: Folder, name: str) -> None:
    with suppress(OSError):  # removed, or in another user's folder
        folder.remove(name)
