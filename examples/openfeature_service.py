"""A web shop whose flags are tuned while it serves: OpenFeature in front, a tuner behind.

    make flags

starts a small HTTP server on this machine and sends it visitors from several threads. A visit
evaluates two flags under its own key; what the visitor spends comes later, as another request, out
of order, sometimes twice and sometimes never. The shop knows nothing but OpenFeature. Prints what a
visitor spends at first and at the end, beside today's setting and the best one.
"""

from __future__ import annotations

import argparse
import json
import logging
import random
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlencode, urlsplit

import numpy as np
from openfeature import api
from openfeature.evaluation_context import EvaluationContext
from openfeature.track import TrackingEventDetails
from rich.console import Console
from rich.progress import Progress

import dikin
from dikin.adapters.openfeature import TunerProvider

THREADS = 8
LATE = 40
"""Visits of a thread after which the latest purchases come."""
TWICE, NEVER = 0.03, 0.05
"""Shares of the purchases that are reported twice, and that are never reported."""
NOISE = 15.0
"""The standard deviation of what a visitor spends."""
PARAMETERS = {"discount": dikin.Real(0, 50, start=5), "shipping": dikin.Real(0, 20, start=15)}
"""In percent and in dollars; the start is today's setting."""
TODAY = {"discount": 5.0, "shipping": 15.0}


def spent(discount: float, shipping: float) -> float:
    """What a visitor spends in the mean; most at a discount of 20 and 6 for shipping."""
    return 60.0 - 0.03 * (discount - 20.0) ** 2 - 0.15 * (shipping - 6.0) ** 2


# --- the shop ------------------------------------------------------------------------------------


class Shop(BaseHTTPRequestHandler):
    """What the shop does with a request; it knows flags and events, and nothing of a tuner."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    flags = api.get_client("shop")

    def do_GET(self) -> None:
        """A visit: what the visitor is offered."""
        visit = EvaluationContext(self._query["visit"])
        flags = {
            name: self.flags.get_float_details(name, today, visit) for name, today in TODAY.items()
        }
        trial = flags["discount"].flag_metadata.get("trial")
        self._answer({name: flag.value for name, flag in flags.items()} | {"trial": trial})

    def do_POST(self) -> None:
        """A purchase, long after the visit."""
        visit = EvaluationContext(self._query["visit"])
        self.flags.track("spent", visit, TrackingEventDetails(float(self._query["amount"])))
        self._answer({})

    @property
    def _query(self) -> dict[str, str]:
        return dict(parse_qsl(urlsplit(self.path).query))

    def _answer(self, content: dict[str, Any]) -> None:
        body = json.dumps(content).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing of single requests."""


class Server(ThreadingHTTPServer):
    """A thread for each connection; they end with the program."""

    daemon_threads = True
    request_queue_size = 128


@contextmanager
def serving() -> Iterator[int]:
    """The shop at a free port."""
    with Server(("127.0.0.1", 0), Shop) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


# --- the visitors --------------------------------------------------------------------------------


class Visit(NamedTuple):
    """What was offered, and what came of it."""

    trial: int
    mean: float
    """What visitors spend in the mean who are offered this."""
    reports: int
    """How often the purchase is reported."""


class Visitors:
    """One thread of visitors, over a connection of its own."""

    def __init__(self, port: int, thread: int, seed: int) -> None:
        self._shop, self._thread = HTTPConnection("127.0.0.1", port), thread
        self._draws = random.Random(f"{seed}/{thread}")
        self._due: list[tuple[int, dict[str, Any]]] = []
        """Reports that wait for their turn, the next one first."""

    def come(self, count: int, advance: Callable[[], None]) -> list[Visit]:
        """Visit so often, and report in between what is due."""
        visits = []
        for turn in range(count):
            visits.append(self._visit(turn))
            self._report(until=turn)
            advance()
        self._report(until=count + LATE)
        self._shop.close()
        return visits

    def _visit(self, turn: int) -> Visit:
        key = f"{self._thread}/{turn}"
        offered = self._send("GET", visit=key)
        trial, mean = offered.pop("trial"), spent(**offered)
        purchase = {"visit": key, "amount": mean + self._draws.gauss(0, NOISE)}
        lot = self._draws.random()
        reports = 0 if lot < NEVER else 2 if lot < NEVER + TWICE else 1
        self._due += [(turn + self._draws.randrange(LATE), purchase) for _ in range(reports)]
        self._due.sort(key=lambda report: report[0])
        return Visit(trial, mean, reports)

    def _report(self, until: int) -> None:
        while self._due and self._due[0][0] <= until:
            self._send("POST", **self._due.pop(0)[1])

    def _send(self, method: str, **query: Any) -> dict[str, Any]:
        self._shop.request(method, f"/?{urlencode(query)}")
        answer: dict[str, Any] = json.loads(self._shop.getresponse().read())
        return answer


def run(visits: int, seed: int) -> tuple[dikin.Tuner, list[Visit]]:
    """Serve and visit, with a progress bar; the visits in the order of their trials."""
    tuner = dikin.Tuner(PARAMETERS, maximize=True, seed=seed)
    api.set_provider_and_wait(TunerProvider(tuner, "spent"), "shop")
    with (
        serving() as port,
        Progress(console=Console(stderr=True)) as progress,
        ThreadPoolExecutor(THREADS) as pool,
    ):
        bar = progress.add_task("visits", total=visits)
        counts = [len(range(thread, visits, THREADS)) for thread in range(THREADS)]
        running = [
            pool.submit(Visitors(port, thread, seed).come, count, partial(progress.advance, bar))
            for thread, count in enumerate(counts)
        ]
        found = [visit for each in running for visit in each.result()]
    api.shutdown()
    return tuner, sorted(found)


def report(tuner: dikin.Tuner, visits: list[Visit]) -> str:
    """Before and after."""
    means = np.array([visit.mean for visit in visits])
    tenth = max(1, len(visits) // 10)
    reports = [visit.reports for visit in visits]
    rows = {
        "today's setting": f"{spent(**TODAY):.2f}",
        f"the first {tenth:,} visits": f"{means[:tenth].mean():.2f}",
        f"the last {tenth:,} visits": f"{means[-tenth:].mean():.2f}",
        "the best setting": f"{spent(20, 6):.2f}",
    }
    best = ", ".join(f"{name} {value:.1f}" for name, value in tuner.best.items())
    return "\n".join(
        [
            "mean spending of a visitor:",
            *(f"  {name:<26}{value}" for name, value in rows.items()),
            f"the tuner's setting now: {best}",
            f"{len(visits):,} visits, {sum(reports):,} reports ({reports.count(2):,} came twice, "
            f"{reports.count(0):,} never), {tuner.rounds:,} told",
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--visits", type=int, default=4000, help="in all (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of everything drawn (%(default)s)")
    chosen = parser.parse_args()
    logging.getLogger("dikin").setLevel(logging.ERROR)  # it warns of every report that came twice
    print(report(*run(chosen.visits, chosen.seed)))


if __name__ == "__main__":
    main()
