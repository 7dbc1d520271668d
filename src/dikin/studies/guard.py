"""One call at a time: threads take turns, no call runs inside another, and no fork inside a call.

A call that Ctrl-C has ended without its cleaning up is known by its frame, which is on no stack
any more.
"""

from __future__ import annotations

import logging  # noqa: F401 - its lock is taken before a fork, too: after ours, if it is loaded now
import os
import sys
import threading
from contextlib import suppress
from typing import Any
from weakref import WeakSet

from dikin.errors import StateError

LOOKS_EVERY = 0.02  # seconds between two looks at a call that may have been interrupted
FORK = object()  # stands for the frame of a fork: it is over when it says so


class Guard:
    """The call that uses a connection at present."""

    def __init__(self) -> None:
        self._slot: dict[str, tuple[object, int]] = {}
        self._left = threading.Event()
        self._mutex = threading.Lock()

    def enter(self, frame: object) -> bool:
        """Wait for the calls of other threads. Return False after one that was interrupted."""
        if _forking:
            with _gate:  # otherwise a client in a tight loop would keep a fork waiting
                pass
        me = threading.get_ident()
        while True:
            holder = self._slot.setdefault("holder", (frame, me))  # one step for the interpreter
            if holder[0] is frame:
                return True
            if not _runs(*holder):
                with self._mutex:
                    if self._slot.get("holder") is holder:
                        self._slot["holder"] = (frame, me)
                        return False
            elif holder[1] == me:
                raise StateError(
                    "this was called from inside another call of the same study on the same "
                    "thread: by a signal handler, a log handler or a __del__. Call it afterwards, "
                    "from another thread, or open the study a second time. Nothing was changed."
                )
            else:
                self._left.clear()
                if self._slot.get("holder") is holder:
                    self._left.wait(LOOKS_EVERY)

    def leave(self, frame: object) -> None:
        if self._slot.get("holder", (None,))[0] is frame:
            del self._slot["holder"]
        self._left.set()

    @property
    def is_mine(self) -> bool:
        """True if this thread is in the call."""
        frame, thread = self._slot.get("holder", (None, 0))
        return thread == threading.get_ident() and _runs(frame, thread)


def _runs(frame: object, thread: int) -> bool:
    """Return whether a frame is on the stack of a thread."""
    if frame is FORK:
        return True
    found = sys._current_frames().get(thread)
    while found is not None and found is not frame:
        found = found.f_back
    return found is frame


# A forked child inherits SQLite's records of locks without the locks, and ends its parent's
# connection to PostgreSQL with its own. So a fork waits for the calls of other threads, and closes
# all connections. A thread that forks inside its own call loses its transaction.

_clients: WeakSet[Any] = WeakSet()
_gate = threading.RLock()
_forking: list[Guard] = []  # the guards that a fork in progress has entered


def register(client: Any) -> None:
    """Close the connection of a client before every fork, for as long as the client lives."""
    _clients.add(client)


def _all() -> list[Any]:
    while True:
        try:
            return list(_clients)
        except RuntimeError:  # another thread has made a client meanwhile
            continue


def has_inherited(kind: type[Any]) -> bool:
    """Return whether a connection of a kind was open in a fork of which Python did not hear."""
    own = [each for each in _all() if isinstance(each, kind) and each.connection is not None]
    return any(each.process != os.getpid() for each in own)


def _before() -> None:
    _gate.acquire()
    for client in _all():
        idle = not client.guard.is_mine
        if idle:
            _forking.append(client.guard)
            client.guard.enter(FORK)
        client.before_fork(idle)


def _after() -> None:
    # In the child too: it continues with the thread that has entered them.
    while _forking:
        _forking.pop().leave(FORK)
    with suppress(RuntimeError):  # Ctrl-C came before it was taken
        _gate.release()


if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
    os.register_at_fork(before=_before, after_in_parent=_after, after_in_child=_after)
