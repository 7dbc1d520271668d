"""No connection survives a fork: all are closed before it, and the next call opens a new one.

SQLite records in memory which locks its process holds. A forked child inherits the records but not
the locks: it would read and write the same file without any lock, and either process would delete
the log that the other uses. If every connection is closed, there are no records.

A fork waits until the calls of other threads have returned, so that no transaction is cut in two.
The one exception is a thread that forks in the middle of its own call (in a signal handler, say):
its transaction is rolled back, and the call begins it again.
"""

from __future__ import annotations

import logging  # noqa: F401 - its lock is taken before a fork, too: after ours, if it is loaded now
import os
from contextlib import suppress
from threading import RLock, local
from typing import Protocol
from weakref import WeakKeyDictionary, WeakSet

from dikin.errors import StoreError


class Client(Protocol):
    """An object with a connection."""

    lock: RLock
    """Held by the thread that uses the connection."""

    def before_fork(self) -> None:
        """Close the connection, so that it can be opened again."""


_clients: WeakSet[Client] = WeakSet()
gate = RLock()
"""Held while a process forks, or waits to: who is about to use a connection goes through it."""


class _Forks(local):
    """The forks of a thread that are in progress."""

    def __init__(self) -> None:
        self.locks: list[list[RLock]] = []
        """The locks held for each, in the order in which they were taken. There are several only if
        a signal handler forks while its thread does."""


_forks = _Forks()


def register(client: Client) -> None:
    """Close the connection of a client before every fork, for as long as the client lives."""
    with gate:
        _clients.add(client)


def _before() -> None:
    _forks.locks.append([])
    _take(gate, blocking=True)
    clients = list(_clients)
    # Idle ones first: one of them may hold the turn that others wait for.
    for blocking in (False, True):
        clients = [client for client in clients if not _close(client, blocking)]


def _close(client: Client, blocking: bool) -> bool:
    """Close a connection when it is idle, or wait until it is; return whether it was closed."""
    locked = _take(client.lock, blocking)
    if locked:
        client.before_fork()
    return locked


def _take(lock: RLock, blocking: bool) -> bool:
    held = _forks.locks[-1]
    held.append(lock)  # first: Ctrl-C may come as soon as it is taken
    locked = lock.acquire(blocking=blocking)
    if not locked:
        held.pop()
    return locked


def _after() -> None:
    # In the child too: it continues with the thread that took the locks. The gate comes last: from
    # then on another thread may fork, with its own locks.
    for lock in reversed(_forks.locks.pop()):
        with suppress(RuntimeError):  # Ctrl-C came before it was taken
            lock.release()


if hasattr(os, "register_at_fork"):  # absent where there are no forks
    os.register_at_fork(before=_before, after_in_parent=_after, after_in_child=_after)


# --- forks that Python does not notice ---------------------------------------------------------

_noting = RLock()
_opened: WeakKeyDictionary[object, int] = WeakKeyDictionary()
"""Open connections to SQLite files, and the process that opened each."""


def note_open(connection: object) -> None:
    """Note that this process has opened a connection to an SQLite file."""
    with _noting:
        _opened[connection] = os.getpid()


def note_closed(connection: object) -> None:
    """Note that a connection was closed, if it was open."""
    with _noting:
        _opened.pop(connection, None)


def refuse_inherited(name: str) -> None:
    """Refuse to open an SQLite file if connections were inherited through an unnoticed fork."""
    with _noting:
        processes = set(_opened.values())
    if processes - {os.getpid()}:
        raise StoreError(
            f"{name} cannot be opened: this process was forked while a study was open in an SQLite "
            "file, by a program that forks without notifying Python. Open studies only after the "
            "fork (uWSGI: lazy-apps = true). Nothing was changed"
        )
