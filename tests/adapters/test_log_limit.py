"""Warnings that every request may cause: at most ten a minute, and the others are counted."""

from __future__ import annotations

import pytest

from dikin.adapters import LINES, SECONDS, LogLimit


def test_ten_lines_pass_and_the_next_ones_are_counted(caplog: pytest.LogCaptureFixture) -> None:
    now = 1000.0
    limit = LogLimit(lambda: now)
    for _ in range(3):  # every minute has its own ten
        caplog.clear()
        for number in range(LINES + 25):
            limit.warn(f"line {number}")
        now += SECONDS - 0.001
        limit.warn("just before")
        assert len(caplog.messages) == LINES
        now += 0.001
        limit.warn("after")
        assert caplog.messages[-1] == "after (26 such lines before it were not written)"
        limit.warn("and once more")
        assert caplog.messages[-1] == "and once more"
        now += SECONDS
    caplog.clear()
    for _ in range(100):  # those that come slowly are all written
        limit.warn("slow")
        now += SECONDS / LINES
    assert caplog.messages == 100 * ["slow"]
