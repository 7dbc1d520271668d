"""A fair lock among the processes that write to one SQLite file: a lock file and a queue.

SQLite makes a waiting process sleep and try again, so the one that has just released the database
usually gets it again, and with many they do little else than try. Here who has to wait draws a
ticket: a named pipe in a folder beside the database, named by the time, which its owner listens to.
The oldest ticket whose owner lives is next; who ends a turn writes into its pipe. A ticket is
removed by its owner, whether it got its turn or not, or by others if its owner died: then nobody
listens to the pipe, which the operating system sees to at whatever instant a process dies.

Nothing but the order of turns depends on this: what keeps two writers apart is the database. Where
there is no `flock` or no named pipe (Windows, some network drives) SQLite's own waiting has to do.

Who owns the folder of a database can put anything there, and another user, root too, may write to
that database. So no link is followed beside it, nothing is removed that is not named like a ticket,
and nothing is given to the owner of the database but what was made just now.
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
"""Seconds for each ticket ahead: who is not told of its turn, as somebody was killed, looks."""
LONGEST_SLEEP = 0.5
SOON = 6
"""With so few tickets ahead it is time to prepare."""
MAKING_TAKES = 10.0
"""Seconds after which a ticket that is not ready never will be."""
NO_QUEUE = {errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL, errno.EACCES, errno.EROFS}
"""What a file system says that has no named pipes, or lets this user make none."""

HAS_PIPES = fcntl is not None and os.mkfifo in os.supports_dir_fd

TICKET = re.compile(r"\.?\d{20}\.\d+\.\d+")
"""Time, process and number; with a point in front while it is being made."""

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
        self._queue = _Queue(path)
        self._may_hold = False
        """Whether it may be this one's turn, or it may have been told so."""

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
                raise BusyError(_explanation(self._turn, patience, ahead, self._queue.first()))
            if crowd and 0 < ahead <= SOON:
                crowd = False  # once is enough: few can go before this one now
                prepare()
            ticket.wait(min(left, _pause(ahead)))
            ahead = self._queue.ahead(ticket.name)

    def _leave_queue(self) -> None:
        if self._ticket is not None:
            self._ticket.remove()
            self._ticket = None

    def release(self) -> None:
        """Let the next one in turn have it."""
        if self._ticket is not None:  # of a wait that was interrupted
            self._leave_queue()
        if self._turn is not None and self._may_hold:
            self._turn.unlock()
            with suppress(OSError):  # what was done is done, whether others hear of it or look
                self._queue.wake()
            self._may_hold = False

    def close(self) -> None:
        """Release it for good."""
        self.release()
        if self._turn is not None:
            self._turn.close()
            self._turn = None


def _explanation(turn: _Turn, patience: float, waiting: int, first: int) -> str:
    holder, age = turn.holder()
    if holder and age >= patience:
        why = (
            f"another process has held this study for more than {patience:g} seconds: {holder}, "
            f"for {age:.1f} s"
        )
    else:
        why = f"{waiting} others wait for this study, and {patience:g} seconds were not enough"
        if waiting and _is_stopped(first):
            why += f"; the first of them, process {first}, was stopped by a signal"
    return f"{why}. Nothing was changed; try again, or give Study a longer patience"


def _pause(ahead: int) -> float:
    """Seconds to listen before looking again: the longer, the more tickets are ahead."""
    return min(LONGEST_SLEEP, (ahead + 1) * LOOKS_EVERY)


# --- files ---------------------------------------------------------------------------------------


class FileBeside:
    """An open file that is closed once: by hand, or with its owner."""

    def __init__(self, file: int) -> None:
        self.file = file
        self._close = weakref.finalize(self, os.close, file)

    def close(self) -> None:
        """Close it, unless that was done."""
        self._close()


def open_beside(path: Path, ending: str) -> FileBeside:
    """A file beside a database; a new one is for those who may use the database."""
    name = f"{path.name}{ending}"
    with Folder(path.parent) as folder:
        try:
            opened = FileBeside(folder.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return FileBeside(folder.open_file(name, os.O_RDWR))
        database = folder.stat(path.name)
        give(opened.file, database, database.st_mode & 0o666)
    return opened


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
    """A place in the queue: a pipe to which its owner listens while it waits."""

    def __init__(self, queue: _Queue, name: str, opened: FileBeside) -> None:
        self.name, self._queue, self._opened = name, queue, opened
        self._poll = select.poll()
        self._poll.register(opened.file, select.POLLIN)

    def wait(self, seconds: float) -> None:
        """Until somebody says that there is a change, or so many seconds have passed."""
        if self._poll.poll(1000 * seconds):
            with suppress(BlockingIOError):
                os.read(self._opened.file, 4096)

    def remove(self) -> None:
        """Give up the place."""
        with suppress(OSError), self._queue.folder() as folder:
            folder.remove(self.name)
        self._opened.close()  # which makes it a dead one's, if it is still there


class _Queue:
    """The folder of tickets, the oldest first."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._folder = f"{path}-queue"

    @contextmanager
    def folder(self) -> Iterator[Folder]:
        """The folder, open."""
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
        """The tickets, in order; those that are being made begin with a point, and come first."""
        if not os.path.lexists(self._folder):  # nobody has ever waited
            return []
        try:
            with self.folder() as folder:
                names = sorted(filter(TICKET.fullmatch, folder.names()))
                begin = bisect(names, "/")  # what stands between the point and the digits
                for name in names[:begin]:
                    if _is_old(name):  # killed while it made a ticket
                        _remove(folder, name)
        except (FileNotFoundError, PermissionError):  # there is none, or it is another user's
            return []
        return names[begin:]

    def is_empty(self) -> bool:
        """Whether nobody waits; tickets of dead owners are removed."""
        return not any(map(self._listens, self._names()))

    def ahead(self, ticket: str) -> int:
        """How many wait before this one; tickets of dead owners at the front are removed."""
        names = self._names()
        older = names[: bisect_left(names, ticket)]
        while older and not self._listens(older[0]):
            del older[0]
        return len(older)

    def draw(self) -> _Ticket:
        """A place at the end of the queue."""
        # A clock that all processes share, and never goes back. The rest keeps names apart.
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
                # Open for both: so that it does not end with the first who writes into it.
                opened = FileBeside(folder.open(f".{name}", os.O_RDWR))
                if _is_ours(opened.file) and _is_pipe(opened.file):
                    queue = folder.stat(".")
                    give(opened.file, queue, queue.st_mode & 0o666)
                # Only now: a ticket to which nobody listens is a dead one's.
                folder.rename(f".{name}", name)
                return _Ticket(self, name, opened)
            except BaseException:  # the pipe is closed with its owner, which nobody has any more
                for made in (f".{name}", name):
                    with suppress(FileNotFoundError):
                        folder.remove(made)
                raise

    def _make_folder(self) -> None:
        """Make the folder for those who may use the database."""
        name = f"{self._path.name}-queue"
        with Folder(self._path.parent) as beside, suppress(FileExistsError):
            beside.make_folder(name)
            made = FileBeside(beside.open(name, os.O_RDONLY | os.O_DIRECTORY))
            # Another folder may have been put in its place since: one with anything in it is kept.
            if _is_ours(made.file) and all(map(TICKET.fullmatch, os.listdir(made.file))):
                database = beside.stat(self._path.name)
                mode = database.st_mode & 0o666
                give(made.file, database, mode | (mode >> 2) & 0o111)  # who may read may look in
            made.close()

    def wake(self) -> None:
        """Tell the first who listens that the turn may be free, and another to prepare."""
        names = self._names()
        next(filter(self._tell, names), None)
        for name in names[SOON : SOON + 1]:
            self._tell(name)

    def _tell(self, name: str) -> bool:
        """Write into a pipe; whether anybody heard it."""
        if not self._listens(name):
            return False
        try:
            with self.folder() as folder:
                # Open for both: who gives up at this very instant makes it no broken pipe.
                file = folder.open(name, os.O_RDWR)
        except OSError:  # gone, or another user's
            return False
        try:
            if not _is_pipe(file):  # put there since
                return False
            with suppress(BlockingIOError):  # full: it was told often enough
                os.write(file, b".")
            return True
        finally:
            os.close(file)

    def _listens(self, name: str) -> bool:
        """Whether the owner of a ticket lives; the ticket of one that does not is removed."""
        try:
            with self.folder() as folder:
                alive = _is_listened_to(folder, name)
                if not alive:
                    _remove(folder, name)
        except FileNotFoundError:
            return False
        return alive

    def first(self) -> int:
        """The process that has waited longest; 0 if nobody waits."""
        return next((_owner(name) for name in self._names() if self._listens(name)), 0)


def _is_listened_to(folder: Folder, ticket: str) -> bool:
    try:
        file = folder.open(ticket, os.O_WRONLY)
    except FileNotFoundError:
        raise
    except OSError as error:
        # ENXIO is what a pipe says to which nobody listens, ELOOP a link; of another user's only
        # the process tells.
        return error.errno not in (errno.ENXIO, errno.ELOOP) and _is_alive(_owner(ticket))
    try:
        return _is_pipe(file)  # not of an older dikin, or put there
    finally:
        os.close(file)


def _is_pipe(file: int) -> bool:
    return stat.S_ISFIFO(os.fstat(file).st_mode)


def _is_ours(file: int) -> bool:
    """Whether this process's user made a file, and it has no second name elsewhere."""
    status = os.fstat(file)
    return status.st_uid == os.geteuid() and (stat.S_ISDIR(status.st_mode) or status.st_nlink == 1)


def _owner(ticket: str) -> int:
    """The process that drew a ticket, 0 where its name does not say."""
    with suppress(IndexError, ValueError):
        return int(ticket.split(".")[1])
    return 0


def _is_old(ticket: str) -> bool:
    """Whether a ticket was begun long ago, or before the machine was started."""
    # Not told from the process: in another container it has another number.
    with suppress(ValueError):
        return abs(time.monotonic_ns() - int(ticket.split(".")[1])) > 1e9 * MAKING_TAKES
    return True


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # another user's
        return True
    return process > 0


def _remove(folder: Folder, name: str) -> None:
    with suppress(OSError):  # gone, or in a folder of another user
        folder.remove(name)
