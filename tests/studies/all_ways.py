"""1,000 kills and 1,000 interrupts over all ways to use a study; one table of it.

    make kills          about five minutes, or KILLS=200

A tuner with a holdback, a guard, contexts and covariates; on SQLite, on PostgreSQL, and over HTTP
through a service on either. Besides the clients the PostgreSQL server is crashed, and the service
killed, or stopped by Ctrl-C. Ends with status 1 if anything was lost.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # as in the tests

from marks import into_page
from studies import interrupts, kills
from studies.torture import Row, Trial, interrupted, killed, markdown, played

KILLS = 1000
SQLITE, POSTGRES = "SQLite", "PostgreSQL"
SERVICE, SERVICE_POSTGRES = "service on SQLite", "service on PostgreSQL"

Act = Callable[..., Iterator[bool]]


def ctrl_c(what: str, act: Act, places: dict[str, int]) -> list[Trial]:
    """At each n-th call, n by the place."""
    return [
        interrupted(what, where, 10, partial(act, made=kills.tuner), every)
        for where, every in places.items()
    ]


TRIALS = [
    killed(SQLITE, 400),
    killed(POSTGRES, 300, crashes=5),
    killed(SERVICE, 150, crashes=10),
    killed(SERVICE_POSTGRES, 250, crashes=20),
    *ctrl_c(
        "in ask and tell",
        interrupts.calls,
        {SQLITE: 4, POSTGRES: 6, SERVICE: 4, SERVICE_POSTGRES: 5},
    ),
    *ctrl_c("with shared commits", interrupts.waiting_commits, {SQLITE: 4, POSTGRES: 4}),
    *ctrl_c("in a commit, another waits", interrupts.flushes, {SQLITE: 4, POSTGRES: 6}),
    *ctrl_c("in opening", interrupts.openings, {SQLITE: 200, POSTGRES: 200, SERVICE: 10}),
]
"""So that both kinds come to their 1,000."""


def counts(rows: list[Row]) -> dict[str, int]:
    """How many of each kind were tried."""
    found = {"kill -9": 0, "Ctrl-C": 0}
    for row in rows:
        found["Ctrl-C" if row.what.startswith("Ctrl-C") else "kill -9"] += row.tried
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--kills", type=int, default=KILLS, help="and about as many interrupts")
    parser.add_argument("--out", type=Path, default=Path("kills.csv"))
    parser.add_argument("--page", type=Path, help="a page to put the table into")
    wanted = parser.parse_args()
    rows = played(TRIALS, wanted.kills / KILLS, wanted.out)
    print(", ".join(f"{what}: {count:,}" for what, count in counts(rows).items()))
    if wanted.page is not None:
        into_page(markdown(rows), wanted.page, "kills")
    return 1 if any(row.failed for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
