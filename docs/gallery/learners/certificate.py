"""
The certificate next to the regret
==================================

`dikin.Predictive` adds up a bound on its own regret while it plays. The regret is measured here,
since the losses are simulated and the best fixed point is known; in a live loop it is not, and the
certificate is what there is.
"""

import numpy as np

import dikin
from dikin.plotting.publication import COLOURS, pyplot
from dikin.plotting.style import GREY

ROUNDS, GAMES = 30_000, 8
disc = dikin.Ball(2)


def make_game(seed: int) -> dikin.Environment:
    return dikin.Ridge(disc, smoothness=1.0, seed=seed)


def make_learner(seed: int) -> dikin.Learner:
    return dikin.Predictive(disc, smoothness=1.0, seed=seed)


# %%
# The expected regret is at most the expected certificate, for any convex losses that are 1-smooth.
# That is a statement about means: a single game may lie higher.

runs = dikin.replicate(make_learner, make_game, rounds=ROUNDS, seeds=GAMES)
rounds = runs[0].checkpoints
regret = np.array([run.regret for run in runs])
certificate = np.array([run.certificate for run in runs])
print(f"after {ROUNDS} rounds: {regret[:, -1].mean() / ROUNDS:.4f} a round above the best point,")
print(f"certified: {certificate[:, -1].mean() / ROUNDS:.4f}")

figure, axes = pyplot().subplots(figsize=(6.4, 4.48), layout="constrained")
known = rounds >= 30
lines = {"certificate": (certificate, COLOURS[1]), "regret": (regret, COLOURS[0])}
for words, (values, colour) in lines.items():
    axes.plot(rounds[known], values[:, known].T, color=colour, alpha=0.3, lw=0.8)
    mean = values.mean(axis=0)
    axes.plot(rounds[known], mean[known], color=colour, lw=2.2)
    axes.text(ROUNDS * 1.08, mean[-1], words, color=colour, va="center", weight="bold")
slope = mean[-1] * (rounds[known] / ROUNDS) ** (2 / 3)
axes.plot(rounds[known], slope, color=GREY, ls=":", lw=1.5)
axes.text(rounds[known][12], slope[12] * 0.55, "$T^{2/3}$", color=GREY)
axes.set(xscale="log", yscale="log", xlabel="rounds $T$", ylabel="units of loss", xlim=(30, ROUNDS))
