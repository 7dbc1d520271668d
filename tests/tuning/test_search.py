"""The tuner's regression and where it plays."""

import json

import numpy as np
import pytest

from dikin.tuning.model import Features, Regression
from dikin.tuning.search import Cube, Cut, Search


def direction(rng, d):
    noise = rng.normal(size=d)
    return noise / np.linalg.norm(noise)


def played(search, at, rounds, rng, noise=0.05, scale=1.0):
    costs = []
    for _ in range(rounds):
        x, _ = search.ask(direction(rng, len(at)))
        costs.append(float((x - at) @ (x - at)))
        search.tell(x, scale * (costs[-1] + noise * rng.normal()))
    return costs


@pytest.mark.parametrize("d", [1, 2, 5, 14])
def test_moving_the_origin_moves_the_features(d):
    rng = np.random.default_rng(1)
    features = Features(d, covariates=1, contexts=2)
    v, by = rng.normal(size=(2, d))
    e, z = np.array([0.0, 1.0]), np.array([0.3])
    assert np.allclose(features.moved(by) @ features.row(v, z, e), features.row(v - by, z, e))


def test_slope_is_the_derivative_of_the_row():
    features, rng = Features(3, contexts=2), np.random.default_rng(2)
    v, e = rng.normal(size=3), np.array([1.0, 0.0])
    for i, unit in enumerate(np.eye(3) * 1e-6):
        apart = (features.row(v + unit, None, e) - features.row(v - unit, None, e)) / 2e-6
        assert np.allclose(features.slope(v, e)[i], apart, atol=1e-8)


def test_a_recentred_regression_expects_the_same():
    model, rng = Regression(Features(2)), np.random.default_rng(3)
    for _ in range(200):
        x = rng.uniform(-1, 1, 2)
        model.learn(model.features.row(x - model.c), x @ x + 0.1 * rng.normal())
    before = model.believed(model.features.row(np.array([0.3, 0.2]) - model.c))[0]
    model.recentre(np.array([0.5, -0.1]))
    after = model.believed(model.features.row(np.array([0.3, 0.2]) - model.c))[0]
    assert after == pytest.approx(before, abs=0.02)


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_it_finds_the_minimum_in_any_units(scale):
    at = np.array([0.4, -0.5])
    search = Search(Cube(2), np.array([-0.5, 0.5]))
    played(search, at, 200, np.random.default_rng(4), scale=scale)
    assert np.linalg.norm(search.places[0].y - at) < 0.15


def test_it_stays_in_the_set():
    rows = np.vstack([np.eye(2), -np.eye(2), [[1.0, 1.0]]])
    space, rng = Cut(rows, np.array([1.0, 1.0, 1.0, 1.0, 0.5])), np.random.default_rng(5)
    search = Search(space, np.zeros(2))
    for _ in range(300):
        x, _ = search.ask(direction(rng, 2))
        assert np.all(rows @ x < space.ends)
        search.tell(x, -x.sum() + 0.01 * rng.normal())
    assert search.places[0].y.sum() > 0.4


def test_a_state_goes_on_bit_for_bit():
    at, search = np.array([0.3, 0.1]), Search(Cube(2), np.zeros(2))
    played(search, at, 60, np.random.default_rng(6))
    twin = Search(Cube(2), np.zeros(2))
    twin.restore(json.loads(json.dumps(search.state())))
    again = [played(each, at, 40, np.random.default_rng(7)) for each in (search, twin)]
    assert again[0] == again[1]


@pytest.mark.parametrize("told", [1e4, None])
def test_timeouts_above_a_setting_are_avoided(told):
    rng, search, late = np.random.default_rng(8), Search(Cube(1), np.array([-0.8])), 0
    for t in range(600):
        x, _ = search.ask(direction(rng, 1))
        size = 1 + 19 * (x[0] + 1) / 2
        late += t >= 300 and size > 6
        search.tell(x, told if size > 6 else 60 - 6 * size + rng.normal())
    assert late < 20


def test_contexts_are_not_forgotten():
    rng, search, cost = np.random.default_rng(1), Search(Cube(1), np.array([-0.2]), contexts=2), []
    for _ in range(2000):
        context = int(rng.integers(2))
        x, _ = search.ask(direction(rng, 1), context)
        cost.append((7.5 + 6.5 * x[0] - (9, 4)[context]) ** 2)
        search.tell(x, cost[-1] + 2 * rng.normal(), context=context)
    assert np.mean(cost[1000:]) < 0.15


def test_the_better_choice_is_played():
    rng, search, last = np.random.default_rng(9), Search(Cube(1), np.array([0.6]), choices=2), []
    for _ in range(400):
        x, choice = search.ask(direction(rng, 1), draws=rng.normal(size=2))
        at, level = ((0.5, 0.3), (-0.5, 0.0))[choice]
        search.tell(x, (x[0] - at) ** 2 + level + 0.1 * rng.normal(), choice=choice)
        last.append(choice)
    assert np.mean(last[200:]) > 0.9


def test_a_limit_holds():
    rng, broken = np.random.default_rng(10), 0
    search = Search(Cube(2), np.array([0.6, 0.3]), limits=[1.0])
    for t in range(600):
        x, _ = search.ask(direction(rng, 2))
        metric = 1 - 1.5 * (x[0] + 0.1)
        broken += t >= 200 and metric > 1
        value = (x[0] + 0.6) ** 2 + x[1] ** 2
        search.tell(x, value + 0.05 * rng.normal(), metrics=[metric + 0.05 * rng.normal()])
    assert broken <= 8
    assert search.places[0].y[0] < 0.2


def test_a_log_of_another_level_helps():
    costs = {}
    for rows in (0, 20):
        costs[rows] = 0.0
        for seed in range(4):
            rng, at = np.random.default_rng(seed), np.array([0.4, -0.5])
            search = Search(Cube(2), np.array([-0.5, 0.5]), history=True)
            for _ in range(rows):
                x = rng.uniform(-0.9, 0.9, 2)
                value = (x - at) @ (x - at) + 3 + 0.05 * rng.normal()
                search.tell(x, value, history=True)
            costs[rows] += np.mean(played(search, at, 100, rng))
    assert costs[20] < costs[0]


def test_other_ranges_keep_what_was_learnt():
    rng, at = np.random.default_rng(11), np.array([0.4, -0.5])
    search = Search(Cube(2), np.zeros(2))
    played(search, at, 300, rng)
    search.change(Cube(3), [0, -1, 1], np.array([0.5, 1.0, 0.5]), np.array([0.0, 0.2, 0.0]))
    y = search.places[0].y
    assert np.allclose(y[[0, 2]], at / 2, atol=0.1)
    assert y[1] == 0.2
    found = search.found()
    assert found.value.low < 0.05
    assert found.intervals[0].low < 0.2 < found.intervals[0].high
