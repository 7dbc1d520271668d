"""The figures of the report: drawn from results, readable in print, with units."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dikin.domains.ball import Ball
from dikin.experiments.fit import Curve
from dikin.experiments.reproduce import (
    figure_exponents,
    figure_flat_rounds,
    figure_told_curvature,
)
from dikin.experiments.reproduce.plan import SHAPES, TABLES, Row, Table
from dikin.experiments.reproduce.results import Course, Line, Measured, Scaling
from dikin.learners.adaptive import sharp_schedule
from dikin.plotting.formulas import maths
from dikin.plotting.publication import (
    BAND,
    COLOURS,
    DASHED,
    DOTTED,
    LEAST_TEXT,
    REGRET,
    ROUNDS,
    SMALL,
    SOLID,
    WIDTH,
    EndLabel,
    Look,
    draw_curve,
    draw_slope,
    label_ends,
    label_panels,
    looks,
    number_ticks,
    ordered_colours,
    publish,
    pyplot,
)
from dikin.plotting.style import GREY
from dikin.theory import rates, schedules

Drawn = tuple[Any, str, str]
"""A figure, its name and its caption."""
LEAST = 1e-3
"""A regret that is not positive has no place on a logarithmic axis: it is drawn down here."""
UNIT = "B is half the range of the losses."


class Shown(NamedTuple):
    """A curve with its exponents, in a panel of others."""

    label: str
    curve: Curve
    look: Look


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
        yield _regret(plt, number, lines)
    yield _alphas(plt, measured.tables)
    yield figure_exponents.draw(measured)
    yield _dimensions(plt, measured.dimensions)
    yield figure_flat_rounds.draw(measured)
    yield figure_told_curvature.draw(measured)
    courses = measured.courses
    yield _constants(plt, {name: courses["constant", name] for name in ("paper", "sharp")})
    yield _certificate(plt, {row: courses[row, "sharp"] for row in ("zero", "constant")})
    yield _schedule(plt, table)
    yield _lemma(plt)


# --- exponents ------------------------------------------------------------------------------------


def kinds(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """The rows of a table by the kind of their curvature."""
    by_kind: dict[str, list[Row]] = {"constant": [], "flat in part": [], "decaying": []}
    for row in rows:
        steady = row.name in ("zero", "constant")
        kind = "constant" if steady else "decaying" if row.alpha is not None else "flat in part"
        by_kind[kind].append(row)
    return by_kind


def row_looks(rows: Sequence[Row]) -> dict[str, Look]:
    """A look for each row of a table, by name: the same in every figure."""
    decaying = [row for row in rows if row.alpha]
    others = [row for row in rows if not row.alpha]
    by_name = {row.name: look for row, look in zip(others, looks(len(others)), strict=True)}
    colours = ordered_colours(len(decaying))
    for row, colour, marker in zip(decaying, colours, "osD^vPX" * 2, strict=False):
        by_name[row.name] = Look(colour, marker, SOLID)
    return by_name


def _regret(plt: Any, number: int, lines: list[Line]) -> Drawn:
    """A panel for each kind of curvature, on the same axes."""
    groups, look = kinds([line.row for line in lines]), row_looks([line.row for line in lines])
    figure, panels = plt.subplots(
        1, len(groups), figsize=(WIDTH, 3.1), layout="constrained", sharey=True, squeeze=False
    )
    shown = [
        [Shown(maths(x.row.label), x.curve, look[x.row.name]) for x in lines if x.row in rows]
        for rows in groups.values()
    ]
    for axes, kind, own in zip(panels[0], groups, shown, strict=True):
        _draw_slopes(axes, own)
        axes.set_title(f"Curvature: {kind}", loc="left")
        axes.set_xlabel(ROUNDS)
    panels[0, 0].set_ylabel(REGRET)
    number_ticks(panels[0, 0].yaxis)
    _key(figure, f"slope fitted to the largest {lines[0].curve.fitted} horizons", "proved slope")
    _label_exponents(panels[0], shown)
    caption = (
        f"Table {number}: mean regret against T, by the kind of curvature. Beside each line the "
        f"measured exponent of T, and in brackets the one of the table. {BAND} {UNIT}"
    )
    return figure, f"regret{number}", caption


def _draw_slopes(axes: Any, shown: list[Shown]) -> None:
    """Curves on logarithmic axes, each with its fitted and its proved slope."""
    axes.set(xscale="log", yscale="log")
    for _, curve, look in shown:
        colour, marker, _ = look
        draw_curve(axes, curve.band, Look(colour, marker, "none"))
        tail = curve.sizes[-(curve.fitted or len(curve.sizes)) :]
        axes.plot(tail, curve.power.at(tail), color=colour)
        draw_slope(axes, curve.sizes, curve.means[-1], curve.proved, colour)


def _label_exponents(panels: Iterable[Any], shown: Iterable[list[Shown]]) -> None:
    """The exponents beside the curves, when all else is drawn: that decides how much room is."""
    ends = ([_end_label(each) for each in own] for own in shown)
    label_panels(list(zip(panels, ends, strict=True)), LEAST_TEXT)


def _end_label(shown: Shown) -> EndLabel:
    label, curve, look = shown
    text = f"{label}\n{curve.power.exponent:.2f} ({curve.proved:.2f})"
    return EndLabel(curve.sizes[-1], curve.means[-1], text, look.colour)


def _key(figure: Any, fitted: str, proved: str) -> None:
    """What the marks mean, below the panels."""
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], color=GREY, marker="o", ls="none", label="mean and 95% band"),
        Line2D([], [], color=GREY, label=fitted),
        Line2D([], [], color=GREY, ls=DOTTED, lw=1.3, label=proved),
    ]
    title = "beside the lines: the measured exponent, and in brackets the one of the table"
    figure.legend(
        handles=handles, loc="outside lower center", ncols=3, title=title, title_fontsize=SMALL
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
        axes.errorbar(
            alphas, middle, errors, fmt="o", color=COLOURS[0], capsize=2.5, label="measured, 95%"
        )
        axes.set(xlabel=maths("alpha, for sigma_t = sigma t^-alpha"))
        axes.set_ylabel("exponent of $T$")
        axes.set_title(f"Table {number}: {TABLES[number].losses} losses", loc="left")
        axes.legend(loc="lower right")
    caption = (
        "Decaying curvature: the exponent rises with alpha up to a kink, as proved. "
        "Bars: 95% intervals over games."
    )
    return figure, "alphas", caption


def _dimensions(plt: Any, dims: list[Scaling]) -> Drawn:
    """A row of panels for each table, a column for each set."""
    numbers = list(dict.fromkeys(one.table for one in dims))
    size = WIDTH, 2.9 * len(numbers) + 0.5
    figure, panels = plt.subplots(
        len(numbers), len(SHAPES), figsize=size, layout="constrained", sharex=True, squeeze=False
    )
    shown: list[list[Shown]] = []
    for number, row in zip(numbers, panels, strict=True):
        own = [one for one in dims if one.table == number]
        look = row_looks(list({one.row.name: one.row for one in own}.values()))
        for axes, shape in zip(row, SHAPES, strict=True):
            here = [one for one in own if one.shape == shape]
            shown.append(
                [Shown(maths(one.row.label), one.curve, look[one.row.name]) for one in here]
            )
            _draw_slopes(axes, shown[-1])
            axes.set_title(f"Table {number}, {shape}", loc="left")
            number_ticks(axes.yaxis)
        row[0].set_ylabel(REGRET)
    ticks = dims[0].curve.sizes.astype(int)
    for axes in panels[-1]:
        axes.set_xlabel("dimension $d$")
        axes.set_xticks(ticks, ticks)
        axes.minorticks_off()
    _key(figure, "fitted slope", "slope in the table, an upper bound")
    _label_exponents(panels.flat, shown)
    caption = (
        "Growth with the dimension at a fixed horizon. The tables' exponents are upper bounds for "
        f"nu = O(d), which the cube has and the ball (nu = 1) has not. {BAND}"
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
