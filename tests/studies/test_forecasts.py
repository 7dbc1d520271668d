"""A study keeps the forecasts that were given to its asks, and refuses what is none."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
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
from dikin.studies.rows import AskArguments
from studies.small import fresh

BOX = dikin.Box([0, 0], [10, 2])
FORECASTING = {
    "plain": lambda: dikin.Predictive(BOX, loss_range=(0, 40), seed=3),
    "range unknown": lambda: dikin.Predictive(BOX, seed=3),
    "start and memory": lambda: dikin.Predictive(BOX, 0.5, start=[4, 0.5], memory=20, seed=3),
}


def forecast_at(t: int) -> float | None:
    return None if t % 3 == 0 else 12.0 + t % 5


def play_forecast(player: Any, t: int) -> dikin.Query:
    """Ask with a forecast; a pair of queries is answered late, the younger one first."""
    query: dikin.Query = player.ask(forecast=forecast_at(t))
    if t % 4 == 3:
        for late in (t, t - 1):
            player.tell(late, 12.0 + (7.0 * late) % 5)
        player.forget(t - 2)
    return query


@pytest.mark.parametrize("make", FORECASTING.values(), ids=FORECASTING)
def test_a_forecast_is_replayed(url: str, make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Opened anew for every ask, with queries open and snapshots between."""
    monkeypatch.setattr(session, "SNAPSHOT_EVERY", 7)
    twin, other = make(), dikin.Study(url, "a", make())
    for t in range(32):
        with dikin.Study(url, "a", make()) as study:
            assert play_forecast(other if t % 3 == 0 else study, t) == play_forecast(twin, t)
            assert study.state() == other.state() == twin.state()
    assert other.verify() == 32 + 8 * 3
    assert other.trim(8) > 0
    assert other.state() == twin.state()
    assert len(other.history()) == other.rounds - 7
    other.close()
    with dikin.Study(url, "a") as study:
        assert study.ask(forecast=13.0) == twin.ask(forecast=13.0)
        assert study.state() == twin.state()


def test_a_replay_without_the_forecast_is_another_learner(
    file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant of the test above: rows that lose it."""
    twin = FORECASTING["plain"]()
    study = dikin.Study(file, "a", twin)
    monkeypatch.setattr(AskArguments, "read", lambda _: AskArguments(None, None))
    for t in range(8):
        play_forecast(study, t)
        play_forecast(twin, t)
    assert study.state() == twin.state()
    with pytest.raises(errors.StateError, match="forecast"):
        study.verify()
    study.close()


def test_rows_of_asks() -> None:
    """As they were before there were forecasts, but for those that have one."""
    for known, more in (
        (AskArguments.of(None, None), ""),
        (AskArguments.of([1, 2.5], None), ', "context": [1.0, 2.5]'),
        (AskArguments.of(None, np.float32(0.5)), ', "forecast": 0.5'),
        (AskArguments.of(None, Decimal("0.1")), ', "forecast": 0.1'),
        (
            AskArguments.of(np.array([1]), 1),
            ', "context": {"array": [1.0], "shape": [1]}, "forecast": 1.0',
        ),
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
        asked = Event(1, "ask", 0, "me#1", 0, body, "")
        replayed = Replica(fresh(), {}, 0, "")
        replayed._advance(asked, known)
        assert replayed.asked[0].point == "[0.25, 1.0]"


REFUSED: list[Any] = [float("nan"), float("inf"), "12", [12.0], (1, 2), True, np.True_, 1j, {}]
REFUSED += [10**400, 1e200, np.array([1.0])]


@pytest.mark.parametrize("forecast", REFUSED, ids=lambda value: repr(value)[:9])
@pytest.mark.parametrize("waits", [0.0, 0.3])
def test_a_refused_forecast_changes_nothing(file: str, forecast: Any, waits: float) -> None:
    twin = FORECASTING["plain"]()
    with dikin.Study(file, "a", twin, commit_within=waits) as study:
        assert study.ask(forecast=3.0) == twin.ask(forecast=3.0)
        with pytest.raises(errors.FeedbackError):
            study.ask(forecast=forecast)
        assert (study.state(), study.verify()) == (twin.state(), 1)
        assert study.ask(forecast=np.float64(4.0)) == twin.ask(forecast=4.0)


@pytest.mark.parametrize("loss_range", [(0, 1e-60), None])
def test_an_absurd_forecast_ruins_nothing(
    file: str, loss_range: tuple[float, float] | None
) -> None:
    """Its square would overflow, or it would carry the mixture away."""
    learner = dikin.Predictive(BOX, loss_range=loss_range, seed=3)
    losses = [t % 7 * 1e-61 for t in range(40)]
    with dikin.Study(file, "a", learner) as study:
        for t, loss in enumerate(losses):
            study.tell(study.ask(forecast=1e99 if t % 3 == 2 else loss), loss)
        assert np.isfinite(study.center).all()


def test_who_makes_no_use_of_a_forecast_refuses_it(file: str) -> None:
    line = dikin.PseudoLine(dikin.Ball(2), 100, 1.0, seed=5)
    unknown = dikin.AdaptiveSmooth(dikin.Ball(2), 1.0, loss_range=None, seed=3)
    for name, twin, seen in (("a", fresh(), ()), ("b", line, ([1.0, 0.0],)), ("c", unknown, ())):
        with dikin.Study(file, name, twin) as study:
            with pytest.raises(errors.FeedbackError, match="does not use a forecast"):
                study.ask(*seen, forecast=1.0)
            assert (study.state(), study.verify()) == (twin.state(), 0)
            assert study.ask(*seen) == twin.ask(*seen)


FOLDERS = str(Path(__file__).parents[1]), str(Path(dikin.__file__).parents[1])
KILLED = """
import os, signal, sys
import dikin
from studies.test_forecasts import FORECASTING, play_forecast
study = dikin.Study(sys.argv[1], "a", FORECASTING["start and memory"]())
for t in range(int(sys.argv[2]), int(sys.argv[2]) + 9):
    play_forecast(study, t)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_killed_with_forecasts_on_open_queries(file: str) -> None:
    twin = FORECASTING["start and memory"]()
    for first in (0, 9):
        dead = subprocess.run(
            [sys.executable, "-c", KILLED, file, str(first)],
            env=os.environ | {"PYTHONPATH": os.pathsep.join(FOLDERS)},
            check=False,
        )
        assert dead.returncode == -signal.SIGKILL
        for t in range(first, first + 9):
            play_forecast(twin, t)
        with dikin.Study(file, "a") as heir:
            assert heir.state() == twin.state()
            assert [q.id for q in heir.open_queries] == [q.id for q in twin.open_queries]
            assert heir.verify() > 0
    assert twin.open_queries


def test_an_absurd_loss_is_logged_by_who_told_it(
    file: str, caplog: pytest.LogCaptureFixture
) -> None:
    twin = FORECASTING["plain"]()
    with dikin.Study(file, "a", twin) as study, dikin.Study(file, "a") as other:
        study.tell(study.ask(forecast=12.0), 12.5)
        study.tell(study.ask(forecast=12.0), 1e6)
        (line,) = caplog.records
        assert "round 2: the loss 1e+06 lies outside loss_range" in line.getMessage()
        assert other.rounds == 2
        assert study.verify() == other.verify() == 4
        with dikin.Study(file, "a") as third:
            assert third.state() == study.state()
            assert len(caplog.records) == 1
            third.tell(third.ask(), 2e6)  # and what is new is said
        assert len(caplog.records) == 2
