"""A study that a service keeps (`dikin serve`): the same methods and errors, over HTTP.

A request whose answer does not come is sent again until the client's patience ends. Nothing is
played twice: an ask carries a key of its own, and the same answer told again counts once.
"""

from __future__ import annotations

import json
import os
import secrets
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from http import HTTPStatus
from math import isfinite
from typing import Any, NoReturn, cast
from urllib.parse import quote, urlencode, urlsplit

import numpy as np
from numpy.typing import ArrayLike

from dikin import errors, extras
from dikin.arguments import frozen, whole
from dikin.errors import (
    AccessError,
    BusyError,
    CurvatureError,
    DikinError,
    ForecastError,
    LossError,
    ParameterError,
    StateError,
    StoreError,
    UnknownStudyError,
    shown,
)
from dikin.learners.base import Learner, Query, real_number, refuse_late_forecast
from dikin.serialization import number_or_nan
from dikin.studies.client_arguments import first_and_last, own_name, printable, seconds
from dikin.studies.history import in_parts, learner_table, tuner_table
from dikin.studies.jsonl import error_code
from dikin.studies.kept import OpenQuery, keep, whole_id
from dikin.studies.overview import Overview
from dikin.studies.rows import AskArguments, Question
from dikin.studies.study import Q, Standing, Study
from dikin.tuning.space import Params, Space
from dikin.tuning.summary import Summary
from dikin.tuning.tuner import Trial, Tuner
from dikin.vectors import Table

FIRST_PAUSE, LONGEST_PAUSE = 0.05, 0.5
"""Seconds between two attempts: doubled each time."""
PATIENCE = 30.0
"""Seconds, if nothing else is said: a service that is started again is there by then."""
FIRST_PATIENCE = 5.0
"""Seconds, where nothing is at stake yet: to find a study, or the names of all."""
CONNECT = 10.0
"""Seconds that a connection may take."""
SLOWEST = 5.0
"""Seconds that an answer may take at least, however small the patience is."""
LONG_WORK = 600.0
"""Seconds that a verification may take."""
PAGE = 1000
"""Rounds or open queries that are fetched in one request."""

CODES = {
    error_code(kind): kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, DikinError)
}
"""The errors of the library by the names that they have over HTTP."""


class NotAServiceError(StoreError):
    """Something else answers at the address; to repeat the request is of no use."""


class ServiceClient:
    """Sends requests to a service at an address."""

    def __init__(self, url: str, token: str | None, client: str, patience: float) -> None:
        urllib3 = extras.require("urllib3", "client", "a study at an address https://...")
        self.url, self.patience = _checked_address(url), patience
        self._failures = urllib3.exceptions.HTTPError
        self._pool = urllib3.PoolManager(maxsize=8, retries=False)
        self._timeout = urllib3.Timeout
        self._token = token if token is not None else os.environ.get("DIKIN_TOKEN")
        self.headers = {"Dikin-Client": client, "Accept": "application/json"}
        if self._token:
            self.headers["Authorization"] = f"Bearer {_checked_token(self._token)}"
        self.repeated = False
        """Whether the last request was sent more than once."""
        self._closed = False

    def close(self) -> None:
        """Close the connections."""
        self._closed = True
        self._pool.clear()

    def send(
        self,
        method: str,
        path: str,
        body: Any = None,
        headers: dict[str, str] | None = None,
        *,
        patience: float | None = None,
        slowest: float = SLOWEST,
    ) -> dict[str, Any]:
        """What the service answers; sent again while it is away or busy, up to the patience.

        `slowest` is how long an answer may take once the request is sent.
        """
        return self.answer(method, path, body, headers, patience=patience, slowest=slowest)[1]

    def answer(
        self,
        method: str,
        path: str,
        body: Any = None,
        headers: dict[str, str] | None = None,
        *,
        patience: float | None = None,
        slowest: float = SLOWEST,
    ) -> tuple[int, dict[str, Any]]:
        """As `send`, with the status."""
        if self._closed:
            raise StateError("this study was closed; open it again with Study(url, name)")
        wait = self.patience if patience is None else patience
        deadline, pause = time.monotonic() + wait, FIRST_PAUSE
        self.repeated = False
        while True:
            try:
                return self._send_once(method, path, body, headers or {}, max(wait, slowest))
            except NotAServiceError:
                raise
            except StoreError:
                if time.monotonic() + pause > deadline:
                    raise
            time.sleep(pause)
            pause, self.repeated = min(2 * pause, LONGEST_PAUSE), True

    def _send_once(
        self, method: str, path: str, body: Any, headers: dict[str, str], slowest: float
    ) -> tuple[int, dict[str, Any]]:
        # As UTF-8, which urllib3 does only with bytes.
        sent = {name: text.encode() for name, text in {**self.headers, **headers}.items()}
        if body is not None:
            sent["Content-Type"] = b"application/json"
        try:
            answer = self._pool.request(
                method,
                self.url + path,
                body=None if body is None else _as_json(body),
                headers=sent,
                redirect=False,
                timeout=self._timeout(connect=CONNECT, read=slowest),
            )
        except self._failures as reason:
            raise StoreError(
                f"{self.url} is away: {_reason(reason)}. Is the address right, and dikin serve "
                "running there? Then repeat the call: an answer counts once"
            ) from reason
        content = _read(answer.data, answer.headers.get("Content-Type", ""))
        if answer.status >= 400:
            self._refuse(answer.status, content)
        if answer.status == 204:
            return answer.status, {}
        if answer.status >= 300:
            where = answer.headers.get("Location", "nowhere")
            raise NotAServiceError(f"{self.url} sends its visitors to {where}: give that address")
        if not isinstance(content, dict):
            raise NotAServiceError(
                f"what answers at {self.url} is not a dikin service: it sent "
                f"{answer.headers.get('Content-Type', 'something of no type')}. Is it a proxy, or "
                "a page to sign in to?"
            )
        return answer.status, content

    def _refuse(self, status: int, content: Any) -> NoReturn:
        """Raise what the service refused a request with, as the library would have."""
        said = content if isinstance(content, dict) else {}
        detail = said.get("detail") or f"{self.url} answered with status {status}"
        if status in (401, 403):
            hint = "" if self._token else ". Here: token=..., or DIKIN_TOKEN"
            raise AccessError(f"{detail}{hint}")
        kind = CODES.get(said.get("code", ""))
        if kind is not None:
            raise kind(detail)
        if status in (429, 502, 503, 504):  # of a proxy before it, too
            raise BusyError(detail)
        raise DikinError(f"{self.url}: {detail}")


class RemoteStudy(Study[Q]):
    """A study that a service keeps; made by `dikin.Study("https://...", name)`."""

    def __init__(
        self,
        url: str | os.PathLike[str],
        name: str,
        learner: Learner | Tuner | None = None,
        *,
        client: str | None = None,
        patience: float | None = None,
        commit_within: float = 0.0,
        token: str | None = None,
    ) -> None:
        if commit_within:
            raise ParameterError(
                "commit_within is for a database of one's own: a service writes requests that "
                f"come at the same time together; got {shown(commit_within)}"
            )
        self.name = printable(name, "name")
        self._client = printable(client or own_name(), "client")
        wait = PATIENCE if patience is None else seconds(patience, "patience", 0.01, 600.0)
        self._service = ServiceClient(str(url), token, self._client, wait)
        self._path = "/v1/studies/" + quote(self.name, safe="")
        # An address that is wrong should not take so long to be found out.
        first = FIRST_PATIENCE if patience is None else wait
        method, body = (
            ("GET", None) if learner is None else ("PUT", {"state": keep(learner).state()})
        )
        status, seen = self._service.answer(method, self._path, body, patience=first)
        self.created = status == HTTPStatus.CREATED
        self.space = None if seen["space"] is None else Space.from_spec(seen["space"])

    @property
    def client(self) -> str:
        """What this client is called."""
        return self._client

    @client.setter
    def client(self, client: str) -> None:
        self._client = printable(client, "client")
        self._service.headers["Dikin-Client"] = self._client

    def _get(self, what: str = "", **query: Any) -> dict[str, Any]:
        asked = f"?{urlencode(query)}" if query else ""
        return self._service.send("GET", self._path + what + asked)

    def _post(
        self,
        what: str,
        body: Any,
        headers: dict[str, str] | None = None,
        slowest: float = SLOWEST,
    ) -> dict[str, Any]:
        return self._service.send("POST", self._path + what, body, headers, slowest=slowest)

    @classmethod
    def _names(cls, url: str | os.PathLike[str], token: str | None) -> list[str]:
        service = ServiceClient(str(url), token, own_name(), FIRST_PATIENCE)
        names, after = list[str](), ""
        while True:
            query = urlencode({"after": after, "limit": 100})
            page = service.send("GET", f"/v1/studies?{query}")
            names += [seen["name"] for seen in page["studies"]]
            if page["next"] is None:
                return names
            after = page["next"]

    @classmethod
    def _delete(cls, url: str | os.PathLike[str], name: str, token: str | None) -> None:
        service = ServiceClient(str(url), token, own_name(), FIRST_PATIENCE)
        try:
            service.send("DELETE", "/v1/studies/" + quote(name, safe=""))
        except UnknownStudyError:
            if not service.repeated:  # it was there when this was sent first
                raise

    def close(self) -> None:
        """Close the connections to the service; the study stays in it."""
        self._service.close()

    def __repr__(self) -> str:
        return f"<Study {self.name!r} at {self._service.url}>"

    # --- the game ------------------------------------------------------------------------------

    def ask(  # type: ignore[override]
        self,
        context: ArrayLike | None = None,
        *,
        n: int | None = None,
        forecast: float | None = None,
        key: str | None = None,
    ) -> Q | list[Q]:
        """Ask for what to play next, as `Study.ask`."""
        arguments = AskArguments.of(context, forecast)
        known = secrets.token_hex(16) if key is None else printable(key, "key")
        body: dict[str, Any] = {}
        if arguments.context is not None:
            body["context"] = np.asarray(arguments.context).tolist()
        if arguments.forecast is not None:
            body["forecast"] = _plain(arguments.forecast, "forecast", ForecastError)
        if n is None:
            return cast(Q, self._question(self._post("/ask", body, {"Idempotency-Key": known})))
        left, found = whole(n, "n", 1, "how many to ask for"), list[Q]()
        while left:
            body["n"] = min(left, PAGE)
            this = known if not found else f"{known}/{len(found)}"
            page = self._post("/ask", body, {"Idempotency-Key": this})["queries"]
            found += [cast(Q, self._question(each)) for each in page]
            left -= body["n"]
        return found

    def _question(self, asked: dict[str, Any]) -> Question:
        point = frozen(asked["point"], "point", np.ndim(asked["point"]))
        if self.space is None:
            return Query(asked["id"], point)
        params = self.space.params(point)
        return Trial(asked["id"], params, point, number_or_nan(asked["expected"]), asked["held"])

    def tell(
        self,
        query: Query | Trial | OpenQuery | int,
        loss: Any = None,
        curvature: float = 0.0,
        *,
        value: Any = None,
        forecast: None = None,
    ) -> None:
        """Answer a query or trial, as `Study.tell`."""
        refuse_late_forecast(forecast)
        body = self._named(query) | {"curvature": _plain(curvature, "curvature", CurvatureError)}
        called = "loss" if self.space is None else "value"
        for name, told in (("loss", loss), ("value", value)):
            if told is not None:
                body[name] = _plain(told, called, LossError)
        self._post("/tell", body)

    def forget(self, query: Query | Trial | OpenQuery | int) -> None:
        """Close a query or trial that will never be answered, as `Study.forget`."""
        self._post("/forget", self._named(query))

    def _named(self, query: Any) -> dict[str, Any]:
        """A query or trial as the service knows it: by its id and, where it is known, its point."""
        if isinstance(query, Query | Trial | OpenQuery):
            return {"id": query.id, "point": query.point.tolist()}
        return {"id": whole_id(query, "query" if self.space is None else "trial")}

    def hold(self) -> None:
        """Let the tuner play its best setting, and learn nothing until `resume`."""
        self._post("/hold", {})

    def resume(self) -> None:
        """Let the tuner explore and learn again."""
        self._post("/resume", {})

    def flush(self) -> None:
        """Do nothing: what the service has answered is durable."""

    # --- looking -------------------------------------------------------------------------------

    def overview(self) -> Overview:
        """What there is to say at one instant, as `Study.overview`."""
        seen = self._get()
        now, waiting = datetime.now(UTC), seen["open"]
        return Overview(
            learner=seen["learner"],
            rounds=seen["rounds"],
            center=np.array(seen["center"]),
            certificate=number_or_nan(seen["certificate"]),
            restarts=seen["restarts"],
            open_queries=waiting["count"],
            first_open=waiting["first"],
            oldest_asked=_ago(waiting["oldest_seconds"], now),
            asked=seen["asked"],
            last_told=_ago(seen["last_told_seconds"], now),
            summary=None if self.space is None else self.summary(),
        )

    def standing(self) -> Standing:
        """Rounds, center and certificate of the same instant."""
        seen = self._get()
        return Standing(
            seen["rounds"], np.array(seen["center"]), number_or_nan(seen["certificate"])
        )

    @property
    def first_round(self) -> int:
        """The first round whose history is kept."""
        return int(self._get()["first_round"])

    @property
    def restarts(self) -> int:
        """How often a range of losses that was not known had to be widened."""
        return int(self._get()["restarts"])

    def certificate_for(self, **constants: float) -> float:
        """Bound the regret for a constant that one believes in, as `Study.certificate_for`."""
        return number_or_nan(self._get("/certificate", **constants)["certificate"])

    @property
    def best(self) -> Params:
        """Today's best guess of a tuner by name."""
        return self.summary().best

    @property
    def held(self) -> bool:
        """Whether the tuner is on hold."""
        return self.summary().held

    def summary(self) -> Summary:
        """What there is to say of a tuner, as `Study.summary`."""
        said = self._get("/summary")
        numbers = ("recent_mean", "surprise", "exploring_cost", "outlook", "certificate")
        return Summary(**said | {name: number_or_nan(said[name]) for name in numbers})

    def waiting(self, after: int = -1, limit: int | None = None) -> list[OpenQuery]:
        """Read some of what waits for an answer, as `Study.waiting`."""
        found: list[OpenQuery] = []
        while limit is None or len(found) < limit:
            last = found[-1].id if found else after
            wanted = PAGE if limit is None else min(PAGE, limit - len(found))
            page = self._get("/open", after=last, limit=wanted)["queries"]
            found += [self._waiting(each) for each in page]
            if len(page) < wanted:
                break
        return found

    def _waiting(self, said: dict[str, Any]) -> OpenQuery:
        point = frozen(said["point"], "point", np.ndim(said["point"]))
        asked = datetime.fromisoformat(said["asked"])
        params = None if self.space is None else self.space.params(point)
        return OpenQuery(said["id"], point, said["client"], asked, params)

    def state(self) -> dict[str, Any]:
        """The state, for `dikin.restore`: a learner or tuner of its own, outside the study."""
        return self._get("/state")

    def facts(self) -> Iterator[tuple[str, str]]:
        """What there is to say, as names and texts, for a terminal or a page."""
        yield "service", self._service.url
        yield from map(tuple, self._get("/facts")["facts"])

    def history(self, first: int = 1, last: int | None = None) -> Table:
        """Read the rounds as a table, as `Study.history`."""
        space = self.space
        if space is not None:
            return in_parts(lambda told: tuner_table(told, space), self._rounds(first, last))
        shape = np.shape(self._get()["center"])
        return in_parts(lambda told: learner_table(told, shape), self._rounds(first, last))

    def records(self, first: int = 1, last: int | None = None) -> list[dict[str, Any]]:
        """Read some rounds as plain values, as `Study.records`."""
        return list(self._rounds(first, last))

    def _rounds(self, first: Any, last: Any) -> Iterator[dict[str, Any]]:
        begin: int | None
        begin, last = first_and_last(first, last)
        while begin is not None and (last is None or begin <= last):
            limit = PAGE if last is None else min(PAGE, last - begin + 1)
            page = self._get("/history", first=begin, limit=limit)
            for record in page["rounds"]:
                if last is not None and record["round"] > last:
                    return  # earlier ones were trimmed
                del record["params"]
                yield record
            begin = page["next"]

    # --- care ----------------------------------------------------------------------------------

    def verify(self, *, jobs: int = 1, progress: bool = False) -> int:
        """Let the service replay the whole journal, as `Study.verify`; it has one process for it.

        Parameters
        ----------
        jobs : int, default 1
            Taken, and left to the service.
        progress : bool, default False
            Taken: there is no bar of what another machine does.
        """
        whole(jobs, "jobs", 1, "how many processes")
        return int(self._post("/verify", {}, slowest=LONG_WORK)["rows"])

    def trim(self, before: int, *, progress: bool = False) -> int:
        """Remove the history of early rounds, as `Study.trim`."""
        before = whole(before, "before", 1, "the first round whose history is kept")
        return int(self._post("/trim", {"before": before}, slowest=LONG_WORK)["rows"])


def _plain(told: Any, what: str, error: type[DikinError]) -> Any:
    """A number, or what else a learner is told, as JSON can say it."""
    if isinstance(told, np.ndarray) and told.ndim:
        told = list(told)
    if isinstance(told, list | tuple):
        return [_plain(part, what, error) for part in told]
    if isinstance(told, bool | str | None):  # refused there, in the same words as elsewhere
        return told
    number = real_number(told, what, error)
    if not isfinite(number):  # JSON has no word for it
        raise error(
            f"the {what} must be a finite number, got {number}. Tell a number, or forget what was "
            "asked if its value was lost. Nothing was changed."
        )
    return number


def _as_json(body: Any) -> bytes:
    try:
        return json.dumps(body).encode()
    except (TypeError, ValueError, RecursionError) as reason:
        raise ParameterError(f"this cannot be sent to a service: {reason}") from reason


def _read(data: bytes, kind: str) -> Any:
    if "json" not in kind:
        return None
    try:
        return json.loads(data)
    except ValueError as reason:  # cut off on its way
        raise StoreError(f"the service answered with something that is not JSON: {reason}") from (
            reason
        )


def _checked_address(url: str) -> str:
    parts = urlsplit(url)
    if "@" in parts.netloc:
        raise ParameterError("the address of a service has no user and password: give token=...")
    if "/v1" in parts.path or parts.query or parts.fragment:
        raise ParameterError(
            f"give the address of the service alone, such as {parts.scheme}://{parts.netloc}; got "
            f"{shown(url)}"
        )
    return url.rstrip("/")


def _checked_token(token: Any) -> str:
    if not isinstance(token, str) or not token.isascii() or not token.isprintable():
        raise ParameterError("a token is the text that dikin token create printed")
    return token.strip()


def _reason(failure: BaseException) -> str:
    """The innermost reason of a failure, which says it in the fewest words."""
    text = str(getattr(failure, "reason", None) or failure)
    return text.rpartition(": ")[2] if "Failed to establish" in text else text


def _ago(seconds: float | None, now: datetime) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(now.timestamp() - seconds, UTC)
