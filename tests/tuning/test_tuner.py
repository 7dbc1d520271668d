"""The tuner: names, sense, start, hold, state, and what it refuses."""

import copy
import json
import pickle
import threading
from collections.abc import Callable
from math import inf, isnan, nan
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dikin
from dikin import Integer, Real, Shares, Tuner, errors
from dikin.players import Player

SHOP = {"price": Real(1, 14, start=4), "ads": Real(0, 60, start=40)}
SHOP_TODAY = {"price": 4, "ads": 40}
MIXED = {
    "level": Integer(1, 9, start=6),
    "mix": Shares(["a", "b", "c"], start=[0.5, 0.3, 0.2]),
    "rate": Real(0.01, 10, start=0.1, log=True),
}


def revenue(params: dict[str, Any]) -> float:
    return 500 - 4 * (params["price"] - 8) ** 2 - 0.05 * (params["ads"] - 20) ** 2


def mixed_cost(params: dict[str, Any]) -> float:
    mix = params["mix"]
    return abs(params["level"] - 3) + 3 * mix["a"] + mix["b"] + np.log10(params["rate"]) ** 2


def played(tuner: Tuner, rounds: int, value: Callable[[dict[str, Any]], float]) -> Tuner:
    for _ in range(rounds):
        trial = tuner.ask()
        tuner.tell(trial, value(trial.params))
    return tuner


# --- names and values -------------------------------------------------------------------------


def test_the_contract() -> None:
    tuner = Tuner(SHOP, maximize=True, seed=7)
    trial = tuner.ask()
    assert set(trial.params) == {"price", "ads"}
    assert trial["price"] == trial.params["price"]
    assert isinstance(trial.id, int)
    tuner.tell(trial, 512.0)
    assert tuner.rounds == 1
    assert tuner.best == {"price": 4.0, "ads": 40.0}  # today's values: nothing is known yet


def test_it_finds_the_best_setting() -> None:
    tuner = played(Tuner(SHOP, maximize=True, seed=7), 600, revenue)
    assert revenue(SHOP_TODAY) == 416
    assert revenue(tuner.best) > 498  # of 500


def test_every_kind_of_parameter_has_its_type_and_range() -> None:
    tuner = Tuner(MIXED, seed=3)
    for _ in range(600):
        trial = tuner.ask()
        level, mix, rate = trial["level"], trial["mix"], trial["rate"]
        assert type(level) is int
        assert 1 <= level <= 9
        assert list(mix) == ["a", "b", "c"]
        assert min(mix.values()) >= 0
        assert sum(mix.values()) == pytest.approx(1, abs=1e-12)
        assert type(rate) is float
        assert 0.01 <= rate <= 10
        assert trial.point.tolist() == [level, *mix.values(), rate]
        tuner.tell(trial, mixed_cost(trial.params))
    assert tuner.columns == ("level", "mix.a", "mix.b", "mix.c", "rate")
    assert tuner.best["level"] in (3, 4)
    assert tuner.best["mix"]["c"] > 0.5


def test_to_maximise_is_to_minimise_the_negative() -> None:
    up, down = Tuner(SHOP, maximize=True, seed=5), Tuner(SHOP, seed=5)
    for _ in range(80):
        one, two = up.ask(forecast=470.0), down.ask(forecast=-470.0)
        assert one == two
        up.tell(one, revenue(one.params))
        down.tell(two, -revenue(two.params))
    assert up.expected == -down.expected
    assert up.best == down.best


def test_a_range_of_values_is_turned_with_them() -> None:
    up = Tuner(SHOP, maximize=True, value_range=(-100, 500), seed=5)
    down = Tuner(SHOP, value_range=(-500, 100), seed=5)
    assert played(up, 50, revenue).best == played(down, 50, lambda p: -revenue(p)).best


def test_units_do_not_matter() -> None:
    cents = {"price": Real(100, 1400, start=400), "ads": Real(0, 0.06, start=0.04)}
    one = Tuner(SHOP, maximize=True, seed=5)
    two = Tuner(cents, maximize=True, seed=5)
    for _ in range(100):
        a, b = one.ask(), two.ask()
        assert b["price"] == pytest.approx(100 * a["price"], rel=1e-9)
        assert b["ads"] == pytest.approx(a["ads"] / 1000, rel=1e-9)
        for tuner, trial in ((one, a), (two, b)):
            tuner.tell(trial, revenue(a.params))


# --- the start --------------------------------------------------------------------------------


def test_it_begins_around_the_start() -> None:
    tuner = Tuner({"x": Real(0, 10, start=4), "y": Integer(0, 100, start=30)}, seed=1)
    points = np.array([tuner.ask().point for _ in range(400)])
    assert points.mean(axis=0) == pytest.approx([4, 30], abs=2)
    # At a distance s from a bound the ellipsoid reaches out by less than s.
    assert points[:, 0].min() > 0
    assert points[:, 0].max() < 8


def test_a_start_at_a_bound_is_moved_inside_and_still_the_best_guess() -> None:
    tuner = Tuner({"x": Real(0, 10, start=0), "mix": Shares(["old", "new"], start=[1, 0])}, seed=1)
    assert tuner.best == {"x": 0.0, "mix": {"old": 1.0, "new": 0.0}}
    x, old, new = tuner.learner.center
    assert (x, old, new) == pytest.approx((0.15, 0.85, 0.15), abs=1e-9)  # as the guide says
    played(tuner, 30, lambda p: p["x"] + p["mix"]["new"])
    assert tuner.best["x"] < 1.5


def test_without_a_start_it_begins_in_the_middle() -> None:
    tuner = Tuner({"x": Real(2, 6), "mix": Shares(["a", "b", "c", "d"])})
    assert tuner.best == {"x": 4.0, "mix": dict.fromkeys("abcd", 0.25)}
    beside = Tuner({"x": Real(2, 6), "y": Real(0, 1, start=0.3)})
    assert beside.best == {"x": 4.0, "y": 0.3}
    assert beside.learner.center == pytest.approx([0.5, 0.3])


# --- the game ---------------------------------------------------------------------------------


def test_trials_are_told_in_any_order_late_or_never() -> None:
    tuner = Tuner(SHOP, maximize=True, seed=2)
    trials = tuner.ask(n=5)
    assert [trial.id for trial in trials] == [0, 1, 2, 3, 4]
    assert len({trial["price"] for trial in trials}) == 5
    tuner.tell(trials[3], 4.0)
    tuner.tell(0, 1.0)
    tuner.forget(trials[1])
    assert [trial.id for trial in tuner.open_queries] == [2, 4]
    assert tuner.rounds == 2


def test_a_good_forecast_helps() -> None:
    """What the user alone foresees; by chance alone the odds are 1 in 700.

    The gain of 24 games is 6 standard errors: 14 do.
    """
    season = 300 * np.random.default_rng(1).choice([-1.0, 1.0], 300)

    def total(seed: int, told: bool) -> float:
        tuner, sum_ = Tuner(SHOP, maximize=True, seed=seed), 0.0
        for extra in season:
            trial = tuner.ask(forecast=450 + extra if told else None)
            sum_ += revenue(trial.params)
            tuner.tell(trial, revenue(trial.params) + extra)
        return sum_

    gains = np.array([total(seed, True) - total(seed, False) for seed in range(14)])
    assert gains.mean() > 3 * gains.std(ddof=1) / np.sqrt(len(gains))


def test_on_hold_it_plays_the_best_and_learns_nothing() -> None:
    tuner = played(Tuner(SHOP, maximize=True, seed=2), 50, revenue)
    waiting = tuner.ask()
    best, learnt = tuner.best, tuner.learner.rounds
    tuner.hold()
    assert tuner.held
    for _ in range(20):
        trial = tuner.ask()
        assert trial.held
        assert trial.params == best
        tuner.tell(trial, 1000.0)
    tuner.tell(waiting, -1000.0)  # asked before: counted, not learnt
    assert tuner.best == best
    assert tuner.learner.rounds == learnt
    assert tuner.rounds == 71
    late = tuner.ask()
    tuner.resume()
    tuner.tell(late, 3.0)  # a held setting teaches nothing, whenever it is told
    assert tuner.best == best
    trial = tuner.ask()
    assert not trial.held
    tuner.tell(trial, revenue(trial.params))
    assert tuner.learner.rounds == learnt + 1


def test_a_hold_leaves_what_comes_after_it_sensible() -> None:
    tuner = played(Tuner(SHOP, maximize=True, seed=2), 100, revenue)
    tuner.hold()
    played(tuner, 100, revenue)
    tuner.resume()
    assert played(tuner, 500, revenue).best["price"] == pytest.approx(8, abs=0.5)


def test_threads_share_a_tuner() -> None:
    tuner = Tuner(SHOP, maximize=True, seed=2)
    ids: list[int] = []

    def work() -> None:
        for _ in range(50):
            trial = tuner.ask()
            ids.append(trial.id)
            tuner.tell(trial, revenue(trial.params))

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert sorted(ids) == list(range(200))
    assert tuner.rounds == 200
    assert not tuner.open_queries


def test_it_remembers_the_last_rounds_for_tables_and_pictures(tmp_path: Path) -> None:
    tuner = Tuner(MIXED, seed=2)
    with pytest.raises(errors.StateError, match="no value was told"):
        tuner.plot()
    told = []
    for _ in range(30):
        trial = tuner.ask()
        told.append((*trial.point, mixed_cost(trial.params)))
        tuner.tell(trial, told[-1][-1])
    table = tuner.history()
    assert [tuple(row) for row in table[[*tuner.columns, "value"]]] == told
    assert table["level"].dtype == np.int64
    assert table["best.level"][-1] == tuner.best["level"]
    assert list(tuner.to_frame().columns) == list(table.dtype.names or ())
    tuner.plot(tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert len(dikin.restore(tuner.state()).history()) == 0


def test_what_is_logged_is_in_the_users_sense(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("WARNING", logger="dikin")
    tuner = Tuner(SHOP, maximize=True, value_range=(0, 1), seed=2)
    tuner.tell(tuner.ask(), 5.0)
    assert "the value 5 lies outside value_range=(0, 1)" in caplog.text
    twin = dikin.restore(tuner.state())
    twin.tell(twin.ask(), 7.0)
    assert "the value 7 lies outside value_range=(0, 1)" in caplog.text


# --- state ------------------------------------------------------------------------------------


def in_the_middle(parameters: Any = MIXED, **options: Any) -> Tuner:
    """A tuner with an open trial, a held one, and another that is exploring."""
    tuner = played(Tuner(parameters, seed=4, **options), 30, mixed_cost)
    tuner.ask()
    tuner.hold()
    tuner.ask()
    tuner.resume()
    tuner.ask(forecast=1.0)
    return tuner


def test_a_saved_tuner_continues_bit_for_bit(tmp_path: Path) -> None:
    tuner = in_the_middle(memory=100)
    tuner.save(tmp_path / "tuner.json")
    twin = dikin.load(tmp_path / "tuner.json")
    assert isinstance(twin, Tuner)
    assert twin.state() == tuner.state()
    for each in (tuner, twin):
        for trial in each.open_queries[::-1]:
            each.tell(trial, mixed_cost(trial.params))
    for _ in range(40):
        one, two = tuner.ask(), twin.ask()
        assert one == two
        assert one.params == two.params
        tuner.tell(one, mixed_cost(one.params))
        twin.tell(two, mixed_cost(two.params))
    assert twin.state() == tuner.state()
    assert str(twin.space.spec()) == str(tuner.space.spec())


def test_a_state_is_json_and_restored_before_any_learning() -> None:
    tuner = Tuner(SHOP, constraints="price <= ads", seed=1)
    twin = dikin.restore(json.loads(json.dumps(tuner.state())))
    assert twin.best == tuner.best == {"price": 4.0, "ads": 40.0}
    assert twin.ask() == tuner.ask()
    with pytest.raises(errors.StateError, match="leave domain out"):
        dikin.restore(tuner.state(), dikin.Ball(2))


@pytest.mark.parametrize("part", ["tuner", "learner", "key", "first", "rounds", "clipped", "open"])
def test_a_state_with_a_part_missing_is_refused(part: str) -> None:
    state = in_the_middle().state()
    del state[part]
    with pytest.raises(errors.DikinError):
        dikin.restore(state)


COPIES = [
    copy.copy,
    copy.deepcopy,
    lambda tuner: pickle.loads(pickle.dumps(tuner)),
    lambda tuner: dikin.restore(json.loads(json.dumps(tuner.state()))),
]
TWO_NUMBERS = {"a": Integer(0, 5, start=1), "b": Integer(0, 5, start=4)}


@pytest.mark.parametrize("twin", COPIES)
@pytest.mark.parametrize("separable", [False, True])
def test_a_copy_has_the_same_certificate(twin: Callable[[Tuner], Tuner], separable: bool) -> None:
    tuner = Tuner(TWO_NUMBERS, lipschitz=9.0, separable=separable, seed=1)
    played(tuner, 20, lambda p: float(abs(p["a"] - 3) + abs(p["b"] - 2)))
    other = twin(tuner)
    assert other.separable is separable
    assert other.learner.by_lot  # whole numbers are played by lot
    assert isnan(other.certificate) is not separable
    assert str(other.certificate) == str(tuner.certificate)
    assert other.clipped == tuner.clipped
    far = with_faults((70, 71, 90), 1e7)
    assert twin(far).clipped == far.clipped >= 3
    for by_lot in (False, True):
        tuner = Tuner({"mix": Shares(["a", "b"])}, by_lot=by_lot, seed=1)
        assert twin(tuner).learner.by_lot is tuner.learner.by_lot is by_lot


# --- values that look like faults --------------------------------------------------------------


def with_faults(faults: tuple[int, ...], fault: float, **options: Any) -> Tuner:
    """A shop whose values jump in some rounds."""
    tuner = Tuner(SHOP, maximize=True, seed=2, **options)
    for round in range(120):
        trial = tuner.ask()
        tuner.tell(trial, fault if round in faults else revenue(trial.params))
    return tuner


@pytest.mark.parametrize("memory", [None, 10, 2])
def test_values_that_were_not_learnt_in_full_are_counted(memory: float | None) -> None:
    usual = with_faults((), 0.0, memory=memory).clipped
    tuner = with_faults((70, 71, 90), 1e7, memory=memory)
    assert tuner.clipped >= 3
    assert tuner.clipped - usual <= 6  # and a few that come right after them
    assert tuner.summary().clipped == tuner.clipped
    if memory is not None:
        assert tuner.learner.clipped < 3  # there they fade away


def test_values_without_end_are_all_counted() -> None:
    """Also where the learner's own count, which fades, no longer grows."""
    tuner = Tuner(SHOP, value_range=(0, 1), memory=2, seed=2)
    for _ in range(100):
        tuner.tell(tuner.ask(), 5.0)
    assert tuner.clipped == 100


@pytest.mark.parametrize("by_lot", [False, True])
def test_values_outside_the_range_are_counted(by_lot: bool) -> None:
    options = {"value_range": (0, 1000), "by_lot": by_lot}
    inside = with_faults((40, 80), 1000.0, **options).clipped
    assert with_faults((40, 80), 1e5, **options).clipped >= max(inside, 2)
    assert with_faults((), 0.0, value_range=(0, 1000), by_lot=True).clipped == 0


def test_on_hold_nothing_is_learnt_and_nothing_counted() -> None:
    tuner = with_faults((), 0.0)
    before = tuner.clipped
    tuner.hold()
    tuner.tell(tuner.ask(), 1e9)
    assert tuner.clipped == before


def test_the_summary_says_how_many_were_not_learnt_in_full() -> None:
    tuner = with_faults((70, 71, 90), 1e7)
    line = f"{'clipped':<16}{tuner.clipped} of 120 values, too far off to be learnt in full"
    assert line in str(tuner)
    assert "too far off to be learnt in full" in tuner._repr_html_()
    assert "clipped" not in str(Tuner(SHOP))


# --- bad input --------------------------------------------------------------------------------

BAD: list[tuple[Callable[[Tuner], object], type[Exception], str]] = [
    (lambda t: t.tell(t.open_queries[0], nan), errors.LossError, "value of trial 30 .* nan"),
    (lambda t: t.tell(t.open_queries[0], -inf), errors.LossError, "value of trial 30 .* -inf"),
    (lambda t: t.tell(t.open_queries[0], 10**400), errors.LossError, "value of trial 30"),
    (lambda t: t.tell(t.open_queries[0], "7"), errors.LossError, "value must be a real .*'7'"),
    (lambda t: t.tell(t.open_queries[0], None), errors.LossError, "None"),
    (lambda t: t.tell(t.open_queries[0], True), errors.LossError, "True"),
    (lambda t: t.tell(t.open_queries[0], [1.0]), errors.LossError, r"\[1.0\]"),
    (lambda t: t.tell(t.open_queries[0], 1e150), errors.LossError, "below 1e\\+100, got 1e\\+150"),
    (lambda t: t.tell(t.open_queries[0], 1.0, -1.0), errors.CurvatureError, "-1"),
    (lambda t: t.tell(t.open_queries[1], nan), errors.LossError, "trial 31"),
    (lambda t: t.tell(3, 1.0), errors.ClosedQueryError, "trial 3 was already answered"),
    (lambda t: t.tell(99, 1.0), errors.UnknownQueryError, "trial 99 was never asked"),
    (lambda t: t.tell(-1, 1.0), errors.UnknownQueryError, "trial -1 was never"),
    (lambda t: t.tell("30", 1.0), errors.UnknownQueryError, "trial '30' was never .* or its id"),
    (lambda t: t.tell(True, 1.0), errors.UnknownQueryError, "trial True was"),
    (lambda t: t.tell({"level": 3}, 1.0), errors.UnknownQueryError, "or its id"),
    (lambda t: t.forget(3), errors.ClosedQueryError, "trial 3"),
    (lambda t: t.forget(None), errors.UnknownQueryError, "None"),
    (lambda t: t.ask(n=0), errors.ParameterError, "n must be at least 1"),
    (lambda t: t.ask(n=2.5), errors.ParameterError, "n must be a whole number"),
    (lambda t: t.ask(2.5), errors.FeedbackError, "declared without contexts.* got 2.5"),
    (lambda t: t.ask(3, n=2), errors.FeedbackError, "declared without contexts.* got 3"),
    (lambda t: t.ask({"hour": 3}, n=2), errors.FeedbackError, "declared without contexts.*hour"),
    (lambda t: t.ask(forecast="x"), errors.FeedbackError, "'x'"),
    (lambda t: t.ask(forecast=nan), errors.FeedbackError, "nan"),
    (lambda t: t.open_queries[0]["colour"], errors.UnknownNameError, "'colour'.* level"),
]


@pytest.mark.parametrize(("act", "error", "words"), BAD, ids=[words for _, _, words in BAD])
def test_bad_input_is_refused_and_changes_nothing(act: Any, error: Any, words: str) -> None:
    tuner = in_the_middle()
    before = tuner.state()
    with pytest.raises(error, match=words) as refused:
        act(tuner)
    assert isinstance(refused.value, errors.DikinError)
    assert tuner.state() == before


def test_a_trial_of_another_tuner_is_refused() -> None:
    tuner, other = Tuner(SHOP, seed=1), Tuner(SHOP, seed=2)
    tuner.ask()
    foreign = other.ask()
    before = tuner.state()
    with pytest.raises(errors.QueryError, match="belongs to another learner or tuner"):
        tuner.tell(foreign, 1.0)
    assert tuner.state() == before


def test_the_tuner_and_its_learner_have_one_ledger() -> None:
    tuner = Tuner(SHOP, seed=1)
    one, two, three = tuner.ask(n=3)
    assert isinstance(one, dikin.Query)
    assert isinstance(tuner, Player)
    tuner.learner.forget(one.id)
    assert tuner.open_queries == [two, three]
    tuner.tell(two, 1.0)
    assert [query.id for query in tuner.learner.open_queries] == [three.id]
    twin = copy.deepcopy(tuner)
    twin.forget(three.id)
    assert (twin.learner.open_queries, tuner.open_queries) == ([], [three])
    altered = tuner.state()
    altered["open"] = []
    with pytest.raises(errors.StateError, match="not the open queries of its learner"):
        dikin.restore(altered)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"maximize": 1}, "maximize must be True or False, got 1"),
        ({"separable": "yes"}, "separable must be True or False, got 'yes'"),
        ({"by_lot": 1}, "by_lot must be True or False, got 1"),
        ({"memory": 1}, "memory"),
        ({"smoothness": -1}, "smoothness"),
        ({"value_range": (3, 1)}, r"value_range must be finite with low < high, got \(3, 1\)"),
        ({"value_range": 3, "maximize": True}, "value_range must be the least .* value, got 3"),
        ({"value_range": (0, 1e200)}, "value_range=.*: choose another unit of value"),
        ({"seed": -1}, "seed"),
        ({"constraints": "prize <= 3"}, "Did you mean 'price'"),
    ],
)
def test_other_arguments_are_checked(options: dict[str, Any], words: str) -> None:
    with pytest.raises(errors.ParameterError, match=words):
        Tuner(SHOP, **options)


# --- what it says -----------------------------------------------------------------------------


def test_the_summary_says_what_was_told() -> None:
    tuner = Tuner(SHOP, maximize=True, seed=2)
    assert isnan(tuner.summary().recent_mean)
    values = []
    for _ in range(150):
        trial = tuner.ask()
        values.append(revenue(trial.params))
        tuner.tell(trial, values[-1])
    tuner.ask()
    found = tuner.summary()
    assert (found.rounds, found.open.count, found.recent_rounds) == (150, 1, 100)
    assert found.recent_mean == pytest.approx(np.mean(values[-100:]))
    assert found.best == tuner.best
    assert found.start == {"price": 4.0, "ads": 40.0}
    text = str(tuner)
    for word in ("150", "1 open", "larger is better", "price", "began at 4", "ads"):
        assert word in text
    assert "<table>" in tuner._repr_html_()
    assert repr(tuner) == "<Tuner maximize price, ads, 150 rounds>"


def test_names_are_escaped_in_a_notebook() -> None:
    tuner = Tuner({"<script>": Real(0, 1)})
    assert "<script>" not in tuner._repr_html_()


def test_values_within_three_hundredths_of_the_range_are_next_to_a_bound() -> None:
    """It is what the status of a study gives advice by."""
    space = Tuner({"x": Real(0, 10), "n": Integer(0, 100)}).space
    for x, n, near in ((0.29, 50, {"x": 0.0}), (0.31, 98, {"n": 100}), (9.69, 4, {})):
        assert space.bounds_near(np.array([x, n])) == near
