"""
Noise that can be explained
===========================

Requests are slow when the machines are busy and around noon, whatever the setting is. The load is
known before a setting is chosen, and the number of users afterwards. Both are told as covariates:
the tuner takes off what they explain, and learns from the rest. The setting must influence neither.
"""

from math import pi, sin
from random import Random

import numpy as np

import dikin
from dikin.plotting.publication import COLOURS, pyplot

ROUNDS, GAMES = 1500, 6


def lost(told: str, seed: int) -> tuple[list[float], dikin.Tuner]:
    """What the settings of one game lost against the best one, added up."""
    chance, nonsense = Random(seed), Random(1000 + seed)
    ranges = {"workers": dikin.Real(1, 64, start=8), "timeout": dikin.Real(0.1, 5, start=4)}
    tuner = dikin.Tuner(ranges, covariates={"hour": dikin.Cycle(24)}, seed=seed)
    losses = []
    for round in range(ROUNDS):
        load, users, hour = chance.gauss(0.5, 0.15), chance.gauss(1800, 300), round / 60 % 24
        known = {"load": load, "hour": hour} if told == "load, hour, users" else None
        if told == "three useless numbers":
            known = {name: nonsense.gauss(0, 1) for name in "abc"}
        trial = tuner.ask(covariates=known)
        loss = 0.02 * (trial["workers"] - 20) ** 2 + 6 * (trial["timeout"] - 1.5) ** 2
        besides = 120 * load + 0.05 * users + 10 * sin(2 * pi * hour / 24)
        later = {"users": users} if told == "load, hour, users" else None
        tuner.tell(trial, 40 + loss + besides + chance.gauss(0, 4), covariates=later)
        losses.append(loss)
    return list(np.cumsum(losses)), tuner


# %%
# Means over six games, each thin line is one of them. Useless covariates cost next to nothing.

figure, axes = pyplot().subplots(figsize=(6.4, 4.48), layout="constrained")
dashes = {"nothing": "-", "three useless numbers": "--", "load, hour, users": "-"}
for (told, dash), colour in zip(dashes.items(), COLOURS, strict=False):
    played = [lost(told, seed) for seed in range(GAMES)]
    games = np.array([losses for losses, _ in played]) / 1000
    axes.plot(games.T, color=colour, alpha=0.25, lw=0.8)
    axes.plot(games.mean(axis=0), color=colour, ls=dash, lw=2, label=told)
    print(f"{told} told: {games[:, -1].mean():.1f} s lost")
axes.set(xlabel="rounds", ylabel="lost against the best setting, s", xlim=(0, ROUNDS))
axes.set_ylim(bottom=0)
axes.legend(title="told besides the value", alignment="left")

# %%
# The best setting, and how sure it is:

print(played[-1][1].recommend())
