"""Where a study is stored: in a journal in a database, or behind a service that has one."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple, Protocol

from dikin.errors import ParameterError
from dikin.open_queries import Query
from dikin.players import Player
from dikin.status import Status
from dikin.studies.rows import Answer, AskArguments
from dikin.tuning.space import Params, Space
from dikin.vectors import Array, Table


@dataclass(frozen=True, slots=True, eq=False)
class OpenQuery(Query):
    """An open query or trial of a study, with who asked it and when."""

    client: str
    asked: datetime
    params: Params | None = None
    """The setting by name; None in the study of a learner."""

    @property
    def setting(self) -> Any:
        """What to play: the values by name, or the point if they have no names."""
        return self.point if self.params is None else self.params


class Standing(NamedTuple):
    """The progress of a study at one instant."""

    rounds: int
    center: Array
    certificate: float


@dataclass(frozen=True)
class Opening:
    """The arguments with which a study is opened; None where the backend has its own default."""

    url: str | os.PathLike[str]
    name: str
    player: Player[Any] | None
    client: str
    patience: float | None
    commit_within: float
    token: str | None


class Backend(Protocol):
    """Where a study is stored; its methods do what `Study` documents for those of the same name.

    Arguments are already checked, as far as that is possible without a player.
    """

    client: str
    """The name of this client."""
    space: Space | None
    """The parameters of a tuner; None in the study of a learner."""
    created: bool = False
    """Whether opening it created the study."""
    place: str
    """The location of the study, for messages."""

    def __init__(self, opening: Opening) -> None: ...

    @classmethod
    def names(cls, url: str | os.PathLike[str], token: str | None) -> list[str]: ...

    @classmethod
    def delete(cls, url: str | os.PathLike[str], name: str, token: str | None) -> None: ...

    def close(self) -> None: ...

    def flush(self) -> None: ...

    def flush_by_hand(self) -> None:
        """Let no timer commit what waits: the caller flushes."""

    # --- the game ------------------------------------------------------------------------------

    def ask(self, arguments: AskArguments, key: str | None) -> Query:
        """Ask for one query; the same key returns the same query."""

    def ask_several(self, arguments: AskArguments, n: int, key: str | None) -> list[Query]:
        """Ask for n queries."""

    def tell(self, query: Query | int, answer: Answer) -> None: ...

    def forget(self, query: Query | int) -> None: ...

    def forget_older(self, seconds: float) -> int:
        """Forget the queries that were asked longer ago than that; returns how many."""
        before = datetime.now(UTC) - timedelta(seconds=seconds)
        older = [query.id for query in self.waiting(-1, None) if query.asked < before]
        for id in older:
            self.forget(id)
        return len(older)

    def hold(self) -> None: ...

    def resume(self) -> None: ...

    # --- reading -------------------------------------------------------------------------------

    def standing(self) -> Standing: ...

    def status(self) -> Status: ...

    def summary(self) -> Status: ...

    def best_for(self, context: Any) -> Params: ...

    def first_round(self) -> int: ...

    def certificate_for(self, **constants: float) -> float: ...

    def waiting(self, after: int, limit: int | None) -> list[OpenQuery]: ...

    def state(self) -> dict[str, Any]: ...

    def history(self, first: int, last: int | None) -> Table: ...

    def records(self, first: int, last: int | None) -> list[dict[str, Any]]: ...

    # --- maintenance ---------------------------------------------------------------------------

    def skip_ids(self, count: int) -> int:
        raise ParameterError(
            "ids are skipped where the database is, after it was restored: "
            "dikin study skip-ids NAME --url DATABASE"
        )

    def verify(self, workers: int, progress: bool) -> int: ...

    def trim(self, before: int, progress: bool) -> int: ...
