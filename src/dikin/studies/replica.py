"""The learner of a journal: an event changes it live, and in the same way in a replay.

Learners are deterministic: replaying the asks and tells gives the same learner, bit for bit. A
replay checks this against the recorded points. On a machine that computes other numbers (another
processor, another NumPy) it stops instead of playing a different game.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from math import isfinite
from typing import Any, NamedTuple, cast

from dikin import serialization
from dikin.errors import (
    AnsweredError,
    CovariateError,
    FeedbackError,
    ParameterError,
    QueryError,
    StateError,
    shown,
)
from dikin.loading import restore
from dikin.log_limit import SILENCE, silence
from dikin.open_queries import Query
from dikin.players import Player
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
    """A learner or tuner, and the last row of the journal that it has replayed."""

    def __init__(
        self, player: Player[Any], asked: dict[int, AskRecord], number: int, seal: str
    ) -> None:
        self.player, self.asked = player, asked
        self.number, self.seal = number, seal
        self.consistent = True
        """Whether the learner agrees with the journal up to here: False during an event, and for
        good if an event failed half-way."""

    @property
    def tuner(self) -> Tuner:
        """The player as a tuner; an error if it is a learner."""
        if self.player.space is None:
            raise ParameterError(
                f"this is the study of a learner, {type(self.player).__name__}: best, best_for, "
                "held, hold, resume and summary need the study of a dikin.Tuner. Use center, "
                "certificate and history instead"
            )
        return cast(Tuner, self.player)

    # --- snapshots -----------------------------------------------------------------------------

    @classmethod
    def of(cls, snapshot: Snapshot) -> Replica:
        """The learner from its snapshot."""
        stored = json.loads(snapshot.state)
        # Before version 3 it was not stored.
        version = stored.get("version", 2)
        serialization.refuse_version("the state of this study", version, serialization.VERSION)
        asked = {int(key): AskRecord(*value) for key, value in stored["asked"].items()}
        return cls(restore(stored["learner"]), asked, snapshot.number, snapshot.seal)

    def snapshot(self) -> Snapshot:
        """Everything that the future depends on."""
        return Snapshot(self.number, self.seal, snapshot_text(self.player, self.asked))

    # --- events --------------------------------------------------------------------------------

    def ask(self, arguments: AskArguments, client: str, time: int) -> tuple[Event, Query]:
        if len(self.asked) >= MOST_OPEN:
            self._refuse_more()
        self.consistent = False  # an ask that fails may have drawn from the generator
        try:
            query = arguments.ask(self.player)
        except (CovariateError, FeedbackError):
            self.consistent = True  # what cannot be used is refused before anything is drawn
            raise
        body = ask_body(query, arguments)
        return self._record("ask", query.id, client, time, body, arguments), query

    def _refuse_more(self) -> None:
        who, when = next(iter(self.asked.values())).client_and_time()
        many = "queries" if self.player.space is None else "trials"
        raise QueryError(
            f"{len(self.asked):,} {many} of this study wait for their answers, the oldest since "
            f"{when:%Y-%m-%d %H:%M} UTC (asked by {who}), and there may be {MOST_OPEN:,}: tell "
            "them, or close those whose answers will never come, "
            "study.forget(older_than=SECONDS) or dikin study forget NAME --older-than SECONDS. "
            "Nothing was changed"
        )

    def is_open(self, event: Event, query: Query, arguments: AskArguments) -> bool:
        """Whether the query of an ask row is still open and was asked with these arguments."""
        same = query.id in self.asked and event.body == ask_body(query, arguments)
        return same and self.player.is_current(query)

    def tell(self, query: Query | int, answer: Answer, client: str, time: int) -> Event:
        player, id = self.player, query if isinstance(query, int) else query.id
        notes = player.notes(id) if id in self.asked else {}
        answer.tell(player, query)
        self.consistent = False
        noted = f", {json.dumps(notes)[1:-1]}" if notes else ""
        certificate = player.certificate
        bound = repr(certificate) if isfinite(certificate) else "null"
        # The point again, so that one row has the whole round and the ask can be trimmed.
        body = (
            f'{{"round": {player.rounds}, "point": {self.asked[id].point}, '
            f"{answer.text(player.told_as)}{noted}{self.asked[id].noted}, "
            f'"center": {player.center.tolist()!r}, "certificate": {bound}}}'
        )
        return self._record("tell", id, client, time, body)

    def repeats(self, query: Query | int, answer: Answer, closed: tuple[str, str]) -> bool:
        """Whether the row that closed a query has this same answer; an error if it has another."""
        kind, body = closed
        if kind != "tell":
            return False
        row, noun, name = json.loads(body), self.player.noun, self.player.told_as
        if isinstance(query, Query) and query.point.tolist() != row["point"]:
            raise QueryError(
                f"{noun} {query.id} of this study asked about {row['point']}, got one about "
                f"{query.point}: it belongs to another study. Nothing was changed."
            )
        # As text: as values 1.0 and true would be equal, and JSON has no NaN.
        stored = json.dumps({part: row[part] for part in Answer.parts(name) if part in row})
        if f"{{{answer.text(name)}}}" == stored:
            return True
        beside = "" if not row.keys() & set(Answer._fields[2:]) else f" ({stored})"
        raise AnsweredError(
            f"{noun} {query_id(query)} was already answered with {name} {row[name]} and curvature "
            f"{row['curvature']}{beside}, got {shown(answer.loss)} and {shown(answer.curvature)}"
            f"{_beside(answer)}. Nothing was changed."
        )

    def query_at(self, id: int, point: Array) -> Query:
        """The earlier query with this id and point."""
        player: Player[Query] = self.player
        if id in self.asked:
            return player._again(id)
        space = player.space
        return Query(id, point) if space is None else Trial(id, space.params(point), point)

    def forget(self, query: Query | int, client: str, time: int) -> Event:
        self.player.forget(query)
        self.consistent = False
        return self._record("forget", query_id(query), client, time, "{}")

    def hold(self, client: str, time: int) -> Sequence[Event]:
        """Put a tuner on hold; no event if it already is."""
        return () if self.tuner.held else self._switch("hold", client, time)

    def resume(self, client: str, time: int) -> Sequence[Event]:
        """Make a tuner learn again; no event if it already does."""
        return self._switch("resume", client, time) if self.tuner.held else ()

    def _switch(self, kind: str, client: str, time: int) -> Sequence[Event]:
        self.consistent = False
        SWITCHES[kind](self.tuner)
        # Such a row belongs to no query. Its number must be one that no query and no other row has:
        # apart from asks, the database refuses two rows with the same number.
        return (self._record(kind, -(self.number + 1), client, time, "{}"),)

    def skip_ids(self, count: int, client: str, time: int) -> Event:
        """Leave out that many ids: the next query has a later one."""
        self.consistent = False
        following = self.player._skip_ids(count)
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
        player, arguments = self.player, NO_ARGUMENTS
        if event.kind == "ask":
            arguments = AskArguments.read(event.body)
            self._ask_again(event, arguments)
        elif event.kind == "tell":
            fields, _ = DECODER.raw_decode(event.body)
            Answer.read(fields, player.told_as).tell(player, event.query)
        elif event.kind == "forget":
            player.forget(event.query)
        elif event.kind in SWITCHES:
            SWITCHES[event.kind](self.tuner)
        elif event.kind == "skip":
            player._skip_ids(json.loads(event.body)["next"] - player.asked)
        else:
            raise StateError(f"row {event.number} of the journal has the kind {event.kind!r}")
        self._advance(event, arguments)

    def _ask_again(self, event: Event, arguments: AskArguments) -> None:
        query = arguments.ask(self.player)
        body = ask_body(query, arguments)
        if query.id != event.query or body != event.body:
            raise StateError(
                f"row {event.number} of the journal asked query {event.query} with {event.body}, "
                f"here the learner asks query {query.id} with {body}: this machine computes other "
                "numbers than the one that wrote it. Use a study on machines with the same "
                "processor and the same versions of NumPy and dikin"
            )


def _beside(answer: Answer) -> str:
    """What an answer has besides the number, for a message."""
    given = [f"{name} {shown(part)}" for name, part in answer.beside().items()]
    return f", {', '.join(given)}" if given else ""


DECODER = json.JSONDecoder()
"""Faster than `json.loads`, for the bodies of rows, which begin with no space."""
SWITCHES: dict[str, Callable[[Tuner], None]] = {"hold": Tuner.hold, "resume": Tuner.resume}
"""The kinds of rows that put a tuner on hold or end that."""


class _NotAgain(logging.Filter):
    """Suppresses a learner's log messages during a replay, which were logged live."""

    def filter(self, record: logging.LogRecord) -> bool:
        return not SILENCE.now


logging.getLogger("dikin").addFilter(_NotAgain())


def snapshot_text(player: Player[Any], asked: dict[int, AskRecord]) -> str:
    """The state of a player and its open queries as text; refused if it cannot be read back."""
    player.require_storable()
    return json.dumps({"version": serialization.VERSION, "asked": asked, "learner": player.state()})
