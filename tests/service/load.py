"""Load on a service: 64 clients for a minute, and kill -9 meanwhile.

    python tests/service/load.py                        all of it, about five minutes
    python tests/service/load.py --seconds 10 --kills 2

A client asks and tells as fast as it is answered. Every answer that it got is looked for in the
store afterwards.
"""

from __future__ import annotations

import argparse
import csv
import os
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np

from marks import into_page
from service import crowd
from service.crowd import Account
from service.serving import FreshServing, shop
from studies.postgres import Server

PROCESSES = 2
"""Among which the clients are divided: one process of Python cannot make enough requests."""
COLUMNS = (
    *("who", "store", "clients", "seconds", "kills", "requests_a_second", "median_ms", "p99_ms"),
    *("answers", "lost", "twice", "refused"),
)


class Minute(NamedTuple):
    """What is measured."""

    who: str
    store: str
    clients: int
    seconds: float
    kills: int
    account: Account
    faults: dict[str, int]

    def row(self) -> dict[str, Any]:
        taken = 1000 * np.array(self.account.seconds or [np.nan])
        faults = self.faults
        return {
            "who": self.who,
            "store": self.store,
            "clients": self.clients,
            "seconds": round(self.seconds),
            "kills": self.kills,
            "requests_a_second": round(len(self.account.seconds) / self.seconds),
            "median_ms": round(float(np.median(taken)), 1),
            "p99_ms": round(float(np.percentile(taken, 99)), 1),
            "answers": len(self.account.told),
            "lost": faults["lost"] + faults["altered"] + faults["asked and gone"],
            "twice": faults["twice"] + faults["given twice"],
            "refused": len(self.account.refused),
        }


def play_for(seconds: float, count: int, url: str, name: str) -> Account:
    """Some clients in this process."""
    end = threading.Event()
    clients = crowd.start(count, url, name, 60.0, end)
    time.sleep(seconds)
    end.set()
    return crowd.together(clients)


def all_clients(seconds: float, count: int, url: str, name: str) -> Iterator[Account]:
    """All clients, among processes; first that they have begun, then the account of all."""
    with ProcessPoolExecutor(PROCESSES) as pool:
        share = count // PROCESSES
        parts = [pool.submit(play_for, seconds, share, url, name) for _ in range(PROCESSES)]
        yield Account([], {}, [], [])
        found = [part.result() for part in parts]
    yield Account(
        [id for each in found for id in each.asked],
        {id: value for each in found for id, value in each.told.items()},
        [text for each in found for text in each.refused],
        [taken for each in found for taken in each.seconds],
    )


def serve(kind: str, url: str, clients: int, seconds: float, kills: int, slow: int = 0) -> Minute:
    """A service with this many clients."""
    name = f"load {kills} {slow}"
    shop(url, name).close()
    with FreshServing(url, "--log", "warning") as running, idle_clients(running.port, slow):
        playing = all_clients(seconds, clients, running.url, name)
        began = time.monotonic()
        next(playing)
        for number in range(kills):
            time.sleep(max(0.0, began + seconds * (number + 1) / (kills + 1) - time.monotonic()))
            running.kill()
            running.start()
        account = next(playing)
    faults = crowd.faults(url, name, account)
    who = f"dikin serve, {slow} slow and half-open clients besides" if slow else "dikin serve"
    return Minute(who, kind, clients, seconds, kills, account, faults)


@contextmanager
def idle_clients(port: int, count: int) -> Iterator[None]:
    """Connections on which nothing comes, or half a request, or the body letter by letter."""
    texts = (
        b"",
        b"GET /v1/stud",
        b"POST /v1/studies/x/ask HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Content-Length: 9000\r\n\r\n{",
    )
    with ExitStack() as stack:
        opened = []
        for number in range(count):
            made = stack.enter_context(socket.create_connection(("127.0.0.1", port)))
            made.sendall(texts[number % len(texts)])
            opened.append(made)
        end = threading.Event()
        feeder = threading.Thread(target=_feed, args=(opened[2::3], end))
        feeder.start()
        try:
            yield
        finally:
            end.set()
            feeder.join()


def _feed(slow: list[socket.socket], end: threading.Event) -> None:
    while not end.wait(0.5):
        for each in slow:
            try:
                each.sendall(b" ")
            except OSError:
                continue  # the service has let it go


# --- all of it -----------------------------------------------------------------------------------


def minutes(folder: str, server: Server, given: argparse.Namespace) -> Iterator[Minute]:
    clients, seconds = given.clients, given.seconds
    file, postgres = f"{folder}/studies.db", server.url
    yield serve("SQLite", file, clients, seconds, 0)
    yield serve("PostgreSQL", postgres, clients, seconds, 0)
    yield serve("SQLite", file, clients, seconds, given.kills)
    yield serve("PostgreSQL", postgres, clients, seconds, given.kills)
    yield serve("SQLite", file, clients, seconds / 2, 0, slow=300)


def write(rows: list[dict[str, Any]], out: Path) -> None:
    with out.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


TITLES = {
    "who": "server",
    "store": "store",
    "kills": "kill -9",
    "requests_a_second": "requests a second",
    "median_ms": "median, ms",
    "p99_ms": "99 %, ms",
    "answers": "answers",
    "lost": "lost",
    "twice": "twice",
    "refused": "refused",
}


def markdown(rows: list[dict[str, Any]]) -> str:
    """The table for a page."""
    lines = ["| " + " | ".join(TITLES.values()) + " |", "|---|---|" + "---:|" * (len(TITLES) - 2)]
    lines += ["| " + " | ".join(_cell(row[name]) for name in TITLES) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def _cell(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


def main() -> int:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--clients", type=int, default=64)
    options.add_argument("--seconds", type=float, default=60.0)
    options.add_argument("--kills", type=int, default=10)
    options.add_argument("--out", type=Path, help="a CSV file to write")
    options.add_argument("--page", type=Path, help="a page to put the table into")
    given = options.parse_args()
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder, Server("max_connections=300") as server:
        for minute in minutes(folder, server, given):
            rows.append(minute.row())
            print("  ".join(f"{name} {value}" for name, value in rows[-1].items()), flush=True)
            for text in sorted(set(minute.account.refused))[:3]:
                print("   refused:", text)
    if given.out is not None:
        write(rows, given.out)
    if given.page is not None:
        into_page(markdown(rows), given.page, "load")
    return 1 if any(row["lost"] or row["twice"] for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
