"""Traffic among web servers of this machine, split by the mean latency of bursts of requests.

Four servers run in processes of their own, each with one worker, another time per request and a
queue. Three clients send bursts at the same time, every request to a server drawn by the shares of
its trial, so that answers come late and out of order. The servers stay as they are, or change
places half-way. Costs are mean latencies in milliseconds. The second number is the last tenth.

    python -m evidence.traffic     a server: its port, then milliseconds a request from its input
"""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np

import dikin
from evidence.games import Outcome, Task
from evidence.rivals import PLAYERS, USUAL, Parameters, Tuning, last_tenth

TITLE, GAMES, WORKERS, LEAST = "Traffic", 6, 1, 1e-9
ROUNDS = 500
NAMES = ("a", "b", "c", "d")
BEFORE, AFTER = (1.0, 2.0, 3.0, 6.0), (6.0, 3.0, 2.0, 1.0)
"""Milliseconds per request: at first, and after the servers have changed places."""
PROBLEMS = {"servers stay": BEFORE, "servers change": AFTER}
CLIENTS, REQUESTS = 3, 6
"""Bursts that are under way at once, and requests in each."""
HUNG = 10.0
"""Seconds without an answer after which a server is given up."""
KNOWS = "knows the capacities"
"""A reference, which is left out of comparisons."""
PARAMETERS: Parameters = {"share": dikin.Shares(NAMES)}


# --- the servers ---------------------------------------------------------------------------------


class Handler(BaseHTTPRequestHandler):
    """One connection. Requests wait for the one worker: that is the queue."""

    protocol_version = "HTTP/1.1"  # connections stay open
    disable_nagle_algorithm = True
    milliseconds = 0.0
    worker = threading.Lock()

    def do_GET(self) -> None:
        with self.worker:
            time.sleep(Handler.milliseconds / 1000)
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """A line for each request would be thousands."""


def serve() -> None:
    """Serve until the input ends, which it does however the program that started it ends."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_port, flush=True)
    for line in sys.stdin:
        Handler.milliseconds = float(line)
        print(line, end="", flush=True)


class Fleet:
    """All servers, and connections of every thread to each of them."""

    def __init__(self, servers: Sequence[subprocess.Popen[str]]) -> None:
        self.servers = servers
        self.ports = [int(self._line(server)) for server in servers]
        self._own, self._connections = threading.local(), list[HTTPConnection]()

    @classmethod
    @contextmanager
    def running(cls) -> Iterator[Fleet]:
        """Start the servers, and end them."""
        command = [sys.executable, "-m", "evidence.traffic"]
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        # A session of its own: Ctrl-C is for the clients, and the end of its input for the server.
        pipes |= {"stderr": subprocess.DEVNULL, "start_new_session": True}
        servers = [subprocess.Popen(command, **pipes) for _ in NAMES]
        fleet = None
        try:
            fleet = cls(servers)
            yield fleet
        finally:
            for connection in fleet._connections if fleet else ():
                connection.close()
            for server in servers:
                server.communicate(timeout=HUNG)  # closes its input, and waits

    def _line(self, server: subprocess.Popen[str]) -> str:
        assert server.stdout is not None
        line = server.stdout.readline()
        if not line:
            raise ChildProcessError(f"the server with the process id {server.pid} has ended")
        return line

    def set_paces(self, milliseconds: Sequence[float]) -> None:
        for server, pace in zip(self.servers, milliseconds, strict=True):
            print(pace, file=server.stdin, flush=True)
            self._line(server)  # the server repeats it when it counts

    def latency(self, place: int) -> float:
        """Return the milliseconds of one request to a server, over a connection of this thread."""
        own = vars(self._own).setdefault("connections", {})
        if place not in own:
            own[place] = HTTPConnection("127.0.0.1", self.ports[place], timeout=HUNG)
            self._connections.append(own[place])
        begin = time.perf_counter()
        own[place].request("GET", "/")
        answer = own[place].getresponse()
        answer.read()
        if answer.status != 204:
            raise ConnectionError(f"wanted the status 204 from a server, got {answer.status}")
        return 1000.0 * (time.perf_counter() - begin)


# --- the games -----------------------------------------------------------------------------------


class Knowing:
    """Splits in proportion to the capacities."""

    def __init__(self) -> None:
        self.paces, self._asked = BEFORE, 0

    @property
    def best(self) -> dict[str, dict[str, float]]:
        rates = 1.0 / np.array(self.paces)
        return {"share": dict(zip(NAMES, (rates / rates.sum()).tolist(), strict=True))}

    def ask(self) -> dikin.Trial:
        params, self._asked = self.best, self._asked + 1
        return dikin.Trial(self._asked, np.array([*params["share"].values()]), params)

    def tell(self, trial: dikin.Trial, value: float) -> None:
        pass


def latencies(fleet: Fleet, player: Tuning, task: Task) -> np.ndarray[Any, Any]:
    """Return the mean latency of every burst. All clients are kept busy."""
    draws, asked = np.random.default_rng(task.game), 0
    found = np.full(task.rounds, np.nan)
    waiting: dict[Future[float], tuple[int, dikin.Trial]] = {}

    with (
        ThreadPoolExecutor(CLIENTS) as clients,
        ThreadPoolExecutor(CLIENTS * REQUESTS) as requests,
    ):

        def burst(places: list[int]) -> float:
            return float(np.mean([*requests.map(fleet.latency, places)]))

        fleet.set_paces(BEFORE)
        while asked < task.rounds or waiting:
            while asked < task.rounds and len(waiting) < CLIENTS:
                if 2 * asked == task.rounds:
                    fleet.set_paces(PROBLEMS[task.problem])
                    if isinstance(player, Knowing):
                        player.paces = PROBLEMS[task.problem]
                trial = player.ask()
                places = draws.choice(len(NAMES), REQUESTS, p=trial.point / trial.point.sum())
                waiting[clients.submit(burst, places.tolist())] = asked, trial
                asked += 1
            for done in wait(waiting, return_when=FIRST_COMPLETED).done:
                round, trial = waiting.pop(done)
                found[round] = done.result()
                player.tell(trial, float(found[round]))
    return found


def run(task: Task) -> Outcome:
    """One game."""
    player: Tuning = Knowing()
    if task.player != KNOWS:
        player = PLAYERS[task.player](PARAMETERS, False, task.game, task.rounds)
    with Fleet.running() as fleet:
        found = latencies(fleet, player, task)
    return Outcome(float(found.mean()), last_tenth(found))


def tasks(games: range) -> list[Task]:
    """Every game, the players of a game in random order."""
    order = np.random.default_rng(1)
    every = [(problem, player) for problem in PROBLEMS for player in (*USUAL, KNOWS)]
    return [
        Task(every[place][0], ROUNDS, every[place][1], 1 + game)
        for game in games
        for place in order.permutation(len(every))
    ]


if __name__ == "__main__":
    serve()
