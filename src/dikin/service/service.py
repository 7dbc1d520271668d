"""What the endpoints share: the store, the studies that are open, the tokens, the metrics."""

from __future__ import annotations

import asyncio
import ipaddress
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from starlette.datastructures import Headers
from starlette.requests import Request

from dikin.errors import AccessError, BusyError, DikinError
from dikin.service.glance import Glance, glance, unreadable
from dikin.service.metrics import Metrics
from dikin.service.problems import Problem
from dikin.service.tokens import EVERYTHING, Access, TokenCheck, TokenStore
from dikin.service.workers import Workers
from dikin.studies.database import open_database
from dikin.studies.study import Study

TOKENS_FRESH = 2.0
"""Seconds for which tokens that were read are believed: a revoked one is refused after these."""
SAFE = ("GET", "HEAD")
FORWARDED = ("forwarded", "x-forwarded-for", "x-real-ip")


class Service:
    """One store, served."""

    def __init__(self, store: str, patience: float) -> None:
        self.store = store
        self._store_name = open_database(store, patience).name
        self.metrics = Metrics()
        self.workers = Workers(store, patience)
        self.closing = asyncio.Event()
        """Set when the service ends: streams of events end then."""
        self._tokens = TokenStore(store)
        self._check: TokenCheck | None = None
        self._checked = 0.0
        self._reading = asyncio.Lock()
        self._under_way: set[tuple[str, str]] = set()

    def without_store(self, text: str) -> str:
        """A message without the address of the database, which is no matter of a client."""
        return text.replace(self._store_name, "the store").replace(self.store, "the store")

    # --- who may do what -------------------------------------------------------------------------

    async def access(self, request: Request) -> Access:
        """What a request may do; a problem if it may do nothing."""
        check = await self.tokens()
        if check.open:
            _refuse_strangers(request)
            return EVERYTHING
        try:
            return check.access(request.headers.get("authorization"))
        except AccessError as error:
            headers = {"WWW-Authenticate": "Bearer"}
            raise Problem(401, "access", str(error), headers) from error

    async def tokens(self) -> TokenCheck:
        """The tokens as they were a moment ago."""
        async with self._reading:
            if self._check is None or time.monotonic() - self._checked > TOKENS_FRESH:
                self._check = TokenCheck(await asyncio.to_thread(self._tokens.all))
                self._checked = time.monotonic()
            return self._check

    @contextmanager
    def alone(self, name: str, what: str) -> Iterator[None]:
        """Let something that takes long be done once at a time for a study."""
        if (name, what) in self._under_way:
            raise BusyError(f"a {what} of study {name!r} is under way; repeat this after it")
        self._under_way.add((name, what))
        try:
            yield
        finally:
            self._under_way.discard((name, what))

    # --- looking ---------------------------------------------------------------------------------

    async def names(self, access: Access) -> list[str]:
        """The studies that a visitor may see, in order."""
        names = await asyncio.to_thread(Study.names, self.store)
        return sorted(name for name in names if access.covers(name))

    async def glance(self, name: str) -> Glance:
        """A study at a glance."""
        worker = self.workers.of(name)
        return await self.workers.do(name, lambda study: glance(study, list(worker.warnings)))

    async def glances(self, names: list[str]) -> list[Glance]:
        """Studies at a glance; one that cannot be read says why."""
        return [await self._glance_or_problem(name) for name in names]

    async def _glance_or_problem(self, name: str) -> dict[str, Any]:
        try:
            return await self.glance(name)
        except DikinError as error:
            return unreadable(name, self.without_store(str(error)))


def _refuse_strangers(request: Request) -> None:
    """Without tokens, answer only to programs and pages of this very machine.

    The address alone is not enough: a page of somebody else, open in a browser here, may send
    requests to this machine, and a proxy may forward them from anywhere.
    """
    headers = request.headers
    server = request.scope.get("server") or ("", None)
    near = is_loopback(str(server[0])) and is_loopback(_host(headers.get("host", "")))
    forwarded = any(name in headers for name in FORWARDED)
    if not near or forwarded or _from_other_page(request.method, headers):
        raise AccessError(
            "this service has no tokens, so that it answers only to the machine that it runs on. "
            "To let others in: dikin token create NAME --right read"
        )


def _from_other_page(method: str, headers: Headers) -> bool:
    origin = headers.get("origin")
    foreign = origin is not None and origin.partition("://")[2] != headers.get("host")
    return method not in SAFE and foreign


def _host(header: str) -> str:
    """The host in the header of that name: `localhost:8000`, `[::1]:8000`."""
    if header.startswith("["):
        return header[1:].partition("]")[0]
    return header.partition(":")[0]


def is_loopback(host: str) -> bool:
    """Whether a host is this very machine."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
