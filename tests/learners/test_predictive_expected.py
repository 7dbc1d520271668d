"""What is expected in a context: forecasters of its features, and faults that are its own."""

import random

import pytest

import dikin
from dikin.forecasts import Forecasters, learn
from dikin.learners import predictive_expected as expected
from dikin.learners.predictive_expected import UNKNOWN
from dikin.learners.predictive_levels import AGREEING

BOX = dikin.Box([-1, -1], [1, 1])
ONE, OTHER = [1.0, 0.0], [0.0, 1.0]
FEATURES = [1.0, *ONE]


def new_learner() -> dikin.Predictive:
    return dikin.Predictive(BOX, contexts=2, memory="auto", seed=1)


def test_the_forecasters_of_a_word_are_those_of_a_loop_of_its_own() -> None:
    """Beside `Forecasters`, fed with the same values; their weights are another matter."""
    learner, alone, rng = new_learner(), Forecasters(), random.Random(2)
    plan, n = learner._plan, learner._n.copy()
    for count in range(1, 200):
        value = 3.0 + rng.gauss(0, 1) + 0.01 * count
        learn(alone, alone.copy(), value, 1.0, float(count))
        expected.learn_in_context(plan, n, FEATURES, value)
        e = n.expected
        own = e.last[1], e.level[1], e.trend[1], e.long_mean[1]
        assert own == pytest.approx((alone.last, alone.level, alone.trend, alone.long_mean))
    assert e.count[2] == 0.0


def play(far: float, rare_rounds: int) -> tuple[dikin.Predictive, list[float]]:
    """A loop of one context, into which another comes now and then, far above; its forecasts."""
    learner, rng, found = new_learner(), random.Random(3), []
    for t in range(400):
        rare = t >= 200 and t % 10 == 0 and len(found) < rare_rounds
        query = learner.ask(context=OTHER if rare else ONE)
        if rare:
            then = learner._open[query.id][1].state.numbers.forecasters.mixture
            found.append(learner.units.loss_offset + learner.units.loss_scale * then)
        loss = float(query.point @ query.point) + 0.05 * rng.gauss(0, 1)
        learner.tell(query, loss + (far if rare else 0.0))
    return learner, found


def test_a_rare_context_is_believed_after_two_values_that_agree() -> None:
    """In other contexts there are nine rounds in between; nobody has to wait for eight in a row."""
    learner, found = play(1000.0, 8)
    assert max(found[:2]) < 100, "expected what all expect"
    assert all(abs(value - 1000) < 10 for value in found[int(UNKNOWN) :])
    assert learner.clipped < 2 * UNKNOWN + 10


def test_faults_counted_for_all_contexts_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expected, "count_far", lambda *told: None)
    _, found = play(1000.0, 8)
    assert max(found) < 100


@pytest.mark.parametrize("known", [False, True])
def test_values_that_do_not_agree_stay_faults(known: bool) -> None:
    """Of a context of which something was learnt eight must agree."""
    learner = new_learner()
    plan, n = learner._plan, learner._n.copy()
    if known:
        expected.learn_in_context(plan, n, FEATURES, 1.0)
    for k in range(20):
        expected.count_far(plan, n, FEATURES, 1000.0 * 3.0**k, 1.0)
        assert n.expected.last[1] == (1.0 if known else 0.0)
    wanted = AGREEING if known else UNKNOWN
    for k in range(int(wanted)):
        assert n.expected.last[1] != 7000.0
        expected.count_far(plan, n, FEATURES, 7000.0, 1.0)
        assert n.expected.far_count[1] == (k + 1) % wanted
    assert n.expected.last[1] == 7000.0
