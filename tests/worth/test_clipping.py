"""The level of clipping is a quantile."""

from __future__ import annotations

from math import inf, isnan, nan

import numpy as np
import pytest

from dikin.worth.clipping import limited, next_level


def test_a_level_is_three_times_a_quantile() -> None:
    """The share of residuals above a third of the level is 2 %, after the beginning."""
    chance = np.random.default_rng(9)
    level, above = inf, 0
    for t in range(30_000):
        size = abs(float(chance.standard_normal()))
        above += t >= 2000 and 3 * size > level
        level = next_level(level, size)
    # Steps up and down balance exactly: within a few steps over 28 000 rounds.
    assert above / 28_000 == pytest.approx(0.02, abs=0.001)
    assert next_level(5.0, 0.0) == 5.0
    assert next_level(inf, 0.0) == inf


def test_the_nearest_number_of_a_range() -> None:
    assert [limited(x, 1.0, 2.0) for x in (-inf, 1.5, 7.0)] == [1.0, 1.5, 2.0]
    assert isnan(limited(nan, 1.0, 2.0))
