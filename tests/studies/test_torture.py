"""The long trials in small, and the page that says what came of the long ones."""

from __future__ import annotations

import re

from studies import torture
from studies.crowd import crowd
from studies.test_kills import rows_on_the_page
from studies.torture import Trial, attempt


def test_the_page_says_what_the_file_says() -> None:
    assert rows_on_the_page("torture.csv", torture.TRIALS)


def test_a_trial_that_does_harm_is_counted() -> None:
    def harm(share: float) -> tuple[int, str]:
        raise AssertionError("a round was lost")

    row = attempt(Trial("x", "here", harm), 1.0)
    assert row.failed == 1
    assert re.fullmatch(r"test_torture.py:\d+: AssertionError: a round was lost", row.note)


def test_many_clients_at_once(url: str) -> None:
    """Each gets its turns, nothing is lost, nothing counts twice."""
    seen = crowd(url, clients=12, seconds=0.8)
    assert seen.lost == seen.doubled == 0
    assert seen.fewest > 0
