"""What a study is made of: a journal in a database of one's own, or a service that has one."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple, Protocol

from dikin.open_queries import Query
from dikin.players import Player
from dikin.status import Status
from dikin.studies.rows import Answer, AskArguments
from dikin.tuning.space import Params, Space
from dikin.vectors import Array, Table


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


@dataclass(frozen=True)
class Opening:
    """With what a study is opened; None where the backend has a default of its own."""

    url: str | os.PathLike[str]
    name: str
    player: Player[Any] | None
    client: str
    patience: float | None
    commit_within: float
    token: str | None


class Backend(Protocol):
    """Where a study lives: what `Study` promises of a method, the one of its name here does.

    Arguments come checked, as far as that needs no player.
    """

    client: str
    """What this client is called."""
    space: Space | None
    """The parameters of a tuner; None in the study of a learner."""
    created: bool = False
    """Whether the study was created when it was opened here."""
    place: str
    """Where it is, for a person."""

    def __init__(self, opening: Opening) -> None: ...

    @classmethod
    def names(cls, url: str | os.PathLike[str], token: str | None) -> list[str]: ...

    @classmethod
    def delete(cls, url: str | os.PathLike[str], name: str, token: str | None) -> None: ...

    def close(self) -> None: ...

    def flush(self) -> None: ...

    # --- the game ------------------------------------------------------------------------------

    def ask(self, arguments: AskArguments, key: str | None) -> Query:
        """Ask for one query; under a key again for the same."""

    def ask_several(self, arguments: AskArguments, n: int, key: str | None) -> list[Query]:
        """Ask for so many."""

    def tell(self, query: Query | int, answer: Answer) -> None: ...

    def forget(self, query: Query | int) -> None: ...

    def hold(self) -> None: ...

    def resume(self) -> None: ...

    # --- looking -------------------------------------------------------------------------------

    def standing(self) -> Standing: ...

    def status(self) -> Status: ...

    def summary(self) -> Status: ...

    def first_round(self) -> int: ...

    def certificate_for(self, **constants: float) -> float: ...

    def waiting(self, after: int, limit: int | None) -> list[OpenQuery]: ...

    def state(self) -> dict[str, Any]: ...

    def history(self, first: int, last: int | None) -> Table: ...

    def records(self, first: int, last: int | None) -> list[dict[str, Any]]: ...

    # --- care ----------------------------------------------------------------------------------

    def verify(self, workers: int, progress: bool) -> int: ...

    def trim(self, before: int, progress: bool) -> int: ...
