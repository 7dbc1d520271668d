"""FKM after reshaping: the set is round in the new coordinates, and there it is FKM by its text."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dikin
from dikin import registry
from dikin.checks.sample_points import boundary, corners, faces
from dikin.errors import CheckFailedError
from dikin.learners.reshaped_fkm import RoundGeometry
from dikin.rng import stream
from learners import literal
from learners.literal import Array

DOMAINS = [domain for cls in registry.domains().values() for domain in cls.examples()]


def sandwiched(form: RoundGeometry, domain: dikin.Domain, seed: int) -> None:
    """Every boundary point has inradius <= |u| <= 1; unit vectors are as long as declared."""
    rng = stream(seed, "reshaping")
    for v in (*boundary(domain, rng), *corners(domain, rng), *faces(domain, rng)):
        length = float(np.linalg.norm(np.linalg.solve(form.stretch, v)))
        if not form.inradius * (1 - 1e-9) <= length <= 1 + 1e-9:
            raise CheckFailedError(f"{domain}: |u| = {length}, not in [{form.inradius}, 1]")
    longest = float(np.linalg.norm(form.stretch, 2))
    if not abs(form.length / longest - 1) <= 1e-9:
        raise CheckFailedError(f"{domain}: {form.length} is declared, {longest} long")


@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
def test_the_reshaped_set_lies_between_two_balls(domain: dikin.Domain) -> None:
    form = RoundGeometry(domain)
    sandwiched(form, domain, 0)
    assert form.inradius >= 1 / (domain.nu + 2 * np.sqrt(domain.nu)) * (1 - 1e-12)


@pytest.mark.parametrize(("wrong", "factor"), [("inradius", 1.01), ("stretch", 0.99)])
def test_another_size_is_noticed(wrong: str, factor: float) -> None:
    domain = dikin.Simplex(4)  # whose two radii are exact
    form = RoundGeometry(domain)
    setattr(form, wrong, factor * getattr(form, wrong))
    form.length *= factor if wrong == "stretch" else 1.0
    with pytest.raises(CheckFailedError, match="not in"):
        sandwiched(form, domain, 0)


# --- the text in the new coordinates -------------------------------------------------------------

T, LIPSCHITZ = 10**6, 0.01
TURN = np.linalg.qr(np.vander([0.3, 1.1, -0.7]))[0]
THIN = {
    "box": dikin.Box([0, 0], [1000, 1]),
    "ellipsoid": dikin.Ellipsoid([5, -3, 0], (TURN * [1e-4, 1, 900]) @ TURN.T),
}
"""By hand: |H^(1/2) (x - c)| <= R with R = nu + 2 sqrt(nu), and r = 1."""


def game(place: str, lipschitz: float | None) -> tuple[Any, Any, Array]:
    """The learner, the text, and the map from points to the text's coordinates."""
    domain = THIN[place]
    d, nu = domain.dim, domain.nu
    values, vectors = np.linalg.eigh(domain.hessian(np.zeros(d)))
    R = nu + 2 * np.sqrt(nu)
    inward = (vectors * np.sqrt(values)) @ vectors.T / R
    half = np.sqrt(2) / R  # of the cube, and of the ball, that the two sets have become

    def project(v: Array) -> Array:
        if place == "box":
            return np.clip(v, -half, half)
        return v / max(1.0, float(np.linalg.norm(v)) / half)

    if lipschitz is None:
        tuning = literal.fkm_general(d, T, 1 / R)
    else:
        steep = lipschitz * float(np.linalg.norm(np.linalg.inv(inward), 2))
        tuning = literal.fkm_lipschitz(d, T, steep, 1 / R)
    text = literal.BanditGradientDescent(project, *tuning, d)
    learner = dikin.ReshapedFKM(domain, T, lipschitz, seed=2)
    text.step *= 500  # so that many a step ends outside
    learner._descend(learner._pace._replace(eta=500 * learner._pace.eta))
    return learner, text, inward


def widest_gap(learner: Any, text: Any, inward: Array) -> float:
    gap, domain = 0.0, learner.domain
    for t in range(60):
        center, query = inward @ (learner.center - domain.center), learner.ask()
        x = inward @ (query.point - domain.center)
        loss = float(np.tanh(9 * x.sum() + np.sin(t)))
        learner.tell(query, loss)
        text.told(x, loss, center)
        ours = inward @ (learner.center - domain.center)
        gap = max(gap, float(np.linalg.norm(ours - text.centers[-1])))
    return gap


@pytest.mark.parametrize("lipschitz", [None, LIPSCHITZ])
@pytest.mark.parametrize("place", THIN)
def test_reshaped_fkm_is_fkm_elsewhere(place: str, lipschitz: float | None) -> None:
    # A projection that ends on the boundary exactly is good to sqrt(2 nu 1e-10) = 2e-5.
    assert widest_gap(*game(place, lipschitz)) < 3e-5


def unshrunk(text: Any) -> None:
    text.alpha *= 0.9


def slower(text: Any) -> None:
    text.step *= 0.99


@pytest.mark.parametrize("spoil", [unshrunk, slower])
def test_another_text_is_noticed(spoil: Callable[[Any], None]) -> None:
    learner, text, inward = game("ellipsoid", LIPSCHITZ)
    spoil(text)
    with contextlib.suppress(literal.OffTheSphereError):
        assert widest_gap(learner, text, inward) > 1e-4


def test_a_ball_is_round_already() -> None:
    ball = dikin.Ball(3, 2.0, [1, 0, 5])
    plain, round = (kind(ball, 1000, 1.0, seed=4) for kind in (dikin.FKM, dikin.ReshapedFKM))
    for t in range(20):
        one, two = plain.ask(), round.ask()
        np.testing.assert_allclose(one.point, two.point, rtol=0, atol=1e-12)
        for learner, query in ((plain, one), (round, two)):
            learner.tell(query, float(np.sin(t)))


def test_a_thin_set_is_learnt_on() -> None:
    """Along it FKM hardly moves: its exploration must fit across."""
    regrets: dict[Any, float] = {}
    for kind in (dikin.FKM, dikin.ReshapedFKM):
        game = dikin.Linear(THIN["box"], seed=1)
        learner = kind(game.domain, 1000, game.lipschitz, loss_range=game.loss_range, seed=1)
        regrets[kind] = dikin.play(learner, game, 1000, checkpoints=1).regret[-1]
    assert regrets[dikin.ReshapedFKM] < 0.5 * regrets[dikin.FKM]
