"""Lines in the log that every round may write: at most ten a minute, and the others are counted."""

from __future__ import annotations

import copy
import logging
import pickle
from pathlib import Path

import pytest

import dikin
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


# --- through a tuner, a study and a service ------------------------------------------------------


def shop(**more: float) -> dikin.Tuner:
    return dikin.Tuner({"price": dikin.Real(1, 14, start=4)}, value_range=(0, 10), seed=1, **more)


def fault(player: dikin.Tuner | dikin.Study) -> None:
    player.tell(player.ask(), 1e6)


def lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [each.message for each in caplog.records if "value_range=(0, 10)" in each.message]


@pytest.fixture
def heard(caplog: pytest.LogCaptureFixture, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The log is listened to, and the clock of every learner is set by hand."""
    caplog.set_level(logging.WARNING, logger="dikin")
    monkeypatch.setattr("dikin.learners.predictive.LogLimit", lambda: LogLimit(clock))
    return clock


def test_a_tuner_writes_ten_lines_a_minute(heard: Clock, caplog: pytest.LogCaptureFixture) -> None:
    tuner = shop()
    for _ in range(15):
        fault(tuner)
    assert len(lines(caplog)) == LINES
    heard.now += SECONDS
    fault(tuner)
    assert "(5 such lines before it were not written)" in lines(caplog)[-1]
    assert tuner.clipped == 16  # written or not


@pytest.mark.parametrize(
    "twin", [copy.copy, copy.deepcopy, lambda t: pickle.loads(pickle.dumps(t))]
)
def test_a_copy_has_a_limit_of_its_own(twin: object, heard: Clock) -> None:
    tuner = shop()
    other = twin(tuner)  # type: ignore[operator]
    assert other.learner._log_limit is not tuner.learner._log_limit
    fault(other)
    assert (other.clipped, tuner.clipped) == (1, 0)


def test_a_study_says_once_what_it_replays(
    heard: Clock, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    file = tmp_path / "studies.db"
    with dikin.Study(file, "a", shop()) as study:
        for _ in range(LINES + 5):
            fault(study)
        assert len(lines(caplog)) == LINES
    caplog.clear()
    with dikin.Study(file, "a") as study:
        assert study.summary().clipped == LINES + 5
        assert lines(caplog) == []
        fault(study)  # what was replayed has not used up the lines of this client
    (line,) = lines(caplog)
    assert "such lines" not in line
