"""
A forecast of your own
======================

Most of what a round brings has nothing to do with the setting: the weekday, the weather, the
season. If you can foresee a part of it, say so before the setting is chosen: `ask(forecast=...)`.
The tuner learns from the difference to what was expected. A bad forecast loses its weight after a
few rounds.
"""

import random

import numpy as np

import dikin
from dikin.plotting.publication import COLOURS, pyplot

ROUNDS, GAMES = 1500, 6


def lost(forecast_of: str, seed: int) -> list[float]:
    """What the settings of one game lost against the best one, added up."""
    chance = random.Random(seed)
    ranges = {"price": dikin.Real(1, 14, start=4), "ads": dikin.Real(0, 60, start=40)}
    tuner = dikin.Tuner(ranges, maximize=True, seed=seed)
    losses = []
    for _ in range(ROUNDS):
        demand = chance.gauss(0, 80)  # of the day, known in the morning
        nonsense = chance.gauss(0, 900)
        forecasts = {"none": None, "nonsense": nonsense, "the day's demand": 500 + demand}
        trial = tuner.ask(forecast=forecasts[forecast_of])
        loss = 4 * (trial["price"] - 8) ** 2 + 0.05 * (trial["ads"] - 20) ** 2
        tuner.tell(trial, 500 + demand - loss + chance.gauss(0, 5))
        losses.append(loss)
    return list(np.cumsum(losses))


# %%
# Means over six games, each thin line is one of them.

figure, axes = pyplot().subplots(figsize=(6.4, 4.48), layout="constrained")
dashes = {"none": "-", "nonsense": "--", "the day's demand": "-"}
for (forecast_of, dash), colour in zip(dashes.items(), COLOURS, strict=False):
    games = np.array([lost(forecast_of, seed) for seed in range(GAMES)]) / 1000
    axes.plot(games.T, color=colour, alpha=0.25, lw=0.8)
    axes.plot(games.mean(axis=0), color=colour, ls=dash, lw=2, label=forecast_of)
    print(f"forecast {forecast_of}: {games[:, -1].mean():.1f} thousand lost")
axes.set(xlabel="rounds", ylabel="lost against the best setting, thousands", xlim=(0, ROUNDS))
axes.set_ylim(bottom=0)
axes.legend(title="forecast", alignment="left")
