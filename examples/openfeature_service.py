"""A shop whose flags are tuned while it serves: OpenFeature in front, a tuner behind.

    make flags

Several threads serve visits. A visit evaluates two flags under its own key. The purchase
comes later, out of order, sometimes twice and sometimes never. The shop knows nothing but
OpenFeature. Prints the mean spending at first and at the end, beside today's setting and the
best one.
"""

from __future__ import annotations

import argparse
import logging
import random
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from openfeature import api
from openfeature.evaluation_context import EvaluationContext
from openfeature.track import TrackingEventDetails

import dikin
from dikin.adapters.openfeature import TunerProvider

THREADS = 8
LATE = 40
"""Visits of a thread after which the latest purchases come."""
TWICE, NEVER = 0.03, 0.05
"""Shares of the purchases that are reported twice, and that are never reported."""
NOISE = 15.0
"""The standard deviation of a purchase."""
PARAMETERS = {"discount": dikin.Real(0, 50, start=5), "shipping": dikin.Real(0, 20, start=15)}
"""In percent and in dollars. The start is today's setting."""
TODAY = {"discount": 5.0, "shipping": 15.0}


def spent(discount: float, shipping: float) -> float:
    """Return the mean spending of a visitor: most at a discount of 20 and 6 for shipping."""
    return 60.0 - 0.03 * (discount - 20.0) ** 2 - 0.15 * (shipping - 6.0) ** 2


class Visit(NamedTuple):
    """A trial, the mean spending at its setting, and how often the purchase is reported."""

    trial: int
    mean: float
    reports: int


class Shop:
    """One thread of the shop. It knows flags and events, and nothing of a tuner."""

    def __init__(self, thread: int, seed: int) -> None:
        self._flags, self._thread = api.get_client("shop"), thread
        self._draws = random.Random(f"{seed}/{thread}")
        self._due: list[tuple[int, str, float]] = []
        """Reports that wait for their turn, the next one first."""

    def serve(self, count: int) -> list[Visit]:
        """Serve so many visits, and report the purchases that are due in between."""
        visits = []
        for turn in range(count):
            visits.append(self._visit(turn))
            self._report(until=turn)
        self._report(until=count + LATE)
        return visits

    def _visit(self, turn: int) -> Visit:
        key = f"{self._thread}/{turn}"
        flags = {
            name: self._flags.get_float_details(name, today, EvaluationContext(key))
            for name, today in TODAY.items()
        }
        mean = spent(**{name: flag.value for name, flag in flags.items()})
        amount, lot = mean + self._draws.gauss(0, NOISE), self._draws.random()
        reports = 0 if lot < NEVER else 2 if lot < NEVER + TWICE else 1
        self._due += [(turn + self._draws.randrange(LATE), key, amount) for _ in range(reports)]
        self._due.sort()
        trial = flags["discount"].flag_metadata["trial"]
        assert isinstance(trial, int)
        return Visit(trial, mean, reports)

    def _report(self, until: int) -> None:
        while self._due and self._due[0][0] <= until:
            _, key, amount = self._due.pop(0)
            self._flags.track("spent", EvaluationContext(key), TrackingEventDetails(amount))


def run(visits: int, seed: int) -> tuple[dikin.Tuner, list[Visit]]:
    """Serve, and return the visits in the order of their trials."""
    tuner = dikin.Tuner(PARAMETERS, maximize=True, seed=seed)
    api.set_provider_and_wait(TunerProvider(tuner, "spent"), "shop")
    counts = [len(range(thread, visits, THREADS)) for thread in range(THREADS)]
    with ThreadPoolExecutor(THREADS) as pool:
        served = pool.map(lambda thread: Shop(thread, seed).serve(counts[thread]), range(THREADS))
        found = [visit for each in served for visit in each]
    api.shutdown()
    return tuner, sorted(found)


def report(tuner: dikin.Tuner, visits: list[Visit]) -> str:
    """Return the spending before and after."""
    means = np.array([visit.mean for visit in visits])
    tenth = max(1, len(visits) // 10)
    reports = [visit.reports for visit in visits]
    rows = {
        "today's setting": spent(**TODAY),
        f"the first {tenth:,} visits": means[:tenth].mean(),
        f"the last {tenth:,} visits": means[-tenth:].mean(),
        "the best setting": spent(20, 6),
    }
    best = ", ".join(f"{name} {value:.1f}" for name, value in tuner.best.items())
    return "\n".join(
        [
            "mean spending of a visitor:",
            *(f"  {name:<26}{value:.2f}" for name, value in rows.items()),
            f"the tuner's setting now: {best}",
            f"{len(visits):,} visits, {sum(reports):,} reports ({reports.count(2):,} came twice, "
            f"{reports.count(0):,} never), {tuner.rounds:,} learned",
        ]
    )


def main() -> None:
    """Run the shop and print the report."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--visits", type=int, default=4000, help="in all (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of everything drawn (%(default)s)")
    chosen = parser.parse_args()
    logging.getLogger("dikin").setLevel(logging.ERROR)  # it warns of every report that came twice
    print(report(*run(chosen.visits, chosen.seed)))


if __name__ == "__main__":
    main()
