"""What a study looks like: a summary and curves for the terminal, a figure for a file."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from dikin import extras
from dikin.errors import ParameterError, StateError
from dikin.serialization import replace_file
from dikin.studies.history import Table
from dikin.studies.study import Study
from dikin.tuning.drawing import draw_history, save_figure
from dikin.tuning.space import Space
from dikin.vectors import Array

FORMATS = ("png", "svg", "pdf")
WIDTH = 42
"""Blocks of a curve: with its name and two numbers it fits into 80 columns."""
MARGIN = 14
"""Columns that the names take, if none is longer."""
BLOCKS = "▁▂▃▄▅▆▇█"
NO_CERTIFICATE = (
    "NaN: this learner has none, no constant was declared (certificate_for takes one), or its "
    "centre is too close to the boundary"
)


def curves(study: Study, rounds: Table) -> dict[str, Array]:
    """What is drawn over the rounds."""
    if study.space is not None:
        return {name: rounds[name] for name in (*study.space.columns, "value")}
    plain = rounds["loss"].dtype != object
    losses = rounds["loss"] if plain else np.array([_suffered(told) for told in rounds["loss"]])
    count = np.arange(1, len(rounds) + 1)
    return {
        "loss": losses,
        "running mean": np.cumsum(losses) / count,
        "curvature": rounds["curvature"],
        "certificate": rounds["certificate"],
    }


def _suffered(told: Any) -> float:
    """What a round cost: the mean of a pair of losses, or the loss that came with a gradient."""
    loss, more = told
    return float((loss + more) / 2 if isinstance(more, float) else loss)


def sparkline(values: Array, width: int = WIDTH) -> str:
    """A curve as one line of blocks, each the mean of its share of the rounds; a gap for NaN."""
    shares = np.array_split(values, min(width, len(values))) if len(values) else []
    means = np.array([np.mean(share) for share in shares])
    seen = means[np.isfinite(means)]
    if not len(seen):
        return " " * len(means)
    low, spread = seen.min(), seen.max() - seen.min()
    heights = np.zeros(len(means)) if spread == 0 else (means - low) / spread * (len(BLOCKS) - 1)
    return "".join(BLOCKS[round(h)] if np.isfinite(h) else " " for h in heights)


def text(study: Study) -> Iterator[str]:
    """The summary and the curves, line by line, for a terminal."""
    rounds = study.history()
    lines = list(study.facts())
    if len(rounds):
        lines.append(("history", f"rounds {rounds['round'][0]:,} to {rounds['round'][-1]:,}"))
    over = curves(study, rounds) if len(rounds) else {}
    margin = max(MARGIN, *(len(name) + 1 for name in [*over, *(name for name, _ in lines)]))
    yield f"study {study.name}"
    for name, fact in lines:
        yield f"{name:<{margin}}{fact}"
    if over:
        yield f"{'':<{margin}}{'over the rounds':<{WIDTH}}{'first':>11}{'last':>11}"
    for name, values in over.items():
        ends = f"{values[0]:>11,.5g}{values[-1]:>11,.5g}"
        yield f"{name:<{margin}}{sparkline(values):<{WIDTH}}{ends}"


def draw(study: Study, path: Path) -> None:
    """Draw the history of a study into a file."""
    extras.require("matplotlib.figure", "lab", "a drawing of a study")
    if path.suffix.lstrip(".").lower() not in FORMATS:
        raise ParameterError(f"{path} must end in {', '.join(f'.{each}' for each in FORMATS)}")
    rounds = study.history()
    if not len(rounds):
        raise StateError(f"study {study.name!r} has no history to draw yet")
    if study.space is None:
        _draw_learner(study, rounds, path)
    else:
        _draw_tuner(study, study.space, rounds, path)


def _draw_tuner(study: Study, space: Space, rounds: Table, path: Path) -> None:
    """Draw each parameter and the value over the rounds."""
    figure = draw_history(
        rounds, space, maximize=study.summary().maximize, title=f"study {study.name}"
    )
    save_figure(figure, path)


def _draw_learner(study: Study, rounds: Table, path: Path) -> None:
    """Draw loss, running mean, curvature and certificate over the rounds."""
    figures = extras.require("matplotlib.figure", "lab", "a drawing of a study")
    x, lines = rounds["round"], curves(study, rounds)
    figure = figures.Figure(figsize=(8, 7), layout="constrained")
    top, middle, bottom = figure.subplots(3, sharex=True, height_ratios=[3, 1.5, 2])
    top.plot(x, lines["loss"], ".", markersize=2, color="0.7", label="loss", rasterized=True)
    top.plot(x, lines["running mean"], color="C0", label="running mean")
    top.set_ylabel("loss")
    top.legend(loc="upper right")
    told, dots = lines["curvature"], {"markersize": 2, "color": "0.7", "rasterized": True}
    middle.plot(x, told, ".", **dots)
    middle.plot(x, np.cumsum(told) / np.arange(1, len(told) + 1), color="C2", label="running mean")
    middle.set_ylabel("curvature told")
    middle.legend(loc="upper right")
    bottom.plot(x, lines["certificate"], color="C3")
    bottom.set_ylabel("certificate")
    if not np.isfinite(lines["certificate"]).any():
        bottom.text(0.5, 0.5, NO_CERTIFICATE, ha="center", transform=bottom.transAxes)
    bottom.set_xlabel("round")
    figure.suptitle(f"study {study.name}", parse_math=False)
    content = BytesIO()
    figure.savefig(content, dpi=110, format=path.suffix.lstrip(".").lower())
    replace_file(path, content.getvalue())
