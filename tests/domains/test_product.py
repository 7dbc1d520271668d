"""Products: their working form.

What every set obeys is in tests/checks: `-k product` there.
"""

from __future__ import annotations

import numpy as np

from dikin import Ball, Box, Product


def test_equal_sides_leave_the_radius_as_it_is() -> None:
    """The farthest point has the length 1 in working vectors, the same in every part and side."""
    product = Product(Ball(2, 3.0), Box([0, -1], [10, 0.5]))
    geometry = product.equal_sided_geometry(product.radius)
    farthest = np.array([0.0, 3.0, 10.0, 0.5])
    u = geometry.preimage((farthest - product.center) / product.radius)
    np.testing.assert_allclose(u, [0.0, 0.5**0.5, 0.5, 0.5], rtol=1e-14)
