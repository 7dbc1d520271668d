"""The reference tests itself: derivatives, barrier identities, roots, optimality, each constant.

Nothing here imports the package: the reference has to stand before it may judge.
"""

from math import log, sqrt

import numpy as np
import pytest
from numpy.typing import NDArray

from reference.barriers import BallBarrier, Normalised, UserBarrier, examples
from reference.lifted import (
    Lifted,
    NormalBarrier,
    OffTheSphereError,
    PaperLipschitz,
    PaperSmooth,
    Schedule,
    SharpLipschitz,
    SharpSmooth,
    lift,
    symmetric_roots,
)
from reference.predictive import inside
from reference.predictive_checks import normalised

Array = NDArray[np.float64]

SETS = examples()
every_set = pytest.mark.parametrize("barrier", list(SETS.values()), ids=list(SETS))
every_scale = pytest.mark.parametrize("scale", [1.0, 400.0])


def schedules(psi: Normalised) -> dict[str, Schedule]:
    return {
        "paper smooth": PaperSmooth(psi.dim, psi.nu, 1.3, 60),
        "paper Lipschitz": PaperLipschitz(psi.dim, psi.nu, 0.8, 60),
        "sharp smooth": SharpSmooth(psi.dim, psi.nu, 1.3, 60),
        "sharp smooth, no horizon": SharpSmooth(psi.dim, psi.nu, 1.3, None),
        "sharp Lipschitz": SharpLipschitz(psi.dim, psi.nu, 0.8),
    }


SCHEDULES = list(schedules(normalised(SETS["box"])))
PAIRS = [(SETS[name], SCHEDULES[(i + j) % 5]) for i, name in enumerate(SETS) for j in (0, 2)]


def draw(reference: Lifted, rng: np.random.Generator) -> Array:
    """Lines 1 to 3 of the box: u_t uniform on the sphere orthogonal to H^{-1/2} e_{d+1}."""
    _, inverse_root = symmetric_roots(reference.hessian(reference.t))
    normal = inverse_root[:, -1] / np.linalg.norm(inverse_root[:, -1])
    u = rng.normal(size=reference.dim + 1)
    u -= (u @ normal) * normal
    point = reference.centers[reference.t] + inverse_root @ (u / np.linalg.norm(u))
    assert abs(point[-1] - 1) < 1e-12
    return point[:-1]


def answers(rng: np.random.Generator) -> tuple[float, float]:
    loss = rng.choice([-1.0, 1.0, rng.uniform(-1, 1)])
    return float(loss), float(rng.choice([0.0, rng.random()]))


def difference(psi: Normalised | NormalBarrier, point: Array, step: float) -> tuple[Array, Array]:
    """Central differences of the value and of the gradient at a point."""
    shifts = step * np.eye(point.size)
    slope = [psi.value(point + h) - psi.value(point - h) for h in shifts]
    second = [psi.gradient(point + h) - psi.gradient(point - h) for h in shifts]
    return np.array(slope) / (2 * step), np.array(second) / (2 * step)


# The sets


@every_set
def test_the_derivatives_of_a_barrier_are_its_differences(barrier: UserBarrier) -> None:
    psi = normalised(barrier)
    rng = np.random.default_rng(1)
    for _ in range(5):
        u = inside(psi, rng, 0.7, 3)
        slope, second = difference(psi, u, 1e-6)
        np.testing.assert_allclose(psi.gradient(u), slope, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(psi.hessian(u), second, rtol=1e-6, atol=1e-6)


@every_set
def test_the_origin_is_the_center_nu_bounds_the_gradient_and_the_reach_the_set(
    barrier: UserBarrier,
) -> None:
    """Of 2000 random rays none is in the set beyond length 1, and some are beyond 0.7."""
    psi = normalised(barrier)
    assert np.abs(psi.gradient(np.zeros(psi.dim))).max() < 1e-12
    np.testing.assert_allclose(psi.basis.T @ psi.basis, np.eye(psi.dim), atol=1e-15)
    rng = np.random.default_rng(2)
    for _ in range(200):
        u = inside(psi, rng, 0.99, 3)
        slope = psi.gradient(u)
        assert slope @ np.linalg.solve(psi.hessian(u), slope) <= psi.nu + 1e-9
    rays = rng.normal(size=(2000, psi.dim))
    rays /= np.linalg.norm(rays, axis=1, keepdims=True)
    assert all(psi.value(1.000001 * ray) == np.inf for ray in rays)
    assert any(psi.value(0.7 * ray) < np.inf for ray in rays)


# Psi


@every_set
@every_scale
@pytest.mark.parametrize("b", [1.0, 0.6, 2.5])
def test_the_derivatives_of_the_normal_barrier_are_its_differences(
    barrier: UserBarrier, scale: float, b: float
) -> None:
    psi = normalised(barrier)
    lifted = NormalBarrier(psi, scale, scale * 2 * psi.nu)
    rng = np.random.default_rng(4)
    for _ in range(3):
        point = b * lift(inside(psi, rng, 0.7, 3))
        slope, second = difference(lifted, point, 1e-6 * b)
        np.testing.assert_allclose(lifted.gradient(point), slope, rtol=1e-6, atol=2e-6 * scale)
        np.testing.assert_allclose(lifted.hessian(point), second, rtol=1e-6, atol=2e-6 * scale)


@every_set
@every_scale
def test_the_normal_barrier_is_logarithmically_homogeneous(
    barrier: UserBarrier, scale: float
) -> None:
    """nu_bar = 2 K nu = 800 nu: Psi(sx) = Psi(x) - nu_bar ln s, and what Euler makes of it."""
    psi = normalised(barrier)
    nu_bar = scale * 2 * psi.nu
    lifted = NormalBarrier(psi, scale, nu_bar)
    rng = np.random.default_rng(5)
    for _ in range(5):
        point = rng.uniform(0.5, 2.0) * lift(inside(psi, rng, 0.7, 3))
        slope, second = lifted.gradient(point), lifted.hessian(point)
        s = rng.uniform(0.3, 3.0)
        np.testing.assert_allclose(
            lifted.value(s * point), lifted.value(point) - nu_bar * log(s), atol=1e-9 * scale
        )
        np.testing.assert_allclose(slope @ point, -nu_bar, rtol=1e-10)
        np.testing.assert_allclose(second @ point, -slope, rtol=1e-9, atol=1e-9 * scale)
        np.testing.assert_allclose(slope @ np.linalg.solve(second, slope), nu_bar, rtol=1e-8)


@every_set
@every_scale
def test_the_normal_barrier_has_a_positive_definite_hessian(
    barrier: UserBarrier, scale: float
) -> None:
    """In the direction (h, s), with w = h - s z:  K (|w|^2 - 2 s grad psi.w + 2 nu s^2) > 0.

    The discriminant is (grad psi.w)^2 - 2 nu |w|^2 <= -nu |w|^2, whatever K is: K = 1 is as good
    as K = 400.
    """
    psi = normalised(barrier)
    lifted = NormalBarrier(psi, scale, scale * 2 * psi.nu)
    rng = np.random.default_rng(6)
    for _ in range(100):
        point = lift(inside(psi, rng, 0.99, 3))
        assert np.linalg.eigvalsh(lifted.hessian(point))[0] > 0


def test_the_misplaced_bracket_makes_the_hessian_of_psi_indefinite() -> None:
    """400 psi(x/b) - 2 nu ln b, as in one sentence of the paper: eigenvalue -5.7 at |x| = 0.1."""
    psi = Normalised(BallBarrier(np.zeros(2), 1.0), 1.0)
    second = NormalBarrier(psi, 400.0, 2 * psi.nu).hessian(lift(np.array([0.1, 0.0])))
    np.testing.assert_allclose(np.linalg.eigvalsh(second)[0], -5.7, atol=0.1)
    with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
        symmetric_roots(second)


# The schedules


def test_the_paper_constants_are_the_numbers_the_boxes_give() -> None:
    """Worked out by hand: d = 2, nu = 1, beta = 1 (smooth) or L = 1 (Lipschitz), T = 1000."""
    smooth = PaperSmooth(2, 1.0, 1.0, 1000)
    assert smooth.rho == 512 * 33**2 == 557568
    assert smooth.lambda_0 == 2 * 557568
    assert smooth.eta(1, smooth.lambda_0) == pytest.approx(
        0.25 * sqrt(1 / 557568 + 1 / (1000 * 6.907755278982137)), rel=1e-14
    )
    assert PaperSmooth(4, 4.0, 1.0, 1000).rho == pytest.approx(8.7e6, rel=0.01)
    assert PaperSmooth(20, 20.0, 1.0, 1000).rho == pytest.approx(2.1e8, rel=0.02)
    assert PaperSmooth(2000, 1.0, 1.0, 1000).lambda_0 == 2 * 2000**2
    lipschitz = PaperLipschitz(2, 1.0, 1.0, 1000)
    assert lipschitz.rho == pytest.approx(2**15 * (16 * 10 ** (1 / 3) + 4 ** (1 / 3)) ** 3)
    assert lipschitz.lambda_0 == pytest.approx(1.5363e9, rel=1e-4)
    assert lipschitz.eta(1, lipschitz.lambda_0) == pytest.approx(
        (4 / 16 * (1 / lipschitz.lambda_0 + 1 / 1000)) ** (1 / 3), rel=1e-14
    )


def test_the_sharp_constants_are_the_numbers_of_their_definition() -> None:
    smooth = SharpSmooth(2, 3.0, 1.0, 1000)
    assert (smooth.scale, smooth.lambda_0) == (1.0, 8.0)
    assert smooth.eta(1, 8.0) == pytest.approx(0.25 * sqrt(0.25 + 0.003 * 6.907755278982137))
    assert smooth.eta(1, 0.1) == 1 / 6  # the cap 1/(3d)
    anytime = SharpSmooth(2, 0.1, 1.0, None)
    assert anytime.eta(1, 8.0) == anytime.eta(2, 8.0) == anytime.eta(3, 8.0)
    assert anytime.eta(3, 8.0) == pytest.approx(0.25 * sqrt(0.25 + 0.1 * 1.0986122886681098 / 3))
    assert anytime.eta(4, 8.0) == pytest.approx(0.25 * sqrt(0.25 + 0.1 * 1.3862943611198906 / 4))
    lipschitz = SharpLipschitz(4, 3.0, 1.0)
    assert (lipschitz.scale, lipschitz.lambda_0) == (1.0, 64.0)
    assert lipschitz.eta(1, 64.0) == pytest.approx(1 / 16)  # d^-2 at lambda_0, below the cap 1/12
    assert SharpLipschitz(2, 3.0, 1.0).eta(1, 16.0) == 1 / 6


# The run


@pytest.mark.parametrize(("barrier", "name"), PAIRS)
def test_each_round_keeps_the_box(barrier: UserBarrier, name: str) -> None:
    """lambda_t, eta_t, the domain and the optimality of y_{t+1}, on fifteen rounds of own play."""
    psi = normalised(barrier)
    schedule = schedules(psi)[name]
    reference = Lifted(psi, schedule)
    rng = np.random.default_rng(7)
    assert np.abs(reference.y).max() < 1e-12
    for t in range(1, 16):
        x = draw(reference, rng)
        assert psi.value(x) < np.inf
        f, sigma = answers(rng)
        reference.replay(x, f, sigma)
        curvature, lam = reference.curvature(t), reference.lam[t]
        assert 0 < lam < 1
        if isinstance(schedule, PaperSmooth | SharpSmooth):
            left, right = lam**2 * curvature, psi.dim**2 * (schedule.beta + 1)
        else:
            assert isinstance(schedule, PaperLipschitz | SharpLipschitz)
            left, right = lam**3 * curvature, psi.dim**2 * (schedule.lipschitz + 1) ** 2
        assert left == pytest.approx(right, rel=1e-11)
        assert reference.eta[t + 1] <= reference.eta[t]
        if getattr(schedule, "horizon", 0) is not None:  # with nu ln t/t, eta_t S_{t-1} may fall
            assert reference.eta[t + 1] * curvature >= reference.eta[t] * reference.curvature(t - 1)

        here = reference.centers[t + 1]
        assert here[-1] == 1
        # A step h of local length 0.01 raises eta F by h^2/2, within the third derivative.
        metric = reference.eta[t + 1] * reference.objective_hessian(t, here)[:-1, :-1]
        lowest = reference.eta[t + 1] * reference.objective(t, here)
        for _ in range(4):
            h = rng.normal(size=psi.dim)
            h *= 0.01 / sqrt(h @ metric @ h)
            raised = reference.eta[t + 1] * reference.objective(t, here + np.append(h, 0.0))
            assert raised - lowest == pytest.approx(0.5e-4, rel=0.02)
        slope = reference.eta[t + 1] * reference.objective_gradient(t, here)[:-1]
        assert sqrt(slope @ np.linalg.solve(metric, slope)) < 1e-11


def test_a_point_off_the_sphere_is_refused() -> None:
    psi = normalised(SETS["unit ball"])
    reference = Lifted(psi, SharpSmooth(psi.dim, psi.nu, 1.3, 60))
    x = draw(reference, np.random.default_rng(9))
    with pytest.raises(OffTheSphereError, match="wanted 1"):
        reference.replay(1.00001 * x, 0.5, 0.0)
    assert reference.t == 1
    reference.replay(x, 0.5, 0.0)
    assert reference.t == 2
