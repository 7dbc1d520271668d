"""A game whose losses change their shape: regret of three learners, and what is guaranteed.

Each round a service sets two numbers and sees one loss. In the first tenth of the rounds the losses
form a valley, flat along its floor; from then on they are a bowl. Nobody is told. `Predictive`
knows nothing but the box; `AdaptiveSmooth` is told the smoothness and the range of the losses, and
the CMA of pycma the range. Prints a table and draws a picture of it.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from comparison import CMA, COLOURS, band, interval, label_ends, new_figure, play_parallel

import dikin
from dikin.plotting.style import save_figure

DOMAIN = dikin.Box([0, 0], [10, 10])
SMOOTHNESS, ROUNDS, GAMES, WORKERS = 0.5, 30_000, 8, 2
PLAYED = 5000
"""Rounds of one game whose points are drawn."""

Array = np.typing.NDArray[np.float64]


def game(seed: int, rounds: int) -> dikin.Environment:
    """Flat along the valley for a tenth of the rounds; the curvature is told to nobody."""
    pattern = dikin.FlatFirst(SMOOTHNESS, rounds // 10)
    return dikin.Understated(dikin.Ridge(DOMAIN, SMOOTHNESS, pattern, seed=seed, depth=0.5))


def predictive(world: dikin.Environment, seed: int) -> dikin.Predictive:
    return dikin.Predictive(DOMAIN, seed=seed)


def adaptive(world: dikin.Environment, seed: int) -> dikin.Learner:
    return dikin.AdaptiveSmooth(DOMAIN, SMOOTHNESS, loss_range=world.loss_range, seed=seed)


def cma(world: dikin.Environment, seed: int) -> dikin.Learner:
    return CMA(DOMAIN, loss_range=world.loss_range, seed=seed)


class Player(NamedTuple):
    """A learner, and how it is drawn."""

    make: Callable[[dikin.Environment, int], dikin.Learner]
    colour: str


PLAYERS = {
    "Predictive": Player(predictive, COLOURS["blue"]),
    "AdaptiveSmooth": Player(adaptive, COLOURS["orange"]),
    "CMA of pycma": Player(cma, COLOURS["purple"]),
}


class Played(NamedTuple):
    """One game: regret and certificate at the marks."""

    player: str
    seed: int
    regret: Array
    certificate: Array


def marks(rounds: int) -> Any:
    """Rounds at which the regret is read, evenly spaced on a logarithmic scale."""
    return np.unique([*np.geomspace(10, rounds, 60).astype(int), rounds // 100, rounds // 10])


def play(player: str, seed: int, rounds: int) -> Played:
    world = game(seed, rounds)
    learner = PLAYERS[player].make(world, seed)
    regrets, certificates = [], []
    for mark in marks(rounds).tolist():
        run = dikin.play(learner, world, mark - world.rounds, checkpoints=1, progress=False)
        regrets.append(run.regret[-1])
        certificates.append(certificate(learner))
    return Played(player, seed, np.array(regrets), np.array(certificates))


def certificate(learner: dikin.Learner) -> float:
    """The bound for losses of the true smoothness, which Predictive is asked about afterwards."""
    if isinstance(learner, dikin.Predictive):
        return learner.certificate_for(smoothness=SMOOTHNESS)
    return learner.certificate


def play_all(rounds: int, games: int, workers: int) -> list[Played]:
    """Every game, with a progress bar."""
    todo = [(player, seed, rounds) for player in PLAYERS for seed in range(games)]
    return play_parallel(lambda task: play(*task), todo, workers)


def path(rounds: int, shown: int) -> tuple[Any, Any, Any]:
    """A game by ask and tell: the points played, the centres, the best fixed point."""
    world, points, centers = game(1, rounds), [], []
    learner = predictive(world, 1)
    for _ in range(shown):
        query = learner.ask()
        loss, _curvature = world.answer(query.point)
        learner.tell(query, loss)
        points.append(query.point)
        centers.append(learner.center)
    return np.array(points), np.array(centers), world.best()[0]


# --- what is seen -----------------------------------------------------------------------------


def regrets(played: list[Played], player: str) -> Array:
    """Rows: games; columns: marks."""
    return np.array([one.regret for one in played if one.player == player])


def print_table(played: list[Played], rounds: int) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title="regret, mean over games and its 95% interval", title_justify="left")
    for name in ("rounds", *PLAYERS, "Predictive's certificate"):
        table.add_column(name, justify="right")
    bounds = np.array([one.certificate for one in played if one.player == "Predictive"])
    for mark in (rounds // 100, rounds // 10, rounds):
        i = int(np.searchsorted(marks(rounds), mark))
        cells = [interval(regrets(played, name)[:, i]) for name in PLAYERS]
        table.add_row(
            f"{marks(rounds)[i]:,}",
            *(f"{mean:,.0f} ± {half:,.0f}" for mean, half in cells),
            f"{bounds[:, i].mean():,.0f}",
        )
    Console().print(table)


def draw(played: list[Played], rounds: int, shown: int, file: Path) -> None:
    figure, (left, right) = new_figure(1, 2, height=2.9, width_ratios=(1, 1.05))
    draw_path(left, *path(rounds, shown))
    draw_regrets(right, played, rounds)
    save_figure(figure, file)


def draw_path(axes: Any, points: Array, centers: Array, best: Array) -> None:
    blue, orange = COLOURS["blue"], COLOURS["orange"]
    axes.scatter(*points.T, s=2.5, color=COLOURS["grey"], alpha=0.25, lw=0, rasterized=True)
    axes.plot(*centers.T, color=blue, linewidth=0.6)
    axes.plot(*best, "*", color=orange, markersize=11, markeredgecolor="white")
    low, high = DOMAIN.lower, DOMAIN.upper
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal")
    axes.set(xlabel="first number", ylabel="second number")
    axes.spines[["top", "right"]].set_visible(True)
    axes.set_title(f"The first {len(points):,} rounds of one game", loc="left")
    notes = {"points played": COLOURS["grey"], "centre": blue, "best fixed point": orange}
    for line, (text, colour) in enumerate(notes.items()):
        place = (0.03, 0.97 - 0.065 * line)
        axes.annotate(text, place, xycoords="axes fraction", color=colour, va="top", fontsize=8)


def draw_regrets(axes: Any, played: list[Played], rounds: int) -> None:
    at, labels = marks(rounds), {}
    axes.axvspan(at[0], rounds / 10, color="#f4f4f4", linewidth=0, zorder=0)
    for name, player in PLAYERS.items():
        labels[name] = band(axes, at, regrets(played, name), player.colour), player.colour
    bounds = np.array([one.certificate for one in played if one.player == "Predictive"])
    blue = COLOURS["blue"]
    labels["certificate\nof Predictive"] = band(axes, at, bounds, blue, "--"), blue
    for text, where, side in (("a valley", 0.92, "right"), ("a bowl", 1.08, "left")):
        axes.text(where * rounds / 10, 12, text, ha=side, fontsize=8, color="#444444")
    axes.set(xscale="log", yscale="log", xlim=(rounds / 300, rounds), ylim=(10, None))
    label_ends(axes, rounds, labels)
    axes.set(xlabel="rounds", ylabel="units of loss")
    games = len(regrets(played, "Predictive"))
    axes.set_title(f"Regret: mean and range of {games} games", loc="left")
    axes.grid(alpha=0.25, linewidth=0.5)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("game.png"), help="the picture's file")
    file = parser.parse_args().out
    played = play_all(ROUNDS, GAMES, WORKERS)
    print_table(played, ROUNDS)
    draw(played, ROUNDS, PLAYED, file)
    print(f"Drew {file}")


if __name__ == "__main__":
    main()
