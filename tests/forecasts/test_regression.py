"""The regression on covariates: its arithmetic, against least squares over all rounds."""

from collections.abc import Callable
from math import isnan, nan, sqrt
from typing import Any

import numpy as np
import pytest

from dikin import forecasts
from dikin.errors import StateError
from dikin.forecasts import Forecasters, Regression, regression
from dikin.forecasts.regression import Fit
from paper.charts import holds

ROUNDS = 160
BOUNDED = [False, True, False]


class Literal:
    """Every round is kept, and theta is solved for anew by least squares."""

    def __init__(self) -> None:
        self.numbers: list[list[float]] = [[] for _ in BOUNDED]
        """Of each feature, while it does not count."""
        self.mean = [nan for _ in BOUNDED]
        self.square = [0.0 for _ in BOUNDED]
        self.count = [0 for _ in BOUNDED]
        self.rows: list[tuple[list[float], float, float]] = []
        self.slope = [0.0 for _ in BOUNDED]
        self.level = Forecasters()
        self.middle = 0.0
        self.rounds = 0

    def limit(self, i: int) -> float:
        size = sqrt(self.square[i]) or max(abs(self.mean[i]), 1.0)
        return 2.0 if BOUNDED[i] else 4.0 * size

    def deviations(self, features: list[float]) -> list[float]:
        found = []
        for i, number in enumerate(features):
            away = 0.0 if isnan(number) or isnan(self.mean[i]) else number - self.mean[i]
            limit = 0.0 if isnan(self.mean[i]) else self.limit(i)
            away = 0.0 if abs(away) > 250 * limit else away
            found.append(min(max(away, -limit), limit))
        return found

    def forecast(self, features: list[float]) -> float:
        away = self.deviations(features)
        return self.level.mixture + sum(s * e for s, e in zip(self.slope, away, strict=True))

    def learn(self, features: list[float], loss: float, scale: float, weight: float) -> None:
        away = self.deviations(features)
        left = loss - sum(s * e for s, e in zip(self.slope, away, strict=True))
        before, middle, self.rounds = self.level.mixture, self.middle, self.rounds + 1
        self.middle += weight * (loss - middle) / min(self.rounds, regression.SHORT)
        learnt = before + weight * (left - before)
        forecasts.learn(self.level, self.level, learnt, scale, float(self.rounds))
        if any(away):
            self.rows.append((away, loss - middle, weight))
            if len(self.rows) <= 64 or len(self.rows) % 16 == 0:
                self.solve()
        for i, number in enumerate(features):
            if not isnan(number):
                self.observe(i, number)

    def solve(self) -> None:
        """Rows of the rounds, and for each feature one that pulls its slope to 0."""
        ages = range(len(self.rows) - 1, -1, -1)
        weights = [
            (1 - 1 / 2000) ** age * w for age, (_, _, w) in zip(ages, self.rows, strict=True)
        ]
        left = [np.sqrt(w) * np.array(e) for w, (e, _, _) in zip(weights, self.rows, strict=True)]
        right = [sqrt(w) * v for w, (_, v, _) in zip(weights, self.rows, strict=True)]
        for i in range(len(BOUNDED)):
            there = [
                (w, e[i] ** 2) for w, (e, _, _) in zip(weights, self.rows, strict=True) if e[i]
            ]
            usual = sum(w * e for w, e in there) / sum(w for w, _ in there) if there else 1.0
            left.append(sqrt(2.0 * usual) * np.eye(len(BOUNDED))[i])
            right.append(0.0)
        self.slope = np.linalg.lstsq(np.array(left), np.array(right), rcond=None)[0].tolist()

    def observe(self, i: int, number: float) -> None:
        if isnan(self.mean[i]):
            self.numbers[i].append(number)
            if len(self.numbers[i]) == (1 if BOUNDED[i] else 8):
                kept = sorted(self.numbers[i])
                self.mean[i], self.count[i] = float(np.median(kept)), len(kept)
                if not BOUNDED[i]:
                    self.square[i] = ((kept[5] - kept[2]) / 0.95) ** 2 or (
                        (kept[6] - kept[1]) / 2
                    ) ** 2
            return
        away = min(max(number - self.mean[i], -self.limit(i)), self.limit(i))
        self.count[i] += 1
        window = min(self.count[i], regression.SHORT)
        self.mean[i] += away / window
        self.square[i] += (away * away - self.square[i]) / window


def rounds() -> list[tuple[list[float], float, float]]:
    """Features with gaps and absurd numbers, losses and weights."""
    rng = np.random.default_rng(7)
    found = []
    for t in range(ROUNDS):
        load, sine, rare = 40 + 3 * rng.normal(), float(np.sin(t / 5)), float(t % 50 == 9)
        load = {3: 1e30, 70: 1e30, 90: 400.0}.get(t, load)
        loss = 2.0 + 0.1 * (load if load < 100 else 40) - sine + 0.05 * rng.normal() + t / 100
        features = [
            float(nan if rng.random() < 0.1 else load),
            nan if t < 20 else sine,
            rare,
        ]
        found.append((features, float(loss), float(rng.choice([1.0, 0.3]))))
    return found


Learn = Callable[[Regression, Fit, list[float], list[float], float, float], None]


def shipped(
    r: Regression, fit: Fit, features: list[float], away: list[float], loss: float, weight: float
) -> None:
    r.learn(fit, away, loss, 1.0, weight)
    r.observe(features)


def observes_first(
    r: Regression, fit: Fit, features: list[float], away: list[float], loss: float, weight: float
) -> None:
    r.observe(features)
    r.learn(r.fit, r.fit.deviations(features), loss, 1.0, weight)


def weighs_all_alike(
    r: Regression, fit: Fit, features: list[float], away: list[float], loss: float, weight: float
) -> None:
    shipped(r, fit, features, away, loss, 1.0)


def without_a_level(
    r: Regression, fit: Fit, features: list[float], away: list[float], loss: float, weight: float
) -> None:
    r.learn_slopes(away, loss, weight)
    r.observe(features)


def with_constant(name: str, value: float) -> Learn:
    def learn(
        r: Regression, fit: Fit, features: list[float], away: list[float], *loss: Any
    ) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(regression, name, value)
            shipped(r, fit, features, fit.deviations(features), *loss)

    return learn


def test_the_recursion_is_least_squares_over_all_rounds() -> None:
    """To 1e-9 of the forecast: sums over the rounds, and a matrix that RIDGE keeps regular."""

    def check(learn: Learn) -> None:
        ours, literal = Regression(), Literal()
        ours.add_features(BOUNDED)
        ours.begin(Forecasters(), 0, 1.0)
        for features, loss, weight in rounds():
            fit = ours.fit
            away = fit.deviations(features)
            wanted = literal.forecast(features)
            assert abs(fit.forecast(away) - wanted) <= 1e-9 * max(1.0, abs(wanted))
            learn(ours, fit, features, away, loss, weight)
            literal.learn(features, loss, 1.0, weight)
            np.testing.assert_allclose(ours.fit.slope, literal.slope, rtol=1e-9, atol=1e-12)

    holds(
        check,
        shipped,
        observes_first,
        weighs_all_alike,
        without_a_level,
        with_constant("RIDGE", 3.0),
        with_constant("KEEP", 1.0),
        with_constant("SPREAD", 5.0),
        with_constant("ABSURD", 1e100),
    )


def played(seed: int, useless: bool = False) -> Regression:
    rng, r = np.random.default_rng(seed), Regression()
    r.add_features([False, False])
    r.begin(Forecasters(), 0, 1.0)
    for _ in range(1500):
        x = rng.normal(size=2).tolist()
        loss = float(rng.normal() + (0.0 if useless else 3.0 * x[0]))
        r.learn(r.fit, r.fit.deviations(x), loss, 5.0)
        r.observe(x)
    return r


def test_what_is_explained_is_what_was_foreseen() -> None:
    """R^2 = 0.9 in truth; the level costs a little of it. Useless features explain nothing."""
    r = played(1)
    assert r.explained == pytest.approx(0.9, abs=0.02)
    assert r.fit.slope == pytest.approx([3.0, 0.0], abs=0.1)
    assert abs(r.contributions[1]) < 0.01 * r.contributions[0]
    assert played(2, useless=True).explained < 0.01


def slow(learn: Learn) -> float:
    """The slope of a sine of 700 rounds, in truth 0.5, where losses fall at first."""
    rng, r = np.random.default_rng(6), Regression()
    r.add_features([True])
    r.begin(Forecasters(), 0, 1.0)
    for t in range(2800):
        x = [float(np.sin(2 * np.pi * t / 700))]
        loss = 5.0 * np.exp(-t / 60) + 0.5 * x[0] + 0.1 * float(rng.normal())
        learn(r, r.fit, x, r.fit.deviations(x), float(loss), 1.0)
    return r.fit.slope[0]


def from_the_level(
    r: Regression, fit: Fit, features: list[float], away: list[float], loss: float, weight: float
) -> None:
    """The deviation from the level, which adapts to whatever theta is."""
    r.learn(fit._replace(middle=fit.level.mixture), away, loss, 1.0, weight)
    r.observe(features)


def test_a_feature_that_changes_slowly_is_not_taken_for_a_trend() -> None:
    """Its slope is found in the end, although losses fell while it rose."""

    def check(learn: Learn) -> None:
        assert slow(learn) == pytest.approx(0.5, abs=0.25)

    holds(check, shipped, from_the_level)


def test_rounds_that_were_gathered_are_learnt_when_it_begins() -> None:
    rng = np.random.default_rng(4)
    r = Regression()
    r.add_features([False])
    assert not r.begun
    assert isnan(r.explained)
    for _ in range(8):
        x = rng.normal(size=1).tolist()
        r.gather(x, 5.0 + 2.0 * x[0])
    assert r.gathered == 8
    level = Forecasters()
    forecasts.restart(level, 5.0)
    r.begin(level, 8, 100.0)
    assert r.begun
    assert r.gathered == 0
    # Two rounds stand against the slope: eight tenths of it, about.
    assert 1.4 < float(r.fit.slope[0]) < 2.0


def test_a_feature_that_comes_later_and_one_that_goes() -> None:
    rng, r = np.random.default_rng(5), Regression()
    r.add_features([False])
    r.begin(Forecasters(), 0, 1.0)
    before = r.fit
    for t in range(600):
        if t == 200:
            r.add_features([False])
        x = rng.normal(size=1 if t < 200 else 2).tolist()
        loss = sum(x) + 0.1 * float(rng.normal())
        if t >= 400:
            x[0], loss = nan, x[1]
        r.learn(r.fit, r.fit.deviations(x), loss, 5.0)
        r.observe(x)
    assert r.fit.slope == pytest.approx([1.0, 1.0], abs=0.1)
    assert len(before.mean) == 1  # who keeps a fit keeps that of then
    assert len(before.deviations([1.0, 2.0])) == 1


def test_a_state_is_the_same_regression() -> None:
    r = played(3)
    again = Regression.restore(r.state())
    x = [0.3, nan]
    for each in (r, again):
        each.learn(each.fit, each.fit.deviations(x), 0.7, 1.0)
        each.observe(x)
    assert str(r.state()) == str(again.state())


def test_a_regression_without_features_can_be_saved_too() -> None:
    state = Regression().state()
    assert state["rounds"] == (0, 0)
    assert str(Regression.restore(state).state()) == str(state)


@pytest.mark.parametrize("part", [0, 1])
def test_a_state_with_a_count_below_zero_is_refused(part: int) -> None:
    r = Regression()
    r.add_features([False, False])
    r.begin(Forecasters(), 0, 1.0)
    state = r.state()
    spread = [list(numbers) for numbers in state["spread"]]
    spread[part][1] = -1.0
    with pytest.raises(StateError, match="below 0"):
        Regression.restore(state | {"spread": spread})
