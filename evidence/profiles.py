"""Performance profiles as a figure: how often a player is within a factor of the best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from dikin.plotting import publication
from evidence.orderings import Orderings

LARGEST = 20.0
"""The largest factor that is drawn."""
HEIGHT = 2.9


def draw(panels: Mapping[str, Orderings], first: str, file: Path) -> None:
    """A panel for each table, by its title; the first player has the widest line."""
    plt = publication.pyplot()
    figure, row = plt.subplots(
        1, len(panels), figsize=(publication.WIDTH, HEIGHT), sharey=True, layout="constrained"
    )
    players = _in_order([name for each in panels.values() for name in each.players], first)
    looks = dict(zip(players, publication.looks(len(players)), strict=True))
    factors = np.geomspace(1.0, LARGEST, 400)
    for axes, (title, found) in zip(np.atleast_1d(row), panels.items(), strict=True):
        for player in reversed(players):
            if player in found.players:
                own = np.array(found.factors(player))
                shares = [float(np.mean(own <= 1.0001 * factor)) for factor in factors]
                look, wide = looks[player], 2.2 if player == first else 1.2
                axes.step(
                    factors, shares, where="post", color=look.colour, ls=look.dash, lw=wide,
                    label=player,
                )  # fmt: skip
        axes.set(xscale="log", xlim=(1, LARGEST), ylim=(0, 1.02), xlabel="factor of the least cost")
        axes.set_title(f"{title}, {len(found.problems)} problems", loc="left")
        axes.set_xticks([1, 2, 5, 10, 20], ["1", "2", "5", "10", "20"])
        axes.set_xticks([], minor=True)
        axes.set_yticks(np.linspace(0, 1, 6), [f"{share:.0%}" for share in np.linspace(0, 1, 6)])
        axes.grid(alpha=0.25, linewidth=0.5)
    np.atleast_1d(row)[0].set_ylabel("share of problems")
    handles, names = np.atleast_1d(row)[0].get_legend_handles_labels()
    figure.legend(handles[::-1], names[::-1], loc="outside lower center", ncols=3)
    publication.publish(figure, file)


def _in_order(players: Sequence[str], first: str) -> list[str]:
    others = sorted({*players} - {first})
    return [first, *others]
