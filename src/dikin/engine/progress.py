"""A progress bar with the remaining time, for runs longer than two seconds."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

PATIENCE = 2.0
"""Seconds before the bar appears."""
PIECE = 1.0
"""Seconds between two looks at the clock, about."""


class Progress:
    """Plays in pieces of about a second, so that a bar can move and Ctrl-C is heard."""

    def __init__(self, total: int, wanted: bool) -> None:
        self._total, self._done, self._piece = total, 0, 1000
        self._wanted = wanted and sys.stderr.isatty()
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
            self._done += piece
            if piece == self._piece and took < PIECE / 2:
                self._piece *= 2
            self._show()

    def _show(self) -> None:
        if not self._wanted or time.perf_counter() - self._start < PATIENCE:
            return
        if self._bar is None:
            self._bar = _new_bar(self._total)
        self._bar.update(self._bar.task_ids[0], completed=self._done)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()


def _new_bar(total: int) -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    bar = Bar(
        TextColumn("rounds"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    bar.add_task("rounds", total=total)
    bar.start()
    return bar
