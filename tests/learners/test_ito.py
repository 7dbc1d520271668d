"""Ito's method against its text, with the moments by roads of their own."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable
from math import inf, log, sqrt
from typing import Any

import numpy as np
import pytest
from scipy.stats import truncnorm

import dikin
from dikin.checks import check_learner
from dikin.errors import SlowLearnerWarning
from domains.test_truncated_normal import polar
from learners.exploration_laws import check_points_surround_the_center
from learners.literal import OffTheSphereError

Array = np.ndarray[Any, np.dtype[np.float64]]
T, ROUNDS = 3000, 25
LOSSES = (3.0, 11.0)
BETA, SIGMA = 2.0, 0.8  # the user's


class ItoText:
    """The text in units of the radius: z_t kept as the list of its terms."""

    first, growth, T = 1.0, 1.0, T

    def __init__(self, moments: Callable[..., tuple[Array, Array]], d: int, r: float, size: float):
        self.moments, self.d, self.r, self.size = moments, d, r, size
        self.mus: list[Array] = []
        self.gs: list[Array] = []

    def tune(self, beta: float, sigma: float) -> None:
        self.sigma = sigma
        stiff = beta * log(self.T) / (sigma * self.T)
        self.eta = min(sqrt(stiff if self.r > 0 else stiff / self.d), self.cap())

    def cap(self) -> float:
        return 1 / (2 * self.d)

    def alpha(self, t: int) -> float:
        far = self.first + self.r * sqrt(self.growth * t * self.eta * self.sigma)
        return min(far, sqrt(self.d))

    def theta(self) -> Array:
        terms = [mu - g / self.sigma for mu, g in zip(self.mus, self.gs, strict=True)]
        return np.asarray(sum(terms, np.zeros(self.d)) / (len(terms) + 1))

    def law(self) -> tuple[Array, Array]:
        """Mu and B = Sigma^(1/2) of N(theta, 1/(sigma eta t)) on K', by the other road."""
        t = len(self.mus) + 1
        return self.moments(self.theta(), self.sigma * self.eta * t, self.size)

    def told(self, x: Array, loss: float) -> None:
        t = len(self.mus) + 1
        mu, B = self.law()
        u = np.linalg.solve(B, x - mu) / self.alpha(t)
        if abs(float(np.linalg.norm(u)) - 1) > 1e-5:
            raise OffTheSphereError(f"|u| = {np.linalg.norm(u)}")
        self.gs.append(self.d * loss * np.linalg.solve(self.alpha(t) * B, u))
        self.mus.append(mu)


class PaperText(ItoText):
    first, growth = 1 / 9, 1 / 2

    def cap(self) -> float:
        return 1 / 9 / (2 * self.d * log(50 * self.T))


HALF = np.array([2.0, 1.5]) / 2.5


def on_box(theta: Array, precision: float, size: float) -> tuple[Array, Array]:
    width, half = 1 / sqrt(precision), size * HALF
    law = truncnorm((-half - theta) / width, (half - theta) / width, loc=theta, scale=width)
    return law.mean(), np.diag(law.std())


def on_ball(theta: Array, precision: float, size: float) -> tuple[Array, Array]:
    length = float(np.linalg.norm(theta))
    mean, along, across = polar(3, size, length, precision)
    e = theta / max(length, 1e-300)
    return mean * e, across * np.eye(3) + (along - across) * np.outer(e, e)


SETS: dict[str, tuple[Any, Any]] = {
    "box": (dikin.Box([0, -1], [4, 2]), on_box),
    "ball": (dikin.Ball(3, 2.5, [1, -2, 0]), on_ball),
}


def game(place: str, depth: float, constants: str, kind: type[ItoText]) -> tuple[Any, ItoText]:
    domain, moments = SETS[place]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SlowLearnerWarning)
        learner = dikin.Ito(
            domain, kind.T, BETA, SIGMA, depth=depth, loss_range=LOSSES, constants=constants, seed=4
        )
    unit = domain.radius**2 / 4  # half the width of the losses
    text = kind(moments, domain.dim, depth / domain.radius, 1 - depth / domain.inradius)
    text.tune(BETA * unit, SIGMA * unit)
    return learner, text


def widest_gap(learner: Any, text: ItoText) -> float:
    units, gap = learner.units, 0.0
    for t in range(ROUNDS):
        query = learner.ask()
        x = (query.point - units.center) / units.radius
        loss = float(np.cos(3 * x.sum() + t))
        learner.tell(query, 7 + 4 * loss)
        text.told(x, loss)
        ours = (learner.center - units.center) / units.radius
        gap = max(gap, float(np.linalg.norm(ours - text.law()[0])))
    return gap


@pytest.mark.parametrize(("constants", "kind"), [("sharp", ItoText), ("paper", PaperText)])
@pytest.mark.parametrize("depth", [0.0, 0.3])
@pytest.mark.parametrize("place", SETS)
def test_ito_is_its_text(place: str, depth: float, constants: str, kind: type[ItoText]) -> None:
    assert widest_gap(*game(place, depth, constants, kind)) < 1e-7


class NoDimension(ItoText):
    def told(self, x: Array, loss: float) -> None:
        super().told(x, loss / self.d)


class NoMean(ItoText):
    """theta without the centres of the quadratics."""

    def theta(self) -> Array:
        return np.asarray(-sum(self.gs, np.zeros(self.d)) / self.sigma / (len(self.gs) + 1))


class NoPrior(ItoText):
    """Forgets z_1."""

    def theta(self) -> Array:
        return super().theta() * (len(self.gs) + 1) / max(1, len(self.gs))


class Wider(ItoText):
    first = 1.001


@pytest.mark.parametrize("mutant", [NoDimension, NoMean, NoPrior, Wider])
def test_another_text_is_noticed(mutant: type[ItoText]) -> None:
    with contextlib.suppress(OffTheSphereError):
        assert widest_gap(*game("box", 0.3, "sharp", mutant)) > 1e-5


# --- over few rounds, deep inside: every cap binds -----------------------------------------------


class Short(ItoText):
    """ln T/T is largest at T = 3; r sqrt(t eta sigma) grows beyond sqrt(d) - 1."""

    T = 3


class Hasty(Short):
    def cap(self) -> float:
        return inf


class HastyPaper(PaperText):
    """The paper's cap binds even at T = 3000."""

    def cap(self) -> float:
        return ItoText.cap(self)


class Farther(Short):
    """Explores beyond sqrt(d) standard deviations."""

    def alpha(self, t: int) -> float:
        return 1 + self.r * sqrt(t * self.eta * self.sigma)


DEEP = {"box": 1.2, "ball": 2.0}


@pytest.mark.parametrize("place", SETS)
def test_the_rate_and_the_exploration_are_capped(place: str) -> None:
    learner, text = game(place, DEEP[place], "sharp", Short)
    assert text.eta == text.cap()
    assert widest_gap(learner, text) < 1e-7
    assert text.alpha(ROUNDS) == sqrt(text.d)
    for constants, mutant in (("sharp", Hasty), ("sharp", Farther), ("paper", HastyPaper)):
        learner, text = game(place, DEEP[place], constants, mutant)
        with contextlib.suppress(OffTheSphereError):
            assert widest_gap(learner, text) > 1e-5


LAWFUL = [
    *(dikin.Ball(1, 3.0, [-5.0]), dikin.Box([2.0], [2.5])),  # an interval is both
    *(dikin.Ball(3), dikin.Box([0, -1], [4, 2])),
]


@pytest.mark.parametrize("domain", LAWFUL, ids=repr)
def test_points_surround_the_mean(domain: Any) -> None:
    check_learner(dikin.Ito, domain)
    check_points_surround_the_center(lambda seed: next(dikin.Ito.examples(domain, seed)), 0)


def test_points_are_inside_without_the_net(monkeypatch: pytest.MonkeyPatch) -> None:
    """One standard deviation reaches the edge and never beyond, but for rounding."""
    for place in SETS:
        learner, _ = game(place, 0.0, "sharp", ItoText)
        bare = learner._point
        monkeypatch.setattr(learner, "_inside", lambda u, point=None, bare=bare: bare(u))
        for _ in range(300):
            query = learner.ask()
            margin = learner.domain.margin(query.point)
            assert margin >= -1e-12
            step = (query.point - learner.center).sum()
            learner.tell(query, 11.0 if step > 0 else 3.0)  # the fastest road to the edge
        assert learner.domain.margin(learner.center) < 0.2


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"domain": dikin.Simplex(3)}, r"Box and Ball and not for Simplex.*HazanLevy"),
    ({"curvature": 3.0}, "curvature=3 exceeds 2, the smoothness"),
    ({"curvature": 1e-200}, "its inverse must be at most"),
    ({"curvature": 0.0}, "curvature"),
    ({"depth": 1.0}, "depth=1 leaves no point of Ball"),
    ({"depth": -0.1}, "depth"),
    ({"constants": "peper"}, "Did you mean 'paper'"),
    ({"horizon": 1}, "horizon"),
    ({"horizon": 10**400}, "horizon must be at most .*, got more"),
]


@pytest.mark.parametrize(("wrong", "words"), REFUSED, ids=lambda v: str(v)[:30])
def test_refusals(wrong: dict[str, Any], words: str) -> None:
    right = {"domain": dikin.Ball(2), "horizon": 100, "smoothness": 2.0, "curvature": 1.0}
    with pytest.raises(dikin.DikinError, match=words):
        dikin.Ito(**right | wrong)


def test_the_papers_rate_is_capped_with_a_word() -> None:
    with pytest.warns(SlowLearnerWarning, match="more than its theorem allows"):
        dikin.Ito(dikin.Ball(2), 100, 2.0, 1.0, constants="paper")
    with warnings.catch_warnings(action="error"):  # nothing is cut off
        dikin.Ito(dikin.Ball(2), 10**12, 2.0, 1.0, constants="paper")
        dikin.Ito(dikin.Ball(2), 3, 2.0, 1.0)
