"""Products: what the constructor refuses.

What every set obeys is in tests/checks: `-k product` there.
"""

from __future__ import annotations

import pytest

from dikin import Ball, Product, errors
from domains.constructors import Case, check_refused

REFUSED: dict[str, Case] = {
    "Product()": (lambda: Product(), errors.DomainError, ["at least one", "none"]),
    "Product(3)": (lambda: Product(3), errors.DomainError, ["part 0 is 3", "wanted a domain"]),
    "Product(., None)": (lambda: Product(Ball(1), None), errors.DomainError, ["part 1 is None"]),
}


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED)
def test_refused(case: Case) -> None:
    check_refused(case)
