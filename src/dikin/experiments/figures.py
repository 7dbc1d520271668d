"""Figures for a talk: told apart by everyone, readable in print, with units."""

from __future__ import annotations

import io
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dikin.domains.ball import Ball
from dikin.engine.play import play, readable
from dikin.errors import PaperConstantsWarning
from dikin.experiments.plan import TABLES
from dikin.experiments.tables import Line, Scaling
from dikin.serialization import replace_file
from dikin.theory import rates, tuning

if TYPE_CHECKING:
    from dikin.experiments.reproduce import Request

# Okabe and Ito's palette (2008), which people with any colour vision tell apart.
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"]
GREY = "#777777"


def draw_all(
    measured: dict[int, list[Line]], dims: list[Scaling], request: Request, out: Path
) -> list[tuple[Path, str]]:
    """Every figure with its caption."""
    plt = pyplot()
    drawn: list[tuple[Path, str]] = []

    def keep(figure: Any, name: str, caption: str) -> None:
        file = out / f"{name}.png"
        save_figure(plt, figure, file)
        drawn.append((file, caption))

    for number, lines in measured.items():
        keep(*_regret(plt, number, lines))
    if any(line.row.startswith("decay") for lines in measured.values() for line in lines):
        keep(*_alphas(plt, measured))
    keep(*_dimensions(plt, dims))
    keep(*_constants(plt, request))
    keep(*_certificate(plt, request))
    keep(*_schedule(plt, request))
    keep(*_lemma(plt))
    return drawn


def pyplot() -> Any:
    """Matplotlib in the style of every figure here, without a screen."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False})
    return plt


def save_figure(plt: Any, figure: Any, file: Path) -> None:
    """Write a figure as PNG, the file replaced as a whole."""
    content = io.BytesIO()
    figure.savefig(content, dpi=120)
    replace_file(file, content.getvalue())
    plt.close(figure)


def _regret(plt: Any, number: int, lines: list[Line]) -> tuple[Any, str, str]:
    figure, axes = plt.subplots(figsize=(7, 4.6), layout="constrained")
    for line, colour, mark in zip(lines, COLOURS * 2, "osD^v<>Pp*X" * 2, strict=False):
        label = f"{line.pattern}: {line.fit.exponent:.3f} (proved {line.theory:.3f})"
        axes.loglog(line.horizons, line.regrets, mark, color=colour, markersize=4, label=label)
        axes.loglog(
            line.horizons, line.fit.factor * line.horizons**line.fit.exponent, color=colour, lw=1
        )
        proved = line.regrets[-1] * (line.horizons / line.horizons[-1]) ** line.theory
        axes.loglog(line.horizons, proved, ":", color=colour, lw=1)
    axes.set(xlabel="rounds T", ylabel="mean regret (units of B)")
    axes.legend(fontsize=7, frameon=False)
    caption = (
        f"Table {number}: mean regret against T. Solid: the fitted slope. Dotted: the proved one, "
        "through the last point. B is half the range of the losses."
    )
    return figure, f"regret{number}", caption


def _alphas(plt: Any, measured: dict[int, list[Line]]) -> tuple[Any, str, str]:
    figure, panels = plt.subplots(
        1, len(measured), figsize=(3.8 * len(measured), 3.2), layout="constrained", squeeze=False
    )
    exponent = {1: rates.decaying_smooth_exponent, 2: rates.decaying_lipschitz_exponent}
    for axes, (number, lines) in zip(panels[0], measured.items(), strict=True):
        alphas = np.array([0.0, *TABLES[number].alphas])
        rows = [line for line in lines if line.row == "constant" or line.row.startswith("decay")]
        fits = [line.fit for line in rows]
        middle = np.array([fit.exponent for fit in fits])
        errors = [middle - [f.low for f in fits], np.array([f.high for f in fits]) - middle]
        fine = np.linspace(0, 1, 201)
        axes.plot(fine, [exponent[number](a) for a in fine], color=GREY, label="proved")
        axes.errorbar(
            alphas, middle, errors, fmt="o", color=COLOURS[0], capsize=3, label="measured"
        )
        axes.set(xlabel="alpha, for sigma_t = sigma t^-alpha", ylabel="exponent of T")
        axes.set_title(f"Table {number}", fontsize=10)
        axes.legend(frameon=False)
    caption = "Decaying curvature: the exponent rises with alpha up to a kink, as proved."
    return figure, "alphas", caption


def _dimensions(plt: Any, dims: list[Scaling]) -> tuple[Any, str, str]:
    figure, axes = plt.subplots(figsize=(8.5, 4.2), layout="constrained")
    for one, colour, mark in zip(dims, COLOURS * 2, "osD^v<>P", strict=False):
        growth = f"d^{one.fit.exponent:.2f} (in the table {one.theory:.2f})"
        label = f"table {one.table}, {one.row}, {one.set}: {growth}"
        style = f"{mark}{'-' if one.table == 1 else '--'}"
        axes.loglog(one.dims, one.regrets, style, color=colour, markersize=4, lw=1, label=label)
    ticks = dims[0].dims.astype(int)
    axes.set_xticks(ticks, ticks)
    axes.minorticks_off()
    axes.set(xlabel="dimension d", ylabel="mean regret (units of B)")
    axes.legend(fontsize=7, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    caption = (
        "Growth with the dimension at a fixed horizon. The tables' exponents are upper bounds for "
        "nu = O(d), which the cube has and the ball (nu = 1) has not."
    )
    return figure, "dimensions", caption


def _game(request: Request, row: str, horizon: int, constants: str, seed: int = 0) -> Any:
    table = TABLES[request.tables[0]]
    world = table.environment(Ball(2), row, horizon, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PaperConstantsWarning)
        learner = table.learner(world, constants, horizon, seed)  # type: ignore[arg-type]
    return learner, world


def _constants(plt: Any, request: Request) -> tuple[Any, str, str]:
    horizon = request.effort.horizons[-1]
    figure, axes = plt.subplots(figsize=(5.5, 3.6), layout="constrained")
    for constants, colour in (("paper", COLOURS[1]), ("sharp", COLOURS[0])):
        learner, world = _game(request, "constant", horizon, constants)
        run = play(learner, world, horizon, progress=False)
        scale = learner.units.loss_scale
        axes.loglog(
            run.checkpoints, np.maximum(run.regret / scale, 1e-3), color=colour, label=constants
        )
    rounds = run.checkpoints
    axes.loglog(rounds, 2.0 * rounds, ":", color=GREY, label="trivial bound 2T")
    axes.set(xlabel="rounds t", ylabel="regret (units of B)", xlim=(10, None), ylim=(1, None))
    axes.legend(frameon=False, title="constants")
    caption = (
        "One game with constant curvature, played with the paper's constants and with the sharp "
        "ones. With the paper's the regret still grows almost like T: lambda_0 pins the centre."
    )
    return figure, "constants", caption


def _certificate(plt: Any, request: Request) -> tuple[Any, str, str]:
    horizon = request.effort.horizons[-1]
    figure, axes = plt.subplots(figsize=(5.5, 3.6), layout="constrained")
    for row, colour in (("zero", COLOURS[1]), ("constant", COLOURS[0])):
        learner, world = _game(request, row, horizon, "sharp")
        run = play(learner, world, horizon, progress=False)
        scale, rounds = learner.units.loss_scale, run.checkpoints
        axes.loglog(
            rounds, np.maximum(run.regret / scale, 1e-3), color=colour, label=f"regret, {row}"
        )
        axes.loglog(
            rounds, run.certificate / scale, "--", color=colour, label=f"certificate, {row}"
        )
    axes.loglog(rounds, 2.0 * rounds, ":", color=GREY, label="trivial bound 2T")
    axes.set(xlabel="rounds t", ylabel="units of B", xlim=(10, None), ylim=(1, None))
    axes.legend(frameon=False, fontsize=7)
    return figure, "certificate", "Regret of one game and the certificate computed along with it."


def _schedule(plt: Any, request: Request) -> tuple[Any, str, str]:
    horizon = 20_000
    learner, world = _game(request, "first", horizon, "sharp")
    advance = readable(learner, world)
    lambdas, etas, sigmas = [], [], []
    for t in range(1, horizon + 1):
        before = learner._total
        advance(1)
        sigma = learner.units.curvature(world.curvature(t))
        lambdas.append(learner._total - before - sigma)
        etas.append(learner._rate)
        sigmas.append(sigma)
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


def _lemma(plt: Any) -> tuple[Any, str, str]:
    figure, axes = plt.subplots(figsize=(5.5, 3.4), layout="constrained")
    horizon, first = 3000, tuning.smooth_target(2, 1.0)
    marks = np.unique(np.geomspace(1, horizon, 40).astype(int))
    for (row, label), colour in zip(
        {
            "zero": "zero",
            "constant": "constant",
            "first": "first T^(3/4) flat",
            "decay-0.2": "t^-0.2",
        }.items(),
        COLOURS,
        strict=False,
    ):
        pattern = TABLES[1].pattern(row, horizon)
        sigmas = np.array([pattern.at(t) for t in range(1, horizon + 1)])
        lambdas = tuning.adaptive_lambdas_smooth(sigmas, first, 2, 1.0)
        ratios = [
            tuning.smooth_objective(lambdas[:t], sigmas[:t], first, 2, 1.0)
            / tuning.smooth_minimum(sigmas[:t], first, 2, 1.0)[0]
            for t in marks
        ]
        axes.semilogx(marks, ratios, color=colour, label=label)
    axes.axhline(2, color=GREY, ls=":", label="proved bound")
    axes.set(xlabel="rounds t", ylabel="price / least price", ylim=(0.95, 2.1))
    axes.legend(frameon=False, fontsize=7)
    caption = "The tuning lemma: the price of the adaptive lambda_t over the least in hindsight."
    return figure, "lemma", caption
