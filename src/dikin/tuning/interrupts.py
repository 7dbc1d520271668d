"""Ctrl-C at a moment of our choice: while the user's function runs, and not inside our own steps.

Python raises `KeyboardInterrupt` between any two of its instructions. Between asking and telling it
would leave a round that one object has counted and another has not.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Interrupts:
    """What becomes of Ctrl-C during a game."""

    def __init__(self) -> None:
        self._allowed = self._pending = False

    @contextmanager
    def deferred(self) -> Iterator[None]:
        """Defer Ctrl-C, but where it is `allowed`.

        In another thread than the main one, and where someone else handles Ctrl-C, nothing changes.
        """
        usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if not usual or threading.current_thread() is not threading.main_thread():
            yield
            return
        signal.signal(signal.SIGINT, self._receive)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    @contextmanager
    def allowed(self) -> Iterator[None]:
        """Let Ctrl-C through, also one that was deferred."""
        self._allowed = True
        try:
            if self._pending:
                raise KeyboardInterrupt
            yield
        finally:
            self._allowed = False

    def _receive(self, number: int, frame: FrameType | None) -> None:
        self._pending = True
        if self._allowed:
            raise KeyboardInterrupt
