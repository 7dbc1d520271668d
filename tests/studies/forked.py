"""A process with an open study forks, its children open the study too, and the process ends."""

import fcntl
import gc
import multiprocessing
import os
import random
import signal
import tempfile
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import dikin
from in_memory import in_memory
from studies.small import plain, rows_of

NAME = "forked"
ROUNDS = (4, 12, 24)
"""Of each child: one closes its study while others go on."""

Join = Callable[[], object]
"""Waits for the children."""


class Place:
    """A folder with the database, and with what each process has to say."""

    def __init__(self, folder: str) -> None:
        self.folder, self.url = folder, f"{folder}/studies.db"

    def say(self, line: str) -> None:
        """A line in a file that all write to."""
        file = os.open(f"{self.folder}/said", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(file, f"{line}\n".encode())
        os.close(file)

    def said(self, kind: str) -> list[str]:
        """What stands behind this word."""
        path = Path(self.folder, "said")
        lines = path.read_text().splitlines() if path.exists() else []
        return [line.partition(" ")[2] for line in lines if line.startswith(f"{kind} ")]

    def lock(self, name: str, how: int) -> int:
        """A lock that ends with this process, if its file is not closed before."""
        file = os.open(f"{self.folder}/{name}", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
        fcntl.flock(file, how)
        return file

    def wait_for_all(self) -> None:
        """Until nobody plays."""
        os.close(self.lock("plays", fcntl.LOCK_EX))


def play(folder: str, rounds: int) -> None:
    """What a child does: it opens the study for itself, as it is told to."""
    warnings.simplefilter("ignore")
    place = Place(folder)
    playing = place.lock("plays", fcntl.LOCK_SH)
    try:
        with dikin.Study(place.url, NAME, patience=60) as study:
            place.say(f"open {os.getpid()}")
            for _ in range(rounds):
                step(place, study)
    except BaseException as error:
        place.say(f"error {type(error).__name__}: {error}")
        raise
    finally:
        os.close(playing)


def step(place: Place, study: dikin.Study) -> None:
    query = study.ask()
    place.say(f"asked {query.id}")
    study.tell(query, 0.25 + 0.5 * (query.id % 2))
    place.say(f"told {query.id}")


def start(folder: str, rounds: int) -> int:
    child = os.fork()
    if child:
        return child
    try:
        play(folder, rounds)
    finally:
        os._exit(0)


def by_fork(place: Place, study: dikin.Study) -> Join:
    children = [start(place.folder, rounds) for rounds in ROUNDS]
    return lambda: [os.waitpid(child, 0) for child in children]


def by_multiprocessing(place: Place, study: dikin.Study) -> Join:
    context = multiprocessing.get_context("fork")
    children = [context.Process(target=play, args=(place.folder, rounds)) for rounds in ROUNDS]
    for child in children:
        child.start()
    return lambda: [child.join() for child in children]


def by_preloading(place: Place, study: dikin.Study) -> Join:
    """A server that loads the application, forks workers, and replaces one that has died."""
    stop = threading.Event()

    def serve() -> None:
        while not stop.is_set():
            step(place, study)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    victim = start(place.folder, 10**9)
    wait_until(lambda: len(place.said("open")) == 1)
    children = [start(place.folder, rounds) for rounds in ROUNDS[1:]]
    os.kill(victim, signal.SIGKILL)
    os.waitpid(victim, 0)
    children.append(start(place.folder, ROUNDS[0]))
    stop.set()
    thread.join()
    return lambda: [os.waitpid(child, 0) for child in children]


WAYS: dict[str, Callable[[Place, dikin.Study], Join]] = {
    "os.fork": by_fork,
    "multiprocessing": by_multiprocessing,
    "a server that preloads": by_preloading,
}


def wait_until(true: Callable[[], bool]) -> None:
    while not true():
        time.sleep(0.002)


def closes(place: Place, study: dikin.Study, join: Join) -> None:
    study.close()
    join()


def exits(place: Place, study: dikin.Study, join: Join) -> None:
    """Without closing anything: the connection goes with the study."""
    vars(study).clear()
    gc.collect()


def is_killed(place: Place, study: dikin.Study, join: Join) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


ENDS = {"closes": closes, "exits": exits, "is killed": is_killed}


def parent(place: Place, way: str, end: str, pause: float) -> None:
    warnings.simplefilter("ignore")
    study = dikin.Study(place.url, NAME, plain(), patience=60)
    step(place, study)
    expected = len(ROUNDS) + (way == "a server that preloads")
    join = WAYS[way](place, study)
    wait_until(lambda: len(place.said("open")) + len(place.said("error")) >= expected)
    step(place, study)
    time.sleep(pause)
    ENDS[end](place, study, join)


class Count(NamedTuple):
    """What was acknowledged in a game, and what of it was lost or given twice."""

    acknowledged: int
    lost: int
    twice: int


def game(way: str, end: str, pause: float) -> Count:
    with tempfile.TemporaryDirectory(dir=in_memory()) as folder:
        place = Place(folder)
        child = os.fork()
        if not child:
            try:
                parent(place, way, end, pause)
            except BaseException as error:
                place.say(f"error {type(error).__name__}: {error}")
            finally:
                os._exit(0)
        os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)  # its number stays taken
        place.wait_for_all()
        os.waitpid(child, 0)
        assert not place.said("error"), place.said("error")
        return reckoned(place)


def reckoned(place: Place) -> Count:
    rows = rows_of(place.url, NAME)
    lost = twice = acknowledged = 0
    for kind, word in (("ask", "asked"), ("tell", "told")):
        said = Counter(map(int, place.said(word)))
        kept = Counter(row.n if kind == "ask" else row.ask for row in rows if row.kind == kind)
        acknowledged += said.total()
        lost += (said - kept).total() - (said - Counter(set(said))).total()
        twice += (said - Counter(set(said))).total() + (kept - Counter(set(kept))).total()
    with dikin.Study(place.url, NAME) as study:
        assert study.verify().rows == len(rows)
    return Count(acknowledged, lost, twice)


def games(way: str, count: int, seed: int = 1) -> Iterator[Count]:
    """Games in which the parent ends in each way by turns, after another pause each time."""
    chance = random.Random(seed)
    for number in range(count):
        yield game(way, list(ENDS)[number % len(ENDS)], chance.uniform(0, 0.02))


def total(counts: Iterator[Count]) -> Count:
    return Count(*map(sum, zip(*counts, strict=True)))
