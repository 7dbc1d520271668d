"""What a study returns besides trials, wherever it is stored: open queries, and where it stands."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from dikin.open_queries import Query
from dikin.tuning.space import Params
from dikin.vectors import Array


@dataclass(frozen=True, slots=True, eq=False)
class OpenQuery(Query):
    """An open trial of a study, with who asked it and when."""

    params: Params
    """The setting by name."""
    client: str
    asked: datetime

    @property
    def setting(self) -> Params:
        """The setting by name."""
        return self.params


class Standing(NamedTuple):
    """The progress of a study at one instant."""

    rounds: int
    center: Array
    certificate: float
