"""Traffic among servers: answers out of order, a change half-way, and no server is left behind."""

import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dikin
from evidence import traffic
from evidence.games import Task

ROOT = Path(__file__).resolve().parents[2]
CHANGE = Task("servers change", 40, "", 3)


def listens(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_servers_end_with_the_program_that_is_killed() -> None:
    program = (
        "from evidence.traffic import Fleet\n"
        "with Fleet.running() as fleet: print(*fleet.ports, flush=True); input()"
    )
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, **pipes) as game:
        assert game.stdout is not None
        ports = [int(port) for port in game.stdout.readline().split()]
        assert len(ports) == 4
        assert all(map(listens, ports))  # the probe sees them
        game.kill()
    deadline = time.monotonic() + 600
    while any(map(listens, ports)):
        assert time.monotonic() < deadline
        time.sleep(0.02)


class Pretended:
    """A fleet without servers, whose first burst is answered after the second."""

    def __init__(self) -> None:
        self.paces: list[tuple[int, Any]] = []
        self.sent: list[int] = []
        self._late = threading.Event()

    def set_paces(self, paces: tuple[float, ...]) -> None:
        self.paces.append((len(self.sent), paces))

    def latency(self, place: int) -> float:
        self.sent.append(place)
        if len(self.sent) > 2 * traffic.REQUESTS:
            self._late.set()
        if len(self.sent) <= traffic.REQUESTS:
            assert self._late.wait(timeout=600)
        return 10.0**place


class Noting:
    """Uses even shares, and notes the values of its trials."""

    best: dict[str, Any] = {}

    def __init__(self) -> None:
        self.asked, self.values = 0, {}

    def ask(self) -> dikin.Trial:
        self.asked += 1
        return dikin.Trial(self.asked - 1, np.full(4, 0.25), {})

    def tell(self, trial: dikin.Trial, value: float) -> None:
        self.values[trial.id] = value


def test_answers_out_of_order_reach_their_trials() -> None:
    fleet, player = Pretended(), Noting()
    found = traffic.latencies(fleet, player, CHANGE)  # type: ignore[arg-type]
    draws, even = np.random.default_rng(3), np.full(4, 0.25)
    expected = [(10.0 ** draws.choice(4, traffic.REQUESTS, p=even)).mean() for _ in range(40)]
    assert found.tolist() == pytest.approx(expected)
    assert [player.values[id] for id in range(40)] == pytest.approx(expected)
    assert [*player.values] != sorted(player.values)


def test_the_servers_change_half_way() -> None:
    for problem, after in traffic.PROBLEMS.items():
        fleet = Pretended()
        traffic.latencies(fleet, Noting(), CHANGE._replace(problem=problem))  # type: ignore[arg-type]
        assert [paces for _, paces in fleet.paces] == [traffic.BEFORE, after]
        # The clients may have a burst or two that is not yet sent.
        begun = fleet.paces[1][0] / traffic.REQUESTS
        assert 20 - traffic.CLIENTS <= begun <= 20


def test_the_reference_keeps_all_servers_equally_busy() -> None:
    knowing = traffic.Knowing()
    for paces in (traffic.BEFORE, traffic.AFTER):
        knowing.paces = paces
        busy = knowing.ask().point * np.array(paces)
        assert busy == pytest.approx(np.full(4, busy[0]))


def test_the_service_of_the_demo_ends_with_it() -> None:
    command = [sys.executable, str(ROOT / "examples" / "serve_demo.py")]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    demos = [(subprocess.Popen(command, **pipes), end) for end in (signal.SIGINT, signal.SIGTERM)]
    for demo, end in demos:
        assert demo.stdout.readline() == "running the first 700 rounds ...\n"
        demo.send_signal(end)
    for demo, _ in demos:
        rest, _ = demo.communicate(timeout=600)  # the service holds the pipe while it runs
        assert ("Traceback" in rest, demo.returncode) == (False, 0)
