"""The figure of the README: cumulative revenue of a shop whose best price moves.

python docs/build/revenue.py           # run the loops (about two minutes), write the CSV, draw
python docs/build/revenue.py --draw    # draw from the CSV
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable
from math import pi, sin
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np

import dikin
from dikin.experiments.tables import read_csv
from dikin.plotting import publication
from dikin.plotting.axes import spread
from dikin.plotting.style import BLUE, GREY, ORANGE

IMAGES = Path(__file__).resolve().parent.parent / "images"
ROUNDS, GAMES, MARKS, NOISE = 5000, 8, 50, 10.0
LOW, HIGH, START = np.array([1.0, 0.0]), np.array([14.0, 60.0]), np.array([4.0, 40.0])
TODAY, CMA, TUNER = "today's setting", "CMA-ES", "dikin"
COLOURS = {TODAY: GREY, CMA: ORANGE, TUNER: BLUE}
Loop = Callable[[Callable[[Any], float], int], None]


def revenue(round: int, price: float, ads: float) -> float:
    """Return the mean revenue: the best price swings, and a competitor opens half-way."""
    best = (9.0 if 2 * round < ROUNDS else 7.0) + 1.5 * sin(2.0 * pi * round / 2000.0)
    return 100.0 - 1.5 * (price - best) ** 2 - 0.02 * (ads - 20.0) ** 2


def keep(earn: Callable[[Any], float], seed: int) -> None:
    """Use today's setting in every round."""
    for _ in range(ROUNDS):
        earn(START)


def tune(earn: Callable[[Any], float], seed: int) -> None:
    """Use `dikin.Tuner` with ranges and starts alone."""
    ranges = zip(("price", "ads"), LOW, HIGH, START, strict=True)
    real = {name: dikin.Real(low, high, start=start) for name, low, high, start in ranges}
    tuner = dikin.Tuner(real, maximize=True, seed=seed)
    for _ in range(ROUNDS):
        trial = tuner.ask()
        tuner.tell(trial, earn(trial.point))


def evolve(earn: Callable[[Any], float], seed: int) -> None:
    """Use CMA-ES of pycma with its defaults, a first step of 0.3 and its bounds, for ever."""
    import cma

    never: dict[str, Any] = {"tolfun": 0, "tolx": 0, "tolfunhist": 0, "tolflatfitness": 10**9}
    never |= {"tolstagnation": 10**9, "maxiter": 10**9, "bounds": [0, 1], "verbose": -9}
    search = cma.CMAEvolutionStrategy((START - LOW) / (HIGH - LOW), 0.3, never | {"seed": seed})
    left = ROUNDS
    while left > 0:
        points = search.ask()
        values = [-earn(LOW + z * (HIGH - LOW)) for z in points[:left]]
        left -= len(points)
        if left >= 0:
            search.tell(points, values)


LOOPS: dict[str, Loop] = {TODAY: keep, CMA: evolve, TUNER: tune}


def cumulative(loop: Loop, seed: int) -> list[float]:
    """Return the revenue of one run up to each mark, without its noise."""
    noise, total, seen = np.random.default_rng(seed).normal(0, NOISE, ROUNDS), [0.0], [0]

    def earn(setting: Any) -> float:
        mean = revenue(seen[0], *setting)
        total.append(total[-1] + mean)
        seen[0] += 1
        return mean + float(noise[seen[0] - 1])

    loop(earn, seed)
    return total[ROUNDS // MARKS :: ROUNDS // MARKS]


def run() -> None:
    """Write the cumulative revenue of every run."""
    rows = [
        (player, seed, (mark + 1) * (ROUNDS // MARKS), round(total, 1))
        for player, loop in LOOPS.items()
        for seed in range(1, GAMES + 1)
        for mark, total in enumerate(cumulative(loop, seed))
    ]
    with (IMAGES / "revenue.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(
            [("player", "game", "round", "revenue"), *rows]
        )


def means() -> dict[str, dict[int, float]]:
    """Return the mean cumulative revenue by player and round, from the CSV."""
    found: dict[str, dict[int, list[float]]] = {}
    for row in read_csv(IMAGES / "revenue.csv"):
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
        f"The tuner earns {shares[TUNER]} of the revenue of the best setting of each round, CMA-ES "
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
