"""The figures of the report: drawn from results, readable in print, with units."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dikin.domains.ball import Ball
from dikin.experiments.fit import Curve
from dikin.experiments.reproduce import (
    figure_exponents,
    figure_flat_rounds,
    figure_told_curvature,
)
from dikin.experiments.reproduce.plan import SHAPES, TABLES, Table
from dikin.experiments.reproduce.results import Course, Line, Measured, Scaling
from dikin.learners.adaptive import sharp_schedule
from dikin.plotting.formulas import maths
from dikin.plotting.publication import (
    BAND,
    COLOURS,
    DASHED,
    DOTTED,
    REGRET,
    ROUNDS,
    SMALL,
    WIDTH,
    EndLabel,
    Look,
    draw_curve,
    draw_slope,
    label_ends,
    looks,
    number_ticks,
    publish,
    pyplot,
    small_multiples,
)
from dikin.plotting.style import GREY, PALE
from dikin.theory import rates, schedules

Drawn = tuple[Any, str, str]
"""A figure, its name and its caption."""
LEAST = 1e-3
"""A regret that is not positive has no place on a logarithmic axis: it is drawn down here."""
SETS = (COLOURS[0], "o"), (COLOURS[1], "s")
"""Colour and marker of ball and cube."""
UNIT = "B is half the range of the losses."


def draw_all(measured: Measured, first_table: int, out: Path) -> list[tuple[Path, str]]:
    """Every figure with its caption, as PNG and as SVG; the PNGs are given back."""
    figures: list[tuple[Path, str]] = []
    for figure, name, caption in _figures(measured, TABLES[first_table]):
        publish(figure, out / name)
        figures.append((out / f"{name}.png", caption))
    return figures


def _figures(measured: Measured, table: Table) -> Iterator[Drawn]:
    plt = pyplot()
    for number, lines in measured.tables.items():
        yield _regret(number, lines)
    yield _alphas(plt, measured.tables)
    yield figure_exponents.draw(measured)
    yield _dimensions(measured.dimensions)
    yield figure_flat_rounds.draw(measured)
    yield figure_told_curvature.draw(measured)
    if courses := measured.courses:
        yield _constants(plt, {name: courses["constant", name] for name in ("paper", "sharp")})
        yield _certificate(plt, {row: courses[row, "sharp"] for row in ("zero", "constant")})
    yield _schedule(plt, table)
    yield _lemma(plt)


# --- exponents ------------------------------------------------------------------------------------


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
    """What is in a panel, and the exponents of its curves in their colours."""
    axes.set_title(maths(label), fontsize=SMALL, loc="left", pad=12)
    for place, (curve, colour) in enumerate(curves):
        text = f"{curve.power.exponent:.2f} ({curve.proved:.2f})"
        style: dict[str, Any] = {"ha": "left" if place == 0 else "right", "va": "bottom"}
        axes.text(
            place, 1.02, text, transform=axes.transAxes, fontsize=SMALL, color=colour, **style
        )


def _key(figure: Any, fitted: str, extra: Sequence[Any] = ()) -> None:
    """What the marks mean, below the panels."""
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


def _alphas(plt: Any, measured: dict[int, list[Line]]) -> Drawn:
    figure, panels = plt.subplots(
        1, len(measured), figsize=(WIDTH, 2.8), layout="constrained", squeeze=False
    )
    for axes, (number, lines) in zip(panels[0], measured.items(), strict=True):
        decaying = [line for line in lines if line.row.alpha is not None]
        alphas, fits = [one.row.alpha for one in decaying], [one.curve.power for one in decaying]
        middle = np.array([fit.exponent for fit in fits])
        errors = [middle - [f.low for f in fits], np.array([f.high for f in fits]) - middle]
        fine = np.linspace(0, 1, 201)
        proved = [rates.decaying_exponent(TABLES[number].order, alpha) for alpha in fine]
        axes.plot(fine, proved, color=GREY, ls=DOTTED, lw=1.6, label="proved")
        slopes = [one.exploring for one in decaying]
        axes.plot(alphas, slopes, color=COLOURS[1], ls=DASHED, label="exploring, at these $T$")
        axes.errorbar(
            alphas, middle, errors, fmt="o", color=COLOURS[0], elinewidth=0.9, label="measured, 95%"
        )
        axes.set(xlabel=maths("alpha, for sigma_t = sigma t^-alpha"))
        axes.set_ylabel("exponent of $T$")
        axes.set_title(f"Table {number}: {TABLES[number].losses} losses", loc="left")
        axes.legend(loc="lower right")
    caption = (
        "Decaying curvature: the exponent that is proved rises with alpha up to a kink. Dashed: "
        "the slope of what exploring costs at these horizons. Bars: 95% intervals over games."
    )
    return figure, "alphas", caption


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


# --- single games ---------------------------------------------------------------------------------


def _constants(plt: Any, courses: dict[str, Course]) -> Drawn:
    figure, axes = plt.subplots(figsize=(5.0, 3.0), layout="constrained")
    ends = []
    for (constants, course), look in zip(courses.items(), looks(2)[::-1], strict=True):
        regret = np.maximum(course.regret, LEAST)
        axes.loglog(course.rounds, regret, color=look.colour, ls=look.dash)
        words = {"paper": "the paper's constants", "sharp": "sharp constants"}[constants]
        ends.append(EndLabel(course.rounds[-1], regret[-1], words, look.colour))
    ends.append(_trivial_bound(axes, course))
    axes.set(ylabel="regret (units of $B$)")
    label_ends(axes, ends)
    caption = (
        "One game with constant curvature, played with the paper's constants and with the sharp "
        "ones. With the paper's the regret still grows almost like T: lambda_0 pins the centre."
    )
    return figure, "constants", caption


def _certificate(plt: Any, courses: dict[str, Course]) -> Drawn:
    figure, axes = plt.subplots(figsize=(5.0, 3.0), layout="constrained")
    ends = []
    for (row, course), colour in zip(courses.items(), COLOURS[1::-1], strict=True):
        label, last = TABLES[1].rows[row].label, course.rounds[-1]
        regret = np.maximum(course.regret, LEAST)
        axes.loglog(course.rounds, regret, color=colour)
        axes.loglog(course.rounds, course.certificate, ls=DASHED, color=colour)
        ends.append(EndLabel(last, regret[-1], f"regret, {maths(label)}", colour))
        ends.append(EndLabel(last, course.certificate[-1], f"certificate, {maths(label)}", colour))
    ends.append(_trivial_bound(axes, course))
    axes.set(ylabel="units of $B$")
    label_ends(axes, ends)
    return figure, "certificate", "Regret of one game and the certificate computed along with it."


def _trivial_bound(axes: Any, course: Course) -> EndLabel:
    """The line 2T, and its label."""
    bound = 2.0 * course.rounds
    axes.loglog(course.rounds, bound, ls=DOTTED, color=GREY)
    axes.set(xlabel="rounds $t$", xlim=(10, course.rounds[-1]), ylim=(1, 1.5 * bound[-1]))
    return EndLabel(course.rounds[-1], bound[-1], maths("trivial bound 2T"), GREY)


# --- what needs no game ---------------------------------------------------------------------------


def _schedule(plt: Any, table: Table) -> Drawn:
    """The paper's sequences follow from the curvature alone: no game is needed."""
    horizon = 20_000
    pattern = table.rows["first"].pattern(horizon)
    low, high = table.environment(Ball(2), pattern, 0).loss_range
    scale = (high - low) / 2
    schedule = sharp_schedule(table.order, 2, 1.0, table.constant / scale, None)
    sigmas = [pattern.at(t) / scale for t in range(1, horizon + 1)]
    lambdas, etas, total = [], [], schedule.first
    for t, sigma in enumerate(sigmas, start=1):
        lambdas.append(schedule.regularisation(total + sigma))
        total += sigma + lambdas[-1]
        etas.append(schedule.rate(total, t + 1))
    figure, axes = plt.subplots(figsize=(5.0, 2.9), layout="constrained")
    rounds = np.unique(np.geomspace(1, horizon, 400).astype(int))
    ends = []
    curves = {"lambda_t, regularisation": lambdas, "eta_t, learning rate": etas}
    for (label, values), look in zip(curves.items(), looks(2), strict=True):
        axes.loglog(rounds, np.array(values)[rounds - 1], color=look.colour, ls=look.dash)
        ends.append(EndLabel(horizon, values[-1], maths(label), look.colour))
    flat = int(np.argmax(np.array(sigmas) > 0))
    axes.axvspan(1, flat, color=GREY, alpha=0.12, lw=0)
    axes.text(1.3, min(lambdas), "losses are flat", fontsize=SMALL, color=GREY)
    axes.set(xlabel="rounds $t$", ylabel="in the paper's units", xlim=(1, horizon))
    label_ends(axes, ends)
    caption = (
        "What the learner does with curvature: it adds its own (lambda_t) while the losses have "
        "none, and stops adding when they have."
    )
    return figure, "schedule", caption


def _lemma(plt: Any) -> Drawn:
    figure, axes = plt.subplots(figsize=(5.0, 2.9), layout="constrained")
    horizon, setting = 3000, schedules.smooth(2, 1.0)
    first = setting.target
    marks = np.unique(np.geomspace(1, horizon, 40).astype(int))
    rows = [TABLES[1].rows[name] for name in ("zero", "constant", "first", "decay-0.2")]
    ends = []
    for row, look in zip(rows, looks(len(rows)), strict=True):
        pattern = row.pattern(horizon)
        sigmas = np.array([pattern.at(t) for t in range(1, horizon + 1)])
        lambdas = setting.adaptive_lambdas(sigmas, first)
        ratios = [
            setting.objective(lambdas[:t], sigmas[:t], first)
            / setting.minimum(sigmas[:t], first)[0]
            for t in marks
        ]
        axes.semilogx(marks, ratios, color=look.colour, ls=look.dash)
        ends.append(EndLabel(horizon, ratios[-1], maths(row.label), look.colour))
    axes.axhline(2, color=GREY, ls=DOTTED, lw=1.3)
    ends.append(EndLabel(horizon, 2.0, "proved bound", GREY))
    axes.set(xlabel="rounds $t$", ylabel="price / least price", xlim=(1, horizon))
    axes.set_ylim(0.95, 2.1)
    label_ends(axes, ends)
    caption = "The tuning lemma: the price of the adaptive lambda_t over the least in hindsight."
    return figure, "lemma", caption
