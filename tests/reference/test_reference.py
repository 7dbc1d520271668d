"""The reference where no play shows it: identities of its barrier, and the paper's constants.

Nothing here imports the package: the reference has to stand before it may judge.
"""

from math import log, sqrt

import numpy as np
import pytest
from numpy.typing import NDArray

from reference.barriers import Normalised, examples
from reference.lifted import (
    NormalBarrier,
    PaperLipschitz,
    PaperSmooth,
    lift,
)
from reference.predictive import inside

Array = NDArray[np.float64]

SETS = examples()


@pytest.mark.parametrize(
    ("name", "scale"), [("moved ball", 1.0), ("simplex", 400.0), ("random polytope", 400.0)]
)
def test_the_normal_barrier_is_logarithmically_homogeneous(name: str, scale: float) -> None:
    """nu_bar = 2 K nu = 800 nu: Psi(sx) = Psi(x) - nu_bar ln s, and what Euler makes of it."""
    psi = Normalised(SETS[name], SETS[name].reach())
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


def test_the_paper_constants_are_the_numbers_the_boxes_give() -> None:
    """Worked out by hand: d = 2, nu = 1, beta = 1 (smooth) or L = 1 (Lipschitz), T = 1000."""
    smooth = PaperSmooth(2, 1.0, 1.0, 1000)
    assert (smooth.rho, smooth.lambda_0) == (512 * 33**2, 2 * 557568)
    rate = 0.25 * sqrt(1 / 557568 + 1 / (1000 * 6.907755278982137))
    assert smooth.eta(1, smooth.lambda_0) == pytest.approx(rate, rel=1e-14)
    assert PaperSmooth(2000, 1.0, 1.0, 1000).lambda_0 == 2 * 2000**2
    lipschitz = PaperLipschitz(2, 1.0, 1.0, 1000)
    assert lipschitz.rho == pytest.approx(2**15 * (16 * 10 ** (1 / 3) + 4 ** (1 / 3)) ** 3)
    assert lipschitz.lambda_0 == pytest.approx(1.5363e9, rel=1e-4)
    rate = (4 / 16 * (1 / lipschitz.lambda_0 + 1 / 1000)) ** (1 / 3)
    assert lipschitz.eta(1, lipschitz.lambda_0) == pytest.approx(rate, rel=1e-14)
