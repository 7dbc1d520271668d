"""A study as it is played: server-sent events, for the page."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from dikin.errors import DikinError
from dikin.service.glance import glance, number_told
from dikin.service.problems import Problem
from dikin.service.service import Service
from dikin.studies.study import Study

WINDOW = 2000
"""Rounds that a page is told of."""
PAUSE = 1.0
"""Seconds between two looks. What comes every second also says that the service is there."""


async def updates(service: Service, name: str, last: int | None) -> AsyncIterator[bytes]:
    """What happened to a study since round `last`, again and again."""
    with service.metrics.streams.track_inprogress():
        while not service.closing.is_set():
            try:
                data, last = await _update(service, name, last)
            except DikinError as error:
                yield _event("problem", json.dumps(Problem.of(error).content()).encode(), last)
                return
            yield _event("update", data, last)
            await _pause(service.closing)


async def _update(service: Service, name: str, last: int | None) -> tuple[bytes, int]:
    worker = service.workers.of(name)

    def look(study: Study) -> tuple[bytes, int]:
        seen = glance(study, list(worker.warnings))
        newest: int = seen["rounds"]
        first = max(newest - WINDOW, 0 if last is None or last > newest else last) + 1
        records = study.records(first, newest) if first <= newest else []
        update = {"study": seen, "rounds": _columns(records, len(seen["columns"]))}
        return json.dumps(update, allow_nan=False).encode(), newest

    return await service.workers.do(name, look)


def _columns(records: list[dict[str, Any]], dim: int) -> dict[str, Any]:
    """Rounds as columns, which are half as long as rows."""
    played, best = ([_flat(each[what]) for each in records] for what in ("point", "center"))
    return {
        "round": [each["round"] for each in records],
        "value": [number_told(each) for each in records],
        "expected": [each.get("expected") for each in records],
        "held": [bool(each.get("held")) for each in records],
        "certificate": [each["certificate"] for each in records],
        "time": [each["time"] for each in records],
        "played": [[row[place] for row in played] for place in range(dim)],
        "best": [[row[place] for row in best] for place in range(dim)],
    }


def _flat(point: list[Any]) -> list[float]:
    """The numbers of a point, which may be a matrix."""
    if point and isinstance(point[0], list):
        return [number for row in point for number in _flat(row)]
    return point


def _event(kind: str, data: bytes, last: int | None) -> bytes:
    return b"event: %s\nid: %d\ndata: %s\n\n" % (kind.encode(), last or 0, data)


async def _pause(closing: asyncio.Event) -> None:
    try:
        await asyncio.wait_for(closing.wait(), PAUSE)
    except TimeoutError:
        return
