"""How many rounds it takes: the definition, and how it depends on everything."""

from math import inf, sqrt
from statistics import NormalDist
from typing import Any

import pytest

from dikin.errors import ParameterError
from dikin.worth import rounds_to_see
from dikin.worth.sums import best_product, mixture_factor


def test_it_is_the_round_at_which_the_interval_has_left_zero() -> None:
    gain, noise, q = 2.0, 10.0, 0.1
    rounds = rounds_to_see(gain, noise, q)
    variance = noise**2 / (q * (1 - q))
    grown = rounds * q / 60 * best_product(0.05)
    half = sqrt(mixture_factor(grown, 0.05) * rounds * variance)
    above = NormalDist().inv_cdf(0.8) * sqrt(rounds * variance)
    assert half + above == pytest.approx(rounds * gain, rel=1e-3)


def test_what_covariates_explain_need_not_be_waited_for() -> None:
    plain, helped = (rounds_to_see(1.0, 20.0, 0.05, explained=r) for r in (0.0, 0.9))
    assert 10.0 < plain / helped < 13.0  # 1/(1 - R²), and the logarithm in the interval
    same = rounds_to_see(1.0, 20.0 * sqrt(0.1), 0.05)
    assert helped == pytest.approx(same, rel=1e-9)


def test_more_is_needed_for_less() -> None:
    at = rounds_to_see(2.0, 10.0, 0.05)
    assert rounds_to_see(1.0, 10.0, 0.05) > 3 * at
    assert rounds_to_see(2.0, 20.0, 0.05) > 3 * at
    assert rounds_to_see(2.0, 10.0, 0.1) < at
    assert rounds_to_see(2.0, 10.0, 0.05, power=0.5) < at
    assert rounds_to_see(2.0, 10.0, 0.05, confidence=0.99) > at
    assert rounds_to_see(0.0, 10.0, 0.05) == inf
    assert rounds_to_see(1e6, 10.0, 0.05) == pytest.approx(400.0)  # twenty control answers


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((2.0, 10.0, 0.0), "holdback must be above 0"),
        ((-2.0, 10.0, 0.1), "gain"),
        ((2.0, 0.0, 0.1), "noise"),
        *((name, f"{name} must be") for name in ("explained", "power", "confidence")),
    ],
)
def test_what_cannot_be_is_refused(arguments: Any, message: str) -> None:
    named = {arguments: 1.0} if isinstance(arguments, str) else {}
    with pytest.raises(ParameterError, match=message):
        rounds_to_see(*((2.0, 10.0, 0.1) if named else arguments), **named)
