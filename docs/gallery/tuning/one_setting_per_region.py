"""
One setting per region
======================

A shop sells in four regions. The best price differs among them; the best discount hardly does.
One tuner with the region as its context learns from all of them what they have in common, and in
each of them what is its own. Compare it with one tuner for all regions together, which must find a
compromise, and with a tuner of its own for each region, which begins everywhere from nothing.
"""

from random import Random

import numpy as np

import dikin
from dikin.plotting.publication import COLOURS, pyplot

ROUNDS, GAMES = 1200, 3
PRICES = {"eu": 9.0, "us": 7.5, "asia": 5.0, "africa": 4.0}


def ranges() -> dict[str, dikin.Real]:
    return {"price": dikin.Real(1, 14, start=6), "discount": dikin.Real(0, 50, start=10)}


def lost(kind: str, seed: int) -> tuple[list[float], dikin.Tuner]:
    """What the settings of one game lost against the best one of each region, added up."""
    chance, losses = Random(seed), []
    one = dikin.Tuner(ranges(), seed=seed)
    each = {region: dikin.Tuner(ranges(), seed=seed + i) for i, region in enumerate(PRICES)}
    chosen = dikin.Tuner(ranges(), context={"region": list(PRICES)}, seed=seed)
    for _ in range(ROUNDS):
        region = chance.choice(list(PRICES))
        tuner = {"one for all": one, "one for each": each[region]}.get(kind, chosen)
        trial = tuner.ask(context={"region": region} if tuner is chosen else None)
        loss = (trial["price"] - PRICES[region]) ** 2 + 0.01 * (trial["discount"] - 25) ** 2
        tuner.tell(trial, 20 + loss + chance.gauss(0, 2))
        losses.append(loss)
    return list(np.cumsum(losses)), chosen


# %%
# Means over three games, each thin line is one of them.

figure, axes = pyplot().subplots(figsize=(6.4, 4.48), layout="constrained")
for kind, colour in zip(("one for all", "one for each", "context=region"), COLOURS, strict=False):
    played = [lost(kind, seed) for seed in range(GAMES)]
    games = np.array([losses for losses, _ in played])
    axes.plot(games.T, color=colour, alpha=0.25, lw=0.8)
    axes.plot(games.mean(axis=0), color=colour, lw=2, label=kind)
    print(f"{kind}: {games[:, -1].mean():,.0f} lost")
axes.set(xlabel="rounds", ylabel="lost against the best settings", xlim=(0, ROUNDS))
axes.set_ylim(bottom=0)
axes.legend(title="tuner", alignment="left")

# %%
# The settings that the last game ended with:

fleet = played[-1][1]
for region, best in PRICES.items():
    setting = fleet.best_for({"region": region})
    print(f"{region}: price {setting['price']:.1f} (best {best:.1f})")

# %%
# The figure of the tuner itself shows them below the history.

figure = fleet.plot()
