"""The content of a journal's rows: points, arguments of an ask and answers, as JSON.

A value is written so that a replay reads back every bit: a learner is told the same in a replay as
live.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import numpy as np

from dikin import serialization
from dikin.arguments import as_float, is_whole
from dikin.errors import ForecastError, UnknownQueryError, shown
from dikin.learners.base import real_number
from dikin.open_queries import Query
from dikin.players import Player


class AskArguments(NamedTuple):
    """What was known about a round when it was asked, in the form in which it will be read back."""

    context: Any
    forecast: float | None

    @classmethod
    def of(cls, context: Any, forecast: Any) -> AskArguments:
        if forecast is not None:
            forecast = real_number(forecast, "forecast", ForecastError)
        return cls(_as_read(context), forecast)

    @classmethod
    def read(cls, body: str) -> AskArguments:
        """The arguments in the body of an ask row, besides the point."""
        if SEPARATOR not in body:
            return NO_ARGUMENTS
        fields = json.loads(body)
        return cls(serialization.decode(fields.get("context")), fields.get("forecast"))

    def ask(self, player: Player[Any]) -> Query:
        """Ask a player; a context or forecast is refused before anything is drawn."""
        # Pass only what is there: a user's own learner may accept nothing else.
        context = () if self.context is None else (self.context,)
        if self.forecast is None:
            query: Query = player.ask(*context)
        else:
            query = player.ask(*context, forecast=self.forecast)
        return query

    def text(self) -> str:
        """The arguments as they are written in a row, after the point."""
        text = ""
        if self.context is not None:
            text = f'{SEPARATOR}context": {json.dumps(serialization.encode(self.context))}'
        if self.forecast is not None:
            text += f'{SEPARATOR}forecast": {json.dumps(self.forecast)}'
        return text


SEPARATOR = ', "'
"""What precedes a second key; a point, which is the first, does not contain it."""
NO_ARGUMENTS = AskArguments(None, None)


class Answer(NamedTuple):
    """The loss or value of an answer, in the form in which it will be read back."""

    loss: Any
    curvature: Any

    @classmethod
    def of(cls, loss: Any, curvature: Any) -> Answer:
        if type(loss) is float and type(curvature) is float:
            return cls(loss, curvature)
        return cls(_as_read(loss), _as_read(curvature))

    @classmethod
    def read(cls, body: dict[str, Any], name: str) -> Answer:
        """The answer in the body of a tell row, under this name."""
        return cls(serialization.decode(body[name]), body["curvature"])

    def text(self, name: str) -> str:
        """The answer as it is written in a row, under this name."""
        loss, curvature = self
        if type(loss) is float and type(curvature) is float:
            return f'"{name}": {loss!r}, "curvature": {curvature!r}'
        answer = {name: serialization.encode(loss), "curvature": serialization.encode(curvature)}
        return json.dumps(answer)[1:-1]


def ask_body(query: Query, arguments: AskArguments) -> str:
    """The body of a row that asks."""
    # For finite floats Python's repr, which keeps every bit, is just JSON.
    return f'{{"point": {query.point.tolist()!r}{arguments.text()}}}'


def point_in(body: str) -> str:
    """The text of the point in the body of an ask row."""
    return body[len('{"point": ') : -1].partition(SEPARATOR)[0]


def query_or_id(query: Any) -> Query | int:
    """A query or an id, as passed to tell and forget; an error if it is neither."""
    if isinstance(query, Query):
        return query
    if is_whole(query):
        return int(query)
    raise UnknownQueryError(f"pass the query or trial, or its id, got {shown(query)}")


def query_id(query: Query | int) -> int:
    """The id of a query that is passed itself or by its id."""
    return query if isinstance(query, int) else query.id


def _as_read(value: Any) -> Any:
    """The value that a replay will read; the learner refuses anything but a number."""
    if type(value) is float:
        return value
    if isinstance(value, list | tuple):
        return tuple(_as_read(part) for part in value)
    if isinstance(value, np.ndarray) and value.ndim and value.dtype.kind in "fiu":
        return value.astype(float)
    number = as_float(value)
    return value if number is None else number
