"""The example with losses, a domain and a learner of a user, in the comparison."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(EXAMPLES)
    yield importlib.import_module("own_comparison")
    sys.modules.pop("own_comparison", None)


def test_own_losses_domain_and_learner_take_part(example: Any, tmp_path: Path) -> None:
    matrix = example.play(rounds=40, games=2, out=tmp_path, workers=1)
    names = {"Predictive", "AdaptiveSmooth", "FKM", "FixedPoint", "Careless"}
    assert {one.learner for one in matrix.outcomes if one.played} == names
    assert not any(one.broken for one in matrix.outcomes), "all that is declared is true"
    assert (tmp_path / "compare.png").stat().st_size > 5_000
    own = next(one for one in matrix.outcomes if one.learner == "Careless")
    assert own.bounded, "its certificate is checked like any other"


def test_what_the_shop_declares_is_true(example: Any) -> None:
    """The laws of environments, but for those that need another seed's chance in the losses."""
    game = example.shop(50, 3)
    low, high = game.loss_range
    chance, size = np.random.default_rng(1), example.PRICES.radius
    points = example.PRICES.center + chance.uniform(-size, size, size=(400, 2))
    inside = [point for point in points if example.PRICES.contains(point)]
    assert len(inside) > 50
    losses = np.array([game.answer(point)[0] for point in inside[:50]])
    assert low <= losses.min()
    assert losses.max() <= high
    best, total = game.best()
    assert example.PRICES.contains(best)
    assert losses.sum() > total
