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
    """Lets some lines through, and counts the others.

    Parameters
    ----------
    clock : callable, default time.monotonic
        Gives the present time in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._since, self._written, self._left_out = clock, clock(), 0, 0

    def allows(self) -> bool:
        """Whether one more line may be written; if not, it is counted.

        Nothing is written or counted while `dikin.silence.silence` holds.

        Returns
        -------
        bool
            True for the first ten lines of a minute.
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
        """Write a warning, if one more line may be written.

        Parameters
        ----------
        text : str
            What it says.
        """
        if self.allows():
            logger.warning("%s%s", text, self.passed_over())

    def passed_over(self) -> str:
        """What the next line says of those that were not written since the last one.

        Returns
        -------
        str
            Empty if there were none.
        """
        count, self._left_out = self._left_out, 0
        return f" ({count} such lines before it were not written)" if count else ""
