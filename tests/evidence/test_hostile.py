"""Hostile games: their laws, and their tables as their words say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dikin
from dikin.checks import environment as laws
from dikin.errors import CheckFailedError, DikinError
from dikin.rng import stream
from environments.playing import CHECKS, DISC, PLATE
from evidence.compare.hostile import KINDS, Hostile


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("domain", [DISC, PLATE, dikin.Simplex(3)], ids=repr)
def test_every_hostile_game_keeps_the_laws(kind: str, domain: Any) -> None:
    for check in CHECKS:
        check(lambda: Hostile(domain, kind, 97, 3), stream(0, check.__name__))


def test_a_hostile_game_with_a_wrong_best_point_is_caught() -> None:
    class Careless(Hostile):
        def best(self) -> tuple[Any, float]:
            return self.domain.center, self.total(3)

    with pytest.raises(CheckFailedError, match="the best total"):
        laws.check_best_is_no_worse_than_any_point(
            lambda: Careless(DISC, "late", 100, 3), stream(0, "mutant")
        )


def columns(kind: str, horizon: int = 1000) -> Any:
    return Hostile(DISC, kind, horizon, 5).kernel.table.T


def test_the_tables_are_as_their_words_say() -> None:
    alpha, _, kappa = columns("spikes")
    assert np.flatnonzero(kappa).tolist() == [*range(96, 1000, 97)]
    assert set(np.abs(kappa)) == {0.0, 1.0}
    assert not alpha.any()
    assert (columns("bursts")[0] < 0).sum() == 20 * 5
    turns = np.flatnonzero(np.diff(columns("switches")[0]))
    assert set(np.diff(turns)) == {31}  # the root of 1000
    period = columns("period")[0]
    np.testing.assert_array_equal(period[:-32], period[32:])
    storm = columns("storm")
    assert not storm[:, :500].any()
    np.testing.assert_allclose(np.abs(storm).sum(axis=0)[500:], 1.0)
    assert set(columns("alternating")[2]) == {0.8, -0.8}
    assert columns("late")[0].sum() == 100
    np.testing.assert_allclose(np.abs(columns("growing")[1]), 0.4 * np.arange(1, 1001) / 1000)
    np.testing.assert_allclose(np.abs(columns("shrinking")[1][::-1]), columns("growing")[1])
    assert set(columns("signs")[0]) == {1.0, -1.0}
    walk = columns("walk", 20_000)[2]
    assert np.abs(walk).max() <= 0.75 + 1e-12
    assert np.abs(np.diff(walk)).max() <= 0.02 + 1e-12
    assert walk.max() - walk.min() > 0.5


def test_signs_are_fair() -> None:
    """10^4 signs: the mean is within 6 standard deviations, 0.06; fails once in 10^8 seeds."""
    assert abs(float(columns("signs", 10_000)[0].mean())) < 0.06


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Hostile(DISC, "spike", 100), "Did you mean 'spikes'"),
        (lambda: Hostile(DISC, "late", 0), "horizon must be"),
    ],
)
def test_refusals(make: Any, words: str) -> None:
    with pytest.raises(DikinError, match=words):
        make()
