"""Splits traffic among web servers whose capacities are unknown, and change half-way.

Three servers run on the loopback interface, each with one worker and another time per request.
Each round sends them a burst of requests, every request to a server drawn by the weights, and
measures one number: the mean latency. From that number alone a learner finds the weights.
The even split, and the split of someone who is told the capacities, are measured in between.
"""

from __future__ import annotations

import argparse
import io
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from fleet import Array, Fleet
from rich.console import Console
from rich.live import Live
from rich.table import Table

import dikin
from dikin.serialization import replace_file

BEFORE, AFTER = (1.0, 2.5, 4.0), (4.0, 2.5, 1.0)
"""Milliseconds per request, in the first half and in the second: a noisy neighbour moves."""
SLOWEST = 5.0
"""All that the learner is told of the servers: none ever takes longer, in milliseconds."""
COMPARE = 4
"""Rounds between two measurements of the other splits: they take time from the learner."""
COLORS = ("#0072b2", "#d55e00", "#009e73")  # told apart by everyone
BLACK, PINK, GREY = "#000000", "#cc79a7", "#777777"


# --- what is known -----------------------------------------------------------------------------


def new_learner(requests: int, seed: int) -> dikin.AdaptiveSmooth:
    """A learner that knows the size of a burst, and that no server needs more than `SLOWEST`.

    k requests that come at once wait s, 2s, ..., ks for a server that takes s. With N requests
    drawn by the weights w the expected mean latency is

        f(w) = sum_i s_i (w_i + (N - 1) w_i^2/2),

    convex, (N - 1) max s-smooth, and at most max s (N + 1)/2: all requests at the slowest server.
    """
    return dikin.AdaptiveSmooth(
        dikin.Simplex(len(BEFORE)),
        smoothness=(requests - 1) * SLOWEST,
        loss_range=(0, worst(requests)),
        seed=seed,
    )


def worst(requests: int) -> float:
    return SLOWEST * (requests + 1) / 2


def told_split(paces: Sequence[float], requests: int) -> Array:
    """The minimum of f for someone who is told the s_i: all slopes s_i (1 + (N - 1) w_i) equal."""
    s = np.array(paces)
    used = np.ones(len(s), dtype=bool)
    while True:
        slope = (requests - 1 + used.sum()) / (1 / s[used]).sum()
        weights = np.where(used, (slope / s - 1) / (requests - 1), 0.0)
        if (weights >= 0).all():
            return weights
        used &= weights > 0


# --- the game ------------------------------------------------------------------------------------


@dataclass
class Record:
    """What was seen. Latencies in milliseconds."""

    losses: list[float] = field(default_factory=list)
    centers: list[Array] = field(default_factory=list)
    compared: list[int] = field(default_factory=list)
    """The rounds in which the other splits were measured."""
    even: list[float] = field(default_factory=list)
    told: list[float] = field(default_factory=list)
    change: int = 0
    """Rounds before the capacities changed."""
    cut: int = 0
    """Bursts that took longer than any queue: the machine was busy elsewhere."""
    certificate: float = 0.0
    """Bound on the expected regret so far."""

    @property
    def rounds(self) -> int:
        return len(self.losses)


def play(fleet: Fleet, rounds: int, seconds: float, seed: int) -> Iterator[Record]:
    """Play until either limit; gives the same growing record after every round."""
    learner, record = new_learner(fleet.requests, seed), Record()
    even = learner.domain.center  # the analytic centre of a simplex
    fleet.set_paces(BEFORE)
    told, changed = told_split(BEFORE, fleet.requests), False
    start = time.perf_counter()
    while record.rounds < rounds and (spent := time.perf_counter() - start) < seconds:
        if not changed and (2 * record.rounds >= rounds or 2 * spent >= seconds):
            fleet.set_paces(AFTER)
            told, changed = told_split(AFTER, fleet.requests), True
        play_round(learner, fleet, record)
        record.change += not changed
        if record.rounds % COMPARE == 0:
            record.compared.append(record.rounds)
            record.even.append(measure(fleet, even, record))
            record.told.append(measure(fleet, told, record))
        yield record


def measure(fleet: Fleet, weights: Array, record: Record) -> float:
    """The mean latency of a burst, at most that of the longest queue.

    A pause of the machine belongs to no split: cutting it leaves the expected loss convex.
    """
    latency, limit = fleet.latency(weights), worst(fleet.requests)
    record.cut += latency > limit
    return min(latency, limit)


def play_round(learner: dikin.AdaptiveSmooth, fleet: Fleet, record: Record) -> None:
    query = learner.ask()
    loss = measure(fleet, query.point, record)
    # Curvature 0: a bound from the fastest server would be allowed, but what is told of curvature
    # ties the learner to its past, and here the past does not last.
    learner.tell(query, loss, curvature=0.0)
    record.losses.append(loss)
    record.centers.append(learner.center)
    record.certificate = learner.certificate


# --- what is shown -------------------------------------------------------------------------------


def progress(record: Record, spent: float, chosen: argparse.Namespace) -> Table:
    title = f"{record.rounds} of {chosen.rounds} rounds, {spent:.0f} of {chosen.seconds:g} seconds"
    table = Table(title=title, title_justify="left")
    for name in ("weights", "learner", "even split", "told the capacities"):
        table.add_column(name, justify="right")
    recent = slice(-200, None)
    latencies = (record.losses[recent], *(x[recent] for x in (record.even, record.told)))
    cells = [f"{np.mean(x):.2f} ms" if x else "" for x in latencies]
    table.add_row(" ".join(f"{weight:.2f}" for weight in record.centers[-1]), *cells)
    return table


def summary(record: Record) -> Table:
    table = Table(title="Mean latency in milliseconds, with standard errors", title_justify="left")
    for name in ("", "first half", "second half", "last quarter", "whole"):
        table.add_column(name, justify="left" if not name else "right")
    last, change = record.rounds, record.change
    spans = ((0, change), (change, last), (last - last // 4, last), (0, last))
    every = np.arange(1, last + 1)
    for name, rounds, values in (
        ("learner", every, record.losses),
        ("even split", record.compared, record.even),
        ("told the capacities", record.compared, record.told),
    ):
        cells = [_mean(np.array(rounds), np.array(values), *span) for span in spans]
        table.add_row(name, *cells)
    return table


def _mean(rounds: Any, values: Array, after: int, until: int) -> str:
    part = values[(rounds > after) & (rounds <= until)]
    if part.size < 2:
        return "-"
    return f"{part.mean():.2f} ± {part.std(ddof=1) / np.sqrt(part.size):.2f}"


def smooth(values: Sequence[float], window: int) -> Array:
    """Running means over the last `window` values; none before there are half as many."""
    sums = np.concatenate([[0.0], np.cumsum(values)])
    ends = np.arange(1, len(sums))
    starts = np.maximum(ends - window, 0)
    means: Array = (sums[ends] - sums[starts]) / (ends - starts)
    means[: window // 2] = np.nan
    return means


def draw(record: Record, requests: int, file: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
    _draw_weights(left, record, requests)
    _draw_latencies(right, record)
    for axes in (left, right):
        axes.axvline(record.change, color=GREY, linewidth=0.8)
        place = (record.change + 0.01 * record.rounds, 0.96)
        axes.annotate(
            "capacities change",
            place,
            xycoords=("data", "axes fraction"),
            fontsize=8,
            color="#444444",
        )
        axes.set(xlim=(0, record.rounds), xlabel="round")
        axes.spines[["top", "right"]].set_visible(False)
    content = io.BytesIO()
    figure.savefig(content, dpi=110, format="png")
    plt.close(figure)
    replace_file(file, content.getvalue())


def _draw_weights(axes: Any, record: Record, requests: int) -> None:
    centers = np.array(record.centers)
    halves = ((0, record.change, BEFORE), (record.change, record.rounds, AFTER))
    for i, color in enumerate(COLORS):
        name = f"server {i + 1}: {BEFORE[i]:g} ms, then {AFTER[i]:g} ms"
        axes.plot(centers[:, i], color=color, linewidth=1.2, label=name)
        for start, end, paces in halves:
            best = told_split(paces, requests)[i]
            axes.plot((start, end), (best, best), "--", color=color, linewidth=1)
    axes.set(ylim=(0, 1.15), yticks=np.linspace(0, 1, 6), ylabel="share of the traffic")
    axes.set_title("The learner's split, and the best one (dashed)", fontsize=11)
    axes.legend(loc="upper left", fontsize=8, framealpha=0.9)


def _draw_latencies(axes: Any, record: Record) -> None:
    window = max(COMPARE, record.rounds // 20)
    few = max(1, window // COMPARE)
    axes.plot(smooth(record.losses, window), color=BLACK, zorder=3, label="learner")
    axes.plot(record.compared, smooth(record.even, few), color=PINK, label="even split")
    label = "told the capacities"
    axes.plot(record.compared, smooth(record.told, few), "--", color=GREY, label=label)
    axes.set(ylim=(0, 1.1 * axes.get_ylim()[1]), ylabel="milliseconds")
    axes.set_title(f"Mean latency of the last {window} rounds", fontsize=11)
    axes.legend(loc="lower left", fontsize=8)


# --- the command -----------------------------------------------------------------------------


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3000, help="at most so many (%(default)s)")
    parser.add_argument("--seconds", type=float, default=50, help="at most so many (%(default)s)")
    parser.add_argument("--requests", type=int, default=6, help="in each burst (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of exploration and draws")
    parser.add_argument("--out", type=Path, default=Path("traffic.png"), help="the picture's file")
    chosen = parser.parse_args()
    if chosen.rounds < 8:
        parser.error(f"--rounds must be at least 8, got {chosen.rounds}")
    if not 1 <= chosen.seconds < np.inf:
        parser.error(f"--seconds must be at least 1 and finite, got {chosen.seconds:g}")
    if not 2 <= chosen.requests <= 64:
        parser.error(f"--requests must be between 2 and 64, got {chosen.requests}")
    if chosen.seed < 0:
        parser.error(f"--seed must not be negative, got {chosen.seed}")
    if not chosen.out.parent.is_dir() or chosen.out.is_dir():
        parser.error(f"--out must be a file in a folder that exists, got {chosen.out}")
    return chosen


def main() -> None:
    chosen, console = arguments(), Console()
    record = Record()
    with Fleet.running(len(BEFORE), chosen.requests, chosen.seed) as fleet:
        console.print(f"{len(BEFORE)} servers listen on the ports", *fleet.ports)
        console.print(f"Playing for at most {chosen.seconds:g} seconds ...")
        with Live(console=console, auto_refresh=False, transient=True) as live:
            start = shown = time.perf_counter()
            for record in play(fleet, chosen.rounds, chosen.seconds, chosen.seed):
                now = time.perf_counter()
                if console.is_terminal and now - shown > 0.5:
                    live.update(progress(record, now - start, chosen), refresh=True)
                    shown = now
    console.print(summary(record))
    limit = worst(chosen.requests)
    console.print(f"{record.rounds} rounds with {fleet.sent} requests")
    console.print(f"{record.cut} latencies cut to {limit:g} ms, the longest queue")
    bound = record.certificate / record.rounds
    console.print(f"Certificate: on average at most {bound:.2f} ms above the best fixed split")
    draw(record, chosen.requests, chosen.out)
    console.print(f"Drew {chosen.out}")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        print("Stopped; the servers have ended.", file=sys.stderr)
        sys.exit(130)  # what a shell says of Ctrl-C
    except OSError as error:
        sys.exit(f"Failed; the servers have ended. {type(error).__name__}: {error}")
