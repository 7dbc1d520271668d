"""The learner that a journal makes: an event either moves it live, or moves it again in replay.

Learners are deterministic, so that replaying what was asked and told gives the same learner bit for
bit. A replay checks this against the points on record: on a machine that computes other numbers
(another processor, another NumPy) it stops instead of playing another game.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import NamedTuple

from dikin import serialization
from dikin.errors import FeedbackError, ForecastError, StateError
from dikin.loading import restore
from dikin.silence import SILENCE, silence
from dikin.studies.journal import Event, Snapshot, row_seal
from dikin.studies.kept import Kept, keep
from dikin.studies.rows import (
    Answer,
    AskArguments,
    Question,
    array_json,
    ask_body,
    number_json,
    point_in,
    query_id,
)
from dikin.tuning.tuner import Tuner

LATEST = datetime(9999, 12, 31, tzinfo=UTC).timestamp()
"""Python's calendar ends there."""


class AskRecord(NamedTuple):
    """Who asked an open query, when, and about which point (as it stands in the journal)."""

    client: str
    time: int
    point: str

    def client_and_time(self) -> tuple[str, datetime]:
        """The client by the name that it goes by, and the time."""
        return self.client.rpartition("#")[0], clock(self.time)


def clock(microseconds: int) -> datetime:
    """The time of a row, within Python's calendar whatever the clock of its client said."""
    return datetime.fromtimestamp(min(max(microseconds / 1e6, 0.0), LATEST), UTC)


class ReplayedLearner:
    """A learner or tuner, and the row of the journal up to which it has come."""

    def __init__(self, kept: Kept, asked: dict[int, AskRecord], number: int, seal: str) -> None:
        self.kept, self.asked = kept, asked
        self.number, self.seal = number, seal
        self.consistent = True
        """Whether the learner is what the journal up to here makes; not in the middle of an event,
        and never again if an event failed in its middle."""

    # --- snapshots -----------------------------------------------------------------------------

    @classmethod
    def of(cls, taken: Snapshot) -> ReplayedLearner:
        """The replayed learner of which this is a snapshot."""
        kept = json.loads(taken.state)
        # Before version 3 it was not written.
        version = kept.get("version", 2)
        serialization.refuse_version("the state of this study", version, serialization.VERSION)
        asked = {int(key): AskRecord(*value) for key, value in kept["asked"].items()}
        return cls(keep(restore(kept["learner"])), asked, taken.number, taken.seal)

    def snapshot(self) -> Snapshot:
        """Everything that the future depends on."""
        return Snapshot(self.number, self.seal, snapshot_text(self.kept, self.asked))

    # --- events --------------------------------------------------------------------------------

    def ask(self, arguments: AskArguments, client: str, time: int) -> tuple[Event, Question]:
        self.consistent = False  # an ask that fails may have drawn from the generator
        try:
            query = self.kept.ask(arguments)
        except (FeedbackError, ForecastError):
            self.consistent = True  # a context or a forecast is refused before anything is drawn
            raise
        return self._record("ask", query.id, client, time, ask_body(query, arguments)), query

    def is_open(self, event: Event, query: Question, arguments: AskArguments) -> bool:
        """Whether the query that a row asked waits for its answer, and the same was known of it."""
        known = query.id in self.asked and event.body == ask_body(query, arguments)
        return known and self.kept.is_current(query)

    def tell(self, key: Question | int, answer: Answer, client: str, time: int) -> Event:
        kept, query = self.kept, query_id(key)
        extra = kept.extra_fields(key)
        kept.tell(key, answer)
        self.consistent = False
        # The point again, so that a round stands in one row and the ask can be trimmed away.
        body = (
            f'{{"round": {kept.learner.rounds}, "point": {self.asked[query].point}, '
            f'{answer.text(kept.told_as)}{extra}, "center": {array_json(kept.learner.center)}, '
            f'"certificate": {number_json(kept.certificate)}}}'
        )
        return self._record("tell", query, client, time, body)

    def forget(self, key: Question | int, client: str, time: int) -> Event:
        self.kept.learner.forget(key)
        self.consistent = False
        return self._record("forget", query_id(key), client, time, "{}")

    def hold(self, client: str, time: int) -> Event | None:
        """Put a tuner on hold; no event if it is."""
        return None if self.kept.tuner.held else self._switch("hold", client, time)

    def resume(self, client: str, time: int) -> Event | None:
        """Let a tuner learn again; no event if it does."""
        return self._switch("resume", client, time) if self.kept.tuner.held else None

    def _switch(self, kind: str, client: str, time: int) -> Event:
        self.consistent = False
        SWITCHES[kind](self.kept.tuner)
        # Such a row is of no query. The number is one that no query and no other row has, as the
        # database refuses a second row that is no ask under the same one.
        return self._record(kind, -(self.number + 1), client, time, "{}")

    def _record(self, kind: str, query: int, client: str, time: int, body: str) -> Event:
        number = self.number + 1
        seal = row_seal(self.seal, number, kind, query, client, time, body)
        event = Event(number, kind, query, client, time, body, seal)
        self._advance(event)
        return event

    def _advance(self, event: Event) -> None:
        if event.kind == "ask":
            self.asked[event.query] = AskRecord(event.client, event.time, point_in(event.body))
        elif event.kind not in SWITCHES:
            del self.asked[event.query]
        self.number, self.seal, self.consistent = event.number, event.seal, True

    def replay(self, events: Iterable[Event]) -> None:
        """Do again what rows say was done."""
        with silence():  # what there was to say was said to the client that did it
            for event in events:
                self._replay(event)

    def _replay(self, event: Event) -> None:
        kept = self.kept
        if event.kind == "ask":
            self._ask_again(event)
        elif event.kind == "tell":
            told, _ = DECODER.raw_decode(event.body)
            kept.tell(event.query, Answer.read(told, kept.told_as))
        elif event.kind == "forget":
            kept.learner.forget(event.query)
        elif event.kind in SWITCHES:
            SWITCHES[event.kind](kept.tuner)
        else:
            raise StateError(f"row {event.number} of the journal has the kind {event.kind!r}")
        self._advance(event)

    def _ask_again(self, event: Event) -> None:
        arguments = AskArguments.read(event.body)
        query = self.kept.ask(arguments)
        body = ask_body(query, arguments)
        if query.id != event.query or body != event.body:
            raise StateError(
                f"row {event.number} of the journal asked query {event.query} with {event.body}, "
                f"here the learner asks query {query.id} with {body}: this machine computes other "
                "numbers than the one that wrote it. Hold a study on machines with the same "
                "processor and the same versions of NumPy and dikin"
            )


DECODER = json.JSONDecoder()
"""What `json.loads` does for any text, for bodies of rows, which begin with no space."""
SWITCHES: dict[str, Callable[[Tuner], None]] = {"hold": Tuner.hold, "resume": Tuner.resume}
"""The kinds of rows that are of no query."""


class _NotAgain(logging.Filter):
    """Keeps what a learner logs from being logged again in every replay."""

    def filter(self, record: logging.LogRecord) -> bool:
        return not SILENCE.now


logging.getLogger("dikin").addFilter(_NotAgain())


def snapshot_text(kept: Kept, asked: dict[int, AskRecord]) -> str:
    """The state of a learner and its open queries as text; refused if it cannot be read back."""
    return json.dumps({"version": serialization.VERSION, "asked": asked, "learner": kept.state()})
