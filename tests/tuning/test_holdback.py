"""A tuner that holds rounds back: which ones, what they teach, and what is known of the gain."""

import json
import logging
import re
from math import nan

import numpy as np
import pytest

import dikin
from dikin import Cycle, Integer, Levels, Real, Shares, Tuner
from dikin.errors import ParameterError, StateError
from dikin.tuning.history import uplift_course
from dikin.worth.estimate import UpliftEstimate
from dikin.worth.holdback import is_held_back
from tuning.loops import restored, run

PARAMETERS = {"price": Real(1, 14, start=4), "ads": Real(0, 60, start=40)}


def revenue(params):
    return 500.0 - 2 * (params["price"] - 9) ** 2 - 0.05 * (params["ads"] - 20) ** 2


def made(**more):
    return Tuner(PARAMETERS, maximize=True, seed=7, **{"holdback": 0.2} | more)


def played(tuner, rounds, seed=1, value=revenue, noise=10):
    run(tuner, rounds, lambda p, t: value(p), noise=noise, seed=seed)
    return tuner


def test_the_coin_depends_on_the_key_and_the_id_alone_and_draws_nothing():
    # Mutant: a coin from the generator of settings.
    one, two, without = made(), made(), Tuner(PARAMETERS, maximize=True, seed=7)
    wanted = [is_held_back(one._key, id, 0.2) for id in range(300)]
    in_order, answered = [one.ask() for _ in range(300)], []
    for id in range(300):
        trial = two.ask(covariates={"load": 3.0} if id % 3 else None)
        answered.append(trial.held_back)
        if id % 2:
            two.tell(trial, float(id))
        elif id % 5 == 0:
            two.forget(trial)
    assert [trial.held_back for trial in in_order] == answered == wanted
    assert 30 < sum(wanted) < 90
    pairs = zip(in_order, (without.ask() for _ in range(300)), strict=True)
    assert all(a.held_back or np.array_equal(a.point, b.point) for a, b in pairs)


@pytest.mark.parametrize(
    ("parameters", "given", "control"),
    [
        (PARAMETERS, {"price": 5.5}, {"price": 5.5, "ads": 40.0}),
        ({"price": Real(1, 14, start=1)}, None, {"price": 1.0}),  # a tuner begins inside
        (
            {
                "size": Integer(1, 9, start=2),
                "level": Levels([16, "auto", 64]),
                "traffic": Shares(["old", "new"]),
                "rate": Real(0.001, 10, log=True),
            },
            {"level": "auto", "traffic": {"old": 0.9, "new": 0.1}, "rate": 0.02},
            {"size": 2, "level": "auto", "traffic": {"old": 0.9, "new": 0.1}, "rate": 0.02},
        ),
    ],
    ids=["some of it", "the start", "every kind"],
)
def test_a_trial_that_is_held_back_uses_the_control(parameters, given, control):
    tuner = Tuner(parameters, holdback=0.5, control=given, seed=3)
    assert tuner.control == control
    trials = tuner.ask(n=40)
    assert [trial.params == control for trial in trials] == [trial.held_back for trial in trials]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"holdback": 5}, "write 0.05"),
        ({"holdback": 0, "guard": 0.02}, "guard=0.02 needs a holdback above 0"),
        ({"holdback": 0, "control": {}}, "needs a holdback above 0"),
        ({"control": {"prize": 4}}, "Did you mean 'price'"),
        ({"control": {"price": 99}}, "control cannot have price=99"),
        ({"control": {"price": None}}, "leave it out for its start"),
        ({"control": {"price": "4"}}, "control cannot have price"),
        ({"control": 4.0}, "must be given by name"),
        ({"guard": 2}, "write 0.02"),
        ({"guard": 0.0}, "above 0 and below 1"),
        (
            {"control": {"price": 14, "ads": 60}, "constraints": "price + ads <= 70"},
            "control {'price': 14.0, 'ads': 60.0} breaks a constraint (price + ads <= 70)",
        ),
    ],
)
def test_what_cannot_be_is_refused(more, words):
    with pytest.raises(ParameterError, match=f"(?i){re.escape(words)}"):
        made(**more)


def of_history(tuner):
    """The estimate of the values and guesses that the history has."""
    ends = tuner.summary().value_range
    estimate = UpliftEstimate(tuner.summary().holdback, maximize=True, value_range=ends)
    for row in tuner.history():
        value = row["value"] if ends is None else np.clip(row["value"], *ends)
        estimate.add(value, row["held_back"], row["expected"], row["expected_control"])
    return estimate


def test_held_back_rounds_are_learnt_too():
    """Mutant: rows of the control that are dropped. They say what its value is."""
    tuner = played(made(control={"price": 13.0}), 300, seed=3, noise=3)
    assert tuner._search.model.rounds == 300
    guess = tuner.history()["expected_control"][-1]
    assert guess == pytest.approx(revenue(tuner.control), abs=8)


def test_the_recent_mean_is_that_of_tuned_rounds():
    tuner = Tuner({"x": Real(0, 1)}, holdback=0.5, seed=1)
    run(tuner, 40, lambda p, t: 10.0 if p == tuner.control else 3.0)
    assert tuner.summary().recent_mean == 3.0


def test_with_contexts_cycles_and_late_answers():
    tuner = Tuner(
        PARAMETERS,
        maximize=True,
        seed=2,
        holdback=0.2,
        context={"region": ["eu", "us"]},
        covariates={"hour": Cycle(24)},
    )
    rng, waiting = np.random.default_rng(2), []
    for t in range(400):
        waiting.append(
            tuner.ask({"region": ["eu", "us"][t % 2]}, covariates={"hour": float(t % 24)})
        )
        if len(waiting) > 20:
            trial = waiting.pop(int(rng.integers(len(waiting))))
            if t % 11:
                season = 30 * np.sin(t / 24 * 6.28)
                tuner.tell(trial, revenue(trial.params) + season + rng.standard_normal())
            else:
                tuner.forget(trial)
    assert tuner.uplift.rounds > 300
    assert of_history(tuner).uplift() == tuner.uplift  # mutant: the control's guess of now
    assert restored(tuner).state() == tuner.state()


def test_the_uplift_is_that_of_the_history():
    tuner = played(made(), 600)
    assert of_history(tuner).uplift() == tuner.uplift
    truth = np.mean([revenue(row) for row in tuner.history()[~tuner.history()["held_back"]]])
    assert tuner.uplift.low < truth - revenue(tuner.control) < tuner.uplift.high
    assert f"{tuner.uplift}" in f"{tuner.summary()}"


@pytest.mark.parametrize("is_told", [True, False], ids=["declared", "mutant: not passed on"])
def test_a_fault_counts_as_an_end_of_the_declared_range(is_told, monkeypatch):
    if not is_told:
        monkeypatch.setattr(
            "dikin.tuning.tuner.UpliftEstimate",
            lambda holdback, **given: UpliftEstimate(holdback, **given | {"value_range": None}),
        )
    tuner = played(made(value_range=(0, 600), guard=0.02), 301)
    for value in (-50.0, 1e6):
        for _ in range(10):
            tuner.tell(tuner.ask(), value)
    assert (of_history(tuner).uplift() == tuner.uplift) == is_told
    if is_told:
        course, unit = uplift_course(tuner.history(), tuner.summary())
        now = (tuner.uplift.mean_percent, tuner.uplift.low_percent, tuner.uplift.high_percent)
        assert (course["round"][-1], unit) == (321, " %")
        assert tuple(course[["mean", "low", "high"]][-1]) == now  # the figure counts faults alike


def test_guesses_are_fixed_when_a_trial_is_asked():
    # Mutant: guesses that are made once the value is known.
    tuner = played(made(), 200)
    trial = tuner.ask()
    guess = tuner.state()["open"][str(trial.id)]["control"]
    played(tuner, 100, value=lambda params: 2 * revenue(params))
    tuner.tell(trial, 700.0)
    row = tuner.history()[-1]
    assert (row["expected"], row["expected_control"]) == (trial.expected, guess)


def width(rounds, told):
    """Return the width of the interval, where 90 % of the noise's variance may be known."""
    tuner, loads = made(holdback=0.1), np.random.default_rng(4).standard_normal(rounds)
    known = (lambda t: {"covariates": {"load": loads[t]}}) if told else (lambda t: {})
    run(tuner, rounds, lambda p, t: revenue(p) + 30 * loads[t], noise=10, known=known)
    return tuner.uplift.high - tuner.uplift.low


def test_covariates_that_explain_the_noise_narrow_the_interval():
    """By the root of what is left of the variance, at best; a mutant that drops them by nothing."""
    assert 0.25 < width(1000, told=True) / width(1000, told=False) < 0.5


def test_without_a_holdback_there_is_a_sentence_and_no_cost():
    tuner = played(Tuner(PARAMETERS, maximize=True, seed=7), 3)
    with pytest.raises(StateError, match=r"holdback=0\.05"):
        _ = tuner.uplift
    assert tuner.control is tuner.guard_reason is None
    assert tuner.summary().uplift is None
    assert "uplift" not in str(tuner.summary())
    assert "held_back" not in tuner.history().dtype.names


def test_during_a_pause_nothing_is_compared():
    tuner = played(made(), 100)
    before = tuner.uplift
    tuner.pause()
    trials = [tuner.ask() for _ in range(20)]
    assert not any(trial.held_back for trial in trials)
    for trial in trials:
        tuner.tell(trial, -1e5)
    assert tuner.uplift == before
    assert np.isnan(tuner.history()["expected_control"][-20:]).all()


def harmful(params):
    """Only the control is any good."""
    return 500.0 if params == {"price": 4.0, "ads": 40.0} else 400.0


def test_the_guard_holds_at_the_control_until_somebody_resumes(caplog):
    tuner = made(guard=0.02)
    with caplog.at_level(logging.WARNING, "dikin"):
        played(tuner, 400, value=harmful)
    said = [each.getMessage() for each in caplog.records if "guard" in each.getMessage()]
    assert len(said) == 1
    assert tuner.guard_reason in said[0]
    assert tuner.paused
    assert tuner.summary().guard_reason == tuner.guard_reason
    assert "guard holds" in str(tuner.summary())
    before = tuner.uplift
    trials = tuner.ask(n=30)
    assert all(t.held_back and t.paused and t.params == tuner.control for t in trials)
    for trial in trials:
        tuner.tell(trial, 0.0)
    assert tuner.uplift == before
    again = restored(tuner)
    assert again.guard_reason == tuner.guard_reason
    for each in (tuner, again):
        each.resume()
        assert not each.paused
        assert each.guard_reason is None
        assert not all(t.held_back for t in each.ask(n=30))
        played(each, 50, seed=9)
    assert again.state() == tuner.state()


def test_a_guard_lets_tuning_that_does_no_harm_continue():
    assert not played(made(guard=0.02), 500).paused


@pytest.mark.parametrize(
    "change",
    [
        lambda s: s.update(control=[nan, 1.0]),
        lambda s: s.update(control=[1.0]),
        lambda s: s.update(waited=-1),
        lambda s: s["worth"].pop("arms"),
        lambda s: s["worth"].update(all={}),
        lambda s: s["worth"].update(guarded=[]),
        lambda s: s["worth"].update(guarded=[{"x": 1}]),
        lambda s: s["worth"].update(level="high"),
        lambda s: s["worth"].update(first_window=None),
        lambda s: s["worth"].update(missing=[1, -1]),
    ],
)
def test_an_altered_state_is_refused(change):
    state = json.loads(json.dumps(played(made(guard=0.05), 30).state()))
    change(state)
    with pytest.raises(StateError):
        dikin.restore(state)


def test_answers_that_get_lost_in_one_arm_are_a_warning():
    tuner = played(made(), 300)
    assert tuner.summary().warnings == ()
    for trial in tuner.ask(n=300):
        if trial.held_back:
            tuner.forget(trial)
        else:
            tuner.tell(trial, revenue(trial.params))
    (warning,) = tuner.summary().warnings
    assert "Answers of one arm get lost" in warning
    assert "missing values" in str(tuner.uplift)
    assert dikin.restore(tuner.state()).summary().warnings == (warning,)


def missing(tuner):
    return tuner.state()["worth"]["missing"]


@pytest.mark.parametrize("ids_of_rows", [False, True], ids=["tuner", "study"])
def test_values_of_one_arm_that_never_come_are_a_warning(ids_of_rows):
    """Mutant: only trials that are forgotten count. These stay open, and others overtake them."""
    tuner, counts = made(), []
    for round in range(200):
        trial, fact = tuner.draft({}, {}, 2 * round if ids_of_rows else round, round)
        tuner.open_fact(trial.id, fact)
        if not trial.held_back:
            tuner.tell(trial.id, revenue(trial.params))
        counts.append(missing(tuner))
    held = [is_held_back(tuner._key, id, 0.2) for id in range(200)]
    for round in range(200):  # those that the last answered one has overtaken by 50
        last = max((i for i in range(round + 1) if not held[i]), default=0)
        assert counts[round] == [0, sum(held[: max(last - 50, 0)])]
    assert "missing values" in tuner.summary().warnings[0]
    assert not tuner.uplift.is_known
    for trial in tuner.ask(n=40)[::-1]:  # out of order, within what is usual
        tuner.tell(trial, 400.0)
    assert missing(tuner)[0] == 0
    assert missing(tuner)[1] >= counts[-1][1]
    again = dikin.restore(tuner.state())
    for each in (tuner, again):  # the late ones were counted, the others are now
        for trial in each.open_queries:
            each.forget(trial)
        assert missing(each) == [0, sum(held)]


def test_other_arguments_are_another_tuner():
    one = made().identity()
    assert made(guard=0.02).identity() != one
    assert made(control={"price": 5}).identity() != one
    assert made().identity() == one
