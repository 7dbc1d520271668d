"""State that the endpoints share: the store, the open studies, the tokens, the metrics."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import time
from functools import lru_cache

from starlette.datastructures import Headers
from starlette.requests import Request

from dikin.errors import (
    AccessError,
    DikinError,
    MissingExtraError,
    StoreError,
    UnknownStudyError,
    did_you_mean,
    shortened,
)
from dikin.service.limits import ANSWER_SECONDS, PATIENCE, REQUESTS_A_SECOND, TOKENS_FRESH
from dikin.service.metrics import Metrics
from dikin.service.problems import Problem
from dikin.service.quotas import Quotas
from dikin.service.schemas import Unreadable
from dikin.service.tokens import EVERYTHING, Access, TokenCheck, TokenStore
from dikin.service.workers import StuckError, Workers
from dikin.status import Status
from dikin.studies.database import open_database
from dikin.studies.study import Study

log = logging.getLogger("dikin.service")
SAFE = ("GET", "HEAD")
PROXIES = ("forwarded", "via", "x-forwarded", "x-real-ip", "cf-connecting-ip", "true-client-ip")
"""Prefixes of the headers that a proxy adds to a request."""


class Service:
    """The service of one store."""

    def __init__(
        self,
        store: str,
        patience: float,
        deadline: float = ANSWER_SECONDS,
        rate: float = REQUESTS_A_SECOND,
    ) -> None:
        database = open_database(store, patience)
        self._addresses = [database.name, store]
        if database.path is not None:
            self._addresses += [str(database.path), str(database.path.parent)]
            self._addresses = [each for each in self._addresses if len(each) > 1]  # not "/"
        self.metrics = Metrics()
        self.quotas = Quotas(rate)
        self.workers = Workers(store, patience, deadline)
        self.metrics.stuck.set_function(self.workers.stuck)
        self.closing = asyncio.Event()
        """Set when the service shuts down: streams of events end then."""
        self._tokens = TokenStore(store)
        self._check: asyncio.Future[TokenCheck] | None = None
        self._fresh_until = 0.0
        self._guarded = False

    def check_store(self) -> None:
        """Refuse a store that cannot be read or created."""
        Study.names(self.workers.store)
        open_database(self.workers.store, PATIENCE).check_folder()

    async def refuse_unready(self) -> None:
        """Refuse while the database does not answer, or a study is stuck.

        Everybody may ask, so the answer has neither names nor addresses; the log has them.
        """
        try:
            await self._token_check()
        except DikinError as error:
            log.warning("not ready", extra={"fields": {"reason": self.without_store(str(error))}})
            raise StoreError("the database is unavailable; the log of the service says why") from (
                error
            )
        stuck = self.workers.stuck()
        if stuck:
            raise StuckError(
                f"{stuck} of the open studies have not answered for "
                f"{self.workers.deadline:g} seconds; does the database answer?"
            )

    # --- who may do what -------------------------------------------------------------------------

    async def access(self, request: Request) -> Access:
        """Return what a request may do; raise a problem if it may do nothing."""
        check = await self._token_check()
        # If there once were tokens, a missing table must not let everyone in.
        self._guarded = self._guarded or not check.open
        if not self._guarded:
            _refuse_strangers(request)
            return EVERYTHING
        try:
            return check.access(request.headers.get("authorization"))
        except AccessError as error:
            headers = {"WWW-Authenticate": "Bearer"}
            raise Problem(401, "access", str(error), headers) from error

    async def _token_check(self) -> TokenCheck:
        """Return the tokens, or raise the error of reading them; requests share each read."""
        now = time.monotonic()
        if self._check is None or (self._check.done() and now > self._fresh_until):
            self._check = asyncio.ensure_future(self._read_tokens())
            self._fresh_until = now + TOKENS_FRESH
        return await asyncio.shield(self._check)

    async def _read_tokens(self) -> TokenCheck:
        return TokenCheck(await self.workers.apart(self._tokens.all))

    # --- reading ---------------------------------------------------------------------------------

    async def names(self, access: Access) -> list[str]:
        """Return the studies that a visitor may see, in order."""
        return sorted(name for name in await self.workers.names() if access.covers(name))

    async def statuses(self, names: list[str]) -> list[Status | Unreadable]:
        """Return the status of each study, or why it cannot be read."""
        found: list[Status | Unreadable] = []
        for name in names:
            try:
                found.append(await self.workers.status(name))
            except DikinError as error:
                problem = shortened(self.without_store(str(error)))
                found.append(Unreadable(name=name, problem=problem))
        return found

    # --- errors ----------------------------------------------------------------------------------

    def without_store(self, text: str) -> str:
        """Return a message without the address of the database, which clients must not see."""
        for address in self._addresses:
            text = text.replace(address, "the store")
        return text

    def problem(self, error: DikinError) -> Problem:
        """Return the problem that a client gets for an error."""
        problem = Problem.of(error)
        problem.detail = self.without_store(problem.detail)
        if isinstance(error, MissingExtraError):
            problem.detail += " (on the machine of the service)"
        return problem

    async def problem_for(self, error: DikinError, access: Access, study: str | None) -> Problem:
        """Return the same, without names of studies that this visitor may not see."""
        if isinstance(error, UnknownStudyError) and study is not None:
            names = await self.names(access)
            others = await asyncio.to_thread(did_you_mean, study, names) if names else ""
            error = UnknownStudyError(
                f"there is no study {study!r}.{others} To create one: PUT /v1/studies/NAME, or "
                "dikin.Study(url, name, tuner)"
            )
        return self.problem(error)


def _refuse_strangers(request: Request) -> None:
    """Without tokens, answer only programs and pages on this machine.

    The address alone is not enough: a foreign page, open in a browser here, may send requests to
    this machine, and a proxy may forward them from anywhere.
    """
    headers = request.headers
    server = request.scope.get("server") or ("", None)
    near = is_loopback(str(server[0])) and is_loopback(_host(headers.get("host", "")))
    forwarded = any(name.startswith(PROXIES) for name in headers)
    if not near or forwarded or _from_other_page(request.method, headers):
        raise AccessError(
            "this service has no tokens, so it answers only the machine that it runs on. "
            "To let others in: dikin token create NAME --right read --url URL"
        )


def _from_other_page(method: str, headers: Headers) -> bool:
    origin = headers.get("origin")
    foreign = origin is not None and origin.partition("://")[2] != headers.get("host")
    return method not in SAFE and foreign


def _host(header: str) -> str:
    """Return the host of a Host header such as `localhost:8000` or `[::1]:8000`."""
    if header.startswith("["):
        return header[1:].partition("]")[0]
    return header.partition(":")[0]


@lru_cache(maxsize=1024)
def is_loopback(host: str) -> bool:
    """Return whether a host is this machine itself."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
