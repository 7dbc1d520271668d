"""Regret with the paper's own constants, up to very many rounds."""

from __future__ import annotations

from pathlib import Path

from dikin.experiments.reproduce.results import Line
from dikin.plotting.formulas import maths
from dikin.plotting.publication import (
    REGRET,
    ROUNDS,
    EndLabel,
    draw_curve,
    draw_slope,
    half_page_panels,
    label_ends,
    looks,
    publish,
)
from dikin.plotting.style import GREY


def draw(lines: list[Line], file: Path) -> None:
    """A panel per table; the proved slope through the last mean, and the trivial bound."""
    numbers = list(dict.fromkeys(line.table for line in lines))
    figure, panels = half_page_panels(len(numbers), 3.0)
    for axes, number in zip(panels, numbers, strict=True):
        own = [line for line in lines if line.table == number]
        axes.set(xscale="log", yscale="log", xlabel=ROUNDS, title=f"Table {number}")
        sizes = own[0].curve.sizes
        axes.plot(sizes, 2 * sizes, color=GREY, lw=1)
        ends = [EndLabel(sizes[-1], 2 * sizes[-1], "trivial: $2T$", GREY)]
        for line, look in zip(own, looks(len(own)), strict=True):
            draw_curve(axes, line.curve.band, look)
            draw_slope(axes, sizes, line.curve.means[-1], line.curve.proved, look.colour)
            fit = line.curve.power
            text = f"{maths(line.row.label)}: {fit.exponent:.2f} ({line.curve.proved:.2f})"
            ends.append(EndLabel(sizes[-1], line.curve.means[-1], text, look.colour))
        label_ends(axes, ends)
    panels[0].set_ylabel(REGRET)
    figure.supxlabel(
        "numbers: fitted exponent (proved); dotted: the proved slope", fontsize=7, color=GREY
    )
    publish(figure, file)
