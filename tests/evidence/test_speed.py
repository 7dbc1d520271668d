"""The tracer counts every call into dikin, and nothing else."""

import sys
from typing import Any

import pytest

import dikin
from dikin.arguments import is_whole, whole
from evidence import speed


def test_calls_into_dikin_are_counted() -> None:
    """`whole` calls `is_whole`; `len` and this file's own function are not dikin's."""
    stops, result = speed.walk(lambda: len([whole(3, "n", 1, "a count"), is_whole(3)]))
    assert result == 2
    assert stops == ["arguments.py:whole", "arguments.py:is_whole", "arguments.py:is_whole"]
    with pytest.raises(dikin.DikinError):
        speed.walk(lambda: whole(0, "n", 1, "a count"))
    assert sys.getprofile() is None, "it is traced afterwards"


def test_a_further_call_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant: a layer that does nothing, on the way of every ask."""
    learner = dikin.AdaptiveSmooth(dikin.Ball(10), 1.0, seed=1)
    learner.ask()  # noise is drawn for several rounds
    before = len(speed.walk(learner.ask)[0])
    ask = dikin.AdaptiveSmooth._propose
    names: dict[str, Any] = {"ask": ask}
    layer = "def _propose(*arguments): return ask(*arguments)"
    exec(compile(layer, f"{speed.SOURCE}/layer.py", "exec"), names)
    monkeypatch.setattr(dikin.AdaptiveSmooth, "_propose", names["_propose"])
    stops = speed.walk(learner.ask)[0]
    assert len(stops) == before + 1
    assert "layer.py:_propose" in stops
