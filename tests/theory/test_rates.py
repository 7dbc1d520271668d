"""The two tables, against the corollaries as printed."""

import functools
import math

import numpy as np
import pytest

from dikin.errors import ParameterError
from dikin.theory import rates
from paper.charts import holds

OTHER = {"smooth": "lipschitz", "lipschitz": "smooth"}
ORDER = {"smooth": rates.SMOOTH, "lipschitz": rates.LIPSCHITZ}
TABLE = {kind: functools.partial(rates.table, order) for kind, order in ORDER.items()}
EXPONENT = {kind: functools.partial(rates.decaying_exponent, k) for kind, k in ORDER.items()}
ALPHAS = (0.0, 1 / 6, 1 / 3, 2 / 3, 1.0)
both = pytest.mark.parametrize("kind", OTHER)

PRINTED = {
    "smooth": {
        "flat": lambda d, T: d**1.5 * T**0.5 + (d * T) ** (2 / 3),
        "curved": lambda d, T: d**1.5 * T**0.5 + d * T**0.5,
        "first": lambda d, T: d ** (2 / 3) * T**0.5 + d**1.5 * T**0.5 + d * T**0.5,
        "last": lambda d, T: d**1.5 * T**0.5 + d * T**0.5,
    },
    "lipschitz": {
        "flat": lambda d, T: d**0.5 * T**0.75,
        "curved": lambda d, T: (d * T) ** (2 / 3),
        "first": lambda d, T: d**0.5 * T ** (2 / 3) + (d * T) ** (2 / 3),
        "last": lambda d, T: (d * T) ** (2 / 3),
    },
}
"""Corollaries 8 to 10 and 13 to 15 as printed, without beta, L and sigma."""


@both
def test_tables_have_the_corollaries_exponents(kind: str) -> None:
    """Of the horizon, and of the dimension in games that are long enough."""

    def check(table) -> None:
        for rate, bound in zip(table([]), PRINTED[kind].values(), strict=True):
            horizon = math.log(bound(1.0, 1e204) / bound(1.0, 1e200)) / math.log(1e4)
            assert horizon == pytest.approx(rate.horizon_exponent, abs=0.01)
            slope = math.log(bound(1e24, 1e200) / bound(1e20, 1e200)) / math.log(1e4)
            assert slope == pytest.approx(rate.dim_exponent, abs=0.01)

    holds(check, TABLE[kind], TABLE[OTHER[kind]], lambda alphas: TABLE[kind](alphas)[::-1])


@both
def test_decaying_exponent_has_its_kink_where_the_two_bounds_meet(kind: str) -> None:
    def check(exponent) -> None:
        zero, constant = (rate.horizon_exponent for rate in TABLE[kind]([])[:2])
        kink = {"smooth": 1 / 3, "lipschitz": 1 / 4}[kind]
        for alpha in np.linspace(0, 1, 61):
            line = constant + (zero - constant) * min(alpha / kink, 1.0)
            assert exponent(float(alpha)) == pytest.approx(line, abs=1e-12)

    holds(check, EXPONENT[kind], EXPONENT[OTHER[kind]], lambda alpha: EXPONENT[kind](alpha**2))


@both
@pytest.mark.parametrize("alpha", [-0.1, 1.5, math.nan, math.inf])
def test_alpha_outside_the_unit_interval_is_refused(kind: str, alpha: float) -> None:
    for call in (lambda: EXPONENT[kind](alpha), lambda: TABLE[kind]([alpha])):
        with pytest.raises(ParameterError, match=rf"alpha is {alpha}; wanted .* \[0, 1\]"):
            call()
