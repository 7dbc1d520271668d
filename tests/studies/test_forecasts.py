"""A study keeps the forecasts that were given to its asks, and refuses what is none."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pytest

import dikin
from dikin import errors
from dikin.studies import session
from dikin.studies.journal import Event
from dikin.studies.replica import Replica
from dikin.studies.rows import AskArguments
from studies.small import fresh, prices, sharing

START = {"price": dikin.Real(0, 10, start=4), "ads": dikin.Real(0, 2, start=0.5)}
MAKERS: dict[str, Any] = {
    "range": lambda: prices(3),
    "start and memory": lambda: dikin.Tuner(START, memory=20, maximize=True, seed=3),
}


def forecast_at(t: int) -> float | None:
    return None if t % 3 == 0 else 12.0 + t % 5


def play_forecast(player: Any, t: int) -> dikin.Trial:
    """Ask with a forecast; a pair of trials is answered late, the younger one first."""
    trial: dikin.Trial = player.ask(forecast=forecast_at(t))
    if t % 4 == 3:
        for late in (t, t - 1):
            player.tell(late, 12.0 + (7.0 * late) % 5)
        player.forget(t - 2)
    return trial


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_a_forecast_is_replayed(url: str, make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Opened anew for every ask, with trials open and snapshots between."""
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


def test_a_replay_without_the_forecast_is_another_tuner(
    file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant of the test above: rows that lose it."""
    twin = prices()
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
        asked = Event(1, "ask", 0, "me#1", 0, body, "")
        replayed = Replica(fresh(), {}, 0, "")
        replayed._advance(asked, known)
        assert replayed.asked[0].point == "[0.25, 1.0]"


REFUSED: list[Any] = [float("nan"), float("inf"), "12", [12.0], (1, 2), True, np.True_, 1j, {}]
REFUSED += [10**400, 1e200, np.array([1.0])]


@pytest.mark.parametrize("waits", [0.0, 0.3])
def test_a_refused_forecast_changes_nothing(file: str, waits: float) -> None:
    twin = prices()
    with sharing(file, "a", twin, seconds=waits) as study:
        assert study.ask(forecast=3.0) == twin.ask(forecast=3.0)
        for forecast in REFUSED:
            with pytest.raises(errors.FeedbackError):
                study.ask(forecast=forecast)
        study._flush()
        assert (study.state(), study.verify()) == (twin.state(), 1)
        assert study.ask(forecast=np.float64(4.0)) == twin.ask(forecast=4.0)


def test_an_absurd_value_is_logged_by_who_told_it(
    file: str, caplog: pytest.LogCaptureFixture
) -> None:
    twin = prices()
    with dikin.Study(file, "a", twin) as study, dikin.Study(file, "a") as other:
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
