"""The examples with servers end by themselves or when asked to, and leave no server behind."""

from __future__ import annotations

import os
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
from ctrl_c import press_ctrl_c

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
TRAFFIC = EXAMPLES / "traffic.py"


@pytest.fixture
def traffic(scripts: Any) -> Any:
    return scripts("traffic")


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
    """Whether the servers end, given a minute."""
    assert len(found) == 4
    deadline = time.monotonic() + 600
    while any(map(listens, found)):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


# --- the command ---------------------------------------------------------------------------------


def test_a_small_run(tmp_path: Path) -> None:
    game = start("--rounds", 4, "--games", 1, "--out", tmp_path)
    text, errors = game.communicate(timeout=600)
    assert game.returncode == 0, errors  # matplotlib may speak of its font cache there
    for name in ("dikin.Tuner", "keep the even split", "Bluefin", "told the capacities"):
        assert name in text
    assert "48 bursts of 6 requests" in text
    assert (tmp_path / "traffic.png").read_bytes().startswith(b"\x89PNG")
    files = {"traffic.csv", "traffic.png", "traffic.svg"}
    assert set(os.listdir(tmp_path)) == files
    assert all_end(ports(text))


@pytest.mark.parametrize("interrupted", [True, False])
def test_however_it_ends_the_servers_end(tmp_path: Path, interrupted: bool) -> None:
    game = start("--rounds", 10_000, "--out", tmp_path)
    assert game.stdout is not None
    found = ports(game.stdout.readline())
    assert all(map(listens, found))  # the probe sees them
    if interrupted:
        press_ctrl_c(game)
    else:
        game.kill()
        game.wait(timeout=600)
    assert all_end(found)
    _, errors = game.communicate(timeout=600)  # not before: a server left would hold its end open
    if interrupted:
        assert game.returncode == 130
        assert errors.endswith("Stopped; the servers have ended.\n")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--rounds", 1, "at least 2, got 1"),
        ("--games", 0, "at least 1, got 0"),
        ("--seed", -1, "at least 0, got -1"),
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
    monkeypatch.setattr(sys, "argv", ["traffic.py", option, str(value)])
    with pytest.raises(SystemExit):
        traffic.arguments()
    assert message in capsys.readouterr().err


# --- its parts -----------------------------------------------------------------------------------


def test_a_server_that_dies_is_noticed_and_the_others_end(traffic: Any) -> None:
    with traffic.Fleet.running(4, 1, 2) as fleet:
        assert fleet.latency([1, 0, 1, 0]) > 0
        fleet.servers[1].process.kill()
        with pytest.raises(OSError, match=r"reset|closed|[Bb]roken|not connected"):
            fleet.latency([0, 1, 0, 0])
    assert all_end(fleet.ports)


def test_requests_wait_for_each_other(traffic: Any) -> None:
    """Three requests at a server that takes s wait at least s, 2s and 3s: on average 2s."""
    with traffic.Fleet.running(2, 1, 3) as fleet:
        fleet.set_paces([20.0, 0.0])
        assert fleet.latency([3, 0]) >= 2 * 20


class Pretended:
    """A fleet without servers, whose first burst is answered after the second."""

    def __init__(self) -> None:
        self.paces: list[Any] = []
        self.bursts: list[list[int]] = []
        self._second = threading.Event()

    def set_paces(self, paces: tuple[float, ...]) -> None:
        self.paces.append((len(self.bursts), paces))

    def latency(self, counts: list[int]) -> float:
        self.bursts.append(counts)
        if len(self.bursts) > 1:
            self._second.set()
        assert self._second.wait(timeout=600)
        return cost(counts)


def cost(counts: list[int]) -> float:
    """A number by which a burst is recognised."""
    return float(np.dot(counts, [1, 10, 100, 1000]))


class Noting:
    """Plays even shares, and notes what it is told of which trial."""

    def __init__(self) -> None:
        self.asked, self.told = 0, {}

    def ask(self) -> dikin.Trial:
        self.asked += 1
        return dikin.Trial(self.asked - 1, np.full(4, 0.25), {})

    def tell(self, trial: dikin.Trial, value: float) -> None:
        self.told[trial.id] = value


def test_answers_out_of_order_reach_their_trials(traffic: Any) -> None:
    fleet, player, answers = Pretended(), Noting(), []
    change = traffic.Change(40, traffic.BEFORE, traffic.AFTER)
    record = traffic.play(fleet, player, change, 3, lambda: answers.append(1))
    assert (len(answers), player.asked, len(fleet.bursts)) == (40, 40, 40)
    draws = np.random.default_rng(3)
    drawn = [cost(draws.multinomial(traffic.REQUESTS, np.full(4, 0.25))) for _ in range(40)]
    assert record.latencies.tolist() == drawn
    assert [player.told[id] for id in range(40)] == drawn
    assert sorted(map(cost, fleet.bursts)) == sorted(drawn)
    assert record.overtaken >= 1
    assert record.shares.sum(axis=1) == pytest.approx(1)


def test_the_servers_change_half_way(traffic: Any) -> None:
    for after, times in ((traffic.AFTER, 2), (traffic.BEFORE, 1)):
        fleet = Pretended()
        traffic.play(fleet, Noting(), traffic.Change(40, traffic.BEFORE, after), 3, lambda: None)
        assert [paces for _, paces in fleet.paces] == [traffic.BEFORE, traffic.AFTER][:times]
        # The clients may have a burst or two that is not yet sent.
        assert all(20 - traffic.CLIENTS <= bursts <= 20 for bursts, _ in fleet.paces[1:])


def test_who_is_told_keeps_all_servers_equally_busy(traffic: Any) -> None:
    told = traffic.Told(traffic.Change(4, traffic.BEFORE, traffic.AFTER))
    for paces in (traffic.BEFORE, traffic.BEFORE, traffic.AFTER, traffic.AFTER):
        busy = told.ask().point * np.array(paces)
        assert busy == pytest.approx(np.full(4, busy[0]))


def test_every_player_plays_shares(traffic: Any) -> None:
    change = traffic.Change(30, traffic.BEFORE, traffic.AFTER)
    for make in traffic.PLAYERS.values():
        record = traffic.play(Pretended(), make(change, 1), change, 1, lambda: None)
        assert record.shares.min() >= 0
        assert record.shares.sum(axis=1) == pytest.approx(1)


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_the_service_of_the_demo_ends_with_it(end: signal.Signals) -> None:
    command = [sys.executable, str(EXAMPLES / "serve_demo.py")]
    demo = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert demo.stdout is not None
    assert demo.stdout.readline() == "playing the first 700 rounds ...\n"
    demo.send_signal(end)
    rest, _ = demo.communicate(timeout=600)  # the service holds the pipe for as long as it runs
    assert "Traceback" not in rest
    assert demo.returncode == 0
