"""Mutants, which show whether a wrong line would be noticed.

One place of the source is changed at a time, by a rule and not by hand, in a copy of the project.
Then the tests that tests/README.md names for its module are run. A mutant is *killed* if one of
them fails. One that *survives* is a line that could be wrong without notice, or one that does not
matter: docs/mutants/reasons.csv says which. With `--known` the mutations of docs/mutants/known.csv
are made instead: faults that somebody thought of.

    python benchmarks/mutants.py [--number N] [--only PACKAGE] [--known] [--out DIR] [--page PAGE]
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from dikin.engine.progress import Progress
from dikin.experiments.tables import fields, read_csv, write_csv
from dikin.files import replace_file

ROOT = Path(__file__).resolve().parents[1]
SOURCE = "src/dikin"
PACKAGES = ("learners", "domains", "theory", "curvature", "forecasts", "tuning", "worth", "studies")
SEED, NUMBER, PATIENCE = 20_261, 160, 900
"""The draw, the number of mutants, and the seconds after which one counts as hanging: killed."""
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
COPIED = ("src", "tests", "docs", "examples", "benchmarks", "deploy")


class Mutation(NamedTuple):
    """A change of one place of one file."""

    module: str
    line: int
    before: str
    after: str
    start: int
    """Where the place begins, in bytes of the file."""


class Row(NamedTuple):
    """A line of the CSV."""

    module: str
    line: int
    before: str
    after: str
    outcome: str
    by: str
    """The first test that failed."""


class Places(ast.NodeVisitor):
    """Collects what can be changed in a module: not its messages, annotations or docstrings."""

    def __init__(self, module: str, text: bytes) -> None:
        self.module, self.text = module, text
        self.starts = [0]
        for line in text.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self.found: list[Mutation] = []

    def at(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        end = self.starts[(node.end_lineno or 1) - 1] + (node.end_col_offset or 0)
        return self.starts[node.lineno - 1] + node.col_offset, end

    def add(self, start: int, end: int, after: str) -> None:
        line = self.text.count(b"\n", 0, start) + 1
        before = self.text[start:end].decode()
        if "\n" not in before:
            self.found.append(Mutation(self.module, line, before, after, start))

    def swap(self, left: ast.expr, kind: type, right: ast.expr) -> None:
        """An operator between two operands becomes its counterpart."""
        if kind in SWAPS:
            before, after = SWAPS[kind]
            start, end = self.at(left)[1], self.at(right)[0]
            place = self.text.find(before.encode(), start, end)
            if place >= 0:
                self.add(place, place + len(before), after)

    def visit_Raise(self, node: ast.Raise) -> None:
        """Messages have tests of their own, and their wording is no line that could be wrong."""

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """The same."""

    def visit_arg(self, node: ast.arg) -> None:
        """Annotations change nothing."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_Compare(self, node: ast.Compare) -> None:
        operands = [node.left, *node.comparators]
        for left, kind, right in zip(operands, node.ops, operands[1:], strict=False):
            self.swap(left, type(kind), right)
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        self.swap(node.left, type(node.op), node.right)
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        self.swap(node.values[0], type(node.op), node.values[1])
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
            self.add(*self.at(node), "None")
        if not isinstance(node.value, ast.Constant):  # not a docstring
            self.generic_visit(node)


def places(module: str) -> list[Mutation]:
    text = (ROOT / SOURCE / f"{module}.py").read_bytes()
    visitor = Places(module, text)
    visitor.visit(ast.parse(text))
    return visitor.found


def modules(package: str) -> list[str]:
    found = sorted((ROOT / SOURCE / package).rglob("*.py"))
    names = [path.relative_to(ROOT / SOURCE).as_posix().removesuffix(".py") for path in found]
    return [name for name in names if not name.endswith("__init__")]


def chosen(packages: list[str], number: int, seed: int) -> list[Mutation]:
    """As many of each package, drawn from all places of all its modules."""
    draw, found = random.Random(seed), list[Mutation]()
    for place, package in enumerate(packages):
        share = (number + len(packages) - 1 - place) // len(packages)
        everything = [each for module in modules(package) for each in places(module)]
        found += draw.sample(everything, min(share, len(everything)))
    return found


def known(file: Path) -> Iterator[Mutation]:
    """The mutations of a list: the first place of a module where a text stands becomes another."""
    for row in read_csv(file):
        text = (ROOT / SOURCE / f"{row['module']}.py").read_text(encoding="utf-8")
        start = text.find(row["before"])
        if start < 0:
            sys.exit(f"{file}: {row['module']}.py has no {row['before']!r} any more: mend the list")
        line = text.count("\n", 0, start) + 1
        bytes_before = len(text[:start].encode())
        yield Mutation(row["module"], line, row["before"], row["after"], bytes_before)


def tests_of(module: str) -> list[str]:
    """Where tests/README.md says that a module is tested, and the laws of its package."""
    path = PurePosixPath(module)
    own = (path.parent / f"test_{path.name}.py").as_posix()
    named = [own] if (ROOT / "tests" / own).exists() else []
    page = (ROOT / "tests" / "README.md").read_text(encoding="utf-8")
    for line in page.partition("\n## Modules")[2].splitlines():
        if f"`{module}`" in line.partition(" | ")[0]:
            named += re.findall("`(.+?)`", line.partition(" | ")[2])
    package = path.parts[0]
    everything = [*named, package if len(path.parts) > 1 else own]
    if package == "learners":
        everything += ["reference", "paper", "checks/test_learner_laws.py"]
    if package == "domains":
        everything += ["checks/test_domain_laws.py"]
    if package == "environments":
        everything += ["checks/test_environment_laws.py"]
    return [f"tests/{each}" for each in dict.fromkeys(everything)]


def outcome(mutation: Mutation, copy: Path) -> Row:
    """Make the change in a copy of the project, run the tests, and undo it."""
    file = copy / SOURCE / f"{mutation.module}.py"
    text = file.read_bytes()
    end = mutation.start + len(mutation.before.encode())
    file.write_bytes(text[: mutation.start] + mutation.after.encode() + text[end:])
    command = [sys.executable, "-m", "pytest", "-x", "-q", "--no-header", "-p", "no:cacheprovider"]
    environment = os.environ | {"PYTHONPATH": str(copy / "src"), "OPENBLAS_NUM_THREADS": "1"}
    try:
        run = subprocess.run(
            [*command, *tests_of(mutation.module)],
            cwd=copy,
            env=environment,
            timeout=PATIENCE,
            capture_output=True,
            text=True,
        )
    except subprocess.TimeoutExpired:
        return Row(*mutation[:4], "killed", "no end")
    finally:
        file.write_bytes(text)
    failed = re.search(r"^(?:FAILED|ERROR) (\S+)", run.stdout, re.MULTILINE)
    name = failed[1].removeprefix("tests/") if failed else ""
    return Row(*mutation[:4], "killed" if run.returncode else "survived", name)


def copy_of_project(folder: Path) -> Path:
    skip = shutil.ignore_patterns("__pycache__", "auto", "*.sqlite*")
    for name in COPIED:
        shutil.copytree(ROOT / name, folder / name, ignore=skip)
    for file in ROOT.iterdir():
        if file.is_file():
            shutil.copy(file, folder / file.name)
    return folder


def reasons(folder: Path) -> dict[tuple[str, str, str], str]:
    """Why a survivor may live, by module, text before and text after."""
    file = folder / "reasons.csv"
    found = read_csv(file) if file.exists() else []
    return {(row["module"], row["before"], row["after"]): row["reason"] for row in found}


def table(rows: list[Row], why: dict[tuple[str, str, str], str]) -> str:
    """The page's tables: how many of each package were killed, and the survivors."""
    counts: dict[str, list[int]] = {}
    for row in rows:
        count = counts.setdefault(row.module.partition("/")[0], [0, 0])
        count[0] += 1
        count[1] += row.outcome == "killed"
    lines = ["| package | mutants | killed |", "|---|---|---|"]
    lines += [f"| `{package}` | {tried} | {dead} |" for package, (tried, dead) in counts.items()]
    tried, dead = (sum(count[i] for count in counts.values()) for i in (0, 1))
    lines += [f"| **all** | **{tried}** | **{dead}** |", ""]
    lines += ["| survivor | line | before | after | why |", "|---|---|---|---|---|"]
    for row in rows:
        if row.outcome == "survived":
            reason = why.get((row.module, row.before, row.after), "not known: a test is missing")
            texts = (f"`{text.replace('|', '¦')}`" for text in (row.before, row.after or " "))
            lines.append(f"| `{row.module}` | {row.line} | {' | '.join(texts)} | {reason} |")
    return "\n".join(lines)


def publish(rows: list[Row], name: str, folder: Path, page: Path) -> None:
    write_csv(folder / f"{name}.csv", fields(*Row._fields), rows)
    text = page.read_text(encoding="utf-8")
    begin, end = f"<!-- {name} -->\n", f"\n<!-- end {name} -->"
    head, _, rest = text.partition(begin)
    tail = rest.partition(end)[2]
    new = head + begin + table(rows, reasons(folder)) + end + tail
    replace_file(page, new.encode())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--number", type=int, default=NUMBER, help="how many mutants to draw")
    parser.add_argument("--only", choices=PACKAGES, help="of one package alone")
    parser.add_argument("--known", action="store_true", help="those of docs/mutants/known.csv")
    parser.add_argument("--seed", type=int, default=SEED, help="another draw")
    parser.add_argument("--out", type=Path, help="a folder for the CSV")
    parser.add_argument("--page", type=Path, help="a page to write the tables into")
    options = parser.parse_args()
    if options.known:
        todo = list(known(ROOT / "docs/mutants/known.csv"))
    else:
        packages = [options.only] if options.only else list(PACKAGES)
        todo = chosen(packages, options.number, options.seed)
    rows = list[Row]()
    with tempfile.TemporaryDirectory() as folder, Progress(len(todo), True) as progress:
        copy = copy_of_project(Path(folder))
        for mutation in todo:
            rows.append(outcome(mutation, copy))
            print(*rows[-1], sep="\t", flush=True)
            progress.move(1)
    print(f"{sum(row.outcome == 'killed' for row in rows)} of {len(rows)} killed")
    if options.out and options.page:
        publish(rows, "known" if options.known else "drawn", options.out, options.page)


if __name__ == "__main__":
    main()
