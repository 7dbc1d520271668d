"""A connection to PostgreSQL that gives up on a server that has fallen silent.

A server that is suspended, or a network that drops every packet, leaves a client waiting: the
connection is intact, and nothing ever comes. So each wait for the server, while connecting too,
ends after some seconds of silence, and the connection with it.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from typing import Any

from dikin import extras

WAKES_EVERY = 0.1
"""Seconds between two looks at the clock during a wait, as in psycopg."""

Exchange = Generator[Any, Any, Any]
"""Messages to and from the server: psycopg yields what it waits for and is sent what is there."""


def connection_class(silence: float) -> Any:
    """The class of connections that wait for a sign of the server at most `silence` seconds."""
    psycopg = extras.require("psycopg", "postgres", "a study on a PostgreSQL server")
    waiting = extras.require("psycopg.waiting", "postgres", "a study on a PostgreSQL server")

    class SilentError(psycopg.OperationalError):  # type: ignore[name-defined, misc]
        """The server did not answer in time."""

    def bounded(exchange: Exchange) -> Exchange:
        """The same exchange, which fails after too long a silence."""
        try:
            wanted = next(exchange)
            heard = time.monotonic()
            while True:
                ready = yield wanted
                now = time.monotonic()
                if ready:
                    heard = now
                elif now - heard >= silence:
                    raise SilentError(f"the server has not answered for {silence:.1f} seconds")
                wanted = exchange.send(ready)
        except StopIteration as ended:
            return ended.value

    class Connection(psycopg.Connection):  # type: ignore[name-defined, misc]
        """A connection that is closed when the server is silent, or a wait is interrupted."""

        def wait(self, gen: Exchange, *_: Any, **__: Any) -> Any:
            """Wait for one exchange to end; psycopg wakes it from time to time (since 3.3)."""
            try:
                return waiting.wait(bounded(gen), self.pgconn.socket, WAKES_EVERY)
            except BaseException as error:
                # At an interrupt psycopg would ask the server to cancel, and wait for that.
                if isinstance(error, SilentError) or not isinstance(error, Exception):
                    self.pgconn.finish()
                raise

        @classmethod
        def _connect_gen(cls, *arguments: Any, **named: Any) -> Exchange:
            # The timeout of psycopg itself is at least two seconds.
            return bounded(super()._connect_gen(*arguments, **named))

    return Connection
