"""The figures of the report: drawn from results, readable in print, with units."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from dikin.experiments.fit import Curve
from dikin.experiments.reproduce.plan import SHAPES
from dikin.experiments.reproduce.results import Line, Measured
from dikin.plotting.publication import (
    BAND,
    COLOURS,
    DOTTED,
    LEAST_TEXT,
    REGRET,
    ROUNDS,
    SMALL,
    WIDTH,
    draw_curve,
    draw_interval,
    number_ticks,
    publish,
    pyplot,
    small_multiples,
)
from dikin.plotting.style import GREY, INK, PALE

Drawn = tuple[Any, str, str]
"""A figure, its name and its caption."""
SERIES = (
    ("paper's learner", COLOURS[0], "o", 0.24),
    ("Predictive, shifted losses", COLOURS[1], "s", 0.0),
    ("Predictive", COLOURS[2], "D", -0.24),
)
ROOM = 0.13
"""How far the axis reaches beyond the exponents that are proved, at least and at most."""
MOST_ROOM = 0.22
SETS = (COLOURS[0], "o"), (COLOURS[1], "s")
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
    yield _exponents(measured)
    yield _dimensions(measured.dimensions)


def _regret(number: int, lines: list[Line]) -> Drawn:
    """A panel for each row, on the same axes, with the other rows in grey."""
    figure, panels = small_multiples(len(lines), 5, sharey=True)
    for axes, line in zip(panels, lines, strict=True):
        for other in lines:
            axes.plot(other.curve.sizes, other.curve.means, color=PALE, lw=0.6, zorder=0)
        _draw_slopes(axes, line.curve, COLOURS[0], "o")
        _title(axes, line.row.label, [(line.curve, COLOURS[0])])
    for axes in panels[5:] or panels:
        axes.set_xlabel(ROUNDS)
    figure.supylabel(REGRET, fontsize=9)
    _key(figure, f"slope fitted from $T$ = {lines[0].curve.tail[0]:,.0f} on")
    caption = (
        f"Table {number}: mean regret against T, a panel for each row; grey, the other rows. Above "
        f"each the measured exponent of T, and in brackets the one of the table. {BAND} {UNIT}"
    )
    return figure, f"regret{number}", caption


def _draw_slopes(axes: Any, curve: Curve, colour: str, marker: str) -> None:
    """A curve on logarithmic axes, with its fitted and its proved slope."""
    axes.set(xscale="log", yscale="log")
    draw_curve(axes, curve.band, colour, marker, "none", ms=3)
    axes.plot(curve.tail, curve.power.at(curve.tail), color=colour)
    proved = curve.means[-1] * (curve.sizes / curve.sizes[-1]) ** curve.proved
    axes.plot(curve.sizes, proved, color=colour, ls=DOTTED, lw=1.3)


def _title(axes: Any, label: str, curves: list[tuple[Curve, str]]) -> None:
    axes.set_title(_maths(label), fontsize=SMALL, loc="left", pad=12)
    for place, (curve, colour) in enumerate(curves):
        text = f"{curve.power.exponent:.2f} ({curve.proved:.2f})"
        style: dict[str, Any] = {"ha": "left" if place == 0 else "right", "va": "bottom"}
        axes.text(
            place, 1.02, text, transform=axes.transAxes, fontsize=SMALL, color=colour, **style
        )


def _key(figure: Any, fitted: str, extra: Sequence[Any] = ()) -> None:
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


def _dimensions(dims: list[Line]) -> Drawn:
    """A panel for each row of each table, with a curve for each set."""
    from matplotlib.lines import Line2D

    by_row: dict[tuple[int, str], list[Line]] = {}
    for one in dims:
        by_row.setdefault((one.table, one.row.label), []).append(one)
    figure, panels = small_multiples(len(by_row), 3)
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


def _exponents(measured: Measured) -> Drawn:
    count = len(measured.tables)
    size: Any = {"figsize": (WIDTH * count / 2, 4.2), "layout": "constrained", "squeeze": False}
    figure, ((*panels,),) = pyplot().subplots(1, count, **size)
    for axes, number in zip(panels, measured.tables, strict=True):
        own, others = measured.tables[number], measured.predictive[number]
        view = _view(own, [*own, *others])
        _rows(axes, own)
        shifted = [line for line in others if line.shifted]
        plain = [line for line in others if not line.shifted]
        for look, lines in zip(SERIES, (own, shifted, plain), strict=True):
            _dots(axes, lines, view, *look)
        axes.set_title(f"Table {number}")
        axes.set(xlabel="exponent of $T$", xlim=view, ylim=(-len(own) + 0.5, 0.5))
    handles, names = panels[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=4, frameon=False)
    caption = (
        "Exponents of T, proved by the paper and measured, with 95% intervals. An arrow ends an "
        "interval that is cut. To shifted losses a random sign is added, which changes no regret: "
        "nothing can be foreseen then."
    )
    return figure, "exponents", caption


def _view(own: list[Line], every: list[Line]) -> tuple[float, float]:
    """The ends of the axis: wide intervals shall not make all the others small."""
    proved = [line.curve.proved for line in own]
    low, high = min(proved), max(proved)
    least = min(line.curve.power.low for line in every)
    most = max(line.curve.power.high for line in every)
    below, above = (min(max(ROOM, room), MOST_ROOM) for room in (low - least, most - high))
    return low - below - 0.01, high + above + 0.01


def _dots(
    axes: Any,
    lines: list[Line],
    view: tuple[float, float],
    name: str,
    colour: str,
    marker: str,
    lift: float,
) -> None:
    for place, line in enumerate(lines):
        fit = line.curve.power
        draw_interval(axes, lift - place, (fit.low, fit.high), view, color=colour)
    middle = [line.curve.power.exponent for line in lines]
    heights = [lift - place for place in range(len(lines))]
    axes.plot(middle, heights, ls="none", marker=marker, color=colour, ms=3.2, label=name)


def _rows(axes: Any, lines: list[Line]) -> None:
    """Draw names, every other row shaded, and the proved exponent as a tick across each."""
    heights = [-place for place in range(len(lines))]
    for height in heights[::2]:
        axes.axhspan(height - 0.5, height + 0.5, color="#f3f3f3", lw=0, zorder=0)
    exponents = [line.curve.proved for line in lines]
    ends = [height - 0.44 for height in heights], [height + 0.44 for height in heights]
    axes.vlines(exponents, *ends, color=INK, lw=1.2, label="proved")
    axes.set_yticks(heights, [_maths(line.row.label) for line in lines], fontsize=LEAST_TEXT)
    axes.tick_params(axis="y", length=0)


def _maths(label: str) -> str:
    """Return the label of a row with its formula as a figure has it."""
    text = re.sub(r"\^\(?([-./\w]+)\)?", r"^{\1}", label).replace("sigma", r"\sigma")
    text = re.sub(r"(?<=\d) (?=t)", r"\\,", text)
    return re.sub(r"\\sigma.*|T\^\S+", r"$\g<0>$", text)
