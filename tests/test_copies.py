"""Copies and pickles of learners and tuners go on exactly and alone; a fork is said."""

import contextlib
import copy
import os
import pickle
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dikin
from dikin import registry
from dikin.checks.learner import ask, shaped
from dikin.errors import DikinWarning

COPIES: dict[str, Callable[[Any], Any]] = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda learner: pickle.loads(pickle.dumps(learner)),
}


def example_of(cls: type[dikin.Learner]) -> dikin.Learner:
    """Return the first example of a class on the first set that it plays on."""
    for domain in (dikin.Box([0, 0], [1, 2]), dikin.Ball(2), dikin.Ball(1), dikin.Box([0], [1])):
        with contextlib.suppress(dikin.DikinError):
            return next(iter(cls.examples(domain, 3)))
    raise AssertionError(f"{cls.__name__} plays on none of them")


@pytest.mark.parametrize("way", COPIES)
@pytest.mark.parametrize("kind", registry.FOLDERS["learners"].every())
def test_a_copy_goes_on_exactly_and_alone(kind: str, way: str) -> None:
    with warnings.catch_warnings(action="ignore"):
        learner = example_of(registry.FOLDERS["learners"].every()[kind])
        for _ in range(12):
            learner.tell(ask(learner), shaped(learner, sum(learner.units.loss_range) / 2))
        waiting = ask(learner)
        twin = COPIES[way](learner)
        before = learner.state()
        assert twin.state() == before
        queries = [ask(twin) for _ in range(3)]
        twin.tell(waiting.id, shaped(twin, sum(twin.units.loss_range) / 2))
        twin.forget(queries[0])
        assert learner.state() == before  # what the copy does, the original does not see
        assert [ask(learner) for _ in range(3)] == queries


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks here")
def test_a_forked_child_is_told_once() -> None:
    learner = dikin.Predictive(dikin.Ball(2), seed=1)
    learner.ask()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:  # pragma: no cover - in the child
        with warnings.catch_warnings(record=True, action="always") as heard:
            learner.ask()
            learner.ask()
            dikin.Predictive(dikin.Ball(2), seed=1).ask()
        kinds = [issubclass(each.category, DikinWarning) for each in heard]
        os.write(writer, b"told once" if kinds == [True] else repr(heard).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as answer:
        assert answer.read() == b"told once"
    os.waitpid(child, 0)
    with warnings.catch_warnings(action="error"):
        assert np.isfinite(learner.ask().point).all()  # the parent is told nothing
