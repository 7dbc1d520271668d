"""The figures of the report: drawn from results, readable in print, with units."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from dikin.experiments.fit import Curve
from dikin.experiments.reproduce import figure_exponents
from dikin.experiments.reproduce.plan import SHAPES
from dikin.experiments.reproduce.results import Line, Measured, Scaling
from dikin.plotting.formulas import maths
from dikin.plotting.publication import (
    BAND,
    COLOURS,
    DOTTED,
    REGRET,
    ROUNDS,
    SMALL,
    Look,
    draw_curve,
    draw_slope,
    number_ticks,
    publish,
    small_multiples,
)
from dikin.plotting.style import GREY, PALE

Drawn = tuple[Any, str, str]
"""A figure, its name and its caption."""
SETS = (COLOURS[0], "o"), (COLOURS[1], "s")
"""Colour and marker of ball and cube."""
UNIT = "B is half the range of the losses."


def draw_all(measured: Measured, out: Path) -> list[tuple[Path, str]]:
    """Write every figure as PNG and as SVG, and return the PNGs with their captions."""
    figures: list[tuple[Path, str]] = []
    for figure, name, caption in _figures(measured):
        publish(figure, out / name)
        figures.append((out / f"{name}.png", caption))
    return figures


def _figures(measured: Measured) -> Iterator[Drawn]:
    for number, lines in measured.tables.items():
        yield _regret(number, lines)
    yield figure_exponents.draw(measured)
    yield _dimensions(measured.dimensions)


def _regret(number: int, lines: list[Line]) -> Drawn:
    """A panel for each row, on the same axes, with the other rows in grey."""
    figure, panels = small_multiples(len(lines), 5, 1.65, sharey=True)
    for axes, line in zip(panels, lines, strict=True):
        for other in lines:
            axes.plot(other.curve.sizes, other.curve.means, color=PALE, lw=0.6, zorder=0)
        _draw_slopes(axes, line.curve, COLOURS[0], "o")
        _title(axes, line.row.label, [(line.curve, COLOURS[0])])
    for axes in panels[5:] or panels:
        axes.set_xlabel(ROUNDS)
    figure.supylabel(REGRET, fontsize=9)
    first = lines[0].curve.sizes[-(lines[0].curve.fitted or 0) :][0]
    _key(figure, f"slope fitted from $T$ = {first:,.0f} on")
    caption = (
        f"Table {number}: mean regret against T, a panel for each row; grey, the other rows. Above "
        f"each the measured exponent of T, and in brackets the one of the table. {BAND} {UNIT}"
    )
    return figure, f"regret{number}", caption


def _draw_slopes(axes: Any, curve: Curve, colour: str, marker: str) -> None:
    """A curve on logarithmic axes, with its fitted and its proved slope."""
    axes.set(xscale="log", yscale="log")
    draw_curve(axes, curve.band, Look(colour, marker, "none"), ms=3)
    tail = curve.sizes[-(curve.fitted or 0) :]
    axes.plot(tail, curve.power.at(tail), color=colour)
    draw_slope(axes, curve.sizes, curve.means[-1], curve.proved, colour)


def _title(axes: Any, label: str, curves: list[tuple[Curve, str]]) -> None:
    """Write the title of a panel, and the exponents of its curves in their colours."""
    axes.set_title(maths(label), fontsize=SMALL, loc="left", pad=12)
    for place, (curve, colour) in enumerate(curves):
        text = f"{curve.power.exponent:.2f} ({curve.proved:.2f})"
        style: dict[str, Any] = {"ha": "left" if place == 0 else "right", "va": "bottom"}
        axes.text(
            place, 1.02, text, transform=axes.transAxes, fontsize=SMALL, color=colour, **style
        )


def _key(figure: Any, fitted: str, extra: Sequence[Any] = ()) -> None:
    """Write the meaning of the marks below the panels."""
    from matplotlib.lines import Line2D

    handles = [
        *extra,
        Line2D([], [], color=GREY, marker="o", ls="none", label="mean and 95% band"),
        Line2D([], [], color=GREY, label=fitted),
        Line2D([], [], color=GREY, ls=DOTTED, lw=1.3, label="slope of the table"),
    ]
    title = "above each panel: the measured exponent, and in brackets the one of the table"
    figure.legend(
        handles=handles,
        loc="outside lower center",
        ncols=len(handles),
        title=title,
        title_fontsize=SMALL,
        handlelength=1.8,
        columnspacing=1.4,
    )


def _dimensions(dims: list[Scaling]) -> Drawn:
    """A panel for each row of each table, with a curve for each set."""
    from matplotlib.lines import Line2D

    by_row: dict[tuple[int, str], list[Scaling]] = {}
    for one in dims:
        by_row.setdefault((one.table, one.row.label), []).append(one)
    figure, panels = small_multiples(len(by_row), 3, 1.65)
    firsts: dict[int, Any] = {}
    for axes, ((number, label), own) in zip(panels, by_row.items(), strict=True):
        if number in firsts:
            axes.sharey(firsts[number])
        firsts.setdefault(number, axes)
        for one, (colour, marker) in zip(own, SETS, strict=True):
            _draw_slopes(axes, one.curve, colour, marker)
        curves = [(one.curve, colour) for one, (colour, _) in zip(own, SETS, strict=True)]
        _title(axes, f"Table {number}, {label}", curves)
    ticks = dims[0].curve.sizes.astype(int)
    for axes in panels:
        axes.set_xticks(ticks, ticks)
        axes.xaxis.minorticks_off()
        number_ticks(axes.yaxis)
    for axes in panels[-3:]:
        axes.set_xlabel("dimension $d$")
    figure.supylabel(REGRET, fontsize=9)
    sets = [
        Line2D([], [], color=colour, marker=marker, label=shape)
        for shape, (colour, marker) in zip(SHAPES, SETS, strict=True)
    ]
    _key(figure, "fitted slope", sets)
    caption = (
        "Growth with the dimension at a fixed horizon, a panel for each row of each table. The "
        "tables' exponents are upper bounds for nu = O(d), which the cube has and the ball (nu = "
        f"1) has not. {BAND}"
    )
    return figure, "dimensions", caption
