"""Queries, and the ledger of those that wait for their answers."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from threading import RLock
from typing import Any, ClassVar

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
    """A point whose loss is wanted.

    Parameters
    ----------
    id : int
        The number by which the query is answered, unique within a learner.
    point : numpy.ndarray
        The point, in the user's units, or two points for a learner that compares two losses.
    """

    id: int
    point: Array

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Query)
            and self.id == other.id
            and np.array_equal(self.point, other.point)
        )

    def __hash__(self) -> int:
        return hash(self.id)


Entry = tuple[Query, Any]
"""A query, and what its learner or tuner remembers of it until the answer: its memo."""


class OpenQueries(dict[int, Entry]):
    """The open queries of a learner or tuner by id, oldest first, and the lock of its calls.

    A forked child has copies of its parent's generators, and both would ask for the same points.
    The child is warned, and continues with a new lock, because a thread of the parent may hold the
    old one.
    """

    forks: ClassVar[int] = 0
    """The forks between this process and the one that imported the module."""
    noun: str
    """The name of a query in messages."""
    next_id: int
    """The number of queries asked so far, which is the id of the next one."""

    def __init__(self) -> None:
        super().__init__()
        self.__setstate__(("query", 0))

    def __getstate__(self) -> tuple[str, int]:
        return self.noun, self.next_id

    def __setstate__(self, state: tuple[str, int]) -> None:
        self.noun, self.next_id = state
        self.lock, self.made_after = RLock(), self.forks

    def continue_in_child(self, owner: str) -> None:
        """Warn of a fork since these queries were made, at the first ask of this class after it."""
        warnings.warn(
            f"this process was forked from the one that made the {owner}: both draw the same "
            "directions from here on, and neither learns from the other. Make a learner in "
            "each process, with a seed of its own, or share a tuner by dikin.Study",
            DikinWarning,
            stacklevel=3,
        )
        self.lock, self.made_after = RLock(), self.forks

    def find(self, query: Query | int) -> Entry:
        """Return the entry of an open query, or raise an error that says why it is not open."""
        id: Any = query.id if isinstance(query, Query) else query
        entry = self.get(int(id)) if is_whole(id) else None
        if entry is None and is_whole(id) and 0 <= id < self.next_id:
            raise ClosedQueryError(
                f"{self.noun} {id} was already answered or forgotten; open: {few_of(self)}. "
                "Nothing was changed."
            )
        if entry is None:
            raise UnknownQueryError(
                f"{self.noun} {shown(id)} was never asked; open: {few_of(self)}. Pass the "
                f"{self.noun} that ask() returned, or its id. Nothing was changed."
            )
        ours = entry[0]
        if isinstance(query, Query) and not np.array_equal(query.point, ours.point):
            mine, other = (getattr(each, "params", each.point) for each in (ours, query))
            raise QueryError(
                f"{self.noun} {id} asked about {mine}, got one about {other}: "
                "it belongs to another learner or tuner. Nothing was changed."
            )
        return entry


def _count_fork() -> None:
    OpenQueries.forks += 1


if hasattr(os, "register_at_fork"):  # Windows has no forks
    os.register_at_fork(after_in_child=_count_fork)
