"""The content of a journal's rows: points, arguments of an ask and answers, as JSON.

A value is written so that a replay reads back every bit: a tuner gets the same in a replay as live.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from dikin import serialization
from dikin.arguments import as_float, is_whole, real_number
from dikin.errors import FeedbackError, UnknownQueryError, shown
from dikin.open_queries import Query
from dikin.tuning.covariates import Values, checked_values
from dikin.tuning.trial import Trial
from dikin.tuning.tuner import Tuner


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

    def ask(self, tuner: Tuner) -> Trial:
        """Ask a tuner; what it cannot use is refused before anything is drawn."""
        return tuner.ask(self.context, forecast=self.forecast, covariates=self.covariates)

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
        parts = {"context": self.context, "covariates": self.covariates}
        parts = {name: part for name, part in parts.items() if part is not None}
        return f', "asked": {json.dumps(parts)}'


SEPARATOR = ', "'
"""What precedes a second key; a point, which is the first, does not contain it."""
NO_ARGUMENTS = AskArguments(None, None)


class Answer(NamedTuple):
    """An answer, in the form in which it will be read back; its parts have the names of a row."""

    value: Any
    curvature: Any
    covariates: Values | None = None
    sem: float | None = None

    @classmethod
    def of(cls, value: Any, curvature: Any, covariates: Any = None, sem: Any = None) -> Answer:
        if covariates is not None:
            covariates = checked_values(covariates) or None
        return cls(_as_read(value), _as_read(curvature), covariates, sem)

    @classmethod
    def read(cls, fields: dict[str, Any]) -> Answer:
        """The answer in the row of a tell."""
        return cls(*map(fields.get, cls._fields))

    def tell(self, tuner: Tuner, query: Any) -> None:
        """Tell a tuner."""
        tuner.tell(query, self.value, self.curvature, covariates=self.covariates, sem=self.sem)

    def beside(self) -> dict[str, Any]:
        """Covariates and standard error, by name, where there are any."""
        given = {"covariates": self.covariates, "sem": self.sem}
        return {name: part for name, part in given.items() if part is not None}

    def text(self) -> str:
        """The answer as it is written in a row."""
        value, curvature = self[:2]
        if type(value) is float and type(curvature) is float:
            text = f'"value": {value!r}, "curvature": {curvature!r}'
        else:
            text = json.dumps({"value": value, "curvature": curvature}, default=str)[1:-1]
        for part, known in self.beside().items():
            text += f', "{part}": {json.dumps(known)}'
        return text


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
    raise UnknownQueryError(f"pass the trial or its id, got {shown(query)}")


def query_id(query: Query | int) -> int:
    """The id of a query that is passed itself or by its id."""
    return query if isinstance(query, int) else query.id


def _as_read(value: Any) -> Any:
    """The value that a replay will read; the tuner refuses what it cannot use."""
    if value is None or type(value) is float:
        return value
    if isinstance(value, dict):
        return {name: _as_read(value[name]) for name in sorted(value, key=str)}
    number = as_float(value)
    return value if number is None else number
