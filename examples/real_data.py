"""What it is worth to know the curvature of losses that are made of real data.

Each round a service chooses three coefficients, makes a linear prediction for every case of a batch
and sees one number: the mean loss of the batch. Afterwards it is told a lower bound on that loss's
strong convexity, computed from the batch's contexts. The same games are played by learners that are
told less, nothing, or too much, and by FKM. Writes a table (CSV) and a figure of regrets.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from comparison import interval, play_parallel

import dikin
from dikin.environments import data
from dikin.environments.batches import Batches
from dikin.experiments import source
from dikin.experiments.tables import items, write_csv
from dikin.plotting.formulas import maths
from dikin.plotting.publication import COLOURS, LEAST_TEXT, WIDTH, publish, pyplot
from dikin.plotting.style import GREY

ROUNDS, GAMES, BATCHES, WORKERS = 300_000, 8, 300, 2
DIMENSION = 3
DOMAIN = dikin.Ball(DIMENSION)

Array = np.typing.NDArray[np.float64]


class Setting(NamedTuple):
    """A data set, its loss, and the sizes of batches."""

    name: str
    load: Callable[[int], data.Rows]
    environment: Any
    sizes: tuple[int, ...]

    def game(self, seed: int) -> Batches:
        rows = self.load(DIMENSION)
        world: Batches = self.environment(DOMAIN, *rows, self.sizes, batches=BATCHES, seed=seed)
        return world

    def plays(self, player: Player) -> bool:
        """A batch of fewer rows than dimensions has sigma = 0, and then so has the smallest."""
        return player is not SMALLEST or min(self.sizes) >= DIMENSION


SMALL, LARGE = (1, 2, 4, 8, 16, 32), (16, 32, 64)
SETTINGS = [
    Setting(
        "diabetes, squared loss, batches of 1 to 32", data.diabetes, dikin.SquaredBatches, SMALL
    ),
    Setting(
        "diabetes, squared loss, batches of 16 to 64", data.diabetes, dikin.SquaredBatches, LARGE
    ),
    Setting(
        "breast cancer, logistic loss, batches of 1 to 32",
        data.breast_cancer,
        dikin.LogisticBatches,
        SMALL,
    ),
    Setting(
        "breast cancer, logistic loss, batches of 16 to 64",
        data.breast_cancer,
        dikin.LogisticBatches,
        LARGE,
    ),
]
ENVIRONMENTS = (dikin.SquaredBatches, dikin.LogisticBatches)


# --- who plays, and what they are told --------------------------------------------------------


def smooth(game: Batches, seed: int, rounds: int) -> dikin.Learner:
    return dikin.AdaptiveSmooth(DOMAIN, game.smoothness, loss_range=game.loss_range, seed=seed)


def fkm(game: Batches, seed: int, rounds: int) -> dikin.Learner:
    return dikin.FKM(DOMAIN, rounds, game.lipschitz, loss_range=game.loss_range, seed=seed)


def everything(game: Batches) -> dikin.Environment:
    return game


def nothing(game: Batches) -> dikin.Environment:
    return dikin.Understated(game)


def smallest(game: Batches) -> dikin.Environment:
    return dikin.Understated(game, float(game.sigmas.min()))


def too_much(game: Batches) -> dikin.Environment:
    """Every batch is said to be as strongly convex as the least smooth one is smooth: not true."""
    told = np.full_like(game.sigmas, game.smoothness)
    game.kernel = game.kernel._replace(  # type: ignore[attr-defined]
        sigmas=told, smoothnesses=told
    )
    return game


class Player(NamedTuple):
    """A learner, and what it is told about the curvature."""

    name: str
    learner: Callable[[Batches, int, int], dikin.Learner]
    tell: Callable[[Batches], dikin.Environment]
    colour: str
    style: str = "-"


TOLD = Player("told sigma_t", smooth, everything, COLOURS[0])
IGNORING = Player("told nothing", smooth, nothing, COLOURS[1])
SMALLEST = Player("told the smallest", smooth, smallest, COLOURS[2])
OVERSTATED = Player("told too much", smooth, too_much, COLOURS[3], ":")
PLAYERS = [TOLD, SMALLEST, IGNORING, OVERSTATED, Player("FKM", fkm, everything, GREY, "--")]


class Task(NamedTuple):
    """One game of one player."""

    setting: int
    player: int
    seed: int
    rounds: int


class Result(NamedTuple):
    """What came of it."""

    task: Task
    checkpoints: Any
    regret: Array
    certificate: float
    smoothness: float
    sigmas: Array
    """The curvature of every batch, as computed from its contexts."""
    best: float
    """Mean loss of the best fixed point."""


def play(task: Task) -> Result:
    game = SETTINGS[task.setting].game(task.seed)
    player, sigmas = PLAYERS[task.player], game.sigmas
    learner = player.learner(game, task.seed, task.rounds)
    run = dikin.play(learner, player.tell(game), task.rounds, checkpoints=6, progress=False)
    return Result(
        task,
        run.checkpoints,
        run.regret,
        float(run.certificate[-1]),
        game.smoothness,
        sigmas,
        (run.total_loss - float(run.regret[-1])) / task.rounds,
    )


def compile_loops(environment: Any) -> None:
    """Games so short that they only leave the compiled loops on disk, for all processes."""
    setting = next(i for i, about in enumerate(SETTINGS) if about.environment is environment)
    for player in range(len(PLAYERS)):
        play(Task(setting, player, seed=0, rounds=2))


def play_all(rounds: int, games: int, workers: int) -> list[Result]:
    """Every player in every setting, with a progress bar."""
    tasks = [
        Task(setting, player, seed, rounds)
        for setting in range(len(SETTINGS))
        for player in range(len(PLAYERS))
        if SETTINGS[setting].plays(PLAYERS[player])
        for seed in range(games)
    ]
    play_parallel(compile_loops, [*ENVIRONMENTS], workers)
    return play_parallel(play, tasks, workers)


# --- what is seen -----------------------------------------------------------------------------


def regrets(results: Iterable[Result], setting: int, player: Player) -> Array:
    """Rows: games; columns: checkpoints."""
    index = PLAYERS.index(player)
    return np.array([r.regret for r in results if r.task[:2] == (setting, index)])


def table(results: list[Result]) -> list[dict[str, str]]:
    """One line for every setting and player, at the last round."""
    lines = []
    for setting, about in enumerate(SETTINGS):
        ignoring = regrets(results, setting, IGNORING)
        for index, player in enumerate(PLAYERS):
            if not about.plays(player):
                continue
            mine = [r for r in results if r.task[:2] == (setting, index)]
            last = regrets(results, setting, player)[:, -1]
            mean, half = interval(last)
            ratio, ratio_half = interval(last / ignoring[:, -1])
            sigmas = np.concatenate([r.sigmas for r in mine])
            numbers = {
                "regret": mean,
                "low": mean - half,
                "high": mean + half,
                "ratio": ratio,
                "ratio_low": ratio - ratio_half,
                "ratio_high": ratio + ratio_half,
                "certificate": np.mean([r.certificate for r in mine]),
                "best_loss": np.mean([r.best for r in mine]),
                "smoothness": np.mean([r.smoothness for r in mine]),
                "least_sigma": sigmas.min(),
                "mean_sigma": sigmas.mean(),
                "largest_sigma": sigmas.max(),
                "flat": (sigmas == 0).mean(),
            }
            names = {
                "setting": about.name,
                "player": player.name,
                "games": str(len(mine)),
                "rounds": str(mine[0].task.rounds),
            }
            lines.append(names | {key: f"{value:.6g}" for key, value in numbers.items()})
    return lines


def draw(results: list[Result], file: Path) -> None:
    """Above: regret. Below: regret as a share of that of the learner that is told nothing."""
    figure, axes = pyplot().subplots(
        2, len(SETTINGS), figsize=(WIDTH, 4.4), layout="constrained", sharex=True, sharey="row"
    )
    rounds = results[0].checkpoints
    late = rounds >= rounds[-1] / 100
    for column, about in enumerate(SETTINGS):
        above, below = axes[:, column]
        ignoring = regrets(results, column, IGNORING)
        for player in PLAYERS:
            if not about.plays(player):
                continue
            mine = regrets(results, column, player)[:, late]
            band(above, rounds[late], np.maximum(mine, 1.0), player)
            if player.name != "FKM":
                band(below, rounds[late], mine / ignoring[:, late], player)
        above.set(xscale="log", yscale="log")
        for one in (above, below):
            one.grid(alpha=0.25, linewidth=0.5)
        above.set_title(about.name.replace(", batches", ",\nbatches"), fontsize=LEAST_TEXT)
        below.set(xlabel="rounds", ylim=(0, 2))
        if not about.plays(SMALLEST):
            note = r"the smallest $\sigma_t$ is 0: to be told it" "\nis to be told nothing"
            below.text(
                0.04, 0.06, note, transform=below.transAxes, fontsize=LEAST_TEXT, color="#444444"
            )
    axes[0, 0].set_ylabel("cumulative regret")
    axes[1, 0].set_ylabel("regret / that of told nothing")
    handles, labels = axes[0, 1].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(PLAYERS))
    publish(figure, file)


def band(axes: Any, rounds: Any, values: Array, player: Player) -> None:
    """The mean of the games with its 95% interval."""
    mean, half = interval(values)
    axes.plot(
        rounds,
        mean,
        player.style,
        color=player.colour,
        label=maths(player.name),
        zorder=2 + (player is TOLD),  # where lines coincide, this one is seen
    )
    axes.fill_between(
        rounds, mean - half, mean + half, color=player.colour, alpha=0.15, linewidth=0
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("demo"), help="folder to write to")
    out: Path = parser.parse_args().out
    results = play_all(ROUNDS, GAMES, WORKERS)
    lines = table(results)
    for line in lines:
        about = f"{line['setting']:<50} {line['player']:<18}"
        print(f"{about} {float(line['regret']):>10,.0f}   {float(line['ratio']):.2f}")
    out.mkdir(parents=True, exist_ok=True)
    write_csv(out / "real_data.csv", items(*lines[0]), lines)
    source.record(out / "real_data.csv", {"games": GAMES, "rounds": ROUNDS})
    draw(results, out / "real_data.png")
    print(f"Wrote {out / 'real_data.csv'} and {out / 'real_data.png'}")


if __name__ == "__main__":
    main()
