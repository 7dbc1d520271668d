"""Everything that studies were ever broken with, once more and for longer; one table of it.

make torture        about fifteen minutes
make kills          kills and interrupts, over all ways to use a study
"""

import argparse
import csv
import logging
import os
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import chain, product
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # as in the tests

import dikin
from marks import into_page
from service import adversity as service_adversity
from service.serving import Serving
from studies import adversity, forked, interrupts, kills, linear, small
from studies.adversity import Crowd, crowd
from studies.postgres import Server
from studies.small import plain, sharing

MINUTES = 1.0
"""Length of the histories at one place."""


class Row(NamedTuple):
    """A line of the table."""

    what: str
    where: str
    tried: int
    failed: int
    note: str


class Trial(NamedTuple):
    """One kind of harm."""

    what: str
    where: str
    run: Callable[[float], tuple[int, str]]
    """Of the factor by which everything is shortened: how often it was tried, and a note."""


@contextmanager
def sqlite() -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        yield f"{folder}/studies.db"


class Place(NamedTuple):
    """Where clients play, where the study is kept, and what can be crashed, if anything."""

    url: str
    store: str
    server: Any


class Service(Serving):
    """A service that is killed, or stopped by Ctrl-C."""

    def crash(self, how: signal.Signals) -> None:
        self.end_by(how if how is signal.SIGKILL else signal.SIGINT)


@contextmanager
def place(name: str) -> Iterator[Place]:
    """A place by its name: a database, or a service on one."""
    with ExitStack() as stack:
        if name.endswith("PostgreSQL"):
            server = stack.enter_context(Server())
            store = server.url
        else:
            server, store = None, stack.enter_context(sqlite())
        if name.startswith("service"):
            server = stack.enter_context(Service(store, "--log", "warning"))
        yield Place(server.url if server else store, store, server)


def noticed(trials: Iterator[bool]) -> tuple[int, str]:
    found = list(trials)
    return len(found), f"noticed {sum(found):,}, harmless {len(found) - sum(found):,}"


def killed(where: str, count: int, crashes: int = 0) -> Trial:
    def run(share: float) -> tuple[int, str]:
        with place(where) as at, tempfile.TemporaryDirectory() as folder:
            report = kills.game(
                at.url,
                Path(folder),
                max(4, round(share * count)),
                store=at.store,
                server=at.server,
                crashes=min(crashes, max(1, round(share * crashes))),
            )
        acknowledged = sum(report.acknowledged[what] for what in ("ask", "tell", "forget"))
        return report.kills + report.crashes, (
            f"{acknowledged:,} acknowledged, 0 lost, 0 twice; longest call "
            f"{report.longest_wait:.2f} s"
        )

    crashed = f" and {crashes} crashes of the server" if crashes else ""
    return Trial(f"kill -9 of clients{crashed}", where, run)


def ordered(where: str) -> Trial:
    def run(share: float) -> tuple[int, str]:
        with place(where) as at, linear.BadProxy(at.server.port) as proxy:
            count = linear.games(at.store, [proxy.url] * 3 + [at.store], 60 * MINUTES * share)
        return count, "one order explains all results"

    return Trial("calls over a bad network", where, run)


def forking(way: str, count: int) -> Trial:
    def run(share: float) -> tuple[int, str]:
        games = max(len(forked.ENDS), int(share * count))
        seen = forked.total(forked.games(way, games))
        assert seen.lost == seen.twice == 0, seen
        return games, f"{seen.acknowledged:,} acknowledged, 0 lost, 0 twice"

    return Trial(f"the parent ends after a fork by {way}", "SQLite", run)


def interrupted(
    what: str, where: str, act: Callable[[str, int], Iterator[bool]], every: int
) -> Trial:
    def run(share: float) -> tuple[int, str]:
        with place(where) as at:
            count = sum(act(at.url, max(1, round(every / share))))
        return count, "usable, nothing acknowledged lost"

    return Trial(f"Ctrl-C {what}", where, run)


def inside(*places: str) -> list[Trial]:
    """A handler inside every call at every instant, and every statement that fails once."""

    def handled(where: str, share: float) -> tuple[int, str]:
        count = 0
        for outer, inner in product(interrupts.ACTS, interrupts.ACTS):
            with place(where) as at:
                count += sum(interrupts.handlers(at.url, max(1, round(7 / share)), outer, inner))
        return count, "refused with words, nothing acknowledged lost"

    def failed(where: str, share: float) -> tuple[int, str]:
        count = 0
        for act, after in product(interrupts.ACTS, (False, True)):
            with place(where) as at:
                count += sum(interrupts.statements(at.url, 1, act, after))
        return count, "nothing acknowledged lost, nothing twice"

    return [
        Trial(what, where, partial(run, where))
        for where in places
        for what, run in (("a handler inside a call", handled), ("a statement fails", failed))
    ]


def damaged_file(
    what: str, contents: Callable[[bytes, int, int], Iterator[bytes]], count: int
) -> Trial:
    def run(share: float) -> tuple[int, str]:
        with sqlite() as file:
            small.begin(file)
            broken = contents(Path(file).read_bytes(), int(share * count) + 1, 1)
            return noticed(adversity.damaged_files(file, broken))

    return Trial(f"database, {what}", "SQLite", run)


def frozen(share: float) -> tuple[int, str]:
    count = max(2, int(60 * share))
    with Server() as server:
        rounds, longest = adversity.freezes(server, count, seed=5)
    return count, (
        f"{rounds:,} rounds, 0 lost, 0 twice; longest call {longest:.2f} s, with a patience of "
        f"{adversity.PATIENCE} s"
    )


def served(what: str, harm: Callable[[int], service_adversity.Seen], count: int) -> Trial:
    def run(share: float) -> tuple[int, str]:
        tried = max(20, int(share * count))
        return tried, f"beside them {service_adversity.CLIENTS} clients: {harm(tried)}"

    return Trial(what, "service", run)


def full_disks(share: float) -> tuple[int, str]:
    tried = sum(1 for _ in adversity.full_disks(max(2, int(share * 100)), 7))
    return tried, "nothing acknowledged lost, and it goes on"


def exchanged(content: bytes, count: int, seed: int) -> Iterator[bytes]:
    return adversity.exchanged_pages(content)


def long_history(share: float) -> tuple[int, str]:
    rounds, seconds = max(1000, int(100_000 * share)), dict[str, float]()
    with sqlite() as file, sharing(file, "kills", plain()) as study:
        for t in range(rounds):
            study.tell(study.ask(), 0.25)
            if t % 100 == 0:
                study._ledger.flush()
        study._ledger.flush()
        with watched(file) as waits:
            jobs: dict[str, Callable[[], object]] = {
                "verify": study.verify,
                "history": study.history,
                "trim": lambda: study.trim(rounds - 1000),
            }
            for name, job in jobs.items():
                start = time.monotonic()
                job()
                seconds[name] = time.monotonic() - start
    times = ", ".join(f"{name} {took:.1f} s" for name, took in seconds.items())
    assert max(waits) < 0.5, f"a client waited {max(waits):.2f} s for its round"
    return rounds, f"{times}; another client's longest round meanwhile {max(waits):.2f} s"


@contextmanager
def watched(file: str) -> Iterator[list[float]]:
    """Another process plays meanwhile; how long its rounds took."""
    noted = Path(f"{file}.waits")
    child = os.fork()
    if not child:
        with dikin.Study(file, "kills", patience=20.0) as study, noted.open("w") as note:
            while True:
                start = time.monotonic()
                study.tell(study.ask(), 0.75)
                note.write(f"{time.monotonic() - start}\n")
                note.flush()
                time.sleep(0.005)
    waits: list[float] = []
    try:
        yield waits
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        waits += map(float, noted.read_text().split("\n")[:-1])


def crowded(where: str) -> Trial:
    def run(share: float) -> tuple[int, str]:
        seconds = max(2.0, 60.0 * share)
        few, many = (_crowd(where, clients, seconds) for clients in (8, 64))
        assert few.lost == few.doubled == many.lost == many.doubled == 0
        if share == 1.0:
            assert many.rate > 0.4 * few.rate, (
                f"{many.rate:.0f} a second of 64, {few.rate:.0f} of 8"
            )
            assert 2 * many.fewest > many.most, f"{many.fewest} rounds of one, {many.most} of one"
        return int(seconds * (few.rate + many.rate)), (
            f"{few.rate:,.0f} rounds a second with 8, {many.rate:,.0f} with 64, each of these "
            f"{many.fewest} to {many.most}, {many.busy} too busy; 0 lost, 0 twice"
        )

    return Trial("8, then 64 clients at once", where, run)


def _crowd(where: str, clients: int, seconds: float) -> Crowd:
    with place(where) as at:
        return crowd(at.url, clients, seconds)


TRIALS = [
    killed("SQLite", 100),
    killed("PostgreSQL", 100, crashes=2),
    *(forking(way, 100) for way in forked.WAYS),
    *(ordered(where) for where in ("service on SQLite", "service on PostgreSQL")),
    interrupted("in ask and tell, every call", "SQLite", interrupts.calls, 1),
    interrupted("in ask and tell, every call", "PostgreSQL", interrupts.calls, 1),
    interrupted("with shared commits", "SQLite", interrupts.waiting_commits, 1),
    interrupted("with shared commits", "PostgreSQL", interrupts.waiting_commits, 1),
    *inside("SQLite", "PostgreSQL"),
    interrupted("in opening, each 50th call", "SQLite", interrupts.openings, 50),
    Trial("the server freezes", "PostgreSQL", frozen),
    Trial("full disks", "SQLite", full_disks),
    served("silent connections", service_adversity.silent_connections, 20_000),
    served("requests of 990 kB", service_adversity.enormous_requests, 500),
    damaged_file("a bit flipped", adversity.flipped, 3000),
    damaged_file("cut", adversity.cut, 300),
    damaged_file("two pages exchanged", exchanged, 60),
    Trial("long histories, rounds", "SQLite", long_history),
    crowded("SQLite"),
    crowded("PostgreSQL"),
]


def ctrl_c(what: str, act: Callable[..., Iterator[bool]], places: dict[str, int]) -> list[Trial]:
    """At each n-th call, n by the place."""
    return [
        interrupted(what, where, partial(act, made=kills.tuner), every)
        for where, every in places.items()
    ]


SERVICE, SERVICE_POSTGRES = "service on SQLite", "service on PostgreSQL"
EVERYWHERE = {"SQLite": 4, "PostgreSQL": 6, SERVICE: 4, SERVICE_POSTGRES: 5}
KILLS = 1000
KILLING = [
    killed("SQLite", 400),
    killed("PostgreSQL", 300, crashes=5),
    killed(SERVICE, 150, crashes=10),
    killed(SERVICE_POSTGRES, 250, crashes=20),
    *ctrl_c("in ask and tell", interrupts.calls, EVERYWHERE),
    *ctrl_c("with shared commits", interrupts.waiting_commits, {"SQLite": 4, "PostgreSQL": 4}),
    *ctrl_c("in opening", interrupts.openings, {"SQLite": 200, "PostgreSQL": 200, SERVICE: 10}),
]
"""Over all ways to use a study, so that kills and interrupts both come to their 1,000."""


def counts(rows: list[Row]) -> Counter[str]:
    """How many of each kind were tried."""
    found = Counter[str]()
    for row in rows:
        found["Ctrl-C" if row.what.startswith("Ctrl-C") else "kill -9"] += row.tried
    return found


def attempt(trial: Trial, share: float) -> Row:
    try:
        tried, note = trial.run(share)
    except Exception as harm:
        last = traceback.extract_tb(harm.__traceback__)[-1]
        where = f"{Path(last.filename).name}:{last.lineno}"
        note = f"{where}: {type(harm).__name__}: {harm}"[:300]
        return Row(trial.what, trial.where, 1, 1, note)
    return Row(trial.what, trial.where, tried, 0, note)


def line(row: Row) -> str:
    """A trial that is over, as a line of a log."""
    return f"{row.what}, {row.where}: {row.tried:,} tried, {row.failed} failed; {row.note}"


def markdown(rows: list[Row]) -> str:
    """The table for a page."""
    head = ["| what | where | tried | failed | note |", "|---|---|---:|---:|---|"]
    body = [f"| {r.what} | {r.where} | {r.tried:,} | {r.failed} | {r.note} |" for r in rows]
    return "\n".join([*head, *body]) + "\n"


def write(rows: list[Row], out: Path) -> None:
    with out.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerows(chain([Row._fields], rows))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--share", type=float, default=1.0, help="of the full length")
    parser.add_argument("--out", type=Path, default=Path("torture.csv"))
    parser.add_argument("--kills", type=int, help="kills and interrupts alone, so many of each")
    parser.add_argument("--minutes", type=float, help="histories alone, so long at each place")
    parser.add_argument("--page", type=Path, help="a page to put the table into")
    parser.add_argument("--only", default="", help="trials whose name or place contains this")
    wanted = parser.parse_args()
    trials, share = (TRIALS, wanted.share) if not wanted.kills else (KILLING, wanted.kills / KILLS)
    if wanted.minutes:
        trials, share, wanted.only = TRIALS, wanted.minutes / MINUTES, "calls over a bad network"
    chosen = [trial for trial in trials if wanted.only in f"{trial.what}, {trial.where}"]
    rows = played(chosen, share, wanted.out)
    if wanted.page is not None:
        into_page(markdown(rows), wanted.page, "kills" if wanted.kills else "torture")
    return 1 if any(row.failed for row in rows) else 0


def played(trials: list[Trial], share: float, out: Path) -> list[Row]:
    """Try everything, print a line of each, and write the table."""
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    rows = list[Row]()
    for trial in trials:
        rows.append(attempt(trial, share))
        print(line(rows[-1]), flush=True)
        write(rows, out)
    print(f"{sum(row.tried for row in rows):,} tried, {sum(row.failed for row in rows)} failed")
    return rows


if __name__ == "__main__":
    sys.exit(main())
