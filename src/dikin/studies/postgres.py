"""A PostgreSQL server: an append is one statement, so that a stopped client holds no lock.

Each wait for the server ends after some seconds of silence, and the connection with it.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Sequence
from typing import Any

from dikin import extras
from dikin.errors import ParameterError, StoreError
from dikin.studies.database import (
    ANY,
    CHARACTERS,
    CONTROL,
    Again,
    Database,
    Heads,
    LostConnection,
    Row,
    Taken,
    digest_of,
)

REPLY_TAKES = 0.5  # seconds, besides the patience, that a server may take for a reply
WAKES_EVERY = 0.1  # seconds between two looks for a Ctrl-C during a wait, as in psycopg
COMPUTES, CARE = 1000, 600_000
"""Milliseconds, besides the patience, that a client may compute in the middle of a transaction, and
in the middle of a trim or a conversion."""
NAMESPACE = int.from_bytes(b"diki", "big")

DURABLE = "set_config('synchronous_commit', 'on', true), set_config('lock_timeout', %s, true)"
APPEND = f"""
WITH durable AS MATERIALIZED (SELECT {DURABLE}),
moved AS (
    UPDATE dikin_study SET head = head + %s + %s, epoch = epoch + %s,
        seal = left(encode(sha256(convert_to(
            seal || ' ' || (head + 1 + %s)::text || ' ' || %s, 'UTF8')), 'hex'), {CHARACTERS})
    FROM durable WHERE id = %s AND epoch = %s AND head BETWEEN %s AND %s
    RETURNING id, head - %s AS before, seal
)
INSERT INTO dikin_row (study, n, kind, ask, key, who, at, body, seal)
SELECT moved.id, moved.before + r.place, r.kind, r.ask, r.key, r.who, r.at, r.body, moved.seal
FROM moved, unnest(%s::text[], %s::text[], %s::bigint[], %s::text[], %s::text[], %s::bigint[])
    WITH ORDINALITY AS r(kind, body, ask, key, who, at, place)
RETURNING n, seal
"""


class Postgres(Database):
    """A server. It may crash and restart: a lost connection is opened again."""

    marker = "%s"
    serial = "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY"
    exclusive = (
        f"SET LOCAL idle_in_transaction_session_timeout={CARE}; "
        f"SELECT pg_advisory_xact_lock({NAMESPACE}, 0)"
    )

    def __init__(self, url: str, patience: float) -> None:
        psycopg = extras.require("psycopg", "postgres", "a study on a PostgreSQL server")
        self._psycopg, self._class = psycopg, _connection_class(psycopg, patience + REPLY_TAKES)
        try:
            parts = psycopg.conninfo.conninfo_to_dict(url)
        except psycopg.Error:
            # Neither the text nor the reason is shown: a password may be anywhere in them.
            raise ParameterError(
                "what begins with 'postgresql' is not the URL of a database; expected one such as "
                "postgresql://user:password@host:5432/database, with special characters of the "
                "password written as %40 and the like"
            ) from None
        name = f"postgresql://{parts.get('host', '')}/{parts.get('dbname', '')}"
        super().__init__(url, name, patience)
        self._limit = max(1, int(1000 * patience))  # in milliseconds

    @property
    def _errors(self) -> tuple[type[Exception], ...]:
        return (self._psycopg.Error,)

    def _opened(self) -> Any:
        connection = self._class.connect(
            self.url,
            autocommit=True,
            # Text in whatever encoding the role or the environment prefers would arrive as bytes.
            client_encoding="UTF8",
            connect_timeout=max(2, round(self.patience)),
            tcp_user_timeout=self._limit,
        )
        # A pooler in between (PgBouncer) gives each transaction another connection of its own to
        # the server: there, a statement that was prepared earlier may be unknown.
        try:
            server = connection.execute("SELECT pg_backend_pid()").fetchone()[0]
        except BaseException:
            connection.close()
            raise
        if server != connection.info.backend_pid:
            connection.prepare_threshold = None
        return connection

    def _explained(self, error: Exception) -> Exception:
        text, code = " ".join(str(error).split()), getattr(error, "sqlstate", None) or ""
        if code == "23505":
            return Taken(text)
        if code in ("55P03", "40001", "40P01"):
            return Again(text)
        connecting = self.connection is None
        if connecting and (not code or code.startswith(("53", "57"))):
            return LostConnection(text)
        if not connecting and self.connection.closed:
            self.close()
            return LostConnection(text)
        return StoreError(f"{self.name} cannot be used: {text}. Nothing was changed")

    def _begin(self) -> None:
        # Nothing is set for longer than the transaction, so that it may go through a pooler. The
        # server cuts off a client that stops in the middle, so that the others need not wait.
        self._run(
            "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL synchronous_commit=on; "
            f"SET LOCAL lock_timeout={self._limit}; "
            f"SET LOCAL idle_in_transaction_session_timeout={self._limit + COMPUTES}"
        )
        self.inside = True

    def append(
        self, study: int, rows: Sequence[Row], epoch: int, heads: Heads = ANY, jump: int = 0
    ) -> tuple[int, str] | None:
        count, control = len(rows), int(rows[0].kind in CONTROL)
        values = [str(self._limit), jump, count, control, jump, digest_of(rows)]
        columns = [list(each) for each in zip(*(row[:6] for row in rows), strict=True)]
        placed = self._run(APPEND, (*values, study, epoch, *heads, count, *columns))
        return min(placed, default=None)  # all have one seal

    def has_table(self, name: str) -> bool:
        # Not to_regclass, which may cache that there was none before.
        sql = (
            "SELECT 1 FROM pg_catalog.pg_tables WHERE tablename = ? "
            "AND schemaname = ANY (current_schemas(false))"
        )
        return bool(self.run(sql, (name,)))


def _connection_class(psycopg: Any, silence: float) -> Any:
    """Return the class of connections that wait for a sign of the server some seconds at most."""
    waiting = extras.require("psycopg.waiting", "postgres", "a study on a PostgreSQL server")

    def bounded(exchange: Generator[Any, Any, Any]) -> Generator[Any, Any, Any]:
        """Yield the events to wait for in an exchange, until the server is silent for too long."""
        heard = time.monotonic()
        try:
            wanted = next(exchange)
            while time.monotonic() < heard + silence:
                if ready := (yield wanted):
                    wanted, heard = exchange.send(ready), time.monotonic()
        except StopIteration as ended:
            return ended.value
        raise psycopg.OperationalError(f"the server has not answered for {silence:.1f} seconds")

    class Connection(psycopg.Connection):  # type: ignore[misc]
        """A connection that is closed when the server is silent, or a wait is interrupted."""

        def wait(self, gen: Generator[Any, Any, Any], *_: Any, **__: Any) -> Any:
            """Wait for one exchange to end. Psycopg sends 0 from time to time (since 3.3)."""
            try:
                return waiting.wait(bounded(gen), self.pgconn.socket, WAKES_EVERY)
            except BaseException as error:
                # At an interrupt psycopg would ask the server to cancel, and wait for that.
                if not getattr(error, "sqlstate", None):  # an error of the server has one
                    self.pgconn.finish()
                raise

    return Connection
