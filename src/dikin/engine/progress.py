"""A progress bar with the remaining time, for runs longer than two seconds."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Protocol, Self

from dikin import extras

PATIENCE = 2.0
"""Seconds before the bar appears."""
PIECE = 1.0
"""Approximate seconds between two readings of the clock."""


class Progress:
    """Plays in pieces of about a second, so that a bar can move and Ctrl-C is heard."""

    def __init__(self, total: int, wanted: bool) -> None:
        self._total, self._done, self._piece = total, 0, 1000
        self._next_look = 0
        self._wanted = wanted and sys.stderr is not None and sys.stderr.isatty()
        self._start = time.perf_counter()
        self._bar: _Bar | None = None

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

    def move(self, count: int) -> None:
        """Say that so many more are done; may be called for each."""
        self._done += count
        if self._done >= self._next_look:
            self._next_look = self._done + max(1, self._total // 1000)
            self._show()

    def _show(self) -> None:
        if not self._wanted or time.perf_counter() - self._start < PATIENCE:
            return
        if self._bar is None:
            self._bar = _new_bar(self._total)
        self._bar.show(self._done)

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


def _new_bar(total: int) -> _Bar:
    return _RichBar(total) if extras.installed("rich") else _PlainBar(total)


class _Bar(Protocol):
    """What is on the screen."""

    def show(self, done: int) -> None:
        """So many rounds are played."""
        ...

    def stop(self) -> None:
        """Leave the screen as it was."""
        ...


class _RichBar:
    def __init__(self, total: int) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

        columns = "rounds", BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
        self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
        self._task = self._bar.add_task("", total=total)
        self._bar.start()

    def show(self, done: int) -> None:
        self._bar.update(self._task, completed=done)

    def stop(self) -> None:
        self._bar.stop()


class _PlainBar:
    """One line, written over and over."""

    def __init__(self, total: int) -> None:
        self._total, self._start, self._first = total, time.perf_counter(), 0

    def show(self, done: int) -> None:
        took = time.perf_counter() - self._start
        if not self._first:  # its own time counts from here
            self._first = done
        elif done > self._first:
            left = took * (self._total - done) / (done - self._first)
            self._write(f"rounds {done:,} of {self._total:,}, {left:,.0f} s left")

    def stop(self) -> None:
        self._write("")

    def _write(self, text: str) -> None:
        sys.stderr.write(f"\r{text:<70}\r")
        sys.stderr.flush()
