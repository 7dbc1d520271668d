"""What a kernel's `recoil` gives beside the linear term: g.y and |y|^2 at the query's centre."""

from __future__ import annotations

from math import log, sqrt

import numpy as np
import pytest

from dikin.domains.ball import Ball
from dikin.domains.base import ClosedGeometry, Domain
from dikin.domains.box import Box
from dikin.domains.ellipsoid import Ellipsoid
from dikin.domains.product import Product
from dikin.domains.simplex import Simplex
from engine.roads import closed_domains

DOMAINS = [*closed_domains(), Product(Simplex(3), Ball(2), Ellipsoid([0, 0], [[3, 1], [1, 2]]))]


@pytest.mark.parametrize("domain", DOMAINS, ids=str)
def test_kernel_recoil_agrees_with_the_aim(domain: Domain) -> None:
    """Sums of at most ten products each, in another order: 1e-12 is thousands of roundings."""
    geometry = domain.geometry(domain.radius)
    assert isinstance(geometry, ClosedGeometry)
    kernel, rng = geometry.kernel(), np.random.default_rng(1)
    place, linear = geometry.start(), np.zeros(geometry.size)
    for pull in (0.0, 1.0, 30.0):
        linear = linear + geometry.inward(
            pull * rng.standard_normal(geometry.size).reshape(domain.point_shape)
        )
        place = geometry.solve(linear, 0.7, 1.0, place)
        noise = rng.standard_normal(geometry.size)
        frame = geometry.frame(place, 2.0, 0.5)
        aim, y = frame.aim(noise.copy()), geometry.vector(place)
        state, work, moved = geometry.pack(place), np.zeros(kernel.works), linear.copy()
        kernel.aim(moved, state, 2.0, 0.5, noise, work)
        rise, square = kernel.recoil(state, work, noise, -1.3, 0.4, moved)
        g = aim.recoil(-1.3, 0.0)
        size = float(np.linalg.norm(g) * np.linalg.norm(y))
        assert abs(rise - g @ y) <= 1e-12 * (1 + size)
        assert abs(square - y @ y) <= 1e-12
        np.testing.assert_allclose(moved, linear + g - 0.4 * y, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    "domain", [Ball(1), Box([-1], [1]), Ellipsoid([0], [[1]])], ids=lambda d: type(d).__name__
)
def test_barrier_keeps_its_digits_at_the_boundary(domain: Domain) -> None:
    """2 r/(1 - r^2) = g has 1 - r^2 = 2 r/g, r = g/(1 + sqrt(1 + g^2)); in u itself it is lost."""
    geometry = domain.geometry(1.0)
    for g in (1.0, 1e6, 1e12):
        place = geometry.solve(np.array([g]), 0.0, 1.0, geometry.start())
        assert abs(geometry.barrier(place) + log(2 / (1 + sqrt(1 + g * g)))) <= 1e-12
