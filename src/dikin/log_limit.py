"""At most ten lines a minute in the log, so a line in every round does not fill a disk."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import local

logger = logging.getLogger("dikin")

LINES, SECONDS = 10, 60.0
"""So many lines in so many seconds."""


class _Silence(local):
    """Return whether this thread repeats calls that were logged before."""

    now = False


SILENCE = _Silence()


@contextmanager
def silence() -> Iterator[None]:
    """Let learners say nothing in this thread: no warning, no line in a log.

    Unlike filters of warnings this changes nothing for other threads, and costs next to nothing.
    """
    before, SILENCE.now = SILENCE.now, True
    try:
        yield
    finally:
        SILENCE.now = before


class LogLimit:
    """Lets some lines through, and counts the others."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._since, self._written, self._left_out = clock, clock(), 0, 0

    def allows(self) -> bool:
        """Return whether one more line may be written. It is counted if not, but for silence."""
        if SILENCE.now:
            return False
        now = self._clock()
        if not 0.0 <= now - self._since < SECONDS:  # a copy may have come from another machine
            self._since, self._written = now, 0
        if self._written >= LINES:  # threads may have passed it
            self._left_out += 1
            return False
        self._written += 1
        return True

    def warn(self, text: str) -> None:
        """Write a warning, if one more line may be written."""
        if self.allows():
            logger.warning("%s%s", text, self.passed_over())

    def passed_over(self) -> str:
        """Return the remark of the next line on lines that were left out since the last one."""
        count, self._left_out = self._left_out, 0
        return f" ({count} such lines before it were not written)" if count else ""
