"""
Shares that add up to one
=========================

Three web servers share the requests. Each is a queue: the nearer its load comes to what it can do,
the longer a request waits. The mean wait is convex in the shares, and one measurement a round is
all that `dikin.Tuner` sees of it.
"""

import random

import numpy as np

import dikin
from dikin.plotting.publication import COLOURS, pyplot
from dikin.plotting.style import GREY

SPEEDS = {"old": 1.15, "new": 1.4, "large": 2.2}  # requests a second; 1 a second comes in
clock = random.Random(3)


def mean_wait(shares: dict[str, float]) -> float:
    """The mean time of a request in queues with random arrivals (M/M/1)."""
    return sum(shares[name] / (SPEEDS[name] - shares[name]) for name in SPEEDS)


# %%
# A parameter of shares is played as a dictionary of numbers that add up to 1. Today everything goes
# evenly to all three.

start = {"old": 1 / 3, "new": 1 / 3, "large": 1 / 3}
tuner = dikin.Tuner({"traffic": dikin.Shares(list(SPEEDS), start=start)}, seed=1)
guesses = []
for _ in range(3000):
    trial = tuner.ask()
    tuner.tell(trial, mean_wait(trial["traffic"]) + clock.gauss(0, 0.02))
    guesses.append(list(tuner.best["traffic"].values()))

# %%
# The best fixed shares, by looking at all of them on a fine grid: the tuner cannot do this.

grid = np.linspace(0, 1, 401)
candidates = [(a, b, 1 - a - b) for a in grid for b in grid if a + b <= 1]
best = min(candidates, key=lambda shares: mean_wait(dict(zip(SPEEDS, shares, strict=True))))
print(f"mean wait today {mean_wait(start):.3f}, tuned {mean_wait(tuner.best['traffic']):.3f},")
print(f"best possible {mean_wait(dict(zip(SPEEDS, best, strict=True))):.3f} seconds")

# %%
# Solid: the tuner's guess. Dashed: the best fixed shares.

figure, axes = pyplot().subplots(figsize=(6.4, 4.48), layout="constrained")
bands = axes.stackplot(range(1, 3001), np.transpose(guesses), colors=COLOURS[:3], alpha=0.35, lw=0)
heights = np.cumsum(guesses, axis=1)
for i, (name, height) in enumerate(zip(SPEEDS, np.cumsum(best), strict=True)):
    axes.plot(range(1, 3001), heights[:, i], color=COLOURS[i], lw=1.4)
    axes.axhline(height, color=GREY, ls="--", lw=1)
    axes.text(2900, height - best[i] / 2, name, color="black", ha="right", va="center")
axes.set(xlabel="rounds", ylabel="share of the requests", xlim=(1, 3000), ylim=(0, 1))
