"""The problems that are tuned: their best settings, their noise and faults, and a short game."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pytest
from scipy.stats import beta, multivariate_normal

from evidence import bbob, faults, oppertune, pendulum, price, pricing, program, rows
from evidence.__main__ import PARTS
from evidence.games import ROOT, Outcome, Task, read_games
from evidence.rivals import CMA_ES, TUNER

SERVERS = ("traffic", "postgres")
"""Parts that start servers: test_traffic.py has the first, and the second is not run in tests."""


@pytest.mark.parametrize("name", [part for part in PARTS if part not in SERVERS])
def test_a_short_game(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some rounds of the tuner and of a rival, in three of the problems; costs are not negative."""
    if name in ("bbob", "cats"):
        pytest.importorskip("cocoex" if name == "bbob" else "vowpalwabbit")
    part: Any = import_module(f"evidence.{name}")
    monkeypatch.setattr(program, "CHECKS", 1)
    tasks = part.tasks(range(1))
    assert len(set(tasks)) == len(tasks)
    problems = [*dict.fromkeys(task.problem for task in tasks)]
    for problem in problems[:: max(len(problems) // 3, 1)]:
        for player in (TUNER, "GP-TS-M" if name == "pricing" else CMA_ES):
            task = Task(problem, 5 if name == "program" else 25, player, 1)
            found = part.run(task)
            found = found[task] if isinstance(found, dict) else found
            assert 0 <= min(found) <= max(found) < 1e6


@pytest.mark.parametrize("name", PARTS)
def test_the_committed_games_are_of_the_part_as_it_stands(name: str) -> None:
    part: Any = import_module(f"evidence.{name}")
    kept = {task[:3] for task in read_games(name)}
    wanted = {task[:3] for task in part.tasks(range(part.GAMES))}
    assert kept, "make evidence"
    assert wanted <= kept
    lines = (ROOT / "docs" / "games" / f"{name}.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith(f"# make evidence PART={name}, 20")
    assert lines[1] == "problem,rounds,player,game,cost,final"


# --- price, OPPerTune ----------------------------------------------------------------------------


def test_no_setting_beats_the_best_of_a_round() -> None:
    market, generator = price.Market(5000), np.random.default_rng(1)
    for round in (0, 100, 140, 2499, 2500, 4999):
        best, ads = market.best(round)
        assert 1 < best < 14
        assert 0 < ads < 60
        top = market.revenue(round, best, ads)
        others = generator.uniform([1, 0], [14, 60], size=(200, 2)).tolist()
        near = [[best + dp, ads + da] for dp in (-0.01, 0, 0.01) for da in (-0.1, 0, 0.1)]
        assert all(market.revenue(round, *other) <= top for other in others + near)


def test_the_market_changes_as_it_is_said() -> None:
    market = price.Market(10_000)
    before, after = (market.best(round)[0] for round in (4999, 5000))
    assert after < 0.75 * before
    assert market.best(4999)[0] > 1.1 * market.best(0)[0]  # 4999 and 0 may be other days
    days = [market.revenue(24 * day, 7, 30) for day in range(8)]
    assert max(days) > 1.2 * min(days)
    assert days[7] == pytest.approx(days[0], rel=0.02)  # but for the drift


def test_the_problems_of_oppertune() -> None:
    five, two = oppertune.PROBLEMS["5 settings"], oppertune.PROBLEMS["2 settings"]
    assert five.loss(np.array(five.best)) == two.loss(np.array(two.best)) == 0
    # 40, 30, 40, 50, 70; 200 and 400.
    start = np.array(five.start)
    assert five.loss(start) == pytest.approx((1600 + 900 + 1600 + 2500 + 4900) / 1e4)
    assert two.loss(np.array(two.start)) == pytest.approx(0.6)


# --- outside -------------------------------------------------------------------------------------


def test_the_gains_of_riccatis_equation_are_the_best_ones() -> None:
    """Every neighbour costs more, before and after the friction has changed.

    The equation is about infinitely many steps: 20 seconds are nearly that.
    """
    quiet = np.zeros((pendulum.STEPS, 4))
    for round in (0, 150):
        best = np.array(pendulum.best_gains(round))
        for away in 0.05 * np.vstack([np.eye(4), -np.eye(4)]):
            assert pendulum.charge(best * (1 + away), round, quiet) > pendulum.least_charge(round)
    assert pendulum.friction(100) == pytest.approx(4 * pendulum.FRICTION)
    assert pendulum.charge(pendulum.LOW * [0, 0, 0, 1], 0, quiet) == pendulum.FALL


def test_values_without_noise_are_those_of_bbob() -> None:
    """The sphere of the suite is |x - best|^2, and the noise of the Cauchy model is taken off."""
    pytest.importorskip("cocoex")
    measured = bbob.Measured(bbob.Function("sphere", bbob.SEVERE, "Cauchy", 5), 3)
    best = bbob.best_point(measured.noisy)
    for x in np.random.default_rng(1).uniform(-5, 5, (20, 5)):
        assert measured.excess(x) == pytest.approx(float(((x - best) ** 2).sum()), rel=1e-6)


def test_covariances_with_slopes_are_limits_of_differences() -> None:
    x, h, scales = np.array([0.0, 0.3, 0.7]), 1e-5, (0.7, 0.2)
    cross, own = pricing.with_slopes(x, *scales)
    near = np.concatenate([pricing.KNOTS + h, pricing.KNOTS - h])
    slope = np.hstack([np.eye(11), -np.eye(11)]) / (2 * h)
    assert cross[:, 1:] == pytest.approx(pricing.kernel(x, near, *scales) @ slope.T, abs=1e-6)
    assert cross[:, 0] == pytest.approx(pricing.kernel(x, np.zeros(1), *scales)[:, 0])
    both = slope @ pricing.kernel(near, near, *scales) @ slope.T
    assert own[1:, 1:] == pytest.approx(both, abs=1e-4)
    assert own[0, 1:] == pytest.approx(pricing.with_slopes(np.zeros(1), *scales)[0][0, 1:])


def test_a_truncated_normal_has_the_mean_of_rejected_draws() -> None:
    """Within six standard errors of 4,000 trajectories, taken as if a quarter were independent."""
    mean, covariance, upper = np.array([0.5, -0.3]), np.array([[1.0, 0.8], [0.8, 1.0]]), [0.0, 0.2]
    root, chance = np.linalg.cholesky(covariance), np.random.default_rng(0)
    z, draws = np.linalg.solve(root, [-1.5, -0.7]), []
    for speed in chance.standard_normal((4000, 1, 2)):
        z = pricing.truncated(upper - mean, root, z, speed)
        draws.append(mean + root @ z)
    found = np.array(draws)
    assert (found <= np.array(upper) + 1e-9).all()
    wanted = multivariate_normal(mean, covariance, seed=1).rvs(200_000)
    wanted = wanted[(wanted <= upper).all(axis=1)]
    assert found.mean(axis=0) == pytest.approx(wanted.mean(axis=0), abs=6 * 0.7 / 1000**0.5)
    assert np.cov(found.T) == pytest.approx(np.cov(wanted.T), abs=0.1)


def test_falling_curves_fall_and_fit_what_was_sold() -> None:
    policy = pricing.Falling(1)
    chance = np.random.default_rng(2)
    for _ in range(300):
        place = int(chance.integers(10))
        price = float(pricing.PRICES[place])
        policy.tell(price, price * (chance.beta(2, 2, 10) >= price).mean())
    curves = np.array([policy.demand() for _ in range(50)])
    assert (np.diff(curves, axis=1) <= 1e-9).all()
    assert curves.mean(axis=0) == pytest.approx(beta.sf(pricing.PRICES, 2, 2), abs=0.12)
    assert policy.best["price"] in (0.3, 0.4)


# --- synthetic games -----------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [*rows.SHAPES, "whole"])
@pytest.mark.parametrize("d", [1, 5])
def test_the_regret_is_0_at_the_optimum_and_1_at_the_start(shape: str, d: int) -> None:
    for seed in range(3):
        game = rows.Game(rows.Kind(d, shape, "none"), (1, seed))
        assert game.regret(game.at) == 0
        assert game.regret(game.start) == pytest.approx(1)
        assert game.measured(0, 0.25) == pytest.approx(game.scale * (0.25 + game.offset))
        assert np.linalg.norm(game.start - game.at) > 0.2 * np.sqrt(d)
        assert game.point([each.start for each in game.parameters.values()]) == pytest.approx(
            game.start
        )


def test_worlds_move_and_a_kind_is_read_as_it_is_written() -> None:
    for kind in (*rows.STILL, *rows.MOVING, *faults.KINDS):
        assert rows.Kind.of(str(kind)) == kind
    for world in rows.WORLDS:
        game = rows.Game(rows.Kind(2, "bowl1", "none", world), (1, 1))
        before = game.at.copy(), game.level
        for t in range(600):
            game.move(t)
        assert (game.level != before[1]) == ("level" in world or world == "season")
        assert (game.at != before[0]).any() != (game.level != before[1])


@pytest.mark.parametrize("share", faults.SHARES)
@pytest.mark.parametrize("name", faults.FAULTS)
def test_faults_change_the_values_that_are_hit_and_no_others(name: str, share: str) -> None:
    game = rows.Game(rows.Kind(2, "bowl1", "none"), (1, 1))
    plain = [game.measured(t, 0.5) for t in range(faults.ROUNDS)]
    game.faults = faults.faults(f"{name}@{share}", np.random.default_rng(3), game)
    spoilt = [game.measured(t, 0.5) for t in range(faults.ROUNDS)]
    hit = [t for t in range(faults.ROUNDS) if spoilt[t] != plain[t]]
    assert len(hit) == pytest.approx(float(share) * faults.ROUNDS, abs=faults.BURST / 2)
    values = np.array(spoilt)[hit]
    if name in ("zero", "missing"):
        assert set(values) == {0.0 if name == "zero" else -999_999.0}
    elif name == "bursts":
        assert values - plain[0] == pytest.approx(50.0 * game.scale)
        runs = np.split(np.array(hit), np.flatnonzero(np.diff(hit) > 1) + 1)
        assert all(len(run) % faults.BURST == 0 for run in runs)
    elif name == "above":
        assert (values > plain[0]).all()
    elif name == "around":
        assert values.min() < plain[0] < values.max()
    else:
        assert {round(v / plain[0], 6) for v in values} >= {40.0}
        assert len({round(v, 6) for v in values}) == 2


def test_faults_come_in_the_same_game(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[rows.Game] = []

    def note(game: rows.Game, task: Task, marks: Any) -> dict[Task, Outcome]:
        seen.append(game)
        return {}

    monkeypatch.setattr(faults, "outcomes", note)
    for case in ("none", "zero@0.1"):
        faults.run(Task(f"2-abs1-normal.1-still-{case}", 1000, TUNER, 0))
    assert seen[0].at == pytest.approx(seen[1].at)
    assert (len(seen[0].faults), len(seen[1].faults)) == (0, 100)
