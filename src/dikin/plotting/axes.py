"""Settings of an axis: whole rounds, values beyond its ends, labels that do not overlap."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dikin.plotting.curves import marks
from dikin.plotting.style import FONTS, ORANGE, require
from dikin.vectors import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Axis(NamedTuple):
    """Scale of the values of a parameter, in figures and on the page."""

    low: float = -inf
    high: float = inf
    log: bool = False
    whole: bool = False
    percent: bool = False
    """Whether a value of 1 is read as 100 %."""
    labels: tuple[str, ...] = ()
    """What the values 0, 1, 2, ... are called, where they are only positions."""


def number_rounds(axes: Axes) -> None:
    """Write whole rounds below the axes, each once."""
    axes.xaxis.set_major_locator(whole_ticks(8))
    axes.xaxis.set_major_formatter("{x:,.0f}")
    # Ticks are made when the figure is drawn, which the user may do in a style of theirs.
    axes.tick_params(labelfontfamily=FONTS)


def whole_ticks(most: int) -> Any:
    """Ticks at whole numbers, at least two and never broken ones."""
    ticker = require("matplotlib.ticker")
    return ticker.MaxNLocator(most, steps=[1, 2, 2.5, 5, 10], integer=True, min_n_ticks=1)


def mark_outside(axes: Axes, x: NDArray[Any], y: Array, ends: tuple[float, float]) -> str:
    """Mark values beyond the ends of the y-axis by triangles at its edge, and count them."""
    low, high = ends
    at, words = marks(len(x)), []
    for beyond, edge, marker, sign in ((y > high, high, "^", "▲"), (y < low, low, "v", "▼")):
        rows = np.flatnonzero(beyond)
        if not len(rows):
            continue
        places = x[at[np.unique(np.searchsorted(at, rows))]]  # at most one to a pixel or two
        style: dict[str, Any] = {"color": ORANGE, "markersize": 6, "markeredgewidth": 0}
        axes.plot(places, np.full(len(places), edge), marker, clip_on=False, label=sign, **style)
        words.append(f"{sign} {len(rows):,} {'above' if edge == high else 'below'}")
    return f"{' and '.join(words)} the axis" if words else ""


def spread(heights: Sequence[float], room: float) -> list[float]:
    """Heights of labels, as shares of the panel's, moved so that neighbours are `room` apart."""
    order = np.argsort(heights, kind="stable")
    steps = room * np.arange(len(order))
    # With the steps taken off, the nearest ascending heights: those that would cross share a mean.
    ascending = require("scipy.optimize").isotonic_regression(np.asarray(heights)[order] - steps).x
    apart = np.empty(len(order))
    apart[order] = np.clip(ascending, 0.0, max(0.0, 1.0 - steps[-1])) + steps
    return [float(height) for height in apart]
