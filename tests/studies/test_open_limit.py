"""Queries that are never answered: how many there may be, and how they are forgotten together."""

from __future__ import annotations

import pytest

import dikin
from dikin import errors
from dikin.studies import ledger
from studies.small import command, folded, fresh, sharing, state_of

HOUR = 3600 * 10**6
"""Microseconds."""


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The time of day, in microseconds since 1970, to be set."""
    now = [1_700_000_000 * 10**6]
    monkeypatch.setattr(ledger, "now", lambda: now[0])
    return now


def test_there_may_be_so_many(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger, "MOST_OPEN", 3)
    with dikin.Study(file, "a", fresh(), client="it") as study:
        asked = [study.ask(key=f"key {number}") for number in range(3)]
        before = study.state()
        words = r"3 trials of this study .*asked by it.*forget\(older_than="
        with pytest.raises(errors.QueryError, match=words):
            study.ask()
        assert study.state() == before
        assert study.ask(key="key 1") == asked[1]  # which is no other one
        study.tell(asked[0], 0.25)
        study.ask()
        with pytest.raises(errors.QueryError):
            study.ask(key="key 3")
        assert study.verify().rows == 5


def test_all_that_are_too_old_are_forgotten(
    url: str, clock: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    with sharing(url, "a", fresh()) as study:
        for _ in range(5):
            study.ask()
        clock[0] += HOUR
        late = study.ask()
        assert study.forget(older_than=3601) == 0
        assert study.forget(older_than=3599) == 5
        assert study.forget(older_than=3599) == 0
        study.forget(late)
        assert study.verify().rows == 12
    with dikin.Study(url, "a") as study:
        assert study.open_queries == []
        assert state_of(study) == state_of(folded(url))


def test_on_the_command_line(file: str, clock: list[int]) -> None:
    with dikin.Study(file, "a", fresh()) as study:
        study.ask()
        study.ask()
    clock[0] += 2 * HOUR
    call = ("forget", "a", "--url", file)
    assert command(*call, "--older-than", "3600").output == "2 forgotten\n"
    refused = command(*call, "0", "--older-than", "3600")
    assert refused.exit_code == 2
    assert "got both" in refused.output
    assert "the trial or its id, got None" in command(*call).output
