"""The figure of a learner's history."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dikin.plotting.axes import mark_outside, number_rounds
from dikin.plotting.curves import far_off, limits
from dikin.plotting.style import BLUE, GREEN, PALE, PURPLE, require, styled
from dikin.vectors import Array, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DOTS: Any = {"markersize": 2, "color": PALE, "rasterized": True}
NO_CERTIFICATE = (
    "NaN: this learner has none, no constant was declared (certificate_for takes one), or its "
    "centre is too close to the boundary"
)


def learner_curves(rounds: Table) -> dict[str, Array]:
    """What is drawn over the rounds of a learner."""
    plain = rounds["loss"].dtype != object
    losses = rounds["loss"] if plain else np.array([_suffered(answer) for answer in rounds["loss"]])
    count = np.arange(1, len(rounds) + 1)
    return {
        "loss": losses,
        "running mean": np.cumsum(losses) / count,
        "curvature": rounds["curvature"],
        "certificate": rounds["certificate"],
    }


def _suffered(answer: Any) -> float:
    """What a round cost: the mean of a pair of losses, or the loss that came with a gradient."""
    loss, more = answer
    return float((loss + more) / 2 if isinstance(more, float) else loss)


def draw_learner(rounds: Table, title: str) -> Figure:
    """Loss, running mean, curvature and certificate over the rounds."""
    with styled():
        return _draw(rounds, title)


def _draw(rounds: Table, title: str) -> Figure:
    figures = require("matplotlib.figure")
    x, lines = rounds["round"], learner_curves(rounds)
    figure: Figure = figures.Figure(figsize=(7, 6), layout="constrained")
    panels = top, middle, bottom = figure.subplots(3, sharex=True, height_ratios=[3, 1.5, 2])
    _draw_losses(top, x, lines["loss"])
    curvature = lines["curvature"]
    middle.plot(x, curvature, ".", **DOTS)
    middle.plot(
        x,
        np.cumsum(curvature) / np.arange(1, len(curvature) + 1),
        color=GREEN,
        label="running mean",
    )
    # From 0, or equal curvatures would be drawn as their rounding errors; with room for the legend.
    middle.set(ylabel="curvature told", ylim=(0, 1.4 * curvature.max() or 1.0))
    middle.legend(loc="upper right")
    bottom.plot(x, lines["certificate"], color=PURPLE)
    bottom.set_ylabel("certificate")
    if not np.isfinite(lines["certificate"]).any():
        bottom.text(0.5, 0.5, NO_CERTIFICATE, ha="center", transform=bottom.transAxes, wrap=True)
    bottom.set_xlabel("round")
    for axes in panels:
        number_rounds(axes)
    figure.suptitle(title, parse_math=False)
    return figure


def _draw_losses(axes: Axes, x: Array, losses: Array) -> None:
    """Each loss, and their running mean, which one that is far off would drive away for good."""
    usual = ~far_off(losses)
    mean = np.cumsum(np.where(usual, losses, 0.0)) / np.maximum(1, np.cumsum(usual))
    axes.plot(x, losses, ".", label="loss", **DOTS)
    axes.plot(x, mean, color=BLUE, label="running mean" + " of the others" * (not usual.all()))
    axes.set_ylabel("loss")
    axes.legend(loc="upper right")
    ends = limits(losses)
    axes.set_ylim(*ends)
    axes.set_title(mark_outside(axes, x, losses, ends), loc="right")
