"""The estimate: a literal transcription, rare values, edges, the guard and the state."""

import json
from math import exp, inf, isnan, nan, sqrt
from typing import Any

import numpy as np
import pytest

from dikin.worth import rounds_to_see
from dikin.worth.estimate import MEMORY, Arm, UpliftEstimate, in_range, next_level
from dikin.worth.sums import Sums

Rounds = list[tuple[float, bool, float, float]]


def played(
    count: int, q: float, seed: int, gain: float = 4.0, *, around: float = 100.0, far: float = 0.01
) -> Rounds:
    """Values of two arms with some absurd ones, and guesses that are not good."""
    chance = np.random.default_rng(seed)
    rounds = []
    for t in range(count):
        held = bool(chance.random() < q)
        value = around + (0.0 if held else gain) + 5.0 * float(chance.standard_normal())
        value *= 40.0 if chance.random() < far else 1.0
        rounds.append((value, held, around - 2.0 + t % 5, around - 3.0 + t % 3))
    return rounds


def estimate_of(rounds: Rounds, q: float = 0.1, **arguments: Any) -> UpliftEstimate:
    found = UpliftEstimate(q, **{"maximize": True} | arguments)
    for each in rounds:
        found.add(*each)
    return found


def weighted(numbers: list[float], first: int = 1) -> float:
    """The mean with a memory; its first number has the weight 1/first."""
    steps = [1 / min(n + first, MEMORY) for n in range(len(numbers))]
    kept = np.cumprod([1.0, *(1 - step for step in steps[:0:-1])])[::-1]
    return float(np.dot(kept * steps, numbers))


def transcribed(rounds: Rounds, q: float, begin: int = 0) -> tuple[Sums, int]:
    """The formulas of docs/mathematics.md, 14, over the list of all rounds; sums from a round."""
    common, sums, clipped = inf, Sums(), 0
    answers: list[list[tuple[float, float, float]]] = [[], []]
    squares = [0.0, 0.0]

    def guess(arm: list[tuple[float, float, float]], expected: float) -> float:
        if not arm:
            return expected
        ideas = expected + weighted([v - e for v, e, _ in arm]), weighted([v for v, _, _ in arm])
        errors = [
            weighted(
                [
                    (arm[n][0] - arm[n][1] * is_offset - weighted(known[:n])) ** 2
                    for n in range(1, len(arm))
                ]
            )
            if len(arm) > 1
            else 0.0
            for is_offset in (True, False)
            for known in [[v - e * is_offset for v, e, _ in arm]]
        ]
        if sum(errors) == 0.0:
            return ideas[0]
        return (errors[1] * ideas[0] + errors[0] * ideas[1]) / sum(errors)

    for place, (value, held, *expected) in enumerate(rounds):
        guesses = guess(answers[0], expected[0]), guess(answers[1], expected[1])
        arm, raw = answers[held], value - guesses[held]
        level = max(common, sqrt(squares[held] / 5)) if len(arm) >= 10 else inf
        r = float(np.clip(raw, -level, level))
        clipped += r != raw
        if place >= begin:
            sums.add(r, raw - r, held, guesses, q)
        arm.append((guesses[held] + r, expected[held], r))
        squares[held] += raw**2
        common = next_level(common, abs(raw))
    return sums, clipped


def test_the_estimate_is_its_formula() -> None:
    rounds = played(260, 0.2, 3, far=0.04)
    found, (sums, clipped) = estimate_of(rounds, 0.2), transcribed(rounds, 0.2)
    for name in Sums.__slots__:
        assert getattr(found._all, name) == pytest.approx(getattr(sums, name), rel=1e-9), name
    assert clipped > 3


def test_recent_rounds_are_those_of_their_window_alone() -> None:
    """With 50/q rounds to a window, that of number 1 begins at round 200 of 450 with q = 0.25."""
    rounds = played(450, 0.25, 4)
    found, (sums, _) = estimate_of(rounds, 0.25, guard=0.9), transcribed(rounds, 0.25, 200)
    assert len(found._guarded) == 3
    assert found._first_window == 1
    assert found._guarded[1].rounds == 250
    for name in Sums.__slots__:
        assert getattr(found._guarded[1], name) == pytest.approx(getattr(sums, name), rel=1e-9)


def test_the_common_level_is_three_times_a_quantile() -> None:
    """The share of residuals above a third of the level is 2 %, after the beginning."""
    chance, level, above = np.random.default_rng(9), inf, 0
    for t in range(30_000):
        size = abs(float(chance.standard_normal()))
        above += t >= 2000 and 3 * size > level
        level = next_level(level, size)
    assert above / 28_000 == pytest.approx(0.02, abs=0.001)
    assert [next_level(5.0, 0.0), next_level(inf, 0.0), next_level(inf, 2.0)] == [5.0, inf, 6.0]
    assert next_level(5.0, 4.0) == pytest.approx(5.0 * exp(0.49))


def test_rare_values_of_an_arm_hold_its_level_up() -> None:
    """As soon as five of them have come they are not clipped, whatever their share is."""
    arm = Arm()
    for t in range(2000):
        arm.learn(0.0, 0.0, 100.0 if t % 400 == 0 else 0.1, 0.0)
    assert arm.level(1.0) == pytest.approx(100.0, rel=1e-3)
    assert arm.level(500.0) == 500.0


def test_a_value_outside_its_range_counts_as_its_end() -> None:
    assert [in_range(x, (1.0, 2.0)) for x in (-inf, 1.5, 7.0)] == [1.0, 1.5, 2.0]
    assert isnan(in_range(nan, (1.0, 2.0)))
    bounded = estimate_of([(60.0, False, 70.0, 60.0)], value_range=(0.0, 60.0))
    assert bounded._all.tuned_squares == 0.0  # the guess stays inside


def conversions(count: int, tuned: float, control: float, seed: int) -> Rounds:
    chance, rounds = np.random.default_rng(seed), []
    for _ in range(count):
        held = bool(chance.random() < 0.1)
        rounds.append((float(chance.random() < (control if held else tuned)), held, tuned, tuned))
    return rounds


def test_a_rare_metric_says_how_long_it_takes() -> None:
    rounds = conversions(20_000, 0.004, 0.01, 1)
    first, last = (estimate_of(rounds[:count]).uplift() for count in (1200, 20_000))
    for uplift in (first, last):
        assert uplift.low < -0.006 < uplift.high
        assert str(uplift).endswith(f". {uplift.note}")
        assert "A change by 50 % shows after about " in str(uplift)
    said = float(str(last.note).split()[-2].replace(",", ""))
    share = 0.9 * 0.004 + 0.1 * 0.01
    assert said == pytest.approx(rounds_to_see(share / 2, sqrt(share * (1 - share)), 0.1), rel=0.2)
    assert estimate_of(played(900, 0.1, 6, far=0.0)).uplift().note is None
    held = estimate_of(rounds[:1200])
    held.reason = "the control is used until somebody resumes"  # so that no rounds are to come
    assert held.uplift().note is None


def test_values_far_from_all_others_withhold_the_interval() -> None:
    rounds = played(1000, 0.1, 6, far=0.0)
    assert estimate_of(rounds).uplift().is_known
    rounds[900] = (1e6, *rounds[900][1:])
    uplift = estimate_of(rounds).uplift()
    assert not uplift.is_known
    assert "Declare value_range if they are faults" in str(uplift)
    assert estimate_of([(min(v, 200.0), *m) for v, *m in rounds], value_range=(0, 200)).uplift()


def test_costs_are_revenues_with_another_sign() -> None:
    rounds = played(900, 0.1, 6, far=0.0)
    earned = estimate_of(rounds).uplift()
    turned = [(-v, held, -m1, -m0) for v, held, m1, m0 in rounds]
    cost = estimate_of(turned, maximize=False).uplift()
    for name in ("mean", "low", "high", "mean_percent", "low_percent", "high_percent"):
        assert getattr(cost, name) == pytest.approx(getattr(earned, name), rel=1e-12)
    assert estimate_of(rounds, maximize=False).uplift().high == pytest.approx(-earned.low)


def test_nothing_is_known_at_first() -> None:
    found = UpliftEstimate(0.1, maximize=True)
    uplift = found.uplift()
    assert isnan(uplift.mean)
    assert (uplift.low, uplift.high, uplift.rounds) == (-inf, inf, 0)
    assert str(uplift) == "not known: 0 of 20 answers of the control have come"
    found.add(3.0, False, nan, nan)
    assert found.uplift().rounds == 0
    rounds = played(400, 0.1, 8, far=0.0)
    assert "400 of 600 rounds" in str(estimate_of(rounds).uplift())
    assert estimate_of(rounds, value_range=(0, 200)).uplift().is_known


def holds_at(found: UpliftEstimate, rounds: Rounds) -> int | None:
    for t, each in enumerate(rounds):
        found.add(*each)
        if found.reason is not None:
            return t
    return None


@pytest.mark.parametrize("maximize", [True, False])
@pytest.mark.parametrize("around", [100.0, -100.0])
def test_harm_is_held_in_every_sense(maximize: bool, around: float) -> None:
    """Also where the control is negative: a mutant that tries 1 - g alone holds at 1 % already."""
    worse = -1.0 if maximize else 1.0
    for gain, held in ((10.0, True), (1.0, False), (-10.0, False)):
        rounds = played(2500, 0.1, 1, worse * gain, around=around, far=0.0)
        found = UpliftEstimate(0.1, maximize=maximize, guard=0.02)
        assert (holds_at(found, rounds) is not None) == held
    assert UpliftEstimate(0.1, maximize=maximize).reason is None


def test_harm_that_comes_late_is_seen_in_recent_rounds() -> None:
    found = estimate_of(played(3000, 0.1, 2, 5.0, far=0.0), guard=0.02)
    assert found.reason is None
    assert holds_at(found, played(1000, 0.1, 3, -10.0, far=0.0)) is not None
    assert found.reason is not None
    assert found.reason.startswith("Over ")
    assert int(found.reason.split()[1].replace(",", "")) < 2000
    assert "worse than the control, by " in found.reason
    assert found.reason.endswith(
        "surely by more than 2 %: the control is used until somebody resumes."
    )
    assert found._all.tuned_values > found._all.control_values


def test_all_windows_together_may_fail_as_often_as_all_rounds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The window with number j has alpha/((j + 1)(j + 2)), which add up to alpha."""
    found, seen = UpliftEstimate(0.5, guard=0.02), []
    monkeypatch.setattr(found, "_is_short", lambda _, alpha, __: seen.append(alpha))
    for each in played(350, 0.5, 1):
        found.add(*each)
    assert sorted({*seen}) == pytest.approx([0.05 / n for n in (20, 12, 6, 2, 1)])


def test_the_guard_begins_again_and_the_uplift_does_not() -> None:
    found = UpliftEstimate(0.1, maximize=True, guard=0.02)
    assert holds_at(found, played(2000, 0.1, 5, -10.0, far=0.0)) is not None
    reason, rounds = found.reason, found.uplift().rounds
    found.add(50.0, False, 100.0, 100.0)
    assert found.reason == reason
    found.resume()
    assert found.reason is None
    assert found.uplift().rounds == rounds + 1
    assert holds_at(found, played(2000, 0.1, 7, 5.0, far=0.0)) is None


def test_the_guard_says_when_it_cannot_know() -> None:
    doubt = estimate_of(conversions(600, 0.02, 0.03, 1), guard=0.02).guard_doubt()
    assert doubt is not None
    assert "half of the control's value could not be seen. A change by 2 % shows after" in doubt
    assert estimate_of(played(600, 0.1, 8, far=0.0), guard=0.02).guard_doubt() is None
    assert estimate_of(conversions(600, 0.004, 0.01, 1)).guard_doubt() is None


@pytest.mark.parametrize("cut", [0, 1, 200, 1100])
@pytest.mark.parametrize("more", [{}, {"value_range": (-1e5, 1e5)}, {"guard": 0.01}], ids=str)
def test_a_state_continues_bit_for_bit(cut: int, more: dict[str, Any]) -> None:
    rounds = played(1300, 0.1, 11, -6.0, far=0.001)
    whole, part = estimate_of(rounds, **more), estimate_of(rounds[:cut], **more)
    again = estimate_of([], **more)
    again.restore(json.loads(json.dumps(part.state(), allow_nan=False)))
    assert again.state() == part.state()
    for each in rounds[cut:]:
        again.add(*each)
    assert again.state() == whole.state()
    assert repr(again.uplift()) == repr(whole.uplift())
