"""Spectrahedra: what the constructor refuses.

What every set obeys is in tests/checks: `-k spectrahedron` there.
"""

from __future__ import annotations

import pytest

from dikin import Spectrahedron, errors
from domains.constructors import Case, check_refused

REFUSED: dict[str, Case] = {
    "Spectrahedron(1)": (lambda: Spectrahedron(1), errors.DomainError, ["at least 2", "got 1"]),
}


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED)
def test_refused(case: Case) -> None:
    check_refused(case)
