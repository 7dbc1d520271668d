"""Care for a study: check that its rows are what was written, remove early ones."""

from __future__ import annotations

import json
from typing import NamedTuple

import numpy as np

from dikin.engine.progress import Progress
from dikin.errors import StateError
from dikin.silence import silence
from dikin.studies.database import Row
from dikin.studies.fold import Fold
from dikin.studies.log import Damage, Log
from dikin.tuning.tuner import KEPT

ROUNDING = 1e-9
"""Differences below this share of a range are those of other digits."""


class Verification(NamedTuple):
    """The result of `Study.verify`."""

    rows: int
    """Rows after the beginning, all of them intact."""
    compared: int
    """Trials that were asked with all rows before them known, and were computed again."""
    differences: int
    """Trials that differ here by more than rounding."""
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
    """Check all seals, and compute the trials again, each page of rows in a read of its own."""
    fold, rows, apart = Fold.read(log.beginning(), log), 0, list[float]()
    base = fold.n
    try:
        with Progress(upto - base, progress) as bar, silence():
            for group in log.rows(base, fold.seal, upto):
                for row in group:
                    apart += _difference(fold, row)
                    fold.apply(row)
                rows += len(group)
                bar.move(len(group))
    except Damage:
        if log.beginning().n > base:
            raise StateError(f"study {log.name!r} was trimmed meanwhile; verify it again") from None
        raise
    differences = sum(each > ROUNDING for each in apart)
    return Verification(rows, len(apart), differences, max(apart, default=0.0))


def _difference(fold: Fold, row: Row) -> list[float]:
    """Return how far a trial is from the one computed here, unless that is unknown."""
    body = json.loads(row.body)
    if row.kind != "ask" or "id" in body or body.get("after", fold.n) != fold.n:
        return []
    tuner = fold.tuner
    known = tuner.contexts.checked(body["context"] or None), body["covariates"]
    trial, _ = tuner.draft(*known, row.n, body.get("draw"))
    widths = [axis.high - axis.low for axis in tuner.space.axes]
    apart = np.abs(trial.point - body["point"]) / np.maximum(widths, 1e-300)
    return [float(apart.max(initial=0.0))]


def trim(log: Log, before: int, progress: bool) -> int:
    """Put a beginning in the place of the rows of early rounds. Return the number of these rows."""
    fold = Fold.read(log.beginning(), log)
    base = fold.n
    with Progress(max(0, before - 1 - fold.rounds), progress) as bar, silence():
        for group in log.rows(base, fold.seal):
            rounds = sum(row.kind == "tell" for row in group)
            if fold.rounds + rounds >= before:
                break
            for row in group:
                fold.apply(row)
            bar.move(rounds)
    if fold.n == base:
        return 0
    fold.marks = [[fold.rounds, fold.n, fold.seal]]
    fold.spaces = [change for change in fold.spaces if change[0] > fold.n]
    return log.trim(fold.snapshot(KEPT), base)
