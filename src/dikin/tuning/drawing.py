"""The history of a tuner as a figure: what was played, the best guess, and what came of it.

Every curve is taken at some hundred rounds (`marks`), from the rounds just before each of them: a
million rounds draw as fast as a thousand, into a file as small.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from math import log10
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dikin import extras
from dikin.errors import ParameterError, StateError
from dikin.files import path_of, replace_file
from dikin.tuning.history import BEST, Table
from dikin.tuning.parameters.base import Axis
from dikin.tuning.space import Space
from dikin.vectors import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS = ("png", "svg", "pdf")
WIDTH = 10.0
DPI, FILE_DPI = 100, 160
"""Pixels in an inch, on a screen and in a file: a PNG is 1600 wide, and readable at 1000."""
MARGINS = 0.075, 0.86
"""Where the panels begin and end, as shares of the width: direct labels stand to their right."""
HEIGHTS = {"parameter": 1.05, "value": 1.5, "surprise": 0.8, "certificate": 0.8}
GAP, HEAD, TITLE, FOOT = 0.42, 0.36, 0.36, 0.55
"""Inches between panels, of the words above the first, of a title, and below the last panel."""

MOST_PANELS = 8
"""Parameters that are drawn; a figure of more is too high for a page."""
MOST_PARTS = 6
"""Parts of a Shares that have a colour and a label."""
MARKS = 400
"""Rounds at which curves are taken, at most: more are closer than two pixels."""
FEW = 1000
"""Up to so many rounds each is a dot of its own."""
LEAST_WINDOW, WINDOWS = 10, 50
"""A curve is taken over a fiftieth of all rounds, and at least ten."""
LOW, HIGH = 0.05, 0.95
"""The quantiles that bound a band."""
FAR = 10
"""A few values that are so many times as far from the median as all others are far off."""

# Okabe and Ito's palette (2008), which people with any colour vision can distinguish.
BLUE, ORANGE, GREEN, PURPLE = "#0072b2", "#d55e00", "#009e73", "#cc79a7"
PALETTE = [BLUE, ORANGE, GREEN, PURPLE, "#e69f00", "#56b4e9"]
GREY, PALE, INK = "#666666", "#bbbbbb", "#222222"
HELD = "#f2e6c8"
SMALL, NORMAL, LARGE = 10.0, 11.0, 14.0
FONTS = ["STIXGeneral", "DejaVu Sans"]
"""Both come with matplotlib: a figure looks the same everywhere. The second has what the first
lacks."""
STYLE: Any = {
    "font.family": FONTS,
    "mathtext.fontset": "stix",
    "font.size": 9,
    "axes.labelsize": 9,
    "axes.titlesize": 9,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.minor.width": 0.4,
    "ytick.minor.width": 0.4,
    "lines.linewidth": 1.2,
    "lines.markersize": 3.5,
}
"""What every figure of this library has in common; sizes are in points."""
LONGEST = 12
"""Letters of the name of a part, next to its share."""
LINE_HEIGHT = 0.19
"""Inches that a label needs."""


class Panel(NamedTuple):
    """One picture over the rounds: a parameter, or the parts of a Shares."""

    name: str
    columns: tuple[str, ...]
    labels: tuple[str, ...]
    """What each column is called next to its line; empty for the only one."""
    start: tuple[float, ...]
    axis: Axis = Axis()


class Label(NamedTuple):
    """A text next to the right end of a line."""

    y: float
    text: str
    colour: str


def draw_history(table: Table, space: Space, *, maximize: bool, title: str = "") -> Figure:
    """Draw each parameter, the value, the surprise and the certificate over the rounds.

    Parameters
    ----------
    table : numpy.ndarray
        One row a round, as `history_table` gives it.
    space : Space
        The parameters.
    maximize : bool
        Whether large values are good.
    title : str, default ""
        What stands above.

    Returns
    -------
    matplotlib.figure.Figure
        Panels that share the axis of the rounds; `save_figure` writes it.

    Raises
    ------
    MissingExtraError
        If matplotlib is not installed.
    StateError
        If there is no round to draw.
    """
    return draw_panels(table, panels_of(space), maximize=maximize, title=title)


def panels_of(space: Space) -> list[Panel]:
    """What is drawn of each parameter.

    Parameters
    ----------
    space : Space
        The parameters.

    Returns
    -------
    list of Panel
        In the order of the parameters.
    """
    panels, start = [], iter(space.start_values.tolist())
    for name, parameter in space.parameters.items():
        columns = parameter.columns(name)
        labels = tuple(column.removeprefix(name).removeprefix(".") for column in columns)
        here = tuple(islice(start, len(columns)))
        panels.append(Panel(name, columns, labels, here, parameter.axis))
    return panels


def draw_panels(
    table: Table, panels: Sequence[Panel], *, maximize: bool, title: str = ""
) -> Figure:
    """`draw_history` for columns of any kind, such as the coordinates of a point.

    Parameters
    ----------
    table : numpy.ndarray
        One row a round.
    panels : sequence of Panel
        Which columns to draw, each also with its best guess.
    maximize : bool
        Whether large values are good.
    title : str, default ""
        What stands above.

    Returns
    -------
    matplotlib.figure.Figure
        Panels that share the axis of the rounds.

    Raises
    ------
    StateError
        If there is no round to draw.
    """
    if not len(table):
        raise StateError("there is no round to draw: tell a value first")
    with extras.require("matplotlib", "lab", "a drawing of a history").rc_context(STYLE):
        return _drawn(table, panels, maximize, title)


def _drawn(table: Table, panels: Sequence[Panel], maximize: bool, title: str) -> Figure:
    drawn = panels[:MOST_PANELS]
    kinds = ["parameter"] * len(drawn) + ["value"]
    kinds += ["surprise"] * bool(np.isfinite(table["expected"][~far_off(table["value"])]).any())
    kinds += ["certificate"] * bool(np.isfinite(table["certificate"]).any())
    figure, axes = _layout(kinds, HEAD + TITLE * bool(title))
    for panel, place in zip(drawn, axes, strict=False):
        _draw_parameter(place, table, panel)
    for kind, place in zip(kinds[len(drawn) :], axes[len(drawn) :], strict=True):
        if kind == "value":
            _draw_value(place, table, maximize)
        else:
            _draw_line(place, table, kind)
    _shade_held(axes, table)
    _caption(figure, title, len(panels) - len(drawn))
    return figure


def save_figure(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write a figure to a file, which at any instant is the whole old one or the whole new one.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        What `draw_history` gave.
    path : str or os.PathLike
        The file; its ending, .png, .svg or .pdf, says in which format.

    Raises
    ------
    ParameterError
        If the file ends otherwise.
    """
    replace_file(path_of(path), rendered(figure, figure_format(path)))


def figure_format(path: str | os.PathLike[str]) -> str:
    """The format that the ending of a file asks for.

    Parameters
    ----------
    path : str or os.PathLike
        The file.

    Returns
    -------
    str
        Such as "png".

    Raises
    ------
    ParameterError
        If the file ends otherwise than a figure can.
    """
    kind = path_of(path).suffix.lstrip(".").lower()
    if kind not in FORMATS:
        endings = ", ".join(f".{each}" for each in FORMATS)
        raise ParameterError(f"a figure is written to a file that ends in {endings}, got {path}")
    return kind


def rendered(figure: Figure, kind: str, **options: Any) -> bytes:
    """A figure as the content of a file: the same bytes for the same figure.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        What `draw_history` gave.
    kind : str
        "png", "svg" or "pdf".
    **options
        Of matplotlib's `savefig`, such as `dpi`.

    Returns
    -------
    bytes
        The content.
    """
    matplotlib = extras.require("matplotlib", "lab", "a figure")
    # Without a date, and with names inside the file that do not come from a random number.
    undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}[kind]
    content = io.BytesIO()
    chosen: Any = {"dpi": FILE_DPI, "metadata": undated} | options
    with matplotlib.rc_context(STYLE | {"svg.hashsalt": "dikin"}):
        figure.savefig(content, format=kind, **chosen)
    return content.getvalue()


# --- curves --------------------------------------------------------------------------------------


def marks(rounds: int) -> NDArray[np.int64]:
    """The rows at which curves are taken: all, or some hundred with the first and the last.

    Parameters
    ----------
    rounds : int
        How many rows there are.

    Returns
    -------
    numpy.ndarray of int
        Their places, ascending.
    """
    return np.unique(np.linspace(0, rounds - 1, min(rounds, MARKS)).round().astype(np.int64))


def window(rounds: int) -> int:
    """The number of rows over which a curve is taken.

    Parameters
    ----------
    rounds : int
        How many rows there are.

    Returns
    -------
    int
        As many, fewer where not so many came before.
    """
    return max(LEAST_WINDOW, rounds // WINDOWS)


def rolling(column: Array, of: Callable[[Array], Any]) -> Array:
    """A statistic of the rows up to each mark.

    Parameters
    ----------
    column : numpy.ndarray
        One number a row; rows that are not finite are left out.
    of : callable
        The statistic of an array.

    Returns
    -------
    numpy.ndarray
        One row for each mark; NaN where no number is finite.
    """
    size = window(len(column))
    found = (column[max(0, mark + 1 - size) : mark + 1] for mark in marks(len(column)))
    finite = (rows[np.isfinite(rows)] for rows in found)
    return np.array([of(rows) if len(rows) else np.nan for rows in finite])


def band(column: Array) -> tuple[Array, Array]:
    """The range that was played around each mark: from the 5 % to the 95 % quantile.

    Parameters
    ----------
    column : numpy.ndarray
        One finite number a row.

    Returns
    -------
    tuple of numpy.ndarray
        The lower and the upper end.
    """
    ends = rolling(column, lambda rows: np.quantile(rows, (LOW, HIGH)))
    return ends[:, 0], ends[:, 1]


def root_mean_square(rows: Array) -> float:
    """The size of some surprises.

    Parameters
    ----------
    rows : numpy.ndarray
        The surprises.

    Returns
    -------
    float
        The root of the mean of their squares.
    """
    return float(np.sqrt(np.mean(np.square(rows))))


def stretches(held: NDArray[np.bool_], gap: int) -> list[tuple[int, int]]:
    """Where a column is true without a break.

    Parameters
    ----------
    held : numpy.ndarray of bool
        One truth a row.
    gap : int
        Breaks of at most so many rows are none: they would not be seen.

    Returns
    -------
    list of tuple of int
        The first row of each, and the first row after it.
    """
    rows = np.flatnonzero(held)
    if not len(rows):
        return []
    breaks = np.flatnonzero(np.diff(rows) > gap + 1)
    firsts, lasts = rows[np.r_[0, breaks + 1]], rows[np.r_[breaks, len(rows) - 1]]
    return list(zip(firsts.tolist(), (lasts + 1).tolist(), strict=True))


def far_off(values: Array) -> NDArray[np.bool_]:
    """Which few values are many times as far from the median as all others.

    At most two, or a fiftieth of all, and fewer than half. Where most values are equal, none is far
    off: all can be seen as they are.

    Parameters
    ----------
    values : numpy.ndarray
        One number a row; rows that are not finite are not far off.

    Returns
    -------
    numpy.ndarray of bool
        One truth a row.
    """
    seen = values[np.isfinite(values)]
    middle = np.median(seen) if len(seen) else 0.0
    away, order = np.abs(values - middle), np.sort(np.abs(seen - middle))
    first = max(len(order) - max(2, len(order) // 50), (len(order) + 1) // 2 + 1)
    nearer, farther = order[first - 1 : -1], order[first:]
    jumps = np.flatnonzero((farther > FAR * nearer) & (nearer > 1e-9 * abs(middle)))
    return away >= farther[jumps[0]] if len(jumps) else np.zeros(len(values), bool)


def frame(values: Array) -> tuple[float, float]:
    """The ends of an axis on which a few values far off do not hide the others.

    Parameters
    ----------
    values : numpy.ndarray
        Finite numbers.

    Returns
    -------
    tuple of float
        All values that are not far off, or those within two widths of their middle 98 %.
    """
    usual = values[~far_off(values)]
    low, high = np.quantile(usual, (0.01, 0.99))
    width = high - low if high > low else np.ptp(usual) or abs(low) or 1.0
    least, most = max(usual.min(), low - 2 * width), min(usual.max(), high + 2 * width)
    return float(least - 0.06 * width), float(most + 0.06 * width)


# --- panels --------------------------------------------------------------------------------------


def _layout(kinds: list[str], head: float) -> tuple[Figure, list[Axes]]:
    """A figure with a panel for each kind, one below the other."""
    figures = extras.require("matplotlib.figure", "lab", "a drawing of a history")
    heights = [HEIGHTS[kind] for kind in kinds]
    total = head + FOOT + sum(heights) + GAP * len(kinds)
    figure: Figure = figures.Figure(figsize=(WIDTH, total), dpi=DPI, facecolor="white")
    axes: list[Axes] = []
    left, right, top = *MARGINS, total - head
    for height in heights:
        top -= GAP + height
        box = (left, top / total, right - left, height / total)
        axes.append(figure.add_axes(box, sharex=axes[0] if axes else None))
    for place in axes:
        _plain(place, last=place is axes[-1])
    return figure, axes


def _plain(axes: Axes, last: bool) -> None:
    """No more lines than are read; the rounds are written once, at the bottom."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(PALE)
    axes.tick_params(labelsize=SMALL, color=PALE, labelcolor=GREY, labelbottom=last)
    # Ticks are made when the figure is drawn, which the user may do in a style of theirs.
    axes.tick_params(labelfontfamily=FONTS)
    axes.yaxis.grid(True, color="#eeeeee", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.margins(x=0)
    axes.locator_params(axis="y", nbins=4)
    number_rounds(axes)
    if last:
        axes.set_xlabel("round", fontsize=NORMAL, color=GREY, loc="right")


def number_rounds(axes: Axes) -> None:
    """Write whole rounds below an axis, each once.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Whose horizontal axis counts rounds.
    """
    axes.xaxis.set_major_locator(_whole_ticks(8))
    axes.xaxis.set_major_formatter("{x:,.0f}")


def _whole_ticks(most: int) -> Any:
    """Ticks at whole numbers; without the last word there are at least two, and they are broken."""
    ticker = extras.require("matplotlib.ticker", "lab", "a drawing of a history")
    return ticker.MaxNLocator(most, steps=[1, 2, 2.5, 5, 10], integer=True, min_n_ticks=1)


def mark_outside(axes: Axes, x: NDArray[Any], y: Array, ends: tuple[float, float]) -> str:
    """Mark values beyond the ends of an axis by triangles at its edge.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Where to draw.
    x : numpy.ndarray
        The rounds.
    y : numpy.ndarray
        The value of each.
    ends : tuple of float
        The least and the largest value that can be seen.

    Returns
    -------
    str
        How many there are, for the heading; empty where there is none.
    """
    low, high = ends
    at, words = marks(len(x)), []
    for beyond, edge, marker, sign in ((y > high, high, "^", "▲"), (y < low, low, "v", "▼")):
        rows = np.flatnonzero(beyond)
        if not len(rows):
            continue
        drawn = x[at[np.unique(np.searchsorted(at, rows))]]  # at most one to a pixel or two
        style: dict[str, Any] = {"color": ORANGE, "markersize": 6, "markeredgewidth": 0}
        axes.plot(drawn, np.full(len(drawn), edge), marker, clip_on=False, label=sign, **style)
        words.append(f"{sign} {len(rows):,} {'above' if edge == high else 'below'}")
    return f"{' and '.join(words)} the axis" if words else ""


def _heading(axes: Axes, name: str, note: str = "") -> None:
    # A dollar sign in a name is one, and begins no formula.
    style: dict[str, Any] = {"pad": 5, "parse_math": False}
    axes.set_title(name, loc="left", fontsize=NORMAL, fontweight="bold", color=INK, **style)
    axes.set_title(note, loc="right", fontsize=SMALL, color=GREY, **style)


def _draw_parameter(axes: Axes, table: Table, panel: Panel) -> None:
    if panel.axis.log:
        axes.set_yscale("log")
    order = np.argsort([-table[BEST + column][-1] for column in panel.columns], kind="stable")
    several = len(panel.columns) > 1
    shown = sorted(order[:MOST_PARTS].tolist())
    labels = []
    for colour, i in zip(PALETTE, shown, strict=False):
        column, start = panel.columns[i], panel.start[i]
        if not several or len(shown) <= 3:
            _draw_played(axes, table, column, colour)
        best = _draw_best(axes, table, panel, column, colour)
        axes.axhline(start, color=colour if several else GREY, linewidth=0.9, linestyle=(0, (5, 4)))
        if several:
            text = f"{_short(panel.labels[i])} {_value(best, panel.axis)}"
            labels.append(Label(best, text, colour))
        else:
            labels.append(Label(best, f"best {_value(best, panel.axis)}", colour))
            labels.append(Label(start, f"start {_value(start, panel.axis)}", GREY))
    left_out = len(panel.columns) - len(shown)
    _heading(axes, panel.name, f"and {left_out} smaller shares" if left_out else "")
    _show_scale(axes, panel.axis)
    _write_labels(axes, labels)


def _show_scale(axes: Axes, axis: Axis) -> None:
    ticker = extras.require("matplotlib.ticker", "lab", "a drawing of a history")
    if axis.log:
        axes.yaxis.set_major_formatter("{x:g}")
        low, high = axes.get_ylim()
        decades = log10(high / low)
        if decades < 2.0:  # hardly a power of ten is within sight
            few = ticker.LogLocator(subs=(1.0, 3.0)) if decades > 1.0 else ticker.MaxNLocator(4)
            axes.yaxis.set_major_locator(few)
        axes.yaxis.set_minor_locator(ticker.NullLocator())
    elif axis.whole:
        axes.yaxis.set_major_locator(_whole_ticks(4))
        axes.yaxis.set_major_formatter(lambda y, _: _value(y, axis))
    elif axis.percent:
        axes.yaxis.set_major_formatter(ticker.PercentFormatter(1.0))


def _draw_played(axes: Axes, table: Table, column: str, colour: str) -> None:
    """The range that was played, and each round where they are few; on hold nothing is explored."""
    x, played, at = table["round"], table[column], marks(len(table))
    where = ~table["held"][at]
    axes.fill_between(
        x[at], *band(played), where=where, color=colour, alpha=0.18, linewidth=0, label=column
    )
    if len(x) <= FEW:
        _dots(axes, x, played, colour)


def _dots(axes: Axes, x: Any, y: Any, colour: str) -> None:
    size, alpha = (3.5, 0.45) if len(x) <= 200 else (1.8, 0.3)
    axes.plot(
        x, y, "o", markersize=size, markeredgewidth=0, color=colour, alpha=alpha, rasterized=True
    )


def _draw_best(axes: Axes, table: Table, panel: Panel, column: str, colour: str) -> float:
    """The best guess as a line; its last value."""
    at = marks(len(table))
    style = "steps-post" if panel.axis.whole else "default"
    x, y = table["round"][at], table[BEST + column][at]
    axes.plot(x, y, color=colour, linewidth=1.8, drawstyle=style, label=BEST + column)
    return float(y[-1])


def _draw_value(axes: Axes, table: Table, maximize: bool) -> None:
    x, values = table["round"], table["value"]
    at, size = marks(len(x)), min(window(len(x)), len(x))
    if len(x) <= FEW:
        _dots(axes, x, values, GREY)
    else:
        axes.fill_between(x[at], *band(values), color=GREY, alpha=0.18, linewidth=0, label="value")
    far = far_off(values)
    mean = rolling(np.where(far, np.nan, values), np.mean)
    axes.plot(x[at], mean, color=INK, linewidth=1.8, label="mean value")
    ends = frame(values)
    axes.set_ylim(*ends)
    notes = ["larger is better" if maximize else "smaller is better"]
    notes.append(mark_outside(axes, x, values, ends))
    notes.append(f"{far.sum():,} far off, not in the mean" if far.any() else "")
    _heading(axes, "value", " · ".join(filter(None, notes)))
    last = mean[np.isfinite(mean)][-1]
    _write_labels(axes, [Label(float(last), f"{_number(last)}\nmean of {size:,}", INK)])


def _draw_line(axes: Axes, table: Table, kind: str) -> None:
    at = marks(len(table))
    if kind == "surprise":
        usual = np.where(far_off(table["value"]), np.nan, table["value"])
        y = rolling(usual - table["expected"], root_mean_square)
        note, colour = "how far the value is from what was expected (root mean square)", GREEN
    else:
        y, note, colour = table["certificate"][at], "bound on the regret so far", PURPLE
    axes.plot(table["round"][at], y, color=colour, linewidth=1.8, label=kind)
    axes.set_ylim(0, 1.08 * _largest(y))
    _heading(axes, kind, note)
    seen = y[np.isfinite(y)]
    _write_labels(axes, [Label(float(seen[-1]), _number(seen[-1]), colour)])


def _largest(y: Array) -> float:
    """Where the axis ends: the first rounds, which know nothing, may be beyond."""
    seen = y[np.isfinite(y)]
    return float(max(min(seen.max(), 8.0 * np.median(seen)), seen[-1])) or 1.0


# --- what is common to the panels -----------------------------------------------------------------


def _write_labels(axes: Axes, labels: list[Label]) -> None:
    """Texts next to the ends of lines, moved apart where they would overlap."""
    height = axes.get_window_extent().height / DPI
    wanted = sorted((_share(axes, label.y), place) for place, label in enumerate(labels))
    room = LINE_HEIGHT / height
    for y, place in spread(wanted, room):
        label = labels[place]
        axes.text(
            1.012,
            y,
            label.text,
            color=label.colour,
            fontsize=SMALL,
            va="center",
            transform=axes.transAxes,
            parse_math=False,
        )


def _share(axes: Axes, y: float) -> float:
    """How high a number stands in the panel, from 0 to 1."""
    return float(axes.transAxes.inverted().transform(axes.transData.transform((1.0, y)))[1])


def spread(wanted: list[tuple[float, int]], room: float) -> Iterator[tuple[float, int]]:
    """Heights in ascending order, moved so that neighbours have room, within the panel.

    Parameters
    ----------
    wanted : list of tuple
        Heights as shares of the panel's, ascending, each with the place of what stands there.
    room : float
        The least distance, as such a share.

    Returns
    -------
    iterator of tuple
        The heights to take, with the same places.
    """
    heights = np.array([height for height, _ in wanted])
    steps = room * np.arange(len(heights))
    # With the steps taken off, the nearest ascending heights: those that would cross share a mean.
    apart = np.clip(_ascending(heights - steps), 0.0, max(0.0, 1.0 - steps[-1])) + steps
    return zip(apart.tolist(), (place for _, place in wanted), strict=True)


def _ascending(y: Array) -> Array:
    """The ascending sequence nearest to y: neighbours in the wrong order are averaged."""
    blocks: list[tuple[float, int]] = []
    for value in y.tolist():
        mean, count = value, 1
        while blocks and blocks[-1][0] >= mean:
            before, size = blocks.pop()
            mean, count = (before * size + mean * count) / (size + count), size + count
        blocks.append((mean, count))
    return np.repeat([mean for mean, _ in blocks], [count for _, count in blocks])


def _shade_held(axes: list[Axes], table: Table) -> None:
    """Rounds on hold, in which nothing was explored or learnt."""
    x, held = table["round"], stretches(table["held"], len(table) // MARKS)
    if not held:
        return
    spans = [(float(x[first]), float(x[after - 1] + 1 - x[first])) for first, after in held]
    for place in axes:
        place.broken_barh(
            spans,
            (0, 1),
            transform=place.get_xaxis_transform(),
            color=HELD,
            zorder=0.4,
            linewidth=0,
            label="held",
        )
    axes[0].text(
        spans[0][0],
        0.98,
        " on hold",
        transform=axes[0].get_xaxis_transform(),
        va="top",
        fontsize=SMALL,
        color="#7a6420",
    )


def _caption(figure: Figure, title: str, left_out: int) -> None:
    """The title, and what the lines mean, in place of a legend."""
    height, left = figure.get_figheight(), MARGINS[0]
    note = "line: best guess · band: 5 to 95 % of the rounds · dashed: start"
    if left_out:
        note += f" · not drawn: {left_out} more"
    if title:
        style: dict[str, Any] = {"fontsize": LARGE, "fontweight": "bold", "color": INK, "va": "top"}
        figure.text(left, 1 - 0.2 / height, title, parse_math=False, **style)
    below = 0.2 + TITLE * bool(title)
    figure.text(left, 1 - below / height, note, fontsize=SMALL, color=GREY, va="top")


def _short(name: str) -> str:
    """A name that fits into the margin."""
    return name if len(name) <= LONGEST else name[: LONGEST - 1] + "…"


def _value(value: float, axis: Axis) -> str:
    """A value of a parameter; nothing beyond the ends of labels."""
    if axis.labels:
        return _short(dict(enumerate(axis.labels)).get(round(value), ""))
    if axis.percent:
        return f"{100 * value:.1f} %"
    return f"{value:,.0f}" if axis.whole else _number(value)


def _number(value: float) -> str:
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e7 else f"{value:.4g}"
