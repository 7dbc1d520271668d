"""A cached read that concurrent readers share."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from dikin.errors import StoreError
from dikin.service.limits import ANSWER_SECONDS

T = TypeVar("T")


class SharedRead(Generic[T]):
    """The result of a read, or its error, for some seconds.

    A caller that comes during a read waits for that read: an unavailable database delays nobody for
    longer than one attempt, and for longer than the deadline in no case.
    """

    def __init__(
        self, read: Callable[[], Awaitable[T]], seconds: float, deadline: float = ANSWER_SECONDS
    ) -> None:
        self._read, self._seconds, self._deadline = read, seconds, deadline
        self._task: asyncio.Future[T] | None = None
        self._began = self._until = 0.0

    async def get(self) -> T:
        """The result, at most `seconds` old."""
        task = self._task
        if task is not None and task.done() and time.monotonic() <= self._until:
            return task.result()
        if task is None or task.done():
            task = self._task = asyncio.ensure_future(self._read())
            self._began = time.monotonic()
            task.add_done_callback(self._done)
        left = self._began + self._deadline - time.monotonic()
        try:
            return await asyncio.wait_for(asyncio.shield(task), left)
        except TimeoutError:
            raise StoreError(
                f"the store has not answered for {self._deadline:g} seconds; send the request "
                "again later"
            ) from None

    def _done(self, task: asyncio.Future[T]) -> None:
        self._until = time.monotonic() + self._seconds
        if not task.cancelled():
            task.exception()  # read here, or Python would log an unretrieved error
