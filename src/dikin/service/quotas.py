"""The limits of one token: its requests under way, and its requests in a second."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from math import ceil

from dikin.service.limits import IN_FLIGHT_EACH
from dikin.service.problems import TooManyError


class Quotas:
    """The requests that each token has under way, and those that it may still send at once."""

    def __init__(self, rate: float) -> None:
        self._rate = rate
        self._in_flight: Counter[str] = Counter()
        self._allowed: dict[str, tuple[float, float]] = {}
        """Requests that a token might send at once, and when that was so."""

    @contextmanager
    def request(self, token: str | None) -> Iterator[None]:
        """Count a request of a token while it is answered; without tokens there is no limit."""
        if token is None:
            yield
            return
        self._take(token)
        self._in_flight[token] += 1
        try:
            yield
        finally:
            self._in_flight[token] -= 1

    def _take(self, token: str) -> None:
        if self._in_flight[token] >= IN_FLIGHT_EACH:
            raise TooManyError(
                f"token {token!r} has {IN_FLIGHT_EACH} requests under way, which is the most", 1
            )
        now = time.monotonic()
        allowed, then = self._allowed.get(token, (self._rate, now))
        allowed = min(self._rate, allowed + self._rate * (now - then))
        if allowed < 1.0:
            raise TooManyError(
                f"token {token!r} sent more than {self._rate:g} requests a second, which is the "
                "most (dikin serve --rate)",
                ceil((1.0 - allowed) / self._rate),
            )
        self._allowed[token] = allowed - 1.0, now
