"""The tuner: names, sense, start, streams, pauses, open trials, state, and what it refuses."""

import copy
import json
import pickle
import threading
from collections.abc import Callable
from functools import cache
from itertools import product
from math import inf, isnan, nan
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dikin
from dikin import Choice, Cycle, Integer, Levels, Real, Shares, Tuner, errors
from dikin.serialization import plain
from tuning.loops import Params, restored, run

SHOP = {"price": Real(1, 14, start=4), "ads": Real(0, 60, start=40)}
MIXED = {
    "level": Integer(1, 9, start=6),
    "mix": Shares(["a", "b", "c"], start=[0.5, 0.3, 0.2]),
    "rate": Real(0.01, 10, start=0.1, log=True),
    "codec": Choice(["lz4", "zstd"], start="zstd"),
}


def revenue(params: dict[str, Any]) -> float:
    return 500 - 4 * (params["price"] - 8) ** 2 - 0.05 * (params["ads"] - 20) ** 2


def mixed_cost(params: dict[str, Any]) -> float:
    mix, zstd = params["mix"], params["codec"] == "zstd"
    rest = 3 * mix["a"] + mix["b"] + np.log10(params["rate"]) ** 2
    return float(abs(params["level"] - 3) + rest + 2 * zstd)


def played(tuner: Tuner, rounds: int, value: Callable[[Params], float]) -> Tuner:
    run(tuner, rounds, lambda p, t: value(p))
    return tuner


def test_the_contract() -> None:
    tuner = Tuner(SHOP, maximize=True, seed=7)
    trial = tuner.ask()
    assert set(trial.params) == {"price", "ads"}
    assert trial["price"] == trial.params["price"]
    assert isinstance(trial.id, int)
    assert isnan(trial.expected)
    sent = {"id", "point", "params", "expected", "paused", "covariates", "context", "held_back"}
    assert plain(trial).keys() == sent  # to programs, and nothing of how it was drawn
    tuner.tell(trial, 512.0)
    assert tuner.rounds == 1
    assert tuner.best == {"price": 4.0, "ads": 40.0}  # the start: nothing is known yet
    assert revenue(tuner.best) == 416
    assert revenue(played(tuner, 100, revenue).best) > 499  # of 500


def test_every_kind_of_parameter_has_its_type_and_range() -> None:
    tuner = Tuner(MIXED, seed=3)
    for trial in run(tuner, 400, lambda p, t: mixed_cost(p)):
        level, mix, rate, codec = (trial[name] for name in MIXED)
        assert type(level) is int
        assert 1 <= level <= 9
        assert list(mix) == ["a", "b", "c"]
        assert min(mix.values()) >= 0
        assert sum(mix.values()) == pytest.approx(1, abs=1e-9)
        assert type(rate) is float
        assert 0.01 <= rate <= 10
        assert trial.point.tolist() == [level, *mix.values(), rate, float(codec == "zstd")]
    assert tuner.columns == ("level", "mix.a", "mix.b", "mix.c", "rate", "codec")
    best = tuner.best
    assert (best["level"], best["codec"]) == (3, "lz4")
    assert best["mix"]["c"] > 0.9


def test_choices_alone_are_tuned() -> None:
    """A third of the trials is expected without learning; two standard errors of noise apart."""
    costs, tuner = {"a": 1.0, "b": 2.0, "c": 0.0}, Tuner({"codec": Choice(["a", "b", "c"])}, seed=1)
    trials = run(tuner, 200, lambda p, t: costs[p["codec"]], noise=0.5)
    assert tuner.best == {"codec": "c"}
    assert sum(trial["codec"] == "c" for trial in trials[-100:]) > 80
    assert restored(tuner).ask() == tuner.ask()


def test_to_maximise_is_to_minimise_the_negative() -> None:
    up, down = Tuner(SHOP, maximize=True, seed=5), Tuner(SHOP, seed=5)
    many, few = run(up, 60, lambda p, t: revenue(p)), run(down, 60, lambda p, t: -revenue(p))
    for one, two in zip(many, few, strict=True):
        assert one.params == two.params
        assert one.expected == -two.expected or isnan(one.expected)
    high, low = up.recommend(), down.recommend()
    assert high.params == low.params
    assert high.value == tuple(-low.value[i] for i in (0, 2, 1))
    assert high.importance == low.importance


@pytest.mark.parametrize(
    ("parameter", "start"),
    [
        (Real(2, 6), 4.0),
        (Real(0.01, 100, log=True), 1.0),
        (Integer(1, 9), 5),
        (Integer(1, 4), 3),
        (Integer(1, 100, log=True), 10),
        (Levels([16, 32, 64, 128, 256]), 64),
        (Choice(["x", "y"]), "x"),
        (Shares(["a", "b", "c", "d"]), dict.fromkeys("abcd", 0.25)),
        (Real(0, 10, start=0), 0.0),
        (Shares(["a", "b"], start=[1, 0]), {"a": 1.0, "b": 0.0}),
    ],
    ids=repr,
)
def test_it_begins_at_the_start_or_in_the_middle(parameter: Any, start: Any) -> None:
    tuner = Tuner({"p": parameter, "x": Real(0, 1, start=0.3)})
    assert tuner.best == {"p": pytest.approx(start), "x": 0.3}
    assert tuner.recommend().params == tuner.best
    assert "not known yet" in str(tuner.recommend())


def test_a_start_at_a_bound_leaves_room() -> None:
    tuner = Tuner({"x": Real(0, 10, start=0)}, seed=1)
    assert {trial["x"] > 0 for trial in tuner.ask(n=20)} == {True}
    assert played(tuner, 60, lambda p: (p["x"] - 5) ** 2).best["x"] == pytest.approx(5, abs=0.3)


def drawn(tuner: Tuner) -> list[list[float]]:
    low, high = np.array([[axis.low, axis.high] for axis in tuner.space.axes]).T
    return [((trial.point - low) / (high - low)).tolist() for trial in tuner.ask(n=50)]


def test_streams_are_of_the_seed_and_the_parameters() -> None:
    """A correlation beyond .5 of 50 draws: 1 in 5,000 by chance. A shared stream has 1."""
    one = drawn(Tuner(SHOP, seed=1))
    assert drawn(Tuner(SHOP, seed=1)) == one  # a cell that runs again
    ads = SHOP["ads"]
    others = [
        Tuner(SHOP, seed=2),
        Tuner({"cost": SHOP["price"], "ads": ads}, seed=1),
        Tuner({"price": Real(1, 15, start=4), "ads": ads}, seed=1),
    ]
    found = [one, *map(drawn, [*others, Tuner(SHOP), Tuner(SHOP)])]
    assert len(set(map(str, found))) == 6
    for other in found[1:4]:
        for a, b in zip(np.transpose(one), np.transpose(other), strict=True):
            assert abs(np.corrcoef(a, b)[0, 1]) < 0.5


@pytest.mark.parametrize("count", [8, 64])
def test_many_open_trials_answered_in_any_order(count: int) -> None:
    """One in ten never. The start earns 416 of 500."""
    tuner, rng = Tuner(SHOP, maximize=True, seed=2), np.random.default_rng(2)
    waiting = tuner.ask(n=count)
    assert [trial.id for trial in waiting] == [*range(count)]
    assert len({trial["price"] for trial in waiting}) == count
    for _ in range(400):
        trial = waiting.pop(int(rng.integers(len(waiting))))
        if rng.random() < 0.1:
            tuner.forget(trial)
        else:
            tuner.tell(trial, revenue(trial.params) + 5 * rng.standard_normal())
        waiting.append(tuner.ask())
    assert revenue(tuner.best) > 490
    assert {trial.id for trial in tuner.open_queries} == {trial.id for trial in waiting}
    assert tuner.rounds < tuner.asked - count == 400


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


def test_a_pause_uses_the_best_and_learns_nothing() -> None:
    tuner = played(Tuner(SHOP, maximize=True, seed=2), 50, revenue)
    waiting = tuner.ask()
    best, known = tuner.best, tuner._search.state()
    tuner.pause()
    assert tuner.paused
    for trial in run(tuner, 20, lambda p, t: 1000.0):
        assert trial.paused
        assert trial.params == best
    late = tuner.ask()
    tuner.tell(waiting, -1000.0)  # asked before: counted, not learnt
    assert tuner.rounds == 71
    tuner.resume()
    tuner.tell(late, 3.0)  # a trial of a pause teaches nothing, whenever it is told
    assert tuner._search.model.state() == known["model"]
    assert tuner.best == best
    (trial,) = run(tuner, 1, lambda p, t: revenue(p))
    assert not trial.paused
    assert tuner._search.model.rounds == known["model"]["rounds"] + 1
    assert [*tuner.history()["paused"]] == 50 * [False] + 22 * [True] + [False]


def test_the_history_has_every_round() -> None:
    options: dict[str, Any] = {"context": {"hour": Cycle(24)}, "limits": "ms <= 5"}
    tuner = Tuner(MIXED, seed=2, **options)
    with pytest.raises(errors.StateError, match="there is no round"):
        tuner.plot()

    def measure(p: Params, t: int) -> dict[str, Any]:
        more = {"metrics": {"ms": 1.0}, "covariates": {"kind": "ab"[t % 2]}}
        return {"value": mixed_cost(p), **more}

    trials = run(tuner, 30, measure, known=lambda t: {"context": {"hour": t}})
    told = [(*trial.point, mixed_cost(trial.params)) for trial in trials]
    trial = tuner.ask(context={"hour": 3})
    tuner.tell(trial, failed=True)
    table = tuner.history()
    assert [tuple(row) for row in table[[*tuner.columns, "value"]][:-1]] == told
    assert table["level"].dtype == np.int64
    assert [*table["failed"]] == 30 * [False] + [True]
    assert isnan(table["value"][-1])
    assert isnan(table["metric.ms"][-1])
    assert [*table["context.hour"][:3]] == [0.0, 1.0, 2.0]
    assert [*table["covariate.kind"][-3:]] == ["a", "b", ""]
    assert table["best.level"][-1] == tuner.best_for({"hour": 3})["level"]
    assert list(tuner.to_frame().columns) == list(table.dtype.names or ())
    assert restored(tuner).history().tobytes() == table.tobytes()


def from_file(tuner: Tuner, file: Path) -> Tuner:
    tuner.save(file)
    found = dikin.load(file)
    assert isinstance(found, Tuner)
    return found


COPIES: dict[str, Callable[[Tuner, Path], Tuner]] = {
    "copy": lambda tuner, file: copy.copy(tuner),
    "pickle": lambda tuner, file: pickle.loads(pickle.dumps(tuner)),
    "state": lambda tuner, file: restored(tuner),
    "file": from_file,
}


def in_the_middle(rounds: int = 30) -> Tuner:
    """A tuner of everything, with an open trial, one of a pause, and another."""
    tuner = Tuner(
        MIXED,
        limits=["ms <= 5", "failed <= 0.5"],
        context={"region": ["eu", "us"]},
        covariates={"hour": Cycle(24)},
        holdback=0.3,
        guard=0.5,
        seed=4,
    )
    tuner.add_trial(tuner.control or {}, 3.0, metrics={"ms": 1.0}, context={"region": "eu"})
    for t in range(rounds):
        step(tuner, t)
    asked(tuner, 0)
    tuner.pause()
    asked(tuner, 1)
    tuner.resume()
    asked(tuner, 2)
    return tuner


@cache
def state_in_the_middle() -> str:
    return json.dumps(in_the_middle().state())


def asked(tuner: Tuner, t: int) -> Any:
    return tuner.ask({"region": ["eu", "us"][t % 2]}, covariates={"hour": t % 24})


def step(tuner: Tuner, t: int) -> Any:
    trial = asked(tuner, t)
    if t % 7 == 3:
        tuner.tell(trial, failed=True)
    else:
        known = {"load": t / 10} | ({"kind": "ab"[t % 2]} if t > 20 else {})
        value = mixed_cost(trial.params)
        tuner.tell(trial, value, metrics={"ms": value}, covariates=known)
    return trial


@pytest.mark.parametrize(("way", "rounds"), [*product(COPIES, [30]), ("state", 0), ("state", 2)])
def test_a_copy_has_the_same_future(way: str, rounds: int, tmp_path: Path) -> None:
    tuner = in_the_middle(rounds)
    before = tuner.state()
    twin = COPIES[way](tuner, tmp_path / "tuner.json")
    assert twin.state() == before
    for trial in twin.open_queries[::-1]:
        twin.tell(trial.id, 1.5, metrics={"ms": 2.0})
    asked_by_twin = [step(twin, t) for t in range(30)]
    assert tuner.state() == before  # what the copy does, the original does not see
    for trial in tuner.open_queries[::-1]:
        tuner.tell(trial, 1.5, metrics={"ms": 2.0})
    for t, other in enumerate(asked_by_twin):
        mine = step(tuner, t)
        assert (mine, mine.params) == (other, other.params)
        assert str(mine.expected) == str(other.expected)
    assert twin.state() == tuner.state()
    assert str(twin.summary()) == str(tuner.summary())


@pytest.mark.parametrize("part", list(Tuner(SHOP).state()))
def test_a_state_with_a_part_missing_is_refused(part: str) -> None:
    state = json.loads(state_in_the_middle())
    del state[part]
    with pytest.raises(errors.DikinError):
        dikin.restore(state)


OK = {"ms": 1.0}
"""The metrics of a trial."""


def told(t: Tuner, value: Any = None, **known: Any) -> None:
    t.tell(t.open_queries[0], value, **known)


BAD: list[tuple[Callable[[Tuner], object], type[Exception], str]] = [
    (lambda t: told(t, nan), errors.LossError, "value of trial 30 .* nan"),
    (lambda t: told(t, -inf), errors.LossError, "value of trial 30 .* -inf"),
    (lambda t: told(t, 10**400), errors.LossError, "value of trial 30"),
    (lambda t: told(t, "7"), errors.LossError, "value of trial 30 must be .*'7'"),
    (lambda t: told(t), errors.LossError, "got None. Report a trial without"),
    (lambda t: told(t, 1e150), errors.LossError, r"below 1e\+100, got 1e\+150"),
    (lambda t: told(t, 3.0, failed=True), errors.LossError, "has the value 3.0"),
    (lambda t: told(t, failed=1), errors.ParameterError, "failed must be True or False"),
    (lambda t: told(t, 1.0), errors.LossError, "'ms' has a limit and is missing"),
    (lambda t: told(t, 1.0, metrics={"mss": 1}), errors.LossError, "is missing.*got {'mss': 1.0}"),
    (lambda t: told(t, 1.0, metrics={"ms": nan}), errors.LossError, "'ms' must be .*nan"),
    (lambda t: told(t, 1.0, metrics=[3.0]), errors.LossError, "metrics are given by name"),
    (lambda t: told(t, 1.0, metrics={3: 1.0}), errors.LossError, "name of a metric"),
    (lambda t: told(t, 1.0, metrics=OK | {"failed": 1}), errors.LossError, "failed=True"),
    *(
        (lambda t, c=known: told(t, 1.0, metrics=OK, covariates=c), errors.ContextError, words)
        for known, words in (
            ({"hour": "late"}, "'hour' must be a finite number below"),
            ({"hour": 5}, "'hour' was 0.0 when"),
            ({"load": inf}, "'load' must be a finite number"),
        )
    ),
    (lambda t: t.tell(3, 1.0), errors.ClosedQueryError, "trial 3 was already answered"),
    (lambda t: t.tell(99, 1.0), errors.UnknownQueryError, "trial 99 was never asked"),
    (lambda t: t.tell(True, 1.0), errors.UnknownQueryError, "trial True was"),
    (lambda t: t.tell({"level": 3}, 1.0), errors.UnknownQueryError, "or its id"),
    (lambda t: t.tell(FOREIGN, 1.0), errors.QueryError, "belongs to another learner or tuner"),
    (lambda t: t.forget(3), errors.ClosedQueryError, "trial 3"),
    (lambda t: t.ask({"region": "eu"}, n=0), errors.ParameterError, "n must be at least 1"),
    (lambda t: t.ask({"region": "eu"}, n=2.5), errors.ParameterError, "n must be a whole number"),
    (lambda t: t.ask(), errors.ContextError, "chooses by context"),
    (lambda t: t.ask({}), errors.ContextError, "chooses by context: .*got {}"),
    (
        lambda t: t.ask({"region": "eu", "hour": 3}),
        errors.ContextError,
        "chooses by context: .*'hour': 3",
    ),
    (lambda t: t.ask({"region": "asia"}), errors.ContextError, "one of 'eu', 'us', got 'asia'"),
    (lambda t: t.best, errors.StateError, "best_for"),
    (lambda t: t.best_for({"region": 3}), errors.ContextError, "got 3"),
    (lambda t: t.recommend(), errors.ContextError, "chooses by context"),
    (lambda t: t.open_queries[0]["colour"], errors.ParameterError, "'colour'"),
    (lambda t: t.add_trial({"level": 3}, 1.0), errors.ParameterError, "lacks mix, rate, codec"),
    (lambda t: t.add_trial(3, 1.0), errors.ParameterError, "must be given by name"),
    *(
        (lambda t, c=more: t.add_trial(t.control | c, 1.0), errors.ParameterError, words)
        for more, words in (
            ({"level": 99}, "the setting cannot have level=99"),
            ({"colour": 1}, "the setting has no parameter 'colour'"),
        )
    ),
    (lambda t: t.add_trial(t.control, 1.0, metrics=OK), errors.ContextError, "chooses by context"),
    *(
        (lambda t, v=value: t.add_trial(t.control, v, context=EU), errors.LossError, words)
        for value, words in ((1.0, "'ms' has a limit"), (nan, "value of the trial"))
    ),
    (lambda t: t.set_parameters({}), errors.ParameterError, "one or more names"),
    (lambda t: t.set_parameters({"x": 3}), errors.ParameterError, "x: wanted dikin.Real"),
    (lambda t: t.set_parameters(MIXED, "level <= x"), errors.ParameterError, "level"),
]
EU = {"region": "eu"}
FOREIGN = Tuner({"x": Real(0, 1)}).ask(n=31)[-1]
"""Its id is that of an open trial."""


@pytest.mark.parametrize(("act", "error", "words"), BAD, ids=[words for _, _, words in BAD])
def test_bad_input_is_refused_and_changes_nothing(act: Any, error: Any, words: str) -> None:
    tuner = dikin.restore(json.loads(state_in_the_middle()))
    before = tuner.state()
    with pytest.raises(error, match=words) as refused:
        act(tuner)
    assert isinstance(refused.value, errors.DikinError)
    assert tuner.state() == before


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"maximize": 1}, "maximize must be True or False, got 1"),
        ({"smoothness": -1}, "smoothness must be finite and not negative, got -1"),
        ({"lipschitz": "x"}, "lipschitz must be a .*number"),
        ({"value_range": (3, 1)}, r"value_range must be finite .* got \(3, 1\)"),
        ({"value_range": 3}, "value_range must be the least and the largest .* got 3"),
        ({"value_range": (0, 1e200)}, "choose another unit of value"),
        ({"value_range": (0, "x")}, "value_range must be the least"),
        ({"seed": -1}, "seed"),
        ({"constraints": "prize <= 3"}, "Did you mean 'price'"),
        ({"limits": 3}, "limits are texts"),
        ({"limits": [3]}, "a limit is a text"),
        ({"limits": "p99 < 3"}, "<= or >="),
        ({"limits": "3 <= p99"}, "a metric on the left and a number on the right"),
        ({"limits": "price <= ads"}, "belongs in constraints"),
        ({"limits": "ads <= 20"}, "names a parameter, which belongs in constraints"),
        ({"limits": "p99 <= inf"}, "finite number"),
        ({"limits": "failed <= 2"}, "must be a share"),
        ({"limits": ["a <= 1", "a <= 2"]}, "two limits in one direction"),
        ({"limits": [f"m{i} <= 1" for i in range(9)]}, "at most 8 limits"),
        ({"context": {}}, "context is declared by name"),
        ({"context": {"a": ["eu"]}}, "at least two different words"),
        ({"context": {"a": (1, 1)}}, "two ends of a range"),
        ({"context": {"a": [str(i) for i in range(65)]}}, "at most 64"),
        ({"covariates": {"a": 3}}, "a Cycle, float, or"),
        ({"covariates": 3}, "declared by name"),
    ],
)
def test_other_arguments_are_checked(options: dict[str, Any], words: str) -> None:
    with pytest.raises(errors.ParameterError, match=words):
        Tuner(SHOP, **options)


def test_the_summary_says_what_was_told() -> None:
    tuner = Tuner(SHOP, maximize=True, seed=2)
    assert tuner.summary().best_value is None
    assert isnan(tuner.summary().recent_mean)
    values = [revenue(trial.params) for trial in run(tuner, 150, lambda p, t: revenue(p))]
    tuner.ask()
    found = tuner.summary()
    assert (found.rounds, found.open.count, found.recent_rounds) == (150, 1, 100)
    assert found.recent_mean == pytest.approx(np.mean(values[-100:]))
    assert found.best == tuner.best == tuner.recommend().params
    assert found.start == {"price": 4.0, "ads": 40.0}
    assert found.best_value == [*tuner.recommend().value]
    text = str(tuner)
    for word in ("150", "1 open", "larger is better", "price", "began at 4", "expected value"):
        assert word in text
    assert "<table>" in tuner._repr_html_()
    assert repr(tuner) == "<Tuner maximize price, ads, 150 rounds>"


def test_names_are_escaped_in_a_notebook() -> None:
    tuner = Tuner({"<script>": Real(0, 1)})
    assert "<script>" not in tuner._repr_html_() + tuner.recommend()._repr_html_()


def test_values_within_three_hundredths_of_the_range_are_next_to_a_bound() -> None:
    space = Tuner({"x": Real(0, 10), "n": Integer(0, 100)}).space
    for x, n, near in ((0.29, 50, {"x": 0.0}), (0.31, 98, {"n": 100}), (9.69, 4, {})):
        assert space.bounds_near(np.array([x, n])) == near
