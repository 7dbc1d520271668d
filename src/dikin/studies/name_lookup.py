"""Connections to a service whose lookup of its name has a deadline.

The system's own lookup takes as long as it is configured to: often half a minute if no name server
answers, and no program can shorten it. So it is done in a thread, for which nobody waits longer
than for a connection.
"""

from __future__ import annotations

import ipaddress
import queue
import socket
import threading
from contextlib import suppress
from typing import Any


def pool_manager(urllib3: Any) -> Any:
    """The pool of connections of a client; a request is never sent twice by it."""
    manager = urllib3.PoolManager(maxsize=8, retries=False)
    manager.pool_classes_by_scheme = {
        scheme: _with_deadline(urllib3, pool)
        for scheme, pool in manager.pool_classes_by_scheme.items()
    }
    return manager


def _with_deadline(urllib3: Any, pool: Any) -> Any:
    """A kind of pool whose connections look names up with a deadline."""
    failures = urllib3.exceptions

    class Connection(pool.ConnectionCls):  # type: ignore[misc]
        """A connection, to the first of the service's addresses that answers."""

        _dns_host: str

        def _new_conn(self) -> socket.socket:
            name, failure = self._dns_host, None
            try:
                for address in addresses(name, self.timeout):
                    self._dns_host = address
                    try:
                        return super()._new_conn()  # type: ignore[no-any-return]
                    except failures.HTTPError as reason:
                        failure = reason
            except TimeoutError as reason:
                raise failures.ConnectTimeoutError(self, str(reason)) from reason
            except socket.gaierror as reason:
                raise failures.NameResolutionError(name, self, reason) from reason
            finally:
                self._dns_host = name  # certificates are for the name
            assert failure is not None
            raise failure

    class Pool(pool):  # type: ignore[misc]
        """Such connections."""

        ConnectionCls = Connection

    return Pool


def addresses(name: str, seconds: float) -> list[str]:
    """The addresses of a host; raises TimeoutError if the lookup takes too long."""
    with suppress(ValueError):
        return [str(ipaddress.ip_address(name.strip("[]")))]
    found: queue.SimpleQueue[list[str] | OSError] = queue.SimpleQueue()

    def look_up() -> None:
        try:
            entries = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
            found.put(list(dict.fromkeys(str(entry[4][0]) for entry in entries)))
        except OSError as reason:
            found.put(reason)

    threading.Thread(target=look_up, name="name lookup", daemon=True).start()
    try:
        answer = found.get(timeout=seconds)
    except queue.Empty:
        raise TimeoutError(f"no name server has answered for {seconds:g} seconds") from None
    if isinstance(answer, OSError):
        raise answer
    return answer
