"""The state that rows make of a tuner, which can always be made again.

An ask row holds all that its answer needs, so rows of any version, processor or NumPy are learnt
from as they stand. A tell whose trial is not open any more, or that the tuner cannot use, counts as
a round and teaches nothing: rows are never refused.
"""

from __future__ import annotations

import json
import logging
import time
from contextlib import suppress
from dataclasses import replace
from math import nan
from typing import Any, NamedTuple, Self

import numpy as np

from dikin import serialization
from dikin.engine.progress import Progress
from dikin.errors import DikinError, QueryError, StateError
from dikin.learners.base import CANNOT_COMPUTE
from dikin.loading import restore
from dikin.silence import SILENT, silence
from dikin.status import OpenQueries, Status, value_text
from dikin.studies.arguments import ANSWER
from dikin.studies.database import Row
from dikin.studies.history import earlier_rounds
from dikin.studies.log import Damage, Log, Snapshot
from dikin.tuning.space import Space
from dikin.tuning.tuner import HISTORY, KEPT, RECENT, Tuner

MARK_EVERY = 1000  # rounds between two rows of which it is known where they are
LATE_SECONDS, LATE_ROWS = 3600.0, 2000
"""A trial that has been open for longer, or for so many later rows, causes a warning."""
KEPT_IN_SNAPSHOT = 100  # rounds; the others are read from their rows when they are needed
ROUNDING = 1e-9  # differences below this share of a range are those of other digits

logger = logging.getLogger("dikin")


class Asked(NamedTuple):
    """Who asked an open trial, when, and the best setting then."""

    who: str
    at: int
    center: list[float]


class Fold:
    """A tuner, and the last row that it has learnt."""

    def __init__(
        self, tuner: Tuner, n: int, seal: str, kept: dict[str, Any], log: Log | None
    ) -> None:
        self.tuner, self.n, self.seal, self.log = tuner, n, seal, log
        self.asked = {int(id): Asked(*each) for id, each in kept["asked"].items()}
        self.rounds: int = kept["rounds"]
        """Rows that tell, trimmed ones included."""
        self.failed: int = kept["failed"]
        self.marks: list[list[Any]] = kept["marks"]
        """Some rounds, each with the number and seal of its row. The first is the beginning."""
        self.spaces: list[list[Any]] = kept["spaces"]
        """The first rows after which there were other parameters, with those before them."""
        self.told_at: int | None = kept.get("told_at")
        """The time of the newest answer."""

    @classmethod
    def read(cls, state: Snapshot, log: Log | None = None) -> Self:
        """Return the state after a row: from a log, whose digest has shown that it is the same."""
        kept = json.loads(state.text)
        if kept["state"] is None:
            raise StateError(kept["why"])
        serialization.refuse_version("this study", kept["version"], *serialization.TUNERS)
        tuner = restore(kept["state"]) if log is None else Tuner.restore(kept["state"], True)
        kept["marks"] = kept["marks"] or [[kept["rounds"], state.n, state.seal]]
        return cls(tuner, state.n, state.seal, kept, log)

    def snapshot(self, rounds: int | None = None) -> Snapshot:
        """Return everything that the future depends on."""
        names = ("rounds", "asked", "failed", "marks", "spaces", "told_at")
        parts = {name: getattr(self, name) for name in names}
        state = self.tuner.state(rounds=KEPT_IN_SNAPSHOT if rounds is None else rounds)
        return Snapshot(self.n, self.seal, text_of(state, **parts))

    def apply(self, row: Row) -> None:
        act = getattr(self, f"_{row.kind}", None)
        if act is None:
            raise StateError(
                f"row {row.n} is of the kind {row.kind!r}, which this dikin does not know: a later "
                "version wrote it. Upgrade dikin. Nothing was changed"
            )
        act(row, json.loads(row.body))
        self.n, self.seal = row.n, row.seal

    def mark(self) -> None:
        """Note where a round is, from time to time. The last row must be the last of its seal."""
        if self.rounds - self.marks[-1][0] >= MARK_EVERY:
            self.marks.append([self.rounds, self.n, self.seal])

    def trimmed(self, state: Snapshot) -> None:
        """Note that the history begins later."""
        first = [json.loads(state.text)["rounds"], state.n, state.seal]
        self.marks = [first, *(mark for mark in self.marks if mark[1] > state.n)]

    def _ask(self, row: Row, body: dict[str, Any]) -> None:
        id = body.get("id", row.n)
        self.tuner.open_fact(id, body)
        self.asked[id] = Asked(row.who, row.at, body["center"])

    def _tell(self, row: Row, body: dict[str, Any]) -> None:
        answer = {part: body[part] for part in ANSWER if part in body}
        if not (answer.get("covariates") or {}).keys() <= self.tuner.covariates.kinds.keys():
            self._complete()
        self.rounds, self.told_at = self.rounds + 1, row.at
        self.failed += bool(body.get("failed"))
        if row.ask is None or self.asked.pop(row.ask, None) is None:
            return
        try:
            self.tuner.tell(row.ask, **answer)
        except (DikinError, *CANNOT_COMPUTE) as reason:
            with suppress(QueryError):
                self.tuner.forget(row.ask)
            logger.warning("row %d teaches nothing: %s", row.n, reason)

    def _forget(self, row: Row, body: dict[str, Any]) -> None:
        if row.ask is not None and self.asked.pop(row.ask, None) is not None:
            self.tuner.forget(row.ask)

    def _pause(self, *_: Any) -> None:
        self.tuner.pause()

    def _resume(self, *_: Any) -> None:
        self.tuner.resume()

    def _skip(self, *_: Any) -> None:
        """Only its number matters."""

    def _add(self, row: Row, body: dict[str, Any]) -> None:
        self._complete()
        self.tuner.add_trial(**body)

    def _parameters(self, row: Row, body: dict[str, Any]) -> None:
        self._complete()
        self.spaces.append([row.n, self.tuner.space.spec()])
        space = Space.from_spec(body)
        self.tuner.set_parameters(space.parameters, space.constraints)
        self.asked.clear()

    def _complete(self) -> None:
        """Let the tuner have its last rounds before it learns them anew."""
        if self.log is not None and self.tuner.kept_rounds < min(self.rounds, HISTORY):
            self.tuner.recall(earlier_rounds(self.log, self))

    def state(self) -> dict[str, Any]:
        """Return the state of the tuner, with its last 1,000 rounds."""
        self._complete()
        return self.tuner.state(rounds=KEPT)


def text_of(state: dict[str, Any] | None, **parts: Any) -> str:
    """Return a beginning or a snapshot as text."""
    empty = {"rounds": 0, "asked": {}, "failed": 0, "marks": [], "spaces": []}
    return json.dumps({"version": serialization.VERSION, "state": state} | empty | parts)


# Others have seen the messages of a tuner on their rows.
logger.addFilter(lambda record: not SILENT.get())


def study_status(fold: Fold, name: str) -> Status:
    tuner, asked = fold.tuner, fold.asked
    first, seen = next(iter(asked), None), tuner.summary()
    oldest = nan if first is None else _age(asked[first].at)
    warnings = [*seen.warnings]
    if first is not None and (oldest > LATE_SECONDS or fold.n - first > LATE_ROWS):
        waiting = "1 trial waits" if len(asked) == 1 else f"{len(asked)} trials wait"
        warnings.append(
            f"{waiting} for an answer, the oldest ({first}) for {_duration(oldest)}, and "
            f"{fold.n - first:,} asks and answers came since. Tell their results, or forget them "
            "(dikin study forget)"
        )
    if fold.rounds >= RECENT:
        best = tuner.space.params(seen.center)
        warnings += (
            f"the best {name} so far is {value_text(best[name])}, next to its bound "
            f"{value_text(bound)}: if values beyond it are possible, try a wider range"
            for name, bound in tuner.space.bounds_near(seen.center).items()
        )
    return replace(
        seen,
        name=name,
        rounds=fold.rounds,
        failed=fold.failed,
        open=OpenQueries(len(asked), first, oldest),
        last_told_seconds=nan if fold.told_at is None else _age(fold.told_at),
        first_round=int(fold.marks[0][0]) + 1,
        warnings=tuple(warnings),
    )


def _age(microseconds: int) -> float:
    return max(0.0, time.time() - microseconds / 1e6)


def _duration(seconds: float) -> str:
    for size, name in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {name}"
    return f"{seconds:.0f} s"


# --- care ----------------------------------------------------------------------------------------


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


def verify(log: Log, progress: bool) -> Verification:
    """Check all seals, and compute the trials again, each page of rows in a read of its own."""
    fold, rows, apart = Fold.read(log.beginning(), log), 0, list[float]()
    base = fold.n
    try:
        with Progress(log.head()[0] - base, progress) as bar, silence():
            for group in log.rows(base, fold.seal):
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
