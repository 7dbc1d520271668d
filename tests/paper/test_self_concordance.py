"""Self-concordance of every shipped barrier: def:SC and the lemmas that the paper draws from it.

The barriers are taken as they are (kappa = 1): the sharp constants stand on that.
"""

from dataclasses import dataclass
from functools import partial
from math import log, sqrt

import numpy as np

from paper.charts import (
    Array,
    Chart,
    derivative,
    every_domain,
    exit_time,
    holds,
    interior,
    on_sphere,
)


@dataclass(frozen=True)
class Times(Chart):
    """A multiple of a barrier, which is another function with the same nu claimed for it."""

    factor: float = 1.0

    def value(self, u: Array) -> float:
        return self.factor * super().value(u)

    def gradient(self, u: Array) -> Array:
        return self.factor * super().gradient(u)

    def hessian(self, u: Array) -> Array:
        return self.factor * super().hessian(u)


def local_norm(hessian: Array, h: Array) -> float:
    return sqrt(float(h @ hessian @ h))


def directions(psi: Chart, u: Array, rng: np.random.Generator) -> list[Array]:
    """Unit vectors of the local norm at u: Newton's step, and random ones."""
    hessian, gradient = psi.hessian(u), psi.gradient(u)
    ways = [on_sphere(rng, psi.dim) for _ in range(4)]
    if np.linalg.norm(gradient) > 1e-6:
        ways.append(np.linalg.solve(hessian, gradient))
    return [h / local_norm(hessian, h) for h in ways]


def check_oracles_are_derivatives(psi: Chart) -> None:
    rng = np.random.default_rng(1)
    for u in interior(psi, 1):
        for h in directions(psi, u, rng):
            # Both in local units: h has length 1, and so has every k. Steps of 0.02 stay inside.
            slope = derivative(lambda t, u=u, h=h: psi.value(u + t * h), 0.02)
            assert abs(slope - psi.gradient(u) @ h) <= 1e-8 * (1 + abs(psi.value(u)))
            bend = derivative(lambda t, u=u, h=h: psi.gradient(u + t * h), 0.02)
            for k in directions(psi, u, rng):
                assert abs(bend @ k - h @ psi.hessian(u) @ k) <= 1e-7 * sqrt(psi.nu)


@every_domain
def test_def_SC_gradient_and_hessian_are_those_of_psi(psi: Chart) -> None:  # noqa: N802
    @dataclass(frozen=True)
    class GradientOff(Chart):
        def gradient(self, u: Array) -> Array:
            return super().gradient(u) * (1 + 1e-6)

    @dataclass(frozen=True)
    class HessianOff(Chart):
        def hessian(self, u: Array) -> Array:
            return super().hessian(u) * (1 + 1e-6)

    domain = psi.domain
    holds(check_oracles_are_derivatives, psi, GradientOff(domain), HessianOff(domain))


def check_self_concordant(psi: Chart) -> None:
    """|D3 psi[h,h,h]| <= 2 (D2 psi[h,h])^(3/2)."""
    rng = np.random.default_rng(2)
    for u in interior(psi, 2):
        for h in directions(psi, u, rng):
            third = derivative(lambda t, u=u, h=h: h @ psi.hessian(u + t * h) @ h, 0.02)
            assert abs(third) <= 2 * local_norm(psi.hessian(u), h) ** 3 + 1e-6


@every_domain
def test_def_SC_third_derivative_is_at_most_twice_the_second_to_3_2(psi: Chart) -> None:  # noqa: N802
    holds(check_self_concordant, psi, Times(psi.domain, factor=0.5))


def check_nu(psi: Chart) -> None:
    """|grad psi . h| <= sqrt(nu) |h|_x for all h: |grad psi|*^2 <= nu."""
    for u in interior(psi, 3, count=20):
        gradient = psi.gradient(u)
        newton = np.linalg.solve(psi.hessian(u), gradient)
        assert gradient @ newton <= psi.nu * (1 + 1e-9)


@every_domain
def test_def_SC_barrier_parameter_is_nu(psi: Chart) -> None:  # noqa: N802
    """A barrier may have a smaller parameter than it claims (3 of 10 rows meet in a vertex)."""
    holds(check_nu, psi, Times(psi.domain, factor=5.0))


def check_dikin(radius: float, psi: Chart) -> None:
    rng = np.random.default_rng(4)
    for u in interior(psi, 4):
        for h in directions(psi, u, rng):
            for side in (radius, -radius):
                assert psi.value(u + side * h) < np.inf
                assert psi.domain.contains(psi.point(u + side * h))


@every_domain
def test_lemma_dikin_ellipsoid_lies_inside(psi: Chart) -> None:
    """The closed unit ellipsoid; the last 1e-9 is left to rounding."""
    holds(partial(check_dikin, psi=psi), 1 - 1e-9, 1.2)


def check_shift(claim, psi: Chart) -> None:
    """|h|_{x'} >= |h|_x claim(r), r = |x - x'|_x <= 1."""
    rng = np.random.default_rng(5)
    for u in interior(psi, 5):
        hessian = psi.hessian(u)
        for step in directions(psi, u, rng):
            for r in (0.999, -0.999, 0.5, -0.5, 1e-2, -1e-2):
                there = psi.hessian(u + r * step)
                for h in directions(psi, u, rng):
                    least = local_norm(hessian, h) * claim(abs(r))
                    assert local_norm(there, h) >= least - 1e-9


@every_domain
def test_lemma_shift_norm(psi: Chart) -> None:
    """eq:shift-norm; the factor 1 - r cannot be 1 - r/2."""
    holds(partial(check_shift, psi=psi), lambda r: 1 - r, lambda r: 1 - r / 2)


def check_minkowski(share: float, psi: Chart) -> None:
    """psi(y) - psi(x) <= share nu ln 1/(1 - pi_x(y)), pi_x the Minkowski function with pole x."""
    points = list(interior(psi, 6, count=5))
    for x in points:
        for y in points:
            if y is x:
                continue
            # t is found from below, so 1/t is pi_x(y) from above; 1 - pi needs 1e-3 of room.
            pole = 1 / exit_time(psi.value, x, y - x)
            assert 0 <= pole <= 1
            rise = psi.value(y) - psi.value(x)
            assert rise <= share * psi.nu * log(1 / (1 - pole)) + 1e-8


@every_domain
def test_lemma_bound_Minkowski(psi: Chart) -> None:  # noqa: N802
    holds(partial(check_minkowski, psi=psi), 1.0, 0.1)
