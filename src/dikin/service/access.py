"""Access: visitors with a token, or from this machine alone, and limits of their requests."""

from __future__ import annotations

import asyncio
import re
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from http import HTTPStatus

from dikin.errors import AccessError
from dikin.service import limits
from dikin.service.problems import Problem
from dikin.service.tokens import EVERYTHING, Access, TokenCheck, is_loopback

SAFE = ("GET", "HEAD")
PROXIES = re.compile("^(forwarded|via|x-forwarded|x-real-ip|cf-connecting-ip|true-client-ip)", re.M)
"""Headers that a proxy adds to a request."""


class Gate:
    """The check of requests: with a token, or from this machine as long as no token exists."""

    def __init__(self, read: Callable[[], Awaitable[TokenCheck]]) -> None:
        self._read = read
        self._check: asyncio.Future[TokenCheck] | None = None
        self._fresh_until = 0.0
        self._guarded = False

    async def check(self) -> TokenCheck:
        """Return the tokens, or raise the error of reading them. Requests share each read."""
        now = time.monotonic()
        if self._check is None or (self._check.done() and now > self._fresh_until):
            self._check = asyncio.ensure_future(self._read())
            self._fresh_until = now + limits.TOKENS_FRESH
        return await asyncio.shield(self._check)

    async def access(self, method: str, headers: Mapping[str, str], server: str) -> Access:
        """Return the rights of a request, or raise a problem without any."""
        check = await self.check()
        # If there once were tokens, a missing table must not let everyone in.
        self._guarded = self._guarded or not check.open
        if not self._guarded:
            _refuse_strangers(method, headers, server)
            return EVERYTHING
        try:
            return check.access(headers.get("authorization"))
        except AccessError as error:
            raise Problem(401, str(error), "access", WWW_Authenticate="Bearer") from error


def _refuse_strangers(method: str, headers: Mapping[str, str], server: str) -> None:
    """Without tokens, answer only programs and pages on this machine.

    The address alone is not enough: a foreign page, open in a browser here, may send requests to
    this machine, and a proxy may forward them from anywhere.
    """
    host, origin = headers.get("host", ""), headers.get("origin")
    near = is_loopback(server) and is_loopback(_host(host))
    forwarded = PROXIES.search("\n".join(headers)) is not None
    foreign = origin is not None and origin.partition("://")[2] != host
    if not near or forwarded or (foreign and method not in SAFE):
        raise AccessError(
            "this service has no tokens, so it answers only the machine that it runs on. "
            "To let others in: dikin token create NAME --right read --url URL"
        )


def _host(header: str) -> str:
    """Return the host of a Host header such as `localhost:8000` or `[::1]:8000`."""
    if header.startswith("["):
        return header[1:].partition("]")[0]
    return header.partition(":")[0]


# --- how often -----------------------------------------------------------------------------------


class Quotas:
    """The requests that each token has under way, and the calls that it may still make at once.

    A call is charged if the token is not in debt, and may bring it into debt: a large request is
    answered, and delays the next ones.
    """

    def __init__(self, rate: float) -> None:
        self._rate = rate
        self._in_flight: Counter[str] = Counter()
        self._allowed: dict[str, tuple[float, float]] = {}
        """Calls that a token might make at once, negative for a debt, and when that was so."""

    @asynccontextmanager
    async def request(self, token: str | None) -> AsyncIterator[None]:
        """Count a request of a token while it is answered. Without a token nothing is counted."""
        if token is None:
            yield
            return
        if self._in_flight[token] >= limits.IN_FLIGHT_EACH:
            raise _too_many(
                f"token {token!r} has {limits.IN_FLIGHT_EACH} requests under way, the most", 1
            )
        self._in_flight[token] += 1
        try:
            self.charge(token, 1.0)
            yield
        except Problem as problem:
            if problem.status == HTTPStatus.TOO_MANY_REQUESTS:
                await asyncio.sleep(limits.REFUSAL_SECONDS)
            raise
        finally:
            self._in_flight[token] -= 1

    def charge(self, token: str, calls: float, before: float = 0.0) -> None:
        """Charge calls to a token; `before` were charged for the same request."""
        now = time.monotonic()
        allowed, then = self._allowed.get(token, (self._rate, now))
        allowed = min(self._rate, allowed + self._rate * (now - then))
        if allowed + before <= 0.0:
            raise _too_many(
                f"token {token!r} made more than {self._rate:g} calls a second, the most (dikin "
                "serve --rate)",
                int(-allowed / self._rate) + 1,
            )
        self._allowed[token] = allowed - calls, now


def _too_many(what: str, seconds: int) -> Problem:
    text = f"{what}; wait {seconds} s and send it again"
    return Problem(429, text, "busy", Retry_After=str(seconds))
