"""Regret and certificate against what is told of the curvature."""

from __future__ import annotations

from typing import Any

from dikin.experiments.reproduce.plan import TABLES
from dikin.experiments.reproduce.results import Measured
from dikin.experiments.reproduce.told_curvature import CURVED, LATE, Told
from dikin.plotting.publication import COLOURS, DASHED, WIDTH, pyplot
from dikin.plotting.style import GREY, INK

ASIDE = 1.16
"""What is told with noise is drawn to the right of what is told exactly: it is nearly the same."""

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
    panels[0][0].legend(frameon=False, loc="upper right", handlelength=2.6)
    horizon = measured.told[0].horizon
    caption = (
        f"Mean regret and certificate at T = {horizon:,} against the curvature that is told in "
        "every round; the vertical line is the true one, 0 where there is none. Diamonds, drawn a "
        "little to the right: what is told is noisy, between nothing and twice as much. Bars: 95% "
        "intervals. To the right of the line no theorem holds: where losses come late the regret "
        "can exceed the certificate."
    )
    return figure, "told_curvature", caption


def _panel(axes: Any, lines: list[Told]) -> None:
    exact = [line for line in lines if not line.noisy]
    noisy = [line for line in lines if line.noisy]
    told = [line.told for line in exact]
    axes.plot(told, [x.certificate for x in exact], ls=DASHED, color=INK, label="certificate")
    _bars(axes, told, exact, COLOURS[0], fmt="o-", label="regret")
    beside = [ASIDE * line.told for line in noisy]
    _bars(axes, beside, noisy, COLOURS[1], fmt="D", mfc="white", label="regret, told with noise")
    axes.axvline(exact[0].curvature, color=GREY, lw=0.8, zorder=0)
    positive = [value for value in told if value > 0]
    axes.set_xscale("symlog", linthresh=positive[0], linscale=0.5)
    axes.set_xticks(told, [f"{value:g}" for value in told])
    axes.minorticks_off()
    axes.set_xlim(-0.4 * positive[0], 1.35 * told[-1])
    axes.set_ylim(0, None)
    axes.yaxis.set_major_formatter("{x:,.0f}")


def _bars(axes: Any, places: list[float], lines: list[Told], colour: str, **look: Any) -> None:
    """Means, with intervals where they are larger than a mark."""
    means, halves = [line.regret for line in lines], [line.half for line in lines]
    axes.errorbar(places, means, halves, color=colour, lw=1.1, elinewidth=0.9, ms=3.6, **look)
