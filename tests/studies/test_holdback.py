"""A study that holds rounds back: its coins, its guard, its commands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import dikin
from dikin import errors
from studies.small import command, sharing

PARAMETERS = {"price": dikin.Real(1, 14, start=4), "ads": dikin.Real(0, 60, start=40)}


def tuner(**more: Any) -> dikin.Tuner:
    arguments: dict[str, Any] = {"holdback": 0.3, "guard": 0.02, "seed": 3}
    return dikin.Tuner(PARAMETERS, maximize=True, **arguments | more)


def value_of(trial: Any, t: int) -> float:
    return (500.0 if trial.held_back else 350.0) + (7.0 * t) % 5


def test_a_guard_holds_for_all_clients_until_somebody_resumes(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    with sharing(file, "a", tuner()) as study:
        for t in range(200):
            trial = study.ask()
            study.tell(trial, value_of(trial, t))
        assert study.paused
        status = study.status()
        assert status.guard_reason
        assert status.guard_reason in status.warnings[0]
    with dikin.Study(file, "a", tuner()) as other:
        assert other.paused
        assert other.ask().params == {"price": 4.0, "ads": 40.0}
        assert other.status().guard_reason == status.guard_reason
        other.resume()
        assert not other.paused
        assert other.status().guard_reason is None
    with dikin.Study(file, "a") as again:
        assert not again.paused
        assert again.verify().rows == 402
        assert again.status().from_json(again.status().to_json()).uplift == again.uplift


def test_another_holdback_is_another_study(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    dikin.Study(file, "a", tuner()).close()
    for more in ({"holdback": 0.2}, {"guard": None}, {"control": {"price": 5}}):
        with pytest.raises(errors.StudyExistsError, match=f"the {next(iter(more))} "):
            dikin.Study(file, "a", tuner(**more))
    plain = dikin.Tuner(PARAMETERS, seed=1)
    with (
        dikin.Study(file, "plain", plain) as study,
        pytest.raises(errors.StateError, match=r"holdback=0\.05"),
    ):
        _ = study.uplift


def test_commands(tmp_path: Path) -> None:
    url = str(tmp_path / "a.db")
    create = ["create", "a", "--url", url, "--param", "price=1:14:4", "--holdback", "0.2"]
    more = ["--control", "price=5", "--guard", "0.02", "--maximize"]
    assert command(*create, *more).exit_code == 0
    with dikin.Study(url, "a") as study:
        status = study.status()
        assert (status.holdback, status.guard) == (0.2, 0.02)
        assert status.control == {"price": 5.0}
        for _ in range(3):
            study.tell(study.ask(), 3.0)
    assert "uplift" in command("show", "a", "--url", url).output
