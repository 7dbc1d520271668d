"""Histories of several clients over a bad network, and an order that explains what each was told.

Clients share a study, over a proxy that delays, cuts and mutes connections or beside it in the
database, and note when each call began and ended. Then one order of all calls is looked for, each
between its begin and its end, in which a study without clients, network and database would have
given the same results (Wing and Gong 1993, Lowe 2017). Pausing has no key: where an answer was
lost, it may be carried out again at any later time.
"""

import asyncio
import random
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from math import inf
from typing import Any, NamedTuple
from unittest.mock import patch

import dikin
from dikin.errors import QueryError, StoreError
from dikin.studies import remote
from service.proxy import Proxy
from studies.small import plain

CALLS = 50
"""Calls of a client in one history."""
LATEST = 6
"""Trials, of whichever client, that are told or forgotten at random."""
ATTEMPT = 0.5
"""Seconds until a client takes a connection for muted."""
PATIENCE = 60.0


class Call(NamedTuple):
    """A call of a client: its time, its arguments, and its result or the name of its error."""

    begin: float
    end: float
    what: str
    id: int = -1
    value: float | None = None
    result: Any = None


class State(NamedTuple):
    """A study of one process without a database."""

    paused: bool = False
    asked: frozenset[int] = frozenset()
    closed: frozenset[tuple[int, float | None]] = frozenset()


def step(state: State, call: Call) -> State | None:
    """Return the state after a call, None where the call cannot have had its result."""
    paused, asked, closed = state
    if call.what == "ask":
        id, held = call.result
        return None if id in asked or held != paused else State(paused, asked | {id}, closed)
    if call.what in ("tell", "forget"):
        before, error = dict(closed).get(call.id, call.value), ""
        if before != call.value:
            error = "ClosedQueryError" if None in (before, call.value) else "AnsweredError"
        if call.id not in asked or call.result != error:
            return None
        return State(paused, asked, closed if error else closed | {(call.id, call.value)})
    if call.what == "rounds":
        return state if call.result == sum(value is not None for _, value in closed) else None
    return State(call.what == "pause", asked, closed)


def has_order(calls: Sequence[Call]) -> bool:
    """Return whether there is an order. A call without an end may happen never, or often."""
    calls = sorted(calls)
    wanted = sum(1 << place for place, call in enumerate(calls) if call.end < inf)
    waiting, seen = [(0, State())], set[tuple[int, State]]()
    while waiting:
        done, state = waiting.pop()
        if done == wanted:
            return True
        first_end, next_ones = inf, list[int]()
        for place, call in enumerate(calls):
            if call.begin > first_end:
                break
            if not done >> place & 1:
                next_ones.append(place)
                first_end = min(first_end, call.end)
        for place in sorted(next_ones, key=lambda place: -calls[place].end):
            call = calls[place]
            after = step(state, call) if call.begin <= first_end else None
            if after is not None:
                reached = done | (call.end < inf) << place, after
                if reached not in seen:
                    seen.add(reached)
                    waiting.append(reached)
    return False


class BadProxy(Proxy):
    """Delays what it passes on, and cuts or mutes every connection after a while."""

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        left, mutes = random.randint(1, 60), random.random() < 0.2

        async def copy(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
            nonlocal left
            try:
                while (part := await source.read(65536)) and (left > 0 or mutes):
                    left -= 1
                    await asyncio.sleep(max(0.0, random.uniform(-0.2, 0.02)))
                    if left > 0:
                        sink.write(part)
                        await sink.drain()
            finally:
                writer.close()
                out.close()

        behind, out = await asyncio.open_connection("127.0.0.1", self._backends[0])
        await asyncio.gather(copy(reader, out), copy(behind, writer), return_exceptions=True)


def insist(call: Callable[[], Any]) -> Any:
    """Return the result, or the name of the error with which the call is refused."""
    while True:
        with suppress(StoreError):
            try:
                return call()
            except QueryError as refusal:
                return type(refusal).__name__


def history(urls: Sequence[str], name: str) -> list[Call]:
    """Return the calls of clients at these addresses, all on one study."""
    calls, ids = list[Call](), list[int]()

    def client(url: str) -> None:
        chance, number = random.Random(), 0

        def ask() -> tuple[int, bool]:
            trial = study.ask(key=f"{id(study)} {number}")
            return trial.id, trial.paused

        acts: dict[str, Callable[[], Any]] = {
            "ask": ask,
            "tell": lambda: study.tell(trial, value) or "",  # type: ignore[func-returns-value]
            "forget": lambda: study.forget(trial) * "",
            "rounds": lambda: study.rounds,
            "pause": lambda: study.pause(),
            "resume": lambda: study.resume(),
        }
        with insist(lambda: dikin.Study(url, name, patience=PATIENCE)) as study:
            for number in range(CALLS):  # noqa: B007 - a part of the key
                what = chance.choices([*acts], [4, 6, 1, 2, 1, 1])[0] if ids else "ask"
                trial = chance.choice(ids[-LATEST:]) if what in ("tell", "forget") else -1
                value = chance.choice([0.25, 0.5]) if what == "tell" else None
                begin = time.monotonic()
                result = insist(acts[what])
                calls.append(Call(begin, time.monotonic(), what, trial, value, result))
                if what == "ask":
                    ids.append(result[0])
                if what in ("pause", "resume") and url.startswith("http"):
                    calls.extend([Call(begin, inf, what)] * study._ledger.repeated)

    with patch.object(remote, "ATTEMPT", ATTEMPT), ThreadPoolExecutor(len(urls)) as pool:
        list(pool.map(client, urls))
    return calls


def games(store: str, urls: Sequence[str], seconds: float) -> int:
    """Return the number of calls in histories of so many seconds, each of a new study."""
    count, end = 0, time.monotonic() + seconds
    while not count or time.monotonic() < end:
        name = f"history {count}"
        dikin.Study(store, name, plain()).close()
        calls = history(urls, name)
        assert has_order(calls), f"no order explains {sorted(calls)}"
        count += len(calls)
    return count
