"""The estimate: unbiased whatever the guesses are, a literal transcription, edges and state."""

from __future__ import annotations

import json
from math import inf, isnan, log, nan, sqrt
from typing import Any

import numpy as np
import pytest

from dikin.errors import LossError, ParameterError, StateError
from dikin.worth.clipping import next_level
from dikin.worth.estimate import UpliftEstimate
from dikin.worth.offsets import MEMORY
from dikin.worth.sums import FEWEST, NARROWEST, Sums

Rounds = list[tuple[float, bool, float, float]]


def played(count: int, q: float, seed: int, gain: float = 4.0) -> Rounds:
    """Values of two arms around 100 with some absurd ones, and guesses that are not good."""
    chance = np.random.default_rng(seed)
    rounds = []
    for t in range(count):
        held = bool(chance.random() < q)
        value = 100.0 + (0.0 if held else gain) + 10.0 * chance.standard_normal()
        value *= 40.0 if chance.random() < 0.01 else 1.0
        rounds.append((value, held, 98.0 + t % 5, 97.0 + t % 3))
    return rounds


def estimate_of(rounds: Rounds, q: float = 0.1, **arguments: Any) -> UpliftEstimate:
    found = UpliftEstimate(q, **{"maximize": True} | arguments)
    for each in rounds:
        found.add(*each)
    return found


# --- unbiased ------------------------------------------------------------------------------------


def mean_over_the_coin(q: float, told_share: float, peek: float) -> tuple[float, float]:
    """Estimate and truth of one round, over both sides of the coin."""
    values, means = {False: 7.0, True: -3.0}, []
    for held, odds in ((False, 1 - q), (True, q)):
        sums = Sums()
        guesses = 2.0, 5.0
        if peek:
            guesses = tuple(g + peek * (values[held] - g) for g in guesses)  # type: ignore[assignment]
        sums.add(values[held] - guesses[held], held, guesses, told_share)
        means.append(odds * (sums.tuned_values - sums.control_values))
    return sum(means), values[False] - values[True]


@pytest.mark.parametrize("q", [0.02, 0.05, 0.5])
def test_the_mean_over_the_coin_is_the_gain(q: float) -> None:
    found, truth = mean_over_the_coin(q, q, 0.0)
    assert found == pytest.approx(truth, rel=1e-12)


def test_a_wrong_share_or_a_guess_that_knows_the_value_is_biased() -> None:
    """Two mutants of what the mathematics asks for."""
    for arguments in ((0.05, 0.06, 0.0), (0.05, 0.05, 0.5)):
        found, truth = mean_over_the_coin(*arguments)
        assert abs(found - truth) > 0.1


# --- a literal transcription ---------------------------------------------------------------------


def transcribed(rounds: Rounds, q: float, alpha: float) -> dict[str, float]:
    """The formulas of docs/mathematics.md, 14, over the list of all rounds."""
    level, tuned, control = inf, [], []
    values: list[list[float]] = [[], []]
    spread_at_first, off = None, 0.0
    for value, held, forecast, m0 in rounds:
        m1 = forecast + off
        raw = value - (m0 if held else m1)
        r = float(np.clip(raw, -level, level))
        values[0].append(m1 + (0 if held else r / (1 - q)))
        values[1].append(m0 + (r / q if held else 0))
        (control if held else tuned).append(r)
        off += 0.0 if held else r / min(len(tuned) + 1, MEMORY)
        level = next_level(level, abs(raw))
        s1 = float(np.mean(np.square(tuned))) if tuned else 0.0
        s0 = float(np.mean(np.square(control))) * (1 + 2 / len(control)) if control else 0.0
        w = len(values[0]) * (s1 / (1 - q) + max(s0, s1) / q)
        if spread_at_first is None and len(control) == FEWEST:
            spread_at_first = w
    assert spread_at_first is not None
    t = len(rounds)
    x = 1.0
    for _ in range(100):
        x = 2 * log(1 / alpha) + log(1 + x)
    rho = x / (spread_at_first / FEWEST * NARROWEST)
    half = sqrt((w + 1 / rho) * log((w * rho + 1) / alpha**2)) / t
    mean = (sum(values[0]) - sum(values[1])) / t
    return {"mean": mean, "low": mean - half, "high": mean + half, "level": level}


@pytest.mark.parametrize(("count", "q"), [(120, 0.2), (777, 0.1), (1500, 0.05)])
def test_the_estimate_is_its_formula(count: int, q: float) -> None:
    rounds = played(count, q, 3)
    found = estimate_of(rounds, q)
    for name, value in transcribed(rounds, q, 0.05).items():
        came = found.level if name == "level" else getattr(found.uplift(), name)
        assert came == pytest.approx(value, rel=1e-9), name
    assert found.clipped > 0


def test_recent_rounds_are_those_of_their_window_alone() -> None:
    q, count = 0.1, 1730
    rounds = played(count, q, 4)
    found = estimate_of(rounds, q)
    begin = 1000  # that of window 2: the one before is over at round 1500
    alone = transcribed(rounds, q, 0.05)
    assert found.uplift().mean == pytest.approx(alone["mean"])
    # Level and offset go on from the rounds before.
    level, off, tuned, sums = inf, 0.0, 0, Sums()
    for place, (value, held, forecast, m0) in enumerate(rounds):
        m1 = forecast + off
        raw = value - (m0 if held else m1)
        r = float(np.clip(raw, -level, level))
        if place >= begin:
            sums.add(r, held, (m1, m0), q)
        tuned += not held
        off += 0.0 if held else r / min(tuned + 1, MEMORY)
        level = next_level(level, abs(raw))
    low, high = sums.interval(q, 0.05 / (3 * 4))
    recent = found._windows[0]
    assert recent.interval(q, found._window_alpha(0)) == pytest.approx((low, high))
    assert recent.rounds == count - begin


def test_percentages_are_where_a_multiple_of_the_control_is_met() -> None:
    """Fieller: at the end of the interval, zero is at the end of that of v1 - y v0."""
    found = estimate_of(played(900, 0.1, 5))
    uplift = found.uplift()
    low, high = 1 + uplift.low_percent / 100, 1 + uplift.high_percent / 100
    assert found._all.interval(0.1, 0.05, low)[0] == pytest.approx(0.0, abs=1e-9)
    assert found._all.interval(0.1, 0.05, high)[1] == pytest.approx(0.0, abs=1e-9)
    assert uplift.mean_percent == pytest.approx(100 * uplift.mean / uplift.control_mean)


def test_costs_are_revenues_with_another_sign() -> None:
    rounds = played(700, 0.1, 6)
    earned = estimate_of(rounds).uplift()
    turned = [(-v, held, -m1, -m0) for v, held, m1, m0 in rounds]
    cost = estimate_of(turned, maximize=False).uplift()
    for name in ("mean", "low", "high", "mean_percent", "low_percent", "high_percent"):
        assert getattr(cost, name) == pytest.approx(getattr(earned, name), rel=1e-12)
    assert estimate_of(rounds, maximize=False).uplift().high == pytest.approx(-earned.low)


# --- edges ---------------------------------------------------------------------------------------


def test_nothing_is_known_at_first() -> None:
    found = UpliftEstimate(0.1, maximize=True)
    uplift = found.uplift()
    assert isnan(uplift.mean)
    assert (uplift.low, uplift.high, uplift.rounds) == (-inf, inf, 0)
    assert str(uplift) == "not known yet: 0 of 10 answers of the control have come"
    found.add(3.0, False, nan, nan)
    assert found.uplift().rounds == 0


def test_values_that_are_all_the_same_say_nothing() -> None:
    found = estimate_of([(5.0, t % 10 == 0, 5.0, 5.0) for t in range(400)])
    assert found.uplift().high == inf
    assert "all values were the same" in str(found.uplift())
    for t in range(100):
        found.add(5.0 + t % 3, t % 10 == 0, 5.0, 5.0)
    assert found.uplift().high < inf


def test_guesses_stay_in_a_declared_range() -> None:
    assert UpliftEstimate(0.1).control_guess(70.0) == 70.0
    bounded = UpliftEstimate(0.1, value_range=(0.0, 60.0))
    assert bounded.control_guess(70.0) == 60.0
    bounded.add(60.0, False, 70.0, 60.0)  # its residual is zero
    assert bounded._all.tuned_squares == 0.0


@pytest.mark.parametrize("value", [nan, inf, 1e100])
def test_what_is_no_value_is_refused_and_changes_nothing(value: float) -> None:
    found = estimate_of(played(50, 0.1, 10))
    before = found.state()
    with pytest.raises(LossError, match="Nothing was changed"):
        found.add(value, False, 100.0, 100.0)
    assert found.state() == before


def test_a_value_outside_the_declared_range_is_refused() -> None:
    found = UpliftEstimate(0.1, value_range=(0.0, 1.0))
    with pytest.raises(LossError, match="value_range"):
        found.add(1.5, False, 0.5, 0.5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"holdback": 0.0}, "nothing to compare with"),
        ({"holdback": 0.7}, "from 0"),
        ({"holdback": 0.1, "confidence": 95}, "confidence"),
        ({"holdback": 0.1, "value_range": (1.0, 0.0)}, "value_range"),
        ({"holdback": 0.1, "maximize": 1}, "maximize"),
    ],
)
def test_unusable_arguments_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        UpliftEstimate(**arguments)


# --- state ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("value_range", [None, (-1e5, 1e5)])
@pytest.mark.parametrize("cut", [0, 1, 200, 1100])
def test_a_state_continues_bit_for_bit(cut: int, value_range: tuple[float, float] | None) -> None:
    rounds = played(1300, 0.1, 11)
    whole = estimate_of(rounds, value_range=value_range)
    part = estimate_of(rounds[:cut], value_range=value_range)
    again = UpliftEstimate.restore(json.loads(json.dumps(part.state())))
    assert again.state() == part.state()
    for each in rounds[cut:]:
        again.add(*each)
    assert again.state() == whole.state()
    assert again.uplift() == whole.uplift()


@pytest.mark.parametrize(
    "change",
    [
        {"holdback": 0.9},
        {"all": {}},
        {"all": None},
        {"windows": [{"x": 1}]},
        {"windows": []},
        {"offsets": {"tuned": nan}},
        {"level": "high"},
        {"clipped": None},
    ],
    ids=str,
)
def test_an_altered_state_is_refused(change: dict[str, Any]) -> None:
    state = estimate_of(played(50, 0.1, 12)).state() | change
    without = [{key: state[key] for key in state if key != name} for name in state]
    for refused in (state, *without):
        with pytest.raises(StateError):
            UpliftEstimate.restore(refused)
