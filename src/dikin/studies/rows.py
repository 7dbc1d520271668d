"""The content of a journal's rows: points, arguments of an ask and answers, as JSON.

A value is written so that a replay reads back every bit: a tuner gets the same in a replay as live.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from dikin.arguments import as_float, is_whole, true_or_false
from dikin.errors import UnknownQueryError, shown
from dikin.open_queries import Query
from dikin.tuning.circumstances import Values
from dikin.tuning.trial import Trial
from dikin.tuning.tuner import Tuner


class AskArguments(NamedTuple):
    """The circumstances of a round when it was asked, as they will be read back."""

    context: Any
    covariates: Values | None = None

    @classmethod
    def of(cls, context: Any, covariates: Any = None) -> AskArguments:
        return cls(_as_read(context), _as_read(covariates) or None)

    @classmethod
    def read(cls, body: str) -> AskArguments:
        """Return the arguments in the body of an ask row, besides the point."""
        if SEPARATOR not in body:
            return NO_ARGUMENTS
        fields = json.loads(body)
        return cls(fields.get("context"), fields.get("covariates"))

    def ask(self, tuner: Tuner) -> Trial:
        """Ask a tuner; circumstances that it cannot use are refused before anything changes."""
        return tuner.ask(self.context, covariates=self.covariates)

    def text(self) -> str:
        """The arguments as they are written in a row, after the point."""
        text = ""
        if self.context is not None:
            text = f'{SEPARATOR}context": {json.dumps(self.context)}'
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
NO_ARGUMENTS = AskArguments(None)


class Answer(NamedTuple):
    """An answer, as it will be read back; its parts have the names of a row."""

    value: Any
    failed: bool = False
    metrics: Any = None
    covariates: Any = None

    @classmethod
    def of(cls, value: Any, failed: Any, metrics: Any = None, covariates: Any = None) -> Answer:
        failed = true_or_false(failed, "failed")
        return cls(_as_read(value), failed, _as_read(metrics) or None, _as_read(covariates) or None)

    @classmethod
    def read(cls, fields: dict[str, Any]) -> Answer:
        """Return the answer in the row of a tell."""
        return cls(**{name: fields[name] for name in cls._fields if name in fields})

    def tell(self, tuner: Tuner, query: Any) -> None:
        """Report to a tuner."""
        tuner.tell(
            query,
            self.value,
            failed=self.failed,
            metrics=self.metrics,
            covariates=self.covariates,
        )

    def text(self) -> str:
        """Return the answer as it is written in a row."""
        text = f'"value": {json.dumps(self.value, default=str)}'
        for name, part in zip(self._fields[1:], self[1:], strict=True):
            if part:
                text += f', "{name}": {json.dumps(part)}'
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
