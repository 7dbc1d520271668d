"""benchmarks/history.csv: the ratios of every run of `make bench`, and those of earlier ones.

A ratio is of two times of one run on one machine. It is compared with earlier ones on the same kind
of machine: the same processor and number of cores. How much of the machine other programs took is
kept too: a ratio bears some of that, but not that others take both cores. No name of a machine or
of a user is kept.
"""

from __future__ import annotations

import csv
import io
import os
import platform
import subprocess
import sys
import time
from collections.abc import Iterable
from datetime import UTC, datetime
from math import isfinite
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

import dikin
from dikin.files import replace_file

if TYPE_CHECKING:
    from timing import Row

HISTORY = Path(__file__).resolve().parent / "history.csv"
CALM = 0.25
"""The share of all cores that others may take; ratios of busier runs are kept, not compared with.

Workers that a benchmark starts and leaves running count as others, for a tenth or so.
"""
MARKS = {True: "yes", False: "NO", None: ""}
"""What a table says of a limit that is kept, that is not, and that there is none."""


class Run(NamedTuple):
    """When, of what and on what a run is: the first columns of its lines."""

    date: str
    commit: str
    version: str
    python: str
    processor: str
    cores: str


COLUMNS = (*Run._fields, "others", "what", "figure", "against", "ratio", "limit", "met")


def this_run() -> Run:
    """The one that is under way."""
    return Run(
        datetime.now(UTC).strftime("%Y-%m-%dT%H:%MZ"),
        _commit(),
        dikin.__version__,
        platform.python_version(),
        _processor(),
        str(os.cpu_count() or ""),
    )


def _commit() -> str:
    """The commit that is checked out, with a plus if files were changed; none without git."""
    said = subprocess.run(
        ["git", "describe", "--always", "--abbrev=10", "--exclude=*", "--dirty=+"],
        cwd=HISTORY.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    return said.stdout.strip()


def _processor() -> str:
    """What the processor is called."""
    if sys.platform == "linux":
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                return value.strip()
    return platform.processor() or platform.machine()


class Others:
    """The share of all cores that other programs take from now on."""

    def __init__(self) -> None:
        self._start = self._now()

    def share(self) -> str:
        """Since the beginning; empty where the system does not tell."""
        if self._start is None or (now := self._now()) is None:
            return ""
        all_used, own, elapsed = (b - a for a, b in zip(self._start, now, strict=True))
        return f"{max(0.0, (all_used - own) / (elapsed * (os.cpu_count() or 1))):.2f}"

    @staticmethod
    def _now() -> tuple[float, float, float] | None:
        """Seconds of processor time of everybody and of this process, and those of the clock."""
        if sys.platform != "linux":
            return None
        first = Path("/proc/stat").read_text(encoding="utf-8").splitlines()[0]
        user, nice, system, _, _, irq, softirq, steal = map(int, first.split()[1:9])
        used = (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")
        own = os.times()
        return used, sum(own[:4]), time.monotonic()


def append(path: Path, run: Run, others: str, rows: Iterable[Row]) -> None:
    """Add the rows of a run to a file: all of them or, if this is killed, none."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    before = path.read_bytes() if path.exists() else b""
    if not before:
        writer.writerow(COLUMNS)
    for row in rows:
        ratio = "" if row.ratio is None else f"{row.ratio:.4g}"
        measured = (row.what, row.figure, row.against, ratio, row.limit, _met(row))
        writer.writerow((*run, others, *measured))
    replace_file(path, before + text.getvalue().encode())


def _met(row: Row) -> str:
    return MARKS[row.met].lower()


def earlier(path: Path, run: Run) -> dict[str, list[float]]:
    """The ratios of earlier calm runs on the same kind of machine, by what was measured."""
    found: dict[str, list[float]] = {}
    if not path.exists():
        return found
    with open(path, encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            alike = (line["processor"], line["cores"]) == (run.processor, run.cores)
            calm = float(line["others"] or 0.0) <= CALM
            if alike and calm and line["ratio"] and isfinite(float(line["ratio"])):
                found.setdefault(line["what"], []).append(float(line["ratio"]))
    return found


def usual(ratios: list[float]) -> str:
    """The median of earlier ratios, with how many there are."""
    return f"{median(ratios):.3g} ({len(ratios)})" if ratios else ""
