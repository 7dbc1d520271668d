"""
A budget as a constraint
========================

Advertisements and staff are paid from one budget. A linear constraint is written as one would write
it, and everything that is played satisfies it. (Constraints need the extra `lab`.)
"""

import random
from typing import Any

import numpy as np

import dikin
from dikin.plotting.publication import COLOURS, pyplot
from dikin.plotting.style import GREY

# %%
# The best setting would cost more than there is. So the best one that can be paid lies on the edge
# of what is allowed.

shop = random.Random(2)


def mean_income(ads: Any, staff: Any) -> Any:  # numbers, or arrays for the picture
    return 300 - 0.06 * (ads - 40) ** 2 - 0.8 * (staff - 14) ** 2


ranges = {"ads": dikin.Real(0, 60, start=15), "staff": dikin.Real(0, 20, start=5)}
tuner = dikin.Tuner(ranges, maximize=True, constraints=["ads + 3 * staff <= 60"], seed=4)
played, guesses = [], []
for _ in range(2000):
    trial = tuner.ask()
    tuner.tell(trial, mean_income(**trial.params) + shop.gauss(0, 4))
    played.append((trial["ads"], trial["staff"]))
    guesses.append((tuner.best["ads"], tuner.best["staff"]))

dearest = max(ads + 3 * staff for ads, staff in played)
print(f"the dearest of {len(played)} settings costs {dearest:.2f} of 60")

# %%
# Along the edge staff = (60 - ads) / 3, and there the best setting is found by looking at all.

edge = np.linspace(0, 60, 6001)
best = edge[np.argmax(mean_income(edge, (60 - edge) / 3))]

ads, staff = np.meshgrid(np.linspace(0, 60, 200), np.linspace(0, 20, 200))
figure, axes = pyplot().subplots(figsize=(6.4, 4.48), layout="constrained")
axes.contour(ads, staff, mean_income(ads, staff), levels=10, colors="#c8cdd1")
axes.fill([0, 60, 60, 0], [20, 0, 20, 20], color=COLOURS[1], alpha=0.12, lw=0)
axes.text(44, 15.5, "beyond the budget", color=COLOURS[1], ha="center")
axes.scatter(*np.transpose(played), s=6, color=GREY, alpha=0.3, lw=0, label="tried")
axes.plot(*np.transpose(guesses), color=COLOURS[0], label="best guess")
axes.plot(best, (60 - best) / 3, "*", color=COLOURS[1], ms=15, mec="white", label="best allowed")
axes.set(xlabel="advertisements", ylabel="staff", xlim=(0, 60), ylim=(0, 20))
axes.legend(loc="lower left", frameon=True, edgecolor="none", framealpha=0.85)
