"""What a study says of itself, whether it lives in a database or at a service."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from dikin.open_queries import Query
from dikin.tuning.space import Params
from dikin.vectors import Array


@dataclass(frozen=True, slots=True, eq=False)
class OpenQuery(Query):
    """A query or trial of a study that waits for its answer: who asked it, and when."""

    client: str
    asked: datetime
    params: Params | None = None
    """The setting by name; None where a learner asked."""

    @property
    def setting(self) -> Any:
        """What is played: the values by name, or the point where they have no names."""
        return self.point if self.params is None else self.params


class Standing(NamedTuple):
    """How far a study has come at one instant."""

    rounds: int
    center: Array
    certificate: float
