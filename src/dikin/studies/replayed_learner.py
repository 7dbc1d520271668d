"""The learner that a journal makes: an event either moves it live, or moves it again in replay.

Learners are deterministic, so that replaying what was asked and told gives the same learner bit for
bit. A replay checks this against the points on record: on a machine that computes other numbers
(another processor, another NumPy) it stops instead of playing another game.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from math import isfinite
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from dikin import serialization
from dikin.domains.base import Array
from dikin.errors import (
    AnsweredError,
    CertificateVoidWarning,
    FeedbackError,
    ForecastError,
    ForeignQueryError,
    NotSavableError,
    StateError,
)
from dikin.learners.base import Learner, Query, real_number
from dikin.learners.threads import ignored
from dikin.loading import restore
from dikin.studies.journal import Event, Snapshot, row_seal


class AskRecord(NamedTuple):
    """Who asked an open query, when, and about which point (as it stands in the journal)."""

    client: str
    time: int
    point: str

    def client_and_time(self) -> tuple[str, datetime]:
        """The client by the name that it goes by, and the time."""
        return self.client.rpartition("#")[0], datetime.fromtimestamp(self.time / 1e6, UTC)


class ReplayedLearner:
    """A learner, and the row of the journal up to which it has come."""

    def __init__(
        self, learner: Learner, asked: dict[int, AskRecord], number: int, seal: str
    ) -> None:
        self.learner, self.asked = learner, asked
        self.number, self.seal = number, seal
        self.consistent = True
        """Whether the learner is what the journal up to here makes; not in the middle of an event,
        and never again if an event failed in its middle."""

    # --- snapshots -----------------------------------------------------------------------------

    @classmethod
    def of(cls, taken: Snapshot) -> ReplayedLearner:
        """The replayed learner of which this is a snapshot."""
        kept = json.loads(taken.state)
        asked = {int(key): AskRecord(*value) for key, value in kept["asked"].items()}
        return cls(restore(kept["learner"]), asked, taken.number, taken.seal)

    def snapshot(self) -> Snapshot:
        """Everything that the future depends on."""
        return Snapshot(self.number, self.seal, snapshot_text(self.learner, self.asked))

    # --- events --------------------------------------------------------------------------------

    def ask(self, arguments: AskArguments, client: str, time: int) -> tuple[Event, Query]:
        self.consistent = False  # an ask that fails may have drawn from the generator
        try:
            query = arguments.ask(self.learner)
        except (FeedbackError, ForecastError):
            self.consistent = True  # a context or a forecast is refused before anything is drawn
            raise
        return self._record("ask", query.id, client, time, _ask_body(query, arguments)), query

    def is_open(self, event: Event, query: Query, arguments: AskArguments) -> bool:
        """Whether the query that a row asked waits for its answer, and the same was known of it."""
        return query.id in self.asked and event.body == _ask_body(query, arguments)

    def tell(self, key: Query | int, answer: Answer, client: str, time: int) -> Event:
        learner, query = self.learner, query_id(key)
        learner.tell(key, answer.loss, answer.curvature)
        self.consistent = False
        # The point again, so that a round stands in one row and the ask can be trimmed away.
        body = (
            f'{{"round": {learner.rounds}, "point": {self.asked[query].point}, {answer.text()}, '
            f'"center": {array_json(learner.center)}, '
            f'"certificate": {number_json(self.certificate())}}}'
        )
        return self._record("tell", query, client, time, body)

    def forget(self, key: Query | int, client: str, time: int) -> Event:
        self.learner.forget(key)
        self.consistent = False
        return self._record("forget", query_id(key), client, time, "{}")

    def certificate(self) -> float:
        """The bound on the regret; NaN for a learner without one."""
        return float(self.learner.certificate)

    def _record(self, kind: str, query: int, client: str, time: int, body: str) -> Event:
        number = self.number + 1
        seal = row_seal(self.seal, number, kind, query, client, time, body)
        event = Event(number, kind, query, client, time, body, seal)
        self._advance(event)
        return event

    def _advance(self, event: Event) -> None:
        if event.kind == "ask":
            self.asked[event.query] = AskRecord(event.client, event.time, _point_in(event.body))
        else:
            del self.asked[event.query]
        self.number, self.seal, self.consistent = event.number, event.seal, True

    def replay(self, event: Event) -> None:
        """Do again what a row says was done."""
        if event.kind == "ask":
            self._ask_again(event)
        elif event.kind == "tell":
            told = json.loads(event.body)
            with _silenced():
                self.learner.tell(
                    event.query, serialization.decode(told["loss"]), told["curvature"]
                )
        elif event.kind == "forget":
            self.learner.forget(event.query)
        else:
            raise StateError(f"row {event.number} of the journal has the kind {event.kind!r}")
        self._advance(event)

    def _ask_again(self, event: Event) -> None:
        arguments = AskArguments.read(event.body)
        query = arguments.ask(self.learner)
        body = _ask_body(query, arguments)
        if query.id != event.query or body != event.body:
            raise StateError(
                f"row {event.number} of the journal asked query {event.query} with {event.body}, "
                f"here the learner asks query {query.id} with {body}: this machine computes other "
                "numbers than the one that wrote it. Hold a study on machines with the same "
                "processor and the same versions of NumPy and dikin"
            )


class AskArguments(NamedTuple):
    """What was known of a round when it was asked, in the form in which it will be read back."""

    context: Any
    forecast: float | None

    @classmethod
    def of(cls, context: Any, forecast: Any) -> AskArguments:
        if forecast is not None:
            forecast = real_number(forecast, "forecast", ForecastError)
        return cls(_as_read(context), forecast)

    @classmethod
    def read(cls, body: str) -> AskArguments:
        """What the body of a row that asks has beside the point."""
        if SEPARATOR not in body:
            return NO_ARGUMENTS
        kept = json.loads(body)
        return cls(serialization.decode(kept.get("context")), kept.get("forecast"))

    def ask(self, learner: Learner) -> Query:
        """Ask with what there is alone: a learner may know of nothing else."""
        context = () if self.context is None else (self.context,)
        if self.forecast is None:
            return learner.ask(*context)
        return learner.ask(*context, forecast=self.forecast)

    def text(self) -> str:
        """As it stands in a row, after the point."""
        text = ""
        if self.context is not None:
            text = f'{SEPARATOR}context": {json.dumps(serialization.encode(self.context))}'
        if self.forecast is not None:
            text += f'{SEPARATOR}forecast": {json.dumps(self.forecast)}'
        return text


SEPARATOR = ', "'
"""What comes before a second key; a point, which is the first, has none of it."""
NO_ARGUMENTS = AskArguments(None, None)


class Answer(NamedTuple):
    """What was told, in the form in which it will be read back."""

    loss: Any
    curvature: Any

    @classmethod
    def of(cls, loss: Any, curvature: Any) -> Answer:
        return cls(_as_read(loss), _as_read(curvature))

    def text(self) -> str:
        """As it stands in a row."""
        loss, curvature = self
        if type(loss) is float and type(curvature) is float:
            return f'"loss": {loss!r}, "curvature": {curvature!r}'
        told = {"loss": serialization.encode(loss), "curvature": serialization.encode(curvature)}
        return json.dumps(told)[1:-1]

    def repeats(self, key: Query | int, closed: tuple[str, str]) -> bool:
        """Whether a query was closed by this very answer; an error if by another."""
        kind, body = closed
        if kind != "tell":
            return False
        told = json.loads(body)
        if isinstance(key, Query) and key.point.tolist() != told["point"]:
            raise ForeignQueryError(
                f"query {key.id} of this study asked about {told['point']}, the one that came "
                f"about {key.point}: it belongs to another study. Nothing was changed."
            )
        if json.loads(f"{{{self.text()}}}") == {part: told[part] for part in self._fields}:
            return True
        raise AnsweredError(
            f"query {query_id(key)} was already answered with loss {told['loss']} and curvature "
            f"{told['curvature']}, now came {self.loss} and {self.curvature}. Nothing was changed."
        )


class _Replaying(logging.Filter, threading.local):
    """Keeps what a learner logs from being logged again in every replay."""

    now = False

    def filter(self, record: logging.LogRecord) -> bool:
        return not self.now


_REPLAYING = _Replaying()
logging.getLogger("dikin").addFilter(_REPLAYING)


@contextmanager
def _silenced() -> Iterator[None]:
    """What a learner has to say about an answer was said to the client that told it."""
    _REPLAYING.now = True
    try:
        with ignored(CertificateVoidWarning):
            yield
    finally:
        _REPLAYING.now = False


def _ask_body(query: Query, arguments: AskArguments) -> str:
    """The body of a row that asks."""
    return f'{{"point": {array_json(query.point)}{arguments.text()}}}'


def _point_in(body: str) -> str:
    """The text of the point in the body of a row that asks."""
    return body[len('{"point": ') : -1].partition(SEPARATOR)[0]


def array_json(values: Array) -> str:
    """A point as JSON: for finite floats Python's repr, which keeps every bit, is just that."""
    return repr(values.tolist())


def number_json(value: float) -> str:
    """A number as JSON."""
    return "null" if finite_or_none(value) is None else repr(value)


def finite_or_none(value: float) -> float | None:
    """A number that JSON knows, as it knows no NaN."""
    return value if isfinite(value) else None


def query_id(key: Query | int) -> int:
    """The id of a query that is given by itself or by its id."""
    return key.id if isinstance(key, Query) else key


def snapshot_text(learner: Learner, asked: dict[int, AskRecord]) -> str:
    """The state of a learner and its open queries as text; refused if it cannot be read back."""
    learner.require_registered()
    state = learner.state()
    if state["domain"] is None:
        raise NotSavableError(
            f"the domain {learner.domain} is made of Python functions, which are never written to "
            "a database: a study needs a domain such as Box or Polytope"
        )
    return json.dumps({"asked": asked, "learner": state})


def _as_read(value: Any) -> Any:
    """The value that a replay will read; what is no number is left for the learner to refuse."""
    if type(value) is float:
        return value
    if isinstance(value, Real) and not isinstance(value, bool | np.bool_):
        try:
            return float(value)
        except OverflowError:
            return value
    if isinstance(value, np.ndarray) and value.dtype.kind in "fiu":
        return value.astype(float) if value.ndim else float(value)
    if isinstance(value, list | tuple):
        return tuple(_as_read(part) for part in value)
    return value
