"""Every figure of an experiment is read in print: its width, the size of its letters, its edges."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.text import Text
from reproduction_page import REQUEST, read_games

from dikin.experiments.fit import Curve
from dikin.experiments.reproduce import figures
from dikin.experiments.reproduce.results import Measured
from dikin.plotting import publication

DOCS = Path(__file__).resolve().parents[2] / "docs"


def faults(figure: Any) -> list[str]:
    """What would not be read at the width of a page."""
    found = []
    if figure.get_figwidth() > publication.WIDTH:
        found.append(f"{figure.get_figwidth()} inches wide")
    if (layout := figure.get_layout_engine()) is not None:
        layout.execute(figure)
    texts = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text()]
    for text in texts:
        if text.get_fontsize() < publication.LEAST_TEXT:
            found.append(f"{text.get_text()!r} has {text.get_fontsize()} points")
        if set("^_\\") & set("".join(text.get_text().split("$")[::2])):
            found.append(f"{text.get_text()!r} has a sign of a formula outside")
    boxes = {text.get_text(): text.get_window_extent() for text in figure.texts}
    boxes |= {axes.get_title(loc="left"): axes.get_tightbbox() for axes in figure.axes}
    frame = figure.bbox.padded(1.0)
    for name, box in boxes.items():
        if box.x0 < frame.x0 or box.x1 > frame.x1 or box.y0 < frame.y0 or box.y1 > frame.y1:
            found.append(f"{name!r} is cut off")
    return found


def test_what_is_too_small_too_wide_or_cut_off_is_noticed() -> None:
    plt = publication.pyplot()
    sound = plt.figure(figsize=(4, 2))
    sound.text(0.5, 0.5, "read me")
    assert faults(sound) == []
    wrong = plt.figure(figsize=(8, 2))
    wrong.text(0.5, 0.5, "small", fontsize=5)
    wrong.text(0.5, 0.7, "sigma_t")
    wrong.text(0.99, 0.5, "out of the page")
    assert [fault.split()[-1] for fault in faults(wrong)] == ["wide", "points", "outside", "off"]


def test_the_paper(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    written: dict[Any, set[str]] = {}
    record = lambda figure, file: written.setdefault(figure, set()).add(file.suffix)  # noqa: E731
    monkeypatch.setattr(publication, "save_figure", record)
    drawn = figures.draw_all(Measured.of(REQUEST, read_games(DOCS / "evidence")), tmp_path)
    assert len(written) == len(drawn)
    for figure, kinds in written.items():
        assert (kinds, faults(figure)) == ({".png", ".svg"}, [])


def test_a_band_is_the_interval_of_the_mean() -> None:
    axes = publication.pyplot().figure().subplots()
    regrets = np.array([[1.0, 3.0], [4.0, 4.0]])
    curve = Curve(np.array([10.0, 100.0]), regrets)
    publication.draw_curve(axes, curve.band, "#000000", "o", "-")
    (band,) = axes.collections
    ends = band.get_paths()[0].vertices[:, 1]
    assert ends.max() == pytest.approx(2 + 12.706, abs=1e-3)  # Student's t, one degree of freedom
    assert ends.min() == publication.TINY
