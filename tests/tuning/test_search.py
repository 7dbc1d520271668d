"""The tuner's regression and where it explores."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dikin.tuning.model import Features, Regression, Wide, chi_square
from dikin.tuning.search import Search
from dikin.tuning.sets import Cube, Cut
from dikin.vectors import Array

NONE = np.zeros(0)
AT = np.array([0.4, -0.5])


def bowl(x: Array) -> float:
    return float((x - AT) @ (x - AT))


def noisy(
    value: Callable[[Array], float], noise: float, rng: np.random.Generator
) -> Callable[[Array], float]:
    return lambda x: value(x) + noise * float(rng.normal())


def run(
    search: Search,
    value: Callable[[Array], float | None],
    rounds: int,
    rng: np.random.Generator,
    weights: Array = NONE,
) -> list[Array]:
    """Return the settings of some rounds."""
    tried = []
    for _ in range(rounds):
        x, picks, _ = search.ask(rng, weights)
        tried.append(x)
        search.tell(x, picks, value(x), weights=weights)
    return tried


@pytest.mark.parametrize("d", [1, 2, 5, 14])
def test_moving_the_origin_moves_the_features(d: int) -> None:
    rng = np.random.default_rng(1)
    features = Features(d, covariates=1, contexts=2)
    v, by = rng.normal(size=(2, d))
    e, z = np.array([0.0, 1.0]), np.array([0.3])
    assert np.allclose(features.moved(by) @ features.row(v, z, e), features.row(v - by, z, e))


def test_slope_is_the_derivative_of_the_row() -> None:
    features, rng = Features(3, contexts=2), np.random.default_rng(2)
    v, e = rng.normal(size=3), np.array([1.0, 0.0])
    for i, unit in enumerate(np.eye(3) * 1e-6):
        apart = (features.row(v + unit, None, e) - features.row(v - unit, None, e)) / 2e-6
        assert np.allclose(features.slope(v, e)[i], apart, atol=1e-8)


def test_a_recentred_regression_expects_the_same() -> None:
    model, rng = Regression(Features(2)), np.random.default_rng(3)
    for _ in range(200):
        x = rng.uniform(-1, 1, 2)
        model.learn(model.features.row(x - model.c), float(x @ x) + 0.1 * rng.normal())
    before = model.believed(model.features.row(np.array([0.3, 0.2]) - model.c))[0]
    model.recentre(np.array([0.5, -0.1]))
    after = model.believed(model.features.row(np.array([0.3, 0.2]) - model.c))[0]
    assert after == pytest.approx(before, abs=0.02)


def test_dependence_is_a_ratio_of_likelihoods() -> None:
    """Beside least squares with and without the features, where the ridge is small."""

    class Still(Regression):
        MEMBERS = Regression.MEMBERS[-1:]

    model, rng = Still(Features(2), robust=False), np.random.default_rng(4)
    rows, values = [], []
    for _ in range(400):
        x = rng.uniform(-1, 1, 2)
        rows.append(model.features.row(x))
        values.append(0.3 * x[0] + x[1] ** 2 + 0.5 * rng.normal())
        model.learn(rows[-1], values[-1])
    X, v = np.array(rows), np.array(values)
    for i in (0, 1):
        gone, common = model.features.of(i), model.features.common.start
        Y = X.copy()
        Y[:, common] -= X[:, gone[1]]
        fits = [A @ np.linalg.lstsq(A, v, rcond=None)[0] for A in (X, np.delete(Y, gone, axis=1))]
        left = [float((v - fit) @ (v - fit)) for fit in fits]
        wanted = (left[1] - left[0]) / (left[0] / len(v))
        assert model.dependence(gone)[0] == pytest.approx(wanted, rel=0.3)


def test_quantiles_of_chi_square() -> None:
    for k, quantile in ((1, 3.84), (2, 5.99), (10, 18.31), (100, 124.34)):
        assert chi_square(k, 1.645) == pytest.approx(quantile, rel=0.025)


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_it_finds_the_minimum_in_any_units(scale: float) -> None:
    rng, search = np.random.default_rng(4), Search(Cube(2), np.array([-0.5, 0.5]))
    run(search, lambda x: scale * (bowl(x) + 0.05 * rng.normal()), 200, rng)
    assert np.linalg.norm(search.places[0].y - AT) < 0.15


def test_it_stays_in_the_set() -> None:
    rows = np.vstack([np.eye(2), -np.eye(2), [[1.0, 1.0]]])
    space, rng = Cut(rows, np.array([1.0, 1.0, 1.0, 1.0, 0.5])), np.random.default_rng(5)
    search = Search(space, np.zeros(2))
    tried = run(search, lambda x: -x.sum() + 0.01 * rng.normal(), 300, rng)
    assert all(np.all(rows @ x < space.ends) for x in tried)
    assert np.mean([x.sum() for x in tried[100:]]) > 0.4


@pytest.mark.parametrize(("d", "rounds"), [(2, 2), (2, 9), (2, 60), (60, 20)])
def test_a_state_goes_on_bit_for_bit(d: int, rounds: int) -> None:
    search, twin = Search(Cube(d), np.zeros(d)), Search(Cube(d), np.zeros(d))
    rng = np.random.default_rng(6)
    run(search, lambda x: bowl(x[:2]) + 0.05 * rng.normal(), rounds, rng)
    twin.restore(json.loads(json.dumps(search.state())))
    again = [
        run(each, lambda x: bowl(x[:2]), 40, np.random.default_rng(7)) for each in (search, twin)
    ]
    assert np.array_equal(again[0], again[1])


def test_a_thousand_parameters_are_tuned_with_little_memory() -> None:
    d, rng = 1000, np.random.default_rng(3)
    at, search = rng.uniform(-0.6, 0.6, d), Search(Cube(d), np.full(d, -0.4))

    def cost(x: Array) -> float:
        return float(np.mean((x - at) ** 2))

    tried = run(search, lambda x: cost(x) + 0.002 * rng.normal(), 200, rng)
    assert cost(search.places[0].y) < 0.7 * cost(tried[0])
    numbers = sum(np.size(getattr(search.model, name)) for name in search.model.BY_FEATURE)
    assert numbers < 25 * d
    found = search.found(NONE)
    assert np.isfinite([*found.value, *found.intervals[7], *found.importance[7]]).all()


def test_a_wide_regression_counts_from_the_mean_and_moves_its_origin_exactly() -> None:
    d, rng = 60, np.random.default_rng(12)
    model = Wide(Features(d, contexts=2), origin=np.full(d, 0.1))
    e = np.array([0.0, 1.0])
    for _ in range(50):
        x = 0.1 + 0.3 * rng.normal(size=d)
        model.learn(model.features.row(x - model.c, None, e), float(x @ x + x[0]))
    points = rng.normal(size=(3, d))
    rows = [model.features.row(x - model.c, None, e) for x in points]
    before = [model.believed(row)[0] for row in rows]
    m, _ = model.average
    assert [model.offset + row @ m for row in rows] == pytest.approx(before)
    slopes = [model.gradient(x - model.c, e) for x in points]
    assert slopes[0] == pytest.approx(model.features.slope(points[0] - model.c, e) @ m)
    model.recentre(rng.normal(size=d))
    rows = [model.features.row(x - model.c, None, e) for x in points]
    assert [model.believed(row)[0] for row in rows] == pytest.approx(before)


def test_a_choice_may_depend_on_the_context() -> None:
    rng, right = np.random.default_rng(2), []
    search = Search(Cube(1), np.zeros(1), (0,), options=(2,), contexts=2)
    for _ in range(240):
        context = int(rng.integers(2))
        x, picks, _ = search.ask(rng, np.eye(2)[context])
        value = x[0] ** 2 + (picks[0] != context) + 0.3 * rng.normal()
        search.tell(x, picks, float(value), weights=np.eye(2)[context])
        right.append(picks[0] == context)
    assert np.mean(right[120:]) > 0.8
    assert search.found(np.eye(2)[0]).options[0].low > 0


SMOOTH: dict[str, Callable[[float], float]] = {
    "line": lambda u: 10 * u,
    "tiny": lambda u: 1e-12 * u,
    "bowl": lambda u: (u - 0.3) ** 2,
    "level": lambda u: 1e6 + (u - 0.3) ** 2,
    "kink": lambda u: abs(u - 0.3),
    "steep": lambda u: float(np.exp(8 * u)),
}


@pytest.mark.parametrize("name", SMOOTH)
def test_values_without_noise_are_all_learnt(name: str) -> None:
    """In one dimension the first settings are two, and their values are alike exactly."""
    for seed in range(6):
        search = Search(Cube(1), np.zeros(1))
        run(search, lambda x: SMOOTH[name]((x[0] + 1) / 2), 150, np.random.default_rng(seed))
        assert search.left_out == 0


@pytest.mark.parametrize("at", [{1}, {5}, {3, 9}, {6, 7, 14}, {1, 50, 60, 61, 90}])
@pytest.mark.parametrize("fault", [1e6, -1e6])
def test_absurd_values_cost_little(at: set[int], fault: float) -> None:
    cost = {}
    for absurd in (set(), at):
        rng, search = np.random.default_rng(5), Search(Cube(3), np.full(3, -0.4))
        told: list[float] = []

        def value(x: Array, told: Any = told, absurd: Any = absurd, rng: Any = rng) -> Any:
            told.append(float((x - 0.3) @ (x - 0.3)))
            noise = 0.1 * rng.normal()
            return fault if len(told) - 1 in absurd else told[-1] + noise

        run(search, value, 120, rng)
        cost[len(absurd)] = sum(told)
        assert search.left_out == len(absurd)
    assert cost[len(at)] < 1.5 * cost[0]


@pytest.mark.parametrize(("reported", "seed"), [(1e4, 8), (None, 0)])
def test_timeouts_above_a_setting_are_avoided(reported: float | None, seed: int) -> None:
    """The best setting is one that was tried: the regression alone names some that fail."""
    rng, search, tried = np.random.default_rng(seed), Search(Cube(1), np.array([-0.8])), []

    def size(x: Array) -> float:
        return float(1 + 19 * (x[0] + 1) / 2)

    def value(x: Array) -> float | None:
        return reported if size(x) > 6 else float(20 - size(x) + 0.3 * rng.normal())

    for _ in range(24):
        tried += run(search, value, 25, rng)
        assert len(tried) < 100 or size(search.best()[0]) < 6.2
    assert sum(size(x) > 6 for x in tried[300:]) < 20


def conversion(rng: np.random.Generator) -> float:
    return -float(rng.random() < 0.1)


def revenue(rng: np.random.Generator) -> float:
    return -10 * float(np.exp(rng.normal())) if rng.random() < 0.3 else 0.0


@pytest.mark.parametrize("value", [conversion, revenue])
def test_rare_values_among_equal_ones_are_no_faults(value: Any) -> None:
    """Mutants: weights against outliers expect a quarter of them, and a third is left out."""
    expected = seen = 0.0
    for seed in range(4):
        rng, search = np.random.default_rng(seed), Search(Cube(1), np.array([-0.3]))
        for t in range(300):
            x, picks, _ = search.ask(rng, NONE)
            if t >= 50:
                expected += search.expected(x, picks, NONE, NONE)
            found = value(rng)
            seen += found * (t >= 50)
            search.tell(x, picks, found, weights=NONE)
        assert search.left_out <= 1
    assert expected == pytest.approx(seen, rel=0.25)


def fed(seed: int, rounds: int, value: Callable[[int, np.random.Generator], float]) -> Search:
    """A search whose values do not depend on the setting."""
    rng, search = np.random.default_rng(seed), Search(Cube(1), np.array([-0.3]))
    for t in range(rounds):
        x, picks, _ = search.ask(rng, NONE)
        search.tell(x, picks, value(t, rng), weights=NONE)
    return search


@pytest.mark.parametrize("at", [20, 60, 150])
@pytest.mark.parametrize("size", [1.0, 1e5])
def test_an_absurd_value_among_equal_and_rare_ones_is_left_out(at: int, size: float) -> None:
    """The first rare value is news of any size: nothing has told yet how large values are."""
    for seed in range(3):
        search = fed(
            seed, 200, lambda t, rng: [-size * float(rng.random() < 0.04), 1e9 * size][t == at]
        )
        assert search.left_out == 1
        assert -0.2 * size < search.expected(*search.best(), NONE, NONE) < 0.1 * size


@pytest.mark.parametrize("size", [20.0, 2000.0])
def test_a_first_rare_value_may_be_a_small_one(size: float) -> None:
    """Mutant: the largest ordinary value alone tells what counts, and all others are left out."""
    for seed in range(3):
        search = fed(
            seed,
            300,
            lambda t, rng: 0.05 if t == 60 else size * float(t > 60 and rng.random() < 0.04),
        )
        assert search.left_out <= 5


def limited(
    search: Search, metric: Callable[[Array], float], rounds: int, noise: float = 0.05
) -> list[Array]:
    rng, tried = np.random.default_rng(10), []
    for _ in range(rounds):
        x, picks, _ = search.ask(rng, NONE)
        tried.append(x)
        value = (x[0] + 0.6) ** 2 + x[1] ** 2 + 0.05 * rng.normal()
        measured = metric(x) + noise * rng.normal()
        search.tell(x, picks, value, weights=NONE, metrics=[measured])
    return tried


def test_a_skewed_metric_is_remembered() -> None:
    """Mutant: scores by density believe 22 % in members that forget, which follow the mode."""
    shares = []
    for seed in (0, 1, 6):
        model, rng = Regression(Features(1), robust=False), np.random.default_rng(seed)
        for _ in range(400):
            x = rng.uniform(-0.3, 0.3, 1)
            model.learn(model.features.row(x), float(x[0] + np.exp(rng.normal())))
            shares.append(model.weights[model.memory < 20].sum())
    assert np.mean(shares) < 0.05


def test_a_limit_holds_and_is_explored_on_both_sides() -> None:
    search = Search(Cube(2), np.array([0.6, 0.3]), limits=[1.0])
    tried = limited(search, lambda x: 1 - 1.5 * (x[0] + 0.1), 600)
    assert sum(x[0] < -0.1 for x in tried[200:]) <= 8
    assert search.places[0].y[0] < 0.2
    assert np.linalg.norm(np.mean(tried[-50:], axis=0) - search.places[0].y) < 0.05


@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_a_limit_that_cannot_be_met_lets_exploring_go_on(noise: float) -> None:
    search = Search(Cube(2), np.array([0.2, 0.3]), limits=[-5.0])
    tried = np.array(limited(search, lambda x: 1 + x[0] ** 2 + 0.2 * x[1] ** 2, 300, noise))
    assert np.all(np.ptp(tried[-100:], axis=0) > 0.01)
    found = search.found(NONE)
    assert found.limits[0].low > -5.0
    for each in (found.value, *found.limits):
        assert -5 < each.low <= each.high < 5


def test_a_limit_on_failures_recommends_what_was_tried() -> None:
    """Beyond 6 every trial fails, and values fall towards it."""
    for seed in range(6):
        rng, search = np.random.default_rng(seed), Search(Cube(1), np.array([-0.8]), limits=[0.1])
        for t in range(300):
            x, picks, _ = search.ask(rng, NONE)
            size = 1 + 19 * (x[0] + 1) / 2
            value = None if size > 6 else 20 - size + 0.3 * rng.normal()
            search.tell(x, picks, value, weights=NONE, metrics=[float(size > 6)])
            if t % 50 == 49:
                found = search.found(NONE)
                assert 1 + 19 * (found.x[0] + 1) / 2 < 6.5
                assert 10 < found.value.low < found.value.high < 30


def test_importance_is_known_where_there_is_an_effect_and_only_there() -> None:
    """One in 20 may be wrong: of 24 at most 3, with odds of 1 in 30."""
    found, false = 0, 0
    for seed in range(12):
        rng, search = np.random.default_rng(seed), Search(Cube(3), np.array([0.6, -0.6, 0.0]))
        run(search, noisy(lambda x: 3 * x[0] ** 2, 0.2, rng), 150, rng)
        known = [each.low > 0 for each in search.found(NONE).importance]
        found += known[0]
        false += known[1] + known[2]
    assert found >= 10
    assert false <= 3
