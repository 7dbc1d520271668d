"""The mixture of forecasters: its bound, for any forecasters and any losses, and its arithmetic.

With e_k = (v - p_k)/rho and the rate 1/2, exp(-e^2/2) is concave in p while |e| <= 1. So the
mixture's loss is at most the mixed loss, and weights w_k >= 1/(5 (t + 1)) after round t give

    sum_{s < t <= T} ((v_t - b_t)^2 - (v_t - p_k,t)^2)/rho_t^2  <=  2 (ln 5 + ln T)

for every k and every s, over the rounds in which k is awake: from s = 0 as the module states it,
and from any later round on, because some weight is shared out in every round.
"""

from collections.abc import Callable, Iterator
from math import exp, inf, isnan, log, nan, sqrt
from typing import Any

import numpy as np
import pytest

from dikin import forecasts
from dikin.forecasts import NONE, Forecasters, mixture
from paper.charts import Array, holds

Learn = Callable[..., None]

ROUNDS = 1500
ROUNDING = 1e-9
"""Of sums over some thousand rounds whose terms are at most one."""


def forecast(f: Forecasters, own: float, regression: float = nan) -> float:
    """The forecast with a number of the user's and of a regression, or NaN for none."""
    f.own = NONE if isnan(own) else own
    f.regression = NONE if isnan(regression) else regression
    return forecasts.forecast(f)


def expected(f: Forecasters) -> list[float]:
    """What each forecaster expects; NaN if it sleeps."""
    asleep = [nan if number == NONE else number for number in (f.own, f.regression)]
    return [f.last, f.level, f.long_mean, *asleep]


def weights(f: Forecasters) -> list[float]:
    return list(f.weights.values())


COUNT = len(Forecasters().weights)


# --- the bound -----------------------------------------------------------------------------------


class Tally:
    """For every forecaster, the sum of the bound and the least value that it has had."""

    def __init__(self) -> None:
        self.rounds, self.sums, self.least = 0, COUNT * [0.0], COUNT * [0.0]

    def add(self, value: float, mixed: float, advice: list[float], level: float) -> None:
        errors = [(value - p) ** 2 for p in advice]
        level *= 1.0 if isnan(advice[-1]) else 0.5
        rho = max([level * level, *(e for e in errors if not isnan(e))])
        self.rounds += 1
        limit = 2 * (log(5) + log(self.rounds)) + ROUNDING
        for k, error in enumerate(errors):
            if rho > 0 and not isnan(error):
                self.sums[k] += ((value - mixed) ** 2 - error) / rho
            assert self.sums[k] - self.least[k] <= limit, f"{k} after {self.rounds} rounds"
            self.least[k] = min(self.least[k], self.sums[k])


def signs(rng: np.random.Generator) -> Array:
    return rng.choice([-1.0, 1.0], size=ROUNDS)


def sequences() -> dict[str, Array]:
    rng, t = np.random.default_rng(3), np.arange(ROUNDS)
    return {
        "constant": np.full(ROUNDS, 0.7),
        "nothing": np.zeros(ROUNDS),
        "noise": rng.normal(size=ROUNDS),
        "signs": signs(rng),
        "alternating": np.where(t % 2, 0.8, -0.8),
        "rare spikes": np.where(rng.random(ROUNDS) < 0.01, 50.0, 0.1),
        "random walk": rng.normal(size=ROUNDS).cumsum(),
        "ramp": 0.01 * t,
        "growing": 1.02**t * signs(rng),
        "shrinking": 0.98**t * signs(rng),
        "calm, then storm": np.where(t < ROUNDS // 2, 0.0, rng.normal(size=ROUNDS)),
        "steps": np.sign(np.sin(t / 40.0)),
    }


def users(values: Array) -> dict[str, Array]:
    """The user's own numbers; NaN where none is given."""
    rng = np.random.default_rng(4)
    good = values + 0.01 * rng.normal(size=ROUNDS)
    return {
        "none": np.full(ROUNDS, nan),
        "good": good,
        "bad": -3 * values,
        "asleep half the time": np.where(rng.random(ROUNDS) < 0.5, nan, good),
        "bad, then good": np.where(np.arange(ROUNDS) < ROUNDS // 2, 5.0, good),
    }


def pairs(values: Array) -> list[tuple[Array, Array]]:
    """The numbers of a user and of a regression: every kind in both places."""
    kinds = [*users(values).values()]
    return list(zip(kinds, [*kinds[2:], *kinds[:2]], strict=True))


@pytest.mark.parametrize("level", [0.0, 0.3, 2.0])
@pytest.mark.parametrize("name", sequences())
def test_the_mixture_is_almost_as_good_as_its_best_forecaster(name: str, level: float) -> None:
    values = sequences()[name]
    for own, regression in pairs(values):
        f, tally = Forecasters(), Tally()
        rounds = zip(values.tolist(), own.tolist(), regression.tolist(), strict=True)
        for t, (value, *asleep) in enumerate(rounds, 1):
            tally.add(value, forecast(f, *asleep), expected(f), level)
            forecasts.learn(f, f, value, level, float(t))


def test_also_for_a_loss_that_knows_the_forecast() -> None:
    """The end of [-1, 1] that is farther from the mixture, if some forecaster is at the other."""
    f, tally = Forecasters(), Tally()
    for t in range(1, ROUNDS + 1):
        own = 0.9 if t % 3 else -0.9
        mixed = forecast(f, own)
        value = -1.0 if mixed > 0 else 1.0
        tally.add(value, mixed, expected(f), 0.0)
        forecasts.learn(f, f, value, 0.0, float(t))


# --- with any forecasters, and the mutants -------------------------------------------------------


def two_camps(rounds: int) -> Iterator[tuple[list[float], float]]:
    """Advice 0 or 1/4, and a loss beyond one of them at 3/4 of its distance to the other, in turn.

    Where the curvature of exp(-e^2) is positive, at |e| > 1/sqrt(2), both camps share a side.
    """
    for t in range(rounds):
        yield [0.0, 0.0, 0.25, nan, nan], (1.0 if t % 2 else -0.75)


def late_bloomer(rounds: int) -> Iterator[tuple[list[float], float]]:
    """A forecaster that is all wrong for half of the time, and right from then on."""
    for t in range(rounds):
        right = 0.0 if t < rounds // 2 else 1.0
        yield [right, right, 1.0 - right, nan, nan], right if t < rounds // 2 else 0.0


def late_regression(rounds: int) -> Iterator[tuple[list[float], float]]:
    """The same of a regression, which sleeps in every third round."""
    for t in range(rounds):
        right = 0.0 if t < rounds // 2 else 1.0
        awake = nan if t % 3 == 0 else 1.0 - right
        yield [right, right, right, nan, awake], right if t < rounds // 2 else 0.0


def check_any_advice(learn: Learn) -> None:
    for game in (two_camps, late_bloomer, late_regression):
        f, tally = Forecasters(), Tally()
        for t, (advice, value) in enumerate(game(6000), 1):
            f.last, f.level, f.long_mean = advice[:3]
            awake = weights(f)[:3]
            f.mixture = float(np.dot(awake, advice[:3])) / sum(awake)
            tally.add(value, forecast(f, *advice[3:]), advice, 0.0)
            learn(f, f.copy(), value, 0.0, float(t))


def too_fast(*arguments: Any) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mixture, "exp_near_zero", lambda x: exp(2 * x))
        forecasts.learn(*arguments)


def without_a_share(
    f: Forecasters, asked: Forecasters, value: float, level: float, count: float
) -> None:
    forecasts.learn(f, asked, value, level, inf)


def wakes_up_with_all(
    f: Forecasters, asked: Forecasters, value: float, level: float, count: float
) -> None:
    """The regression takes its weight from the others when it is awake, and does not give it."""
    forecasts.learn(f, asked, value, level, count)
    if asked.regression == NONE:
        f.regression_weight = forecasts.EQUAL


def test_the_bound_holds_for_any_advice_and_needs_its_rate_and_its_share() -> None:
    holds(check_any_advice, forecasts.learn, too_fast, without_a_share, wakes_up_with_all)


def test_the_mixed_loss_is_at_least_that_of_the_mean() -> None:
    """Jensen's inequality for exp(-e^2/2), |e| <= 1; at twice the rate it is false."""
    rng = np.random.default_rng(5)
    advice = np.vstack([rng.uniform(-1, 1, (4000, 4)), rng.uniform(0.75, 1, (1000, 4))])
    weights = rng.dirichlet(np.ones(4), size=5000)
    mean = (weights * advice).sum(axis=1)

    def check(rate: float) -> None:
        mixed = (weights * np.exp(-rate * advice**2)).sum(axis=1)
        assert (np.exp(-rate * mean**2) >= mixed - 1e-15).all()

    holds(check, 0.5, 1.0, 0.75)


# --- against a transcription ---------------------------------------------------------------------


class Literal:
    """The five forecasters one by one; weights as the module's text has them."""

    def __init__(self) -> None:
        self.values: list[float] = []
        self.level = self.trend = self.mean = 0.0
        self.weights = [1 / 5] * 5

    def advice(self, asleep: list[float]) -> list[float]:
        last = self.values[-1] if self.values else 0.0
        return [last, self.level + self.trend, self.mean, *asleep]

    def forecast(self, asleep: list[float]) -> float:
        awake = [k for k, p in enumerate(self.advice(asleep)) if not isnan(p)]
        total = sum(self.weights[k] for k in awake)
        return sum(self.weights[k] * self.advice(asleep)[k] for k in awake) / total

    def learn(self, asleep: list[float], value: float, level: float) -> None:
        self.weigh(self.advice(asleep), value, level if isnan(asleep[1]) else level / 2)
        error = value - (self.level + self.trend)
        if self.values:
            self.level += self.trend + 0.2 * error
            self.trend += 0.02 * error
        else:
            self.level = value
        self.values.append(value)
        self.mean += (value - self.mean) / min(len(self.values), 64)

    def weigh(self, advice: list[float], value: float, level: float) -> None:
        awake = [k for k, p in enumerate(advice) if not isnan(p)]
        rho = max([level, *(abs(value - advice[k]) for k in awake)])
        if rho == 0:
            return
        before = sum(self.weights[k] for k in awake)
        for k in awake:
            self.weights[k] *= exp(-((value - advice[k]) ** 2) / (2 * rho**2))
        after = sum(self.weights[k] for k in awake)
        for k in awake:
            self.weights[k] *= before / after
        share = 1 / (len(self.values) + 2)
        self.weights = [(1 - share) * w + share / 5 for w in self.weights]


@pytest.mark.parametrize("name", sequences())
def test_the_arithmetic(name: str) -> None:
    """To 1e-9 of the largest value: a trend adds up the rounding of all rounds before it."""
    values = sequences()[name][:300].tolist()
    size = max(1.0, *map(abs, values))

    def check(learn: Learn) -> None:
        for own, regression in pairs(sequences()[name]):
            f, literal = Forecasters(), Literal()
            rounds = zip(values, own.tolist(), regression.tolist(), strict=False)
            for t, (value, *asleep) in enumerate(rounds, 1):
                level = 0.3 * (t % 3)
                wanted = literal.forecast(asleep)
                assert abs(forecast(f, *asleep) - wanted) <= 1e-9 * size
                learn(f, f, value, level, float(t))
                literal.learn(asleep, value, level)
                np.testing.assert_allclose(weights(f), literal.weights, rtol=1e-9)
                assert sum(weights(f)) == pytest.approx(1.0, abs=1e-12)

    holds(check, forecasts.learn, too_fast, without_a_share)


def test_a_late_value_is_judged_by_the_forecast_that_was_made_for_it() -> None:
    """The weights move by the errors of then, the forecasters learn from now on."""
    f = Forecasters()
    forecasts.learn(f, f, 1.0, 0.0, 1.0)
    asked = f.copy()
    forecasts.learn(f, f, -3.0, 0.0, 2.0)
    once, twice = f.copy(), f.copy()
    forecasts.learn(once, asked, 1.0, 1.0, 3.0)
    before = np.array(weights(f))
    np.testing.assert_allclose(weights(once), 0.75 * before + 0.25 / 5, rtol=1e-14)
    forecasts.learn(twice, f, 1.0, 1.0, 3.0)
    for name in ("last", "level", "long_mean", "trend"):
        assert getattr(once, name) == getattr(twice, name)
    assert once.last_weight > twice.last_weight


def test_where_it_begins() -> None:
    f = Forecasters(own=3.0, regression=2.0)
    forecasts.learn(f, f, 1.0, 0.5, 1.0)
    forecasts.restart(f, 2.5)
    assert f.last == f.level == f.long_mean == f.mixture == forecast(f, nan) == 2.5
    assert weights(f) == [0.2] * 5
    assert forecast(f, 4.5) == pytest.approx(3.0)
    assert forecast(f, nan, 4.5) == pytest.approx(3.0)
    assert forecast(f, 4.5, 2.0) == pytest.approx(2.8)
    assert sqrt(sum(weights(f))) == pytest.approx(1.0)


def test_the_first_value_tells_no_forecaster_from_another() -> None:
    """They all expect the same before it, so their weights stay equal, to a rounding or two."""
    for value in (0.05, -7.0):
        f = Forecasters()
        forecasts.learn(f, f, value, 0.3, 1.0)
        assert f.last == f.level == f.long_mean == value
        assert weights(f) == pytest.approx([0.2] * 5, rel=1e-15)


def test_exp_near_zero_is_the_exponential() -> None:
    """To 1e-13 on the interval in which it is used; the quotient of half the degree is not."""
    x = np.linspace(-0.5, 0.5, 10_001)

    def check(exp_near_zero: Callable[[Any], Any]) -> None:
        np.testing.assert_allclose(exp_near_zero(x), np.exp(x), rtol=1e-13, atol=0)

    holds(check, forecasts.exp_near_zero, lambda x: (12 + 6 * x + x * x) / (12 - 6 * x + x * x))
