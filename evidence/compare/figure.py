"""The matrix as a picture: how many times the best regret each learner has, by scenario.

All sizes are in inches, and the picture is as wide as a page: its letters are read in print. What
its marks and its columns mean stands in it.
"""

from __future__ import annotations

from pathlib import Path
from statistics import median
from textwrap import fill, wrap
from typing import Any, NamedTuple

import numpy as np

from dikin.plotting.formulas import maths
from dikin.plotting.publication import LEAST_TEXT, SMALL, WIDTH, publish, pyplot
from dikin.plotting.style import GREY
from evidence.compare.matrix import Matrix, Outcome
from evidence.compare.scenarios import GROUPS, SCENARIOS
from evidence.orderings import BEST, ERROR_RATE, LEVEL, LEVEL_RATIO, OPEN

FAR = 30.0
"""The ratio at which the colours end."""
DARK = 6.0
"""The ratio from which on letters are white."""
LESS = "#f6c482"
"""The colour of a ratio below one; those above go from white to dark blue."""
SECTIONS = {
    "dikin": "this library, one value a round",
    "baseline": "a fixed point",
    "other packages": "optimizers of other packages",
    "sees more": "told more of a round",
}
"""What stands above the rows of each section."""
WIDEST = 20
"""Scenarios side by side, at most."""
ROW, WIDEST_CELL = 0.17, 0.3
"""Height of a learner, and the width of a scenario where there is room."""
NAMES, SUMMARY, GAP = 1.13, 0.29, 0.05
"""Width of the learners' names, of a column of the summary, and between groups."""
HEAD, CAPTION, LEGEND = 1.05, 0.36, 0.42
"""Height of what stands above the cells, of the text on top, and of the legend below."""
TITLES = 0.6
"""Of these, the height of the scenarios' names; the titles of groups stand above."""
MARGIN = 0.05
KEY_LINE, KEY_WRAP, KEY_NAME = 0.118, 62, 0.66
"""Height of a line of the list of scenarios, letters in it, and the width of a name."""
LETTER = 0.043
"""The width of a letter of the smallest size, about."""
SAMPLE = 0.2
"""The width of a cell in the legend."""
UNDERLINED = {LEVEL: "-", OPEN: (0, (1, 1.6))}
"""The line below a cell, by its standing."""
LEAST_RATIO = 0.005
"""Of those that are written with digits."""

Row = list[tuple[str, list[str]]]
"""Groups with their scenarios."""


class MatrixLine(NamedTuple):
    """A line of the matrix: a learner, or the heading of a section."""

    text: str
    heading: bool


def draw(matrix: Matrix, file: Path) -> None:
    """The matrix, a legend, and a list of what the columns are; as PNG and as SVG."""
    plt = pyplot()
    places, rows, key = lines(matrix), arranged(matrix), scenario_list(matrix)
    columns = [key[: (len(key) + 1) // 2], key[(len(key) + 1) // 2 :]]
    band = HEAD + ROW * len(places)
    height = CAPTION + band * len(rows) + LEGEND + KEY_LINE * len(columns[0]) + 4 * MARGIN
    figure = plt.figure(figsize=(WIDTH, height))
    page = Page(figure, WIDTH, height)
    page.write(MARGIN, MARGIN, _caption(matrix), fontsize=SMALL, linespacing=1.2)
    for number, row in enumerate(rows):
        _draw_band(page, matrix, places, row, CAPTION + number * band + HEAD)
    below = CAPTION + len(rows) * band + 3 * MARGIN
    _draw_legend(page, below)
    for column, texts in enumerate(columns):
        _draw_list(page, MARGIN + column * WIDTH / 2, below + LEGEND, texts)
    publish(figure, file)


# --- what is shown --------------------------------------------------------------------------------


def lines(matrix: Matrix) -> list[MatrixLine]:
    """The learners, and a heading above each section; first the learner to take."""
    rows: list[MatrixLine] = []
    section = ""
    for learner in matrix.learners():
        if matrix.section(learner) != section:
            section = matrix.section(learner)
            rows.append(MatrixLine(SECTIONS[section], True))
        rows.append(MatrixLine(learner, False))
    return rows


def arranged(matrix: Matrix) -> list[Row]:
    """The groups with their scenarios, in rows of at most `WIDEST` scenarios where groups allow."""
    rows: list[Row] = [[]]
    for group in matrix.groups:
        names = matrix.of_group(group)
        if rows[-1] and sum(len(n) for _, n in rows[-1]) + len(names) > WIDEST:
            rows.append([])
        rows[-1].append((group, names))
    return rows


def scenario_list(matrix: Matrix) -> list[tuple[str, str]]:
    """Lines of the list of scenarios: a name where one begins, and a part of what it is."""
    rows: list[tuple[str, str]] = []
    for scenario in matrix.scenarios:
        listed_scenario = SCENARIOS.get(scenario)
        text = listed_scenario.description.replace("`", "") if listed_scenario else "your own"
        first, *more = wrap(text, KEY_WRAP)
        rows += [(scenario, first), *(("", part) for part in more)]
    return rows


def played(matrix: Matrix, learner: str) -> list[Outcome]:
    """What a learner played."""
    return [c for c in matrix.outcomes if c.learner == learner and c.played]


def short(ratio: float) -> str:
    """A ratio in three signs or fewer.

    >>> [short(ratio) for ratio in (0.001, 0.25, 0.97, 1.04, 9.96, 163.2, 4200.0)]
    ['0', '.25', '1.0', '1.0', '10', '163', '4k']
    """
    if ratio < LEAST_RATIO:
        return "0"
    if ratio < 0.95:
        return f"{ratio:.2f}"[1:]
    if ratio < 9.95:
        return f"{ratio:.1f}"
    return f"{ratio:.0f}" if ratio < 999.5 else f"{ratio / 1000:.0f}k"


def _caption(matrix: Matrix) -> str:
    return (
        f"Mean regret after {matrix.rounds:,} rounds, divided by the least that a learner of this "
        "library with one value a round has in the same scenario.\n"
        "Sections are sorted by the median ratio, learners of few scenarios last. On top: the one "
        "to take if nothing is known of the losses."
    )


# --- the matrix -----------------------------------------------------------------------------------


class Page(NamedTuple):
    """A figure that is filled in inches, from its upper left corner."""

    figure: Any
    width: float
    height: float

    def write(self, x: float, y: float, text: str, **style: Any) -> None:
        style = {"fontsize": LEAST_TEXT, "va": "top"} | style
        self.figure.text(x / self.width, 1 - y / self.height, text, **style)

    def axes(self, x: float, y: float, width: float, height: float) -> Any:
        box = x / self.width, 1 - (y + height) / self.height
        return self.figure.add_axes((*box, width / self.width, height / self.height))


def _draw_band(page: Page, matrix: Matrix, places: list[MatrixLine], row: Row, top: float) -> None:
    for number, place in enumerate(places):
        style: dict[str, Any] = {"fontstyle": "italic", "color": GREY} if place.heading else {}
        height = top + (number + 0.5) * ROW
        style |= {"va": "center", "fontsize": SMALL, "parse_math": False}
        page.write(MARGIN, height, place.text, **style)
    x = MARGIN + NAMES
    _draw_summary(page, matrix, places, x, top)
    x += 2 * SUMMARY
    room = WIDTH - MARGIN - x - GAP * len(row)
    cell = min(WIDEST_CELL, room / sum(len(names) for _, names in row))
    for group, names in row:
        wide = cell * len(names)
        x += GAP
        axes = page.axes(x, top, wide, ROW * len(places))
        _draw_cells(axes, matrix, places, names)
        heading = fill(GROUPS.get(group, group), max(9, int(wide / LETTER)))
        style = {"va": "bottom", "fontweight": "bold", "linespacing": 1.0}
        page.write(x, top - TITLES, heading, **style)
        x += wide


def _draw_summary(
    page: Page, matrix: Matrix, places: list[MatrixLine], x: float, top: float
) -> None:
    """The median ratio, and in how many scenarios a learner is known to be as good as the best."""
    titles = "median of\nthe ratios", "best\nor level"
    for column, title in enumerate(titles):
        page.write(
            x + (column + 0.5) * SUMMARY, top - 0.04, title, rotation=90, ha="center", va="bottom"
        )
    for number, place in enumerate(places):
        if place.heading:
            continue
        outcomes = played(matrix, place.text)
        level = sum(matrix.mark(outcome) in (BEST, LEVEL) for outcome in outcomes)
        ranked = not outcomes[0].sees_more
        texts = (
            short(median(map(matrix.ratio, outcomes))),
            f"{level}/{len(outcomes)}" if ranked else "",
        )
        for column, text in enumerate(texts):
            at = x + (column + 0.5) * SUMMARY, top + (number + 0.5) * ROW
            page.write(*at, text, ha="center", va="center", fontsize=SMALL)


def _draw_cells(axes: Any, matrix: Matrix, places: list[MatrixLine], scenarios: list[str]) -> None:
    values = np.full((len(places), len(scenarios)), np.nan)
    for y, place in enumerate(places):
        for x, scenario in enumerate(scenarios):
            outcome = None if place.heading else matrix.at(place.text, scenario)
            if outcome is not None and outcome.played:
                values[y, x] = matrix.ratio(outcome)
                draw_cell(axes, x, y, values[y, x], matrix.mark(outcome), bool(outcome.broken))
    _colour(axes, values)
    absent = np.argwhere(np.isnan(values) & ~np.array([[p.heading] for p in places]))
    axes.plot(absent[:, 1], absent[:, 0], ls="none", marker="_", color=GREY, ms=4, mew=0.6)
    axes.set_xticks(range(len(scenarios)), scenarios, rotation=90, fontsize=SMALL)
    axes.tick_params(top=True, labeltop=True, bottom=False, labelbottom=False, length=0, pad=2)
    for label in axes.get_xticklabels():
        label.set_parse_math(False)


def _colour(axes: Any, values: Any) -> None:
    """The colours of some ratios, with white lines between them, on bare axes."""
    from matplotlib.colors import LogNorm

    colours, norm = _colours(), LogNorm(1.0, FAR)
    # A rounded ratio of 1.0 is written so, and is coloured so.
    ratios = np.where(values < 0.95, values, np.clip(values, 1.0, FAR))
    axes.imshow(ratios, cmap=colours, norm=norm, aspect="auto", interpolation="none")
    axes.set_xticks(np.arange(values.shape[1] + 1) - 0.5, minor=True)
    axes.set_yticks(np.arange(values.shape[0] + 1) - 0.5, minor=True)
    axes.set_yticks([])
    axes.grid(which="minor", color="white", lw=0.8)
    axes.tick_params(which="both", length=0)
    axes.spines[:].set_visible(False)


def _colours() -> Any:
    """From white to dark blue: everyone sees which of two is darker."""
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap

    blues = ListedColormap(colormaps["Blues"](np.linspace(0.04, 1.0, 256)))
    return blues.with_extremes(under=LESS, bad="white")


def draw_cell(axes: Any, x: int, y: int, ratio: float, mark: str, broken: bool) -> None:
    """What is written into a cell: the best framed, those level underlined, dots where open."""
    from matplotlib.patches import Polygon, Rectangle

    ink = "white" if ratio > DARK else "black"
    style = {"ha": "center", "va": "center", "fontsize": SMALL, "color": ink}
    axes.text(x, y + 0.02, short(ratio), fontweight="bold" if mark == BEST else None, **style)
    if mark == BEST:
        axes.add_patch(Rectangle((x - 0.46, y - 0.45), 0.92, 0.9, fc="none", ec="black", lw=0.9))
    elif mark in UNDERLINED:
        line = UNDERLINED[mark]
        axes.plot([x - 0.3, x + 0.3], [y + 0.38, y + 0.38], color=ink, lw=0.8, ls=line)
    if broken:
        corner = [(x + 0.48, y - 0.47), (x + 0.16, y - 0.47), (x + 0.48, y - 0.12)]
        axes.add_patch(Polygon(corner, fc="#d55e00", ec="none"))


# --- what it means --------------------------------------------------------------------------------


def _draw_legend(page: Page, top: float) -> None:
    """Sample cells with what their marks mean, and the colours."""
    marks = [
        (1.0, BEST, False, "least regret of all that\nsee one value a round"),
        (1.0, LEVEL, False, f"level: within {LEVEL_RATIO:g}\ntimes of it, known"),
        (1.3, OPEN, False, f"open: not distinguished\n(Holm's test, {ERROR_RATE:.0%})"),
        (2.4, "", True, "an assumption of the\nlearner does not hold"),
        (0.4, "", False, "less than the best\nof this library"),
    ]
    x = MARGIN
    for ratio, mark, broken, words in marks:
        axes = page.axes(x, top + 0.04, SAMPLE, ROW)
        draw_cell(axes, 0, 0, ratio, mark, broken)
        _colour(axes, np.array([[ratio]]))
        axes.set_xticks([])
        page.write(x + SAMPLE + 0.05, top, words, linespacing=1.05)
        x += SAMPLE + LETTER * (max(map(len, words.split("\n"))) + 2)
    x = WIDTH - MARGIN - 5 * SAMPLE
    page.write(x, top + ROW + 0.08, "\N{EN DASH}  not played")
    for ratio in (1.0, 2.0, 5.0, 10.0, FAR):
        axes = page.axes(x, top + 0.04, SAMPLE, ROW)
        _colour(axes, np.array([[ratio]]))
        axes.set_xticks([])
        ink = "white" if ratio > DARK else "black"
        text = short(ratio).removesuffix(".0") + ("+" if ratio == FAR else "")
        axes.text(0, 0, text, ha="center", va="center", fontsize=LEAST_TEXT, color=ink)
        x += SAMPLE


def _draw_list(page: Page, x: float, top: float, texts: list[tuple[str, str]]) -> None:
    """What the columns are."""
    for number, (name, text) in enumerate(texts):
        y = top + (number + 1) * KEY_LINE
        page.write(x, y, name, va="baseline", fontweight="bold", parse_math=False)
        page.write(x + KEY_NAME, y, maths(text), va="baseline")
