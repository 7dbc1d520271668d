"""Silent connections and enormous requests: beside them, honest clients are answered."""

import socket
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import NamedTuple

from in_memory import in_memory
from service import crowd
from service.serving import Serving, shop

CLIENTS = 4
AT_ONCE = 500
"""Silent connections that are open at the same time, half of what the service takes."""
ROUNDS = 50
"""Rounds that the honest clients play beside each five hundred of them."""


class Seen(NamedTuple):
    """What honest clients saw."""

    rounds: int
    longest: float
    """Seconds of their longest call."""

    def __str__(self) -> str:
        return f"{self.rounds:,} rounds, 0 lost, 0 twice; longest call {self.longest:.2f} s"


def keys(count: int) -> bytes:
    """A JSON object with so many keys."""
    return b"{" + b",".join(b'"%x":0' % n for n in range(count)) + b"}"


ENORMOUS = keys(106_000)
"""Nearly the largest body that is read, and no two of its keys are equal."""


def silent_connections(count: int) -> Seen:
    """Open connections that say nothing, some hundred at a time, while others play."""
    seen = list[Seen]()
    with playing(seen) as (running, clients):
        for first in range(0, count, AT_ONCE):
            with ExitStack() as stack:
                for _ in range(min(count - first, AT_ONCE)):
                    stack.enter_context(socket.create_connection(("127.0.0.1", running.port)))
                crowd.wait_for_rounds(clients, ROUNDS)
    return seen[0]


def enormous_requests(count: int) -> Seen:
    """Send enormous bodies, two at a time, while others play; each of them is refused."""
    seen = list[Seen]()
    with playing(seen) as (running, clients), ThreadPoolExecutor(2) as pool:
        before = crowd.told(clients)
        for _ in range(50):  # a quick machine refuses a few of them between two rounds
            sent = [
                pool.submit(running.send, "POST", "/v1/studies/shop/tell", ENORMOUS)
                for _ in range(count)
            ]
            refused = {each.result().status for each in sent}
            assert refused == {422}, f"an enormous request was answered with {refused}"
            if crowd.told(clients) > before + ROUNDS:
                break
        assert crowd.told(clients) > before, "nobody else was answered meanwhile"
    return seen[0]


@contextmanager
def playing(seen: list[Seen]) -> Iterator[tuple[Serving, list[crowd.Client]]]:
    """A service with honest clients; afterwards what they saw, if nothing was lost or refused."""
    with tempfile.TemporaryDirectory(dir=in_memory()) as folder:
        store, end = f"{folder}/studies.db", threading.Event()
        shop(store).close()
        with Serving(store, "--log", "warning") as running:
            clients = crowd.start(CLIENTS, running.url, "shop", 60.0, end)
            try:
                yield running, clients
            finally:
                end.set()
                account = crowd.together(clients)
        assert not account.refused, account.refused[0]
        faults = crowd.faults(store, "shop", account)
        assert faults == crowd.NOTHING, faults
        seen.append(Seen(len(account.told), max(account.seconds)))
