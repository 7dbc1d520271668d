"""Regret and certificate against what is told of the curvature."""

from __future__ import annotations

from typing import Any

from dikin.experiments.reproduce.plan import TABLES
from dikin.experiments.reproduce.results import Measured
from dikin.experiments.reproduce.told_curvature import CURVED, LATE, Told
from dikin.plotting.publication import COLOURS, WIDTH, pyplot
from dikin.plotting.style import GREY

TITLES = {CURVED: "curved losses", LATE: "losses that come late"}


def draw(measured: Measured) -> tuple[Any, str, str]:
    """A row of panels per table, a column per kind of losses."""
    numbers = list(measured.tables)
    figure, panels = pyplot().subplots(
        len(numbers), 2, figsize=(WIDTH, 2.5 * len(numbers)), layout="constrained", squeeze=False
    )
    for row, number in zip(panels, numbers, strict=True):
        for axes, losses in zip(row, (CURVED, LATE), strict=True):
            own = [x for x in measured.told if (x.table, x.losses) == (number, losses)]
            _panel(axes, own)
            axes.set_title(f"Table {number} ({TABLES[number].losses}): {TITLES[losses]}")
        row[0].set_ylabel("units of $B$")
    for axes in panels[-1]:
        axes.set_xlabel(r"$\sigma$ that is told")
    panels[0][0].legend(frameon=False, loc="upper right")
    horizon = measured.told[0].horizon
    caption = (
        f"Mean regret and certificate at T = {horizon:,} against the curvature that is told in "
        "every round; the vertical line is the true one, 0 where there is none. Crosses: what is "
        "told is noisy, between nothing and twice as much. Bars: 95% intervals. To the right of "
        "the line no theorem holds: where losses come late the regret can exceed the certificate."
    )
    return figure, "told_curvature", caption


def _panel(axes: Any, lines: list[Told]) -> None:
    exact = [line for line in lines if not line.noisy]
    noisy = [line for line in lines if line.noisy]
    told = [line.told for line in exact]
    bars: dict[str, Any] = {"color": COLOURS[0], "lw": 1.2, "ms": 4}
    means = [line.regret for line in exact]
    axes.errorbar(told, means, [x.half for x in exact], fmt="o-", label="regret", **bars)
    places, values = [line.told for line in noisy], [line.regret for line in noisy]
    crosses: dict[str, Any] = {"color": COLOURS[1], "lw": 1.2, "ms": 6}
    halves = [line.half for line in noisy]
    axes.errorbar(places, values, halves, fmt="x", label="regret, told with noise", **crosses)
    bounds = [line.certificate for line in exact]
    axes.plot(told, bounds, "--", color=COLOURS[0], label="certificate")
    axes.axvline(exact[0].curvature, color=GREY, lw=1)
    positive = [value for value in told if value > 0]
    axes.set_xscale("symlog", linthresh=positive[0], linscale=0.5)
    axes.set_xticks(told, [f"{value:g}" for value in told])
    axes.minorticks_off()
    axes.set_xlim(-0.4 * positive[0], 1.2 * told[-1])
    axes.set_ylim(0, None)
