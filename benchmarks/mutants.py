"""Mutants, which show whether a wrong line would be noticed.

One place of the source is changed at a time, by a rule and not by hand, in a copy of the project.
Then the tests that see the place are run in a process of their own, the fastest first. A mutant is
*killed* if one of them fails. One that *survives* is a line that could be wrong without notice, or
one that does not matter: docs/mutants/reasons.csv says which. With `--known` the mutations of
docs/mutants/known.csv are made instead: faults that somebody thought of.

    python benchmarks/mutants.py [--each N] [--only PACKAGE] [--known] [--again] [--minutes M]

Which tests see a place is recorded once for a state of its package. Each outcome is written when it
is known, to build/mutants: a run that was stopped goes on where it was, and what was played in a
package stays until the package changes.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from functools import cache, cached_property
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from mutation_places import PACKAGES, ROOT, SOURCE, Mutation, chosen, known
from seen_lines import PLUGIN, Record, environment

from dikin.experiments.tables import fields, read_csv, write_csv
from dikin.files import replace_file

FOLDER, PAGE, WORK = ROOT / "docs/mutants", ROOT / "docs/mutants.md", ROOT / "build/mutants"
SEED, EACH = 20_261, 20
FIRST, AGAIN = 6.0, 30.0
"""Seconds of tests for a mutant, at first and for a survivor that is played once more, as they were
recorded: a tracer makes them twice as slow."""
PATIENCE = 3
"""Of these seconds, and a minute to begin: then a mutant counts as hanging, which is a failure.
They are seconds of computing: no mutant hangs because the machine is busy."""
COPIED = ("src", "tests", "docs", "examples", "benchmarks", "evidence", "deploy")
KILLED, SURVIVED = "killed", "survived"


class Row(NamedTuple):
    """A line of the CSV."""

    module: str
    line: int
    column: int
    code: str
    """The line, before the change."""
    before: str
    after: str
    first: str
    """The outcome when it was first played; a test may have been written since."""
    outcome: str
    by: str
    """The first test that failed."""

    @property
    def mutation(self) -> Mutation:
        return Mutation(self.module, self.line, self.column, self.before, self.after)

    @property
    def key(self) -> tuple[str, ...]:
        return self.module, self.code, self.before, self.after


def read_rows(file: Path) -> list[Row]:
    numbers = ("line", "column")
    return [
        Row(**{name: int(text) if name in numbers else text for name, text in row.items()})  # type: ignore[arg-type]
        for row in read_csv(file)
    ]


class Player:
    """Plays mutants in a copy of the project, and keeps their outcomes."""

    def __init__(self, work: Path, name: str) -> None:
        self.work, self.copy, self._name = work, work / "copy", name
        self.records: dict[str, Record] = {}
        files = [self.file(folder.name) for folder in (ROOT / SOURCE).iterdir() if folder.is_dir()]
        played = (row for file in files if file.exists() for row in read_rows(file))
        self.rows = {row.mutation: row for row in played}

    def file(self, package: str) -> Path:
        """The outcomes of a package as it is now."""
        return self.work / f"{self._name}_{package}_{code_of(package)}.csv"

    @cached_property
    def runner(self) -> subprocess.Popen[str]:
        """Where tests are run, in a copy of the project as it is now."""
        copy_project(self.copy)
        # No machine code or bytecode of a mutant gets to where the right one is looked for.
        apart = {"NUMBA_CACHE_DIR": str(self.work / "compiled"), "PYTHONDONTWRITEBYTECODE": "1"}
        return subprocess.Popen(
            [sys.executable, str(ROOT / "benchmarks/forked_tests.py")],
            cwd=self.copy,
            env=environment(self.work, **apart),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def play(self, mutation: Mutation) -> Row:
        """Make the change, run the tests, undo it, and write the outcome down."""
        package, runner = mutation.package, self.runner
        if package not in self.records:
            self.records[package] = Record.of(package, self.work, code_of(package))
        file = self.copy / SOURCE / f"{mutation.module}.py"
        text, times = file.read_bytes(), file.stat()
        file.write_bytes(mutation.of(text))
        try:
            outcome, by = self.run_tests(runner, mutation, self.records[package])
        finally:
            file.write_bytes(text)
            os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))  # its bytecode is valid again
        code = text.decode().splitlines()[mutation.line - 1].strip()
        first = self.rows[mutation].first if mutation in self.rows else outcome
        row = Row(*mutation[:3], code, *mutation[3:], first, outcome, by)
        self.rows[mutation] = row
        rows = [row for each, row in self.rows.items() if each.package == package]
        write_csv(self.file(package), fields(*Row._fields), rows)
        return row

    def run_tests(
        self, runner: subprocess.Popen[str], mutation: Mutation, record: Record
    ) -> tuple[str, str]:
        limit = AGAIN if mutation in self.rows else FIRST
        files, choice = record.choice(mutation, limit)
        listed = self.work / "choice.json"
        listed.write_text(json.dumps(choice), encoding="utf-8")
        wait = 60 + PATIENCE * sum(seconds or 0.0 for seconds in choice.values())
        output = self.work / "output.txt"
        request = {
            "arguments": [*PLUGIN, "-x", "-q", "--no-header", "--tb=no", *files],
            "environment": {"CHOICE": str(listed)},
            "output": str(output),
            "seconds": wait,
        }
        assert runner.stdin
        assert runner.stdout
        print(json.dumps(request), file=runner.stdin, flush=True)
        status = runner.stdout.readline().strip()
        if status == "late":
            return KILLED, "no end"
        if status in ("0", "5"):  # 5: no test sees it
            return SURVIVED, ""
        said = output.read_text(encoding="utf-8", errors="replace")
        failed = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", said, re.MULTILINE)
        return KILLED, failed[1].removeprefix("tests/") if failed else "no test could be run"


@cache
def code_of(package: str) -> str:
    """A digest of its files: another one where a line has moved."""
    files = sorted((ROOT / SOURCE / package).rglob("*.py"))
    return sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]


def copy_project(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    skip = shutil.ignore_patterns("__pycache__", "auto", "*.sqlite*")
    for name in COPIED:
        shutil.copytree(ROOT / name, folder / name, ignore=skip)
    for file in ROOT.iterdir():
        if file.is_file():
            shutil.copy(file, folder / file.name)


# --- the page ------------------------------------------------------------------------------------


def reasons() -> dict[tuple[str, ...], str]:
    """Why a survivor may live."""
    file = FOLDER / "reasons.csv"
    columns = ("module", "code", "before", "after")
    found = read_csv(file) if file.exists() else []
    return {tuple(row[column] for column in columns): row["reason"] for row in found}


def table(rows: list[Row], why: dict[tuple[str, ...], str]) -> str:
    """Return how many of each package were killed, and how many survivors have a reason."""
    packages = dict.fromkeys(row.mutation.package for row in rows)
    lines = ["| package | mutants | killed at first | killed now |", "|---|---|---|---|"]
    for package in packages:
        own = [row for row in rows if row.mutation.package == package]
        lines.append(counts(f"`{package}`", own))
    lines.append(counts("**all**", rows))
    survivors = [row.key for row in rows if row.outcome == SURVIVED]
    known = sum(key in why for key in survivors)
    lines += ["", f"{len(survivors)} survive, {known} of them for a reason that is written down."]
    return "\n".join(lines)


def counts(name: str, rows: list[Row]) -> str:
    first, now = (
        sum(getattr(row, each) == KILLED for row in rows) for each in ("first", "outcome")
    )
    return f"| {name} | {len(rows)} | {first} | {now} |"


def publish(rows: list[Row], name: str, drawn: int) -> None:
    """Write the CSV, and the tables between two marks of the page."""
    write_csv(FOLDER / f"{name}_outcomes.csv", fields(*Row._fields), rows)
    begin, end = f"<!-- {name} -->\n", f"<!-- end {name} -->"
    head, _, rest = PAGE.read_text(encoding="utf-8").partition(begin)
    tail = rest.partition(end)[2]
    played = f"{len(rows)} of {drawn} were played.\n\n"
    text = f"{head}{begin}{played}{table(rows, reasons())}\n{end}{tail}"
    replace_file(PAGE, text.encode())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--each", type=int, default=EACH, help="mutants of each package (20)")
    parser.add_argument("--only", choices=PACKAGES, help="of one package alone")
    parser.add_argument("--known", action="store_true", help="those of docs/mutants/known.csv")
    parser.add_argument("--seed", type=int, default=SEED, help="another draw")
    parser.add_argument(
        "--again", action="store_true", help="play survivors without a reason once more"
    )
    parser.add_argument(
        "--minutes", type=float, default=float("inf"), help="stop after so many; 0 plays none"
    )
    parser.add_argument("--page", action="store_true", help="write docs/mutants.md and its CSVs")
    options = parser.parse_args()
    name = "known" if options.known else "drawn"
    mutations = (
        list(known(FOLDER / "known.csv"))
        if options.known
        else chosen([options.only] if options.only else [*PACKAGES], options.each, options.seed)
    )
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    player = Player(WORK, name)
    with suppress(KeyboardInterrupt):
        play_all(player, mutations, options.again, options.minutes)
    rows = [player.rows[mutation] for mutation in mutations if mutation in player.rows]
    killed = sum(row.outcome == KILLED for row in rows)
    print(f"{len(rows)} of {len(mutations)} played, {killed} killed")
    if len(rows) < len(mutations):
        print("stopped; the same command goes on")
    if options.page:
        publish(rows, name, len(mutations))


def play_all(player: Player, mutations: list[Mutation], again: bool, minutes: float) -> None:
    """Play what is missing, until the time is over."""
    why = reasons()

    def finished(mutation: Mutation) -> bool:
        row = player.rows.get(mutation)
        return row is not None and not (again and row.outcome == SURVIVED and row.key not in why)

    missing = [mutation for mutation in mutations if not finished(mutation)]
    begin, spent = time.monotonic(), 0.0
    for number, mutation in enumerate(missing, 1):
        if spent >= minutes:
            return
        row = player.play(mutation)
        spent = (time.monotonic() - begin) / 60
        left = spent / number * (len(missing) - number)
        print(
            f"{number} of {len(missing)}, {left:.0f} min left: {row.module}:{row.line} "
            f"{row.before!r} → {row.after!r}: {row.outcome} {row.by}",
            flush=True,
        )


if __name__ == "__main__":
    main()
