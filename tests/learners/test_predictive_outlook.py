"""What `Predictive` says of the rounds to come: what exploring will cost, and the outlook."""

from collections.abc import Callable
from math import isnan, sqrt
from typing import Any

import numpy as np
import pytest

import dikin
from dikin.errors import ParameterError
from dikin.learners import predictive_outlook
from learners.predictive_replay import Replay, Setting
from learners.predictive_schedule_replay import DIM, ScheduleReplay
from learners.predictive_spaces import SPACES
from paper.charts import holds

# --- the next round ------------------------------------------------------------------------------


class ForgetsTheRegulariser(dikin.Predictive):
    """H without eta S."""

    def _trace(self, shift: float) -> float:
        return super()._trace(0.0)


def price(game: Replay) -> float:
    """From the reference's Hessian, inverted: (beta/2)(E|z|^2 + E|w|^2), or L sqrt(E|z|^2)."""
    n, d, steep = game.learner._n, game.space.dim, game.steep
    metric = game.space.psi.hessian(game.reference.center) + n.shift * np.eye(d)
    tau = float(np.trace(np.linalg.inv(metric)))
    prices = [] if game.beta is None else [game.beta / 2 * (tau / d + tau / (d + 2))]
    prices += [] if steep is None else [steep * sqrt(tau / d)]
    return game.half * min(prices)


@pytest.mark.parametrize("constants", ["smooth", "Lipschitz", "both"])
def test_what_exploring_costs_in_the_next_round(constants: str) -> None:
    """1e-9: as for the certificate."""

    def check(kind: Callable[..., Any]) -> None:
        for name, space in SPACES.items():
            setting = Setting(constants, name != "cube", name == "disc", None, 0)
            game = Replay(space(), setting, kind).play(12)
            assert game.learner.exploring_cost == pytest.approx(price(game), rel=1e-9)

    holds(check, dikin.Predictive, ForgetsTheRegulariser)


def test_while_measuring_nothing_is_foreseen() -> None:
    learner = dikin.Predictive(dikin.Ball(2), 1.0, seed=1)
    for loss in range(8):
        assert isnan(learner.exploring_cost)
        assert isnan(learner.outlook())
        learner.tell(learner.ask(), float(loss % 3))
    assert learner.exploring_cost > 0
    assert learner.outlook() > 0


def test_without_a_constant_there_is_no_bound_to_foresee() -> None:
    learner = dikin.Predictive(dikin.Ball(2), seed=1)
    noisy_bowl(learner, 20)
    assert isnan(learner.exploring_cost)
    assert isnan(learner.outlook())


def test_to_look_ahead_changes_nothing() -> None:
    one, two = (dikin.Predictive(dikin.Simplex(3), 1.0, seed=1) for _ in range(2))
    for t in range(40):
        assert isnan(one.outlook(300)) or one.exploring_cost > 0
        first, second = one.ask(), two.ask()
        assert (first.point == second.point).all()
        one.tell(first, np.sin(t))
        two.tell(second, np.sin(t))
    assert one._n == two._n


# --- the outlook ---------------------------------------------------------------------------------


def noisy_bowl(learner: Any, rounds: int, curvature: float = 0.0) -> None:
    rng = np.random.default_rng([learner.rounds, 3])
    for _ in range(rounds):
        query = learner.ask()
        away = query.point - 0.3
        loss = 0.5 * float(away @ away) + 0.2 * rng.standard_normal()
        learner.tell(query, loss, curvature)


@pytest.mark.parametrize(
    ("domain", "options", "curvature"),
    [
        (dikin.Ball(2), {"smoothness": 1.0}, 0.0),
        (dikin.Ball(2), {"smoothness": 1.0, "loss_range": (-1.5, 4)}, 1.0),
        (dikin.Box([-1] * 5, [1] * 5), {"lipschitz": 4.0, "start": [-0.2] * 5}, 0.0),
    ],
    ids=["smooth", "curved", "Lipschitz, from a start"],
)
def test_the_certificate_grows_as_was_expected(
    domain: Any, options: dict[str, Any], curvature: float
) -> None:
    """Within a factor of two, in the mean of three seeds: in truth the centre moves a little."""

    looks = (1000, 333, 3000)  # as far as it will be played, and mutants: less far, and farther

    def ratios(seed: int) -> list[float]:
        learner = dikin.Predictive(domain, seed=seed, **options)
        noisy_bowl(learner, 1000, curvature)
        expected, before = [learner.outlook(look) for look in looks], learner.certificate
        noisy_bowl(learner, looks[0], curvature)
        return [each / (learner.certificate - before) for each in expected]

    def check(mean: float) -> None:
        assert 0.5 < mean < 2

    holds(check, *np.mean([ratios(seed) for seed in range(3)], axis=0))


@pytest.mark.parametrize("memory", [None, 300.0])
def test_rounds_taken_together_are_as_good_as_one_by_one(
    memory: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    learner = dikin.Predictive(dikin.Ball(2), 1.0, memory=memory, seed=2)
    noisy_bowl(learner, 100)
    together = learner.outlook(2000)
    monkeypatch.setattr(predictive_outlook, "_stride", lambda answered: 1)
    alone = learner.outlook(2000)
    assert together == pytest.approx(alone, rel=0.03)  # lambda and eta change by less in a stride


@pytest.mark.parametrize("rounds", [0, -5, 2.5, True, None])
def test_the_rounds_ahead_are_a_whole_number(rounds: Any) -> None:
    with pytest.raises(ParameterError, match="rounds must be"):
        dikin.Predictive(dikin.Ball(2), 1.0, seed=2).outlook(rounds)


def test_one_round_ahead_by_hand() -> None:
    """What exploring costs, and eta d^2 V/2 as often as 1 + sum lambda/S says: section 13.3."""
    game = ScheduleReplay(seed=3, smoothness=0.3)
    rng = np.random.default_rng(2)
    for _ in range(100):
        game.ask()
        game.tell(np.array([0.3, 0.1]), 0.2 * rng.uniform(-1, 1), 0.0)
    game.compare()
    expected, level = game.learner.outlook(1), game.level
    game.ask()
    _, tau, shift, _, _ = game.asked[-1]
    price, noise = game.price(tau), game.learner._n.levels.mean_square
    game.add(price, tau, 0.0)
    game.rounds += 1
    wanted = game.balance(game.stiffness(tau, shift))
    rate = wanted if max(wanted / game.eta, game.eta / wanted) >= game.step else game.eta
    noise *= rate * DIM**2 / 2 * (1 + game.lam / game.S)
    assert game.level == level
    assert expected == pytest.approx(price + noise, rel=1e-8)
