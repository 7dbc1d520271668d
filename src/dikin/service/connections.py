"""The connections of the service: how many there may be, and which are closed to make room.

A connection that sends nothing costs its client nothing, so a service that only counted connections
could be filled by anyone. Here a new connection is always let in as long as another one waits for
its client: the one that has waited longest is closed for it, and those that never sent a whole
request before all others. A request that is being answered is never interrupted.
"""

from __future__ import annotations

import ipaddress
import logging
from collections import Counter
from collections.abc import Callable, Iterator
from enum import IntEnum
from typing import Protocol

from dikin.service.limits import CONNECTIONS, CONNECTIONS_EACH, DESCRIPTORS

try:
    import resource
except ImportError:  # pragma: no cover - Windows has no such limit
    resource = None  # type: ignore[assignment]

log = logging.getLogger("dikin.service")


class Waits(IntEnum):
    """What a connection waits for; the first kinds are closed first."""

    FIRST_REQUEST = 0
    NEXT_REQUEST = 1
    BODY = 2
    ANSWER = 3
    """Of the service: such a connection stays."""


class Connected(Protocol):
    """A connection, as the budget sees it."""

    address: str

    def drop(self) -> None:
        """Close it at once."""


class Budget:
    """The connections of a server.

    Parameters
    ----------
    most : int
        Connections in total.
    each : int
        Connections of one address.
    proxies : str
        Addresses and networks of proxies, which stand for many clients and may have as many as
        there are; with commas, as for `dikin serve`.
    count : callable
        Called for each connection that is closed to make room, or not let in.
    """

    def __init__(
        self,
        most: int,
        each: int = CONNECTIONS_EACH,
        proxies: str = "",
        count: Callable[[], None] = lambda: None,
    ) -> None:
        self.most, self.each, self._count = most, each, count
        self._proxies = proxies.replace(" ", "").split(",")
        # By what they wait for, each in the order in which their wait began.
        self._waiting: tuple[dict[Connected, None], ...] = tuple({} for _ in Waits)
        self._waits: dict[Connected, Waits] = {}
        self._addresses: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._waits)

    def admit(self, connection: Connected) -> bool:
        """Let a connection in, if need be in place of another one."""
        address = connection.address
        if self._addresses[address] >= self.each and not self._is_proxy(address):
            if not self._drop_first(address):
                return self._refuse(f"an address has {self.each} connections")
        elif len(self) >= self.most and not self._drop_first(None):
            return self._refuse(f"there are {self.most} connections")
        self._addresses[address] += 1
        self._waits[connection] = Waits.FIRST_REQUEST
        self._waiting[Waits.FIRST_REQUEST][connection] = None
        return True

    def note(self, connection: Connected, waits: Waits) -> None:
        """Note that a connection now waits for something else."""
        before = self._waits.get(connection)
        if before is None or before is waits:
            return
        del self._waiting[before][connection]
        self._waiting[waits][connection] = None
        self._waits[connection] = waits

    def release(self, connection: Connected) -> None:
        """Forget a connection that has ended."""
        waits = self._waits.pop(connection, None)
        if waits is None:
            return
        del self._waiting[waits][connection]
        self._addresses[connection.address] -= 1
        if not self._addresses[connection.address]:
            del self._addresses[connection.address]

    def _is_proxy(self, address: str) -> bool:
        return any(each == "*" or _contains(each, address) for each in self._proxies)

    def _drop_first(self, address: str | None) -> bool:
        """Close the connection that matters least, of this address if one is given."""
        victim = next(self._droppable(address), None)
        if victim is None:
            return False
        self._count()
        log.warning("connections were closed to make room for new ones")
        self.release(victim)
        victim.drop()
        return True

    def _droppable(self, address: str | None) -> Iterator[Connected]:
        for waiting in self._waiting[: Waits.ANSWER]:
            for connection in waiting:
                if address is None or connection.address == address:
                    yield connection

    def _refuse(self, reason: str) -> bool:
        self._count()
        log.warning("connections were refused", extra={"fields": {"reason": reason}})
        return False


def _contains(network: str, address: str) -> bool:
    try:
        return ipaddress.ip_address(address) in ipaddress.ip_network(network, strict=False)
    except ValueError:
        return network == address


def affordable(most: int = CONNECTIONS) -> int:
    """The number of connections that the process has file descriptors for, at most `most`.

    The limit of descriptors is raised as far as the system allows. Some are set aside for the
    files and connections of open studies: without them even an honest client could not be served.
    """
    if resource is None:  # pragma: no cover
        return most
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = most + DESCRIPTORS
    if soft != resource.RLIM_INFINITY and soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    if soft == resource.RLIM_INFINITY:
        return most
    return min(most, max(soft // 4, soft - DESCRIPTORS))
