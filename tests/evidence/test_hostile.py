"""Hostile games: the best point, the range and the smoothness of each kind, and a short game."""

import numpy as np
import pytest

from evidence import hostile
from evidence.games import Task


@pytest.mark.parametrize("case", hostile.CASES)
@pytest.mark.parametrize("kind", hostile.KINDS)
def test_no_point_is_better_than_the_best_and_no_value_outside(kind: str, case: str) -> None:
    game, rounds = hostile.game(f"{kind}, {case}", 400, np.random.default_rng(1)), range(400)
    points = np.random.default_rng(2).uniform(-1, 1, (40, game.minima.shape[1]))
    losses = np.array([[game.loss(t, x) for t in rounds] for x in (game.best(), *points)])
    sums = losses.sum(axis=1)
    assert sums[0] <= sums.min() + 1e-12 * len(rounds)  # rounding
    low, high = game.range
    assert low <= (losses + game.noise).min() <= (losses + game.noise).max() <= high
    assert np.std(game.noise) == pytest.approx(
        np.hypot(0.2 * ("noise" in case), 0.23 * ("noise" in kind)), abs=0.05
    )


def test_a_short_game() -> None:
    for player in hostile.PLAYERS:
        found = hostile.run(Task("steady, d = 2", 60, player, 1))
        assert 0 < found.cost < 120
        assert np.isnan(found.final) != (player == hostile.TUNER)
