"""benchmarks/walk.py: the tracer counts every call into dikin, and nothing else."""

from __future__ import annotations

import sys
from typing import Any

import pytest

import dikin
from dikin.arguments import is_whole, whole


@pytest.fixture
def walk(scripts: Any) -> Any:
    return scripts("walk")


def test_calls_into_dikin_are_counted(walk: Any) -> None:
    """`whole` calls `is_whole`; `len` and this file's own function are not dikin's."""

    def call() -> int:
        return len([whole(3, "n", 1, "a count"), is_whole(3)])

    walked, result = walk.walk(call)
    assert result == 2
    assert walked.stops == [
        "arguments.py:whole",
        "arguments.py:is_whole",
        "arguments.py:is_whole",
    ]
    assert walked.files == {"arguments.py"}


def test_a_further_stop_is_noticed(walk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The mutant: a layer that does nothing, on the way of every ask."""
    learner = walk.learner()
    learner.ask()  # noise is drawn for several rounds
    before = len(walk.walk(learner.ask)[0].stops)
    ask = dikin.AdaptiveSmooth._propose
    source = compile(
        "def _propose(*arguments): return ask(*arguments)", f"{walk.SOURCE}/layer.py", "exec"
    )
    names: dict[str, Any] = {"ask": ask}
    exec(source, names)
    monkeypatch.setattr(dikin.AdaptiveSmooth, "_propose", names["_propose"])
    walked = walk.walk(learner.ask)[0]
    assert len(walked.stops) == before + 1
    assert "layer.py:_propose" in walked.stops


def test_nothing_is_traced_afterwards(walk: Any) -> None:
    with pytest.raises(dikin.DikinError):
        walk.walk(lambda: whole(0, "n", 1, "a count"))
    assert sys.getprofile() is None
