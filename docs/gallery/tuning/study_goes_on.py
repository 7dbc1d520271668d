"""
A study that survives being closed
==================================

`dikin.Study` keeps a tuner in a database. Each answer is on the disk when `tell` returns, and
whoever opens the study goes on where the last one stopped: after an update, a crash or kill -9.
Here four programs play one after the other, and what they have played is, bit for bit, what one
program alone would have played.
"""

import tempfile
from pathlib import Path

import numpy as np

import dikin
from dikin.plotting.publication import COLOURS, pyplot
from dikin.plotting.style import GREY

ranges = {"price": dikin.Real(1, 14, start=4), "ads": dikin.Real(0, 60, start=40)}


def revenue(price: float, ads: float) -> float:
    return 500 - 4 * (price - 8) ** 2 - 0.05 * (ads - 20) ** 2


def program(store: Path, rounds: int) -> None:
    """Begins with the same line however often it is started."""
    with dikin.Study(store, "shop", dikin.Tuner(ranges, maximize=True, seed=7)) as study:
        for _ in range(rounds):
            trial = study.ask()
            study.tell(trial, revenue(**trial.params))


# %%
# Four programs, one after the other, and the table that the study has kept.

folder = tempfile.TemporaryDirectory()
store = Path(folder.name) / "studies.db"
ends = np.cumsum([60, 150, 40, 250])
for rounds in np.diff(ends, prepend=0):
    program(store, int(rounds))

with dikin.Study(store, "shop") as study:
    table = study.history()
folder.cleanup()

# %%
# The same without a database and without an end.

alone = dikin.Tuner(ranges, maximize=True, seed=7)
for _ in range(ends[-1]):
    trial = alone.ask()
    alone.tell(trial, revenue(**trial.params))
print("the same prices, bit for bit:", bool((alone.history()["price"] == table["price"]).all()))

# %%
# Where a program ended there is a line, and nothing else to be seen.

figure, axes = pyplot().subplots(2, 1, figsize=(6.4, 4.48), sharex=True, layout="constrained")
for place, name, best, colour in zip(axes, ranges, (8, 20), COLOURS, strict=False):
    place.plot(table["round"], table[name], ".", color=GREY, ms=3, alpha=0.5, label="tried")
    place.plot(table["round"], table[f"best.{name}"], color=colour, lw=1.8, label="best guess")
    place.axhline(best, color="black", ls=":", lw=1, label="best fixed setting")
    place.set_ylabel(name)
    for end in ends[:-1]:
        place.axvline(end, color=COLOURS[3], lw=1.2)
axes[0].legend(loc="lower right", ncols=3)
axes[0].text(ends[0], axes[0].get_ylim()[1], "closed", color=COLOURS[3], ha="center", va="bottom")
axes[1].set(xlabel="rounds", xlim=(0, ends[-1]))
