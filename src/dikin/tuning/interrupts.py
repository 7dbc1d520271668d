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
        self._welcome = self._waiting = False

    @contextmanager
    def held_back(self) -> Iterator[None]:
        """Hold Ctrl-C back, but where it is `welcome`.

        In another thread than the main one, and where someone else handles Ctrl-C, nothing changes.
        """
        usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if not usual or threading.current_thread() is not threading.main_thread():
            yield
            return
        signal.signal(signal.SIGINT, self._heard)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    @contextmanager
    def welcome(self) -> Iterator[None]:
        """Let Ctrl-C through, also one that has been held back."""
        self._welcome = True
        try:
            if self._waiting:
                raise KeyboardInterrupt
            yield
        finally:
            self._welcome = False

    def _heard(self, number: int, frame: FrameType | None) -> None:
        self._waiting = True
        if self._welcome:
            raise KeyboardInterrupt
