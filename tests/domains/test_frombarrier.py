"""Sets given by a barrier of the user's: what the constructor refuses.

What every set obeys is in tests/checks: `-k frombarrier` there.
"""

from __future__ import annotations

import numpy as np
import pytest

import dikin
from dikin import FromBarrier, errors
from domains.constructors import INF, NAN, Case, check_refused

REFUSED: dict[str, Case] = {
    "outside": (
        lambda: FromBarrier(lambda x: INF, None, None, 1, [4.0]),
        errors.DomainError,
        ["barrier is inf", "[4.]"],
    ),
    "barrier nan": (
        lambda: FromBarrier(lambda x: NAN, None, None, 1, [4.0]),
        errors.DomainError,
        ["barrier is nan", "[4.]"],
    ),
    "nu = 0": (lambda: FromBarrier(None, None, None, 0, [0]), errors.DomainError, ["nu", "got 0"]),
    "interior nan": (
        lambda: FromBarrier(None, None, None, 1, [0, NAN]),
        errors.DomainError,
        ["interior[1] is nan"],
    ),
}


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED)
def test_refused(case: Case) -> None:
    check_refused(case)


def test_a_half_line_has_no_analytic_centre() -> None:
    with pytest.raises(dikin.DikinError) as caught:
        FromBarrier(lambda x: -np.log(x[0]), lambda x: -1 / x, lambda x: np.diag(x**-2.0), 1, [1.0])
    assert isinstance(caught.value, errors.NumericalError | errors.DomainError)
