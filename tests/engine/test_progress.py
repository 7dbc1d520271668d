"""The progress bar of long games."""

from __future__ import annotations

import io
import sys

import pytest

from dikin.engine import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_is_shown_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    with progress.Progress(3000, wanted=True) as bar:
        bar.advance(lambda rounds: None, 3000)
    assert "1000/3000" in terminal.getvalue()
    assert "3000/3000" in terminal.getvalue()
    assert terminal.getvalue().endswith("\n")


def test_the_remaining_time_counts_what_was_done_before_the_bar_appeared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = [1e6]
    monkeypatch.setattr("time.time", lambda: now[0])
    monkeypatch.setattr("time.perf_counter", lambda: now[0])
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)

    def minute(rounds: int) -> None:
        now[0] += 60.0

    with progress.Progress(4000, wanted=True) as bar:
        bar.advance(minute, 1000)
        bar.advance(minute, 1000)
    assert "2000/4000  00:02:00" in terminal.getvalue()
