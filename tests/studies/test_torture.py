"""The long trials in small, and the page that says what came of the long ones."""

from __future__ import annotations

import re
from math import inf
from typing import Any

import pytest

import dikin
from dikin.studies import study as studies
from studies import linear, torture
from studies.crowd import crowd
from studies.linear import Call, has_order
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


# --- histories -----------------------------------------------------------------------------------

ASK = Call(0, 1, "ask", result=(0, False))
TOLD = Call(2, 3, "tell", 0, 0.5, "")
HISTORIES: dict[str, tuple[bool, list[Call]]] = {
    "a round": (True, [ASK, TOLD, Call(4, 5, "rounds", result=1)]),
    "a repetition": (True, [ASK, TOLD, TOLD, Call(4, 5, "rounds", result=1)]),
    "seen while it is told": (True, [ASK, TOLD, Call(2, 3, "rounds", result=1)]),
    "not seen yet": (True, [ASK, TOLD, Call(2, 3, "rounds", result=0)]),
    "seen before": (False, [ASK, TOLD, Call(0, 1, "rounds", result=1)]),
    "lost": (False, [ASK, TOLD, Call(4, 5, "rounds", result=0)]),
    "counted twice": (False, [ASK, TOLD, TOLD, Call(4, 5, "rounds", result=2)]),
    "told twice": (False, [ASK, TOLD, Call(4, 5, "tell", 0, 0.25, "")]),
    "told the other way round": (True, [ASK, Call(2, 3, "tell", 0, 0.25, "AnsweredError"), TOLD]),
    "forgotten and told": (False, [ASK, TOLD, Call(4, 5, "forget", 0, None, "")]),
    "told before it was asked": (False, [ASK._replace(begin=4, end=5), TOLD]),
    "asked twice": (False, [ASK, Call(0, 1, "ask", result=(0, False))]),
    "asked after a pause": (False, [ASK, Call(-2, -1, "pause")]),
    "asked after a pause that may come later": (True, [ASK, Call(0, inf, "pause")]),
    "gone back": (
        False,
        [ASK, TOLD, Call(2, 2.4, "rounds", result=1), Call(2.5, 3, "rounds", result=0)],
    ),
}


@pytest.mark.parametrize("what", HISTORIES)
def test_a_history_has_an_order_or_none(what: str) -> None:
    has_one, calls = HISTORIES[what]
    assert has_order(calls) == has_one


def test_the_calls_of_a_study_have_an_order(file: str) -> None:
    linear.games(file, [file] * 3, 0.0)


@pytest.mark.parametrize(
    "mutant",
    [
        (studies, "_refuse_another", lambda *_: None),
        (dikin.Study, "rounds", property(lambda study: study._ledger.fold.rounds)),
    ],
    ids=["a second answer is acknowledged", "rows of others are not read"],
)
def test_a_study_whose_calls_have_no_order_is_caught(
    file: str, mutant: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(*mutant)
    with pytest.raises(AssertionError, match="no order explains"):
        linear.games(file, [file] * 3, 60.0)
