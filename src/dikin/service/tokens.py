"""Tokens: rights of clients, for all studies or for some.

A token is `dikin_<id>_<secret>`. The store has only a digest of the secret. The secret is 32 random
bytes, so that a plain SHA-256 cannot be reversed by search. A token is printed once, when it is
created.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import json
import secrets
import time
from contextlib import closing
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, NamedTuple

from dikin.errors import AccessError, ParameterError, shown
from dikin.service import limits
from dikin.studies.arguments import printable
from dikin.studies.database import Database, open_database

RIGHTS = ("read", "play", "admin")
"""Each right includes those before it."""
PREFIX = "dikin"
TABLE = "dikin_tokens"
COLUMNS = "id, name, digest, rights, studies, created, expires, revoked"
CREATE = (
    "CREATE TABLE IF NOT EXISTS dikin_tokens (number {serial}, id VARCHAR(16) NOT NULL UNIQUE, "
    "name VARCHAR(200) NOT NULL, digest VARCHAR(64) NOT NULL, rights VARCHAR(8) NOT NULL, "
    "studies TEXT, created BIGINT NOT NULL, expires BIGINT, revoked BIGINT)"
)


class Token(NamedTuple):
    """A token as stored. Times are seconds since 1970."""

    id: str
    name: str
    digest: str
    right: str
    studies: tuple[str, ...] | None
    """The studies that the token is for; None for all."""
    created: int
    expires: int | None
    revoked: int | None

    def state(self, now: float) -> str:
        """Return the state of the token: valid, expired or revoked."""
        if self.revoked is not None:
            return "revoked"
        return "expired" if self.expires is not None and self.expires <= now else "valid"


class Access(NamedTuple):
    """The rights of a visitor."""

    name: str | None
    """The name of the visitor's token; None if there are no tokens."""
    right: str
    studies: tuple[str, ...] | None

    def covers(self, study: str) -> bool:
        """Return whether the visitor has access to this study."""
        return self.studies is None or study in self.studies

    def refuse_unless(self, right: str, study: str | None) -> None:
        """Refuse a request that is beyond the visitor's rights."""
        if RIGHTS.index(right) > RIGHTS.index(self.right):
            raise AccessError(
                f"this needs a token with the right {right}; token {self.name!r} has the right "
                f"{self.right}. To create one: dikin token create NAME --right {right}"
            )
        if self.studies is not None and study is not None and not self.covers(study):
            studies = ", ".join(map(repr, self.studies or ()))
            raise AccessError(f"token {self.name!r} is for {studies}, not for {study!r}")


EVERYTHING = Access(None, "admin", None)
"""Rights of a visitor from this machine if there are no tokens at all."""


# --- the tokens of a store -----------------------------------------------------------------------


class TokenStore:
    """The tokens in a database."""

    def __init__(self, url: str) -> None:
        self._url = url

    def _database(self) -> closing[Database]:
        return closing(open_database(self._url, limits.PATIENCE))

    def all(self) -> list[Token]:
        """Return every token ever created, in order of creation."""
        with self._database() as database:
            return _read_tokens(database)

    def create(
        self,
        name: str,
        right: str,
        studies: tuple[str, ...] | None = None,
        days: float | None = None,
    ) -> str:
        """Create a token and return its text, which is not stored."""
        if right not in RIGHTS:
            raise ParameterError(f"right must be one of {', '.join(RIGHTS)}, got {shown(right)}")
        printable(name, "name")
        for study in studies or ():
            printable(study, "study")
        id, secret = secrets.token_hex(4), secrets.token_urlsafe(32)
        now = datetime.now(UTC)
        expires = None if days is None else int((now + timedelta(days=days)).timestamp())
        covered = None if studies is None else json.dumps(studies)
        values = id, name, _digest(secret), right, covered, int(now.timestamp()), expires
        with self._database() as database, database.transaction():
            database.run(CREATE.format(serial=database.serial))
            if any(each.name == name for each in _valid(_read_tokens(database))):
                raise ParameterError(
                    f"there is a valid token called {name!r}; revoke it, or choose another name"
                )
            database.run(
                f"INSERT INTO {TABLE} ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, NULL)", values
            )
        return f"{PREFIX}_{id}_{secret}"

    def revoke(self, which: str) -> Token:
        """Revoke a token for ever, by its id or its name."""
        with self._database() as database, database.transaction():
            valid = _valid(_read_tokens(database))
            matches = [each for each in valid if which in (each.id, each.name)]
            if not matches:
                names = ", ".join(each.name for each in valid) or "none"
                raise ParameterError(f"there is no valid token {which!r}; valid are: {names}")
            now = int(time.time())
            statement = f"UPDATE {TABLE} SET revoked = ? WHERE id = ?"
            database.run(statement, (now, matches[0].id))
        return matches[0]


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).hexdigest()


def _valid(tokens: list[Token]) -> list[Token]:
    return [each for each in tokens if each.state(time.time()) == "valid"]


def _read_tokens(database: Database) -> list[Token]:
    if not database.has_table(TABLE):
        return []
    return [_token(*row) for row in database.run(f"SELECT {COLUMNS} FROM {TABLE} ORDER BY number")]


def _token(id: str, name: str, digest: str, right: str, studies: str | None, *times: Any) -> Token:
    covered = None if studies is None else tuple(json.loads(studies))
    return Token(id, name, digest, right, covered, *times)


# --- a visitor -----------------------------------------------------------------------------------


class TokenCheck:
    """The rights of visitors, from cached tokens."""

    def __init__(self, tokens: list[Token]) -> None:
        self._by_id = {token.id: token for token in tokens}
        self.open = not tokens
        """True if no token was ever created; revoked ones count."""

    def access(self, authorization: str | None) -> Access:
        """Return the access that the header of a request grants, or raise an error."""
        if authorization is None:
            raise AccessError(
                "this needs a token, in the header Authorization: Bearer dikin_...; to create one: "
                "dikin token create NAME"
            )
        scheme, _, text = authorization.partition(" ")
        prefix, _, rest = text.strip().partition("_")
        id, _, secret = rest.partition("_")
        token = self._by_id.get(id) if prefix == PREFIX else None
        # Always compared, so that the time taken does not reveal which ids exist.
        digest = token.digest if token is not None else _digest("")
        same = hmac.compare_digest(digest, _digest(secret))
        if scheme.lower() != "bearer":
            raise AccessError(
                "a token must be sent as Authorization: Bearer dikin_..., but the header begins "
                "with another word"
            )
        if token is None or not same:
            raise AccessError("the token is not known to this service, or was mistyped")
        state = token.state(time.time())
        if state != "valid":
            raise AccessError(f"token {token.name!r} is {state}")
        return Access(token.name, token.right, token.studies)


@lru_cache(maxsize=1024)
def is_loopback(host: str) -> bool:
    """Return whether a host is this machine itself."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
