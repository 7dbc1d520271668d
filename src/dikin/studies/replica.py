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
from typing import Any, NamedTuple, cast

from dikin import serialization
from dikin.errors import (
    AnsweredError,
    CovariateError,
    FeedbackError,
    ForecastError,
    ForeignQueryError,
    ParameterError,
    StateError,
    shown,
)
from dikin.loading import restore
from dikin.open_queries import Query
from dikin.players import Player
from dikin.silence import SILENCE, silence
from dikin.studies.journal import Event, Snapshot, row_seal
from dikin.studies.rows import (
    Answer,
    AskArguments,
    array_json,
    ask_body,
    number_json,
    point_in,
    query_id,
)
from dikin.tuning.tuner import Trial, Tuner
from dikin.vectors import Array

LATEST = datetime(9999, 12, 31, tzinfo=UTC).timestamp()
"""Python's calendar ends there."""


class AskRecord(NamedTuple):
    """Who asked an open query, when, and about which point (as it stands in the journal)."""

    client: str
    time: int
    point: str
    noted: str = ""
    """What the row of its answer will repeat of what was known."""

    def client_and_time(self) -> tuple[str, datetime]:
        """The client by the name that it goes by, and the time."""
        return self.client.rpartition("#")[0], clock(self.time)


def clock(microseconds: int) -> datetime:
    """The time of a row, within Python's calendar whatever the clock of its client said."""
    return datetime.fromtimestamp(min(max(microseconds / 1e6, 0.0), LATEST), UTC)


class Replica:
    """A learner or tuner, and the row of the journal up to which it has come."""

    def __init__(
        self, player: Player[Any], asked: dict[int, AskRecord], number: int, seal: str
    ) -> None:
        self.player, self.asked = player, asked
        self.number, self.seal = number, seal
        self.consistent = True
        """Whether the learner is what the journal up to here makes; not in the middle of an event,
        and never again if an event failed in its middle."""

    @property
    def tuner(self) -> Tuner:
        """The player, for what a tuner alone can do."""
        if self.player.space is None:
            raise ParameterError(
                f"this study keeps a learner, {type(self.player).__name__}: best, held, hold, "
                "resume and summary are of a study that keeps a dikin.Tuner. See center, "
                "certificate and history instead"
            )
        return cast(Tuner, self.player)

    # --- snapshots -----------------------------------------------------------------------------

    @classmethod
    def of(cls, taken: Snapshot) -> Replica:
        """The replayed learner of which this is a snapshot."""
        stored = json.loads(taken.state)
        # Before version 3 it was not written.
        version = stored.get("version", 2)
        serialization.refuse_version("the state of this study", version, serialization.VERSION)
        asked = {int(key): AskRecord(*value) for key, value in stored["asked"].items()}
        return cls(restore(stored["learner"]), asked, taken.number, taken.seal)

    def snapshot(self) -> Snapshot:
        """Everything that the future depends on."""
        return Snapshot(self.number, self.seal, snapshot_text(self.player, self.asked))

    # --- events --------------------------------------------------------------------------------

    def ask(self, arguments: AskArguments, client: str, time: int) -> tuple[Event, Query]:
        self.consistent = False  # an ask that fails may have drawn from the generator
        try:
            query = arguments.ask(self.player)
        except (CovariateError, FeedbackError, ForecastError):
            self.consistent = True  # what cannot be used is refused before anything is drawn
            raise
        return self._record("ask", query.id, client, time, ask_body(query, arguments)), query

    def is_open(self, event: Event, query: Query, arguments: AskArguments) -> bool:
        """Whether the query that a row asked waits for its answer, and the same was known of it."""
        known = query.id in self.asked and event.body == ask_body(query, arguments)
        return known and self.player.is_current(query)

    def tell(self, query: Query | int, answer: Answer, client: str, time: int) -> Event:
        player, id = self.player, query_id(query)
        notes = "".join(f', "{name}": {json.dumps(note)}' for name, note in self._notes(id))
        answer.tell(player, query)
        self.consistent = False
        # The point again, so that a round stands in one row and the ask can be trimmed away.
        body = (
            f'{{"round": {player.rounds}, "point": {self.asked[id].point}, '
            f"{answer.text(player.told_as)}{notes}{self.asked[id].noted}, "
            f'"center": {array_json(player.center)}, '
            f'"certificate": {number_json(player.certificate)}}}'
        )
        return self._record("tell", id, client, time, body)

    def _notes(self, id: int) -> Iterable[tuple[str, Any]]:
        return self.player.notes(id).items() if id in self.asked else ()

    def repeats(self, query: Query | int, answer: Answer, closed: tuple[str, str]) -> bool:
        """Whether the row that closed a query has this very answer; an error if another."""
        kind, body = closed
        if kind != "tell":
            return False
        told, noun, name = json.loads(body), self.player.noun, self.player.told_as
        if isinstance(query, Query) and query.point.tolist() != told["point"]:
            raise ForeignQueryError(
                f"{noun} {query.id} of this study asked about {told['point']}, got one about "
                f"{query.point}: it belongs to another study. Nothing was changed."
            )
        # As text: as values 1.0 and true would be the same, and NaN is no JSON.
        known = json.dumps({part: told[part] for part in Answer.parts(name) if part in told})
        if f"{{{answer.text(name)}}}" == known:
            return True
        beside = "" if not told.keys() & {"covariates", "sem"} else f" ({known})"
        raise AnsweredError(
            f"{noun} {query_id(query)} was already answered with {name} {told[name]} and curvature "
            f"{told['curvature']}{beside}, got {shown(answer.loss)} and {shown(answer.curvature)}"
            f"{_beside(answer)}. Nothing was changed."
        )

    def query_at(self, id: int, point: Array) -> Query:
        """The query of an id and a point that was asked before."""
        player: Player[Query] = self.player
        if id in self.asked:
            return player._again(id)
        space = player.space
        return Query(id, point) if space is None else Trial(id, space.params(point), point)

    def forget(self, query: Query | int, client: str, time: int) -> Event:
        self.player.forget(query)
        self.consistent = False
        return self._record("forget", query_id(query), client, time, "{}")

    def hold(self, client: str, time: int) -> Event | None:
        """Put a tuner on hold; no event if it is."""
        return None if self.tuner.held else self._switch("hold", client, time)

    def resume(self, client: str, time: int) -> Event | None:
        """Let a tuner learn again; no event if it does."""
        return self._switch("resume", client, time) if self.tuner.held else None

    def _switch(self, kind: str, client: str, time: int) -> Event:
        self.consistent = False
        SWITCHES[kind](self.tuner)
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
            noted = AskArguments.read(event.body).noted()
            point = point_in(event.body)
            self.asked[event.query] = AskRecord(event.client, event.time, point, noted)
        elif event.kind not in SWITCHES:
            del self.asked[event.query]
        self.number, self.seal, self.consistent = event.number, event.seal, True

    def replay(self, events: Iterable[Event]) -> None:
        """Do again what rows say was done."""
        with silence():  # what there was to say was said to the client that did it
            for event in events:
                self._replay(event)

    def _replay(self, event: Event) -> None:
        player = self.player
        if event.kind == "ask":
            self._ask_again(event)
        elif event.kind == "tell":
            told, _ = DECODER.raw_decode(event.body)
            Answer.read(told, player.told_as).tell(player, event.query)
        elif event.kind == "forget":
            player.forget(event.query)
        elif event.kind in SWITCHES:
            SWITCHES[event.kind](self.tuner)
        else:
            raise StateError(f"row {event.number} of the journal has the kind {event.kind!r}")
        self._advance(event)

    def _ask_again(self, event: Event) -> None:
        arguments = AskArguments.read(event.body)
        query = arguments.ask(self.player)
        body = ask_body(query, arguments)
        if query.id != event.query or body != event.body:
            raise StateError(
                f"row {event.number} of the journal asked query {event.query} with {event.body}, "
                f"here the learner asks query {query.id} with {body}: this machine computes other "
                "numbers than the one that wrote it. Hold a study on machines with the same "
                "processor and the same versions of NumPy and dikin"
            )


def _beside(answer: Answer) -> str:
    """What an answer has besides the number, for a message."""
    parts = {"covariates": answer.covariates, "sem": answer.sem}
    given = [f"{name} {shown(part)}" for name, part in parts.items() if part is not None]
    return f", {', '.join(given)}" if given else ""


DECODER = json.JSONDecoder()
"""What `json.loads` does for any text, for bodies of rows, which begin with no space."""
SWITCHES: dict[str, Callable[[Tuner], None]] = {"hold": Tuner.hold, "resume": Tuner.resume}
"""The kinds of rows that are of no query."""


class _NotAgain(logging.Filter):
    """Keeps what a learner logs from being logged again in every replay."""

    def filter(self, record: logging.LogRecord) -> bool:
        return not SILENCE.now


logging.getLogger("dikin").addFilter(_NotAgain())


def snapshot_text(player: Player[Any], asked: dict[int, AskRecord]) -> str:
    """The state of a player and its open queries as text; refused if it cannot be read back."""
    player.require_storable()
    return json.dumps({"version": serialization.VERSION, "asked": asked, "learner": player.state()})
