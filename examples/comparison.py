"""What the examples that compare learners share: intervals, pictures."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from dikin.experiments.fit import half_interval
from dikin.plotting import publication
from dikin.plotting.axes import spread
from dikin.plotting.style import GREY, PALETTE

Array = np.typing.NDArray[np.float64]
Task = TypeVar("Task")
Game = TypeVar("Game")

COLOURS = dict(zip(("blue", "orange", "green", "purple", "yellow", "sky"), PALETTE, strict=True))
COLOURS |= {"grey": GREY, "black": "black"}
WIDE, THIN = 1.8, 1.0
"""Points of the line of the tuner, and of those of the others."""


def play_parallel(play: Callable[[Task], Game], tasks: list[Task], workers: int) -> list[Game]:
    """Every game, in the order of the tasks, with a progress bar on the error stream."""
    from joblib import Parallel, delayed
    from rich.console import Console
    from rich.progress import track

    done: Iterator[Game] = Parallel(n_jobs=workers, return_as="generator")(
        delayed(play)(task) for task in tasks
    )
    bar = f"{len(tasks)} games"
    return list(track(done, bar, total=len(tasks), console=Console(stderr=True)))


def interval(values: Array) -> tuple[Any, Any]:
    """The mean over games (the first axis), and half of its 95% interval by Student's t."""
    return values.mean(axis=0), half_interval(values)


def new_figure(*shape: int, height: float, **options: Any) -> tuple[Any, Any]:
    """A figure as wide as a page and its axes, without frames, drawn without a screen."""
    options |= {"figsize": (publication.WIDTH, height), "layout": "constrained"}
    figure, axes = publication.pyplot().subplots(*shape, **options)
    return figure, axes


def band(axes: Any, rounds: Any, games: Array, colour: str, style: str = "-") -> float:
    """Draw the mean of the games with all of them around it; where its line ends.

    On a logarithmic axis there is no place for what is not positive: it is drawn far below.
    """
    seen = np.maximum(games, publication.TINY)
    axes.fill_between(rounds, seen.min(axis=0), seen.max(axis=0), color=colour, alpha=0.16, lw=0)
    axes.plot(rounds, seen.mean(axis=0), style, color=colour, linewidth=1.5)
    return float(seen[:, -1].mean())


def label_ends(axes: Any, end: float, labels: dict[str, tuple[float, str]]) -> None:
    """Write names beside the ends of lines, moved apart where they would overlap.

    `labels` has a height and a colour for each name. The limits of the axes must be set.
    """
    style = {"va": "center", "fontsize": publication.SMALL, "annotation_clip": False}
    beside: Any = {"xytext": (4, 0), "textcoords": "offset points", **style}
    texts = [
        axes.annotate(name, (end, height), color=colour, **beside)
        for name, (height, colour) in labels.items()
    ]
    axes.figure.canvas.figure.draw_without_rendering()  # the layout decides how high the axes are
    to_share = (axes.transData + axes.transAxes.inverted()).transform
    places = [to_share((end, height)) for height, _ in labels.values()]
    high = max(text.get_window_extent().height for text in texts)
    room = 1.15 * high / axes.get_window_extent().height
    for text, (x, _), height in zip(
        texts, places, spread([float(y) for _, y in places], room), strict=True
    ):
        text.xycoords = "axes fraction"
        text.xy = float(x), height


def legend_below(figure: Any, looks: dict[str, tuple[str, str]]) -> None:
    """What the lines of all panels are: for each name a colour and a style."""
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], color=colour, ls=style, lw=WIDE, label=name)
        for name, (colour, style) in looks.items()
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=3)


def save(figure: Any, file: Path) -> None:
    """Write the picture, all of it or nothing, as PNG and as SVG."""
    publication.publish(figure, file)
