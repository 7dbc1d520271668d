"""The content of a journal's rows: points, arguments of an ask and answers, as JSON.

A value is written so that a replay reads back every bit: a learner is told the same in a replay as
live.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import numpy as np

from dikin import serialization
from dikin.arguments import as_float, is_whole, real_number
from dikin.errors import FeedbackError, UnknownQueryError, shown
from dikin.open_queries import Query
from dikin.players import Player
from dikin.tuning.covariates import Values, checked_values


class AskArguments(NamedTuple):
    """What was known about a round when it was asked, in the form in which it will be read back."""

    context: Any
    forecast: float | None
    covariates: Values | None = None

    @classmethod
    def of(cls, context: Any, forecast: Any, covariates: Any = None) -> AskArguments:
        if forecast is not None:
            forecast = real_number(forecast, "forecast", FeedbackError)
        if covariates is not None:
            covariates = checked_values(covariates) or None
        return cls(_as_read(context), forecast, covariates)

    @classmethod
    def read(cls, body: str) -> AskArguments:
        """The arguments in the body of an ask row, besides the point."""
        if SEPARATOR not in body:
            return NO_ARGUMENTS
        fields = json.loads(body)
        context = serialization.decode(fields.get("context"))
        return cls(context, fields.get("forecast"), fields.get("covariates"))

    def ask(self, player: Player[Any]) -> Query:
        """Ask a player; what it cannot use is refused before anything is drawn."""
        # With what there is alone: a learner of the user's may know of nothing else.
        context = () if self.context is None else (self.context,)
        named: dict[str, Any] = {}
        if self.forecast is not None:
            named["forecast"] = self.forecast
        if self.covariates is not None:
            named["covariates"] = self.covariates
        query: Query = player.ask(*context, **named)
        return query

    def text(self) -> str:
        """The arguments as they are written in a row, after the point."""
        text = ""
        if self.context is not None:
            text = f'{SEPARATOR}context": {json.dumps(serialization.encode(self.context))}'
        if self.forecast is not None:
            text += f'{SEPARATOR}forecast": {json.dumps(self.forecast)}'
        if self.covariates is not None:
            text += f'{SEPARATOR}covariates": {json.dumps(self.covariates)}'
        return text

    def noted(self) -> str:
        """What the row of the answer repeats, so that a round stands in one row."""
        if self.context is None and self.covariates is None:
            return ""
        named = isinstance(self.context, dict)
        context = self.context if named else serialization.encode(self.context)
        parts = {"context": context, "covariates": self.covariates}
        parts = {name: part for name, part in parts.items() if part is not None}
        return f', "asked": {json.dumps(parts)}'


SEPARATOR = ', "'
"""What precedes a second key; a point, which is the first, does not contain it."""
NO_ARGUMENTS = AskArguments(None, None)


class Answer(NamedTuple):
    """The loss or value of an answer, in the form in which it will be read back."""

    loss: Any
    curvature: Any
    covariates: Values | None = None
    sem: float | None = None
    smoothness: Any = None
    lipschitz: Any = None

    @classmethod
    def of(
        cls,
        loss: Any,
        curvature: Any,
        covariates: Any = None,
        sem: Any = None,
        smoothness: Any = None,
        lipschitz: Any = None,
    ) -> Answer:
        if covariates is not None:
            covariates = checked_values(covariates) or None
        constants = map(_as_read, (smoothness, lipschitz))
        return cls(_as_read(loss), _as_read(curvature), covariates, sem, *constants)

    @classmethod
    def read(cls, fields: dict[str, Any], name: str) -> Answer:
        """What the row of a tell says under this name."""
        loss = serialization.decode(fields[name])
        return cls(loss, fields["curvature"], *map(fields.get, cls._fields[2:]))

    def tell(self, player: Player[Any], query: Query | int) -> None:
        """Tell a player."""
        player.tell(query, self.loss, self.curvature, **self.beside())

    def beside(self) -> dict[str, Any]:
        """What came with loss and curvature, by name; what there is alone, as for an ask."""
        if self[2:] == NOTHING_BESIDE:  # as in most rounds
            return {}
        named = dict(zip(self._fields[2:], self[2:], strict=True))
        return {name: part for name, part in named.items() if part is not None}

    def text(self, name: str) -> str:
        """As it stands in a row, under this name."""
        loss, curvature = self[:2]
        if type(loss) is float and type(curvature) is float:
            text = f'"{name}": {loss!r}, "curvature": {curvature!r}'
        else:
            fields = {
                name: serialization.encode(loss),
                "curvature": serialization.encode(curvature),
            }
            text = json.dumps(fields)[1:-1]
        for part, value in self.beside().items():
            text += f', "{part}": {json.dumps(value, default=str)}'
        return text

    @classmethod
    def parts(cls, name: str) -> tuple[str, ...]:
        """The keys of an answer in a row, in their order."""
        return (name, *cls._fields[1:])


NOTHING_BESIDE = (None,) * len(Answer._fields[2:])


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
    if value is None or type(value) is float:
        return value
    if isinstance(value, list | tuple):
        return tuple(_as_read(part) for part in value)
    if isinstance(value, np.ndarray) and value.ndim and value.dtype.kind in "fiu":
        return value.astype(float)
    if isinstance(value, dict):
        return {name: _as_read(value[name]) for name in sorted(value, key=str)}
    number = as_float(value)
    return value if number is None else number
