"""The interval: against integrals, its definition, and the inequality that it rests on."""

from math import inf, log, pi, sqrt

import numpy as np
import pytest
from scipy.integrate import trapezoid

from dikin.worth.sums import FEWEST, NARROWEST, Sums, best_product, mixture_factor


@pytest.mark.parametrize("alpha", [0.05, 1e-6])
@pytest.mark.parametrize(("spread", "scale"), [(1.0, 1.0), (500.0, 0.02), (3.0, 40.0)])
def test_the_normal_mixture_is_the_integral_of_exponentials(
    spread: float, scale: float, alpha: float
) -> None:
    """At the boundary the mean of exp(a s - a^2 W/2) over a ~ N(0, scale) is 1/alpha."""
    s = sqrt(mixture_factor(spread * scale, alpha) * spread)
    peak, width = s / (spread + 1 / scale), 1 / sqrt(spread + 1 / scale)
    a = np.linspace(peak - 12 * width, peak + 12 * width, 20_001)
    heights = np.exp(a * s - a**2 * spread / 2 - a**2 / (2 * scale)) / sqrt(2 * pi * scale)
    assert trapezoid(heights, a) == pytest.approx(1 / alpha, rel=1e-8)


@pytest.mark.parametrize("alpha", [0.05, 0.001])
def test_the_best_scale_is_best(alpha: float) -> None:
    factors = [mixture_factor(f * best_product(alpha), alpha) for f in (0.9, 0.99, 1, 1.01, 1.1)]
    assert min(factors) == factors[2]


def sub_gaussian(d: np.ndarray, odds: np.ndarray, a: np.ndarray, share: float) -> np.ndarray:
    """E exp(a d - a^2 (share d^2 + (1 - share) E d^2)/2) for a variable of two values."""
    square = (odds * d**2).sum(axis=0)
    inside = a * d - a**2 / 2 * (share * d**2 + (1 - share) * square)
    return (odds * np.exp(inside)).sum(axis=0)


def test_a_third_of_the_squares_and_two_of_their_mean_are_enough() -> None:
    """The inequality of Theorem 17, and that it fails if squares that came are counted alone."""
    chance = np.random.default_rng(1)
    rare = 10.0 ** chance.uniform(-4, -0.3, 20_000)
    d = np.array([1 - rare, -rare]) * chance.choice([-1.0, 1.0], 20_000)
    odds = np.array([rare, 1 - rare])
    a = 10.0 ** chance.uniform(-2, 2, 20_000) * chance.choice([-1.0, 1.0], 20_000)
    assert sub_gaussian(d, odds, a, 1 / 3).max() <= 1 + 1e-12
    assert sub_gaussian(d, odds, a, 1.0).max() > 1.01
    assert sub_gaussian(d, odds, a, 0.0).max() > 1.01


def sums_of(residuals: list[tuple[float, float, bool]], q: float = 0.2) -> Sums:
    found = Sums()
    for residual, beyond, held_back in residuals:
        found.add(residual, beyond, held_back, (10.0, 8.0), q)
    return found


def noisy(count: int, seed: int, rare: float = 0.0) -> list[tuple[float, float, bool]]:
    chance = np.random.default_rng(seed)
    return [
        (
            float(chance.standard_normal() + 50.0 * (chance.random() < rare)),
            0.0,
            bool(chance.random() < 0.2),
        )
        for _ in range(count)
    ]


@pytest.mark.parametrize("q", [0.02, 0.05, 0.5])
def test_the_mean_over_the_coin_is_the_gain(q: float) -> None:
    """No bias, whatever the guesses are; a wrong share or a guess that knows the value has one."""

    def mean(told: float, peek: float) -> float:
        values, found = (7.0, -3.0), 0.0
        for held, odds in ((False, 1 - q), (True, q)):
            guesses = 2.0 + peek * (values[held] - 2.0), 5.0 + peek * (values[held] - 5.0)
            sums = Sums()
            sums.add(values[held] - guesses[held], 0.0, held, guesses, told)
            found += odds * (sums.tuned_values - sums.control_values)
        return found

    assert mean(q, 0.0) == pytest.approx(10.0, rel=1e-12)
    assert abs(mean(0.9 * q, 0.0) - 10.0) > 0.1
    assert abs(mean(q, 0.5) - 10.0) > 0.1


def test_the_interval_is_its_formula() -> None:
    rows, q, alpha = noisy(300, 3), 0.2, 0.05
    found, spreads, wide = sums_of(rows), [], 0.0
    for t in range(1, len(rows) + 1):
        arms = [[r for r, _, held in rows[:t] if held == arm] for arm in (False, True)]
        largest = max(r**2 for r, _, _ in rows[:t])
        mean = [(sum(r * r for r in arm) + 2 * largest) / max(len(arm), 1) for arm in arms]
        wide = t * (mean[0] / (1 - q) + max(mean) / q)
        spreads += [wide] if len(arms[1]) >= FEWEST else []
    x = 1.0
    for _ in range(100):
        x = log(1 + x) - 2 * log(alpha)
    rho = x * FEWEST / (spreads[0] * NARROWEST)
    half = sqrt((wide + 1 / rho) * log((wide * rho + 1) / alpha**2)) / len(rows)
    low, high = found.interval(q, alpha)
    assert (high - low) / 2 == pytest.approx(half, rel=1e-9)
    weights = [r / q if held else -r / (1 - q) for r, _, held in rows]
    assert (high + low) / 2 == pytest.approx(2.0 - float(np.mean(weights)))


def test_percentages_are_where_a_multiple_of_the_control_is_met() -> None:
    """Fieller: at an end of the interval, zero is at the end of that of v1 - y v0."""
    found = sums_of(noisy(900, 5))
    low, high = found.ratios(0.2, 0.05)
    assert found.interval(0.2, 0.05, low)[0] == pytest.approx(0.0, abs=1e-9)
    assert found.interval(0.2, 0.05, high)[1] == pytest.approx(0.0, abs=1e-9)
    assert low < found.tuned_values / found.control_values < high
    assert Sums().ratios(0.2, 0.05) == (-inf, inf)


def test_doubts() -> None:
    """Few answers, no noise, and what was clipped; none otherwise."""
    calm = noisy(400, 7)
    assert sums_of(calm).doubt(0.2, 0.05) is None
    assert sums_of(calm[:20]).doubt(0.2, 0.05) == "2 of 10 answers of the control have come"
    same = sums_of([(0.0, 0.0, held) for _, _, held in calm])
    assert "without any noise" in str(same.doubt(0.2, 0.05))
    clipped = sums_of([*calm, (5.0, 3000.0, True)])
    assert "change the gain by -37.4 a round" in str(clipped.doubt(0.2, 0.05))
    both = [*calm, (5.0, 3000.0, True), *4 * [(5.0, 3000.0, False)]]
    assert sums_of(both).doubt(0.2, 0.05) is None  # what hits both arms alike
