"""The ASGI application: `Service(store)`.

`dikin serve` refuses to listen beyond this machine without tokens, and limits connections.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, replace
from importlib.resources import files
from itertools import count, repeat
from typing import Annotated, Any
from urllib.parse import unquote

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Router
from starlette.types import Receive, Scope, Send

import dikin
from dikin.arguments import whole
from dikin.errors import (
    DikinError,
    MissingExtraError,
    ParameterError,
    RequestError,
    StateError,
    StoreError,
    UnknownStudyError,
    did_you_mean,
    shortened,
    shown,
)
from dikin.loading import restore
from dikin.serialization import plain, read_json
from dikin.service import limits, openapi
from dikin.service.access import Gate, Quotas
from dikin.service.endpoints import OPERATIONS, STATUS, STUDY, Endpoint, Limit, operation
from dikin.service.metrics import MEDIA_TYPE, Metrics
from dikin.service.problems import Problem
from dikin.service.studies import OpenStudies, StuckError
from dikin.service.tokens import Access, TokenCheck, TokenStore
from dikin.status import Status
from dikin.studies.arguments import AT_ONCE, printable
from dikin.studies.database import open_database
from dikin.studies.operations import (
    FLAG,
    TEXT,
    TUNER_CALL,
    Schema,
    list_of,
    or_null,
    record,
    schema_of,
)
from dikin.studies.study import Study
from dikin.tuning.parameters.description import parameter_from_spec
from dikin.tuning.tuner import Tuner

PAGE = files("dikin.service") / "page"
TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}
HEADERS = {  # of every answer
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}

Seen = Status | tuple[str, str]  # the status of a study, or its name and why it cannot be read

ENCODE = json.JSONEncoder(allow_nan=False).encode
log = logging.getLogger("dikin.service")


@dataclass
class Visit:
    """A request, as far as it was understood: the log has it."""

    request: Request
    id: str
    began: float
    route: str = "other"
    access: Access | None = None
    study: str | None = None
    code: str | None = None


class Service:
    """The service of one store: an ASGI application.

    The head of a request decides if it may be answered. Its body is read afterwards.
    """

    def __init__(
        self,
        store: str,
        patience: float = limits.PATIENCE,
        deadline: float = limits.ANSWER_SECONDS,
        rate: float = limits.REQUESTS_A_SECOND,
        largest_request: int = limits.LARGEST_REQUEST,
    ) -> None:
        database = open_database(store, patience)
        self._addresses = [database.name, store]
        if database.path is not None:
            self._addresses += [str(database.path), str(database.path.parent)]
        self._addresses = [each for each in self._addresses if len(each) > 1]  # not "/"
        self.store, self._largest = store, largest_request
        self.metrics, self.quotas = Metrics(), Quotas(rate)
        self.studies = OpenStudies(store, patience, deadline)
        self.metrics.stuck.set_function(lambda: self.studies.stuck)
        tokens = TokenStore(store)
        self.gate = Gate(lambda: self.studies.apart(lambda: TokenCheck(tokens.all())))
        self.is_closing: Callable[[], bool] = lambda: False  # True as it shuts down
        self._seen: dict[str, tuple[Any, Seen, float]] = {}
        """The last rows and the status of each study, and when it was read."""
        self._reading: asyncio.Future[None] | None = None
        self._ids = count(secrets.randbits(32))  # they differ, also from those before a restart
        self._router = Router(lifespan=self._lifespan)

    @asynccontextmanager
    async def _lifespan(self, _: Any) -> AsyncIterator[None]:
        yield
        if self._reading is not None:
            self._reading.cancel()
        await asyncio.to_thread(self.studies.close)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._router(scope, receive, send)
            return
        request, id = Request(scope, receive), f"{next(self._ids) % 2**32:08x}"
        visit = Visit(request, id, time.perf_counter())
        try:
            response = await self._answer(visit)
        except ClientDisconnect:
            self._note(visit, 499)
            return
        except (Exception, asyncio.CancelledError) as error:
            response = self._problem(visit, error).response()
            if response.status_code in (408, 413) or _is_large(request.headers):
                response.headers["Connection"] = "close"  # the rest of the body is not read
        for name, text in HEADERS.items():
            response.headers.setdefault(name, text)
        response.headers["X-Request-Id"] = id
        self._note(visit, response.status_code)
        await response(scope, receive, send)

    async def _answer(self, visit: Visit) -> Response:
        request = visit.request
        headers, method = request.headers, request.method
        if len(headers.getlist("host")) != 1 or len(headers.getlist("authorization")) > 1:
            raise Problem(400, "a request has one Host, and Authorization once at most")
        # The undecoded path: the name of a study may contain a slash, which is written as %2F.
        raw: bytes = request.scope.get("raw_path") or request.scope["path"].encode()
        asked, name = _find(method, raw.partition(b"?")[0].decode("latin-1"))
        visit.route = asked.path
        if asked.right is not None:
            server = str((request.scope.get("server") or ("", None))[0])
            visit.access = await self.gate.access(method, headers, server)
            visit.study = None if name is None else _decoded(name)
            visit.access.refuse_unless(asked.right, visit.study)
            async with self.quotas.request(visit.access.name):
                given = await self._arguments(asked, visit)
                if asked.name in OPERATIONS:
                    return await self._at_study(asked, visit, given)
                answered = await asked.act(self, visit, **given)
        else:
            answered = await asked.act(self, visit)
        return answered if isinstance(answered, Response) else _json(answered)

    async def _arguments(self, asked: Endpoint, visit: Visit) -> dict[str, Any]:
        given: dict[str, Any] = {}
        request, token = visit.request, visit.access and visit.access.name
        for name, text in request.query_params.multi_items():
            if name in given:
                raise RequestError(f"{shown(name)} occurs twice in the query; give it once")
            kind = asked.in_query.get(name, {}).get("type")
            given[name] = text if kind == "string" else _value(text)
        if given or asked.in_query:
            _refuse_others(asked, given, "query", asked.in_query)
        sent = await self._sent(request)
        size = len(sent) / limits.BYTES_A_CALL
        if token is not None:
            self.quotas.charge(token, size, 1.0)
        small = len(sent) <= limits.READ_AT_ONCE
        body = _read(sent) if small else await self.studies.apart(_read, sent)
        if body and not asked.in_body:
            raise RequestError("this endpoint takes no body; send none")
        if body is None and any(name in asked.in_body for name in asked.required):
            raise RequestError("the body is missing")
        if body is not None and asked.in_body:
            _refuse_others(asked, body, "body", asked.in_body)
            given |= body
        for name, header in asked.headers.items():
            if header in request.headers:
                given[name] = printable(_utf8(request.headers[header]), header)
        n = given.get("n", 1) if asked.name == "ask" else 1
        if token is not None and n in range(2, AT_ONCE + 1):  # others are refused without any work
            self.quotas.charge(token, n - 1, 1.0 + size)
        return given

    def _at_study(
        self, asked: Endpoint, visit: Visit, given: dict[str, Any]
    ) -> Awaitable[Response]:
        old = visit.request.headers.get("if-none-match")

        def act(study: Study) -> Response:
            if asked.version is None:
                return _json(asked.act(study, **given))
            version = f'"{asked.version(study, **given)}"'
            headers = {"etag": version, "cache-control": "no-cache"}
            if version == old:
                return Response(status_code=304, headers=headers)
            return _json(asked.act(study, **given), headers=headers)

        token, client = visit.access and visit.access.name, None
        if asked.method != "GET":  # who asked or told, for the journal
            header = visit.request.headers.get("dikin-client")
            own_name = None if header is None else printable(_utf8(header), "Dikin-Client")
            client = "/".join(filter(None, (token, own_name)))[:150] or "http"
        return self.studies.do(str(visit.study), act, client, token)

    async def _sent(self, request: Request) -> bytearray:
        """Return the bytes of the body. A slow client delays only itself."""
        headers = request.headers
        length = headers.get("content-length", "0")
        if "transfer-encoding" in headers and "content-length" in headers:
            raise Problem(400, "a body has a length or a transfer encoding, not both")
        body = bytearray()
        if "transfer-encoding" not in headers and length == "0":
            return body
        if length.isdecimal() and int(length) > self._largest:
            raise self._too_large()
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            got = repr(kind[:80]) if kind else "none"
            raise Problem(
                415, f"a body must be JSON, with Content-Type: application/json; got {got}"
            )
        if headers.get("content-encoding", "identity").lower() != "identity":
            raise Problem(415, "a body must have no Content-Encoding; send it as it is")
        try:
            async with asyncio.timeout(limits.BODY_SECONDS):
                async for part in request.stream():
                    body += part
                    if len(body) > self._largest:
                        raise self._too_large()
        except TimeoutError:
            raise Problem(
                408, f"a request must be sent within {limits.BODY_SECONDS:g} seconds"
            ) from None
        return body

    def _too_large(self) -> Problem:
        return Problem(
            413,
            f"a request may have at most {self._largest:,} bytes (dikin serve --largest-request); "
            "this one has more and was not read",
        )

    # --- what became of it -----------------------------------------------------------------------

    def _problem(self, visit: Visit, error: BaseException) -> Problem:
        """Return the problem for whatever a request has raised."""
        closing = self.is_closing()
        if isinstance(error, asyncio.CancelledError) and not closing:
            raise error
        # A pool of threads that is shut down raises RuntimeError.
        if closing and isinstance(error, asyncio.CancelledError | RuntimeError):
            error = StoreError(
                "the service shuts down, and had to leave this request. Send it again: an answer "
                "counts once, and an ask under the same key is asked once"
            )
        if isinstance(error, UnknownStudyError):  # without the names that a visitor may not see
            error = UnknownStudyError(
                f"there is no study {visit.study!r}. To create one: PUT /v1/studies/NAME, or "
                "dikin.Study(url, name, tuner)"
            )
        if isinstance(error, DikinError):
            problem = Problem.of(error)
            problem.detail = self.without_store(problem.detail)
            if isinstance(error, MissingExtraError):
                problem.detail += " (on the machine of the service)"
        elif isinstance(error, Problem):
            problem = error
        else:
            log.error("fault", exc_info=error, extra={"fields": {"request": visit.id}})
            text = "internal error of the service; its log has the reason, under request "
            problem = Problem(500, text + visit.id, "internal")
        visit.code = problem.code
        return problem

    def without_store(self, text: str) -> str:
        """Return a message without the address of the database, which clients must not see."""
        for address in self._addresses:
            text = text.replace(address, "the store")
        return text

    def _note(self, visit: Visit, status: int) -> None:
        # The pattern of the path and not the path itself: a secret in it must not reach the log.
        # A client may send any word as a method, too.
        seconds = time.perf_counter() - visit.began
        method = "other" if visit.route == "other" else visit.request.method
        self.metrics.requests.labels(method, visit.route, str(status)).observe(seconds)
        if log.isEnabledFor(logging.INFO):
            client = visit.request.client
            fields = {
                "request": visit.id,
                "method": method,
                "route": visit.route,
                "study": visit.study,
                "token": visit.access and visit.access.name,
                "client": client and client.host,
                "status": status,
                "code": visit.code,
                "milliseconds": round(1000 * seconds, 2),
            }
            log.info("request", extra={"fields": fields})

    # --- studies ---------------------------------------------------------------------------------

    async def names(self, access: Access | None) -> list[str]:
        """Return the studies that a visitor may see, in order."""
        names = await self.studies.apart(Study.names, self.store)
        return sorted(name for name in names if access is not None and access.covers(name))

    async def statuses(self, names: list[str]) -> list[Seen]:
        """Return the status of each study, or its name and why it cannot be read."""
        await self._read(names)
        return self._known(names)

    async def known_statuses(self, names: list[str]) -> list[Seen]:
        """Return the last known statuses of these studies, after a short wait for new ones.

        Statuses that take longer are read meanwhile, for the next call.
        """
        if self._reading is None or self._reading.done():
            self._reading = asyncio.ensure_future(self._read())
        await asyncio.wait([self._reading], timeout=limits.SCRAPE_SECONDS)
        if self._reading.done():
            self._reading.result()
        return self._known(names)

    async def _read(self, names: list[str] | None = None) -> None:
        """Read the status of each study that has new rows, by default of all."""
        heads = await self.studies.apart(_heads, self.store)
        self._seen = {name: seen for name, seen in self._seen.items() if name in heads}
        for name in heads if names is None else names:
            head, now = heads.get(name), time.monotonic()
            known, last, since = self._seen.get(name, (None, None, now))
            fresh = known == head and now - since <= limits.STATUS_SECONDS
            if isinstance(last, Status) and fresh:
                continue

            def look(study: Study, head: Any = head) -> Status:
                return study._ledger.status(head)

            try:
                seen: Seen = await self.studies.do(name, look)
            except DikinError as error:
                seen = name, shortened(self.without_store(str(error)))
            self._seen[name] = head, seen, now

    def _known(self, names: list[str]) -> list[Seen]:
        now = time.monotonic()
        return [_aged(*self._seen[name][1:], now) for name in names if name in self._seen]


def _aged(seen: Seen, since: float, now: float) -> Seen:
    """Return a status that was read before, with the ages of now."""
    if not isinstance(seen, Status):
        return seen
    oldest = replace(seen.open, oldest_seconds=seen.open.oldest_seconds + now - since)
    return replace(seen, open=oldest, last_told_seconds=seen.last_told_seconds + now - since)


def _heads(store: str) -> dict[str, tuple[int, int, int]]:
    """Return id, last row and epoch of each study: they change with each row."""
    with closing(open_database(store, limits.PATIENCE)) as database:
        if not database.has_table("dikin_study"):
            return {}
        rows = database.run("SELECT name, id, head, epoch FROM dikin_study")
        return {name: (id, n, epoch) for name, id, n, epoch in rows}


# --- from and to JSON ----------------------------------------------------------------------------


def _decoded(name: str) -> str:
    try:
        return printable(unquote(name, errors="strict"), "name")
    except UnicodeDecodeError as reason:
        raise RequestError(f"the name of the study is not UTF-8: {reason}") from reason


def _utf8(header: str) -> str:
    """Return the text of a header: it is decoded as Latin-1, and most clients mean UTF-8."""
    try:
        return header.encode("latin-1").decode()
    except UnicodeDecodeError:
        return header


def _is_large(headers: Mapping[str, str]) -> bool:
    length = headers.get("content-length", "0")
    return len(length) > len(str(limits.READ_AT_ONCE)) or "transfer-encoding" in headers


def _read(body: bytes | bytearray) -> Any:
    """Return the value of a body, or raise a problem if it cannot be read."""
    if not body:
        return None
    try:
        value = read_json(body.decode())  # what NaN cannot be, the library says
    except ValueError as reason:
        raise Problem(400, f"the body is not JSON: {reason}") from reason
    parts: list[tuple[Any, int]] = [(value, 1)]
    while parts:
        each, depth = parts.pop()
        if isinstance(each, dict):
            if len(each) > limits.MOST_KEYS:
                raise RequestError(
                    f"an object in a body has at most {limits.MOST_KEYS:,} keys, and one has "
                    f"{len(each):,}; send fewer"
                )
            each = list(each.values())
        if isinstance(each, list):
            if depth > limits.DEEPEST_REQUEST:
                raise RequestError(
                    f"lists and objects are nested more than {limits.DEEPEST_REQUEST} levels deep; "
                    "send fewer levels"
                )
            parts += zip(each, repeat(depth + 1))
    return value


def _refuse_others(asked: Endpoint, given: Any, place: str, known: dict[str, Schema]) -> None:
    """Refuse arguments from a body or a query that are unknown, or missing."""
    if not isinstance(given, dict):
        got = shown(given)
        raise RequestError(f"the {place} must be a JSON object such as {{...}}, got {got}")
    unknown = set() if asked.is_open else given.keys() - known.keys()
    missing = known.keys() & asked.required - given.keys()
    if not (unknown or missing):
        return
    faults = [
        f"{shown(name)} is not known in the {place}."
        f"{did_you_mean(name, known) if known else ' This takes none.'}"
        for name in sorted(unknown)[:FAULTS]
    ]
    if len(unknown) > FAULTS:
        faults.append(f"and {len(unknown) - FAULTS:,} more")
    faults += [f"{name} is missing in the {place}" for name in sorted(missing)]
    raise RequestError("; ".join(fault.removesuffix(".") for fault in faults))


def _value(text: str) -> Any:
    """Return the value of a text in a query, or the text itself if it is not JSON."""
    try:
        return read_json(text)
    except ValueError:
        return text


def _json(answer: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    content = "{}" if answer is None else ENCODE(plain(answer))
    return Response(content, status, headers, media_type="application/json")


# --- endpoints beside the operations of a study --------------------------------------------------

OTHERS: dict[str, Endpoint] = {}
"""Operations of the service; each is a function of the service and of the visit."""
HEALTH = record(ok=FLAG)
STUDIES = record(
    studies=list_of({"anyOf": [STATUS, record(name=TEXT, problem=TEXT)]}), next=or_null(TEXT)
)
TUNER_EXAMPLE = (
    '{"tuner": {"price": {"low": 1, "high": 14, "start": 4}}, "maximize": true, "seed": 7}'
)
FAULTS = 5  # of one request, that an error lists
MOST_LISTED = 100
"""Studies in one answer."""


@operation("GET", "read", path="/v1/token", answer=schema_of(Access), table=OTHERS)
async def token(service: Service, visit: Visit) -> Any:
    """Return the rights of this client: the name of its token, its right, its studies."""
    assert visit.access is not None
    return visit.access._asdict()


@operation("GET", "read", path="/v1/studies", answer=STUDIES, table=OTHERS)
async def list_(
    service: Service,
    visit: Visit,
    after: Annotated[str, "Only names after this one."] = "",
    limit: Limit = 50,
) -> Any:
    """Return the status of each study, in the order of their names."""
    most = min(whole(limit, "limit", 1, "how many"), MOST_LISTED)
    names = [name for name in await service.names(visit.access) if name > after]
    found = await service.statuses(names[:most])
    studies = [
        each.to_json() if isinstance(each, Status) else {"name": each[0], "problem": each[1]}
        for each in found
    ]
    return {"studies": studies, "next": names[most - 1] if len(names) > most else None}


@operation("PUT", "admin", path=STUDY, answer=STATUS, table=OTHERS)
async def create(
    service: Service,
    visit: Visit,
    tuner: Annotated[dict[str, Any] | None, "Name and range of each parameter."] = None,
    state: Annotated[dict[str, Any] | None, "The result of `Tuner.state`, alone."] = None,
    **more: Any,
) -> Any:
    """Create a study (201), or find it with the same tuner (200).

    All arguments of `dikin.Tuner` are accepted next to `tuner`.
    """
    name = str(visit.study)
    if name in (".", ".."):
        raise RequestError(f"a study cannot be called {name!r}: in a URL that means a folder")
    spec = more | {k: v for k, v in {"tuner": tuner, "state": state}.items() if v is not None}

    def make() -> bool:
        with Study(service.store, name, _tuner(spec)) as study:
            return study.created

    created = await service.studies.apart(make)
    status = await service.studies.do(name, Study.status)
    return _json(status, 201 if created else 200)


def tuner_from_spec(spec: dict[str, Any]) -> Tuner:
    """Return the tuner that a JSON object describes."""
    arguments = dict(spec)
    entries = arguments.pop("tuner", None)
    if not isinstance(entries, dict):
        raise ParameterError(
            "a tuner is described by a JSON object of parameters by name, such as "
            f"{TUNER_EXAMPLE}, got {shown(spec)}"
        )
    parameters = {name: parameter_from_spec(name, each) for name, each in entries.items()}
    known = TUNER_CALL.arguments.keys() - {"parameters"}
    for name in arguments.keys() - known:
        raise ParameterError(f"Tuner has no argument {shown(name)}.{did_you_mean(name, known)}")
    return Tuner(parameters, **arguments)


def _tuner(spec: dict[str, Any]) -> Tuner:
    try:
        if set(spec) == {"state"}:
            tuner = restore(spec["state"])
        else:
            tuner = tuner_from_spec(spec) if "tuner" in spec else None
    except (StateError, ArithmeticError, TypeError, ValueError) as error:
        if isinstance(error, DikinError) and not isinstance(error, StateError):
            raise
        # The client's mistake: not a damaged study, and not a fault of the service.
        raise RequestError(f"the state or description cannot be used: {error}") from error
    if not isinstance(tuner, Tuner):
        raise RequestError(
            f"a study holds a tuner: send its parameters, such as {TUNER_EXAMPLE}, or the state of "
            "a tuner alone; learners without parameters have no studies. Nothing was created"
        )
    return tuner


OTHERS["create"].in_body |= {
    n: each for n, each in TUNER_CALL.arguments.items() if n != "parameters"
}


@operation("DELETE", "admin", path=STUDY, table=OTHERS)
async def delete(service: Service, visit: Visit) -> Any:
    """Remove a study with its whole history."""
    await service.studies.apart(Study.delete, service.store, str(visit.study))
    return Response(status_code=204)


@operation("GET", "read", path="/metrics", answer=TEXT, table=OTHERS)
async def metrics(service: Service, visit: Visit) -> Any:
    """Return rounds, values, failures and open trials of all studies, and requests."""
    studies = await service.known_statuses(await service.names(visit.access))
    text = await asyncio.to_thread(service.metrics.text, studies)
    return Response(text, media_type=MEDIA_TYPE)


@operation("GET", None, path="/healthz", answer=HEALTH, table=OTHERS)
async def healthz(service: Service, visit: Visit) -> Any:
    """Return whether the process answers."""
    return {"ok": True}


@operation("GET", None, path="/readyz", answer=HEALTH, table=OTHERS)
async def readyz(service: Service, visit: Visit) -> Any:
    """Return whether the database answers too, and all open studies do.

    Everybody may ask, so the answer has neither names nor addresses. The log has them.
    """
    try:
        await service.gate.check()
    except DikinError as error:
        reason = service.without_store(str(error))
        log.warning("not ready", extra={"fields": {"reason": reason}})
        raise StoreError("the database is unavailable; the log of the service says why") from error
    if service.studies.stuck:
        raise StuckError(
            f"{service.studies.stuck} of the open studies have not answered for "
            f"{service.studies.deadline:g} seconds; does the database answer?"
        )
    return {"ok": True}


@operation("GET", None, path="/openapi.json", table=OTHERS)
async def openapi_(service: Service, visit: Visit) -> Any:
    """Return the OpenAPI file."""
    return document()


@operation("GET", None, path="/", table=OTHERS)
async def index(service: Service, visit: Visit) -> Any:
    """Return the page."""
    text = (PAGE / "index.html").read_text(encoding="utf-8")
    return Response(text.replace("{version}", dikin.__version__), media_type="text/html")


@operation("GET", None, path="/page/{name}", table=OTHERS)
async def page_file(service: Service, visit: Visit) -> Any:
    """Return a file of the page."""
    name = visit.request.scope["path"].rpartition("/")[2]
    path = {each.name: each for each in PAGE.iterdir()}.get(name)
    kind = TYPES.get(os.path.splitext(name)[1])
    if path is None or kind is None:
        raise _not_found()
    return Response(path.read_bytes(), media_type=kind)


def document() -> dict[str, Any]:
    """Return the OpenAPI file."""
    every = (*OTHERS.values(), *OPERATIONS.values())
    named = [each for each in every if each.answer or each.method == "DELETE"]
    return openapi.document(named, dikin.__version__)


ROUTES: dict[str, dict[str, Endpoint]] = {}  # all endpoints, by path and method
for _each in (*OTHERS.values(), *OPERATIONS.values()):
    ROUTES.setdefault(_each.path, {})[_each.method] = _each
for _path in ("/healthz", "/readyz"):
    ROUTES[_path]["HEAD"] = ROUTES[_path]["GET"]


def _find(method: str, path: str) -> tuple[Endpoint, str | None]:
    """Return the endpoint for a request and the name in its path, or raise a problem."""
    name = None
    for before in ("/v1/studies/", "/page/"):
        if path.startswith(before):
            name, slash, rest = path.removeprefix(before).partition("/")
            path = f"{before}{{name}}{slash}{rest}" if name else ""
    methods = ROUTES.get(path)
    if methods is None or (name is not None and "{name}" in name):
        raise _not_found()
    if method not in methods:
        text = f"{shown(method)} is not allowed at this path; /openapi.json lists the endpoints"
        raise Problem(405, text, Allow=", ".join(sorted(methods)))
    return methods[method], name


def _not_found() -> Problem:
    return Problem(404, "there is nothing at this path; /openapi.json lists the endpoints")
