"""The figures of the report: drawn from results, readable in print, with units."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from dikin.domains.ball import Ball
from dikin.experiments.drawing import COLOURS, GREY, pyplot, save_figure
from dikin.experiments.reproduce.plan import TABLES, Table
from dikin.experiments.reproduce.results import Course, Line, Measured, Scaling
from dikin.learners.adaptive import sharp_schedule
from dikin.theory import rates, tuning

Drawn = tuple[Any, str, str]
"""A figure, its name and its caption."""
LEAST = 1e-3
"""A regret that is not positive has no place on a logarithmic axis: it is drawn down here."""


def draw_all(measured: Measured, first_table: int, out: Path) -> list[tuple[Path, str]]:
    """Every figure with its caption."""
    drawn: list[tuple[Path, str]] = []
    for figure, name, caption in _figures(measured, TABLES[first_table]):
        save_figure(figure, out / f"{name}.png")
        drawn.append((out / f"{name}.png", caption))
    return drawn


def _figures(measured: Measured, table: Table) -> Iterator[Drawn]:
    plt = pyplot()
    for number, lines in measured.tables.items():
        yield _regret(plt, number, lines)
    yield _alphas(plt, measured.tables)
    yield _dimensions(plt, measured.dimensions)
    courses = measured.courses
    yield _constants(plt, {name: courses["constant", name] for name in ("paper", "sharp")})
    yield _certificate(plt, {row: courses[row, "sharp"] for row in ("zero", "constant")})
    yield _schedule(plt, table)
    yield _lemma(plt)


def _regret(plt: Any, number: int, lines: list[Line]) -> Drawn:
    figure, axes = plt.subplots(figsize=(7, 4.6), layout="constrained")
    for line, colour, mark in zip(lines, COLOURS * 2, "osD^v<>Pp*X" * 2, strict=False):
        horizons, means, fit = line.curve.sizes, line.curve.means, line.curve.power
        label = f"{line.row.label}: {fit.exponent:.3f} (proved {line.curve.proved:.3f})"
        axes.loglog(horizons, means, mark, color=colour, markersize=4, label=label)
        axes.loglog(horizons, fit.at(horizons), color=colour, lw=1)
        proved = means[-1] * (horizons / horizons[-1]) ** line.curve.proved
        axes.loglog(horizons, proved, ":", color=colour, lw=1)
    axes.set(xlabel="rounds T", ylabel="mean regret (units of B)")
    axes.legend(fontsize=7, frameon=False)
    caption = (
        f"Table {number}: mean regret against T. Solid: the fitted slope. Dotted: the proved one, "
        "through the last point. B is half the range of the losses."
    )
    return figure, f"regret{number}", caption


def _alphas(plt: Any, measured: dict[int, list[Line]]) -> Drawn:
    figure, panels = plt.subplots(
        1, len(measured), figsize=(3.8 * len(measured), 3.2), layout="constrained", squeeze=False
    )
    for axes, (number, lines) in zip(panels[0], measured.items(), strict=True):
        decaying = [line for line in lines if line.row.alpha is not None]
        alphas, fits = [one.row.alpha for one in decaying], [one.curve.power for one in decaying]
        middle = np.array([fit.exponent for fit in fits])
        errors = [middle - [f.low for f in fits], np.array([f.high for f in fits]) - middle]
        fine = np.linspace(0, 1, 201)
        proved = [rates.decaying_exponent(TABLES[number].order, alpha) for alpha in fine]
        axes.plot(fine, proved, color=GREY, label="proved")
        axes.errorbar(
            alphas, middle, errors, fmt="o", color=COLOURS[0], capsize=3, label="measured"
        )
        axes.set(xlabel="alpha, for sigma_t = sigma t^-alpha", ylabel="exponent of T")
        axes.set_title(f"Table {number}", fontsize=10)
        axes.legend(frameon=False)
    caption = "Decaying curvature: the exponent rises with alpha up to a kink, as proved."
    return figure, "alphas", caption


def _dimensions(plt: Any, dims: list[Scaling]) -> Drawn:
    figure, axes = plt.subplots(figsize=(8.5, 4.2), layout="constrained")
    for one, colour, mark in zip(dims, COLOURS * 2, "osD^v<>P", strict=False):
        growth = f"d^{one.curve.power.exponent:.2f} (in the table {one.curve.proved:.2f})"
        label = f"table {one.table}, {one.row}, {one.shape}: {growth}"
        style = f"{mark}{'-' if one.table == 1 else '--'}"
        axes.loglog(
            one.curve.sizes, one.curve.means, style, color=colour, markersize=4, lw=1, label=label
        )
    ticks = dims[0].curve.sizes.astype(int)
    axes.set_xticks(ticks, ticks)
    axes.minorticks_off()
    axes.set(xlabel="dimension d", ylabel="mean regret (units of B)")
    axes.legend(fontsize=7, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    caption = (
        "Growth with the dimension at a fixed horizon. The tables' exponents are upper bounds for "
        "nu = O(d), which the cube has and the ball (nu = 1) has not."
    )
    return figure, "dimensions", caption


def _constants(plt: Any, courses: dict[str, Course]) -> Drawn:
    figure, axes = plt.subplots(figsize=(5.5, 3.6), layout="constrained")
    for (constants, course), colour in zip(courses.items(), COLOURS[1::-1], strict=True):
        regret = np.maximum(course.regret, LEAST)
        axes.loglog(course.rounds, regret, color=colour, label=constants)
    _trivial_bound(axes, course)
    axes.set(ylabel="regret (units of B)")
    axes.legend(frameon=False, title="constants")
    caption = (
        "One game with constant curvature, played with the paper's constants and with the sharp "
        "ones. With the paper's the regret still grows almost like T: lambda_0 pins the centre."
    )
    return figure, "constants", caption


def _certificate(plt: Any, courses: dict[str, Course]) -> Drawn:
    figure, axes = plt.subplots(figsize=(5.5, 3.6), layout="constrained")
    for (row, course), colour in zip(courses.items(), COLOURS[1::-1], strict=True):
        regret = np.maximum(course.regret, LEAST)
        axes.loglog(course.rounds, regret, color=colour, label=f"regret, {row}")
        axes.loglog(
            course.rounds, course.certificate, "--", color=colour, label=f"certificate, {row}"
        )
    _trivial_bound(axes, course)
    axes.set(ylabel="units of B")
    axes.legend(frameon=False, fontsize=7)
    return figure, "certificate", "Regret of one game and the certificate computed along with it."


def _trivial_bound(axes: Any, course: Course) -> None:
    axes.loglog(course.rounds, 2.0 * course.rounds, ":", color=GREY, label="trivial bound 2T")
    axes.set(xlabel="rounds t", xlim=(10, None), ylim=(1, None))


def _schedule(plt: Any, table: Table) -> Drawn:
    """The paper's sequences follow from the curvature alone: no game is needed."""
    horizon = 20_000
    low, high = table.environment(Ball(2), "first", horizon, 0).loss_range
    scale = (high - low) / 2
    pattern = table.rows["first"].pattern(horizon)
    schedule = sharp_schedule(table.order, 2, 1.0, table.constant / scale, None)
    sigmas = [pattern.at(t) / scale for t in range(1, horizon + 1)]
    lambdas, etas, total = [], [], schedule.first
    for t, sigma in enumerate(sigmas, start=1):
        lambdas.append(schedule.regularisation(total + sigma))
        total += sigma + lambdas[-1]
        etas.append(schedule.rate(total, t + 1))
    figure, axes = plt.subplots(figsize=(5.5, 3.6), layout="constrained")
    rounds = np.arange(1, horizon + 1)
    axes.loglog(rounds, lambdas, color=COLOURS[0], label="lambda_t, regularisation")
    axes.loglog(rounds, etas, color=COLOURS[1], label="eta_t, learning rate")
    flat = int(np.argmax(np.array(sigmas) > 0))
    axes.axvspan(1, flat, color=GREY, alpha=0.15, lw=0)
    axes.text(1.3, min(lambdas), "losses are flat", fontsize=8, color="#444444")
    axes.set(xlabel="rounds t", ylabel="paper's units")
    axes.legend(frameon=False)
    caption = (
        "What the learner does with curvature: it adds its own (lambda_t) while the losses have "
        "none, and stops adding when they have."
    )
    return figure, "schedule", caption


def _lemma(plt: Any) -> Drawn:
    figure, axes = plt.subplots(figsize=(5.5, 3.4), layout="constrained")
    horizon, setting = 3000, tuning.smooth(2, 1.0)
    first = setting.target
    marks = np.unique(np.geomspace(1, horizon, 40).astype(int))
    rows = [TABLES[1].rows[name] for name in ("zero", "constant", "first", "decay-0.2")]
    for row, colour in zip(rows, COLOURS, strict=False):
        pattern = row.pattern(horizon)
        sigmas = np.array([pattern.at(t) for t in range(1, horizon + 1)])
        lambdas = setting.adaptive_lambdas(sigmas, first)
        ratios = [
            setting.objective(lambdas[:t], sigmas[:t], first)
            / setting.minimum(sigmas[:t], first)[0]
            for t in marks
        ]
        axes.semilogx(marks, ratios, color=colour, label=row.label)
    axes.axhline(2, color=GREY, ls=":", label="proved bound")
    axes.set(xlabel="rounds t", ylabel="price / least price", ylim=(0.95, 2.1))
    axes.legend(frameon=False, fontsize=7)
    caption = "The tuning lemma: the price of the adaptive lambda_t over the least in hindsight."
    return figure, "lemma", caption
