"""What the examples that compare learners share: the competitor, intervals, pictures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from math import e, exp, log
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from dikin.experiments import drawing
from dikin.experiments.compare.external import CMA
from dikin.experiments.fit import half_interval

__all__ = [
    "CMA",
    "COLOURS",
    "band",
    "interval",
    "label_ends",
    "label_linear_ends",
    "new_figure",
    "play_parallel",
    "save",
    "spread",
]

Array = np.typing.NDArray[np.float64]
Task = TypeVar("Task")
Game = TypeVar("Game")

COLOURS = dict(zip(("blue", "orange", "green", "purple", "yellow"), drawing.COLOURS, strict=False))
COLOURS["grey"] = drawing.GREY
TINY = 1e-9
LINE_HEIGHT = 0.045
"""Of a label, in heights of the axes."""


def play_parallel(play: Callable[[Task], Game], tasks: list[Task], workers: int) -> list[Game]:
    """Every game, in the order of the tasks, with a progress bar."""
    from joblib import Parallel, delayed
    from rich.progress import track

    done: Iterator[Game] = Parallel(n_jobs=workers, return_as="generator")(
        delayed(play)(task) for task in tasks
    )
    return list(track(done, f"{len(tasks)} games", total=len(tasks)))


def interval(values: Array) -> tuple[Any, Any]:
    """The mean over games (the first axis), and half of its 95% interval by Student's t."""
    return values.mean(axis=0), half_interval(values)


def new_figure(*shape: int, **options: Any) -> tuple[Any, Any]:
    """A figure and its axes, without frames, drawn without a screen."""
    plt = drawing.pyplot()
    plt.rcParams.update({"font.size": 10})
    figure, axes = plt.subplots(*shape, layout="constrained", **options)
    return figure, axes


def band(axes: Any, rounds: Any, games: Array, colour: str, style: str = "-") -> float:
    """Draw the mean of the games with all of them around it; where its line ends.

    On a logarithmic axis there is no place for what is not positive: it is drawn far below.
    """
    seen = np.maximum(games, TINY)
    axes.fill_between(rounds, seen.min(axis=0), seen.max(axis=0), color=colour, alpha=0.16, lw=0)
    axes.plot(rounds, seen.mean(axis=0), style, color=colour, linewidth=2)
    return float(seen[:, -1].mean())


def spread(heights: Iterable[float], apart: float) -> list[float]:
    """The heights moved as little as keeps each at least a factor `apart` above the one below.

    Heights that would overlap form a group around their mean, in logarithms.

    >>> [round(height, 2) for height in spread([1.0, 100.0, 1.0], 4.0)]
    [0.5, 100.0, 2.0]
    """
    logs, step = [log(height) for height in heights], log(apart)
    order = sorted(range(len(logs)), key=logs.__getitem__)
    groups: list[list[int]] = []
    for index in order:
        groups.append([index])
        while len(groups) > 1 and _lowest(groups[-1], logs, step) < step + _highest(
            groups[-2], logs, step
        ):
            groups[-2:] = [groups[-2] + groups[-1]]
    places = dict.fromkeys(order, 0.0)
    for group in groups:
        low = _lowest(group, logs, step)
        places |= {index: low + rank * step for rank, index in enumerate(group)}
    return [float(np.exp(places[index])) for index in range(len(logs))]


def _lowest(group: list[int], logs: list[float], step: float) -> float:
    middle = sum(logs[index] for index in group) / len(group)
    return middle - step * (len(group) - 1) / 2


def _highest(group: list[int], logs: list[float], step: float) -> float:
    return _lowest(group, logs, step) + step * (len(group) - 1)


def label_ends(axes: Any, end: float, labels: dict[str, tuple[float, str]], apart: float) -> None:
    """Write names beside the ends of lines: for each a height and a colour. A logarithmic axis."""
    _write_beside(axes, end, labels, spread([height for height, _ in labels.values()], apart))


def label_linear_ends(axes: Any, end: float, labels: dict[str, tuple[float, str]]) -> None:
    """The same on a linear axis whose limits are set."""
    low, high = axes.get_ylim()
    gap = LINE_HEIGHT * (high - low)
    powers = spread([exp((height - low) / gap) for height, _ in labels.values()], e)
    _write_beside(axes, end, labels, [low + gap * log(power) for power in powers])


def _write_beside(
    axes: Any, end: float, labels: dict[str, tuple[float, str]], heights: list[float]
) -> None:
    for (name, (_, colour)), height in zip(labels.items(), heights, strict=True):
        axes.annotate(
            name,
            (end, height),
            xytext=(5, 0),
            textcoords="offset points",
            va="center",
            color=colour,
            fontsize=9,
            annotation_clip=False,
        )


def save(figure: Any, file: Path) -> None:
    """Write the picture, all of it or nothing."""
    drawing.save_figure(figure, file, dpi=130, bbox_inches="tight")
