"""Forks: no connection lives through one, so that nothing acknowledged is lost or given twice."""

import ctypes
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import dikin
from dikin import errors
from dikin.studies import guard
from studies.forked import WAYS
from studies.small import fresh, sharing, step
from studies.test_torture import run

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks here"),
    pytest.mark.filterwarnings("ignore:This process.*is multi-threaded:DeprecationWarning"),
]


@pytest.mark.parametrize("way", WAYS)
def test_nothing_acknowledged_is_lost_with_the_parent(way: str) -> None:
    """The parent closes its study, exits or is killed, once each; `make torture` plays more."""
    code = f"from studies import forked\nprint(forked.total(forked.games({way!r}, 3)))"
    game = run("-c", code)
    assert game.returncode == 0, game.stderr
    assert "lost=0, twice=0" in game.stdout


MUTANT = """
from studies import forked
from dikin.studies import sqlite
from dikin.studies.database import Database

Database.before_fork = lambda self, idle: None
sqlite.Sqlite._refuse_exchanged = lambda self: None  # which would notice
print(forked.total(forked.games("os.fork", 30)))
"""


def test_the_game_finds_out_who_leaves_connections_open() -> None:
    game = run("-c", MUTANT)
    assert "lost=0, twice=0" not in game.stdout
    assert game.returncode != 0 or "lost=" in game.stdout


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
        assert study.verify().rows == 4


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
        assert {"", "-wal", "-shm"} <= {
            name.removeprefix(file) for name in open_files(file).split()
        }
        assert in_child(lambda: open_files(file)) == ""


def test_what_waits_to_be_written_is_written_before_a_fork(url: str) -> None:
    """The transaction of events that share a commit is open between calls."""
    with sharing(url, "a", fresh(), patience=60) as study:
        step(study)
        assert in_child(lambda: str(dikin.Study(url, "a").rounds)) == "1"
        step(study)
        assert study.rounds == 2
        assert study.verify().rows == 4


def test_a_call_that_forks_in_its_middle_is_made_once(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A signal handler may do so: the parent begins again, and the child is refused."""
    with dikin.Study(url, "a", fresh()) as study:
        append, heard = study._ledger.database.append, list[str]()
        parent = os.getpid()

        def forking(*given: Any, **named: Any) -> Any:
            monkeypatch.undo()
            child = os.fork()
            if child:
                heard.append(str(os.waitpid(child, 0)[1]))
            return append(*given, **named)

        monkeypatch.setattr(study._ledger.database, "append", forking)
        try:
            query = study.ask()
        except errors.StateError as error:
            os._exit(0 if "does not go through a fork" in str(error) else 1)
        if os.getpid() != parent:
            os._exit(2)
        assert heard == ["0"]
        assert query.id == 0
        study.tell(query, 0.25)
        assert study.verify().rows == 2


def test_a_fork_of_which_python_does_not_hear(file: str) -> None:
    """A server written in C may fork so. The child would write without locks: it is refused."""
    fork = ctypes.PyDLL(None).fork
    with dikin.Study(file, "a", fresh()) as study:
        step(study)
        heard = in_child(lambda: str(dikin.Study(file, "a").rounds), fork)
        assert heard.startswith(f"StoreError: {file} cannot be opened: this process was forked")
        step(study)
        assert study.verify().rows == 4
    assert in_child(lambda: str(dikin.Study(file, "a").rounds), fork) == "2"


def test_a_fork_waits_for_the_calls_of_other_threads(url: str) -> None:
    order = list[str]()
    begun, ends = threading.Event(), threading.Event()
    with dikin.Study(url, "a", fresh()) as study:

        def slow() -> None:
            begun.set()
            ends.wait(60)
            study._ledger.database.run("SELECT 1")
            order.append("the call ends")

        thread = threading.Thread(target=lambda: study._ledger.call(slow))
        thread.start()
        begun.wait()
        threading.Timer(0.2, ends.set).start()
        heard = in_child(lambda: " ".join([*order, "and the child begins"]))
        thread.join()
        assert heard == "the call ends and the child begins"
        assert study.ask().id == 0


def test_where_what_waits_cannot_be_written_the_next_flush_says_so(
    file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with sharing(file, "a", fresh(), patience=60) as study:
        step(study)

        def fails(*_: Any, **__: Any) -> None:
            raise errors.StoreError("the disk went away")

        monkeypatch.setattr(study._ledger.database, "commit", fails)
        assert in_child(lambda: "goes on") == "goes on"
        monkeypatch.undo()
        with pytest.raises(errors.StoreError, match="the disk went away"):
            study._ledger.flush()
        assert study.ask().id == 0


def test_a_client_that_another_thread_makes_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    """A service has a thousand of them, and looks through all whenever it connects."""

    class Growing(list[Any]):
        def __iter__(self) -> Iterator[Any]:
            self.append(None)
            if len(self) < 3:
                raise RuntimeError("Set changed size during iteration")
            return iter(())

    monkeypatch.setattr(guard, "_clients", Growing())
    assert not guard.has_inherited(object)
