"""
A world that changes
====================

The best number of workers stays put for 8000 rounds and then jumps, when a new release comes. A
tuner with `memory="auto"`, which is the default, forgets when it finds itself being pushed one way
for longer than chance would; one with `memory=None` gives all rounds the same weight for ever. With
a number, such as `memory=1000`, older rounds always fade: it is quick after a change and pays for
that while there is none. Where changes come every 2000 rounds, that number is the better choice.
"""

from random import Random
from typing import Literal

import numpy as np

import dikin
from dikin.plotting.publication import COLOURS, pyplot

ROUNDS, GAMES, RELEASES = 10_000, 2, (0, 8000)
BEST = (20.0, 45.0)
Memory = float | Literal["auto"] | None
MEMORIES: tuple[Memory, ...] = (1000, None, "auto")


def follow(memory: Memory, seed: int) -> tuple[list[float], list[float]]:
    """The best guess after each round of one game, and what its settings lost, added up."""
    chance, guesses, losses = Random(seed), [], []
    ranges = {"workers": dikin.Real(1, 64, start=30), "timeout": dikin.Real(0.1, 5, start=2)}
    tuner = dikin.Tuner(ranges, memory=memory, seed=seed)
    for round in range(ROUNDS):
        best = BEST[sum(round >= release for release in RELEASES) - 1]
        trial = tuner.ask()
        loss = 0.02 * (trial["workers"] - best) ** 2 + 2 * (trial["timeout"] - 1.5) ** 2
        tuner.tell(trial, 50 + loss + chance.gauss(0, 4))
        guesses.append(tuner.best["workers"])
        losses.append(loss)
    return guesses, list(np.cumsum(losses))


# %%
# The best guess in one game, and what was lost against the best setting of each time, as means over
# two games.

figure, (top, bottom) = pyplot().subplots(2, figsize=(6.4, 5.6), sharex=True, layout="constrained")
top.step([*RELEASES, ROUNDS], [*BEST, BEST[-1]], where="post", color="0.5", ls="--", lw=1)
for memory, colour in zip(MEMORIES, COLOURS, strict=False):
    played = [follow(memory, seed) for seed in range(GAMES)]
    top.plot(played[0][0], color=colour, lw=1.2, label=f"memory={memory!r}")
    games = np.array([losses for _, losses in played])
    bottom.plot(games.mean(axis=0), color=colour, lw=2, label=f"memory={memory!r}")
    print(f"memory={memory!r}: {games[:, -1].mean():,.0f} lost")
top.set(ylabel="workers: best guess")
top.legend()
bottom.set(xlabel="rounds", ylabel="lost", xlim=(0, ROUNDS))
bottom.set_ylim(bottom=0)
