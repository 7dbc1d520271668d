"""Sets on which no bandit problem can be played, and near misses that are perfectly good."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dikin
from dikin import errors
from dikin.domains.base import Domain

HUGE = 10**400  # a whole number that no float can hold
NAN, INF = float("nan"), float("inf")
SQUARE = [[1, 0], [-1, 0], [0, 1], [0, -1]]

Case = tuple[Callable[[], Any], type[errors.DikinError], list[str]]
"""A constructor, the error that it must raise, and what the message must say."""

Accepted = tuple[Callable[[], Domain], list[float]]
"""A constructor, and the analytic centre of the set."""


def check_refused(case: Case) -> None:
    build, error, words = case
    with pytest.raises(error) as caught:
        build()
    assert type(caught.value) is error
    assert isinstance(caught.value, ValueError)
    assert [word for word in words if word not in str(caught.value)] == [], str(caught.value)


def check_accepted(case: Accepted) -> None:
    build, center = case
    domain = build()
    np.testing.assert_allclose(domain.center, center, rtol=1e-6, atol=1e-6 * domain.inradius)
    query = dikin.AdaptiveSmooth(domain, 0.0, seed=0).ask()
    assert domain.margin(query.point) >= 0
