"""The figure of a tuner with a holdback: the gain over the control."""

import numpy as np
import pytest

import dikin


@pytest.mark.parametrize(("around", "sign"), [(500.0, "%"), (0.0, "")], ids=["percent", "none"])
def test_the_figure_has_the_unit_of_the_gain(tmp_path, around, sign):
    """In per cent, unless the control may be worth nothing."""
    tuner = dikin.Tuner(
        {"price": dikin.Real(1, 14, start=4)}, holdback=0.2, value_range=(-999, 999), seed=7
    )
    rng = np.random.default_rng(1)
    for _ in range(200):
        tuner.tell(tuner.ask(), around + rng.standard_normal())
    figure = tuner.plot(tmp_path / "tuner.png")
    (panel,) = [axes for axes in figure.axes if "interval" in axes.get_legend_handles_labels()[1]]
    figure.canvas.draw()
    assert {label.get_text()[-1:] == "%" for label in panel.get_yticklabels()} == {bool(sign)}
