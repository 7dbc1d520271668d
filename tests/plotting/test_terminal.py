"""Curves made of blocks in a terminal."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import dikin
from dikin.plotting.terminal import sparkline
from dikin.studies.commands import text


def test_a_value_far_off_is_marked(tmp_path: Path) -> None:
    values = np.random.default_rng(1).uniform(0, 1, 30).tolist()
    values[10] = 1e6
    tuner = dikin.Tuner({"x": dikin.Real(0, 1)}, seed=1)
    with dikin.Study(tmp_path / "studies.db", "drawn", tuner) as study:
        for value in values:
            study.tell(study.ask(), value)
        shown = list(text(study))
    assert shown[-1].strip() == "▼▲: 1 far off, not in the scale"


def test_blocks_of_a_curve() -> None:
    steps = np.array([0.0, 1.0, 2.0, 7.0, 5.0, 3.0, 4.0, 6.0])
    assert sparkline(steps) == "▁▂▃█▆▄▅▇"
    assert sparkline(np.array([*steps, 1e9])) == "▁▂▃█▆▄▅▇▲"
    assert sparkline(np.array([-1e9, *steps])) == "▼▁▂▃█▆▄▅▇"
    assert sparkline(np.array([0.0, np.nan, 7.0])) == "▁ █"
    assert sparkline(np.full(3, 5.0)) == "▁▁▁"
    assert sparkline(np.full(3, np.nan)) == "   "
    assert sparkline(np.array([])) == ""
