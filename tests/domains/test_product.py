"""Products: their working form."""

import numpy as np

from dikin import Ball, Box, Product, Simplex
from dikin.domains.box import FEW


def test_equal_sides_leave_the_radius_as_it_is() -> None:
    """The farthest point has the length 1 in working vectors, the same in every part and side."""
    product = Product(Ball(2, 3.0), Box([0, -1], [10, 0.5]))
    geometry = product.geometry(product.radius, equal_sides=True)
    farthest = np.array([0.0, 3.0, 10.0, 0.5])
    u = geometry.inward((farthest - product.center) / product.radius) / geometry.squares
    np.testing.assert_allclose(u, [0.0, 0.5**0.5, 0.5, 0.5], rtol=1e-14)


def test_a_part_with_fewer_rows_leaves_the_others_alone() -> None:
    box, simplex = Box(np.zeros(FEW + 1), np.ones(FEW + 1)), Simplex(3)
    linear, sizes = np.linspace(-1, 1, FEW + 4), [FEW + 1]
    whole = Product(box, simplex).geometry(1.0)
    iterate = whole.start()
    whole.solve(linear.copy(), 0.3, 0.1, iterate)
    for part, columns, g in zip(
        (box, simplex), np.split(iterate, sizes, 1), np.split(linear, sizes), strict=True
    ):
        alone = part.geometry(1.0)
        own = alone.start()
        alone.solve(g.copy(), 0.3, 0.1, own)
        assert columns[: alone.iterate_size].tolist() == own.tolist()
