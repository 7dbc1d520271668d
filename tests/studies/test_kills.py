"""Kills, in small; the full game is `make kills`."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from pathlib import Path

import pytest

from studies import torture
from studies.torture import Row, Trial, markdown

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


def rows_on_the_page(name: str, trials: list[Trial]) -> list[Row]:
    """What came of trials, as file and page have it: no harm."""
    with open(DOCS / name, encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    rows = [Row(r["what"], r["where"], int(r["tried"]), int(r["failed"]), r["note"]) for r in lines]
    assert markdown(rows) in (DOCS / "durability.md").read_text(encoding="utf-8")
    assert {(row.what, row.where) for row in rows} <= {(t.what, t.where) for t in trials}
    assert not any(row.failed for row in rows)
    return rows


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
