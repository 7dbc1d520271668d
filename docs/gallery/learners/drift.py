"""
A best point that drifts
========================

The best setting moves with the load, the season, a new release. With `memory=1000` a learner
forgets what is much older than a thousand rounds, and follows; without a memory it follows too,
farther behind. `dikin.Tuner` takes the same argument.
"""

import numpy as np

import dikin
from dikin.plotting.publication import COLOURS, pyplot

ROUNDS, PERIOD = 16_000, 8000
angles = 2 * np.pi * np.arange(ROUNDS) / PERIOD
targets = 0.6 * np.column_stack([np.cos(angles), np.sin(angles)])  # twice around


def follow(learner: dikin.Learner) -> tuple[np.ndarray, float]:
    """The learner's centres, and what it lost a round against the best point of each round."""
    noise = np.random.default_rng(1).normal(0, 0.05, ROUNDS)
    centres, lost = [], 0.0
    for target, error in zip(targets, noise, strict=True):
        query = learner.ask()
        loss = 0.5 * float(np.sum((query.point - target) ** 2))
        learner.tell(query, loss + error)
        centres.append(learner.center)
        lost += loss
    return np.array(centres), lost / ROUNDS


# %%
# One of the two coordinates over the rounds. With a memory the learner is never settled, and its
# centre trembles. Where nothing drifts that costs regret: leave it out unless you know of a drift.

disc = dikin.Ball(2)
figure, axes = pyplot().subplots(figsize=(6.4, 4.48), layout="constrained")
for memory, colour in ((1000, COLOURS[0]), (None, COLOURS[1])):
    centres, lost = follow(dikin.Predictive(disc, memory=memory, seed=1))
    axes.plot(centres[:, 0], color=colour, lw=1, label=f"memory={memory}")
    print(f"memory={memory}: loses {lost:.4f} a round")
axes.plot(targets[:, 0], color="black", lw=2, ls="--", label="best point of the round")
axes.set(xlabel="rounds", ylabel="first coordinate", xlim=(0, ROUNDS), ylim=(-0.8, 1.05))
axes.legend(loc="upper center", ncols=3)
