"""What the adaptive learners share: the rate without a horizon, and whom they warn."""

import warnings
from itertools import pairwise

import pytest

import dikin
from dikin import errors
from dikin.learners.adaptive import sharp_schedule
from dikin.theory import rates


def test_without_a_horizon_the_rate_never_rises() -> None:
    """ln t/t has its maximum at e: before, it would rise while nothing has been learnt."""
    schedule = sharp_schedule(rates.SMOOTH, 3, 2.0, 1.0, None)._replace(cap=1e9)
    found = [schedule.rate(1e3, round) for round in range(1, 50)]
    assert all(later <= rate for rate, later in pairwise(found))
    assert found[0] == found[2] > found[3]


@pytest.mark.parametrize(("side", "warned"), [(9.9, False), (10.1, True)])
def test_sides_that_differ_by_more_than_ten_are_warned_of(side: float, warned: bool) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        dikin.AdaptiveSmooth(dikin.Box([0, 0], [1, side]), 1.0)
    assert [each.category for each in caught] == [errors.SlowLearnerWarning] * warned
