"""
Two learners, many games, intervals
===================================

One game says little: both the losses and the learner are random. `dikin.replicate` plays a game for
every seed, and the seed fixes the losses whoever plays. So the games come in pairs, and what is
compared is the difference in each pair.
"""

import numpy as np
from scipy import stats

import dikin
from dikin.plotting.publication import COLOURS, pyplot
from dikin.plotting.style import GREY

ROUNDS, GAMES = 1500, 12
box = dikin.Box([0, 0], [1, 1])


def make_game(seed: int) -> dikin.Environment:
    return dikin.Shifted(dikin.Ridge(box, 1.0, 0.5, seed=seed), noise=0.1)


def predictive(seed: int) -> dikin.Learner:
    return dikin.Predictive(box, seed=seed)


def saha_tewari(seed: int) -> dikin.Learner:
    game = make_game(seed)
    return dikin.SahaTewari(box, ROUNDS, game.smoothness, loss_range=game.loss_range, seed=seed)


# %%
# `workers=-1` would take all cores; the result does not depend on their number.

learners = {"Predictive, told nothing": predictive, "SahaTewari, told all": saha_tewari}
regret = {
    name: np.array(
        [run.regret[-1] for run in dikin.replicate(make, make_game, rounds=ROUNDS, seeds=GAMES)]
    )
    for name, make in learners.items()
}

# %%
# The mean difference with its 95 % interval of Student's t. If the interval does not contain zero,
# the two are distinguished on these losses at this horizon; on other losses it may be otherwise.

first, second = regret.values()
half = stats.t.ppf(0.975, GAMES - 1) * stats.sem(second - first)
print(f"SahaTewari has {(second - first).mean():.1f} ± {half:.1f} more regret than Predictive")

figure, axes = pyplot().subplots(figsize=(6.4, 4.48), layout="constrained")
for pair in zip(first, second, strict=True):
    axes.plot([0, 1], pair, color=GREY, alpha=0.4, lw=0.8)
for i, (values, colour) in enumerate(zip(regret.values(), COLOURS, strict=False)):
    half = stats.t.ppf(0.975, GAMES - 1) * stats.sem(values)
    beside = i + (0.12 if i else -0.12)
    axes.plot(GAMES * [i], values, "o", color=colour, alpha=0.6, ms=5)
    axes.errorbar(beside, values.mean(), half, fmt="D", color=colour, capsize=4, ms=7, lw=2)
    words = f"{values.mean():.0f} ± {half:.0f}"
    axes.text(i + (0.18 if i else -0.18), values.mean(), words, color=colour, weight="bold",
              va="center", ha="left" if i else "right")  # fmt: skip
axes.set(xticks=[0, 1], xticklabels=list(regret), xlim=(-0.6, 1.6))
axes.set_ylabel(f"regret of {ROUNDS} rounds")
axes.set_ylim(bottom=0)
