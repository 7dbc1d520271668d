"""BanditNewton against its text; the extension is convex, the covariance stays one."""

from collections.abc import Callable
from math import sqrt
from typing import Any

import numpy as np
import pytest

import dikin
from learners.taps import tapped

Array = np.ndarray[Any, np.dtype[np.float64]]
ROUNDS = 120
LOSSES = (3.0, 11.0)


def root(matrix: Array) -> Array:
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray((vectors * np.sqrt(values)) @ vectors.T)


class NewtonText:
    """The text with Sigma itself, in units of the radius, for losses Y in [0, 1]."""

    def __init__(self, gauge: Callable[[Array], float], sigma: Array, L: float, n: int) -> None:
        self.gauge, self.d, self.n, self.L = gauge, sigma.shape[0], n, L
        self.mu, self.Sigma, self.Z = np.zeros(self.d), sigma, 0.0
        self.eta, self.lam = sqrt(self.d / n) / (1 + L / self.d), 1 / self.d
        self.eps = 1 / sqrt(n)
        self.c = min(1 / self.eps, L)

    def excess(self) -> float:
        return max(1.0, self.gauge(self.X) / (1 - self.eps))

    def play(self, noise: Array) -> Array:
        C = np.linalg.cholesky(np.linalg.inv(self.Sigma))
        self.X = self.mu + np.linalg.inv(C).T @ noise
        return np.asarray(self.X / self.excess())

    def told(self, Y: float) -> None:
        P, inverse = self.excess(), np.linalg.inv(self.Sigma)
        Z = P * Y + self.c * (P - 1)
        D = Z - self.Z
        W = root(inverse) @ (self.X - self.mu)
        g = D * inverse @ (self.X - self.mu)
        H = self.lam * D * root(inverse) @ (np.outer(W, W) - np.eye(self.d)) @ root(inverse)
        new = np.linalg.inv(inverse + self.eta / 4 * H)
        self.mu = self.mu - self.eta * new @ g
        self.Sigma, self.Z = new, Z


SETS: dict[str, tuple[Any, Callable[[Array], float], Array]] = {
    "ball": (
        dikin.Ball(3, 2.5, [1, -2, 0]),
        lambda u: float(np.linalg.norm(u)),
        np.eye(3) / 9,  # (r/d)^2
    ),
    "box": (
        dikin.Box([0, -1], [4, 2]),
        lambda u: float((np.abs(u) * [2.5 / 2, 2.5 / 1.5]).max()),
        np.diag([(2 / 2.5) ** 2, (1.5 / 2.5) ** 2]) / 4,  # half-widths over d
    ),
}


@pytest.mark.parametrize("place", SETS)
def test_bandit_newton_is_its_text(place: str) -> None:
    """Points, means and laws; in some rounds the text samples beyond the set."""
    domain, gauge, sigma = SETS[place]
    learner = dikin.BanditNewton(domain, 3.0, loss_range=LOSSES, horizon=400, seed=5)
    text = NewtonText(gauge, sigma, 3.0 * domain.radius / (LOSSES[1] - LOSSES[0]), 400)
    tap, outside = tapped(learner), 0
    for t in range(ROUNDS):
        point = (learner.ask().point - domain.center) / domain.radius
        np.testing.assert_allclose(point, text.play(tap.last), rtol=0, atol=1e-9)
        outside += text.excess() > 1
        Y = 0.5 + 0.5 * float(np.cos(2 * point.sum() + 0.3 * t))
        learner.tell(t, LOSSES[0] + Y * (LOSSES[1] - LOSSES[0]))
        text.told(Y)
        np.testing.assert_allclose(learner._mean, text.mu, rtol=0, atol=1e-9)
        np.testing.assert_allclose(learner._inverse @ text.Sigma, np.eye(text.d), atol=1e-9)
    assert outside > 5


def test_without_a_horizon_the_round_stands_in_for_it() -> None:
    domain, gauge, sigma = SETS["ball"]
    learner = dikin.BanditNewton(domain, 3.0, loss_range=LOSSES, seed=6)
    tap = tapped(learner)
    for t in range(6):
        text = NewtonText(gauge, sigma, 3.0 * domain.radius / 8, max(2, t + 1))
        text.mu, text.Z = learner._mean, learner._last
        text.Sigma = np.linalg.inv(learner._inverse)
        point = (learner.ask().point - domain.center) / domain.radius
        np.testing.assert_allclose(point, text.play(tap.last), atol=1e-12)
        learner.tell(t, 7.0)
        text.told(0.5)
        np.testing.assert_allclose(learner._mean, text.mu, atol=1e-12)


class Unguarded(dikin.BanditNewton):
    def _curved(self, share: float, pull: Array) -> Array:
        return np.asarray((1.0 - share) * self._inverse + share * np.outer(pull, pull))


def lawless(kind: type[dikin.BanditNewton], way: str) -> None:
    """Losses that reward going far, or near, or change at random: A stays between its guards."""
    domain = dikin.Box([0, -1], [4, 2])
    learner = kind(domain, 0.1, seed=7)  # large steps
    rng = np.random.default_rng(8)
    for _ in range(1500):
        query = learner.ask()
        s = np.linalg.solve(np.linalg.cholesky(learner._inverse), learner._open[query.id][1][0])
        far = 1.0 if s @ s > 2 else -1.0
        loss = {"far": -far, "near": far}
        learner.tell(query, loss.get(way, float(rng.choice([-1.0, 1.0]))))
        low = np.linalg.eigvalsh(learner._inverse - learner._first / 4)[0]
        assert low >= -1e-9 * np.trace(learner._inverse)
        assert np.isfinite(learner._mean).all()
        assert domain.gauge(domain.radius * learner._mean) <= 2 + 1e-12


@pytest.mark.parametrize("way", ["far", "near", "wild"])
def test_lawless_losses_leave_a_law(way: str) -> None:
    lawless(dikin.BanditNewton, way)


def test_without_the_guard_they_do_not() -> None:
    with pytest.raises((AssertionError, np.linalg.LinAlgError)):
        lawless(Unguarded, "far")


def test_it_learns_and_names_what_is_wrong() -> None:
    world = dikin.Quadratic(dikin.Ball(2), 1.0, seed=1)
    learner = dikin.BanditNewton(world.domain, world.lipschitz, loss_range=world.loss_range, seed=1)
    dikin.play(learner, world, 3000, progress=False)
    best, _ = world.best()
    assert np.linalg.norm(learner.center - best) < 0.3
    for wrong in (0.0, -1.0, float("nan"), "1"):
        with pytest.raises(dikin.DikinError, match="lipschitz"):
            dikin.BanditNewton(dikin.Ball(2), wrong)  # type: ignore[arg-type]
    with pytest.raises(dikin.DikinError, match="horizon"):
        dikin.BanditNewton(dikin.Ball(2), 1.0, horizon=1)
