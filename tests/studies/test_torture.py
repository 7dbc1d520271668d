"""The long trials in small, and the page that says what came of the long ones."""

import csv
import os
import re
import shutil
import subprocess
import sys
from math import inf
from pathlib import Path
from typing import Any

import pytest

import dikin
from dikin.studies import ledger
from studies import adversity, linear, power_loss, torture
from studies.adversity import crowd
from studies.linear import Call, has_order
from studies.postgres import Server
from studies.torture import Row, Trial, attempt, markdown

TESTS = Path(__file__).resolve().parent.parent
DOCS = TESTS.parent / "docs"
# Forking wants a process without threads.
LONELY = os.environ | {
    "OPENBLAS_NUM_THREADS": "1",
    "PYTHONPATH": os.pathsep.join([str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])]),
}


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        env=LONELY,
    )


def rows_on_the_page(name: str, trials: list[Trial]) -> list[Row]:
    """What came of trials, as file and page have it: no harm."""
    with open(DOCS / name, encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    rows = [Row(r["what"], r["where"], int(r["tried"]), int(r["failed"]), r["note"]) for r in lines]
    assert markdown(rows) in (DOCS / "durability.md").read_text(encoding="utf-8")
    assert {(row.what, row.where) for row in rows} <= {(t.what, t.where) for t in trials}
    assert not any(row.failed for row in rows)
    return rows


def test_the_page_says_what_the_file_says() -> None:
    assert rows_on_the_page("torture.csv", torture.TRIALS)


def test_a_trial_that_does_harm_is_counted() -> None:
    def harm(share: float) -> tuple[int, str]:
        raise AssertionError("a round was lost")

    row = attempt(Trial("x", "here", harm), 1.0)
    assert row.failed == 1
    assert re.fullmatch(r"test_torture.py:\d+: AssertionError: a round was lost", row.note)


def test_many_clients_at_once(url: str) -> None:
    """Each gets its turns, nothing is lost, nothing counts twice."""
    seen = crowd(url, clients=12, seconds=0.8)
    assert seen.lost == seen.doubled == 0
    assert seen.fewest > 0


def test_a_server_that_freezes(server: Server) -> None:
    rounds, _ = adversity.freezes(server, 2, seed=1)
    assert rounds >= 2


def test_full_disks() -> None:
    code = "from studies.adversity import full_disks\nassert all(full_disks(2, 1))"
    done = run("-c", code)
    assert done.returncode == 0, done.stderr


def test_the_page_has_a_table_of_no_loss() -> None:
    """As `make power-loss PAGE=1` writes it."""
    page = (DOCS / "durability.md").read_text(encoding="utf-8")
    table = page.partition("<!-- power-loss -->")[2].partition("<!-- end of power-loss -->")[0]
    lines = table.strip().split("\n")
    assert lines[:2] == power_loss.HEADING
    lost = {
        tuple(cell.strip() for cell in line.split("|")[1:3]): line.split("|")[5]
        for line in lines[2:]
    }
    assert {kind for kind, count in lost.items() if int(count.replace(",", "")) == 0} == {
        ("FULL", "forgetful"),
        ("FULL", "random"),
    }


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
@pytest.mark.parametrize("synchronous", ["FULL", "OFF"])
def test_what_was_acknowledged_is_there_after_a_power_loss(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, synchronous: str
) -> None:
    """With synchronous=OFF, the mutant, it is not."""
    rounds = 6
    record = power_loss.recorded(tmp_path, rounds, synchronous)
    for kind in ("forgetful", "random"):
        found = power_loss.cut(record, kind)
        assert found.acknowledged == 2 * rounds
        assert found.cuts >= 2 * rounds - 1
        if synchronous == "FULL":
            assert (found.lost, found.first) == (0, "")
        else:
            assert found.lost > rounds


ASK = Call(0, 1, "ask", result=(0, False))
TOLD = Call(2, 3, "tell", 0, 0.5, "")
HISTORIES: dict[str, tuple[bool, list[Call]]] = {
    "a round": (True, [ASK, TOLD, Call(4, 5, "rounds", result=1)]),
    "a repetition": (True, [ASK, TOLD, TOLD, Call(4, 5, "rounds", result=1)]),
    "seen while it is told": (True, [ASK, TOLD, Call(2, 3, "rounds", result=1)]),
    "not seen yet": (True, [ASK, TOLD, Call(2, 3, "rounds", result=0)]),
    "seen before": (False, [ASK, TOLD, Call(0, 1, "rounds", result=1)]),
    "lost": (False, [ASK, TOLD, Call(4, 5, "rounds", result=0)]),
    "counted twice": (False, [ASK, TOLD, TOLD, Call(4, 5, "rounds", result=2)]),
    "told twice": (False, [ASK, TOLD, Call(4, 5, "tell", 0, 0.25, "")]),
    "told the other way round": (True, [ASK, Call(2, 3, "tell", 0, 0.25, "AnsweredError"), TOLD]),
    "forgotten and told": (False, [ASK, TOLD, Call(4, 5, "forget", 0, None, "")]),
    "told before it was asked": (False, [ASK._replace(begin=4, end=5), TOLD]),
    "asked twice": (False, [ASK, Call(0, 1, "ask", result=(0, False))]),
    "asked after a pause": (False, [ASK, Call(-2, -1, "pause")]),
    "asked after a pause that may come later": (True, [ASK, Call(0, inf, "pause")]),
    "gone back": (
        False,
        [ASK, TOLD, Call(2, 2.4, "rounds", result=1), Call(2.5, 3, "rounds", result=0)],
    ),
}


@pytest.mark.parametrize("what", HISTORIES)
def test_a_history_has_an_order_or_none(what: str) -> None:
    has_one, calls = HISTORIES[what]
    assert has_order(calls) == has_one


def test_the_calls_of_a_study_have_an_order(file: str) -> None:
    linear.games(file, [file] * 3, 0.0)


@pytest.mark.parametrize(
    "mutant",
    [
        (ledger, "_refuse_another", lambda *_: None),
        (dikin.Study, "rounds", property(lambda study: study._ledger.fold.rounds)),
    ],
    ids=["a second answer is acknowledged", "rows of others are not read"],
)
def test_a_study_whose_calls_have_no_order_is_caught(
    file: str, mutant: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(*mutant)
    with pytest.raises(AssertionError, match="no order explains"):
        linear.games(file, [file] * 3, 60.0)


GAME = """
import sys
from studies import torture
print(torture.killed(sys.argv[1], 16, int(sys.argv[2])).run(1.0))
"""


@pytest.mark.parametrize(
    ("where", "crashes"), [("SQLite", 0), ("PostgreSQL", 1), ("service on SQLite", 2)]
)
def test_nothing_acknowledged_is_lost_and_nothing_counted_twice(where: str, crashes: int) -> None:
    game = run("-c", GAME, where, str(crashes))
    assert game.returncode == 0, game.stderr
    assert game.stdout.startswith(f"({16 + crashes}, ")


@pytest.mark.skipif(not (DOCS / "kills.csv").exists(), reason="make kills PAGE=1 was not run yet")
def test_all_ways_are_on_the_page() -> None:
    rows = rows_on_the_page("kills.csv", torture.KILLING)
    assert min(torture.counts(rows).values()) >= torture.KILLS


MUTANT = """
import sys
from pathlib import Path
from studies import kills
from dikin.studies.ledger import Ledger

def promise(self, act):
    '''Acknowledges before the commit, which comes later or never.'''
    self.sharing = True
    if len(waiting) > 20:
        waiting.clear()
        self.flush()
    waiting.append(act)
    return call(self, act)

call, Ledger.call, waiting = Ledger.call, promise, []
folder = Path(sys.argv[1])
print(kills.game(str(folder / "studies.db"), folder, 16))
"""


def test_the_game_finds_out_who_acknowledges_too_early(tmp_path: Path) -> None:
    """A victim loses what it has waiting, and that all 16 have nothing waiting does not happen."""
    game = run("-c", MUTANT, str(tmp_path))
    assert game.returncode != 0
    assert "was lost" in game.stderr or "two clients" in game.stderr, game.stderr


RACE = """
import multiprocessing, sys
import dikin
from studies.small import plain

def play(_):
    ready.wait()
    with dikin.Study(sys.argv[1], "race", plain(), patience=30) as study:
        study.tell(study.ask(), 0.5)

forks = multiprocessing.get_context("fork")
ready = forks.Barrier(6)
with forks.Pool(6) as pool:
    pool.map(play, range(6), chunksize=1)
with dikin.Study(sys.argv[1], "race") as study:
    print(study.rounds, study.verify().rows)
"""


def test_all_create_it_at_once(url: str) -> None:
    """One of them makes the tables and the study, the others find them."""
    game = run("-c", RACE, url)
    assert game.stdout == "6 12\n", game.stderr
