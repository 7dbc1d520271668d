"""What is known of a round besides its setting: contexts, covariates, forecasts, the control.

A study keeps it, and replays it bit for bit.
"""

from __future__ import annotations

import csv
import io
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dikin
from dikin import errors
from dikin.studies import session
from dikin.studies.journal import Event
from dikin.studies.replica import Replica
from dikin.studies.rows import Answer, AskArguments
from dikin.studies.spec import tuner_from_spec
from dikin.worth import is_held_back
from studies.small import command, fresh, sharing

PRICE = {"price": dikin.Real(1, 14, start=4)}
CONTEXT = {"region": ["eu", "us"], "hour": dikin.Cycle(24), "load": (0, 1)}


def in_context(context: Any = CONTEXT, **options: Any) -> dikin.Tuner:
    parameters = PRICE | {"level": dikin.Integer(1, 9)}
    return dikin.Tuner(parameters, context=context, seed=3, **options)


def tuner(**options: Any) -> dikin.Tuner:
    parameters = PRICE | {"ads": dikin.Real(0, 60, start=40)}
    return dikin.Tuner(parameters, maximize=True, seed=3, **options)


def explained() -> dikin.Tuner:
    return tuner(covariates={"hour": dikin.Cycle(24)})


def compared(**more: Any) -> dikin.Tuner:
    return tuner(**{"holdback": 0.3, "guard": 0.02} | more)


def place(t: int) -> dict[str, Any]:
    return {"region": ("eu", "us")[t % 2], "load": (t % 5) / 4, "hour": 5 * t}


def value_at(t: int) -> float:
    return 12.0 + (7.0 * t) % 5


def play_in_context(player: Any, t: int) -> Any:
    """With a covariate besides; some trials are answered late, one is forgotten."""
    trial = player.ask(context=place(t), covariates={"queue": t % 3} if t % 5 else None)
    assert list(trial.context) == list(CONTEXT)
    if t % 4 == 3:
        player.tell(t, value_at(t))
        player.tell(t - 3, value_at(2 * t))
        player.forget(t - 2)
    return trial


def play_explained(player: Any, t: int) -> Any:
    """With forecasts besides; a pair of trials is answered late, the younger one first."""
    known = {"load": (3.0 * t) % 7, "hour": t % 24} if t % 5 else None
    trial = player.ask(covariates=known, forecast=12.0 + t % 5 if t % 3 else None)
    if t % 4 == 3:
        player.tell(t, value_at(t), covariates={"kind": "ab"[t % 3 % 2]})
        player.tell(t - 1, values=[value_at(t), value_at(t) + 1])
        player.tell(t - 3, value_at(t), sem=0.5)
        player.forget(t - 2)
    return trial


def play_compared(player: Any, t: int) -> Any:
    """Trials are answered late, some never."""
    trial = player.ask(covariates={"load": (3.0 * t) % 7} if t % 5 else None)
    waiting = player.open_queries
    if len(waiting) > 3:
        old = waiting[t % 3]
        if t % 11:
            player.tell(old.id, (500.0 if is_held_back("3", old.id, 0.3) else 350.0) + t % 5)
        else:
            player.forget(old.id)
    return trial


REPLAYS: dict[str, tuple[Any, Any, int]] = {
    "contexts": (in_context, play_in_context, 40 + 10 * 3),
    "covariates and forecasts": (explained, play_explained, 40 + 10 * 4),
    "holdback": (compared, play_compared, 40 + 37),
    "holdback, range": (lambda: compared(value_range=(340, 510)), play_compared, 40 + 37),
}
"""A tuner, how it is played, and the rows of 40 rounds."""


@pytest.mark.parametrize("what", REPLAYS)
def test_it_is_replayed(url: str, what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Opened anew for every ask, with trials open and snapshots between."""
    monkeypatch.setattr(session, "SNAPSHOT_EVERY", 7)
    make, play, rows = REPLAYS[what]
    twin, other = make(), dikin.Study(url, "a", make())
    for t in range(40):
        with dikin.Study(url, "a", make()) as study:
            ours, theirs = play(other if t % 3 == 0 else study, t), play(twin, t)
            assert ours == theirs
            assert (ours.context, ours.held_back) == (theirs.context, theirs.held_back)
            assert study.state() == other.state() == twin.state()
    assert other.verify() == rows
    mine, table = other.history(), twin.history()
    assert mine.dtype == table.dtype
    for name in table.dtype.names or ():
        np.testing.assert_array_equal(mine[name], table[name])
    status, summary = other.status(), twin.summary()
    assert repr(status.uplift) == repr(summary.uplift)
    assert status.by_context == summary.by_context
    assert repr(status.explained) == repr(summary.explained)
    if what == "contexts":
        assert other.best_for(place(1)) == twin.best_for(place(1))
    assert other.trim(8) > 0
    assert other.state() == twin.state()
    assert len(other.history()) == other.rounds - 7
    other.close()


@pytest.mark.parametrize(
    ("what", "rows", "lost"),
    [
        ("contexts", AskArguments, {"context": {"region": "eu", "hour": 0.0, "load": 0.0}}),
        ("covariates and forecasts", AskArguments, {"covariates": None}),
        ("covariates and forecasts", AskArguments, {"forecast": None}),
        ("covariates and forecasts", Answer, {"covariates": None}),
    ],
)
def test_a_replay_that_loses_it_is_another_tuner(
    file: str, what: str, rows: Any, lost: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutants of the test above: rows that lose what was known, or what was told besides."""
    (make, play, _), read = REPLAYS[what], rows.read
    with dikin.Study(file, "a", make()) as study:
        for t in range(16):
            play(study, t)
        monkeypatch.setattr(rows, "read", lambda *given: read(*given)._replace(**lost))
        with pytest.raises(errors.StateError):
            study.verify()


def test_rows_of_asks() -> None:
    """As they were before there were forecasts, but for those that have one."""
    for known, more in (
        (AskArguments.of(None, None), ""),
        (AskArguments.of(None, np.float32(0.5)), ', "forecast": 0.5'),
        (AskArguments.of(None, Decimal("0.1")), ', "forecast": 0.1'),
        (
            AskArguments.of({"region": "eu", "hour": 3}, None),
            ', "context": {"items": {"hour": 3.0, "region": "eu"}}',
        ),
        (
            AskArguments.of(None, 1, {"load": 3, "kind": 'a, "b'}),
            ', "forecast": 1.0, "covariates": {"kind": "a, \\"b", "load": 3.0}',
        ),
    ):
        body = f'{{"point": [0.25, 1.0]{more}}}'
        assert known.text() == more
        assert AskArguments.read(body).text() == more
        replayed = Replica(fresh(), {}, 0, "")
        replayed._advance(Event(1, "ask", 0, "me#1", 0, body, ""), known)
        assert replayed.asked[0].point == "[0.25, 1.0]"


OTHERS: list[tuple[Any, Any, str]] = [
    (in_context, lambda: in_context(None), r"context.*'region': \['eu', 'us'\]"),
    (in_context, lambda: in_context({"region": ["eu", "us"]}), r"context.*'region': \['eu', 'us'"),
    (in_context, lambda: in_context(CONTEXT | {"load": (0, 2)}), r"context.*'region': \['eu', 'us"),
    (in_context, lambda: in_context(memory=500), r"'memory': 'auto'.* not .*'memory': 500"),
    (explained, lambda: tuner(covariates={"hour": None}), "covariates"),
    (compared, lambda: compared(holdback=0.2), "comparison"),
    (compared, lambda: compared(guard=None), "comparison"),
    (compared, lambda: compared(control={"price": 5}), "comparison"),
]


@pytest.mark.parametrize(("make", "other", "words"), OTHERS)
def test_another_declaration_is_another_tuner(file: str, make: Any, other: Any, words: str) -> None:
    dikin.Study(file, "a", make()).close()
    with pytest.raises(errors.StudyExistsError, match=words):
        dikin.Study(file, "a", other())


# --- keys, repetitions, refusals -----------------------------------------------------------------


def test_a_key_is_for_one_request(url: str) -> None:
    with dikin.Study(url, "a", explained()) as study:
        first = study.ask(key="k", covariates={"load": 1, "hour": 2})
        again = study.ask(key="k", covariates={"hour": 2.0, "load": 1.0})  # in any order
        assert again == first
        assert again.covariates == {"hour": 2.0, "load": 1.0}
        for other in ({"covariates": {"load": 1}}, {}, {"covariates": {"load": 1, "hour": 3}}):
            with pytest.raises(errors.ParameterError, match="forecast, context or covariates"):
                study.ask(key="k", **other)  # type: ignore[call-overload]
        with pytest.raises(errors.ParameterError, match="forecast, context or covariates"):
            study.ask({"region": "eu"}, key="k", covariates={"load": 1, "hour": 2})
        assert len(study.open_queries) == 1
    with dikin.Study(url, "b", in_context()) as study:
        asked = study.ask(context=place(1), key="k")
        assert study.ask(context=place(1), key="k") == asked
        with pytest.raises(errors.ParameterError, match="context"):
            study.ask(context=place(2), key="k")


def test_the_same_answer_counts_once_and_another_is_refused(file: str) -> None:
    with dikin.Study(file, "a", explained()) as study:
        trial = study.ask()
        told: dict[str, Any] = {"values": [3.0, 5.0], "covariates": {"users": 8, "kind": "a"}}
        study.tell(trial, **told)
        study.tell(trial, 4.0, sem=1.0, covariates={"kind": "a", "users": 8.0})
        for other in ({"values": [3.0, 5.0]}, told | {"covariates": {"users": 9}}, {"value": 4.0}):
            with pytest.raises(errors.AnsweredError, match=r"already answered.*users"):
                study.tell(trial, **other)
        assert study.rounds == 1
        (record,) = study.records()
        assert record["covariates"] == {"kind": "a", "users": 8.0}
        assert (record["value"], record["sem"]) == (4.0, 1.0)


def test_what_is_refused_changes_nothing(file: str) -> None:
    twin = explained()
    with dikin.Study(file, "a", twin) as study:
        assert study.ask(covariates={"load": 1.0}) == twin.ask(covariates={"load": 1.0})
        for bad in ({"load": "x"}, {"load": float("nan")}, [1], {"hour": "noon"}):
            with pytest.raises(errors.CovariateError):
                study.ask(covariates=bad)  # type: ignore[call-overload]
            with pytest.raises(errors.CovariateError):
                study.tell(0, 1.0, covariates=bad)  # type: ignore[arg-type]
        with pytest.raises(errors.CovariateError, match=r"was 1\.0 when"):
            study.tell(0, 1.0, covariates={"load": 2.0})
        with pytest.raises(errors.FeedbackError, match="context"):
            study.ask({"region": "eu"})
        with pytest.raises(errors.LossError, match="at least 0"):
            study.tell(0, 1.0, sem=-1)
        with pytest.raises(errors.LossError, match="told alone"):
            study.tell(0, 1.0, values=[1.0])
        assert (study.state(), study.verify()) == (twin.state(), 1)
    with dikin.Study(file, "b", in_context()) as study:
        play_in_context(study, 0)
        before = study.state()
        for bad in (None, {"region": "eu"}, place(0) | {"region": "mars"}, place(0) | {"load": 2}):
            with pytest.raises(errors.ContextError):
                study.ask(context=bad)  # type: ignore[call-overload]
            with pytest.raises(errors.ContextError):
                study.best_for(bad)  # type: ignore[arg-type]
        assert study.state() == before


# --- the control ---------------------------------------------------------------------------------


def test_the_coins_of_a_study_are_those_of_its_key(file: str) -> None:
    with dikin.Study(file, "a", dikin.Tuner(PRICE, seed=11, holdback=0.3)) as study:
        first = [study.ask(key=f"request {id}").held_back for id in range(20)]
    with dikin.Study(file, "a") as study:
        again = [study.ask(key=f"request {id}").held_back for id in range(20)]
    assert first == again == [is_held_back("11", id, 0.3) for id in range(20)]


def test_a_guard_holds_for_all_clients_until_somebody_resumes(file: str) -> None:
    with sharing(file, "a", compared(), seconds=0.3) as study:
        for t in range(200):
            trial = study.ask()
            study.tell(trial, (500.0 if trial.held_back else 350.0) + (7.0 * t) % 5)
        assert study.held
        status = study.status()
        assert status.guard_reason
        assert status.guard_reason in status.warnings[0]
    with dikin.Study(file, "a", compared()) as other:
        assert other.held
        assert other.ask().params == {"price": 4.0, "ads": 40.0}
        assert other.status().guard_reason == status.guard_reason
        other.resume()
        assert not other.held
        assert other.status().guard_reason is None
    with dikin.Study(file, "a") as again:
        assert not again.held
        assert again.verify() == 402
        assert again.status().from_json(again.status().to_json()).uplift == again.uplift
    with (
        dikin.Study(file, "plain", dikin.Tuner(PRICE, seed=1)) as study,
        pytest.raises(errors.StateError, match=r"holdback=0\.05"),
    ):
        _ = study.uplift


# --- commands ------------------------------------------------------------------------------------


def test_commands_with_contexts(file: str) -> None:
    flags = ["--param", "price=1:14:4", "--param", "level=1:9:int", "--seed", "3"]
    flags += ["--context", "region=eu,us", "--context", "hour=cycle:24", "--context", "load=0..1"]
    assert command("create", "fleet", *flags, "--url", file).exit_code == 0
    here = ("--context", "region=us", "--context", "hour=14", "--context", "load=1")
    twin, there = in_context(), {"region": "us", "hour": 14, "load": 1}
    asked = command("ask", "fleet", *here, "--url", file)
    assert json.loads(asked.output) == {"id": 0, "params": twin.ask(context=there).params}
    assert command("tell", "fleet", "0", "2.5", "--url", file).exit_code == 0
    twin.tell(0, 2.5)
    found = command("best", "fleet", *here, "--url", file)
    assert json.loads(found.output) == twin.best_for(there)
    with dikin.Study(file, "fleet", in_context()) as study:
        assert study.state() == twin.state()
    rows = list(csv.DictReader(io.StringIO(command("export", "fleet", "--url", file).output)))
    assert (rows[0]["context.region"], rows[0]["context.hour"]) == ("us", "14.0")
    shown = command("show", "fleet", "--url", file).output
    assert "\neu, 12, 1" in shown
    assert "\nand 8 more" in shown
    command("create", "one", "--param", "price=1:14:4", "--url", file)
    assert json.loads(command("best", "one", "--url", file).output) == {"price": 4}


def test_commands_with_covariates(file: str) -> None:
    flags = ["--param", "price=1:14:4", "--covariate", "hour=cycle:24", "--covariate", "kind=a,b"]
    assert command("create", "shop", *flags, "--url", file, "--seed", "7").exit_code == 0
    twin = dikin.Tuner(PRICE, covariates={"hour": dikin.Cycle(24), "kind": ["a", "b"]}, seed=7)
    known = ("--covariate", "load=0.7", "--covariate", "hour=14", "--covariate", "kind=a")
    asked = command("ask", "shop", "--url", file, *known)
    assert json.loads(asked.output) == {
        "id": 0,
        "params": twin.ask(covariates={"load": 0.7, "hour": 14, "kind": "a"}).params,
    }
    told = command("tell", "shop", "0", "-3.5", "--url", file, "--covariate", "users=8")
    assert told.output == "told 0: 1 rounds\n"
    twin.tell(0, -3.5, covariates={"users": 8})
    for id, words, more in ((1, "3 5", {"values": [3, 5]}), (2, "4 --sem 0.5", {"sem": 0.5})):
        command("ask", "shop", "--url", file)
        assert command("tell", "shop", f"{id}", *words.split(), "--url", file).exit_code == 0
        twin.ask()
        twin.tell(id, **({} if "values" in more else {"value": 4.0}) | more)
    with dikin.Study(file, "shop") as study:
        assert study.state() == twin.state()
    rows = list(csv.DictReader(io.StringIO(command("export", "shop", "--url", file).output)))
    assert (rows[0]["covariate.kind"], rows[0]["covariate.users"]) == ("a", "8.0")
    assert (rows[2]["covariate.kind"], rows[2]["sem"]) == ("", "0.5")


def test_commands_with_a_holdback(file: str, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    create = ["create", "a", "--url", file, "--param", "price=1:14:4", "--holdback", "0.2"]
    more = ["--control", "price=5", "--guard", "0.02", "--maximize"]
    assert command(*create, *more).exit_code == 0
    with dikin.Study(file, "a") as study:
        status = study.status()
        assert (status.holdback, status.guard) == (0.2, 0.02)
        assert status.control == {"price": 5.0}
        for _ in range(3):
            study.tell(study.ask(), 3.0)
    assert "uplift" in command("show", "a", "--url", file).output
    assert command("report", "a", "--url", file, "--out", str(page)).exit_code == 0
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("ask", "shop", "--covariate", "load"), "NAME=VALUE"),
        (("ask", "shop", "--covariate", "a=1", "--covariate", "a=2"), "given twice"),
        (("ask", "shop", "--covariate", "a=nan"), "finite"),
        (("ask", "shop", "--context", "region=eu"), "declared without contexts"),
        (("tell", "shop", "0", "1", "--sem", "-1"), "at least 0"),
        (("tell", "shop", "9", "1"), "never asked"),
    ],
)
def test_commands_that_are_refused(file: str, arguments: tuple[str, ...], words: str) -> None:
    command("create", "shop", "--param", "price=1:14:4", "--url", file)
    command("ask", "shop", "--url", file)
    done = command(*arguments, "--url", file)
    assert done.exit_code == 2
    assert words in done.output


@pytest.mark.parametrize(
    ("given", "memory"),
    [
        ((), "auto"),
        (("--memory", "auto"), "auto"),
        (("--memory", "none"), None),
        (("--memory", "4000"), 4000),
    ],
)
def test_the_memory_of_a_command_and_of_a_description(
    file: str, given: tuple[str, ...], memory: Any
) -> None:
    assert command("create", "x", "--param", "p=0:1", *given, "--url", file).exit_code == 0
    with dikin.Study(file, "x") as study:
        assert study.state()["learner"]["arguments"]["memory"] == memory
    described = {"tuner": {"p": {"low": 0, "high": 1}}} | ({"memory": memory} if given else {})
    assert tuner_from_spec(described).learner.memory == memory
    dikin.Study(file, "x", tuner_from_spec(described)).close()


def test_the_figure_of_a_study_shows_the_settings(file: str) -> None:
    with dikin.Study(file, "a", in_context({"region": ["eu", "us"]})) as study:
        for t in range(12):
            study.tell(study.ask(context={"region": ("eu", "us")[t % 2]}), float(t % 2))
        axes = study.plot().axes
        tops = [bar.get_y() + bar.get_height() for bar in axes[-2].patches]
        wanted = [study.best_for({"region": region})["price"] for region in ("eu", "us")]
        assert tops == pytest.approx(wanted)
