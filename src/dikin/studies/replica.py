"""The tuner of a journal: an event changes it live, and in the same way in a replay.

Tuners are deterministic: replaying the asks and tells gives the same tuner, bit for bit. A machine
that computes other digits (another processor, another NumPy, with or without Numba) takes each
recorded setting as it stands: it was used.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from dikin import serialization
from dikin.errors import AnsweredError, ContextError, CovariateError, QueryError, StateError
from dikin.loading import restore
from dikin.log_limit import SILENCE, silence
from dikin.open_queries import Query
from dikin.studies.journal import Event, Snapshot, row_seal
from dikin.studies.rows import (
    NO_ARGUMENTS,
    Answer,
    AskArguments,
    ask_body,
    point_in,
    query_id,
)
from dikin.tuning.trial import Trial
from dikin.tuning.tuner import Tuner
from dikin.vectors import Array

MOST_OPEN = 10_000
"""The largest number of open queries of a study with which another one may be asked. Each is part
of a client's memory and of what it reads when it opens the study."""

LATEST = datetime(9999, 12, 31, tzinfo=UTC).timestamp()
"""The end of Python's calendar."""


class AskRecord(NamedTuple):
    """Who asked an open query, when, and about which point (as text from the journal)."""

    client: str
    time: int
    point: str
    noted: str = ""
    """What the row of its answer will repeat of what was known."""

    def client_and_time(self) -> tuple[str, datetime]:
        """The client's name, and the time."""
        return self.client.rpartition("#")[0], clock(self.time)


def clock(microseconds: int) -> datetime:
    """The time of a row, clipped to Python's calendar in case its client's clock was wrong."""
    return datetime.fromtimestamp(min(max(microseconds / 1e6, 0.0), LATEST), UTC)


class Replica:
    """A tuner, and the last row of the journal that it has replayed."""

    def __init__(self, tuner: Tuner, asked: dict[int, AskRecord], number: int, seal: str) -> None:
        self.tuner, self.asked = tuner, asked
        self.number, self.seal = number, seal
        self.differences = 0
        """Number of settings that came out otherwise here than they were recorded."""
        self.consistent = True
        """Whether the tuner agrees with the journal up to here: False during an event, and for good
        if an event failed half-way."""

    # --- snapshots -----------------------------------------------------------------------------

    @classmethod
    def of(cls, snapshot: Snapshot) -> Replica:
        """The tuner from its snapshot."""
        stored = json.loads(snapshot.state)
        if "tuner" not in stored["learner"]:
            raise StateError(
                f"this is the study of a bare learner ({stored['learner'].get('learner')}), which "
                "an earlier dikin wrote: a study holds a tuner now. Nothing was changed"
            )
        # Before version 3 it was not stored.
        version = stored.get("version", 2)
        serialization.refuse_version("the state of this study", version, serialization.VERSION)
        asked = {int(key): AskRecord(*value) for key, value in stored["asked"].items()}
        return cls(restore(stored["learner"]), asked, snapshot.number, snapshot.seal)

    def snapshot(self) -> Snapshot:
        """Everything that the future depends on."""
        return Snapshot(self.number, self.seal, snapshot_text(self.tuner.state(), self.asked))

    # --- events --------------------------------------------------------------------------------

    def ask(
        self, arguments: AskArguments, n: int, client: str, time: int
    ) -> list[tuple[Event, Trial]]:
        """Ask for `n` trials, or for none if that is refused."""
        if len(self.asked) + n > MOST_OPEN:
            self._refuse_more()
        asked = list[tuple[Event, Trial]]()
        while len(asked) < n:
            self.consistent = False  # an ask that fails may have drawn from the generator
            try:
                trial = arguments.ask(self.tuner)
            except (ContextError, CovariateError):
                # What cannot be used is refused before anything is drawn.
                self.consistent = not asked
                raise
            body = ask_body(trial, arguments)
            asked.append((self._record("ask", trial.id, client, time, body, arguments), trial))
        return asked

    def _refuse_more(self) -> None:
        who, when = next(iter(self.asked.values())).client_and_time()
        raise QueryError(
            f"{len(self.asked):,} trials of this study wait for their answers, the oldest since "
            f"{when:%Y-%m-%d %H:%M} UTC (asked by {who}), and there may be {MOST_OPEN:,}: tell "
            "them, or close those whose answers will never come, "
            "study.forget(older_than=SECONDS) or dikin study forget NAME --older-than SECONDS. "
            "Nothing was changed"
        )

    def tell(self, query: Query | int, answer: Answer, client: str, time: int) -> Event:
        tuner, id = self.tuner, query_id(query)
        notes = tuner.notes(id) if id in self.asked else {}
        answer.tell(tuner, query)
        self.consistent = False
        # The point again, so that one row has the whole round and the ask can be trimmed.
        body = (
            f'{{"round": {tuner.rounds}, "point": {self.asked[id].point}, '
            f"{answer.text()}, {json.dumps(notes)[1:-1]}{self.asked[id].noted}, "
            f'"center": {tuner.latest_center.tolist()!r}}}'
        )
        return self._record("tell", id, client, time, body)

    def repeats(self, query: Query | int, answer: Answer, closed: tuple[str, str]) -> bool:
        """Whether the row that closed a query has this same answer; an error if it has another."""
        kind, body = closed
        if kind != "tell":
            return False
        row = json.loads(body)
        if isinstance(query, Query) and query.point.tolist() != row["point"]:
            raise QueryError(
                f"trial {query.id} of this study asked about {row['point']}, got one about "
                f"{query.point}: it belongs to another study. Nothing was changed."
            )
        # As text: as values 1.0 and true would be equal, and JSON has no NaN.
        stored = json.dumps({part: row[part] for part in Answer._fields if part in row})
        if f"{{{answer.text()}}}" == stored:
            return True
        raise AnsweredError(
            f"trial {query_id(query)} was already answered with {stored}, got {{{answer.text()}}}. "
            "Nothing was changed."
        )

    def trial_at(self, id: int, point: Array) -> Trial:
        """The earlier trial with this id and point."""
        if id in self.asked:
            return self.tuner._again(id)
        return Trial(id, self.tuner.space.params(point), point)

    def forget(self, query: Query | int, client: str, time: int) -> Event:
        self.tuner.forget(query)
        self.consistent = False
        return self._record("forget", query_id(query), client, time, "{}")

    def pause(self, client: str, time: int) -> Sequence[Event]:
        """Pause a tuner; no event if it already is paused."""
        return () if self.tuner.paused else self._switch("pause", client, time)

    def resume(self, client: str, time: int) -> Sequence[Event]:
        """Make a tuner learn again; no event if it already does."""
        return self._switch("resume", client, time) if self.tuner.paused else ()

    def _switch(self, kind: str, client: str, time: int) -> Sequence[Event]:
        self.consistent = False
        SWITCHES[kind](self.tuner)
        # Such a row belongs to no query. Its number must be one that no query and no other row has:
        # apart from asks, the database refuses two rows with the same number.
        return (self._record(kind, -(self.number + 1), client, time, "{}"),)

    def skip_ids(self, count: int, client: str, time: int) -> Event:
        """Leave out that many ids: the next query has a later one."""
        self.consistent = False
        following = self.tuner._skip_ids(count)
        return self._record("skip", -(self.number + 1), client, time, f'{{"next": {following}}}')

    def _record(
        self,
        kind: str,
        query: int,
        client: str,
        time: int,
        body: str,
        arguments: AskArguments = NO_ARGUMENTS,
    ) -> Event:
        number = self.number + 1
        seal = row_seal(self.seal, number, kind, query, client, time, body)
        event = Event(number, kind, query, client, time, body, seal)
        self._advance(event, arguments)
        return event

    def _advance(self, event: Event, arguments: AskArguments) -> None:
        if event.kind == "ask":
            point, noted = point_in(event.body), arguments.noted()
            self.asked[event.query] = AskRecord(event.client, event.time, point, noted)
        elif event.query >= 0:
            del self.asked[event.query]
        self.number, self.seal, self.consistent = event.number, event.seal, True

    def replay(self, events: Iterable[Event]) -> None:
        """Repeat the events of some rows."""
        with silence():  # warnings went to the client that made the event
            for event in events:
                self._replay(event)

    def _replay(self, event: Event) -> None:
        tuner, arguments = self.tuner, NO_ARGUMENTS
        if event.kind == "ask":
            arguments = AskArguments.read(event.body)
            self._ask_again(event, arguments)
        elif event.kind == "tell":
            fields, _ = DECODER.raw_decode(event.body)
            Answer.read(fields).tell(tuner, event.query)
        elif event.kind == "forget":
            tuner.forget(event.query)
        elif event.kind in SWITCHES:
            SWITCHES[event.kind](tuner)
        elif event.kind == "skip":
            tuner._skip_ids(json.loads(event.body)["next"] - tuner.asked)
        else:
            raise StateError(f"row {event.number} of the journal has the kind {event.kind!r}")
        self._advance(event, arguments)

    def _ask_again(self, event: Event, arguments: AskArguments) -> None:
        """Ask again, and take the setting that was recorded: it was used, whatever is asked now."""
        trial = arguments.ask(self.tuner)
        recorded = json.loads(point_in(event.body))
        if trial.id != event.query:
            raise StateError(
                f"row {event.number} of the journal asked trial {event.query}, here the tuner asks "
                f"trial {trial.id}: rows are missing"
            )
        if trial.point.tolist() != recorded:
            self.differences += 1
            fact = self.tuner.ask_fact(trial) | {"point": recorded}
            self.tuner.forget(trial)
            self.tuner.open_fact(trial.id, fact)


DECODER = json.JSONDecoder()
"""Faster than `json.loads`, for the bodies of rows, which begin with no space."""
SWITCHES: dict[str, Callable[[Tuner], None]] = {"pause": Tuner.pause, "resume": Tuner.resume}
"""The kinds of rows that pause a tuner or end that."""


class _NotAgain(logging.Filter):
    """Suppresses a tuner's log messages during a replay, which were logged live."""

    def filter(self, record: logging.LogRecord) -> bool:
        return not SILENCE.now


logging.getLogger("dikin").addFilter(_NotAgain())


def snapshot_text(state: dict[str, Any], asked: dict[int, AskRecord]) -> str:
    """Return the state of a tuner and its open trials as text."""
    return json.dumps({"version": serialization.VERSION, "asked": asked, "learner": state})
