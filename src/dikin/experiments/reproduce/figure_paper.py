"""Regret with the paper's own constants, up to very many rounds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from dikin.experiments.drawing import (
    GREY,
    REGRET,
    ROUNDS,
    WIDTH,
    EndLabel,
    draw_curve,
    draw_slope,
    label_ends,
    looks,
    maths,
    publish,
    pyplot,
)
from dikin.experiments.fit import Curve
from dikin.experiments.reproduce.plan import Row


class Drawable(Protocol):
    """A row that was played far."""

    @property
    def table(self) -> int: ...
    @property
    def row(self) -> Row: ...
    @property
    def curve(self) -> Curve: ...


def draw(lines: Sequence[Drawable], file: Path) -> None:
    """A panel per table; the proved slope through the last mean, and the trivial bound."""
    numbers = list(dict.fromkeys(line.table for line in lines))
    figure, panels = pyplot().subplots(
        1,
        len(numbers),
        figsize=(WIDTH * len(numbers) / 2, 3.0),
        layout="constrained",
        squeeze=False,
    )
    for axes, number in zip(panels[0], numbers, strict=True):
        own = [line for line in lines if line.table == number]
        axes.set(xscale="log", yscale="log", xlabel=ROUNDS, title=f"Table {number}")
        sizes = own[0].curve.sizes
        axes.plot(sizes, 2 * sizes, color=GREY, lw=1)
        ends = [EndLabel(sizes[-1], 2 * sizes[-1], "trivial: $2T$", GREY)]
        for line, look in zip(own, looks(len(own)), strict=True):
            draw_curve(axes, line.curve, look)
            draw_slope(axes, sizes, line.curve.means[-1], line.curve.proved, look.colour)
            fit = line.curve.power
            text = f"{maths(line.row.label)}: {fit.exponent:.2f} ({line.curve.proved:.2f})"
            ends.append(EndLabel(sizes[-1], line.curve.means[-1], text, look.colour))
        label_ends(axes, ends)
    panels[0][0].set_ylabel(REGRET)
    figure.supxlabel(
        "numbers: fitted exponent (proved); dotted: the proved slope", fontsize=7, color=GREY
    )
    publish(figure, file)
