"""Live updates of a study: server-sent events, for the page.

A `guard` event says that the guard of a tuner holds, and why: once when it begins, or at the
beginning of the stream.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Coroutine
from typing import Any, NamedTuple

from starlette.requests import Request

from dikin.errors import DikinError
from dikin.service.bodies import written
from dikin.service.limits import EVENT_ROUNDS, EVENTS_EVERY, rounds_at_once
from dikin.service.problems import Problem
from dikin.service.service import Service
from dikin.service.tokens import Access
from dikin.studies.study import Study


class Update(NamedTuple):
    """What happened to a study."""

    data: bytes
    newest: int
    """The last round."""
    guard: str | None
    """Why the guard holds, if it does."""


class Look:
    """A read of a study, and how many streams wait for it."""

    def __init__(self, read: Coroutine[Any, Any, Update]) -> None:
        self.began, self._waiting = time.monotonic(), 0
        self._read = asyncio.ensure_future(read)
        self._read.add_done_callback(_note_error)

    @property
    def useful(self) -> bool:
        """Whether another stream can share it."""
        if self._read.done():
            fresh = time.monotonic() - self.began < 0.9 * EVENTS_EVERY
            return fresh and not self._read.cancelled()
        return self._waiting > 0

    async def result(self) -> Update:
        """Return the result; when nobody waits for it any more, the study is spared the work."""
        self._waiting += 1
        try:
            return await asyncio.shield(self._read)
        finally:
            self._waiting -= 1
            if not self._waiting:
                self._read.cancel()


def _note_error(read: asyncio.Future[Update]) -> None:
    if not read.cancelled():
        read.exception()  # or Python would log an error that nobody waited for


class Looks:
    """Shared reads of studies: pages that want the same update share one.

    Without it, many open pages would slow down a study.
    """

    def __init__(self, service: Service) -> None:
        self._service = service
        self._looks: dict[tuple[str, int | None], Look] = {}

    async def update(self, name: str, last: int | None) -> Update:
        """Return what happened to a study since round `last`."""
        self._looks = {key: look for key, look in self._looks.items() if look.useful}
        key = name, last
        if key not in self._looks:
            self._looks[key] = Look(_update(self._service, *key))
        return await self._looks[key].result()


def last_round(header: str | None, rounds: int) -> int | None:
    """Return the last round that a client has; None if there is no such round in the study.

    Otherwise every number beyond the newest round would be a read of its own.
    """
    if header is None or not header.isdecimal() or len(header) > 15 or int(header) > rounds:
        return None
    return int(header)


async def updates(
    service: Service, looks: Looks, request: Request, name: str, last: int | None
) -> AsyncIterator[bytes]:
    """Yield events of a study, one per second, for as long as the visitor may see them."""
    access, guard = request.state.access, None
    while not service.closing.is_set():
        try:
            access = await service.access(request)
            data, last, reason = await looks.update(name, last)
        except (Problem, DikinError) as error:
            yield _event("problem", await _problem_json(service, error, access, name), last)
            return
        yield _event("update", data, last)
        if reason is not None and reason != guard:
            yield _event("guard", json.dumps({"study": name, "reason": reason}).encode(), last)
        guard = reason
        await _pause(service.closing, EVENTS_EVERY)


async def _problem_json(
    service: Service, error: Problem | DikinError, access: Access, name: str
) -> bytes:
    if isinstance(error, DikinError):
        error = await service.problem_for(error, access, name)
    return json.dumps(error.content()).encode()


async def _update(service: Service, name: str, last: int | None) -> Update:
    worker = await service.workers.of(name)

    def look(study: Study) -> Update:
        status = worker.status(study)
        newest, size = status.rounds, status.center.size
        before = 0 if last is None or last > newest else last
        first = max(newest - rounds_at_once(EVENT_ROUNDS, size), before) + 1
        records = study.records(first, newest) if first <= newest else []
        data = written({"study": status.to_json(), "rounds": _columns(records, size)})
        return Update(data, newest, status.guard_reason)

    return await worker.do(look)


def _columns(records: list[dict[str, Any]], dim: int) -> dict[str, Any]:
    """Return tuned rounds as columns, which take half the space of rows; those of a pause too."""
    records = [each for each in records if each["paused"] or not each.get("held_back")]
    points, best = ([each[what] for each in records] for what in ("point", "center"))
    return {
        "round": [each["round"] for each in records],
        "value": [each["value"] for each in records],
        "failed": [bool(each.get("failed")) for each in records],
        "paused": [each["paused"] for each in records],
        "time": [each["time"] for each in records],
        "played": [[row[place] for row in points] for place in range(dim)],
        "best": [[row[place] for row in best] for place in range(dim)],
    }


def _event(kind: str, data: bytes, last: int | None) -> bytes:
    return b"event: %s\nid: %d\ndata: %s\n\n" % (kind.encode(), last or 0, data)


async def _pause(closing: asyncio.Event, seconds: float) -> None:
    try:
        await asyncio.wait_for(closing.wait(), seconds)
    except TimeoutError:
        return
