"""The problems that are tuned: their best settings, their noise and faults, and a short game."""

from importlib import import_module
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from scipy.stats import multivariate_normal

import dikin
from evidence import bbob, elo, faults, limited, oppertune, pendulum, price, pricing, rows, serving
from evidence.__main__ import PARTS
from evidence.games import FOLDER, Task, read_games
from evidence.rivals import CMA_ES, KEEP, TUNER

NOT_HERE = ("traffic", "postgres", "promises", "hostile")
"""Parts that start servers, need many rounds, or have costs below 0."""
NEEDS = {"bbob": "cocoex", "cats": "vowpalwabbit", "serving": "simpy"}
RIVALS = {
    "pricing": ("GP-TS-M",),
    "elo": ("SPSA (gain 0.02)",),
    "serving": (limited.CMA_PENALTY, limited.TPE_LIMIT),
    "compression": (limited.UCB_CODECS, limited.TPE_PENALTY),
}
MEASURED = [part for part in PARTS if (FOLDER / f"{part}.csv").exists()]


@pytest.mark.parametrize("name", [part for part in PARTS if part not in NOT_HERE])
def test_a_short_game(name: str) -> None:
    """Some rounds of the tuner and of a rival, in three of the problems; costs are not negative."""
    pytest.importorskip(NEEDS.get(name, "numpy"))
    part: Any = import_module(f"evidence.{name}")
    tasks = part.tasks(range(1))
    assert len(set(tasks)) == len(tasks)
    problems = [*dict.fromkeys(task.problem for task in tasks)]
    for problem in problems[:: max(len(problems) // 3, 1)]:
        for player in (TUNER, *RIVALS.get(name, (CMA_ES,))):
            task = Task(problem, 25, player, 1)
            found = part.run(task)
            found = found[task] if isinstance(found, dict) else found
            assert 0 <= min(found) <= max(found) < 1e6


@pytest.mark.parametrize("name", MEASURED)
def test_the_committed_games_are_of_the_part_as_it_stands(name: str) -> None:
    part: Any = import_module(f"evidence.{name}")
    kept = {task[:3] for task in read_games(name)}
    wanted = {task[:3] for task in part.tasks(range(part.GAMES))}
    assert wanted <= kept
    lines = (FOLDER / f"{name}.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith(f"# make evidence PART={name}, 20")
    assert lines[1] == "problem,rounds,player,game,cost,final"


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


def test_the_problems_of_oppertune() -> None:
    """The starts are 40, 30, 40, 50, 70 away from the best settings, and 200 and 400."""
    for name, start in (("5 settings", 1.15), ("2 settings", 0.6)):
        problem = oppertune.PROBLEMS[name]
        assert problem.loss(np.array(problem.best)) == 0
        assert problem.loss(np.array(problem.start)) == pytest.approx(start)


def test_the_gains_of_riccatis_equation_are_the_best_ones() -> None:
    """Every neighbour costs more, before and after the friction has changed."""
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


def test_games_of_engines_have_the_elo_of_their_settings() -> None:
    """400 Elo are odds of 10; wins and half of the draws are the score, however one-sided."""
    assert elo.score(400) / elo.score(-400) == pytest.approx(10)
    for lead in (-800, -100, 0, 3, 200):
        assert 0 <= elo.wins(lead) <= 1 - elo.draws(lead)
        assert elo.wins(lead) + elo.draws(lead) / 2 == pytest.approx(elo.score(lead))
        assert elo.wins(-lead) == pytest.approx(1 - elo.wins(lead) - elo.draws(lead))
    assert elo.draws(30) == elo.DRAWS
    engine = elo.Engine(4, np.random.default_rng(1))
    assert engine.lost(np.full(4, elo.TODAY)) == pytest.approx(elo.LOST)
    assert engine.lost(engine.best) == 0
    mean = np.mean([engine.result(100) for _ in range(20_000)])
    # Six standard errors: a result has a variance below 0.5.
    assert mean == pytest.approx(2 * elo.score(100) - 1, abs=6 * (0.5 / 20_000) ** 0.5)


def test_spsa_has_the_constants_of_the_frameworks() -> None:
    """The last step is a twentieth of the range, and a game there moves by gain times step."""
    rounds, gain = 500, 0.02
    spsa = elo.SPSA(np.full(3, 100.0), gain, rounds, 1)
    moves = []
    for _ in range(rounds):
        plus, minus = spsa.ask()
        before = (plus + minus) / 2
        spsa.tell(1)
        moves.append((np.abs(plus - minus) / 2, spsa.x - before, plus - before))
        spsa.x = np.full(3, 100.0)
    widths, steps, ways = np.array(moves).transpose(1, 0, 2)
    assert widths[-1] == pytest.approx(10)
    assert widths[0] == pytest.approx(10 * rounds**0.101)
    assert steps[-1] == pytest.approx(gain * ways[-1])
    factor = ((50 + rounds) / 51) ** 0.602 * rounds**-0.101
    assert np.abs(steps[0]) == pytest.approx(factor * np.abs(steps[-1]))


def test_a_batch_of_one_is_a_queue_with_one_server() -> None:
    """Pollaczek and Khinchine, for a spread of a tenth: a mean of 1 + 1/4 (1 + 0.01) services."""
    pytest.importorskip("simpy")
    chance = np.random.default_rng(3)
    gaps = chance.exponential(3 * serving.milliseconds(1), 24_000)
    server = serving.Server({"batch": 1, "wait_ms": 50.0, "replicas": 1}, gaps, chance)
    server.clock.run()
    times = np.array(server.times) / serving.milliseconds(1)
    assert len(times) == len(gaps)
    error = np.std(times[: 240 * 100].reshape(240, 100).mean(axis=1)) / 240**0.5
    assert times.mean() == pytest.approx(1 + 0.25 * 1.01, abs=6 * error)  # six standard errors
    assert server.busy / server.clock.now == pytest.approx(1 / 3, rel=0.05)


def test_rivals_hear_of_a_limit_in_their_own_way() -> None:
    """A penalty of up to ten times the value, constraints, or the metric itself."""
    kinds, heard = {"x": dikin.Real(0, 1, start=0.5)}, {}
    for name in (KEEP, limited.TPE_LIMIT, TUNER):
        player = limited.Limited(name, kinds, 50.0, ["a"], {"g": ["a", "b"]}, 1, 10)
        trial = player.ask("a", {"g": "a"})
        assert 0 <= trial.params["x"] <= 1
        player.each["a"] = Mock()
        for p99 in (40.0, 55.0, 500.0):
            player.tell("a", trial, 2.0, p99)
        heard[name] = [(*call.args[1:], call.kwargs) for call in player.each["a"].tell.mock_calls]
    assert [value for value, _ in heard[KEEP]] == pytest.approx([2, 2 * (1 + 10 * 0.1), 22])
    excess = [known[0] for _, known, _ in heard[limited.TPE_LIMIT]]
    assert excess == pytest.approx([-0.2, 0.1, 9])
    assert [more["metrics"]["p99_ms"] for _, more in heard[TUNER]] == [40, 55, 500]


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
