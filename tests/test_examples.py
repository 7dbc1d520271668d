"""The traffic example ends by itself, within its limits, and never leaves a server behind."""

from __future__ import annotations

import importlib
import itertools
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from math import factorial, prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
TRAFFIC = EXAMPLES / "traffic_split.py"


@pytest.fixture
def traffic(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(EXAMPLES)
    yield importlib.import_module("traffic_split")
    for name in ("traffic_split", "fleet"):
        sys.modules.pop(name, None)


def start(*options: object) -> subprocess.Popen[str]:
    command = [sys.executable, str(TRAFFIC), *map(str, options)]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )


def ports(text: str) -> list[int]:
    return [int(port) for port in text.partition("ports")[2].split("\n")[0].split()]


def listens(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def all_end(found: list[int]) -> bool:
    """Whether the servers end, given ten seconds."""
    assert len(found) == 3
    deadline = time.monotonic() + 10
    while any(map(listens, found)):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


# --- the command ---------------------------------------------------------------------------------


def test_a_small_run(tmp_path: Path) -> None:
    file = tmp_path / "split.png"
    game = start("--rounds", 100, "--seconds", 3, "--requests", 4, "--out", file)
    text, errors = game.communicate(timeout=60)
    assert game.returncode == 0, errors  # matplotlib may speak of its font cache there
    for name in ("learner", "even split", "told the capacities", "Certificate", "Drew"):
        assert name in text
    rounds, requests = map(int, re.search(r"(\d+) rounds with (\d+) requests", text).groups())
    assert 1 <= rounds <= 100
    assert requests == 4 * (rounds + 2 * (rounds // 4))
    assert file.read_bytes().startswith(b"\x89PNG")
    assert os.listdir(tmp_path) == ["split.png"]
    assert all_end(ports(text))


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_however_it_ends_the_servers_end(tmp_path: Path, how: signal.Signals) -> None:
    game = start("--seconds", 50, "--out", tmp_path / "split.png")
    assert game.stdout is not None
    found = ports(game.stdout.readline())
    assert all(map(listens, found))  # the probe sees them
    game.send_signal(how)
    game.wait(timeout=60)
    assert all_end(found)
    _, errors = game.communicate(timeout=60)  # not before: a server left would hold its end open
    if how == signal.SIGINT:
        assert (game.returncode, errors) == (130, "Stopped; the servers have ended.\n")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--rounds", 0, "at least 8, got 0"),
        ("--seconds", "inf", "at least 1 and finite, got inf"),
        ("--seconds", "nan", "at least 1 and finite, got nan"),
        ("--requests", 1, "between 2 and 64, got 1"),
        ("--seed", -1, "not be negative, got -1"),
        ("--out", "nowhere/split.png", "a folder that exists, got nowhere"),
    ],
)
def test_options_that_cannot_be(
    traffic: Any,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    option: str,
    value: object,
    message: str,
) -> None:
    monkeypatch.setattr(sys, "argv", ["traffic_split.py", option, str(value)])
    with pytest.raises(SystemExit):
        traffic.arguments()
    assert message in capsys.readouterr().err


# --- its parts -----------------------------------------------------------------------------------


def test_a_server_that_dies_is_noticed_and_the_others_end(traffic: Any) -> None:
    with traffic.Fleet.running(3, 2, seed=1) as fleet:
        even = np.full(3, 1 / 3)
        assert fleet.latency(even) > 0
        fleet._servers[1]._process.kill()
        with pytest.raises(OSError, match=r"reset|closed|[Bb]roken|not connected"):
            fleet.latency(np.array([0.0, 1.0, 0.0]))
    assert all_end(fleet.ports)


def test_requests_wait_for_each_other(traffic: Any) -> None:
    """Three requests at a server that takes s wait at least s, 2s and 3s: on average 2s."""
    with traffic.Fleet.running(2, 3, seed=1) as fleet:
        fleet.set_paces([20.0, 0.0])
        assert fleet.latency(np.array([1.0, 0.0])) >= 2 * 20
        assert fleet.sent == 3


class Pretended:
    """A fleet without servers: every burst takes as long as it is told."""

    requests = 6

    def __init__(self, latency: float) -> None:
        self._latency, self.paces, self.bursts = latency, [], 0

    def set_paces(self, paces: tuple[float, ...]) -> None:
        self.paces.append((self.bursts, paces))

    def latency(self, weights: Any) -> float:
        assert weights.sum() == pytest.approx(1)
        self.bursts += 1
        return self._latency


@pytest.mark.parametrize(("latency", "cut"), [(4.0, 0), (1e6, 40 + 2 * 10)])
def test_capacities_change_half_way_and_long_latencies_are_cut(
    traffic: Any, latency: float, cut: int
) -> None:
    fleet = Pretended(latency)
    *_, record = traffic.play(fleet, 40, 1e9, seed=1)
    assert (record.rounds, record.change, record.cut) == (40, 20, cut)
    assert record.compared == list(range(4, 41, 4))
    assert max(record.losses) == min(latency, traffic.worst(fleet.requests))
    assert fleet.paces == [(0, traffic.BEFORE), (20 + 2 * 5, traffic.AFTER)]
    assert len(traffic.summary(record).rows) == 3


def expected_latency(weights: tuple[float, ...], paces: tuple[float, ...], requests: int) -> float:
    """The mean latency of a burst, by going through every way to draw the servers."""
    total = 0.0
    for counts in itertools.product(range(requests + 1), repeat=len(paces)):
        if sum(counts) == requests:
            ways = factorial(requests) / prod(map(factorial, counts))
            chance = ways * prod(w**k for w, k in zip(weights, counts, strict=True))
            waits = sum(s * k * (k + 1) / 2 for s, k in zip(paces, counts, strict=True))
            total += chance * waits / requests
    return total


@pytest.mark.parametrize("paces", [(1.0, 2.5, 4.0), (1.0, 1.0, 30.0), (2.0, 2.0, 2.0)])
def test_no_split_beats_the_one_of_who_is_told(traffic: Any, paces: tuple[float, ...]) -> None:
    best = traffic.told_split(paces, 5)
    assert best.sum() == pytest.approx(1)
    assert best.min() >= 0
    least = expected_latency(best, paces, 5)
    for split in np.random.default_rng(1).dirichlet([1, 1, 1], size=50):
        # f is min(s) (N - 1)-strongly convex, so that another split costs visibly more.
        far = 4 * min(paces) / 2 * float(((split - best) ** 2).sum())
        assert expected_latency(split, paces, 5) >= least + far * (1 - 1e-9)
