"""Servers that freeze, disks that are full."""

from __future__ import annotations

import os
import random
import resource
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import dikin
from dikin.errors import BusyError, StoreError
from studies.postgres import Server
from studies.small import begin, fresh, step

Harm = Callable[[int, int], Iterator[bool]]
"""Of how often, and a seed."""
PATIENCE = 0.3


def insist(call: Callable[[], Any]) -> Any:
    """As a client does, until it works."""
    while True:
        try:
            return call()
        except (StoreError, BusyError):
            time.sleep(0.01)


def freezes(server: Server, count: int, seed: int) -> tuple[int, float]:
    """Freeze a server at random instants while a client plays; its rounds and its longest call.

    Nothing that was acknowledged is lost, nothing counts twice, and no call waits until the server
    goes on.
    """
    chance, rounds, longest, in_time = random.Random(seed), 0, 0.0, list[bool]()
    with dikin.Study(server.url, "frozen", fresh(), patience=PATIENCE) as study:
        for _ in range(count):
            frozen, given_up = threading.Event(), threading.Event()

            def freeze(delay: float, frozen: Any = frozen, given_up: Any = given_up) -> None:
                time.sleep(delay)
                with server.frozen():
                    frozen.set()
                    in_time.append(given_up.wait(50))
                    given_up.set()

            thread = threading.Thread(target=freeze, args=(chance.uniform(0.0, 0.3),))
            thread.start()
            query: Any = None
            while not given_up.is_set():
                start = time.monotonic()
                try:
                    if query is None:
                        query = study.ask()
                    study.tell(query, 0.5)
                    query, rounds = None, rounds + 1
                except StoreError:
                    longest = max(longest, time.monotonic() - start)
                    if frozen.is_set():
                        given_up.set()
            thread.join()
            assert all(in_time), "a call waits for a frozen server"
            if query is not None:
                insist(lambda query=query: study.tell(query, 0.5))  # type: ignore[misc]
                rounds += 1
        insist(lambda: study.forget(older_than=0))  # written, and not returned
        assert insist(lambda: study.rounds) == rounds, f"{study.rounds} rounds, {rounds} told"
        assert study.verify().rows >= 2 * rounds
    return rounds, longest


def full_disks(count: int, seed: int) -> Iterator[bool]:
    """No file may grow beyond a random size: what was acknowledged is there, and play goes on."""
    chance = random.Random(seed)
    for _ in range(count):
        with tempfile.TemporaryDirectory() as folder:
            file, room = f"{folder}/studies.db", chance.randint(5_000, 200_000)
            begin(file)
            child = os.fork()
            if not child:
                os._exit(_fill(file, room))
            status = os.waitpid(child, 0)[1]
            assert status == 0, f"with {room} bytes: status {status}"
            yield True


def _fill(file: str, room: int) -> int:
    """Play until there is no room, then with more; 0 if all that was acknowledged is there."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    unlimited = resource.RLIM_INFINITY
    acknowledged = 9  # rows of `begin`
    with dikin.Study(file, "a") as study:
        size = max(os.stat(f"{file}{ending}").st_size for ending in ("", "-wal"))
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + room, unlimited))
        try:
            while True:
                query = study.ask()
                acknowledged += 1
                study.tell(query, 0.25)
                acknowledged += 1
        except StoreError:
            resource.setrlimit(resource.RLIMIT_FSIZE, (unlimited, unlimited))
        step(study)
        return 0 if study.verify().rows in (acknowledged + 2, acknowledged + 3) else 1
