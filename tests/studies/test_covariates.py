"""A study keeps covariates, metrics and failures, and replays them bit for bit."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import numpy as np
import pytest

import dikin
from dikin import errors
from dikin.studies import session
from dikin.studies.rows import Answer, AskArguments
from studies.small import alone, command

PARAMETERS = {"price": dikin.Real(1, 14, start=4), "ads": dikin.Real(0, 60, start=40)}


def tuner() -> dikin.Tuner:
    kinds = {"hour": dikin.Cycle(24)}
    return dikin.Tuner(PARAMETERS, maximize=True, covariates=kinds, seed=3)


def value_at(t: int) -> float:
    return 12.0 + (7.0 * t) % 5


def play(player: Any, t: int) -> Any:
    """Ask with covariates; a pair of trials is answered late, the younger one first."""
    known = {"load": (3.0 * t) % 7, "hour": t % 24} if t % 5 else None
    trial = player.ask(covariates=known)
    if t % 4 == 3:
        player.tell(t, value_at(t), covariates={"kind": "ab"[t % 3 % 2]})
        player.tell(t - 1, value_at(t), metrics={"p99_ms": 100.0 + t})
        player.tell(t - 3, failed=True)
        player.forget(t - 2)
    return trial


def test_covariates_are_replayed(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Opened anew for every ask, with trials open and snapshots between."""
    monkeypatch.setattr(session, "SNAPSHOT_EVERY", 7)
    twin, other = alone(tuner()), dikin.Study(url, "a", tuner())
    for t in range(40):
        with dikin.Study(url, "a", tuner()) as study:
            assert play(other if t % 3 == 0 else study, t) == play(twin, t)
            assert study.state() == other.state() == twin.state()
    assert other.verify() == 40 + 10 * 4
    ours, theirs = other.history(), twin.history()
    assert ours.dtype == theirs.dtype
    assert ours["covariate.kind"].tolist() == theirs["covariate.kind"].tolist()
    for name in ("covariate.load", "metric.p99_ms", "failed", "value", "expected"):
        assert np.array_equal(ours[name], theirs[name], equal_nan=True)
    assert other.status().failed == twin.summary().failed == 10
    assert other.trim(8) > 0
    assert other.state() == twin.state()
    other.close()


@pytest.mark.parametrize("lost", [AskArguments, Answer])
def test_a_replay_that_loses_them_is_another_tuner(
    file: str, lost: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutants of the test above: rows that lose what was known, or what was told besides."""
    study, read = dikin.Study(file, "a", tuner()), lost.read

    def forgetful(*arguments: Any) -> Any:
        return read(*arguments)._replace(covariates=None)

    for t in range(16):
        play(study, t)
    monkeypatch.setattr(lost, "read", forgetful)
    with pytest.raises(errors.StateError):
        study.verify()
    study.close()


# --- keys and repetitions ------------------------------------------------------------------------


def test_a_key_is_for_one_request(url: str) -> None:
    with dikin.Study(url, "a", tuner()) as study:
        first = study.ask(key="k", covariates={"load": 1, "hour": 2})
        again = study.ask(key="k", covariates={"hour": 2.0, "load": 1.0})  # in any order
        assert again == first
        assert again.covariates == {"hour": 2.0, "load": 1.0}
        for other in ({"covariates": {"load": 1}}, {}, {"covariates": {"load": 1, "hour": 3}}):
            with pytest.raises(errors.ParameterError, match="another context or covariates"):
                study.ask(key="k", **other)  # type: ignore[call-overload]
        with pytest.raises(errors.ParameterError, match="another context or covariates"):
            study.ask({"region": "eu"}, key="k", covariates={"load": 1, "hour": 2})
        assert len(study.open_queries) == 1


def test_the_same_answer_counts_once_and_another_is_refused(file: str) -> None:
    with dikin.Study(file, "a", tuner()) as study:
        trial = study.ask()
        told: dict[str, Any] = {"value": 4, "covariates": {"users": 8, "kind": "a"}}
        told["metrics"] = {"p99_ms": 187, "cpu": 0.5}
        study.tell(trial, **told)
        study.tell(
            trial.id,
            4.0,
            metrics={"cpu": 0.5, "p99_ms": np.float64(187)},
            covariates={"kind": "a", "users": 8.0},
        )
        for other in (
            told | {"covariates": {"users": 9}},
            told | {"metrics": {"p99_ms": 188}},
            {"value": 4.0},
            {"failed": True},
        ):
            with pytest.raises(errors.AnsweredError, match=r"already answered.*users"):
                study.tell(trial, **other)
        assert study.rounds == 1
        (record,) = study.records()
        assert record["covariates"] == {"kind": "a", "users": 8.0}
        assert (record["value"], record["metrics"]) == (4.0, {"cpu": 0.5, "p99_ms": 187.0})


def test_a_failure_counts_once(url: str) -> None:
    with dikin.Study(url, "a", tuner()) as study, dikin.Study(url, "a") as other:
        trial = study.ask()
        for player in (study, other, study):
            player.tell(trial, failed=True, covariates={"users": 8})
        for wrong in ({"value": 3.0}, {"failed": True}):
            with pytest.raises(errors.AnsweredError, match="failed"):
                other.tell(trial, **wrong)
        assert (study.rounds, study.status().failed) == (1, 1)
        (record,) = other.records()
        assert (record["value"], record["failed"]) == (None, True)
        assert np.isnan(study.history()["value"][0])
        assert study.verify() == 2


def test_limits_are_kept_through_a_replay(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "SNAPSHOT_EVERY", 7)

    def limited() -> dikin.Tuner:
        limits = ["p99_ms <= 200", "failed <= 0.2"]
        return dikin.Tuner(PARAMETERS | {"codec": dikin.Choice(["a", "b"])}, limits=limits, seed=3)

    twin = alone(limited())
    for t in range(30):
        with dikin.Study(file, "a", limited()) as study:
            ours, theirs = study.ask(), twin.ask()
            assert ours == theirs
            told: dict[str, Any] = {"value": value_at(t), "metrics": {"p99_ms": 150.0 + t}}
            for player in (study, twin):
                if t == 0:  # refused, and so nothing is written
                    with pytest.raises(errors.LossError, match="'p99_ms' has a limit"):
                        player.tell(0, 1.0)
                player.tell(t, **(told if t % 6 else {"failed": True}))
    with dikin.Study(file, "a") as study:
        assert study.state() == twin.state()
        assert study.verify() == 60
        assert str(study.recommend()) == str(twin.recommend())
        assert list(study.recommend().limits) == ["p99_ms <= 200", "failed <= 0.2"]


def test_what_is_refused_changes_nothing(file: str) -> None:
    twin = alone(tuner())
    with dikin.Study(file, "a", tuner()) as study:
        assert study.ask(covariates={"load": 1.0}) == twin.ask(covariates={"load": 1.0})
        for bad in ({"hour": "noon"}, {"load": float("nan")}, [1], {"": 1.0}):
            with pytest.raises(errors.CovariateError):
                study.ask(covariates=bad)  # type: ignore[call-overload]
            with pytest.raises(errors.CovariateError):
                study.tell(0, 1.0, covariates=bad)  # type: ignore[arg-type]
        with pytest.raises(errors.CovariateError, match=r"was 1\.0 when"):
            study.tell(0, 1.0, covariates={"load": 2.0})
        with pytest.raises(errors.ContextError, match="context"):
            study.ask({"region": "eu"})
        for wrong in ({"p99_ms": float("nan")}, {"p99_ms": "fast"}, {"failed": 1}, {3: 1}, [1.0]):
            with pytest.raises(errors.LossError):
                study.tell(0, 1.0, metrics=wrong)  # type: ignore[arg-type]
        with pytest.raises(errors.LossError, match="a failed trial has no value"):
            study.tell(0, 1.0, failed=True)
        with pytest.raises(errors.ParameterError, match="failed must be True or False"):
            study.tell(0, failed=1)  # type: ignore[arg-type]
        assert (study.state(), study.verify()) == (twin.state(), 1)


def test_a_covariate_of_another_kind_is_refused_however_late(file: str) -> None:
    """It was asked before the first one was told, and has the kind that was told first."""
    with dikin.Study(file, "a", tuner()) as study:
        number, word = study.ask(covariates={"load": 1.0}), study.ask(covariates={"load": "x"})
        study.tell(number, 3.0)
        before = study.state()
        with pytest.raises(errors.CovariateError, match="'load' is a number, got 'x'"):
            study.tell(word, 3.0)
        assert study.state() == before
        study.forget(word)
        assert study.verify() == 4


def test_another_declaration_is_another_study(file: str) -> None:
    dikin.Study(file, "a", tuner()).close()
    other = dikin.Tuner(PARAMETERS, maximize=True, covariates={"hour": None}, seed=3)
    with pytest.raises(errors.StudyExistsError, match="covariates"):
        dikin.Study(file, "a", other)


# --- commands ------------------------------------------------------------------------------------


def test_commands(file: str) -> None:
    flags = ["--param", "price=1:14:4", "--covariate", "hour=cycle:24", "--covariate", "kind=a,b"]
    assert command("create", "shop", *flags, "--url", file, "--seed", "7").exit_code == 0
    kinds = {"hour": dikin.Cycle(24), "kind": ["a", "b"]}
    made = dikin.Tuner({"price": dikin.Real(1, 14, start=4)}, covariates=kinds, seed=7)
    twin = alone(made, "shop")
    known = ("--covariate", "load=0.7", "--covariate", "hour=14", "--covariate", "kind=a")
    asked = command("ask", "shop", "--url", file, *known)
    assert json.loads(asked.output) == {
        "id": 0,
        "params": twin.ask(covariates={"load": 0.7, "hour": 14, "kind": "a"}).params,
    }
    told = command("tell", "shop", "0", "-3.5", "--url", file, "--covariate", "users=8")
    assert told.output == "told 0: 1 rounds\n"
    command("ask", "shop", "--url", file)
    more = ("--metric", "p99_ms=187", "--metric", "cpu=0.5")
    assert command("tell", "shop", "1", "3", *more, "--url", file).exit_code == 0
    command("ask", "shop", "--url", file)
    assert command("tell", "shop", "2", "--failed", "--url", file).exit_code == 0
    twin.tell(0, -3.5, covariates={"users": 8})
    twin.ask()
    twin.tell(1, 3.0, metrics={"cpu": 0.5, "p99_ms": 187.0})
    twin.ask()
    twin.tell(2, failed=True)
    with dikin.Study(file, "shop") as study:
        assert study.state() == twin.state()
    rows = list(csv.DictReader(io.StringIO(command("export", "shop", "--url", file).output)))
    assert rows[0]["covariate.kind"] == "a"
    assert rows[0]["covariate.users"] == "8.0"
    assert rows[2]["covariate.kind"] == ""
    assert [row["failed"] for row in rows] == ["False", "False", "True"]
    assert [row["metric.p99_ms"] for row in rows] == ["nan", "187.0", "nan"]
    assert command("recommend", "shop", "--url", file).output.startswith("expected value")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("ask", "shop", "--covariate", "load"), "NAME=VALUE"),
        (("ask", "shop", "--covariate", "a=1", "--covariate", "a=2"), "given twice"),
        (("ask", "shop", "--covariate", "a=nan"), "finite"),
        (("ask", "shop", "--context", "region=eu"), "declared without contexts"),
        (("tell", "shop", "0", "1", "--failed"), "tell a value or --failed, got both"),
        (("tell", "shop", "0"), "tell a value or --failed, got neither"),
        (("tell", "shop", "0", "1", "--metric", "p99_ms"), "NAME=VALUE"),
        (("tell", "shop", "0", "1", "--metric", "p99_ms=fast"), "'p99_ms' must be a finite number"),
        (("tell", "shop", "9", "1"), "never asked"),
        (("create", "x", "--param", "p=0:1", "--covariate", "hour=cycle:no"), "a number"),
        (("create", "x", "--covariate", "load"), "needs --param"),
        (("create", "x", "--param", "p=0:1", "--covariate", "kind=a,,b"), "--covariate wants"),
    ],
)
def test_commands_that_are_refused(file: str, arguments: tuple[str, ...], words: str) -> None:
    command("create", "shop", "--param", "price=1:14:4", "--url", file)
    command("ask", "shop", "--url", file)
    done = command(*arguments, "--url", file)
    assert done.exit_code == 2
    assert words in done.output
