"""The style of the figures: formulas, labels that do not overlap, files that are the same twice."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dikin.experiments.fit import Curve
from dikin.experiments.reproduce.plan import TABLES
from dikin.plotting import publication
from dikin.plotting.formulas import maths
from dikin.plotting.publication import Look
from dikin.plotting.style import save_figure

LABELS = [row.label for table in TABLES.values() for row in table.rows.values()]


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


# --- formulas -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("label", "wanted"),
    [
        ("sigma_t = 0", r"$\sigma_{t} = 0$"),
        ("sigma_t = sigma", r"$\sigma_{t} = \sigma$"),
        ("first T^(3/4) rounds flat", r"first $T^{3/4}$ rounds flat"),
        ("second half flat", "second half flat"),
        ("sigma_t = 0.9 t^-0.25", r"$\sigma_{t} = 0.9\,t^{-0.25}$"),
        ("sigma_t = t^-0.333", r"$\sigma_{t} = t^{-0.333}$"),
        ("T^(1/2) (ln T)^(1/2)", r"$T^{1/2}\,(\ln\,T)^{1/2}$"),
        ("ln T", r"$\ln\,T$"),
        ("for sigma_t = sigma t^-alpha", r"for $\sigma_{t} = \sigma\,t^{-\alpha}$"),
        ("cube, d = 5", "cube, $d = 5$"),
        ("lambda_t, regularisation", r"$\lambda_{t}$, regularisation"),
        ("trivial bound 2T", "trivial bound $2T$"),
        ("nu = O(d)", r"$\nu = O(d)$"),
        ("every sqrt(T) rounds", r"every $\sqrt{T}$ rounds"),
        ("don't, a bowl, T-shirt", "don't, a bowl, T-shirt"),
        ("noise of 20 % of its range, every 2/5", "noise of 20 % of its range, every 2/5"),
        ("beta-carotene and alphabet", "beta-carotene and alphabet"),
        ("5 $ a day", r"5 \$ a day"),
    ],
)
def test_a_label_becomes_a_formula(label: str, wanted: str) -> None:
    assert maths(label) == wanted


@pytest.mark.parametrize("label", LABELS)
def test_every_label_of_a_table_can_be_drawn(label: str, tmp_path: Path) -> None:
    """No sign of a formula is left outside of dollars, and matplotlib reads what is inside."""
    assert not left_outside(maths(label)), maths(label)
    save_figure(figure_of(maths(label)), tmp_path / "label.svg")


def left_outside(text: str) -> set[str]:
    """The signs of a formula that stand outside of dollars."""
    return set("^_=\\") & set("".join(text.split("$")[::2]))


def test_a_formula_that_was_forgotten_would_be_noticed() -> None:
    assert left_outside("first T^(3/4) rounds flat") == {"^"}


# --- lines ----------------------------------------------------------------------------------------


def test_a_band_is_the_interval_of_the_mean() -> None:
    figure = figure_of()
    (axes,) = figure.axes
    regrets = np.array([[1.0, 3.0], [4.0, 4.0]])
    curve = Curve(np.array([10.0, 100.0]), regrets)
    publication.draw_curve(axes, curve.band, Look("#000000", "o", "-"))
    (band,) = axes.collections
    ends = band.get_paths()[0].vertices[:, 1]
    assert ends.max() == pytest.approx(2 + 12.706, abs=1e-3)  # Student's t, one degree of freedom
    assert ends.min() == publication.TINY


# --- files ----------------------------------------------------------------------------------------


def test_a_published_figure_is_the_same_twice(tmp_path: Path) -> None:
    for name in ("one.png", "two"):
        publication.publish(figure_of(maths("sigma_t = 0")), tmp_path / name)
    for ending in ("png", "svg"):
        one, two = ((tmp_path / f"{name}.{ending}").read_bytes() for name in ("one", "two"))
        assert one == two
    assert b"<dc:date>" not in two
    publication.publish(figure_of("else"), tmp_path / "two")
    assert (tmp_path / "two.svg").read_bytes() != one
