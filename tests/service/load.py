"""Load on a service: 64 clients for a minute, kill -9 meanwhile, and Optuna doing the same.

    python tests/service/load.py                        all of it, about eight minutes
    python tests/service/load.py --seconds 10 --kills 2

A client asks and tells as fast as it is answered. Every answer that it got is looked for in the
store afterwards. Optuna's clients ask for a trial with one number, and tell its value, through its
own storages; its sampler is the random one, the quickest that it has.
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
from collections.abc import Callable, Iterator
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


def play_for(
    seconds: float, count: int, start: Callable[..., list[crowd.Client]], *where: Any
) -> Account:
    """Some clients in this process."""
    end = threading.Event()
    clients = start(count, *where, end)
    time.sleep(seconds)
    end.set()
    return crowd.together(clients)


def all_clients(
    seconds: float, count: int, start: Callable[..., list[crowd.Client]], *where: Any
) -> Iterator[Account]:
    """All clients, among processes; first that they have begun, then the account of all."""
    with ProcessPoolExecutor(PROCESSES) as pool:
        share = count // PROCESSES
        parts = [pool.submit(play_for, seconds, share, start, *where) for _ in range(PROCESSES)]
        yield Account([], {}, [], [])
        found = [part.result() for part in parts]
    yield Account(
        [id for each in found for id in each.asked],
        {id: value for each in found for id, value in each.told.items()},
        [text for each in found for text in each.refused],
        [taken for each in found for taken in each.seconds],
    )


# --- dikin ---------------------------------------------------------------------------------------


def serve(kind: str, url: str, clients: int, seconds: float, kills: int, slow: int = 0) -> Minute:
    """A service with this many clients."""
    name = f"load {kills} {slow}"
    shop(url, name).close()
    with FreshServing(url, "--log", "warning") as running, idle_clients(running.port, slow):
        playing = all_clients(seconds, clients, crowd.start, running.url, name, 60.0)
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


# --- Optuna --------------------------------------------------------------------------------------


class OptunaClient(crowd.Client):
    """The same with a study of Optuna."""

    def __init__(self, number: int, storage: Any, name: str, end: Any) -> None:
        threading.Thread.__init__(self, name=f"client {number}")
        self.number, self._end = number, end
        self._storage, self._name = storage, name
        self.account = Account([], {}, [], [])

    def run(self) -> None:
        import optuna

        asked, told, refused, seconds = self.account
        sampler = optuna.samplers.RandomSampler()
        study = optuna.load_study(study_name=self._name, storage=self._storage, sampler=sampler)
        while not self._end.is_set():
            began = time.perf_counter()
            try:
                trial = study.ask()
                value = 100.0 - (trial.suggest_float("price", 1, 14) - 7) ** 2
                asked.append(trial.number)
                middle = time.perf_counter()
                study.tell(trial, value)
                told[trial.number] = value
                seconds += [middle - began, time.perf_counter() - middle]
            except Exception as error:
                refused.append(f"{type(error).__name__}: {error}"[:200])


def start_optuna(count: int, url: str, name: str, end: Any) -> list[crowd.Client]:
    storage = optuna_storage(url)  # one a process: its connections are shared
    clients: list[crowd.Client] = [
        OptunaClient(number, storage, name, end) for number in range(count)
    ]
    for client in clients:
        client.start()
    return clients


def optuna_storage(url: str) -> Any:
    import optuna

    if url.startswith("grpc:"):
        return optuna.storages.GrpcStorageProxy(host="127.0.0.1", port=int(url[5:]))
    pool = {} if url.startswith("sqlite") else {"pool_size": 32}
    return optuna.storages.RDBStorage(url, engine_kwargs=pool)


def optuna_minute(
    who: str, kind: str, url: str, clients: int, seconds: float, store: str
) -> Minute:
    """The same minute of Optuna; `store` is where its trials are looked for afterwards."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    optuna.create_study(study_name=who, storage=optuna_storage(store), direction="maximize")
    playing = all_clients(seconds, clients, start_optuna, url, who)
    next(playing)
    account = next(playing)
    trials = optuna.load_study(study_name=who, storage=optuna_storage(store)).get_trials()
    kept = {trial.number: trial.value for trial in trials if trial.state.name == "COMPLETE"}
    faults = crowd.NOTHING | {
        "lost": sum(id not in kept for id in account.told),
        "given twice": len(account.asked) - len(set(account.asked)),
    }
    return Minute(who, kind, clients, seconds, 0, account, faults)


@contextmanager
def optuna_server(store: str) -> Iterator[int]:
    """Optuna's own service, in a process of its own."""
    import subprocess

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    text = (
        "import optuna, sys; optuna.storages.run_grpc_proxy_server("
        "optuna.storages.RDBStorage(sys.argv[1]), host='127.0.0.1', port=int(sys.argv[2]))"
    )
    running = subprocess.Popen(
        [sys.executable, "-c", text, store, str(port)], stderr=subprocess.DEVNULL
    )
    try:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            with socket.socket() as tried:
                if tried.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        yield port
    finally:
        running.kill()
        running.wait()


# --- all of it -----------------------------------------------------------------------------------


def minutes(folder: str, server: Server, given: argparse.Namespace) -> Iterator[Minute]:
    clients, seconds = given.clients, given.seconds
    file, postgres = f"{folder}/studies.db", server.url
    yield serve("SQLite", file, clients, seconds, 0)
    yield serve("PostgreSQL", postgres, clients, seconds, 0)
    yield serve("SQLite", file, clients, seconds, given.kills)
    yield serve("PostgreSQL", postgres, clients, seconds, given.kills)
    yield serve("SQLite", file, clients, seconds / 2, 0, slow=300)
    sqlite, psycopg = f"sqlite:///{folder}/optuna.db", postgres.replace("://", "+psycopg://")
    yield optuna_minute("Optuna, RDB storage", "SQLite", sqlite, clients, seconds, sqlite)
    yield optuna_minute("Optuna, RDB storage", "PostgreSQL", psycopg, clients, seconds, psycopg)
    with optuna_server(psycopg) as port:
        yield optuna_minute(
            "Optuna, gRPC service", "PostgreSQL", f"grpc:{port}", clients, seconds, psycopg
        )


def write(rows: list[dict[str, Any]], out: Path) -> None:
    with out.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


TITLES = {
    "who": "",
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
    bad = [row for row in rows if "dikin" in row["who"] and (row["lost"] or row["twice"])]
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
