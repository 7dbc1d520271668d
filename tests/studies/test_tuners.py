"""A study of a tuner plays exactly what the tuner alone would have played, in the user's names."""

from __future__ import annotations

import json
from collections.abc import Iterator
from math import inf, isnan, nan
from typing import Any

import numpy as np
import pytest

import dikin
from dikin import errors
from dikin.studies import replica, session
from dikin.studies.replica import Replica
from studies.kills import rows_of
from studies.small import failing, prices

PARAMETERS: dict[str, Any] = {
    "price": dikin.Real(1, 14, start=4),
    "rate": dikin.Real(0.001, 1, log=True),
    "level": dikin.Integer(1, 9, start=6),
    "traffic": dikin.Shares(["old", "new"], start={"old": 0.9, "new": 0.1}),
}


def shop(seed: int = 5, **more: Any) -> dikin.Tuner:
    return dikin.Tuner(PARAMETERS, maximize=True, seed=seed, **more)


def plan() -> dikin.Tuner:
    ranges = {"ads": dikin.Real(0, 60, start=20), "staff": dikin.Real(0, 30, start=10)}
    limits = ["ads + 3*staff <= 100"]
    return dikin.Tuner(ranges, constraints=limits, memory=20, smoothness=50.0, seed=3)


def one() -> dikin.Tuner:
    return dikin.Tuner({"price": dikin.Real(1, 14)}, seed=3)


def moves() -> Iterator[tuple[str, tuple[Any, ...], dict[str, Any]]]:
    """A game with late values, forgotten trials, forecasts, and a hold with trials open."""
    for t in range(0, 24, 4):
        for late in range(4):
            yield "ask", (), {"forecast": None if late % 2 else 10.0 + t}
            if (t, late) in ((8, 2), (16, 0)):
                yield "hold", (), {}
        for query in (t + 2, t, t + 3):
            yield "tell", (query, float(10 + 5 * np.sin(1.7 * query))), {}
            if (t, query) in ((12, 12), (20, 20)):
                yield "resume", (), {}
        if t % 8:
            yield "forget", (t + 1,), {}


def move(player: Any, step: tuple[str, tuple[Any, ...], dict[str, Any]]) -> Any:
    verb, given, named = step
    found = getattr(player, verb)(*given, **named)
    return found if verb == "ask" else None


def parts(trial: dikin.Trial | None) -> Any:
    """All that a trial says; NaN as a text, which equals itself."""
    if trial is None:
        return None
    return trial.id, trial.params, trial.point.tolist(), repr(trial.expected), trial.held


@pytest.mark.parametrize("make", [shop, plan, one])
def test_a_tuner_goes_on_where_it_was(url: str, make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Opened anew for every move, by two clients in turn."""
    monkeypatch.setattr(session, "SNAPSHOT_EVERY", 7)
    twin, other = make(), dikin.Study(url, "a", make())
    for turn, step in enumerate(moves()):
        with dikin.Study(url, "a", make()) as study:
            mine = move(other if turn % 3 == 0 else study, step)
            assert parts(mine) == parts(move(twin, step))
            assert study.held == twin.held
            assert study.best == twin.best
    assert other.state() == twin.state()
    assert other.verify() == sum(1 for _ in moves())
    assert dikin.restore(other.state()).state() == twin.state()
    assert np.array_equal(other.center, twin.center)
    assert other.rounds == twin.rounds == 18
    assert [(q.id, q.params) for q in other.open_queries] == [
        (trial.id, trial.params) for trial in twin.open_queries
    ]
    other.close()


def test_a_replay_that_loses_a_hold_is_another_tuner(
    file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant of the test above."""
    with dikin.Study(file, "a", shop()) as study:
        for step in moves():
            move(study, step)
        deaf = {"hold": lambda _: None, "resume": lambda _: None}
        monkeypatch.setattr(replica, "SWITCHES", deaf)
        with pytest.raises(errors.StateError, match="computes other numbers"):
            study.verify()


def test_the_rows(file: str) -> None:
    with dikin.Study(file, "a", shop()) as study:
        first = study.ask()
        study.tell(first, 512, 0.0)
        study.hold()
        study.tell(study.ask(forecast=500), 510.5)
        best = study.center.tolist()
        study.resume()
    rows = [(kind, query, body) for _, kind, query, _, body in rows_of(file)]
    played = {"point": first.point.tolist()}
    told = {"value": 512.0, "curvature": 0.0, "expected": None, "held": False}
    # Three forecasters expect the value before, and the user's own forecast counts as one more.
    expected = (3 * 512.0 + 500.0) / 4
    held = {"value": 510.5, "curvature": 0.0, "expected": expected, "held": True}
    after = {"center": best, "certificate": None}
    assert rows == [
        ("ask", 0, json.dumps(played)),
        ("tell", 0, json.dumps({"round": 1} | played | told | after)),
        ("hold", -3, "{}"),
        ("ask", 1, json.dumps({"point": best, "forecast": 500.0})),
        ("tell", 1, json.dumps({"round": 2, "point": best} | held | after)),
        ("resume", -6, "{}"),
    ]
    dikin.Study.delete(file, "a")
    twin = prices()
    with dikin.Study(file, "b", prices()) as study:
        study.tell(study.ask(), 12, 0.25)
    told |= {"value": 12.0, "curvature": 0.25, "point": twin.ask().point.tolist()}
    twin.tell(0, 12.0, 0.25)
    after = {"center": twin.center.tolist(), "certificate": twin.certificate}
    assert rows_of(file)[1][-1] == json.dumps({"round": 1, "point": None} | told | after)


# --- hold and resume -----------------------------------------------------------------------------


def test_hold_is_for_all_clients_and_may_be_repeated(url: str) -> None:
    with dikin.Study(url, "a", shop()) as study, dikin.Study(url, "a") as other:
        early = study.ask()
        for _ in range(2):
            study.hold()
            other.hold()
            assert study.held
            assert other.held
            trial = other.ask()
            assert trial.held
            assert trial.params == study.best
            other.tell(trial, 3.0)
            other.resume()
            study.resume()
            assert not study.held
        other.hold()
        study.tell(early, 99.0)  # asked before, told on hold: nothing is learnt
        assert study.history()["held"].tolist() == [True, True, True]
        assert study.best == shop().best
        assert study.verify() == 1 + 2 * 4 + 2  # repetitions make no row
        # A row that is of no query closes none.
        for number in (-1, -2, -3):
            with pytest.raises(errors.UnknownQueryError):
                study.tell(number, 1.0)
            with pytest.raises(errors.UnknownQueryError):
                study.forget(number)


def test_a_hold_under_one_number_could_be_made_once_only(
    file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant: the database takes a second hold for a second closing of the same query."""
    record = Replica._record

    def minus_one(self: Any, kind: str, query: int, *more: Any) -> Any:
        return record(self, kind, -1 if query < 0 else query, *more)

    monkeypatch.setattr(Replica, "_record", minus_one)
    with dikin.Study(file, "a", shop()) as study:
        study.hold()
        with pytest.raises(errors.StoreError, match="UNIQUE"):
            study.resume()
        assert study.held


@pytest.mark.parametrize("written", [False, True])
def test_a_hold_whose_outcome_is_unknown_is_repeated(
    file: str, monkeypatch: pytest.MonkeyPatch, written: bool
) -> None:
    with dikin.Study(file, "a", shop()) as study:
        failing(monkeypatch, study, errors.StoreError("the disk went away"), written)
        with pytest.raises(errors.StoreError, match="went away"):
            study.hold()
        assert study.held == written
        study.hold()
        assert (study.held, study.verify()) == (True, 1)
        assert study.ask().id == 0


# --- trials --------------------------------------------------------------------------------------


def test_several_trials_at_once(url: str) -> None:
    twin = shop()
    with dikin.Study(url, "a", shop()) as study:
        given = study.ask(n=3, forecast=4.0)
        assert [parts(t) for t in given] == [parts(t) for t in twin.ask(n=3, forecast=4.0)]
        for trial in reversed(given):
            study.tell(trial, float(trial.id))
            twin.tell(trial.id, float(trial.id))
        assert study.state() == twin.state()
        for n in (0, -1, 2.5, "3", True):
            with pytest.raises(errors.ParameterError, match="n must be"):
                study.ask(n=n)
        with pytest.raises(errors.FeedbackError, match="declared without contexts"):
            study.ask([3.0])  # type: ignore[call-overload]
        assert study.state() == twin.state()


def test_what_is_written_into_a_trial_does_not_reach_the_study(file: str) -> None:
    with dikin.Study(file, "a", shop()) as study:
        trial = study.ask()
        before = study.open_queries[0].params
        trial.params["price"] = trial.params["traffic"]["old"] = 0.0
        for point in (trial.point, study.open_queries[0].point):
            with pytest.raises(ValueError, match="read-only"):
                point[:] = 0.0
        assert study.open_queries[0].params == before
        assert study.verify() == 1
        study.tell(0, 3.0)


def test_a_value_counts_once(url: str) -> None:
    with dikin.Study(url, "a", shop()) as study, dikin.Study(url, "a") as other:
        trial, foreign = study.ask(), shop(seed=6).ask()
        study.tell(trial, value=512, curvature=0.0)
        before = study.state()
        for again in (study, other):
            again.tell(trial, 512.0)
            again.tell(trial.id, np.float64(512))
            with pytest.raises(errors.AnsweredError, match=r"trial 0 .* value 512\.0 .* 513\.0"):
                again.tell(trial, 513)
            with pytest.raises(errors.QueryError, match="another study"):
                again.tell(foreign, 512.0)
            with pytest.raises(errors.ClosedQueryError):
                again.forget(trial)
        lost = other.ask()
        other.forget(lost)
        study.forget(lost.id)
        with pytest.raises(errors.ClosedQueryError):
            study.tell(lost, 3.0)
        assert (study.rounds, study.verify()) == (1, 4)
        assert before["recent"] == study.state()["recent"] == [512.0]


REFUSED: list[tuple[Any, dict[str, Any], type[Exception]]] = [
    (0, {"value": nan}, errors.LossError),
    (0, {"value": "512"}, errors.LossError),
    (0, {}, errors.LossError),
    (0, {"value": [1.0, 2.0]}, errors.LossError),
    (0, {"value": 10**400}, errors.LossError),
    (0, {"value": {"price": 3}}, errors.LossError),
    (0, {"value": 1.0, "curvature": -1.0}, errors.CurvatureError),
    (0, {"value": 1.0, "curvature": nan}, errors.CurvatureError),
    (0, {"value": 1.0, "curvature": "much"}, errors.CurvatureError),
    (7, {"value": 1.0}, errors.UnknownQueryError),
    ("0", {"value": 1.0}, errors.UnknownQueryError),
    (True, {"value": 1.0}, errors.UnknownQueryError),
    (None, {"value": 1.0}, errors.UnknownQueryError),
    ({"price": 4.0}, {"value": 1.0}, errors.UnknownQueryError),
    (-1, {"value": 1.0}, errors.UnknownQueryError),
    (2**70, {"value": 1.0}, errors.UnknownQueryError),
    ([0], {"value": 1.0}, errors.UnknownQueryError),
    (0.0, {"value": 1.0}, errors.UnknownQueryError),
    (dikin.Query(0, np.zeros(5)), {"value": 1.0}, errors.QueryError),
    (shop(seed=6).ask(), {"value": 1.0}, errors.QueryError),
    (one().ask(), {"value": 1.0}, errors.QueryError),
]


@pytest.mark.parametrize("held", [False, True])
@pytest.mark.parametrize(("key", "told", "error"), REFUSED, ids=lambda part: repr(part)[:20])
def test_a_refused_value_changes_nothing(
    file: str, key: Any, told: dict[str, Any], error: type[Exception], held: bool
) -> None:
    with dikin.Study(file, "a", shop()) as study:
        study.ask()
        if held:
            study.hold()
        before, rows = study.state(), rows_of(file)
        with pytest.raises(error):
            study.tell(key, **told)
        if error is errors.UnknownQueryError:
            with pytest.raises(error):
                study.forget(key)
        assert (study.state(), rows_of(file)) == (before, rows)
        study.tell(0, 3.0)


FORECASTS = [nan, inf, "12", [12.0], (1, 2), True, np.True_, 1j, {}, 10**400, 1e200, np.ones(1)]


@pytest.mark.parametrize("held", [False, True])
def test_a_refused_forecast_changes_nothing(file: str, held: bool) -> None:
    with dikin.Study(file, "a", shop()) as study:
        if held:
            study.hold()
        before, rows = study.state(), rows_of(file)
        for forecast in FORECASTS:
            with pytest.raises(errors.FeedbackError):
                study.ask(forecast=forecast)  # type: ignore[call-overload]
        assert (study.state(), rows_of(file)) == (before, rows)


def test_an_absurd_value_is_logged_by_who_told_it(
    file: str, caplog: pytest.LogCaptureFixture
) -> None:
    with dikin.Study(file, "a", prices()) as study, dikin.Study(file, "a") as other:
        study.tell(study.ask(forecast=12.0), 12.5)
        study.tell(study.ask(forecast=12.0), 1e6)
        (line,) = caplog.records
        assert "1e+06" in line.getMessage()
        assert other.rounds == 2
        assert study.verify() == other.verify() == 4
        with dikin.Study(file, "a") as third:
            assert third.state() == study.state()
            assert len(caplog.records) == 1
            third.tell(third.ask(), 2e6)  # and what is new is said
        assert len(caplog.records) == 2


def test_a_trial_of_another_tuner_is_foreign(file: str) -> None:
    with dikin.Study(file, "a", prices()) as study:
        study.ask()
        with pytest.raises(errors.QueryError, match=r"trial 0 asked about .*'price'"):
            study.tell(shop().ask(), 3.0)
        with pytest.raises(errors.UnknownQueryError, match="pass the trial or its id"):
            study.tell("0", 3.0)  # type: ignore[arg-type]
        assert study.verify() == 1


# --- history -------------------------------------------------------------------------------------


def test_the_history_has_names(url: str) -> None:
    twin, rows = shop(), []
    with dikin.Study(url, "a", shop()) as study:
        assert len(study.history()) == 0
        for t in range(6):
            if t == 4:
                study.hold()
                twin.hold()
            trial = study.ask()
            twin.ask()
            study.tell(trial, 7.0 + t)
            twin.tell(trial.id, 7.0 + t)
            rows.append((t + 1, *trial.point, 7.0 + t, trial.expected, t >= 4, *twin.center, nan))
        table = study.history()
        names = ("price", "rate", "level", "traffic.old", "traffic.new")
        best = [f"best.{name}" for name in names]
        columns = ("round", *names, "value", "expected", "held", *best, "certificate")
        assert table.dtype.names == columns
        for name, column in zip(columns, zip(*rows, strict=True), strict=True):
            assert np.array_equal(table[name], np.array(column), equal_nan=True), name
        assert isnan(table["expected"][0])
        assert study.history(2, 4)["round"].tolist() == [2, 3, 4]
        frame = study.to_frame(2)
        assert tuple(frame.columns) == columns
        assert frame["value"].tolist() == [8.0, 9.0, 10.0, 11.0, 12.0]
        before = study.state()
        assert study.trim(6) > 0
        assert study.history()["round"].tolist() == [6]
        assert study.state() == before
        assert study.verify() == 2
    with dikin.Study(url, "a") as study:
        assert study.state() == before
        assert study.held


# --- opening -------------------------------------------------------------------------------------

OTHERS = {
    r"parameter 'price', Real\(low=1, .* not Real\(low=2": lambda: dikin.Tuner(
        PARAMETERS | {"price": dikin.Real(2, 14, start=4)}, maximize=True
    ),
    r"parameters \['price', 'rate', .* not \['price'\]": lambda: dikin.Tuner(
        {"price": PARAMETERS["price"]}, maximize=True
    ),
    "sense maximize, not minimize": lambda: dikin.Tuner(PARAMETERS),
    r"constraints \[\], not \['price <= 9'\]": lambda: shop(constraints="price <= 9"),
    r"arguments .*'memory': 'auto'.* not .*'memory': 50": lambda: shop(memory=50),
    r"arguments .*'separable': False.* not .*'separable': True": lambda: shop(separable=True),
}


@pytest.mark.parametrize("words", OTHERS)
def test_another_tuner_is_refused(file: str, words: str) -> None:
    with dikin.Study(file, "a", shop()) as study:
        study.tell(study.ask(), 3.0)
        before = study.state(), rows_of(file)
        with pytest.raises(errors.StudyExistsError, match=f"exists with the {words}"):
            dikin.Study(file, "a", OTHERS[words]())
        assert (study.state(), rows_of(file)) == before


def test_the_first_seed_and_state_count(file: str) -> None:
    begun = shop()
    begun.tell(begun.ask(), 9.0)
    begun.hold()
    with dikin.Study(file, "a", begun) as study:
        assert (study.rounds, study.held) == (1, True)
        assert study.state() == begun.state()
    same = {name: PARAMETERS[name] for name in PARAMETERS}
    same["price"] = dikin.Real(1.0, np.float64(14), start=4.0)
    with dikin.Study(file, "a", dikin.Tuner(same, maximize=True, seed=99)) as study:
        assert study.rounds == 1
        study.ask()
    assert begun.open_queries == []  # the one that was given is copied
    begun.ask()
    with pytest.raises(errors.ParameterError, match=r"open trials \[1\]"):
        dikin.Study(file, "b", begun)


def test_what_a_tuner_knows(file: str) -> None:
    twin = plan()
    with dikin.Study(file, "a", plan()) as study:
        # The first eight only show how large values are.
        for value in (3.0, 5.0, 4.0, 4.5, 3.5, 5.5, 4.2, 3.8, 4.1, 900.0):
            study.tell(study.ask(), value)
            twin.tell(twin.ask(), value)
        assert study.space is not None
        assert study.space.columns == ("ads", "staff")
        assert study.certificate == twin.certificate > 0
        assert study.summary().clipped == twin.clipped == 1
        assert dict(study.status().lines())["clipped"].startswith("1 of 10 values")
        assert study.certificate_for(smoothness=9.0) == twin.certificate_for(smoothness=9.0)
        assert str(study.summary()) == str(twin.summary())
        page = study._repr_html_()
        assert page.startswith("<table>")
        for words in ("study", "ads", "staff", "open trials"):
            assert f">{words}</th>" in page


@pytest.mark.parametrize("value", [float("nan"), float("inf"), True, "1.0", None, 10**400])
def test_a_told_trial_is_not_told_again_by_something_strange(file: str, value: Any) -> None:
    with dikin.Study(file, "a", shop()) as study:
        trial = study.ask()
        study.tell(trial, 1.0)
        with pytest.raises(errors.DikinError):
            study.tell(trial, value)
        study.tell(trial, 1.0)  # a repetition
        assert study.rounds == 1


def test_another_start_opens_the_same_study(file: str) -> None:
    def tuner(start: float, high: float = 14) -> dikin.Tuner:
        return dikin.Tuner({"price": dikin.Real(1, high, start=start)}, seed=1)

    dikin.Study(file, "a", tuner(4)).close()
    with dikin.Study(file, "a", tuner(5)) as study:
        assert study.best == {"price": 4.0}
    with pytest.raises(errors.StudyExistsError, match="price"):
        dikin.Study(file, "a", tuner(4, high=15))


@pytest.mark.parametrize("memory", [None, 20])
def test_a_replay_counts_what_was_clipped(file: str, memory: float | None) -> None:
    alone = shop(memory=memory)
    with dikin.Study(file, "a", shop(memory=memory)) as study:
        for round in range(60):
            value = 1e9 if round in (20, 35, 50) else 500.0 + round % 7
            study.tell(study.ask(), value)
            alone.tell(alone.ask(), value)
        assert study.state() == alone.state()
        study.verify()
    with dikin.Study(file, "a") as study:
        assert study.summary().clipped == alone.clipped >= 3
