"""Limits of one visitor, a token or an address: what it may have under way, and how often it asks.

Each is checked and taken in one step, with no other request in between: a visitor cannot pass it by
being quick.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from math import ceil, exp

from dikin.service.limits import (
    AHEAD,
    COMPUTED_AT_ONCE,
    COMPUTING,
    IN_FLIGHT_EACH,
    LARGE_EACH,
    RECENTLY,
    SLOW,
    STREAMS,
    STREAMS_EACH,
)
from dikin.service.metrics import Metrics
from dikin.service.problems import Problem
from dikin.service.workers import Account


class Visitors(Account):
    """What every visitor has under way."""

    def __init__(self, metrics: Metrics, rate: float) -> None:
        self._metrics, self._rate = metrics, rate
        self._in_flight: Counter[str] = Counter()
        self._large: Counter[str] = Counter()
        self._streams: Counter[str] = Counter()
        self._allowed: dict[str, tuple[float, float]] = {}
        """Requests that each visitor may send at once, and when that was so."""
        self._computed: dict[str, tuple[float, float]] = {}
        """Seconds that the threads of studies computed for each visitor, less what has been worked
        off since, and when that was so."""
        self._recent: dict[str, tuple[float, float]] = {}
        """The same, of the last seconds: all of it is forgotten in time."""
        self._waits: dict[str, dict[int, float]] = {}
        """When the requests of each visitor that wait for a study began to, the oldest first."""
        self._numbers = count()
        self._lock = threading.Lock()

    @contextmanager
    def request(self, token: str | None, large: bool) -> Iterator[None]:
        """Count a request of a token while it is answered; without tokens there is no limit."""
        if token is None:
            yield
            return
        self._refuse_many(token, large)
        self._in_flight[token] += 1
        self._large[token] += large
        try:
            yield
        finally:
            self._in_flight[token] -= 1
            self._large[token] -= large

    def _refuse_many(self, token: str, large: bool) -> None:
        if self._in_flight[token] >= IN_FLIGHT_EACH:
            raise _too_many(
                f"token {token!r} has {IN_FLIGHT_EACH} requests under way, which is the most", 1
            )
        if large and self._large[token] >= LARGE_EACH:
            raise _too_many(
                f"token {token!r} has {LARGE_EACH} requests with large answers under way, which is "
                "the most",
                1,
            )
        now = time.monotonic()
        self.refuse_greedy(token)
        allowed, then = self._allowed.get(token, (self._rate, now))
        allowed = min(self._rate, allowed + self._rate * (now - then))
        if allowed < 1.0:
            raise _too_many(
                f"token {token!r} sent more than {self._rate:g} requests a second, which is the "
                "most (dikin serve --rate)",
                ceil((1.0 - allowed) / self._rate),
            )
        self._allowed[token] = allowed - 1.0, now

    def charge(self, visitor: str, seconds: float) -> None:
        """Note that something was computed for a token; called by the threads that did it."""
        with self._lock:
            now = time.monotonic()
            before, then = self._computed.get(visitor, (0.0, now))
            self._computed[visitor] = before + seconds, then
            self._recent[visitor] = self._computed_recently(visitor, now) + seconds, now

    def begin(self, visitor: str) -> int:
        """Note that a visitor waits for a study from now on; the number of this wait."""
        number = next(self._numbers)
        with self._lock:
            self._waits.setdefault(visitor, {})[number] = time.monotonic()
        return number

    def end(self, visitor: str, number: int) -> None:
        """Note that the wait of this number has ended."""
        with self._lock:
            waits = self._waits[visitor]
            del waits[number]
            if not waits:
                del self._waits[visitor]

    def refuse_greedy(self, visitor: str) -> None:
        """Refuse a token that has had more than its share, if others have requests waiting.

        Asked when a request comes and again when its turn has come: the cost of a request is known
        only afterwards. Without tokens nobody is refused.
        """
        if visitor:
            self._refuse_beyond_share(visitor)
            self._refuse_ahead_of_slow(visitor)

    def _refuse_beyond_share(self, visitor: str) -> None:
        now, in_flight = time.monotonic(), dict(self._in_flight)
        waiting = sum(
            count > self._streams[each] for each, count in in_flight.items() if each != visitor
        )
        share = COMPUTING / (1 + waiting)
        with self._lock:
            computed, then = self._computed.get(visitor, (0.0, now))
            computed = max(0.0, computed - share * (now - then))
            self._computed[visitor] = computed, now
        if waiting and computed > COMPUTED_AT_ONCE:
            raise _too_many(
                f"what token {visitor!r} asked for took {computed:.1f} seconds to compute, and "
                "others wait",
                ceil((computed - COMPUTED_AT_ONCE) / share),
            )

    def _refuse_ahead_of_slow(self, visitor: str) -> None:
        """On a busy machine a share of the clock may be all there is: compare with those who wait.

        Who has computed least of them sets the pace.
        """
        with self._lock:
            now = time.monotonic()
            slow = [
                self._computed_recently(each, now)
                for each, waits in self._waits.items()
                if each not in ("", visitor) and now - next(iter(waits.values())) > SLOW
            ]
            recently = self._computed_recently(visitor, now)
        if slow and recently > min(slow) + AHEAD:
            raise _too_many(
                f"what token {visitor!r} asked for took {recently:.1f} of the last seconds to "
                "compute, and others have waited for long",
                1,
            )

    def _computed_recently(self, visitor: str, now: float) -> float:
        seconds, then = self._recent.get(visitor, (0.0, now))
        return seconds * exp((then - now) / RECENTLY)

    @contextmanager
    def stream(self, visitor: str) -> Iterator[None]:
        """Count a stream of events for as long as it lasts, from before it is looked for."""
        if self._streams.total() >= STREAMS or self._streams[visitor] >= STREAMS_EACH:
            raise _too_many(
                f"at most {STREAMS} pages can watch at a time, {STREAMS_EACH} per visitor; "
                "close some",
                10,
            )
        self._streams[visitor] += 1
        try:
            with self._metrics.streams.track_inprogress():
                yield
        finally:
            self._streams[visitor] -= 1


def _too_many(what: str, seconds: int) -> Problem:
    return Problem(
        429, "busy", f"{what}; wait {seconds} s and send it again", {"Retry-After": str(seconds)}
    )
