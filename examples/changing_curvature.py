"""A game whose curvature changes: what is learnt, what is guaranteed, and what curvature is worth.

Each round a service sets two numbers, sees one loss, and learns afterwards how strongly convex that
loss was: not at all in the first tenth of the rounds, then strongly. The same learner plays the
same games once more without being told. Prints a table and draws a picture of it.
"""

from __future__ import annotations

import argparse
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

import dikin
from dikin.storage import replace_file

DOMAIN = dikin.Box([0, 0], [10, 2])
SMOOTHNESS, ROUNDS, GAMES = 0.5, 1_000_000, 16
FLAT = ROUNDS // 10

BLUE, ORANGE, GREEN, GREY = "#0072b2", "#d55e00", "#009e73", "#777777"  # told apart by everyone


def game(seed: int) -> dikin.Ridge:
    return dikin.Ridge(DOMAIN, SMOOTHNESS, dikin.FlatFirst(SMOOTHNESS, FLAT), seed=seed)


def silent_game(seed: int) -> dikin.Environment:
    return dikin.Understated(game(seed))


def learner(seed: int) -> dikin.AdaptiveSmooth:
    return dikin.AdaptiveSmooth(DOMAIN, SMOOTHNESS, loss_range=game(0).loss_range, seed=seed)


def path(rounds: int) -> tuple[Any, Any, Any]:
    """One game by ask and tell: the points played, the centres, the best fixed point."""
    player, world = learner(1), game(1)
    points, centers = [], []
    for _ in range(rounds):
        query = player.ask()
        loss, curvature = world.answer(query.point)
        player.tell(query, loss, curvature)
        points.append(query.point)
        centers.append(player.center)
    return np.array(points), np.array(centers), world.best()[0]


def mean(runs: list[dikin.Run], column: str) -> Any:
    return np.mean([getattr(run, column) for run in runs], axis=0)


def draw(told: list[dikin.Run], untold: list[dikin.Run], file: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
    points, centers, best = path(3000)
    left.plot(*points.T, ".", color=GREY, alpha=0.15, markersize=3, label="points played")
    left.plot(*centers.T, color=BLUE, linewidth=0.8, alpha=0.8, label="centre")
    left.plot(*best, "*", color=ORANGE, markersize=14, label="best fixed point")
    left.set(xlim=(0, 10), ylim=(0, 2), xlabel="first number", ylabel="second number")
    left.set_title("The first 3000 rounds of one game", fontsize=11)
    left.legend(loc="upper right", fontsize=8, framealpha=0.9)

    rounds = told[0].checkpoints
    low, high = game(0).loss_range
    right.loglog(rounds, (high - low) * rounds, ":", color=GREY, label="trivial bound")
    right.loglog(rounds, mean(told, "certificate"), "--", color=GREEN, label="certificate")
    right.loglog(rounds, mean(untold, "regret"), color=ORANGE, label="regret, curvature not told")
    right.loglog(rounds, mean(told, "regret"), color=BLUE, label="regret, curvature told")
    for run in told:
        right.loglog(rounds, np.maximum(run.regret, 1e-9), color=BLUE, alpha=0.15, linewidth=0.7)
    right.axvspan(1, FLAT, color=GREY, alpha=0.12, linewidth=0)
    right.text(FLAT * 0.8, 3, "losses are flat", ha="right", fontsize=8, color="#444444")
    right.set(xlim=(100, ROUNDS), ylim=(1, None), xlabel="rounds", ylabel="units of loss")
    right.set_title(f"Mean of {GAMES} games", fontsize=11)
    right.legend(loc="upper left", fontsize=8)
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    content = BytesIO()
    figure.savefig(content, dpi=110)
    replace_file(file, content.getvalue())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("game.png"), help="the picture's file")
    file = parser.parse_args().out
    print(f"Playing 2 x {GAMES} games of {ROUNDS:,} rounds on two processes ...", flush=True)
    told = dikin.replicate(learner, game, ROUNDS, GAMES, workers=2)
    untold = dikin.replicate(learner, silent_game, ROUNDS, GAMES, workers=2)
    print(f"{'rounds':>10} {'regret, told':>14} {'not told':>10} {'certificate':>12}")
    rounds = told[0].checkpoints
    for mark in (1000, 10_000, 100_000, ROUNDS):
        i = int(np.searchsorted(rounds, mark))
        columns = (mean(told, "regret")[i], mean(untold, "regret")[i], mean(told, "certificate")[i])
        print(f"{rounds[i]:>10,} {columns[0]:>14,.0f} {columns[1]:>10,.0f} {columns[2]:>12,.0f}")
    draw(told, untold, file)
    print(f"Drew {file}")


if __name__ == "__main__":
    main()
