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
from math import ceil

from dikin.service.limits import (
    COMPUTED_AT_ONCE,
    COMPUTING,
    IN_FLIGHT_EACH,
    LARGE_EACH,
    LONG_EACH,
    STREAMS,
    STREAMS_EACH,
)
from dikin.service.metrics import Metrics
from dikin.service.problems import TooManyError
from dikin.service.workers import Account


class Visitors(Account):
    """What every visitor has under way."""

    def __init__(self, metrics: Metrics, rate: float) -> None:
        self._metrics, self._rate = metrics, rate
        self._in_flight: Counter[str] = Counter()
        self._large: Counter[str] = Counter()
        self._long: Counter[str] = Counter()
        self._streams: Counter[str] = Counter()
        self._allowed: dict[str, tuple[float, float]] = {}
        """Requests that each visitor may send at once, and when that was so."""
        self._computed: dict[str, tuple[float, float]] = {}
        """Seconds that the threads of studies computed for each visitor, less what has been worked
        off since, and when that was so."""
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
            raise TooManyError(
                f"token {token!r} has {IN_FLIGHT_EACH} requests under way, which is the most", 1
            )
        if large and self._large[token] >= LARGE_EACH:
            raise TooManyError(
                f"token {token!r} has {LARGE_EACH} requests with large answers under way, which is "
                "the most",
                1,
            )
        now = time.monotonic()
        self.refuse_greedy(token)
        allowed, then = self._allowed.get(token, (self._rate, now))
        allowed = min(self._rate, allowed + self._rate * (now - then))
        if allowed < 1.0:
            raise TooManyError(
                f"token {token!r} sent more than {self._rate:g} requests a second, which is the "
                "most (dikin serve --rate)",
                ceil((1.0 - allowed) / self._rate),
            )
        self._allowed[token] = allowed - 1.0, now

    @contextmanager
    def long_operation(self, token: str) -> Iterator[None]:
        """Count a verification or a trim of a token; without tokens there is no limit."""
        if token and self._long[token] >= LONG_EACH:
            raise TooManyError(f"token {token!r} has a verification or a trim under way", 10)
        self._long[token] += 1
        try:
            yield
        finally:
            self._long[token] -= 1

    def charge(self, visitor: str, seconds: float) -> None:
        """Note that something was computed for a token; called by the threads that did it."""
        with self._lock:
            before, then = self._computed.get(visitor, (0.0, time.monotonic()))
            self._computed[visitor] = before + seconds, then

    def refuse_greedy(self, visitor: str) -> None:
        """Refuse a token that has had more than its share, if others have requests waiting.

        Asked when a request comes and again when its turn has come: the cost of a request is known
        only afterwards. Without tokens nobody is refused.
        """
        now, in_flight = time.monotonic(), dict(self._in_flight)
        waiting = sum(
            count > self._streams[each] for each, count in in_flight.items() if each != visitor
        )
        share = COMPUTING / (1 + waiting)
        with self._lock:
            computed, then = self._computed.get(visitor, (0.0, now))
            computed = max(0.0, computed - share * (now - then))
            self._computed[visitor] = computed, now
        if visitor and waiting and computed > COMPUTED_AT_ONCE:
            raise TooManyError(
                f"what token {visitor!r} asked for took {computed:.1f} seconds to compute, and "
                "others wait",
                ceil((computed - COMPUTED_AT_ONCE) / share),
            )

    @contextmanager
    def stream(self, visitor: str) -> Iterator[None]:
        """Count a stream of events for as long as it lasts, from before it is looked for."""
        if self._streams.total() >= STREAMS or self._streams[visitor] >= STREAMS_EACH:
            raise TooManyError(
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
