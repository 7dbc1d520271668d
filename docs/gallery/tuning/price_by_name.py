"""
Tune a price by name
====================

A shop chooses a price and a budget for advertisements, again and again, and sees one number each
time: the revenue of that round, with noise. `dikin.Tuner` is told the ranges and today's setting.
"""

import random
from typing import Any

import numpy as np

import dikin
from dikin.plotting.publication import COLOURS, pyplot
from dikin.plotting.style import GREY

# %%
# The shop stands for your system. The tuner does not see the formula, only the numbers.

shop = random.Random(1)


def mean_revenue(price: Any, ads: Any) -> Any:  # numbers, or arrays for the picture
    return 500 - 4 * (price - 8) ** 2 - 0.05 * (ads - 20) ** 2


def revenue(price: float, ads: float) -> float:
    return float(mean_revenue(price, ads) + shop.gauss(0, 5))


# %%
# The loop: ask, play, tell.

ranges = {"price": dikin.Real(1, 14, start=4), "ads": dikin.Real(0, 60, start=40)}
tuner = dikin.Tuner(ranges, maximize=True, seed=7)
played, guesses = [], []
for _ in range(1000):
    trial = tuner.ask()
    tuner.tell(trial, revenue(**trial.params))
    played.append((trial["price"], trial["ads"]))
    guesses.append((tuner.best["price"], tuner.best["ads"]))

print(tuner.summary())

# %%
# Grey is what was tried, blue what the tuner would have played without exploring. It goes far in
# the beginning, and the better it knows, the less it explores.

price, ads = np.meshgrid(np.linspace(1, 14, 200), np.linspace(0, 60, 200))
figure, axes = pyplot().subplots(figsize=(6.4, 4.48), layout="constrained")
levels = axes.contour(price, ads, mean_revenue(price, ads), levels=8, colors="#c8cdd1")
axes.clabel(levels, fmt="%d", fontsize=7, colors=GREY)
axes.scatter(*np.transpose(played), s=7, color=GREY, alpha=0.35, lw=0, label="tried")
axes.plot(*np.transpose(guesses), color=COLOURS[0], label="best guess")
axes.plot(4, 40, "s", color="black", ms=6, label="today")
axes.plot(8, 20, "*", color=COLOURS[1], ms=15, mec="white", label="best fixed setting")
axes.set(xlabel="price", ylabel="advertisements", xlim=(1, 14), ylim=(0, 60))
axes.legend(loc="upper right", frameon=True, edgecolor="none", framealpha=1)
