"""States that are read back: what is not whole is said, and nothing else is swallowed."""

from __future__ import annotations

from math import inf, nan
from typing import Any

import pytest

from dikin.errors import ParameterError, StateError
from dikin.worth.states import number_or, refuse_altered, whole_state


@pytest.mark.parametrize("reason", [KeyError("share"), TypeError("none"), ParameterError("odd")])
def test_what_is_not_whole_is_said(reason: Exception) -> None:
    said = pytest.raises(StateError, match="the state of a guard is not whole")
    with said as found, whole_state("a guard"):
        raise reason
    assert found.value.__cause__ is reason


def test_other_errors_are_not_swallowed() -> None:
    with pytest.raises(ZeroDivisionError), whole_state("a guard"):
        raise ZeroDivisionError


@pytest.mark.parametrize("state", [{"a": inf}, {"a": "1"}, {"b": 1.0}, {"a": 1.0, "b": 1.0}, None])
def test_what_is_altered_is_refused(state: Any) -> None:
    with pytest.raises(StateError):
        refuse_altered(state, {"a": 0.5}, "a guard")
    refuse_altered({"a": 2.0}, {"a": 0.5}, "a guard")


def test_none_stands_for_what_json_has_not() -> None:
    assert number_or(inf, None) == inf
    assert number_or(nan, 2) == 2.0
    with pytest.raises(ParameterError):
        number_or(inf, "high")
