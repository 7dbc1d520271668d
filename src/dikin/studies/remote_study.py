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
from math import isfinite, nan
from typing import Any, NamedTuple, NoReturn, cast
from urllib.parse import quote, urlencode

import numpy as np
from numpy.typing import ArrayLike

from dikin import errors, extras, serialization
from dikin.arguments import frozen, whole
from dikin.errors import (
    AccessError,
    BusyError,
    CurvatureError,
    DikinError,
    ForecastError,
    LossError,
    ParameterError,
    StoreError,
    shown,
)
from dikin.learners.base import Learner, Query, refuse_late_forecast
from dikin.studies.history import Table, in_parts, learner_table, tuner_table
from dikin.studies.jsonl import error_code
from dikin.studies.kept import OpenQuery, keep
from dikin.studies.overview import Overview
from dikin.studies.rows import AskArguments, Question
from dikin.studies.study import PATIENCE, Q, Standing, Study, own_name, printable
from dikin.tuning.space import Params, Space
from dikin.tuning.summary import Summary
from dikin.tuning.tuner import Trial, Tuner

FIRST_PAUSE, LONGEST_PAUSE = 0.05, 1.0
"""Seconds between two attempts: doubled each time."""
SLOWEST = 600.0
"""Seconds that an answer may take once a connection stands: a verification takes long."""
PAGE = 1000
"""Rounds or open queries that are fetched in one request."""

CODES = {
    error_code(kind): kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, DikinError)
}
"""The errors of the library by the names that they have over HTTP."""


class Reply(NamedTuple):
    """An answer of the service."""

    status: int
    content: Any


class Service:
    """A service at an address, and what it knows this client by."""

    def __init__(self, url: str, token: str | None, client: str, patience: float) -> None:
        urllib3 = extras.require("urllib3", "client", "a study at an address https://...")
        self.url, self.patience = url.rstrip("/"), patience
        self._failures = urllib3.exceptions.HTTPError
        self._pool = urllib3.PoolManager(maxsize=8, retries=False)
        self._headers = {"Dikin-Client": client, "Accept": "application/json"}
        known = token if token is not None else os.environ.get("DIKIN_TOKEN")
        if known:
            self._headers["Authorization"] = f"Bearer {_checked_token(known)}"
        self._connect = min(patience, 10.0)
        self._timeout = urllib3.Timeout(connect=self._connect, read=SLOWEST)

    def close(self) -> None:
        """Close the connections."""
        self._pool.clear()

    def send(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> Any:
        """What the service answers; sent again while it is away or busy, up to the patience."""
        deadline, pause = time.monotonic() + self.patience, FIRST_PAUSE
        while True:
            try:
                return self._send_once(method, path, body, headers or {})
            except StoreError:
                if time.monotonic() + pause > deadline:
                    raise
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    def _send_once(self, method: str, path: str, body: Any, headers: dict[str, str]) -> Any:
        # As UTF-8, which urllib3 does only with bytes.
        sent = {name: text.encode() for name, text in {**self._headers, **headers}.items()}
        if body is not None:
            sent["Content-Type"] = b"application/json"
        try:
            answer = self._pool.request(
                method,
                self.url + path,
                body=None if body is None else _as_json(body),
                headers=sent,
                timeout=self._timeout,
            )
        except self._failures as reason:
            raise StoreError(
                f"{self.url} is away: {_reason(reason)}. Repeat the call later: an answer counts "
                "once"
            ) from reason
        reply = Reply(answer.status, _read(answer.data, answer.headers.get("Content-Type", "")))
        if reply.status >= 400:
            self._refuse(reply)
        return reply.content

    def _refuse(self, reply: Reply) -> NoReturn:
        """Raise what the service refused a request with, as the library would have."""
        said = reply.content if isinstance(reply.content, dict) else {}
        detail = said.get("detail") or f"{self.url} answered with status {reply.status}"
        if reply.status in (401, 403):
            raise AccessError(detail)
        kind = CODES.get(said.get("code", ""))
        if kind is not None:
            raise kind(detail)
        if reply.status in (502, 503, 504):  # of a proxy before it, too
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
        patience: float = PATIENCE,
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
        self._service = Service(str(url), token, self._client, patience)
        self._path = "/v1/studies/" + quote(self.name, safe="")
        seen = self._get() if learner is None else self._put(learner)
        self.space = None if seen["space"] is None else Space.from_spec(seen["space"])

    def _put(self, learner: Any) -> dict[str, Any]:
        state = keep(learner).state()
        seen: dict[str, Any] = self._service.send("PUT", self._path, {"state": state})
        return seen

    def _get(self, what: str = "", **query: Any) -> dict[str, Any]:
        asked = f"?{urlencode(query)}" if query else ""
        found: dict[str, Any] = self._service.send("GET", self._path + what + asked)
        return found

    def _post(self, what: str, body: Any, headers: dict[str, str] | None = None) -> dict[str, Any]:
        found: dict[str, Any] = self._service.send("POST", self._path + what, body, headers)
        return found

    @classmethod
    def _names(cls, url: str | os.PathLike[str], token: str | None) -> list[str]:
        service, names, after = Service(str(url), token, own_name(), PATIENCE), [], ""
        while True:
            query = urlencode({"after": after, "limit": 100})
            page = service.send("GET", f"/v1/studies?{query}")
            names += [seen["name"] for seen in page["studies"]]
            if page["next"] is None:
                return names
            after = page["next"]

    @classmethod
    def _delete(cls, url: str | os.PathLike[str], name: str, token: str | None) -> None:
        service = Service(str(url), token, own_name(), PATIENCE)
        service.send("DELETE", "/v1/studies/" + quote(name, safe=""))

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
        if n is not None:
            body["n"] = whole(n, "n", 1, "how many to ask for")
        found = self._post("/ask", body, {"Idempotency-Key": known})
        if n is None:
            return cast(Q, self._question(found))
        return [cast(Q, self._question(each)) for each in found["queries"]]

    def _question(self, asked: dict[str, Any]) -> Question:
        point = frozen(asked["point"], "point", np.ndim(asked["point"]))
        if self.space is None:
            return Query(asked["id"], point)
        params = self.space.params(point)
        return Trial(asked["id"], params, point, _number(asked["expected"]), asked["held"])

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
        body = _named(query) | {"curvature": _plain(curvature, "curvature", CurvatureError)}
        for name, told in (("loss", loss), ("value", value)):
            if told is not None:
                body[name] = _plain(told, name, LossError)
        self._post("/tell", body)

    def forget(self, query: Query | Trial | OpenQuery | int) -> None:
        """Close a query or trial that will never be answered, as `Study.forget`."""
        self._post("/forget", _named(query))

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
            certificate=_number(seen["certificate"]),
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
        return Standing(seen["rounds"], np.array(seen["center"]), _number(seen["certificate"]))

    @property
    def restarts(self) -> int:
        """How often a range of losses that was not known had to be widened."""
        return int(self._get()["restarts"])

    def certificate_for(self, **constants: float) -> float:
        """Bound the regret for a constant that one believes in, as `Study.certificate_for`."""
        return _number(self._get("/certificate", **constants)["certificate"])

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
        return Summary(**said | {name: _number(said[name]) for name in numbers})

    @property
    def open_queries(self) -> list[OpenQuery]:
        """What waits for an answer, oldest first, with who asked it and when."""
        found: list[OpenQuery] = []
        while True:
            after = found[-1].id if found else -1
            page = self._get("/open", after=after, limit=PAGE)["queries"]
            found += [self._open_query(each) for each in page]
            if len(page) < PAGE:
                return found

    def _open_query(self, said: dict[str, Any]) -> OpenQuery:
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
        begin: int | None = whole(first, "first", 1, "rounds are counted from 1")
        if last is not None:
            last = whole(last, "last", 0, "rounds are counted from 1")
        while begin is not None and (last is None or begin <= last):
            limit = PAGE if last is None else min(PAGE, last - begin + 1)
            page = self._get("/history", first=begin, limit=limit)
            for record in page["rounds"]:
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
        return int(self._post("/verify", {})["rows"])

    def trim(self, before: int, *, progress: bool = False) -> int:
        """Remove the history of early rounds, as `Study.trim`."""
        before = whole(before, "before", 1, "the first round whose history is kept")
        return int(self._post("/trim", {"before": before})["rows"])


def _named(query: Any) -> dict[str, Any]:
    """A query or trial as the service knows it: by its id and, where it is known, its point."""
    if isinstance(query, Query | Trial | OpenQuery):
        return {"id": query.id, "point": query.point.tolist()}
    return {"id": serialization.encode(query)}


def _plain(told: Any, what: str, error: type[DikinError]) -> Any:
    """A number, or what else a learner is told, as JSON can say it."""
    if isinstance(told, np.ndarray | np.generic):
        return _plain(told.tolist(), what, error)
    if isinstance(told, list | tuple):
        return [_plain(part, what, error) for part in told]
    if isinstance(told, float) and not isfinite(told):  # JSON has no word for it
        raise error(f"the {what} must be a finite number, got {told}. Nothing was changed.")
    return told


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
    except ValueError as reason:
        raise StoreError(f"the service answered with something that is not JSON: {reason}") from (
            reason
        )


def _checked_token(token: Any) -> str:
    if not isinstance(token, str) or not token.isascii() or not token.isprintable():
        raise ParameterError("a token is the text that dikin token create printed")
    return token.strip()


def _reason(failure: BaseException) -> str:
    """The innermost reason of a failure, which says it in the fewest words."""
    text = str(getattr(failure, "reason", None) or failure)
    return text.rpartition(": ")[2] if "Failed to establish" in text else text


def _number(said: float | None) -> float:
    return nan if said is None else float(said)


def _ago(seconds: float | None, now: datetime) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(now.timestamp() - seconds, UTC)
