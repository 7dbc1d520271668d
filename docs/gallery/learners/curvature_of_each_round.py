"""
Using the curvature of each round
=================================

Some rounds are strongly convex, others flat, and which is known with the answer: a batch with many
rows has more curvature than one with few. `dikin.AdaptiveSmooth` (Luo, Zhang and Zhao, 2022) takes
it with `tell(query, loss, curvature)` and regularises only as much as is missing. Here the same
learner plays the same losses twice; the second time the curvature is kept from it.
"""

import numpy as np
from scipy import stats

import dikin
from dikin.plotting.publication import COLOURS, pyplot

ROUNDS, GAMES = 20_000, 12
disc = dikin.Ball(2)


# %%
# Nothing is curved in the first thousand rounds, everything is from then on.


def told(seed: int) -> dikin.Environment:
    pattern = dikin.FlatFirst(0.8, 1000)
    return dikin.Ridge(disc, smoothness=1.0, curvature=pattern, seed=seed)


def untold(seed: int) -> dikin.Environment:
    return dikin.Understated(told(seed))


def make_learner(seed: int) -> dikin.Learner:
    return dikin.AdaptiveSmooth(disc, 1.0, loss_range=told(seed).loss_range, seed=seed)


# %%
# Lines are means over twelve games, bands their 95 % intervals.

figure, axes = pyplot().subplots(figsize=(6.4, 4.48), layout="constrained")
axes.axvspan(100, 1000, color="black", alpha=0.04, lw=0)
axes.text(330, 0.93, "flat rounds", transform=axes.get_xaxis_transform(), ha="center")
lines = {"not told": (untold, COLOURS[1]), "told the curvature": (told, COLOURS[0])}
for words, (game, colour) in lines.items():
    runs = dikin.replicate(make_learner, game, rounds=ROUNDS, seeds=GAMES)
    regret = np.array([run.regret for run in runs])
    rounds, mean = runs[0].checkpoints, regret.mean(axis=0)
    half = stats.t.ppf(0.975, GAMES - 1) * stats.sem(regret, axis=0)
    axes.plot(rounds, mean, color=colour, lw=2, label=words)
    axes.fill_between(rounds, mean - half, mean + half, color=colour, alpha=0.2, lw=0)
    print(f"{words}: regret {mean[-1]:.0f} ± {half[-1]:.0f}")
axes.set(xscale="log", yscale="log", xlabel="rounds", ylabel="regret", xlim=(100, ROUNDS))
axes.set_ylim(bottom=5)
axes.legend(loc="lower right")
