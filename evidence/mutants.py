"""Mutants, which show whether a wrong line would be noticed.

One place of the source is changed at a time, by a rule and not by hand, in a copy of the project.
Then the tests that run the place are run until one fails: the mutant is *killed*. One that
*survives* is a line that could be wrong without notice, or one that does not matter. With `--known`
the changes of docs/mutants/known.csv are made instead: faults that somebody thought of.

    python -m evidence.mutants [--each N] [--only PACKAGE] [--known] [--minutes M]

Which tests run a line is recorded once for each package. Outcomes are written one by one, and an
interrupted run continues while the source stays as it is.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from evidence.games import ROOT, read_table, write_table

FOLDER, WORK = ROOT / "docs/mutants", ROOT / "build/mutants"
COPY, SOURCE = WORK / "copy", "src/dikin"
PACKAGES = ("learners", "domains", "curvature", "tuning", "theory", "worth", "studies")
SEED, EACH, MOST, LIMIT = 20_261, 20, 60, 300
"""At most so many of the tests that run a place are run. After these seconds of computing a mutant
hangs, which is a failure."""
SWAPS: dict[type, tuple[str, str]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.And: ("and", "or"),
    ast.Or: ("or", "and"),
}


class Mutation(NamedTuple):
    """A change of one place of one file."""

    module: str
    line: int
    column: int
    """Bytes before the place in its line."""
    before: str
    after: str

    @property
    def package(self) -> str:
        """The package of its module."""
        return self.module.partition("/")[0]

    def of(self, text: bytes) -> bytes:
        """Return the text of the module with the change."""
        start = sum(map(len, text.splitlines(keepends=True)[: self.line - 1])) + self.column
        return text[:start] + self.after.encode() + text[start + len(self.before.encode()) :]


class Places(ast.NodeVisitor):
    """Collects the places that can be changed: not messages, annotations or docstrings."""

    def __init__(self, module: str, text: bytes) -> None:
        self.module, self.text, self.found = module, text, list[Mutation]()
        self.starts = [0]
        for line in text.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self.visit(ast.parse(text))

    def at(self, node: ast.expr) -> tuple[int, int]:
        end = self.starts[(node.end_lineno or 1) - 1] + (node.end_col_offset or 0)
        return self.starts[node.lineno - 1] + node.col_offset, end

    def add(self, start: int, end: int, after: str) -> None:
        line = self.text.count(b"\n", 0, start) + 1
        before = self.text[start:end].decode()
        if "\n" not in before:
            place = line, start - self.starts[line - 1]
            self.found.append(Mutation(self.module, *place, before, after))

    def swap(self, left: ast.expr, operator: ast.AST, right: ast.expr) -> None:
        """An operator between two operands becomes its counterpart."""
        if type(operator) in SWAPS:
            before, after = SWAPS[type(operator)]
            place = self.text.find(before.encode(), self.at(left)[1], self.at(right)[0])
            if place >= 0:
                self.add(place, place + len(before), after)

    def visit_Raise(self, node: ast.Raise) -> None:
        """Messages have tests of their own."""

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """The same."""

    def visit_arg(self, node: ast.arg) -> None:
        """Annotations change nothing."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_Compare(self, node: ast.Compare) -> None:
        operands = [node.left, *node.comparators]
        for left, operator, right in zip(operands, node.ops, operands[1:], strict=False):
            self.swap(left, operator, right)
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        self.swap(node.left, node.op, node.right)
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        self.swap(node.values[0], node.op, node.values[1])
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not):
            start = self.at(node)[0]
            self.add(start, start + len("not "), "")
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        if isinstance(node.func, ast.Name) and node.func.id in ("min", "max"):
            self.add(*self.at(node.func), "max" if node.func.id == "min" else "min")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        value = node.value
        if isinstance(value, bool):
            self.add(*self.at(node), str(not value))
        elif isinstance(value, int):
            self.add(*self.at(node), str(value + 1))
        elif isinstance(value, float):
            self.add(*self.at(node), repr(1.1 * value if value else 0.1))

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Call):
            self.add(*self.at(node.value), "None")
        if not isinstance(node.value, ast.Constant):  # not a docstring
            self.generic_visit(node)


def drawn(packages: list[str], each: int) -> list[Mutation]:
    """Return so many mutations of each package, drawn from all places of all its modules."""
    found = list[Mutation]()
    for package in packages:
        files = sorted((ROOT / SOURCE / package).rglob("[!_]*.py"))
        names = [file.relative_to(ROOT / SOURCE).with_suffix("").as_posix() for file in files]
        everything = [
            place
            for name, file in zip(names, files, strict=True)
            for place in Places(name, file.read_bytes()).found
        ]
        random.Random(f"{SEED} {package}").shuffle(everything)
        found += everything[:each]
    return found


def known(file: Path) -> Iterator[Mutation]:
    """Yield the mutations of a list: the first place of a module where a text stands."""
    for row in read_table(file):
        source = ROOT / SOURCE / f"{row['module']}.py"
        text = source.read_text(encoding="utf-8") if source.exists() else ""
        start = text.find(row["before"])
        if start < 0:
            print(f"{file.name}: {row['module']}.py has no {row['before']!r} any more")
            continue
        column = len(text[:start].rpartition("\n")[2].encode())
        place = text.count("\n", 0, start) + 1, column
        yield Mutation(row["module"], *place, row["before"], row["after"])


# --- running -------------------------------------------------------------------------------------


def run_in_copy(*arguments: str, seconds: int = 10**6) -> subprocess.CompletedProcess[str]:
    """Run Python in the copy, for so many seconds of computing."""
    environment = os.environ | {
        "PYTHONPATH": f"{COPY / 'src'}{os.pathsep}{COPY}",
        "PYTHONDONTWRITEBYTECODE": "1",
        "NUMBA_CACHE_DIR": str(WORK / "compiled"),
        "OPENBLAS_NUM_THREADS": "1",
    }
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=COPY,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5)),
    )


PYTEST = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", "--tb=no")


@cache
def record(package: str) -> Any:
    """Return the tests by line of each file of a package, from a run of its tests."""
    import coverage

    print(f"recording the tests of {package}, once ...", flush=True)
    data = WORK / f"lines_{package}"
    settings = WORK / "coveragerc"
    settings.write_text("[run]\ndynamic_context = test_function\nbranch = false\n")
    options = (f"--rcfile={settings}", f"--data-file={data}", f"--source={COPY / SOURCE / package}")
    laws = ["tests/checks"] if package == "domains" else []
    run_in_copy("-m", "coverage", "run", *options, *PYTEST, f"tests/{package}", *laws)
    lines = coverage.CoverageData(str(data))
    lines.read()
    return lines


def tests_of(mutation: Mutation) -> list[str]:
    """Return the tests that run a line, or all tests of the package if it runs at import."""
    lines = record(mutation.package)
    contexts = lines.contexts_by_lineno(str(COPY / SOURCE / f"{mutation.module}.py"))
    found = set()
    for context in contexts.get(mutation.line, []):
        module, _, function = context.rpartition(".")
        file = f"tests/{module.removeprefix('tests.').replace('.', '/')}.py"
        if (COPY / file).exists():
            found.add(f"{file}::{function}")
    own = Path(mutation.module).name
    near = sorted(found, key=lambda test: (own not in test, test))[:MOST]
    return near or [f"tests/{mutation.package}"]


def outcome(mutation: Mutation) -> tuple[str, str]:
    """Make the change, run the tests, and undo it."""
    file = COPY / SOURCE / f"{mutation.module}.py"
    text, tests = file.read_bytes(), tests_of(mutation)
    file.write_bytes(mutation.of(text))
    try:
        done = run_in_copy(*PYTEST, "-x", *tests, seconds=LIMIT)
    finally:
        file.write_bytes(text)
    failed = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", done.stdout, re.MULTILINE)
    if failed:
        return "killed", failed[1].removeprefix("tests/")
    if done.returncode in (0, 5):
        return "survived", ""
    return "killed", "no end" if done.returncode < 0 else "no test could be run"


class Row(NamedTuple):
    """A line of the CSV."""

    module: str
    line: int
    code: str
    before: str
    after: str
    outcome: str
    by: str
    """The test that failed."""


def main() -> None:
    """Try mutations until the time is over."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--each", type=int, default=EACH, help=f"of each package ({EACH})")
    parser.add_argument("--only", choices=PACKAGES, help="of one package alone")
    parser.add_argument("--known", action="store_true", help="those of docs/mutants/known.csv")
    parser.add_argument("--minutes", type=float, default=1e9, help="stop after so many")
    chosen = parser.parse_args()
    name = "known" if chosen.known else "drawn"
    packages = [chosen.only] if chosen.only else [*PACKAGES]
    mutations = [*known(FOLDER / "known.csv")] if chosen.known else drawn(packages, chosen.each)
    shutil.rmtree(COPY, ignore_errors=True)
    skip = shutil.ignore_patterns("__pycache__", ".*", "auto", "site", "build", "reproduction")
    shutil.copytree(ROOT, COPY, ignore=skip)
    files = sorted((ROOT / SOURCE).rglob("*.py"))
    code = sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]
    kept, file, until = WORK / f"{name}_{code}.csv", FOLDER / f"{name}_outcomes.csv", time.time()
    rows = {
        (row["module"], row["line"], row["before"], row["code"]): row for row in read_table(kept)
    }
    for number, mutation in enumerate(mutations, 1):
        text = (ROOT / SOURCE / f"{mutation.module}.py").read_text(encoding="utf-8")
        line = text.splitlines()[mutation.line - 1].strip()
        key = mutation.module, str(mutation.line), mutation.before, line
        if key in rows or time.time() > until + 60 * chosen.minutes:
            continue
        row = Row(*mutation[:2], line, *mutation[3:], *outcome(mutation))
        rows[key] = {name: str(text) for name, text in row._asdict().items()}
        write_table(kept, "make mutants", Row._fields, [each.values() for each in rows.values()])
        print(number, len(mutations), *row, flush=True)
    write_table(file, "make mutants", Row._fields, [each.values() for each in rows.values()])
    killed = sum(row["outcome"] == "killed" for row in rows.values())
    print(f"{len(rows)} of {len(mutations)} tried, {killed} killed")


if __name__ == "__main__":
    main()
