"""Forks: no connection lives through one, so that nothing acknowledged is lost or given twice."""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import dikin
from dikin import errors
from dikin.studies import forks
from studies.forked import WAYS
from studies.small import fresh, sharing, step
from studies.test_kills import TESTS, run

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks here"),
    pytest.mark.filterwarnings("ignore:This process.*is multi-threaded:DeprecationWarning"),
]


@pytest.mark.parametrize("way", WAYS)
def test_nothing_acknowledged_is_lost_with_the_parent(way: str) -> None:
    """The parent closes its study, exits or is killed, once each; `make torture` plays more."""
    game = run(str(TESTS / "studies" / "forked.py"), "--games", "3", "--way", way)
    assert game.returncode == 0, game.stderr
    assert "lost=0, twice=0" in game.stdout


MUTANT = """
from studies import forked
from dikin.studies import forks
from dikin.studies.database import Sqlite
from dikin.studies.session import Session

Session.before_fork = lambda self: None
forks.refuse_inherited = lambda name: None
Sqlite._refuse_exchanged = lambda self: None  # which would notice, and acknowledge nothing more
print(forked.total(forked.games("os.fork", 30)))
"""


def test_the_game_finds_out_who_leaves_connections_open() -> None:
    game = run("-c", MUTANT)
    assert "lost=0, twice=0" not in game.stdout
    assert "was committed, and the last one now is" in game.stderr or "lost=" in game.stdout


def in_child(act: Callable[[], str], fork: Callable[[], int] = os.fork) -> str:
    """What an act says in a forked child, or the error that it ends with."""
    hears, says = os.pipe()
    child = fork()
    if not child:
        try:
            os.write(says, act().encode())
        except BaseException as error:
            os.write(says, f"{type(error).__name__}: {error}".encode())
        finally:
            os._exit(0)
    os.close(says)
    with os.fdopen(hears) as answer:
        heard = answer.read()
    os.waitpid(child, 0)
    return heard


def test_the_childs_copy_refuses_and_the_parent_goes_on(url: str) -> None:
    with dikin.Study(url, "a", fresh()) as study:
        step(study)
        for call in (study.ask, study.history, study.verify, lambda: study.rounds):
            heard = in_child(lambda call=call: str(call()))  # type: ignore[misc]
            assert heard.startswith("StateError: a study does not go through a fork: open it again")
        assert in_child(lambda: str(study.close())) == "None"
        step(study)
        assert study.verify() == 4


def open_files(file: str) -> str:
    """Which files of a database this process has open."""
    links = [Path("/proc/self/fd", number) for number in os.listdir("/proc/self/fd")]
    names = [str(link.readlink()) for link in links if link.is_symlink()]
    return " ".join(name for name in names if name.startswith(file))


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="looks into /proc")
def test_a_child_has_no_file_of_a_study_open(file: str) -> None:
    with dikin.Study(file, "a", fresh()) as study, dikin.Study(file, "a") as other:
        step(study)
        step(other)
        assert {"", "-wal", "-shm", "-turn", "-marks"} <= {
            name.removeprefix(file) for name in open_files(file).split()
        }
        assert in_child(lambda: open_files(file)) == ""


def test_what_waits_to_be_written_is_written_before_a_fork(url: str) -> None:
    """The transaction of events that share a commit is open between calls."""
    with sharing(url, "a", fresh(), patience=60, seconds=30) as study:
        step(study)
        assert in_child(lambda: str(dikin.Study(url, "a").rounds)) == "1"
        step(study)
        assert study.rounds == 2
        assert study.verify() == 4


def test_where_that_fails_the_next_call_says_so(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with sharing(file, "a", fresh(), patience=60, seconds=30) as study:
        step(study)

        def fails(*_: Any) -> None:
            raise errors.StoreError("the disk went away")

        monkeypatch.setattr(study._backend.journal, "append", fails)
        assert in_child(lambda: "goes on") == "goes on"
        monkeypatch.undo()
        with pytest.raises(errors.StoreError, match=r"2 events .* the disk went away"):
            study.ask()
        assert study.ask().id == 0


def test_a_fork_waits_for_the_calls_of_other_threads(url: str) -> None:
    order = list[str]()
    begun, forked = threading.Event(), threading.Event()
    with dikin.Study(url, "a", fresh()) as study:

        def call() -> None:
            with study._backend.session.transaction():
                begun.set()
                while not forked.is_set() and forks.gate.acquire(blocking=False):
                    forks.gate.release()  # the other thread has not begun to fork
                study._backend.journal.database.run("SELECT 1")
                order.append("the call ends")

        thread = threading.Thread(target=call)
        thread.start()
        begun.wait()
        heard = in_child(lambda: " ".join([*order, "and the child begins"]))
        forked.set()
        thread.join()
        assert heard == "the call ends and the child begins"
        assert study.ask().id == 0


def test_calls_that_begin_meanwhile_wait_for_the_fork(
    file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who calls again and again must not keep a fork waiting."""
    with dikin.Study(file, "a", fresh()) as study:
        monkeypatch.setattr(forks, "gate", Passed())
        for call in (study.ask, lambda: study.rounds):
            forks.gate.passed.clear()
            call()
            assert forks.gate.passed == ["in", "out"]


class Passed:
    """A gate that notes who goes through it."""

    def __init__(self) -> None:
        self.passed = list[str]()

    def __enter__(self) -> None:
        self.passed.append("in")

    def __exit__(self, *_: object) -> None:
        self.passed.append("out")


def test_a_call_that_forks_in_its_middle_is_made_once(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A signal handler may do so: the parent begins again, and the child is refused."""
    with dikin.Study(url, "a", fresh()) as study:
        append, heard = study._backend.journal.append, list[str]()
        parent = os.getpid()

        def forking(events: Any) -> None:
            monkeypatch.undo()
            child = os.fork()
            if child:
                heard.append(str(os.waitpid(child, 0)[1]))
            append(events)

        monkeypatch.setattr(study._backend.journal, "append", forking)
        try:
            query = study.ask()
        except errors.StateError as error:
            os._exit(0 if "does not go through a fork" in str(error) else 1)
        if os.getpid() != parent:
            os._exit(2)
        assert heard == ["0"]
        assert query.id == 0
        study.tell(query, 0.25)
        assert study.verify() == 2


def test_a_fork_of_which_python_does_not_hear(file: str) -> None:
    """A server written in C may fork so. The child would write without locks: it is refused."""
    fork = ctypes.PyDLL(None).fork
    with dikin.Study(file, "a", fresh()) as study:
        step(study)
        heard = in_child(lambda: str(dikin.Study(file, "a").rounds), fork)
        assert heard.startswith(f"StoreError: {file} cannot be opened: this process was forked")
        step(study)
        assert study.verify() == 4
    assert in_child(lambda: str(dikin.Study(file, "a").rounds), fork) == "2"


INTERRUPTED = """
import os, signal, sys, threading
import dikin
from dikin.studies import forks

study = dikin.Study(sys.argv[1], "a")
begun, done = threading.Event(), threading.Event()

def call():
    with study._backend.session.transaction():
        begun.set()
        while forks.gate.acquire(blocking=False):
            forks.gate.release()
        os.kill(os.getpid(), signal.SIGINT)
        done.wait()

threading.Thread(target=call).start()
begun.wait()
sys.unraisablehook = lambda caught: None
if not os.fork():
    try:
        dikin.Study(sys.argv[1], "a")
    except dikin.errors.StoreError as error:
        print(error, flush=True)
    os._exit(0)
done.set()
os.wait()
print(study.ask().id)
"""


def test_ctrl_c_while_a_fork_waits(file: str) -> None:
    """Python forks all the same: the child has the connection, and is refused."""
    dikin.Study(file, "a", fresh()).close()
    done = run("-c", INTERRUPTED, file)
    refused, asked = done.stdout.splitlines()
    assert "cannot be opened: this process was forked" in refused
    assert asked == "0", done.stderr


class Interrupted:
    """A lock at which Ctrl-C comes, before or after it is taken."""

    def __init__(self, taken: bool) -> None:
        self._lock, self._taken = threading.RLock(), taken
        self.release = self._lock.release

    def acquire(self, blocking: bool = True) -> bool:
        if self._taken:
            self._lock.acquire(blocking)
        raise KeyboardInterrupt

    def is_free(self) -> bool:
        with ThreadPoolExecutor(1) as other:
            return other.submit(self._lock.acquire, False).result()


@pytest.mark.parametrize("taken", [True, False])
def test_ctrl_c_at_the_gate_leaves_it_open(taken: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise all other threads would wait for ever: Python ignores the error, and goes on."""
    gate = Interrupted(taken)
    monkeypatch.setattr(forks, "gate", gate)
    with pytest.raises(KeyboardInterrupt):
        forks._before()
    forks._after()
    assert forks._forks.locks == []
    assert gate.is_free()


class Gate:
    """A lock after whose first release somebody else goes through it at once."""

    def __init__(self) -> None:
        self._lock, self._passed, self._released = threading.RLock(), threading.Event(), False

    def acquire(self, blocking: bool = True) -> bool:
        return self._lock.acquire(blocking)

    def release(self) -> None:
        self._lock.release()
        if not self._released:
            self._released = True
            self._passed.wait()

    def let_go_on(self) -> None:
        self._passed.set()


def test_two_threads_that_fork_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second one takes its locks before the first one has done with releasing its own."""
    gate = Gate()
    monkeypatch.setattr(forks, "gate", gate)
    begun, done = threading.Event(), threading.Event()

    def second() -> None:
        begun.set()
        forks._before()
        gate.let_go_on()
        done.wait()
        forks._after()

    forks._before()
    thread = threading.Thread(target=second, daemon=True)
    thread.start()
    begun.wait()
    forks._after()
    done.set()
    thread.join()
    assert forks._forks.locks == []
    seen: list[bool] = []
    other = threading.Thread(target=lambda: seen.append(gate.acquire(blocking=False)))
    other.start()
    other.join()
    assert seen == [True]
