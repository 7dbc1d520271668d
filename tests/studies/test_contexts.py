"""Contexts of a study: declarations, refusals, commands and figures; test_facts.py has the rest."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest

import dikin
from dikin import errors
from studies.small import alone, command, state_of

PARAMETERS = {"price": dikin.Real(1, 14, start=4), "level": dikin.Integer(1, 9)}
CONTEXT = {"region": ["eu", "us"], "hour": dikin.Cycle(24), "load": (0, 1)}
FLAGS = ("--context", "region=eu,us", "--context", "hour=cycle:24", "--context", "load=0..1")


def tuner(context: Any = CONTEXT, **options: Any) -> dikin.Tuner:
    return dikin.Tuner(PARAMETERS, context=context, seed=3, **options)


def place(t: int) -> dict[str, Any]:
    return {"region": ("eu", "us")[t % 2], "load": (t % 5) / 4, "hour": 5 * t}


def play(player: Any, t: int) -> Any:
    return player.ask(context=place(t), covariates={"queue": t % 3} if t % 5 else None)


def test_what_is_refused_leaves_a_study_as_it_was(file: str) -> None:
    with dikin.Study(file, "a", tuner()) as study:
        play(study, 0)
        before = study.state()
        for bad in (None, {"region": "eu"}, place(0) | {"region": "mars"}, place(0) | {"load": 2}):
            with pytest.raises(errors.ContextError):
                study.ask(context=bad)
            with pytest.raises(errors.ContextError):
                study.best_for(bad)
        assert study.state() == before
        asked = study.ask(context=place(1), key="k")
        assert study.ask(context=place(1), key="k") == asked
        with pytest.raises(errors.ParameterError, match="context"):
            study.ask(context=place(2), key="k")


def test_commands(file: str) -> None:
    flags = ["--param", "price=1:14:4", "--param", "level=1:9:int", *FLAGS, "--seed", "3"]
    assert command("create", "fleet", *flags, "--url", file).exit_code == 0
    twin, here = (
        alone(tuner(), "fleet"),
        ("--context", "region=us", "--context", "hour=14", "--context", "load=1"),
    )
    there = {"region": "us", "hour": 14, "load": 1}
    asked = command("ask", "fleet", *here, "--url", file)
    assert json.loads(asked.output) == {"id": 0, "params": twin.ask(context=there).params}
    assert command("tell", "fleet", "0", "2.5", "--url", file).exit_code == 0
    twin.tell(0, 2.5)
    found = command("best", "fleet", *here, "--url", file)
    assert json.loads(found.output) == twin.best_for(there)
    with dikin.Study(file, "fleet", tuner()) as study:
        assert state_of(study) == state_of(twin)
    rows = list(csv.DictReader(io.StringIO(command("export", "fleet", "--url", file).output)))
    assert (rows[0]["context.region"], rows[0]["context.hour"]) == ("us", "14.0")
    shown = command("show", "fleet", "--url", file).output
    assert "\neu, 12, 1" in shown
    assert len([line for line in shown.splitlines() if line.startswith(("eu, ", "us, "))]) == 16
    command("create", "one", "--param", "price=1:14:4", "--url", file)
    assert json.loads(command("best", "one", "--url", file).output) == {"price": 4}


def test_the_best_setting_is_one_for_each_context(file: str) -> None:
    with dikin.Study(file, "a", tuner()) as study:
        play(study, 0)
        with pytest.raises(errors.StateError, match=r"best_for.*region, hour, load"):
            _ = study.best
        found, best = study.recommend(place(0)), study.best_for(place(0))
        assert found.params["price"] == pytest.approx(best["price"])
        assert study.status().best_value is None
