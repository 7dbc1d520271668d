"""Covariates, metrics and failures of a study; test_facts.py has what is learnt from them."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import numpy as np
import pytest

import dikin
from dikin import errors
from studies.small import alone, command, state_of

PARAMETERS = {"price": dikin.Real(1, 14, start=4), "ads": dikin.Real(0, 60, start=40)}


def tuner() -> dikin.Tuner:
    kinds = {"hour": dikin.Cycle(24)}
    return dikin.Tuner(PARAMETERS, maximize=True, covariates=kinds, seed=3)


# --- keys and repetitions ------------------------------------------------------------------------


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
        assert study.verify().rows == 2


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
        assert (state_of(study), study.verify().rows) == (state_of(twin), 1)


def test_a_covariate_of_another_kind_is_refused_however_late(file: str) -> None:
    """It was asked before the first one was told, and has the kind that was told first."""
    with dikin.Study(file, "a", tuner()) as study:
        number, word = study.ask(covariates={"load": 1.0}), study.ask(covariates={"load": "x"})
        study.tell(number, 3.0)
        before = study.state()
        words = r"'load' must be a finite number .* got 'x'"
        with pytest.raises(errors.CovariateError, match=words):
            study.tell(word, 3.0)
        assert study.state() == before
        study.forget(word)
        assert study.verify().rows == 4


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
    assert told.output == "recorded\n"
    command("ask", "shop", "--url", file)
    more = ("--metric", "p99_ms=187", "--metric", "cpu=0.5")
    assert command("tell", "shop", "2", "3", *more, "--url", file).exit_code == 0
    command("ask", "shop", "--url", file)
    assert command("tell", "shop", "4", "--failed", "--url", file).exit_code == 0
    twin.tell(0, -3.5, covariates={"users": 8})
    twin.tell(twin.ask(), 3.0, metrics={"cpu": 0.5, "p99_ms": 187.0})
    twin.tell(twin.ask(), failed=True)
    with dikin.Study(file, "shop") as study:
        assert state_of(study) == state_of(twin)
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
        (("tell", "shop", "0", "1", "--failed"), "a failed trial has no value"),
        (("tell", "shop", "0"), "must be a number"),
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
