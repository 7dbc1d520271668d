"""A study behind a service (`dikin serve`), over HTTP, with the same errors as in a database.

A request without an answer is sent again until the client's patience ends, over a new connection: a
connection that a firewall has forgotten stays silent for ever. Nothing counts twice: every ask has
a unique key, and the same answer told again counts once.
"""

from __future__ import annotations

import json
import os
import secrets
import time
from collections.abc import Callable, Generator
from datetime import datetime
from http import HTTPStatus
from operator import itemgetter
from typing import Any, NoReturn
from urllib.parse import quote, urlencode, urlsplit

from dikin import errors, extras
from dikin.arguments import frozen
from dikin.errors import (
    AccessError,
    BusyError,
    DikinError,
    ParameterError,
    StateError,
    StoreError,
    UnknownStudyError,
    error_code,
    shown,
)
from dikin.open_queries import Query
from dikin.serialization import number_or_nan
from dikin.status import Status
from dikin.studies.arguments import AT_ONCE, as_read
from dikin.studies.ledger import Key, OpenQuery
from dikin.tuning.recommendation import Recommendation
from dikin.tuning.space import Space
from dikin.tuning.trial import Trial, trial_of
from dikin.tuning.tuner import Tuner

FIRST_PAUSE, LONGEST_PAUSE = 0.05, 0.5  # seconds between two attempts: doubled each time
PATIENCE, FIRST_PATIENCE = 30.0, 5.0
"""The default patience in seconds, enough for a service to restart, and that for opening a study or
listing names, when nothing is at stake yet."""
ATTEMPT = 11.0  # seconds that an attempt may take: a service answers within 10
LONGEST_RETRY_AFTER = 60  # seconds that a service may ask a client to wait; longer times are cut

CODES = {
    error_code(kind): kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, DikinError)
}
"""The errors of the library by their codes over HTTP."""
READ: dict[str, Callable[[dict[str, Any]], Any]] = {
    "best": itemgetter("best"),
    "recommend": Recommendation.from_json,
    "certificate": lambda answer: number_or_nan(answer["certificate"]),
    "state": dict,
}
"""Operations that look, and what is made of their answers."""
CONTROL = {"add": "add_trial", "parameters": "set_parameters"}  # operations with other names


class NotAServiceError(StoreError):
    """Something else answers at the address. Repeating the request does not help."""


class RemoteLedger:
    """One client of one study at a service, or of all studies there. A ledger's methods."""

    def __init__(
        self, url: str, name: str, client: str, patience: float | None, token: str | None
    ) -> None:
        urllib3 = extras.require("urllib3", "client", "a study at an address https://...")
        self.url, self.name, self.client = _checked_address(url), name, client
        self.place = f"at {self.url}"
        self.space: Space
        self._path = "/v1/studies/" + quote(name, safe="")
        self._patience = PATIENCE if patience is None else patience
        self._first_patience = FIRST_PATIENCE if patience is None else patience
        self._errors = urllib3.exceptions
        self._pool = urllib3.PoolManager(maxsize=8, retries=False)
        self._headers = {"Accept": "application/json"}
        if token := os.environ.get("DIKIN_TOKEN") if token is None else token:
            self._headers["Authorization"] = f"Bearer {_checked_token(token)}"
        self.repeated = False  # True if the last request was sent more than once
        self._status, self._closed = 0, False

    def close(self) -> None:
        """Close the connections."""
        self._closed = True
        self._pool.clear()

    def _send(
        self, method: str, path: str, body: Any = None, *, key: Key = None, first: bool = False
    ) -> dict[str, Any]:
        """Return the service's answer. The request is repeated while it is unavailable or busy."""
        if self._closed:
            raise StateError("this study was closed; open it again with Study(url, name)")
        all_headers = self._headers | {"Dikin-Client": self.client}
        if key is not None:
            all_headers["Idempotency-Key"] = key
        if body is not None:
            all_headers["Content-Type"] = "application/json"
        # As bytes: urllib3 would not encode text as UTF-8.
        sent = {name: text.encode() for name, text in all_headers.items()}
        data = None if body is None else _as_json(body).encode()
        wait = self._first_patience if first else self._patience
        deadline, pause, self.repeated = time.monotonic() + wait, FIRST_PAUSE, False
        while True:
            try:
                return self._send_once(method, path, data, sent)
            except StoreError as error:
                pause = max(pause, error.retry_after)
                if isinstance(error, NotAServiceError) or time.monotonic() + pause > deadline:
                    raise
            time.sleep(pause)
            pause, self.repeated = min(2 * pause, LONGEST_PAUSE), True

    def _send_once(
        self, method: str, path: str, body: bytes | None, headers: dict[str, bytes]
    ) -> dict[str, Any]:
        more = {"body": body, "headers": headers, "redirect": False, "timeout": ATTEMPT}
        try:
            answer = self._pool.request(method, self.url + path, **more)
        except self._errors.HTTPError as reason:
            if isinstance(reason, self._errors.TimeoutError):
                self._pool.clear()  # its other connections may be as silent
            raise StoreError(
                f"{self.url} is unavailable: {_reason(reason)}. Is the address right, and dikin "
                "serve running there? If so, repeat the call: an answer counts once"
            ) from reason
        self._status, kind_of = answer.status, answer.headers.get("Content-Type", "no type")
        try:
            content = json.loads(answer.data) if "json" in kind_of else None
        except ValueError as reason:  # truncated in transit
            text = f"the service answered with something that is not JSON: {reason}"
            raise StoreError(text) from reason
        if answer.status >= 400:
            self._refuse(content, answer.headers.get("Retry-After", ""))
        if answer.status == HTTPStatus.NO_CONTENT:
            return {}
        if answer.status >= 300:
            where = answer.headers.get("Location", "nowhere")
            raise NotAServiceError(f"{self.url} redirects to {where}: use that address")
        if not isinstance(content, dict):
            raise NotAServiceError(
                f"what answers at {self.url} is not a dikin service: it sent {kind_of}. Is it a "
                "proxy, or a page to sign in to?"
            )
        return content

    def _refuse(self, content: Any, retry_after: str) -> NoReturn:
        """Raise the error with which the service refused a request, as the library would have."""
        problem = content if isinstance(content, dict) else {}
        detail = problem.get("detail") or f"{self.url} answered with status {self._status}"
        if self._status in (401, 403):
            hint = "" if "Authorization" in self._headers else ". Here: token=..., or DIKIN_TOKEN"
            raise AccessError(f"{detail}{hint}")
        kind = CODES.get(problem.get("code", ""))
        if kind is None and self._status in (
            429,
            502,
            503,
            504,
        ):  # also from a proxy in front of it
            kind = BusyError
        if kind is None:
            raise DikinError(f"{self.url}: {detail}")
        error = kind(detail)
        if isinstance(error, StoreError) and retry_after.isdecimal():
            error.retry_after = min(int(retry_after[:9]), LONGEST_RETRY_AFTER)
        raise error

    # --- operations ----------------------------------------------------------------------------

    def open(self, tuner: Tuner | None) -> bool:
        method, body = ("GET", None) if tuner is None else ("PUT", {"state": tuner.state()})
        status = self._send(method, self._path, body, first=True)
        self.space = Space.from_spec(status["space"])
        return self._status == HTTPStatus.CREATED

    def names(self) -> list[str]:
        names, after = list[str](), ""
        while after is not None:
            texts = urlencode({"after": after, "limit": 100})
            page = self._send("GET", f"/v1/studies?{texts}", first=True)
            names += [study["name"] for study in page["studies"]]
            after = page["next"]
        return names

    def delete(self) -> None:
        try:
            self._send("DELETE", self._path, first=True)
        except UnknownStudyError:
            if not self.repeated:  # otherwise the first attempt deleted it
                raise

    def _call(self, operation: str, *, key: str | None = None, **given: Any) -> dict[str, Any]:
        """Send a request for an operation with the arguments that are not None."""
        sent = {name: value for name, value in given.items() if value is not None}
        path = f"{self._path}/{operation}"
        if operation not in READ and operation not in ("open", "history"):
            return self._send("POST", path, sent, key=key)
        texts = {n: v if isinstance(v, str) else _as_json(v) for n, v in sent.items()}
        return self._send("GET", f"{path}?{urlencode(texts)}" if texts else path)

    def ask(self, asked_for: list[Any], key: str | None) -> list[Trial]:
        context, covariates, n = asked_for
        key, entries = key or secrets.token_hex(16), list[dict[str, Any]]()
        while len(entries) < (n or 1):
            answer = self._call(
                "ask",
                context=context,
                covariates=covariates,
                n=n and min(AT_ONCE, n - len(entries)),
                key=f"{key}/{len(entries)}" if entries else key,
            )
            entries += answer["queries"] if n else [answer]
        return [trial_of(self.space, entry["id"], entry) for entry in entries]

    def close_trial(self, trial: Query | int, answer: dict[str, Any] | None) -> None:
        asked = (trial.id, trial.point.tolist()) if isinstance(trial, Query) else (trial, None)
        given: dict[str, Any] = {"id": asked[0], "point": asked[1]} | (answer or {})
        self._call("forget" if answer is None else "tell", **given)

    def forget_older(self, age: float) -> int:
        return int(self._call("forget", older_than=age)["forgotten"])

    def control(
        self, kind: str, body: dict[str, Any], *_: Any, jump: int = 0, key: str | None = None
    ) -> None:
        if jump:
            self.apart()
        more = {"key": key or secrets.token_hex(16)} if kind == "add" else {}
        self._call(CONTROL.get(kind, kind), **body | more)
        if kind == "parameters":
            self.space = Space.from_spec(body)

    def status(self) -> Status:
        seen = self._send("GET", self._path)
        return Status.from_json(seen | {"service": self.url})

    def look(self, part: str, look: Any, **given: Any) -> Any:
        if part not in READ or (part == "certificate" and not given):
            seen = self.status()
            return seen if part == "summary" else getattr(seen, part)
        return READ[part](self._call(part, **as_read(given)))

    def waiting(self, after: int = -1, limit: int | None = None) -> list[OpenQuery]:
        found = list[OpenQuery]()
        while True:
            page = self._call("open", after=after, limit=AT_ONCE)["queries"]
            for each in page:
                after, point = each["id"], frozen(each["point"], "point", 1)
                who = each["client"], datetime.fromisoformat(each["asked"])
                found.append(OpenQuery(after, point, self.space.params(point), *who))
            if len(page) < AT_ONCE:
                return found

    def rounds(self, first: int, last: int | None) -> Generator[dict[str, Any]]:
        begin: int | None = first
        while begin is not None and (last is None or begin <= last):
            limit = AT_ONCE if last is None else min(AT_ONCE, last - begin + 1)
            page = self._call("history", first=begin, limit=limit)
            for record in page["rounds"]:
                if last is not None and record["round"] > last:
                    return  # earlier ones were trimmed
                del record["params"]
                yield record
            begin = page["next"]

    def apart(self) -> NoReturn:
        raise ParameterError(
            "studies are verified, trimmed, repaired and given other ids where the database is: "
            "dikin study verify, trim, rewind or skip-ids NAME --url DATABASE"
        )

    existing = apart


def _as_json(value: Any) -> str:
    try:
        return json.dumps(value)
    except (TypeError, ValueError, RecursionError) as reason:
        raise ParameterError(f"this cannot be sent to a service: {reason}") from reason


def _checked_address(url: str) -> str:
    parts = urlsplit(url)
    if "@" in parts.netloc:
        raise ParameterError("the address of a service has no user and password: use token=...")
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
    """The innermost reason of a failure, which is the shortest."""
    text = str(getattr(failure, "reason", None) or failure)
    return text.rpartition(": ")[2] if "Failed to establish" in text else text
