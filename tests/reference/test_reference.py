"""The reference where no play shows it: identities of its barrier, and the paper's constants.

Nothing here imports the package: the reference has to stand before it may judge.
"""

from math import log, sqrt

import numpy as np
import pytest
from numpy.typing import NDArray

from reference.barriers import BallBarrier, Normalised, UserBarrier, examples
from reference.lifted import (
    NormalBarrier,
    PaperLipschitz,
    PaperSmooth,
    lift,
    symmetric_roots,
)
from reference.predictive import inside

Array = NDArray[np.float64]

SETS = examples()
every_set = pytest.mark.parametrize("barrier", list(SETS.values()), ids=list(SETS))
every_scale = pytest.mark.parametrize("scale", [1.0, 400.0])


@every_set
@every_scale
def test_the_normal_barrier_is_logarithmically_homogeneous(
    barrier: UserBarrier, scale: float
) -> None:
    """nu_bar = 2 K nu = 800 nu: Psi(sx) = Psi(x) - nu_bar ln s, and what Euler makes of it."""
    psi = Normalised(barrier, barrier.reach())
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
    psi = Normalised(barrier, barrier.reach())
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
