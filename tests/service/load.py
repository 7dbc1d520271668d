"""Load on a service: 64 clients for a minute, and kill -9 meanwhile.

python tests/service/load.py                        all of it, about six minutes
python tests/service/load.py --seconds 10 --kills 2
"""

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
from types import SimpleNamespace
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np

from marks import into_page
from service import crowd
from service.crowd import Account
from service.serving import FreshServing, shop
from studies.postgres import Server

PROCESSES = 2
"""Among which the clients are divided: one process of Python cannot make enough requests."""
PATIENCE = 60.0
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
"""Columns of the page; the file has clients and seconds too."""


def serve(
    store: str, url: str, clients: int, seconds: float, kills: int, slow: int = 0
) -> dict[str, Any]:
    """A service with this many clients."""
    name = f"load {kills} {slow}"
    shop(url, name).close()
    with (
        FreshServing(url, "--log", "warning") as running,
        idle_clients(running.port, slow),
        ProcessPoolExecutor(PROCESSES) as pool,
    ):
        share, began = clients // PROCESSES, time.monotonic()
        given = (crowd.play_for, seconds, share, running.url, name, PATIENCE)
        parts = [pool.submit(*given) for _ in range(PROCESSES)]
        for number in range(kills):
            time.sleep(max(0.0, began + seconds * (number + 1) / (kills + 1) - time.monotonic()))
            running.kill()
            running.start()
        account = crowd.sum_of([part.result() for part in parts])
    faults = crowd.faults(url, name, account)
    who = "dikin serve" + (f", {slow} slow and half-open clients besides" if slow else "")
    return row_of(who, store, clients, seconds, kills, account, faults)


def row_of(
    who: str, store: str, clients: int, seconds: float, kills: int, account: Account, faults: Any
) -> dict[str, Any]:
    for text in sorted(set(account.refused))[:3]:
        print("   refused:", text)
    taken = 1000 * np.array(account.seconds or [np.nan])
    return {
        "who": who,
        "store": store,
        "clients": clients,
        "seconds": round(seconds),
        "kills": kills,
        "requests_a_second": round(len(account.seconds) / seconds),
        "median_ms": round(float(np.median(taken)), 1),
        "p99_ms": round(float(np.percentile(taken, 99)), 1),
        "answers": len(account.told),
        "lost": faults["lost"] + faults["altered"] + faults["asked and gone"],
        "twice": faults["twice"] + faults["given twice"],
        "refused": len(account.refused),
    }


@contextmanager
def rival(url: str, name: str, **_: Any) -> Iterator[Any]:
    """A study of Optuna in a database, with what a client calls of ours."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    wait = {"connect_args": {"timeout": 60}} if url.startswith("sqlite") else {}
    storage = optuna.storages.RDBStorage(url, engine_kwargs=wait)
    study = optuna.create_study(
        storage=storage,
        study_name=name,
        sampler=optuna.samplers.RandomSampler(),
        load_if_exists=True,
    )
    kinds = {"price": optuna.distributions.FloatDistribution(1, 14)}

    def ask() -> Any:
        trial = study.ask(kinds)
        return SimpleNamespace(id=trial.number, point=[trial.params["price"]], trial=trial)

    yield SimpleNamespace(
        ask=ask, tell=lambda asked, value: study.tell(asked.trial, value), trials=study.get_trials
    )


def measure_rival(store: str, url: str, clients: int, seconds: float) -> dict[str, Any]:
    """Optuna's storage in the same database, with as many clients, which are not over HTTP."""
    share = clients // PROCESSES
    with rival(url, "rival") as study, ProcessPoolExecutor(PROCESSES) as pool:
        given = (crowd.play_for, seconds, share, url, "rival", PATIENCE, rival)
        parts = [pool.submit(*given) for _ in range(PROCESSES)]
        account = crowd.sum_of([part.result() for part in parts])
        kept = {each.number: each.value for each in study.trials(deepcopy=False)}
    lost = sum(kept.get(id) != value for id, value in account.told.items())
    twice = len(account.asked) - len(set(account.asked))
    faults = crowd.NOTHING | {"lost": lost, "given twice": twice}
    return row_of("Optuna's RDBStorage", store, clients, seconds, 0, account, faults)


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


def markdown(rows: list[dict[str, Any]]) -> str:
    """The table for a page."""
    lines = ["| " + " | ".join(TITLES.values()) + " |", "|---|---|" + "---:|" * (len(TITLES) - 2)]
    for row in rows:
        cells = (row[name] for name in TITLES)
        texts = (f"{each:,}" if isinstance(each, int) else str(each) for each in cells)
        lines.append("| " + " | ".join(texts) + " |")
    return "\n".join(lines) + "\n"


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
        places = {"SQLite": f"{folder}/studies.db", "PostgreSQL": server.url}
        for seconds, kills, slow in (
            (given.seconds, 0, 0),
            (given.seconds, given.kills, 0),
            (given.seconds / 2, 0, 300),
        ):
            for store, url in list(places.items())[: 1 if slow else 2]:
                rows.append(serve(store, url, given.clients, seconds, kills, slow))
                print("  ".join(f"{name} {each}" for name, each in rows[-1].items()), flush=True)
        rivals = {
            "SQLite": f"sqlite:///{folder}/optuna.db",
            "PostgreSQL": server.url.replace("postgresql:", "postgresql+psycopg:"),
        }
        for store, url in rivals.items():
            rows.append(measure_rival(store, url, given.clients, given.seconds / 2))
            print("  ".join(f"{name} {each}" for name, each in rows[-1].items()), flush=True)
    if given.out is not None:
        with given.out.open("w", encoding="utf-8", newline="") as file:
            table = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            table.writeheader()
            table.writerows(rows)
    if given.page is not None:
        into_page(markdown(rows), given.page, "load")
    return 1 if any(row["lost"] or row["twice"] for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
