"""The service for half an hour among honest, slow, silent and hostile clients.

    make soak MINUTES=30
    python tests/service/soak.py --minutes 3

64 honest clients ask and tell as fast as they are answered. Besides them there are 300 slow ones,
which send a request letter by letter, 1,000 silent ones, which connect and say nothing, and one
token whose clients do what costs most: asks that are never answered, large bodies, long histories,
streams, and answers that nobody reads. Whoever is disconnected connects again.

What counts: every answer that an honest client got is in the store, none is there twice, no honest
call failed, and memory, file descriptors and the log of the service stay bounded.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import select
import socket
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
import urllib3

from dikin.service.tokens import TokenStore
from in_memory import in_memory
from service import crowd, load
from service.adversity import many_descriptors
from service.serving import FreshServing, shop

SLOW = (
    b"POST /v1/studies/shop/ask HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    b"Content-Length: 9000\r\n\r\n{"
)


# --- clients that are not honest ------------------------------------------------------------------


def connected(port: int) -> socket.socket | None:
    made = socket.socket()
    made.setblocking(False)
    try:
        made.connect_ex(("127.0.0.1", port))
    except OSError:
        made.close()
        return None
    return made


def idle(port: int, silent: int, slow: int, end: float) -> None:
    """Connections on which nothing comes, or a letter now and then; made again when closed."""
    held: dict[socket.socket, bool] = {}
    while time.monotonic() < end:
        for kind, wanted in ((False, silent), (True, slow)):
            have = sum(each is kind for each in held.values())
            for _ in range(min(200, wanted - have)):
                made = connected(port)
                if made is not None:
                    held[made] = kind
        time.sleep(0.5)
        for each in [each for each, kind in held.items() if kind]:
            try:
                each.send(SLOW if id(each) % 7 == 0 else b"G")
            except OSError:
                del held[each]
                each.close()
        for each in gone(list(held)):
            held.pop(each, None)
            each.close()


def gone(held: list[socket.socket]) -> list[socket.socket]:
    """Those that the service has closed."""
    poll = select.poll()
    for each in held:
        poll.register(each, select.POLLIN | select.POLLHUP | select.POLLERR)
    by_number = {each.fileno(): each for each in held}
    return [by_number[number] for number, _ in poll.poll(0)]


def hostile(url: str, token: str, end: float) -> None:
    """What costs a service most, from many threads."""
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    large = json.dumps({"context": [0.5] * 90_000}).encode()
    requests: list[tuple[str, str, bytes | None]] = [
        ("POST", "/v1/studies/shop/ask", large),
        ("POST", "/v1/studies/mine/ask", b'{"n": 1000}'),
        ("GET", "/v1/studies/mine/open?limit=1000", None),
        ("GET", "/v1/studies/shop/history?limit=1000", None),
        ("GET", "/v1/studies/mine/state", None),
        ("GET", "/v1/studies/shop/events", None),
        ("GET", "/metrics", None),
        ("POST", "/v1/studies/mine/verify", None),
    ]

    def press(number: int) -> None:
        pool = urllib3.PoolManager(retries=False, timeout=30)
        while time.monotonic() < end:
            method, path, body = requests[number % len(requests)]
            number += 1
            try:
                answer = pool.request(
                    method, url + path, body=body, headers=headers, preload_content=False
                )
                if number % 5:
                    answer.read(2_000 if path.endswith("/events") else 2_000_000)
                answer.close()  # sometimes unread
            except (urllib3.exceptions.HTTPError, OSError):
                continue

    threads = [threading.Thread(target=press, args=(number,), daemon=True) for number in range(48)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(max(0.0, end - time.monotonic()))


# --- what the service needs -----------------------------------------------------------------------


class Watch(threading.Thread):
    """The memory, the descriptors and the log of a process, looked at every second."""

    def __init__(self, running: FreshServing) -> None:
        super().__init__(daemon=True)
        self._running, self._end = running, threading.Event()
        self.megabytes: list[float] = []
        self.descriptors: list[int] = []

    def run(self) -> None:
        process = Path(f"/proc/{self._running.process.pid}")
        while not self._end.wait(1.0):
            status = (process / "status").read_text()
            resident = next(line for line in status.splitlines() if line.startswith("VmRSS"))
            self.megabytes.append(int(resident.split()[1]) / 1024)
            self.descriptors.append(len(os.listdir(process / "fd")))

    def stop(self) -> None:
        self._end.set()
        self.join()


def soak(minutes: float, clients: int, slow: int, silent: int) -> int:
    """All clients for some minutes; the exit status."""
    seconds = 60.0 * minutes
    with tempfile.TemporaryDirectory(dir=in_memory()) as folder:
        store = f"{folder}/studies.db"
        for name in ("shop", "mine"):
            shop(store, name).close()
        tokens = {name: TokenStore(store).create(name, "play") for name in ("honest", "hostile")}
        os.environ["DIKIN_TOKEN"] = tokens["honest"]
        with FreshServing(store) as running:
            end = time.monotonic() + seconds
            others = [
                multiprocessing.Process(target=idle, args=(running.port, silent, slow, end)),
                multiprocessing.Process(target=hostile, args=(running.url, tokens["hostile"], end)),
            ]
            for each in others:
                each.start()
            watch = Watch(running)
            watch.start()
            playing = load.all_clients(seconds, clients, crowd.start, running.url, "shop", 60.0)
            next(playing)
            account = next(playing)
            watch.stop()
            for each in others:
                each.join()
            lines = running.logged().splitlines()
            metrics = urllib3.request(
                "GET",
                running.url + "/metrics",
                headers={"Authorization": f"Bearer {tokens['honest']}"},
            ).data.decode()
        faults = crowd.faults(store, "shop", account)
    return report(seconds, account, faults, watch, lines, metrics)


def report(
    seconds: float,
    account: crowd.Account,
    faults: dict[str, int],
    watch: Watch,
    lines: list[str],
    metrics: str,
) -> int:
    taken = 1000 * np.array(account.seconds or [np.nan])
    tenth = max(1, len(watch.megabytes) // 10)
    begin, late = np.mean(watch.megabytes[tenth : 2 * tenth]), np.mean(watch.megabytes[-tenth:])
    others = [line for line in lines if not _is_honest(line)]
    rows: dict[str, Any] = {
        "seconds": round(seconds),
        "honest requests answered": f"{len(account.seconds):,}",
        "honest requests a second": round(len(account.seconds) / seconds),
        "honest calls that failed": len(account.refused),
        "median, ms": round(float(np.median(taken)), 1),
        "99 %, ms": round(float(np.percentile(taken, 99)), 1),
        "slowest, ms": round(float(taken.max()), 1),
        "lost, altered or twice": sum(faults.values()),
        "memory, MB (after a tenth of the time, at the end, most)": (
            f"{begin:.0f}, {late:.0f}, {max(watch.megabytes):.0f}"
        ),
        "descriptors, most": max(watch.descriptors),
        "log, lines of honest requests": f"{len(lines) - len(others):,}",
        "log, lines of everything else": f"{len(others):,} ({sum(map(len, others)):,} bytes)",
    }
    for name, value in rows.items():
        print(f"{name:58} {value}")
    for line in metrics.splitlines():
        if line.startswith(("dikin_refused_total", "dikin_closed_connections_total")):
            print(line)
    for text in sorted(set(account.refused))[:3]:
        print("failed:", text[:200])
    return 1 if account.refused or any(faults.values()) else 0


def _is_honest(line: str) -> bool:
    return '"token": "honest"' in line and '"status": 200' in line


def main() -> int:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--minutes", type=float, default=30.0)
    options.add_argument("--clients", type=int, default=64)
    options.add_argument("--slow", type=int, default=300)
    options.add_argument("--silent", type=int, default=1000)
    given = options.parse_args()
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    many_descriptors()
    print(f"{given.minutes:g} minutes ...", flush=True)
    return soak(given.minutes, given.clients, given.slow, given.silent)


if __name__ == "__main__":
    sys.exit(main())
