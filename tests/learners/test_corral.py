"""Corral against the algorithm of the paper, written out; what it does when things go wrong."""

import json
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import norm

import dikin
from dikin.errors import NumericalError, ParameterError
from dikin.feedback import Feedback
from dikin.learners.base import Learner
from dikin.learners.corral import Corral, mirror_step
from dikin.learners.noise import Noise
from dikin.rng import stream_key

HORIZON, ETA, SEED, RANGE = 60, 1.0, 7, (3.0, 11.0)
DISC = dikin.Ball(2, 2.0, [1.0, -1.0])
Make = Callable[[tuple[float, float]], Learner]

MAKES: list[Make] = [
    lambda span: dikin.FKM(DISC, HORIZON, 4.0, loss_range=span, seed=0),
    lambda span: dikin.HazanLevy(DISC, HORIZON, 2.0, 0.5, loss_range=span, seed=0),
    lambda span: dikin.SahaTewari(DISC, HORIZON, 2.0, loss_range=span, seed=0),
]


def corral() -> Corral:
    bases = [make(RANGE) for make in MAKES]
    return Corral(DISC, bases, HORIZON, eta=ETA, loss_range=RANGE, seed=SEED)


class Literal:
    """The algorithm as it is stated, on bases that are asked and told like any learner."""

    def __init__(self, generators: Callable[[int], Any]) -> None:
        self.M, self.T = len(MAKES), HORIZON
        self.gamma, self.b = 1 / self.T, np.exp(1 / np.log(self.T))
        self.eta, self.rho = np.full(self.M, ETA), np.full(self.M, 2.0 * self.M)
        self.p = np.full(self.M, 1 / self.M)
        self.generators = generators
        self.bases = [self.base(i) for i in range(self.M)]

    def base(self, i: int) -> Learner:
        """Base i for importance-weighted losses, with the noise that the other road uses."""
        half = (RANGE[1] - RANGE[0]) / 2 * self.rho[i]
        learner = MAKES[i]((-half, half))
        learner._noise.restore(self.generators(i))
        return learner

    @property
    def pbar(self) -> Any:
        return (1 - self.gamma) * self.p + self.gamma / self.M

    def ask(self, chance: float) -> Any:
        self.queries = [base.ask() for base in self.bases]
        self.played = int(np.sum(np.cumsum(self.pbar) < chance))
        return self.queries[self.played].point

    def tell(self, loss: float, curvature: float) -> None:
        share = self.pbar[self.played]
        low, high = RANGE
        for i, (base, query) in enumerate(zip(self.bases, self.queries, strict=True)):
            told = (loss - (low + high) / 2) / share if i == self.played else 0.0
            base.tell(query, told, min(curvature, base.curvature_limit[0]))
        self.descend((loss - low) / (high - low), share)
        for i in range(self.M):
            if 1 / self.pbar[i] > self.rho[i]:
                self.outgrown(i)

    def descend(self, loss: float, share: float) -> None:
        losses = np.zeros(self.M)
        losses[self.played] = loss / share
        inverse = 1 / self.p + self.eta * losses
        last = np.min((inverse / self.eta)[inverse / self.eta > losses]) * (1 - 1e-13)
        top = min(losses.max(), last)
        lam = brentq(lambda x: np.sum(1 / (inverse - self.eta * x)) - 1, 0, top, xtol=1e-15)
        self.p = 1 / (inverse - self.eta * lam)

    def outgrown(self, i: int) -> None:
        self.rho[i] = 2 / self.pbar[i]
        self.eta[i] *= self.b
        self.bases[i] = self.base(i)


def test_corral_is_the_algorithm_as_stated() -> None:
    """Points and shares, to 60 rounds of rounding through projections and roots."""
    learner = corral()
    road = Literal(lambda i: learner._bases[i]._noise.state())
    noise = Noise(stream_key(SEED, "learner"), 1)

    def normals(count: int = 1) -> Any:
        return [noise.draw()[0] for _ in range(count)]

    normals(len(MAKES))  # the bases' seeds
    starts, target = 0, DISC.center + np.array([0.7, 0.9])
    for t in range(60):
        query = learner.ask()
        point = road.ask(norm.sf(normals()[0]))
        np.testing.assert_allclose(point, query.point, rtol=0, atol=1e-9)
        # Each base has its bad times, in which its share falls, and comes back.
        bad = learner._open[query.id][1][0] == t // 12 % len(MAKES)
        loss = 3.2 + 0.4 * float(np.sum((query.point - target) ** 2)) + 3.0 * bad
        curvature = 0.5 * (t % 3)
        learner.tell(query, loss, curvature)
        # A base that starts anew draws its seed before the other road asks for its noise.
        restarts = int(sum(learner._lives)) - len(MAKES) - starts
        normals(restarts)
        starts += restarts
        road.tell(loss, curvature)
        np.testing.assert_allclose(road.pbar, learner.shares, rtol=0, atol=1e-9)
    assert starts >= 2


@pytest.mark.parametrize("loss", [0.0, 1e-12, 1.0, 1e18])
def test_the_root_is_found_for_every_loss(loss: float) -> None:
    for shares in ([0.5, 0.5], [1e-9, 1 - 1e-9], [1 - 1e-15, 1e-15], [0.2, 0.3, 0.5]):
        for eta, played in product((1e-6, 1.0, 1e4), range(len(shares))):
            etas = eta * np.arange(1, len(shares) + 1)
            after = 1 / mirror_step(1 / np.array(shares), etas, played, loss)
            assert abs(sum(after) - 1) < 1e-9
            assert after[played] <= shares[played] * (1 + 1e-9)


def test_late_answers_for_an_earlier_life_of_a_base() -> None:
    """A query asked before a base started anew is answered after; its point stays what it was."""
    learner = corral()
    early = [learner.ask() for _ in range(6)]
    before = learner._lives
    while (learner._lives == before).all():
        query = learner.ask()
        played = learner._open[query.id][1][0]
        learner.tell(query, RANGE[1] if played == 0 else RANGE[0])
    twin = dikin.restore(json.loads(json.dumps(learner.state())))
    assert [q.point.tolist() for q in twin.open_queries] == [q.point.tolist() for q in early]
    for query in early:
        for each in (learner, twin):
            each.tell(query, 7.5, 0.1)
    assert learner.state() == twin.state()


def test_a_base_that_cannot_learn_leaves_everything_as_it_was(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    learner = corral()
    for _ in range(10):
        learner.tell(learner.ask(), 6.0, 0.1)
    query = learner.ask()
    before = learner.state()

    def fails(*_: Any) -> None:
        raise NumericalError("no convergence")

    monkeypatch.setattr(learner._bases[2], "_learn", fails)
    with pytest.raises(NumericalError):
        learner.tell(query, 6.0)
    assert learner.state() == before
    monkeypatch.undo()
    learner.tell(query, 6.0)


class Pairs(dikin.FKM):
    feedback = Feedback.PAIR


@pytest.mark.parametrize(
    ("bases", "message"),
    [
        ([MAKES[0](RANGE)], "two bases or more, got 1"),
        (MAKES[0](RANGE), "must be learners"),
        (["fkm", "scrible"], "must be learners"),
        ([MAKES[0](RANGE), dikin.FKM(dikin.Ball(3), 60)], "FKM plays on Ball.dim=3. and Corral on"),
        ([MAKES[0](RANGE), Pairs(DISC, 60)], "Pairs must be told .loss, loss."),
    ],
)
def test_bases_that_do_not_fit_are_refused(bases: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        Corral(DISC, bases, HORIZON)
