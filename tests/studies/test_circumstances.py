"""Contexts, covariates, failures and rounds held back; test_facts.py has what is learnt."""

import csv
import io
import json
from typing import Any

import pytest

import dikin
from dikin import errors
from studies.small import alone, command, sharing, state_of

PRICE = {"price": dikin.Real(1, 14, start=4)}
CONTEXT = {"region": ["eu", "us"], "hour": dikin.Cycle(24), "load": (0, 1)}
HERE = {"region": "us", "hour": 14.0, "load": 1.0}


def tuner() -> dikin.Tuner:
    """A price, where contexts and two covariates are declared."""
    covariates = {"queue": dikin.Cycle(24), "kind": ["a", "b"]}
    return dikin.Tuner(PRICE, context=CONTEXT, covariates=covariates, seed=3)


def test_what_is_refused_changes_nothing(file: str) -> None:
    twin = alone(tuner())
    with dikin.Study(file, "a", tuner()) as study:
        assert study.ask(HERE, covariates={"x": 1.0}) == twin.ask(HERE, covariates={"x": 1.0})
        for bad in (None, {"region": "eu"}, HERE | {"region": "mars"}, HERE | {"load": 2}):
            with pytest.raises(errors.ContextError):
                study.ask(bad)
            with pytest.raises(errors.ContextError):
                study.best_for(bad)
        for wrong in ({"queue": "noon"}, {"x": float("nan")}, [1], {"": 1.0}):
            with pytest.raises(errors.CovariateError):
                study.ask(HERE, covariates=wrong)  # type: ignore[call-overload]
            with pytest.raises(errors.CovariateError):
                study.tell(0, 1.0, covariates=wrong)  # type: ignore[arg-type]
        with pytest.raises(errors.CovariateError, match=r"was 1\.0 when"):
            study.tell(0, 1.0, covariates={"x": 2.0})
        assert (state_of(study), study.verify().rows) == (state_of(twin), 1)
        asked = study.ask(HERE, key="k")
        assert study.ask(HERE, key="k") == asked
        with pytest.raises(errors.ParameterError, match="context"):
            study.ask(HERE | {"hour": 3}, key="k")


def test_a_covariate_of_another_kind_is_refused_however_late(file: str) -> None:
    """It was asked before the first one was told, and has the kind that was told first."""
    with dikin.Study(file, "a", dikin.Tuner(PRICE, seed=3)) as study:
        number, word = study.ask(covariates={"load": 1.0}), study.ask(covariates={"load": "x"})
        study.tell(number, 3.0)
        before = study.state()
        words = r"'load' must be a finite number .* got 'x'"
        with pytest.raises(errors.CovariateError, match=words):
            study.tell(word, 3.0)
        assert study.state() == before
        study.forget(word)
        assert study.verify().rows == 4


def test_the_best_setting_is_one_for_each_context(file: str) -> None:
    with dikin.Study(file, "a", tuner()) as study:
        study.ask(HERE)
        with pytest.raises(errors.StateError, match=r"best_for.*region, hour, load"):
            _ = study.best
        found, best = study.recommend(HERE), study.best_for(HERE)
        assert found.params["price"] == pytest.approx(best["price"])
        assert study.status().best_value is None


def test_commands(file: str) -> None:
    where = ("--url", file)
    declared = ("region=eu,us", "hour=cycle:24", "load=0..1")
    flags = [word for each in declared for word in ("--context", each)]
    flags += ["--covariate", "queue=cycle:24", "--covariate", "kind=a,b", "--seed", "3"]
    made = command("create", "fleet", "--param", "price=1:14:4", *flags, *where)
    assert made.exit_code == 0
    twin = alone(tuner(), "fleet")
    here = ("--context", "region=us", "--context", "hour=14", "--context", "load=1")
    known = ("--covariate", "x=0.7", "--covariate", "queue=14", "--covariate", "kind=a")
    asked = command("ask", "fleet", *here, *known, *where)
    trial = twin.ask(HERE, covariates={"x": 0.7, "queue": 14, "kind": "a"})
    assert json.loads(asked.output) == {"id": 0, "params": trial.params}
    answers: dict[tuple[str, ...], dict[str, Any]] = {
        ("-3.5", "--covariate", "users=8"): {"value": -3.5, "covariates": {"users": 8}},
        ("3", "--metric", "p99_ms=187", "--metric", "cpu=0.5"): {
            "value": 3.0,
            "metrics": {"cpu": 0.5, "p99_ms": 187.0},
        },
        ("--failed",): {"failed": True},
    }
    for words, told in answers.items():
        assert command("tell", "fleet", str(trial.id), *words, *where).output == "recorded\n"
        twin.tell(trial, **told)
        command("ask", "fleet", *here, *where)
        trial = twin.ask(HERE)
    with dikin.Study(file, "fleet") as study:
        assert state_of(study) == state_of(twin)
    assert json.loads(command("best", "fleet", *here, *where).output) == twin.best_for(HERE)
    first, *rest = csv.DictReader(io.StringIO(command("export", "fleet", *where).output))
    assert (first["context.region"], first["context.hour"]) == ("us", "14.0")
    assert (first["covariate.kind"], first["covariate.users"]) == ("a", "8.0")
    assert [row["covariate.kind"] for row in rest] == ["", ""]
    assert [row["failed"] for row in (first, *rest)] == ["False", "False", "True"]
    assert [row["metric.p99_ms"] for row in (first, *rest)] == ["nan", "187.0", "nan"]
    shown = command("show", "fleet", *where).output
    assert "\neu, 12, 1" in shown
    assert len([line for line in shown.splitlines() if line.startswith(("eu, ", "us, "))]) == 16
    worth = ("--holdback", "0.2", "--control", "price=5", "--guard", "0.02", "--maximize")
    command("create", "one", "--param", "price=1:14:4", *worth, *where)
    assert json.loads(command("best", "one", *where).output) == {"price": 4}
    assert command("recommend", "one", *where).output.startswith("expected value")
    with dikin.Study(file, "one") as study:
        status = study.status()
        assert (status.holdback, status.guard) == (0.2, 0.02)
        assert status.control == {"price": 5.0}
        for _ in range(3):
            study.tell(study.ask(), 3.0)
    assert "uplift" in command("show", "one", *where).output
    assert "0 of 20 answers of the control" in command("uplift", "one", *where).output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("ask", "shop", "--covariate", "load"), "NAME=VALUE"),
        (("ask", "shop", "--covariate", "a=1", "--covariate", "a=2"), "given twice"),
        (("ask", "shop", "--covariate", "a=nan"), "finite"),
        (("ask", "shop", "--context", "region=eu"), "declared without contexts"),
        (("tell", "shop", "0", "1", "--failed"), "a failed trial has no value"),
        (("tell", "shop", "0"), "must be a finite number"),
        (("tell", "shop", "0", "1", "--metric", "p99_ms"), "NAME=VALUE"),
        (("tell", "shop", "0", "1", "--metric", "p99_ms=fast"), "'p99_ms' must be a finite number"),
        (("tell", "shop", "9", "1"), "never asked"),
    ],
)
def test_commands_that_are_refused(file: str, arguments: tuple[str, ...], words: str) -> None:
    command("create", "shop", "--param", "price=1:14:4", "--url", file)
    command("ask", "shop", "--url", file)
    done = command(*arguments, "--url", file)
    assert done.exit_code == 2
    assert words in done.output


def compared(**more: Any) -> dikin.Tuner:
    arguments: dict[str, Any] = {"holdback": 0.3, "guard": 0.02, "seed": 3}
    return dikin.Tuner(PRICE, maximize=True, **arguments | more)


def test_a_guard_holds_for_all_clients_until_somebody_resumes(file: str) -> None:
    with sharing(file, "a", compared()) as study:
        for t in range(200):
            trial = study.ask()
            study.tell(trial, (500.0 if trial.held_back else 350.0) + (7.0 * t) % 5)
        assert study.paused
        status = study.status()
        assert status.guard_reason
        assert status.guard_reason in status.warnings[0]
    with dikin.Study(file, "a", compared()) as other:
        assert other.paused
        assert other.ask().params == {"price": 4.0}
        assert other.status().guard_reason == status.guard_reason
        other.resume()
        assert not other.paused
        assert other.status().guard_reason is None
    with dikin.Study(file, "a") as again:
        assert not again.paused
        assert again.verify().rows == 402
        assert again.status().from_json(again.status().to_json()).uplift == again.uplift
