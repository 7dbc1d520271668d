"""LiftedLinear against its text, which is written in R^{d+1} with the list of all rises."""

from __future__ import annotations

import contextlib
from math import exp, log, sqrt
from typing import Any

import numpy as np
import pytest

import dikin
from learners.literal import OffTheSphereError
from reference.barriers import BallBarrier, BoxBarrier, Normalised, SimplexBarrier, UserBarrier
from reference.lifted import NormalBarrier, argmin_on_lifted_domain, lift, symmetric_roots

Array = np.ndarray[Any, np.dtype[np.float64]]
T, ROUNDS = 60, 60
SETS: dict[str, tuple[Any, UserBarrier]] = {
    "ball": (dikin.Ball(3, 2.5, [1, -2, 0]), BallBarrier(np.array([1.0, -2, 0]), 2.5)),
    "box": (dikin.Box([0, -1], [4, 2]), BoxBarrier(np.array([0.0, -1]), np.array([4.0, 2]))),
    "simplex": (dikin.Simplex(4), SimplexBarrier(4)),
}


class LiftedText:
    """The text; the set Omega' is left out, and no game here ever meets its edge."""

    def __init__(self, psi: Normalised, scale: float) -> None:
        d, nu = psi.dim, psi.nu
        self.d, self.Psi = d, NormalBarrier(psi, scale, scale * 2 * nu)
        self.kappa = exp(1 / (100 * d * log(nu * T)))
        self.eta = min(1 / 2, sqrt(scale * nu * log(T) / T)) / d
        self.w = lift(np.zeros(d))
        self.S = [self.Psi.hessian(self.w)]
        self.etas = [self.eta]

    def rises(self, H: Array) -> bool:
        return bool(np.linalg.eigvalsh(H - sum(self.S))[-1] > 0)

    def estimate(self, loss: float, root: Array, s: Array) -> Array:
        return self.d * loss * root @ s

    def told(self, x: Array, loss: float, center: Array) -> None:
        """The direction is seen from the shipped centre: rounding would grow by the round."""
        H = self.Psi.hessian(self.w)
        root, inverse_root = symmetric_roots(H)
        s = root @ lift(x) - root @ lift(center)
        normal = inverse_root[:, -1]
        if abs(float(np.linalg.norm(s)) - 1) > 1e-7 or abs(float(s @ normal)) > 1e-7:
            raise OffTheSphereError(f"|s| = {np.linalg.norm(s)}, s.n = {s @ normal}")
        l_hat, before, eta = self.estimate(loss, root, s), self.w, self.eta
        slope = self.Psi.gradient(before)
        # argmin <w, l_hat> + (Psi(w) - Psi(w_t) - <grad Psi(w_t), w - w_t>)/eta
        self.w = argmin_on_lifted_domain(
            lambda w: l_hat + (self.Psi.gradient(w) - slope) / eta,
            lambda w: self.Psi.hessian(w) / eta,
            before,
            eta,
        )
        H = self.Psi.hessian(self.w)
        if self.rises(H):
            self.S.append(H)
            self.eta *= self.kappa
        self.etas.append(self.eta)


def widest_gap(place: str, constants: str, kind: type[LiftedText]) -> tuple[float, int]:
    """How far the shipped centres and rates get from the text's, and how often the rate rose."""
    domain, barrier = SETS[place]
    learner = dikin.LiftedLinear(domain, T, loss_range=(3, 11), constants=constants, seed=6)
    psi = Normalised(barrier, domain.radius)
    text = kind(psi, 400.0 if constants == "paper" else 1.0)
    gap = abs(learner.rate - text.eta)
    center = np.zeros(text.d)
    for _ in range(ROUNDS):
        query = learner.ask()
        x = psi.from_user(query.point)
        loss = float(np.cos(3 * x.sum()))
        learner.tell(query, 7 + 4 * loss)
        text.told(x, loss, center)
        center = psi.from_user(learner.center)
        gap = max(gap, float(np.abs(center - text.w[:-1]).max()), abs(learner.rate - text.eta))
    assert domain.gauge(domain.locate(learner.center)) < 1 - 1 / T
    return gap, len(text.S) - 1


@pytest.mark.parametrize("constants", ["sharp", "paper"])
@pytest.mark.parametrize("place", SETS)
def test_lifted_linear_is_its_text(place: str, constants: str) -> None:
    gap, rises = widest_gap(place, constants, LiftedText)
    assert gap < 1e-8
    assert rises >= (2 if constants == "sharp" else 1)


class NoRise(LiftedText):
    def rises(self, H: Array) -> bool:
        return False


class OnlyTheLast(LiftedText):
    """Compares with the last rise, not with all of them."""

    def rises(self, H: Array) -> bool:
        return bool(np.linalg.eigvalsh(H - self.S[-1])[-1] > 0)


class Unlifted(LiftedText):
    """Compares the first d rows and columns alone."""

    def rises(self, H: Array) -> bool:
        return bool(np.linalg.eigvalsh((H - sum(self.S))[:-1, :-1])[-1] > 0)


class ExtraDimension(LiftedText):
    """d + 1 for d in the estimate."""

    def estimate(self, loss: float, root: Array, s: Array) -> Array:
        return super().estimate(loss, root, s) * (self.d + 1) / self.d


@pytest.mark.parametrize("mutant", [NoRise, OnlyTheLast, Unlifted, ExtraDimension])
def test_another_text_is_noticed(mutant: type[LiftedText]) -> None:
    with contextlib.suppress(OffTheSphereError):
        assert max(widest_gap(place, "sharp", mutant)[0] for place in SETS) > 1e-6


# --- the shrunk set ------------------------------------------------------------------------------


@pytest.mark.parametrize("horizon", [2, 7])
def test_the_shrunk_set_is_met_where_it_should_be(horizon: int) -> None:
    """By symmetry the update on a shrunk ball is the same direction, on a box the clipped one."""
    size = 1 - 1 / horizon
    for pull in (np.array([60.0, 5.0, -0.5]), np.array([30.0, -30.0, 40.0])):
        ball = dikin.LiftedLinear(dikin.Ball(3), horizon, seed=1)
        linear, iterate = ball._drawn_in(pull)
        # The path ends a weight of 1e-10 over the pull that is left, above 40, from the edge.
        met = -size * pull / np.linalg.norm(pull)
        np.testing.assert_allclose(iterate[:-1], met, rtol=0, atol=1e-11)
        cube = dikin.LiftedLinear(dikin.Box([-1, -1, -1], [1, 1, 1]), horizon, seed=1)
        free = cube.geometry.solved(pull, 0.0, 1.0, cube.geometry.start())[:-1]
        linear, iterate = cube._drawn_in(pull)
        edge = size / sqrt(3)
        np.testing.assert_allclose(iterate[:-1], np.clip(free, -edge, edge), atol=1e-8)
        again = cube.geometry.solved(linear, 0.0, 1.0, cube.geometry.start())[:-1]
        np.testing.assert_allclose(again, iterate[:-1], atol=1e-10)


@pytest.mark.parametrize("domain", [dikin.Ball(2), dikin.Simplex(3)], ids=repr)
def test_centres_stay_in_the_shrunk_set(domain: Any) -> None:
    learner, drawn = dikin.LiftedLinear(domain, 5, seed=2), 0
    outside = learner._drawn_in

    def counted(linear: Array) -> Any:
        nonlocal drawn
        drawn += 1
        return outside(linear)

    vars(learner)["_drawn_in"] = counted
    for _ in range(60):
        center, query = learner.center, learner.ask()
        learner.tell(query, 1.0 if (query.point - center)[0] > 0 else -1.0)
        assert domain.gauge(domain.locate(learner.center)) <= 1 - 1 / 5 + 1e-12
    assert drawn > 5


def test_the_rate_only_rises_and_only_a_little() -> None:
    world = dikin.Linear(dikin.Ball(2), seed=1)
    learner = dikin.LiftedLinear(world.domain, 2000, loss_range=world.loss_range, seed=1)
    first = last = learner.rate
    for _ in range(2000):
        query = learner.ask()
        learner.tell(query, *world.answer(query.point))
        assert learner.rate >= last
        last = learner.rate
    assert first < last < 1.1 * first


def test_refusals() -> None:
    with pytest.raises(dikin.DikinError, match="Did you mean 'sharp'"):
        dikin.LiftedLinear(dikin.Ball(2), 100, constants="sharpe")
    with pytest.raises(dikin.DikinError, match="horizon"):
        dikin.LiftedLinear(dikin.Ball(2), 1)
    learner = dikin.LiftedLinear(dikin.Ball(2), 100)
    with pytest.raises(dikin.DikinError, match="linear losses are not strongly convex"):
        learner.tell(learner.ask(), 0.1, 0.2)
