"""The accelerator, and the generator in the real Xopt, which `make accelerator` installs."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adapters.test_examples import example, run
from dikin.adapters.gest_api import TunerGenerator
from test_example_tables import measured

__all__ = ["example"]

in_xopt = pytest.mark.skipif(
    find_spec("xopt") is None, reason="Xopt: make accelerator installs it and tests with it"
)


# --- the machine ---------------------------------------------------------------------------------


def test_no_currents_beat_the_best_of_a_shot(example: Any) -> None:
    machine, draws = example("accelerator").Machine(200, 0.0, 1), np.random.default_rng(1)
    for shot in (0, 77, 199):
        best = machine.best(shot)
        assert np.abs(best).max() <= 0.4
        assert machine.excess(shot, best) == 0
        away = draws.standard_normal(6)
        loss = machine.excess(shot, best + away)
        least, most = 0.3 * away @ away, 3.0 * away @ away
        assert least <= loss <= most
    assert machine.best(np.arange(3)) == pytest.approx(
        np.stack([machine.best(i) for i in range(3)])
    )


def test_every_shot_is_counted_and_has_its_noise(example: Any) -> None:
    accelerator = example("accelerator")
    noisy, quiet = (accelerator.Machine(5, noise, 1) for noise in (0.3, 0.0))
    losses = [[each(accelerator.TODAY)["loss"] for _ in range(5)] for each in (noisy, quiet)]
    assert losses[1] == [quiet.excess(shot, np.zeros(6)) for shot in range(5)]
    assert len({*np.subtract(*losses).round(12)}) == 5


def test_a_tuner_beats_standing_still(example: Any) -> None:
    """Without Xopt, which plays the same points."""
    accelerator = example("accelerator")
    means = {}
    for player in (accelerator.TUNER, accelerator.KEEP):
        machine = accelerator.Machine(400, 0.1, 1)
        accelerator.drive(accelerator.PLAYERS[player](0.1)(400, 1), machine)
        means[player] = np.mean([machine.excess(*shot) for shot in enumerate(machine.played)])
    assert means[accelerator.TUNER] < 0.7 * means[accelerator.KEEP]


# --- in Xopt -------------------------------------------------------------------------------------


@in_xopt
def test_xopt_plays_what_is_suggested(example: Any) -> None:
    accelerator = example("accelerator")
    inside, outside = (accelerator.Machine(30, 0.1, 1) for _ in range(2))
    accelerator.play_in_xopt(TunerGenerator(accelerator.vocs(), seed=7), inside)
    by_hand = TunerGenerator(accelerator.vocs(), seed=7)
    for _ in range(30):
        (point,) = by_hand.suggest(1)
        by_hand.ingest([point | outside(point)])
    assert inside.played.tolist() == outside.played.tolist()


@in_xopt
@pytest.mark.filterwarnings("ignore")
def test_xopt_evaluates_elsewhere_fails_and_writes() -> None:
    from gest_api.vocs import VOCS
    from xopt import Evaluator, Xopt

    shots = []

    def measure(inputs: dict[str, float]) -> dict[str, float]:
        shots.append(inputs)
        if len(shots) == 5:
            raise RuntimeError("a trip")
        return {"loss": inputs["current"] ** 2}

    vocs = VOCS(variables={"current": [-2.0, 2.0]}, objectives={"loss": "MINIMIZE"})
    loop = Xopt(
        generator=TunerGenerator(vocs, seed=7), evaluator=Evaluator(function=measure), strict=False
    )
    loop.random_evaluate(3)
    for _ in range(4):
        loop.step()
    tuner = loop.generator.tuner
    assert (tuner.asked, tuner.rounds, tuner.open_queries) == (4, 3, [])
    assert "dikin.adapters.gest_api" in loop.yaml()


@in_xopt
def test_a_small_run(
    example: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Any
) -> None:
    run(example("accelerator"), monkeypatch, "--shots", "20", "--out", str(tmp_path))
    assert len(measured(example("report"), tmp_path / "accelerator.csv")) == 10
    assert (tmp_path / "accelerator.png").read_bytes().startswith(b"\x89PNG")
    assert "accelerator: mean excess" in capsys.readouterr().out
    assert "xopt" in sys.modules
