"""The working form of any domain: which updates it takes for good."""

import pytest

import dikin
from dikin.domains.dense import DenseGeometry


@pytest.mark.parametrize(("decrement", "good"), [(5e-5, True), (2e-4, False)])
def test_an_update_is_good_if_newton_s_decrement_is_below_one_ten_thousandth(
    decrement: float, good: bool
) -> None:
    """Otherwise the certificate is void: it is that of the exact centre."""
    geometry = DenseGeometry(dikin.Polytope([[-1, 0], [0, -1], [1, 1]], [0, 0, 1]), 1.0)
    iterate = geometry.start()
    iterate[1, 0] = decrement
    assert geometry.converged(iterate) == good
