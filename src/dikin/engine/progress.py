"""A progress bar with the remaining time, for runs longer than two seconds."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any, Self

PATIENCE = 2.0
"""Seconds before the bar appears."""
PIECE = 1.0
"""Approximate seconds between two readings of the clock."""


class Progress:
    """Plays in pieces of about a second, so that a bar can move and Ctrl-C is heard."""

    def __init__(self, total: int, wanted: bool) -> None:
        self._total, self._done, self._piece = total, 0, 1000
        self._wanted = wanted and sys.stderr is not None and sys.stderr.isatty()
        self._start = time.perf_counter()
        self._bar: Any = None

    def advance(self, play: Callable[[int], None], rounds: int) -> None:
        """Play that many rounds, in pieces."""
        while rounds > 0:
            piece = min(rounds, self._piece)
            before = time.perf_counter()
            play(piece)
            took = time.perf_counter() - before
            rounds -= piece
            if piece == self._piece and took < PIECE / 2:
                self._piece *= 2
            self.move(piece)

    def move(self, count: int) -> None:
        """Say that so many more are done."""
        self._done += count
        waited = time.perf_counter() - self._start
        if not self._wanted or waited < PATIENCE:
            return
        if self._bar is None:
            self._bar = _new_bar(self._total)
            self._bar.start -= waited  # the rounds until now count for the remaining time
        self._bar.update(self._done - self._bar.pos)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.render_finish()


def _new_bar(total: int) -> Any:
    from click import progressbar  # not in a live loop, which shows none

    return progressbar(length=total, label="rounds", show_pos=True, file=sys.stderr)
