"""Section 17 of docs/mathematics.md: a share of the curvature told, and what exploring costs."""

from collections.abc import Callable

import numpy as np
import pytest
from scipy.optimize import minimize

from paper.charts import holds

Array = np.typing.NDArray[np.float64]


# --- Proposition 25 -------------------------------------------------------------------------------


def least_price(sigma: Array, q: float, k: int, first: float) -> float:
    """OPT, the least total of theta and of (q/(sigma + first + theta))^(1/k): a convex solver."""

    def total(theta: Array) -> tuple[float, Array]:
        held = np.cumsum(sigma) + first + np.cumsum(theta)
        prices = (q / held) ** (1.0 / k)
        falls = np.cumsum((prices / held)[::-1])[::-1] / k
        return float(theta.sum() + prices.sum()), 1.0 - falls

    start, bounds = np.full(sigma.size, 0.1), [(0.0, None)] * sigma.size
    found = minimize(total, start, jac=True, bounds=bounds, method="L-BFGS-B")
    return float(found.fun)


@pytest.mark.parametrize("k", [2, 3])
def test_a_share_of_what_is_told(k: int) -> None:
    """alpha^(-1/k) is enough, and less is not: with much curvature the bound is reached."""
    rng = np.random.default_rng(k)
    games = [rng.exponential(size, size=6) for size in (0.01, 1.0, 1e6)]

    def check(power: float) -> None:
        for sigma in games:
            for alpha in (0.1, 0.5):
                shared = least_price(alpha * sigma, 4.0, k, 0.01)
                assert shared <= alpha**-power * least_price(sigma, 4.0, k, 0.01) * (1 + 1e-6)
                assert shared <= least_price(0.0 * sigma, 4.0, k, 0.01) * (1 + 1e-6)

    holds(check, 1.0 / k, 0.9 / k)


# --- Proposition 26 -------------------------------------------------------------------------------

Loss = Callable[[Array], Array]
LOSSES: dict[str, Loss] = {
    "bowl": lambda x: (x**2).sum(axis=-1) + x[..., 0],
    "cone": lambda x: np.linalg.norm(x, axis=-1),
    "hinge": lambda x: np.maximum(0.0, x[..., 0] - 0.2),
    "steep": lambda x: np.exp(3.0 * x[..., 0]) + x[..., -1] ** 4,
}
AXES = np.array([0.7, 0.3])
"""Of the ellipse that is explored; the first alone in one dimension."""
STEPS = 1000
"""Of the radius; the midpoint rule is then right to six digits."""


def directions(dim: int) -> Array:
    if dim == 1:
        return np.array([[1.0], [-1.0]])
    angles = np.linspace(0.0, 2.0 * np.pi, 720, endpoint=False)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def sphere_mean(f: Loss, y: Array, radius: Array | float = 1.0) -> Array:
    """phi(r), for one radius or several."""
    z = AXES[: y.size] * directions(y.size)
    means: Array = f(y + np.multiply.outer(radius, z)).mean(axis=-1)
    return means


def ball_mean(f: Loss, y: Array) -> float:
    radii = (np.arange(STEPS) + 0.5) / STEPS
    return float((y.size * radii ** (y.size - 1) * sphere_mean(f, y, radii)).mean())


def slope(f: Loss, y: Array) -> Array:
    """The mean gradient over the ellipse: d times the mean of f(y + z) H z over the sphere."""
    s, axes = directions(y.size), AXES[: y.size]
    found: Array = y.size * (f(y + axes * s)[:, None] * s / axes).mean(axis=0)
    return found


@pytest.mark.parametrize("dim", [1, 2])
def test_the_price_of_exploring(dim: int) -> None:
    """A bound against every u, and not with less than d + 1."""
    rng = np.random.default_rng(dim)
    centres = [np.full(dim, 0.1), np.full(dim, -0.3)]
    points = np.array([*rng.uniform(-2.0, 2.0, size=(40, dim)), np.zeros(dim), *centres])

    def check(factor: float) -> None:
        for f in LOSSES.values():
            for y in centres:
                above = float(sphere_mean(f, y))
                price = factor * (above - ball_mean(f, y))
                assert price <= (dim + 1) * (above - float(f(y))) + 1e-5
                assert (above - f(points) <= (y - points) @ slope(f, y) + price + 1e-5).all()

    holds(check, dim + 1.0, 0.5 * dim, 0.9 * (dim + 1.0))


def test_the_price_is_exact_for_bowls_and_cones() -> None:
    """beta (d+1)/(d+2) tau/d with beta = 2, and in one dimension L sqrt(tau/d)."""
    bowl, cone = LOSSES["bowl"], LOSSES["cone"]
    for dim in (1, 2):
        tau, y = float((AXES[:dim] ** 2).sum()), np.full(dim, 0.1)
        price = (dim + 1) * (sphere_mean(bowl, y) - ball_mean(bowl, y))
        assert price == pytest.approx(2.0 * (dim + 1) / (dim + 2) * tau / dim, rel=1e-5)
    y = np.zeros(1)
    assert 2 * (sphere_mean(cone, y) - ball_mean(cone, y)) == pytest.approx(AXES[0], rel=1e-5)
