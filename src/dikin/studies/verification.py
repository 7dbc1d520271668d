"""Whether the rows of a study are what was written, and what this machine makes of them."""

from __future__ import annotations

import json
from typing import NamedTuple

import numpy as np

from dikin.engine.progress import Progress
from dikin.errors import StateError
from dikin.silence import silence
from dikin.studies.fold import Fold
from dikin.studies.history import earlier_rounds
from dikin.studies.log import Damage, Log, Row

ROUNDING = 1e-9
"""Differences below this share of a range are those of other digits."""


class Verification(NamedTuple):
    """The result of `Study.verify`."""

    rows: int
    """Rows after the beginning, all of them intact."""
    compared: int
    """Trials that were asked with all rows before them known, and were computed again."""
    differences: int
    """Those that came out otherwise here, by more than rounding."""
    largest: float
    """The largest difference of a setting, in shares of the range."""

    def __str__(self) -> str:
        text = f"{self.rows:,} rows are intact; {self.compared:,} trials were computed again"
        if not self.differences:
            return f"{text}, with differences of at most {self.largest:.1e} of a range"
        return (
            f"{text}, and {self.differences:,} differ by up to {self.largest:.1e} of a range "
            "(another processor, another version). The recorded settings count"
        )


def verify(log: Log, upto: int, progress: bool) -> Verification:
    """Check all seals, and compute the trials of a study again.

    Each page of rows is a separate read, so that a long verification does not keep the database
    from cleaning up.
    """
    row = log.beginning()
    fold = Fold.begun(row)
    fold.recall = lambda fold: earlier_rounds(log, fold)
    rows = compared = differences = 0
    largest = 0.0
    try:
        with Progress(upto - fold.n, progress) as bar, silence():
            for group in log.rows(fold.n, fold.seal, upto):
                for row in group:
                    found = _difference(fold, row)
                    compared += found is not None
                    differences += (found or 0.0) > ROUNDING
                    largest = max(largest, found or 0.0)
                    fold.apply(row)
                rows += len(group)
                bar.move(len(group))
    except Damage:
        if log.head()[2] > row.n:
            raise StateError(f"study {log.name!r} was trimmed meanwhile; verify it again") from None
        raise
    return Verification(rows, compared, differences, largest)


def _difference(fold: Fold, row: Row) -> float | None:
    """Return how far a trial is from the one that is computed here; None if that is not known."""
    body = json.loads(row.body)
    if row.kind != "ask" or "id" in body or body.get("after", fold.n) != fold.n:
        return None
    tuner = fold.tuner
    known = tuner.contexts.checked(body["context"] or None), body["covariates"]
    trial, _ = tuner.draft(*known, row.n, body.get("draw"))
    widths = [axis.high - axis.low for axis in tuner.space.axes]
    apart = np.abs(trial.point - body["point"]) / np.maximum(widths, 1e-300)
    return float(apart.max(initial=0.0))
