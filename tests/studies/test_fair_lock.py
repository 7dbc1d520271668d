"""Waiting for one's turn: nothing is left behind, and who is in the way is named."""

from __future__ import annotations

import errno
import gc
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

import dikin
from dikin import errors
from dikin.studies import fair_lock
from dikin.studies.database import Database, open_database
from dikin.studies.fair_lock import FairLock
from studies import small
from studies.interrupts import Interrupt
from studies.small import plain

A_DAY = 86_400.0
HANGS = 300.0
"""Seconds after which something that did not happen never will."""


@contextmanager
def holder(file: str) -> Iterator[subprocess.Popen[str]]:
    """A process that has its turn and does not end it."""
    process = small.holder(file)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def files_of(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def wait_until(happened: Callable[[], object], lives: Callable[[], object]) -> None:
    """Wait for what another thread or process will do; fail if it ends before."""
    while not happened():
        assert lives(), "it ended without doing so"
        time.sleep(0.002)


def tickets(file: str | Path) -> list[Path]:
    """The tickets of those who wait, without those that are being made."""
    return list(Path(f"{file}-queue").glob("[0-9]*"))


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="counts open files in /proc")
def test_waiting_in_vain_leaves_nothing_behind(file: str) -> None:
    folder = Path(file).parent
    with dikin.Study(file, "a", plain(), patience=0.02) as study, holder(file):
        with pytest.raises(errors.BusyError):
            study.ask()
        before = descriptors(), threading.active_count(), files_of(folder)
        for _ in range(40):
            with pytest.raises(errors.BusyError):
                study.ask()
        assert (descriptors(), threading.active_count(), files_of(folder)) == before
        assert not list(Path(f"{file}-queue").iterdir())


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says that a process is stopped")
def test_a_stopped_holder_is_named_with_its_age_and_a_remedy(file: str) -> None:
    with dikin.Study(file, "a", plain(), patience=0.3) as study, holder(file) as process:
        with pytest.raises(errors.BusyError, match=f"more than 0.3 seconds: process {process.pid}"):
            study.ask()
        process.send_signal(signal.SIGSTOP)
        wait_until(lambda: fair_lock._is_stopped(process.pid), lambda: process.poll() is None)
        with pytest.raises(errors.BusyError, match="was stopped by a signal") as busy:
            study.ask()
        words = f"process {process.pid} holds this study, for "
        assert float(str(busy.value).partition(words)[2].split()[0]) >= 0.3
        assert study.rounds == 0  # reading waits for nobody
        remedy = re.search(r"end it \(kill -9 (\d+)\)", str(busy.value))
        assert remedy is not None
        os.kill(int(remedy[1]), signal.SIGKILL)
        process.wait()
        study.ask()


def test_the_ticket_of_a_killed_process_is_removed(file: str) -> None:
    wait = (
        "import sys, dikin\n"
        'study = dikin.Study(sys.argv[1], "a", patience=60.0)\n'
        'print("waits", flush=True)\n'
        "study.ask()\n"
    )
    with dikin.Study(file, "a", plain(), patience=HANGS) as study:
        with holder(file):
            waiter = subprocess.Popen(
                [sys.executable, "-c", wait, file], stdout=subprocess.PIPE, text=True
            )
            assert waiter.stdout is not None
            waiter.stdout.readline()
            queue = Path(f"{file}-queue")
            wait_until(lambda: tickets(file), lambda: waiter.poll() is None)
            waiter.kill()
            waiter.communicate()
            assert len(list(queue.iterdir())) == 1  # nobody has noticed yet
        study.ask()
        assert not list(queue.iterdir())


def test_an_interrupted_wait_gives_up_its_place(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(ahead: int) -> float:
        raise KeyboardInterrupt

    with dikin.Study(file, "a", plain()) as study, holder(file):
        monkeypatch.setattr(fair_lock, "_pause", interrupt)
        with pytest.raises(KeyboardInterrupt):
            study.ask()
        assert not list(Path(f"{file}-queue").iterdir())


def until_nobody_is_ahead(ahead: int) -> float:
    """A pause of no time that ends a wait: by the queue, not by the clock of a busy machine."""
    if not ahead:
        raise errors.BusyError("enough")
    return 0.0


def test_who_waits_in_a_crowd_prepares_once(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    ahead, prepared = iter([40, 40, 20, 8, 5, 3, 1, 1]), list[int]()
    monkeypatch.setattr(fair_lock._Queue, "ahead", lambda *_: next(ahead, 0))
    monkeypatch.setattr(fair_lock, "_pause", until_nobody_is_ahead)
    dikin.Study(file, "a", plain()).close()
    with holder(file):
        lock = FairLock(Path(file).resolve())
        with pytest.raises(errors.BusyError):
            lock.acquire(60.0, lambda: prepared.append(1))
        lock.close()
    assert prepared == [1]


def test_a_look_at_the_journal_does_not_give_up_the_place(
    file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who prepares while it waits reads the database, which ends a transaction of its own."""
    with dikin.Study(file, "a", plain()) as study, holder(file):
        database, seen = study._backend.session.database, list[int]()
        lock, folder = database._lock, Path(f"{file}-queue")  # type: ignore[attr-defined]

        def prepare() -> None:
            with database.view():
                database.run("SELECT 1")
            seen.append(len(list(folder.iterdir())))

        lock._queue = _Fewer(lock._queue)
        monkeypatch.setattr(fair_lock, "_pause", until_nobody_is_ahead)
        with pytest.raises(errors.BusyError):
            lock.acquire(60.0, prepare)
        assert seen == [1]
        lock.release()


class _Fewer:
    """A queue that first has many ahead, then few, then nobody."""

    def __init__(self, queue: Any) -> None:
        self._queue, self._ahead = queue, iter([40, 3])

    def ahead(self, ticket: str) -> int:
        return next(self._ahead, 0)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._queue, name)


def test_who_gives_up_while_it_is_told_breaks_nothing(file: str) -> None:
    """Between the look at its pipe and the message; and the next one is told."""
    dikin.Study(file, "a", plain()).close()
    path = Path(file).resolve()
    lock, queue = FairLock(path), fair_lock._Queue(path)
    lock.acquire(1.0, lambda: None)
    first, second = queue.draw(), queue.draw()
    listens = queue._listens

    def gives_up(name: str) -> bool:
        found = listens(name)
        if name == first.name:
            first.remove()
        return found

    queue._listens = gives_up  # type: ignore[method-assign]
    lock._queue = queue
    assert not second._poll.poll(0)
    lock.release()
    assert second._poll.poll(0)  # its message is there
    second.remove()
    lock.close()


def test_a_ticket_that_may_not_be_opened_is_known_by_its_process(
    file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another user's: told from its name whether it still waits."""
    dikin.Study(file, "a", plain()).close()
    path = Path(file).resolve()
    queue = fair_lock._Queue(path)
    living, dead = queue.draw(), "00000000000000000001.4194303.1"
    os.mkfifo(Path(f"{path}-queue") / dead)
    opens = os.open

    def refuses(name: Any, flags: int, *mode: int, **rest: Any) -> int:
        if flags & os.O_WRONLY and str(name).endswith((dead, living.name)):
            raise PermissionError(errno.EACCES, "no")
        return opens(name, flags, *mode, **rest)

    monkeypatch.setattr(os, "open", refuses)
    assert not queue.is_empty()
    assert not (Path(f"{path}-queue") / dead).exists()
    living.remove()
    assert queue.is_empty()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says that a process is stopped")
def test_a_waiting_process_that_was_stopped_is_passed_by(
    file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And it has its place again when it goes on, before all who came later."""
    wait = 'import sys, dikin\ndikin.Study(sys.argv[1], "a", patience=600.0, client="it").ask()\n'
    with dikin.Study(file, "a", plain(), patience=HANGS) as study:
        with holder(file):
            waiter = subprocess.Popen([sys.executable, "-c", wait, file])
            wait_until(lambda: tickets(file), lambda: waiter.poll() is None)
            waiter.send_signal(signal.SIGSTOP)
            wait_until(lambda: fair_lock._is_stopped(waiter.pid), lambda: waiter.poll() is None)
        try:
            for _ in range(3):
                study.tell(study.ask(), 0.5)
            with monkeypatch.context() as patch, dikin.Study(file, "a", patience=0.2) as impatient:
                patch.setattr(fair_lock, "_is_stopped", lambda _: False)
                with pytest.raises(errors.BusyError, match="1 others wait"):
                    impatient.ask()
            assert tickets(file)
            waiter.send_signal(signal.SIGCONT)
            assert waiter.wait(60) == 0
        finally:
            waiter.kill()
            waiter.wait()
        assert [query.client for query in study.open_queries] == ["it"]
        assert study.verify() == 7


def test_what_may_not_be_made_leaves_waiting_to_sqlite(
    file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuses(*_: Any) -> None:
        raise PermissionError(errno.EACCES, "not yours")

    monkeypatch.setattr(fair_lock, "open_beside", refuses)
    with dikin.Study(file, "a", plain(), patience=0.1) as study:
        study.tell(study.ask(), 0.5)
        assert study.rounds == 1


def test_a_folder_without_pipes_leaves_waiting_to_sqlite(
    file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuses(*_: Any, **__: Any) -> None:
        raise OSError(errno.EOPNOTSUPP, "not supported")

    monkeypatch.setattr(os, "mkfifo", refuses)
    with dikin.Study(file, "a", plain(), patience=0.1) as study:
        with holder(file), pytest.raises(errors.BusyError, match="another program holds"):
            study.ask()
        study.tell(study.ask(), 0.5)


def test_turns_come_in_the_order_of_asking(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """And who is next is told: with a pause of a day between looks, only a message wakes it."""
    monkeypatch.setattr(fair_lock, "_pause", lambda ahead: A_DAY)
    dikin.Study(file, "a", plain()).close()
    path, order = Path(file).resolve(), list[int]()
    first = FairLock(path)
    first.acquire(1.0, lambda: None)

    def wait(number: int) -> None:
        lock = FairLock(path)
        lock.acquire(A_DAY, lambda: None)
        order.append(number)
        if number % 2:
            lock.release()
        lock.close()

    threads = []
    for number in range(20):
        threads.append(threading.Thread(target=wait, args=(number,), daemon=True))
        threads[-1].start()
        wait_until(lambda: len(tickets(path)) > number, threads[-1].is_alive)  # noqa: B023
    first.close()
    for thread in threads:
        thread.join(HANGS)
    assert order == list(range(20))


def test_who_ends_a_turn_goes_behind_who_waits(file: str) -> None:
    dikin.Study(file, "a", plain()).close()
    assert hand_overs(file, 10, lambda: bool(tickets(file))) == 10


def test_with_the_waiting_of_sqlite_it_does_not(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mutant: who sleeps and tries again seldom does so just between two turns of another."""
    monkeypatch.setattr(FairLock, "acquire", lambda self, patience, prepare: False)
    dikin.Study(file, "a", plain()).close()
    assert hand_overs(file, 10, lambda: True) < 10


def hand_overs(file: str, turns: int, is_waiting: Callable[[], bool]) -> int:
    """How often one that waits is before one that ends a turn and wants the next at once."""
    with closing(open_database(file, 60.0)) as one, closing(open_database(file, 60.0)) as other:
        return sum(_hands_over(one, other, is_waiting) for _ in range(turns))


def _hands_over(one: Database, other: Database, is_waiting: Callable[[], bool]) -> bool:
    order = list[str]()

    def turn(database: Database, name: str) -> None:
        database.begin(1)
        order.append(name)
        database.commit()

    one.begin(1)
    waits = threading.Thread(target=turn, args=(other, "other"))
    waits.start()
    wait_until(is_waiting, waits.is_alive)
    one.commit()
    turn(one, "one")
    waits.join()
    return order == ["other", "one"]


# An interrupted read of /proc leaves its file to the garbage collector.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_wait_interrupted_at_any_instant_locks_nobody_out(file: str) -> None:
    """Whoever was interrupted gives up its place with the call, or with `release`."""
    dikin.Study(file, "a", plain()).close()
    path, count = Path(file).resolve(), 0
    first = FairLock(path)
    first.acquire(1.0, lambda: None)
    at = 1
    while True:
        waiting = FairLock(path)
        try:
            with Interrupt(at):
                waiting.acquire(0.0, lambda: None)  # all that is done in vain, once
        except KeyboardInterrupt:
            count += 1
        except errors.BusyError:
            break
        waiting.release()  # what a study's call does after every failure
        assert not [t for t in Path(f"{path}-queue").glob("*") if t.name[0] != "."], at
        waiting.close()
        at += 1
    first.close()
    assert count > 30
    with dikin.Study(file, "a", patience=0.5) as study:
        study.ask()


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="counts open files in /proc")
def test_studies_that_nobody_closed_leave_no_files_open(file: str) -> None:
    dikin.Study(file, "a", plain()).close()
    before = descriptors()
    for _ in range(5):
        study = dikin.Study(file, "a")
        study.ask()
        del study
        gc.collect()
    assert descriptors() <= before + 1


def test_tickets_of_the_dead_and_from_before_a_restart_are_removed(file: str) -> None:
    """Also half-made ones. The clock begins anew: an old one may look like one of the future."""
    with dikin.Study(file, "a", plain()) as study:
        folder = Path(f"{file}-queue")
        folder.mkdir(exist_ok=True)
        os.mkfifo(folder / ".00000000000000000001.4194303.1")
        os.mkfifo(folder / f"{10**18:020d}.1.1")
        (folder / f"{10**18:020d}.1.2").touch()
        study.ask()
        assert not list(folder.iterdir())
