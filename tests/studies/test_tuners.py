"""A study has the verbs of its tuner, in the user's names; answers and keys count once."""

from math import isnan, nan
from typing import Any

import numpy as np
import pytest

import dikin
from dikin import errors
from studies.small import alone, plain, rows_of, state_of

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


def test_several_trials_at_once(url: str) -> None:
    twin = alone(shop())
    with dikin.Study(url, "a", shop()) as study:
        given = study.ask(n=3)
        assert [parts(t) for t in given] == [parts(t) for t in twin.ask(n=3)]
        for trial in reversed(given):
            study.tell(trial, float(trial.id))
            twin.tell(trial.id, float(trial.id))
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


METRICS, COVARIATES = {"p99_ms": 187.0, "cpu": 0.5}, {"users": 8.0, "kind": "a"}
ANSWERS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"value": 512}, {"value": np.float64(512)}),
    (
        {"value": 4, "metrics": METRICS, "covariates": COVARIATES},
        {
            "value": 4.0,
            "metrics": {"cpu": 0.5, "p99_ms": np.float64(187)},
            "covariates": {"kind": "a", "users": 8},
        },
    ),
    ({"failed": True, "covariates": COVARIATES}, {"failed": True, "covariates": COVARIATES}),
]
"""An answer, and the same in other types and another order."""


def test_an_answer_counts_once_and_another_is_refused(url: str) -> None:
    with dikin.Study(url, "a", shop()) as study, dikin.Study(url, "a") as other:
        foreign = shop(seed=6).ask()
        for told, again in ANSWERS:
            trial = study.ask()
            study.tell(trial, **told)
            others = [each for each, _ in ANSWERS if each is not told]
            others += [told | {"covariates": {"users": 9}}, told | {"metrics": {"p99_ms": 188}}]
            for player in (study, other):
                player.tell(trial, **again)
                player.tell(trial.id, **told)
                for wrong in others:
                    with pytest.raises(errors.AnsweredError, match=f"trial {trial.id} .*already"):
                        player.tell(trial, **wrong)
                with pytest.raises(errors.QueryError, match="another study"):
                    player.tell(foreign, 512.0)
                with pytest.raises(errors.ClosedQueryError):
                    player.forget(trial)
        lost = other.ask()
        other.forget(lost)
        study.forget(lost.id)
        with pytest.raises(errors.ClosedQueryError):
            study.tell(lost, 3.0)
        assert (study.rounds, study.status().failed, study.verify().rows) == (3, 1, 8)
        assert np.array_equal(study.history()["value"], [512.0, 4.0, nan], equal_nan=True)
        _, measured, failed = other.records()
        assert (measured["metrics"], measured["covariates"]) == (METRICS, COVARIATES)
        assert (failed["value"], failed["failed"]) == (None, True)


def test_the_history_has_names(file: str) -> None:
    with dikin.Study(file, "a", shop()) as study:
        assert len(study.history()) == 0
        centers = []
        for t in range(6):
            trial = study.ask()
            centers.append(study.center)
            study.tell(trial, None if t == 3 else 7.0 + t, failed=t == 3)
        table = study.history()
        names = ("price", "rate", "level", "traffic.old", "traffic.new")
        columns = ("round", *names, "value", "expected", "paused", "failed")
        best = [f"best.{name}" for name in names]
        assert table.dtype.names == (*columns, *best, "time", "client")
        assert np.array_equal(np.transpose([table[name] for name in best]), centers)
        assert set(table["client"]) == {study.client}
        assert (np.diff(table["time"]) >= np.timedelta64(0)).all()
        assert isnan(table["expected"][0])
        assert study.history(2, 4)["round"].tolist() == [2, 3, 4]
        frame = study.to_frame(2)
        assert tuple(frame.columns) == table.dtype.names
        assert frame["value"].tolist()[:2] + frame["value"].tolist()[3:] == [8.0, 9.0, 11.0, 12.0]


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


def test_another_start_opens_the_same_study(file: str) -> None:
    def tuner(start: float, high: float = 14) -> dikin.Tuner:
        return dikin.Tuner({"price": dikin.Real(1, high, start=start)}, seed=1)

    dikin.Study(file, "a", tuner(4)).close()
    with dikin.Study(file, "a", tuner(5)) as study:
        assert study.best == {"price": 4.0}
    with pytest.raises(errors.StudyExistsError, match="price"):
        dikin.Study(file, "a", tuner(4, high=15))


def test_the_same_key_gives_the_same_query(url: str) -> None:
    with dikin.Study(url, "a", shop()) as study:
        first = study.ask(key="one")
        assert study.ask(key="one") == first
        other = study.ask(key="two")
        assert other.id != first.id
        with dikin.Study(url, "a") as elsewhere:
            assert elsewhere.ask(key="two") == other
            elsewhere.tell(first, 0.5)
        again = study.ask(key="one")  # answered meanwhile
        assert again.id == first.id
        assert again.point.tolist() == first.point.tolist()
        assert len(study.open_queries) == 1
        assert study.verify().rows == 3


def test_a_key_is_of_one_study(file: str) -> None:
    with dikin.Study(file, "a", plain()) as a, dikin.Study(file, "b", plain()) as b:
        a.ask(key="k")
        b.ask()
        assert b.ask(key="k").id == 1
    dikin.Study.delete(file, "a")
    with dikin.Study(file, "a", plain()) as a:
        a.tell(a.ask(), 0.5)
        assert a.ask(key="k").id == 2


@pytest.mark.parametrize("key", ["", "x" * 151, "a\nb", 3, b"k"])
def test_an_absurd_key_is_refused(file: str, key: Any) -> None:
    with dikin.Study(file, "a", plain()) as study:
        with pytest.raises(errors.ParameterError, match="key must be"):
            study.ask(key=key)
        assert not study.open_queries


def test_a_refused_ask_uses_no_key(file: str) -> None:
    with dikin.Study(file, "a", plain()) as study:
        with pytest.raises(errors.ContextError):
            study.ask({"region": "eu"}, key="k")
        assert study.ask(key="k").id == 0


REQUESTS: dict[str, dict[str, Any]] = {
    "one": {},
    "single": {"n": 1},
    "three": {"n": 3},
    "known": {"covariates": {"load": 1}},
}
MORE: list[dict[str, Any]] = [{"n": 2}, {"covariates": {"load": 2.0}}]


def ids(given: Any) -> list[int]:
    return [each.id for each in (given if isinstance(given, list) else [given])]


def test_a_key_is_for_one_request(url: str) -> None:
    with dikin.Study(url, "a", shop()) as study:
        first = {key: study.ask(key=key, **given) for key, given in REQUESTS.items()}
        for _ in range(2):
            for key, given in REQUESTS.items():
                assert ids(study.ask(key=key, **given)) == ids(first[key])
                for other in [*REQUESTS.values(), *MORE]:
                    if other != given:
                        with pytest.raises(errors.ParameterError, match=f"'{key}' was used by"):
                            study.ask(key=key, **other)
            study.tell(first["known"], 1.0)
        # Several under one key are no keys that somebody else could give.
        assert study.ask(key="three 0").id not in ids(first["three"])
        assert len(study.open_queries) == 6
