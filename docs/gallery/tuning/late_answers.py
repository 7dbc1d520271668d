"""
Late answers, out of order
==========================

A measurement takes its time: here each answer comes after a random number of rounds, up to a
hundred, so that dozens of trials wait at any moment and answers overtake each other. Ask as often
as you like before you tell; each answer is learnt as one from the place where it was asked.
"""

import heapq
import math
import random

import numpy as np

import dikin
from dikin.plotting.publication import COLOURS, pyplot
from dikin.plotting.style import GREY

ROUNDS, LATEST = 2000, 100


def cost(timeout: float, workers: float) -> float:
    return 2 + (math.log10(timeout) + 0.5) ** 2 + 0.02 * (workers - 11) ** 2


def costs_of(latest: int, seed: int) -> list[float]:
    """The mean costs of the settings that were played, with answers up to `latest` rounds late."""
    chance = random.Random(seed)
    ranges = {"timeout": dikin.Real(0.01, 10, start=4, log=True), "workers": dikin.Real(1, 16)}
    tuner = dikin.Tuner(ranges, seed=seed)
    waiting: list[tuple[int, int, float]] = []  # when the answer comes, the trial's id, its value
    played = []
    for now in range(ROUNDS):
        trial = tuner.ask()
        played.append(cost(**trial.params))
        heapq.heappush(
            waiting,
            (now + chance.randint(0, latest), trial.id, played[-1] + chance.gauss(0, 0.2)),
        )
        while waiting and waiting[0][0] <= now:
            _, id, value = heapq.heappop(waiting)
            tuner.tell(id, value)
    return played


# %%
# A recent mean over 100 rounds, for four games each. What is late costs the rounds that were played
# before anything was known, and little after them.


def smooth(values: list[float]) -> list[float]:
    return [float(np.mean(values[max(0, t - 100) : t + 1])) for t in range(len(values))]


figure, axes = pyplot().subplots(figsize=(6.4, 4.48), layout="constrained")
for latest, colour in ((0, COLOURS[0]), (LATEST, COLOURS[1])):
    games = [costs_of(latest, seed) for seed in range(4)]
    for game in games:
        axes.plot(smooth(game), color=colour, alpha=0.35, lw=0.8)
    words = f"up to {latest} rounds late" if latest else "at once"
    axes.plot(np.mean([smooth(game) for game in games], axis=0), color=colour, lw=2, label=words)
    last = np.mean(games, axis=0)[-500:].mean()
    print(f"{words}: {np.mean(games):.3f} a round, {last:.3f} in the last 500")
axes.axhline(2, color=GREY, ls="--", lw=1)
axes.text(ROUNDS, 1.98, "best fixed setting", color=GREY, ha="right", va="top")
axes.set(xlabel="rounds", ylabel="cost, mean of 100 rounds", xlim=(0, ROUNDS), ylim=(1.85, 3.5))
axes.legend(title="answers come", alignment="left")
