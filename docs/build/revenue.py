"""The figure of the README: cumulative revenue of a shop whose best price moves.

python docs/build/revenue.py           # run the loops (about two minutes), write the CSV, draw
python docs/build/revenue.py --draw    # draw from the CSV
"""

from __future__ import annotations

import sys
from math import pi, sin
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np

import dikin
from dikin.plotting import publication
from dikin.plotting.axes import spread
from dikin.plotting.style import BLUE, GREY, ORANGE
from evidence.games import read_table, take_turns, write_table
from evidence.rivals import CMA_ES, KEEP, PLAYERS, TUNER

IMAGES = Path(__file__).resolve().parent.parent / "images"
ROUNDS, GAMES, MARKS, NOISE = 5000, 8, 50, 10.0
PARAMETERS = {"price": dikin.Real(1, 14, start=4), "ads": dikin.Real(0, 60, start=40)}
TODAY, CMA, TUNED = "today's setting", "CMA-ES", "dikin"
SHOWN = {TODAY: KEEP, CMA: CMA_ES, TUNED: TUNER}
"""Names in the figure, and the players."""
COLOURS = {TODAY: GREY, CMA: ORANGE, TUNED: BLUE}


def revenue(round: int, price: float, ads: float) -> float:
    """Return the mean revenue: the best price swings, and a competitor opens half-way."""
    best = (9.0 if 2 * round < ROUNDS else 7.0) + 1.5 * sin(2.0 * pi * round / 2000.0)
    return 100.0 - 1.5 * (price - best) ** 2 - 0.02 * (ads - 20.0) ** 2


def cumulative(name: str, seed: int) -> list[float]:
    """Return the revenue of one run up to each mark, without its noise."""
    noise = np.random.default_rng(seed).normal(0, NOISE, ROUNDS)

    def answer(trial: Any, round: int) -> tuple[float, float]:
        mean = revenue(round, *trial.point)
        return mean + float(noise[round]), mean

    player = PLAYERS[SHOWN[name]](PARAMETERS, True, seed, ROUNDS)
    totals = np.cumsum(take_turns(player, ROUNDS, answer))
    return [float(total) for total in totals[ROUNDS // MARKS - 1 :: ROUNDS // MARKS]]


def run() -> None:
    """Write the cumulative revenue of every run."""
    rows = [
        (name, seed, (mark + 1) * (ROUNDS // MARKS), round(total, 1))
        for name in SHOWN
        for seed in range(1, GAMES + 1)
        for mark, total in enumerate(cumulative(name, seed))
    ]
    head = ("player", "game", "round", "revenue")
    write_table(IMAGES / "revenue.csv", "make revenue", head, rows)


def means() -> dict[str, dict[int, float]]:
    """Return the mean cumulative revenue by player and round, from the CSV."""
    found: dict[str, dict[int, list[float]]] = {}
    for row in read_table(IMAGES / "revenue.csv"):
        of_player = found.setdefault(row["player"], {})
        of_player.setdefault(int(row["round"]), []).append(float(row["revenue"]))
    return {name: {t: mean(each) for t, each in marks.items()} for name, marks in found.items()}


def numbers() -> str:
    """Return the sentence of the README."""
    end = {name: marks[ROUNDS] for name, marks in means().items()}
    best = sum(revenue(t, (9 if 2 * t < ROUNDS else 7) + 1.5 * sin(2 * pi * t / 2000), 20)
               for t in range(ROUNDS))  # fmt: skip
    shares = {name: f"{100 * total / best:.0f} %" for name, total in end.items()}
    return (
        f"The tuner earns {shares[TUNED]} of the revenue of the best setting of each round, CMA-ES "
        f"{shares[CMA]}, and today's setting {shares[TODAY]}."
    )


def draw() -> None:
    """Draw the means over the rounds."""
    figure, axes = publication.pyplot().subplots(figsize=(5.2, 2.7), layout="constrained")
    labels = {}
    for name, marks in means().items():
        rounds, totals = [0, *marks], [0.0, *(total / 1000 for total in marks.values())]
        axes.plot(rounds, totals, color=COLOURS[name], linewidth=2)
        labels[name] = totals[-1], COLOURS[name]
    axes.set(xlim=(0, ROUNDS), ylim=(0, None), xlabel="round", ylabel="revenue so far, thousands")
    axes.axvline(ROUNDS / 2, color="#bbbbbb", linewidth=0.8, linestyle=":")
    axes.annotate(
        "a competitor opens", (ROUNDS / 2, 0), (4, 6), textcoords="offset points", color=GREY
    )
    label_ends(axes, ROUNDS, labels)
    publication.publish(figure, IMAGES / "revenue.png")


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


if __name__ == "__main__":
    if "--draw" not in sys.argv:
        run()
    draw()
    print(numbers())
