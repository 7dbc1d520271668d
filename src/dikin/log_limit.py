"""At most so many lines a minute in the log: what happens in every round must not fill a disk."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from dikin.silence import SILENCE

logger = logging.getLogger("dikin")

LINES, SECONDS = 10, 60.0
"""So many lines in so many seconds."""


class LogLimit:
    """Lets some lines through, and counts the others."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._since, self._written, self._left_out = clock, clock(), 0, 0

    def allows(self) -> bool:
        """Return whether one more line may be written; if not, count it.

        Nothing is written or counted while `dikin.silence.silence` holds.
        """
        if SILENCE.now:  # what is done again was said before
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
        """Return what the next line says of those not written since the last one, if any."""
        count, self._left_out = self._left_out, 0
        return f" ({count} such lines before it were not written)" if count else ""
