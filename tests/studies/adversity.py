"""Servers that freeze, disks that are full, files that are damaged, crowds of clients."""

import os
import random
import resource
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import dikin
from dikin import errors
from dikin.errors import BusyError, StoreError
from service import crowd as accounts
from service.template import FORKS
from studies.postgres import Server
from studies.small import begin, fresh, plain, step

PATIENCE = 0.3


def insist(call: Callable[[], Any]) -> Any:
    """As a client does, until it works."""
    while True:
        try:
            return call()
        except (StoreError, BusyError):
            time.sleep(0.01)


def freezes(server: Server, count: int, seed: int) -> tuple[int, float]:
    """Freeze a server at random instants while a client plays; its rounds and its longest call."""
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


def flipped(content: bytes, count: int, seed: int, first: int = 0) -> Iterator[bytes]:
    """One bit of a byte that is not 0 is another."""
    used = [place for place, byte in enumerate(content) if byte and place >= first]
    chance = random.Random(seed)
    for _ in range(count):
        broken = bytearray(content)
        broken[chance.choice(used)] ^= 1 << chance.randrange(8)
        yield bytes(broken)


def cut(content: bytes, count: int, seed: int) -> Iterator[bytes]:
    """The end is missing."""
    chance = random.Random(seed)
    for _ in range(count):
        yield content[: chance.randrange(len(content))]


def exchanged_pages(content: bytes, page: int = 4096) -> Iterator[bytes]:
    """Two pages in each other's place."""
    pages = [content[start : start + page] for start in range(0, len(content), page)]
    for one in range(len(pages)):
        for two in range(one):
            swapped = list(pages)
            swapped[one], swapped[two] = swapped[two], swapped[one]
            yield b"".join(swapped)


def damaged_files(file: str, contents: Iterator[bytes]) -> Iterator[bool]:
    """The database replaced by others."""
    with dikin.Study(file, "a") as study:
        before = _all_of(study)
    for content in contents:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "a.db")
            path.write_bytes(content)
            try:
                with dikin.Study(path, "a") as study:
                    found = _all_of(study)
            except errors.DikinError:
                yield True
            else:
                assert found == before, "it plays another game"
                yield False


def _all_of(study: dikin.Study) -> tuple[Any, ...]:
    return study.state(), study.history().tobytes(), study.verify().rows


class Crowd(NamedTuple):
    """Rounds of a crowd: a second, and of a client; calls that were refused, lost and doubled."""

    rate: float
    busy: int
    fewest: int
    most: int
    lost: int
    doubled: int


def crowd(url: str, clients: int, seconds: float) -> Crowd:
    """Let that many processes ask and tell for so long, with the patience that a study has."""
    dikin.Study(url, "kills", plain()).close()
    with ProcessPoolExecutor(clients, FORKS) as pool:
        given = (accounts.play_for, seconds, 1, url, "kills", None)
        parts = [pool.submit(*given) for _ in range(clients)]
        played = [part.result() for part in parts]
    account = accounts.sum_of(played)
    assert all(text.startswith("BusyError") for text in account.refused), account.refused
    faults = accounts.faults(url, "kills", account)
    rounds = [len(each.told) for each in played]
    return Crowd(
        rate=sum(rounds) / seconds,
        busy=len(account.refused),
        fewest=min(rounds),
        most=max(rounds),
        lost=faults["lost"] + faults["altered"] + faults["asked and gone"],
        doubled=faults["twice"] + faults["given twice"],
    )
