"""The style of the figures: labels and bands."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dikin.experiments.fit import Curve
from dikin.experiments.reproduce.figures import _maths
from dikin.experiments.reproduce.plan import TABLES
from dikin.plotting import publication
from dikin.plotting.style import save_figure

LABELS = list(dict.fromkeys(row.label for table in TABLES.values() for row in table.rows.values()))


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    """pyplot keeps every figure until it is closed."""
    yield
    publication.pyplot().close("all")


def figure_of(text: str = "") -> Any:
    figure, axes = publication.pyplot().subplots(figsize=(2, 2))
    axes.plot([1, 2], [1, 4])
    axes.set_title(text)
    return figure


@pytest.mark.parametrize("label", LABELS)
def test_every_label_of_a_table_can_be_drawn(label: str, tmp_path: Path) -> None:
    """Signs of a formula are between dollars, where matplotlib reads them."""
    text = _maths(f"Table 1, {label}")
    assert not set("^_=\\") & set("".join(text.split("$")[::2])), text
    save_figure(figure_of(text), tmp_path / "label.svg")


# --- lines ----------------------------------------------------------------------------------------


def test_a_band_is_the_interval_of_the_mean() -> None:
    figure = figure_of()
    (axes,) = figure.axes
    regrets = np.array([[1.0, 3.0], [4.0, 4.0]])
    curve = Curve(np.array([10.0, 100.0]), regrets)
    publication.draw_curve(axes, curve.band, "#000000", "o", "-")
    (band,) = axes.collections
    ends = band.get_paths()[0].vertices[:, 1]
    assert ends.max() == pytest.approx(2 + 12.706, abs=1e-3)  # Student's t, one degree of freedom
    assert ends.min() == publication.TINY
