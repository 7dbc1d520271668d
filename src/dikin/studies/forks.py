"""No connection lives through a fork: all are closed before it, and the next call opens its own.

SQLite notes in memory which locks its process holds. A forked child inherits the notes and not the
locks: it would read and write the same file without any, and either of the two would delete the log
under the other. Where every connection is closed, there are no notes.

A fork waits until the calls of other threads have returned, so that no transaction is cut in two.
The one exception is a thread that forks in the middle of its own call (in a signal handler, say):
its transaction is rolled back, and the call begins it again.
"""

from __future__ import annotations

import logging  # noqa: F401 - its lock is taken before a fork, too: after ours, if it is loaded now
import os
from threading import RLock
from typing import Protocol
from weakref import WeakKeyDictionary, WeakSet

from dikin.errors import StoreError


class Client(Protocol):
    """Something with a connection."""

    lock: RLock
    """Held by the thread that uses the connection."""

    def before_fork(self) -> None:
        """Close the connection, so that it can be opened again."""


_clients: WeakSet[Client] = WeakSet()
gate = RLock()
"""Held while a process forks, or waits to: who is about to use a connection goes through it."""
_forks: list[list[RLock]] = []
"""The locks that are held for each fork under way, in the order of taking them. There are several
forks only where a signal handler forks while its thread does."""


def register(client: Client) -> None:
    """Close the connection of a client before every fork, for as long as the client lives."""
    with gate:
        _clients.add(client)


def _before() -> None:
    gate.acquire()
    _forks.append([gate])
    waiting = list(_clients)
    # Those that nobody uses first: one of them may have the turn that others wait for.
    for blocking in (False, True):
        waiting = [client for client in waiting if not _close(client, blocking)]


def _close(client: Client, blocking: bool) -> bool:
    """Close a connection that nobody uses, or wait until nobody does; whether it was done."""
    taken = _take(client.lock, blocking)
    if taken:
        client.before_fork()
    return taken


def _take(lock: RLock, blocking: bool) -> bool:
    taken = lock.acquire(blocking=blocking)
    if taken:
        _forks[-1].append(lock)
    return taken


def _after() -> None:
    # In the child too: the thread that took them is the one that it goes on with. The gate is the
    # last one: from then on another thread may fork, with locks of its own.
    for lock in reversed(_forks.pop()):
        lock.release()


if hasattr(os, "register_at_fork"):  # there are no forks where there is none
    os.register_at_fork(before=_before, after_in_parent=_after, after_in_child=_after)


# --- forks of which Python does not hear ---------------------------------------------------------

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
    """Refuse to open an SQLite file where connections have come with a fork all the same."""
    with _noting:
        processes = set(_opened.values())
    if processes - {os.getpid()}:
        raise StoreError(
            f"{name} cannot be opened: this process was forked while a study was open in an SQLite "
            "file, by a program that forks without telling Python before. Open studies after the "
            "fork only (uWSGI: lazy-apps = true). Nothing was changed"
        )
