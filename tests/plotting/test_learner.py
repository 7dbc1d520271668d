"""The picture of a learner's study, and its curves in a terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dikin
from dikin.plotting.learner import draw_learner
from dikin.plotting.terminal import sparkline
from dikin.studies.display import text
from plotting.test_history import check_whole_rounds, labelled


def played(tmp_path: Path, losses: list[float]) -> Any:
    study = dikin.Study(tmp_path / "studies.db", "drawn", dikin.Predictive(dikin.Ball(2), seed=1))
    for loss in losses:
        study.tell(study.ask(), loss)
    return study


@pytest.mark.parametrize("rounds", [1, 2, 3, 5])
def test_rounds_on_the_axis_are_whole_and_distinct(tmp_path: Path, rounds: int) -> None:
    with played(tmp_path, [0.5] * rounds) as study:
        figure = draw_learner(study.history(), "drawn")
    check_whole_rounds(figure.axes[-1], rounds)


def test_a_loss_far_off_is_marked_and_hides_nothing(tmp_path: Path) -> None:
    losses = np.random.default_rng(1).uniform(0, 1, 30).tolist()
    losses[10] = 1e6
    with played(tmp_path, losses) as study:
        axes = draw_learner(study.history(), "drawn").axes[0]
        shown = list(text(study))
    assert axes.get_ylim()[1] < 2
    assert labelled(axes, "▲").get_xdata().tolist() == [11]
    assert axes.get_title("right") == "▲ 1 above the axis"
    mean = labelled(axes, "running mean of the others").get_ydata()
    assert mean[-1] == pytest.approx(np.mean(np.delete(losses, 10)))
    assert shown[-1].strip() == "▼▲: 1 far off, not in the scale"


@pytest.mark.parametrize(("curvature", "top"), [(0.1, 0.14), (0.0, 1.0)])
def test_equal_curvatures_are_not_drawn_as_rounding_errors(
    tmp_path: Path, curvature: float, top: float
) -> None:
    with dikin.Study(tmp_path / "a.db", "a", dikin.Predictive(dikin.Ball(2), seed=1)) as study:
        for _ in range(30):
            study.tell(study.ask(), 0.5, curvature)
        axes = draw_learner(study.history(), "drawn").axes[1]
    assert axes.get_ylim() == pytest.approx((0.0, top))


def test_blocks_of_a_curve() -> None:
    steps = np.array([0.0, 1.0, 2.0, 7.0, 5.0, 3.0, 4.0, 6.0])
    assert sparkline(steps) == "▁▂▃█▆▄▅▇"
    assert sparkline(np.array([*steps, 1e9])) == "▁▂▃█▆▄▅▇▲"
    assert sparkline(np.array([-1e9, *steps])) == "▼▁▂▃█▆▄▅▇"
    assert sparkline(np.array([0.0, np.nan, 7.0])) == "▁ █"
    assert sparkline(np.full(3, 5.0)) == "▁▁▁"
    assert sparkline(np.full(3, np.nan)) == "   "
    assert sparkline(np.array([])) == ""
