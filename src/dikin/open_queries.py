"""Queries, and the ledger of those that wait for their answers."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from threading import RLock
from typing import Any

import numpy as np

from dikin.arguments import is_whole
from dikin.errors import (
    ClosedQueryError,
    DikinWarning,
    QueryError,
    UnknownQueryError,
    few_of,
    shown,
)
from dikin.vectors import Array


@dataclass(frozen=True, slots=True, eq=False)
class Query:
    """A point; its loss is then told to the learner.

    Parameters
    ----------
    id
        The number by which the query is answered, unique within a learner.
    point
        The point, in the user's units; two points for a learner that compares two losses.
    """

    id: int
    point: Array

    @property
    def setting(self) -> Any:
        """The point; of a trial the values by name."""
        return self.point

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Query)
            and self.id == other.id
            and np.array_equal(self.point, other.point)
        )

    def __hash__(self) -> int:
        return hash(self.id)


Memo = Any
"""What a learner needs to remember of a query until it is answered: its own file knows the type."""

Entry = tuple[Query, Memo]


class OpenQueries(dict[int, Entry]):
    """The open queries of a learner or tuner by id, oldest first, and the lock of its calls.

    A forked child has copies of its parent's learners and generators: both would ask for the same
    points. The child is warned when it asks, and continues with a new lock, because a thread of the
    parent may hold the old one.
    """

    noun: str
    """The name of a query in messages."""
    next_id: int
    """The id of the next query: the number of those asked so far."""

    def __init__(self) -> None:
        super().__init__()
        self.__setstate__(("query", 0))

    def __getstate__(self) -> tuple[str, int]:
        return self.noun, self.next_id

    def __setstate__(self, state: tuple[str, int]) -> None:
        self.noun, self.next_id = state
        self.lock, self._process = RLock(), os.getpid()

    def acquire(self, owner: str) -> None:
        """Take the lock for an ask of this class; `with` takes twice as long."""
        if self._process != os.getpid():
            _warn_of_fork(owner)
            self.lock, self._process = RLock(), os.getpid()
        self.lock.acquire()

    def find(self, query: Query | int, again: Callable[[int], Query] | None = None) -> Entry:
        """The entry of an open query, or an error that says why it is not open here.

        `again` makes the open query of an id anew, where the user may have written into it.
        """
        if isinstance(query, Query):
            entry = self.get(query.id)
            if entry is not None and query is not entry[0]:
                self._refuse_foreign(query, entry[0] if again is None else again(query.id))
        else:
            entry = self.get(int(query)) if is_whole(query) else None
        if entry is None:
            raise self._not_open(query.id if isinstance(query, Query) else query)
        return entry

    def _not_open(self, id: Any) -> UnknownQueryError | ClosedQueryError:
        if is_whole(id) and 0 <= id < self.next_id:
            return ClosedQueryError(
                f"{self.noun} {id} was already answered or forgotten; open are {few_of(self)}. "
                "Nothing was changed."
            )
        return UnknownQueryError(
            f"{self.noun} {shown(id)} was never asked; open are {few_of(self)}. Tell the "
            f"{self.noun} that ask() gave, or its id. Nothing was changed."
        )

    def _refuse_foreign(self, query: Query, ours: Query) -> None:
        if not np.array_equal(query.point, ours.point):
            raise QueryError(
                f"{self.noun} {ours.id} asked about {ours.setting}, got one about "
                f"{query.setting}: it belongs to another learner or tuner. Nothing was changed."
            )


def _warn_of_fork(owner: str) -> None:
    warnings.warn(
        f"this process was forked from the one that made the {owner}: both draw the same "
        "directions from here on, and neither learns from the other. Make a learner in each "
        "process, with a seed of its own, or share a tuner by dikin.Study",
        DikinWarning,
        stacklevel=5,
    )
