"""A study has the verbs of its tuner, in the user's names; an answer counts once."""

from __future__ import annotations

import json
from math import isnan, nan
from typing import Any

import numpy as np
import pytest

import dikin
from dikin import errors
from studies.small import alone, prices, rows_of, state_of

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
    return dikin.Tuner(ranges, constraints=limits, smoothness=50.0, seed=3)


def one() -> dikin.Tuner:
    return dikin.Tuner({"price": dikin.Real(1, 14)}, seed=3)


def parts(trial: dikin.Trial | None) -> Any:
    """All that a trial says; NaN as a text, which equals itself."""
    if trial is None:
        return None
    return trial.id, trial.params, trial.point.tolist(), repr(trial.expected), trial.paused


def test_the_rows(file: str) -> None:
    with dikin.Study(file, "a", shop(), client="me") as study:
        start = study.center.tolist()
        first = study.ask()
        study.tell(first, 512)
        study.pause()
        best = study.center.tolist()
        study.tell(study.ask(), 510.5, metrics={"p99_ms": 187})
        study.resume()
        study.tell(study.ask(), failed=True)
    rows = [(row.kind, row.ask, json.loads(row.body)) for row in rows_of(file)]
    kinds = [("ask", None), ("tell", 0), ("pause", None), ("ask", None), ("tell", 3)]
    assert [row[:2] for row in rows] == [*kinds, ("resume", None), ("ask", None), ("tell", 6)]
    asked, told, _, paused, measured, _, _, failed = (row[2] for row in rows)
    assert asked["point"] == told["point"] == first.point.tolist()
    assert (asked["center"], asked["expected"], asked["paused"]) == (start, None, False)
    assert (told["value"], told["expected"], told["paused"]) == (512.0, None, False)
    assert (paused["point"], paused["paused"], paused["play"]) == (best, True, None)
    assert (measured["value"], measured["metrics"]) == (510.5, {"p99_ms": 187.0})
    assert measured["paused"]
    assert (failed["value"], failed["failed"]) == (None, True)
    assert {row.who for row in rows_of(file)} == {"me"}
    assert len(json.dumps(asked)) < 700


# --- pause and resume -----------------------------------------------------------------------------


def test_a_pause_is_for_all_clients_and_may_be_repeated(url: str) -> None:
    with dikin.Study(url, "a", shop()) as study, dikin.Study(url, "a") as other:
        early = study.ask()
        for _ in range(2):
            study.pause()
            other.pause()
            assert study.paused
            assert other.paused
            trial = other.ask()
            assert trial.paused
            np.testing.assert_allclose(trial.point, study.center, rtol=1e-12)
            other.tell(trial, 3.0)
            other.resume()
            study.resume()
            assert not study.paused
        other.pause()
        study.tell(early, 99.0)  # asked before, told in a pause: nothing is learnt
        assert study.history()["paused"].tolist() == [True, True, True]
        np.testing.assert_allclose(study.center, shop().center, rtol=1e-12)
        assert study.verify().rows == 1 + 2 * 4 + 2  # repetitions make no row
        # A row that is of no query closes none.
        for number in (-1, -2, -3):
            with pytest.raises(errors.UnknownQueryError):
                study.tell(number, 1.0)
            with pytest.raises(errors.UnknownQueryError):
                study.forget(number)


# --- trials --------------------------------------------------------------------------------------


def test_several_trials_at_once(url: str) -> None:
    twin = alone(shop())
    with dikin.Study(url, "a", shop()) as study:
        given = study.ask(n=3)
        assert [parts(t) for t in given] == [parts(t) for t in twin.ask(n=3)]
        for trial in reversed(given):
            study.tell(trial, float(trial.id))
            twin.tell(trial.id, float(trial.id))
        assert state_of(study) == state_of(twin)
        for n in (0, -1, 2.5, "3", True):
            with pytest.raises(errors.ParameterError, match="n must be"):
                study.ask(n=n)
        with pytest.raises(errors.ContextError, match="declared without contexts"):
            study.ask([3.0])  # type: ignore[call-overload]
        assert state_of(study) == state_of(twin)


def test_what_is_written_into_a_trial_does_not_reach_the_study(file: str) -> None:
    with dikin.Study(file, "a", shop()) as study:
        trial = study.ask()
        before = study.open_queries[0].params
        trial.params["price"] = trial.params["traffic"]["old"] = 0.0
        for point in (trial.point, study.open_queries[0].point):
            with pytest.raises(ValueError, match="read-only"):
                point[:] = 0.0
        assert study.open_queries[0].params == before
        assert study.verify().rows == 1
        study.tell(0, 3.0)


def test_a_value_counts_once(url: str) -> None:
    with dikin.Study(url, "a", shop()) as study, dikin.Study(url, "a") as other:
        trial, foreign = study.ask(), shop(seed=6).ask()
        study.tell(trial, value=512)
        before = state_of(study)
        for again in (study, other):
            again.tell(trial, 512.0)
            again.tell(trial.id, np.float64(512))
            with pytest.raises(errors.AnsweredError, match=r"trial 0 .* 512\.0.* 513\.0"):
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
        assert (study.rounds, study.verify().rows) == (1, 4)
        assert study.history()["value"].tolist() == [512.0]
        assert before["rounds"] == state_of(study)["rounds"] == 1


REFUSED: list[tuple[Any, dict[str, Any], type[Exception]]] = [
    (0, {"value": nan}, errors.LossError),
    (0, {"value": "512"}, errors.LossError),
    (0, {}, errors.LossError),
    (0, {"value": [1.0, 2.0]}, errors.LossError),
    (0, {"value": 10**400}, errors.LossError),
    (0, {"value": {"price": 3}}, errors.LossError),
    (0, {"value": 1.0, "failed": True}, errors.LossError),
    (0, {"failed": "yes"}, errors.ParameterError),
    (0, {"value": 1.0, "metrics": {"p99_ms": nan}}, errors.LossError),
    (7, {"value": 1.0}, errors.UnknownQueryError),
    ("0", {"value": 1.0}, errors.UnknownQueryError),
    (True, {"value": 1.0}, errors.UnknownQueryError),
    (None, {"value": 1.0}, errors.UnknownQueryError),
    ({"price": 4.0}, {"value": 1.0}, errors.UnknownQueryError),
    (dikin.Query(0, np.zeros(5)), {"value": 1.0}, errors.QueryError),
    (shop(seed=6).ask(), {"value": 1.0}, errors.QueryError),
    (one().ask(), {"value": 1.0}, errors.QueryError),
]


@pytest.mark.parametrize("paused", [False, True])
@pytest.mark.parametrize(("key", "told", "error"), REFUSED, ids=lambda part: repr(part)[:20])
def test_a_refused_value_changes_nothing(
    file: str, key: Any, told: dict[str, Any], error: type[Exception], paused: bool
) -> None:
    with dikin.Study(file, "a", shop()) as study:
        study.ask()
        if paused:
            study.pause()
        before, rows = state_of(study), rows_of(file)
        with pytest.raises(error):
            study.tell(key, **told)
        assert (state_of(study), rows_of(file)) == (before, rows)
        study.tell(0, 3.0)


def test_a_trial_of_another_tuner_is_foreign(file: str) -> None:
    with dikin.Study(file, "a", prices()) as study:
        study.ask()
        with pytest.raises(errors.QueryError, match=r"trial 0 asked about .*'price'"):
            study.tell(shop().ask(), 3.0)
        with pytest.raises(errors.UnknownQueryError, match="pass the trial or its id"):
            study.tell("0", 3.0)  # type: ignore[arg-type]
        assert study.verify().rows == 1


# --- history -------------------------------------------------------------------------------------


def test_the_history_has_names(url: str) -> None:
    twin, rows = alone(shop()), []
    with dikin.Study(url, "a", shop()) as study:
        assert len(study.history()) == 0
        for t in range(6):
            if t == 4:
                study.pause()
                twin.pause()
            trial = study.ask()
            twin.ask()
            failed = t == 3
            best = twin.center
            for player in (study, twin):
                player.tell(trial.id, None if failed else 7.0 + t, failed=failed)
            told = (nan if failed else 7.0 + t, trial.expected, t >= 4, failed)
            rows.append((t + 1, *trial.point, *told, *best))
        table = study.history()
        names = ("price", "rate", "level", "traffic.old", "traffic.new")
        best = [f"best.{name}" for name in names]
        columns = ("round", *names, "value", "expected", "paused", "failed", *best)
        assert table.dtype.names == (*columns, "time", "client")
        assert set(table["client"]) == {study.client}
        assert (np.diff(table["time"]) >= np.timedelta64(0)).all()
        for name, column in zip(columns, zip(*rows, strict=True), strict=True):
            assert np.array_equal(table[name], np.array(column), equal_nan=True), name
        assert isnan(table["expected"][0])
        assert study.history(2, 4)["round"].tolist() == [2, 3, 4]
        frame = study.to_frame(2)
        assert tuple(frame.columns) == table.dtype.names
        assert frame["value"].tolist()[:2] + frame["value"].tolist()[3:] == [8.0, 9.0, 11.0, 12.0]
        before = state_of(study)
        assert study.trim(6) > 0
        assert study.history()["round"].tolist() == [6]
        assert state_of(study) == before
        assert study.verify().rows == 1
    with dikin.Study(url, "a") as study:
        assert state_of(study) == before
        assert study.paused


# --- opening -------------------------------------------------------------------------------------

OTHERS = {
    r"parameter 'price', Real\(low=1, .* not Real\(low=2": lambda: dikin.Tuner(
        PARAMETERS | {"price": dikin.Real(2, 14, start=4)}, maximize=True
    ),
    r"parameters \['price', 'rate', .* not \['price'\]": lambda: dikin.Tuner(
        {"price": PARAMETERS["price"]}, maximize=True
    ),
    "maximize True, not False": lambda: dikin.Tuner(PARAMETERS),
    r"constraints \[\], not \['price <= 9'\]": lambda: shop(constraints="price <= 9"),
    r"limits \[\], not \['ms <= 2'": lambda: shop(limits="ms <= 2"),
    r"value_range None, not \[0.0, 9.0\]": lambda: shop(value_range=(0, 9)),
    r"context .*, not ": lambda: shop(context={"region": ["eu", "us"]}),
    r"covariates .*, not ": lambda: shop(covariates={"load": float}),
    r"holdback .*, not 0.2": lambda: shop(holdback=0.2),
}


@pytest.mark.parametrize("words", OTHERS)
def test_another_tuner_is_refused(file: str, words: str) -> None:
    with dikin.Study(file, "a", shop()) as study:
        study.tell(study.ask(), 3.0)
        before = state_of(study), rows_of(file)
        with pytest.raises(errors.StudyExistsError, match=f"exists with {words}"):
            dikin.Study(file, "a", OTHERS[words]())
        assert (state_of(study), rows_of(file)) == before


def test_the_first_seed_and_state_count(file: str) -> None:
    begun = shop()
    begun.tell(begun.ask(), 9.0)
    begun.add_trial(begun.best | {"price": 5.0}, 8.0)
    begun.pause()
    with dikin.Study(file, "a", begun) as study:
        assert (study.rounds, study.paused) == (1, True)
        assert study.state() == begun.state_in_study("a")
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
    twin = alone(plan())
    with dikin.Study(file, "a", plan()) as study:
        for value in (3.0, 5.0, 4.0, 4.5, 3.5, 5.5, 4.2, 3.8, 4.1, 900.0):
            study.tell(study.ask(), value)
            twin.tell(twin.ask(), value)
        assert study.space.columns == ("ads", "staff")
        assert np.array_equal(study.certificate, twin.certificate, equal_nan=True)
        assert study.summary().left_out == twin.left_out
        assert str(study.summary()) == str(twin.summary())
        assert str(study.recommend()) == str(twin.recommend())
        assert study.best == twin.best == study.best_for()
        page = study._repr_html_()
        assert page.startswith("<table>")
        for words in ("study", "ads", "staff", "open trials"):
            assert f">{words}</th>" in page


def test_two_studies_of_one_seed_draw_differently_and_each_the_same_again(file: str) -> None:
    """Otherwise what one of them tries explains what the other measures."""

    def prices_of(name: str, url: str = file) -> list[float]:
        with dikin.Study(url, name, one()) as study:
            for _ in range(40):
                trial = study.ask()
                study.tell(trial, (trial["price"] - 5.0) ** 2)
            return [float(price) for price in study.history()["price"]]

    a, b, again = prices_of("a"), prices_of("b"), prices_of("a", f"{file}.other")
    assert a == again
    assert sum(x == y for x, y in zip(a, b, strict=True)) < 5  # a few first ones are by plan


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
