"""A cached read that concurrent readers share."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class SharedRead(Generic[T]):
    """The result of a read, or its error, for some seconds.

    A caller that comes during a read waits for that read: an unavailable database delays nobody for
    longer than one attempt.
    """

    def __init__(self, read: Callable[[], Awaitable[T]], seconds: float) -> None:
        self._read, self._seconds = read, seconds
        self._task: asyncio.Future[T] | None = None
        self._until = 0.0

    async def get(self) -> T:
        """The result, at most `seconds` old."""
        task = self._task
        if task is not None and task.done() and time.monotonic() <= self._until:
            return task.result()
        if task is None or task.done():
            task = self._task = asyncio.ensure_future(self._read())
            task.add_done_callback(self._done)
        return await asyncio.shield(task)

    def _done(self, task: asyncio.Future[T]) -> None:
        self._until = time.monotonic() + self._seconds
        if not task.cancelled():
            task.exception()  # read here, or Python would log an unretrieved error
