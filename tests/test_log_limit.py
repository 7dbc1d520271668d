"""Lines in the log that every round may write: at most ten a minute, and the others are counted."""

from __future__ import annotations

import pytest

from dikin.log_limit import LINES, SECONDS, LogLimit, silence


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_ten_lines_pass_and_the_next_ones_are_counted(clock: Clock) -> None:
    limit = LogLimit(clock)
    for _ in range(3):  # every minute has its own ten
        assert [limit.allows() for _ in range(LINES + 25)] == LINES * [True] + 25 * [False]
        clock.now += SECONDS - 0.001
        assert not limit.allows()
        clock.now += 0.001
        assert limit.allows()
        assert limit.passed_over() == " (26 such lines before it were not written)"
        assert limit.passed_over() == ""
        clock.now += SECONDS
    for _ in range(100):  # those that come slowly are all written
        assert limit.allows()
        clock.now += SECONDS / LINES
    assert limit.passed_over() == ""


def test_a_clock_that_was_set_back_begins_anew(clock: Clock) -> None:
    """As that of another machine, to which a learner was sent: it has run for a shorter time."""
    limit = LogLimit(clock)
    assert [limit.allows() for _ in range(LINES + 1)][-1] is False
    clock.now -= 500.0
    assert limit.allows()


def test_what_is_done_again_is_neither_written_nor_counted(clock: Clock) -> None:
    limit = LogLimit(clock)
    with silence():
        assert not any(limit.allows() for _ in range(50))
    assert [limit.allows() for _ in range(LINES)] == LINES * [True]
    assert limit.passed_over() == ""
