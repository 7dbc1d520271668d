"""The lifted barrier Psi(x, b) = 400 (psi(x/b) - 2 nu ln b), from every shipped psi.

lemma:normal-barrier (its identities (1) to (4)) and lemma:normal-barrier-nu: Psi is a
nu_bar-self-concordant barrier of the cone over the set, nu_bar = 800 nu. Psi and its derivatives
are those of `reference.lifted`, made from the domain's own three oracles; that they are derivatives
of each other is the first test.

One sentence of the paper puts the bracket elsewhere, 400 psi(x/b) - 2 nu ln b. That function is
homogeneous of degree 2 nu and not convex: here it is a mutant.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from math import log, sqrt

import numpy as np

from paper.charts import Array, Chart, derivative, every_domain, holds, interior, on_sphere
from reference.lifted import NormalBarrier


@dataclass(frozen=True)
class Degree:
    """Psi and the nu_bar that is claimed for it."""

    barrier: NormalBarrier
    nu_bar: float


def paper(psi: Chart, scale: float = 400.0) -> Degree:
    return Degree(NormalBarrier(psi, scale, scale * 2 * psi.nu), scale * 2 * psi.nu)


def misplaced(psi: Chart) -> Degree:
    """400 psi(x/b) - 2 nu ln b, still said to be of degree 800 nu."""
    return Degree(NormalBarrier(psi, 400.0, 2 * psi.nu), 800 * psi.nu)


def misplaced_with_its_own_degree(psi: Chart) -> Degree:
    return replace(misplaced(psi), nu_bar=2 * psi.nu)


def cone(psi: Chart, seed: int, count: int = 3) -> Iterator[Array]:
    """Points (b u, b) of the cone's interior: over the centre and over random points."""
    rng = np.random.default_rng(seed)
    for u in interior(psi, seed, count):
        b = rng.uniform(0.3, 3.0)
        yield np.append(b * u, b)


def scaled_directions(hessian: Array, rng: np.random.Generator, count: int = 4) -> Iterator[Array]:
    for _ in range(count):
        h = on_sphere(rng, hessian.shape[0])
        yield h / sqrt(float(h @ hessian @ h))


def check_derivatives(psi: Chart, barrier: NormalBarrier) -> None:
    rng = np.random.default_rng(11)
    for x in cone(psi, 11):
        hessian, gradient = barrier.hessian(x), barrier.gradient(x)
        for h in scaled_directions(hessian, rng):
            slope = derivative(lambda t, x=x, h=h: barrier.value(x + t * h), 0.3)
            assert abs(slope - gradient @ h) <= 1e-8 * (400 * psi.nu + abs(barrier.value(x)))
            bend = derivative(lambda t, x=x, h=h: barrier.gradient(x + t * h), 0.3)
            for k in scaled_directions(hessian, rng, count=2):
                assert abs(bend @ k - h @ hessian @ k) <= 1e-8 * 400 * psi.nu


@every_domain
def test_lemma_normal_barrier_derivatives_are_those_of_Psi(psi: Chart) -> None:  # noqa: N802
    class WithoutSlope(NormalBarrier):
        """d2Psi/dx db without grad psi."""

        def hessian(self, point: Array) -> Array:
            out = super().hessian(point)
            extra = self.scale * self.psi.gradient(point[:-1] / point[-1]) / point[-1] ** 2
            out[:-1, -1] += extra
            out[-1, :-1] += extra
            return out

    right = paper(psi).barrier
    wrong = WithoutSlope(psi, right.scale, right.log_coefficient)
    holds(partial(check_derivatives, psi), right, wrong)


# --- the four identities -----------------------------------------------------------------------


def check_1(lifted: Degree, psi: Chart) -> None:
    for x in cone(psi, 12):
        assert abs(x @ lifted.barrier.hessian(x) @ x / lifted.nu_bar - 1) <= 1e-8


def check_2(lifted: Degree, psi: Chart) -> None:
    """In the local norm; and the same from values alone: Psi(s x) = Psi(x) - nu_bar ln s."""
    for x in cone(psi, 13):
        hessian, gradient = lifted.barrier.hessian(x), lifted.barrier.gradient(x)
        away = hessian @ x + gradient
        assert sqrt(abs(away @ np.linalg.solve(hessian, away))) <= 1e-6 * sqrt(lifted.nu_bar)
        for s in (0.5, 1.7):
            fall = lifted.barrier.value(x) - lifted.barrier.value(s * x)
            assert abs(fall / lifted.nu_bar - log(s)) <= 1e-9 * (1 + abs(lifted.barrier.value(x)))


def check_3(lifted: Degree, psi: Chart) -> None:
    points = list(cone(psi, 14))
    value, nu_bar = lifted.barrier.value, lifted.nu_bar
    for x in points:
        gradient = lifted.barrier.gradient(x)
        for y in points:
            inner = -float(gradient @ y)
            assert inner > 0
            least = value(x) - nu_bar * log(inner / nu_bar)
            assert value(y) >= least - 1e-9 * (nu_bar + abs(value(x)))
        # Equality on the ray through x, which no smaller claim survives.
        ray = value(x) - nu_bar * log(-float(gradient @ (0.7 * x)) / nu_bar)
        assert abs(value(0.7 * x) - ray) <= 1e-9 * (nu_bar + abs(ray))


def check_4(lifted: Degree, psi: Chart) -> None:
    for x in cone(psi, 15):
        hessian, gradient = lifted.barrier.hessian(x), lifted.barrier.gradient(x)
        assert np.linalg.eigvalsh(hessian)[0] > 0
        square = float(gradient @ np.linalg.solve(hessian, gradient))
        assert abs(square / lifted.nu_bar - 1) <= 1e-7


def identity(check: Callable[..., None], psi: Chart, *more: Degree) -> None:
    holds(partial(check, psi=psi), paper(psi), misplaced(psi), *more)


@every_domain
def test_lemma_normal_barrier_1_norm_of_the_point_is_nu_bar(psi: Chart) -> None:
    identity(check_1, psi, Degree(paper(psi).barrier, 400 * psi.nu))


@every_domain
def test_lemma_normal_barrier_2_hessian_times_point_is_minus_gradient(psi: Chart) -> None:
    identity(check_2, psi)


@every_domain
def test_lemma_normal_barrier_3_lower_bound(psi: Chart) -> None:
    identity(check_3, psi, misplaced_with_its_own_degree(psi))


@every_domain
def test_lemma_normal_barrier_4_dual_norm_of_the_gradient_is_nu_bar(psi: Chart) -> None:
    identity(check_4, psi, misplaced_with_its_own_degree(psi))


# --- Proposition 5.1.4 of Nesterov and Nemirovskii ---------------------------------------------


def check_nu_bar(lifted: Degree, psi: Chart) -> None:
    """|D3 Psi| <= 2 (D2 Psi)^(3/2) and |grad Psi . h| <= sqrt(nu_bar) |h|."""
    rng = np.random.default_rng(16)
    for x in cone(psi, 16):
        hessian, gradient = lifted.barrier.hessian(x), lifted.barrier.gradient(x)
        # Towards the boundary, along the ray, where Psi bends least, and random.
        ways = [np.append(psi.gradient(x[:-1] / x[-1]), 0), x, np.linalg.eigh(hessian)[1][:, 0]]
        ways = [h for h in ways if np.linalg.norm(h) > 1e-6]
        ways += [on_sphere(rng, x.size) for _ in range(4)]
        for way in ways:
            square = float(way @ hessian @ way)
            assert square > 0
            h = way / sqrt(square)
            assert abs(gradient @ h) <= sqrt(lifted.nu_bar) * (1 + 1e-8)
            step = 0.02 * min(1.0, sqrt(lifted.barrier.scale))
            third = derivative(lambda t, x=x, h=h: h @ lifted.barrier.hessian(x + t * h) @ h, step)
            assert abs(third) <= 2 + 1e-4


@every_domain
def test_lemma_normal_barrier_nu_is_a_self_concordant_barrier(psi: Chart) -> None:
    """With 1 in the place of 400 too, for these psi; not with 0.2, nor with half of nu_bar."""
    check_nu_bar(paper(psi, scale=1.0), psi)
    half = Degree(paper(psi).barrier, 400 * psi.nu)
    identity(check_nu_bar, psi, half, paper(psi, scale=0.2), misplaced_with_its_own_degree(psi))
