"""Which tests see a line of the source: those that run it, from a record of all tests of a package.

The record is made once for a state of the source, by coverage.py. Code that only ever runs compiled
leaves no trace in it, nor does what is run when a module is imported; see `lines_of`.
"""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from mutation_places import ROOT, SOURCE, Mutation, modules

BENCHMARKS = Path(__file__).resolve().parent
Function = ast.FunctionDef | ast.AsyncFunctionDef


def tests_of_package(package: str) -> list[str]:
    """Its tests, those that tests/README.md names besides, and the examples in docstrings."""
    own = f"tests/{package}"
    named = {file for module in modules(package) for file in tests_of_module(module)}
    elsewhere = {file for file in named if not file.startswith(f"{own}/")}
    return [own, *sorted(elsewhere), f"{SOURCE}/{package}"]


def tests_of_module(module: str) -> list[str]:
    """The files, or all files of the folders, that tests/README.md names for a module."""
    path = PurePosixPath(module)
    own = (path.parent / f"test_{path.name}.py").as_posix()
    named = [own] if (ROOT / "tests" / own).exists() else []
    page = (ROOT / "tests" / "README.md").read_text(encoding="utf-8")
    for line in page.partition("\n## Modules")[2].splitlines():
        if f"`{module}`" in line.partition(" | ")[0]:
            named += re.findall("`(.+?)`", line.partition(" | ")[2])
    paths = [ROOT / "tests" / each for each in dict.fromkeys(named)]
    files = [sorted(path.glob("test_*.py")) if path.is_dir() else [path] for path in paths]
    return [file.relative_to(ROOT).as_posix() for each in files for file in each]


def environment(work: Path, **more: str) -> dict[str, str]:
    """Of a run of tests in the copy."""
    return os.environ | {
        "PYTHONPATH": os.pathsep.join([str(work / "copy" / "src"), str(BENCHMARKS)]),
        "PYTHONPYCACHEPREFIX": str(work / "bytecode"),
        "OPENBLAS_NUM_THREADS": "1",
        **more,
    }


TO_IMPORT = 1.0
"""Seconds for one more file of tests."""
PLUGIN = ["-p", "chosen_tests", "-p", "no:cacheprovider"]


class Record(NamedTuple):
    """Seconds of each test, and the tests that run each line of each file."""

    seconds: dict[str, float]
    tests: dict[str, dict[int, list[str]]]
    changed: list[str]
    """Files of tests that were changed since: their new tests are run for every mutant."""
    failed: list[str]
    """Tests that failed without any mutant: they are run for none."""

    @classmethod
    def of(cls, package: str, work: Path, code: str) -> Record:
        """Read the record of a package, or make it."""
        import coverage

        folder = work / "records" / code / package
        if not (folder / "seconds.json").exists():
            print(f"recording the tests of {package}, once ...", flush=True)
            folder.mkdir(parents=True, exist_ok=True)
            command = [
                sys.executable,
                "-m",
                "pytest",
                *PLUGIN,
                "-q",
                "--no-header",
                *tests_of_package(package),
            ]
            subprocess.run(
                command, cwd=work / "copy", env=environment(work, RECORD=str(folder)), check=False
            )
        if not (folder / "seconds.json").exists():
            sys.exit(f"the tests of {package} could not be recorded")
        lines = coverage.CoverageData(str(folder / "lines"))
        lines.read()
        known = json.loads((folder / "seconds.json").read_text(encoding="utf-8"))
        seconds = {test: time for test, time in known.items() if time is not None}
        copy = f"{work / 'copy'}{os.sep}"
        tests = {
            file.removeprefix(copy): lines.contexts_by_lineno(file)
            for file in lines.measured_files()
        }
        made = (folder / "seconds.json").stat().st_mtime
        own = sorted((ROOT / "tests" / package).rglob("test_*.py"))
        changed = [file.relative_to(ROOT).as_posix() for file in own if file.stat().st_mtime > made]
        return cls(seconds, tests, changed, [*(known.keys() - seconds.keys())])

    def running(self, lines: Iterable[tuple[str, int]]) -> set[str]:
        """The tests that run one of these lines."""
        found: set[str] = set()
        for file, line in lines:
            found.update(self.tests.get(file, {}).get(line, ()))
        return found & self.seconds.keys()

    def choice(self, mutation: Mutation, limit: float) -> tuple[list[str], dict[str, float | None]]:
        """The files to run, and what `chosen_tests` reads.

        In the files of the tests that run the line, all tests count: a game may be played once
        for several of them. Tests that run it come first, and of each test function one case
        before a second one, until the seconds add up to the limit.
        """
        named = [*tests_of_module(mutation.module), *self.changed]
        running = self.running(lines_of(mutation)) or self.running(lines_of_module(mutation.module))
        files = {*named, *(file_of(test) for test in running)}
        cases: Counter[tuple[bool, str]] = Counter()
        order: dict[str, tuple[bool, int, float]] = {}
        for test, time in sorted(self.seconds.items(), key=lambda item: item[1]):
            if file_of(test) in files:
                kind = test not in running, test.partition("[")[0]
                order[test] = kind[0], cases[kind], time
                cases[kind] += 1
        chosen, total = dict[str, float](), 0.0
        sums = dict.fromkeys(named, 0.0)  # new tests may be there
        for test in sorted(order, key=order.__getitem__):
            seconds = self.seconds[test] + (0.0 if file_of(test) in sums else TO_IMPORT)
            if not chosen or total + seconds <= limit:
                chosen[test] = self.seconds[test]
                total += seconds
                sums[file_of(test)] = sums.get(file_of(test), 0.0) + seconds
        ordered = sorted(sums, key=lambda file: (file not in named, sums[file]))
        return ordered, {test: chosen.get(test) for test in (*self.seconds, *self.failed)}


def file_of(test: str) -> str:
    return test.partition("::")[0]


# --- the lines that show a change ----------------------------------------------------------------


def lines_of(mutation: Mutation) -> Iterator[tuple[str, int]]:
    """The lines that are run if a change matters.

    In a function they are those of the statement. The first line of a function, and its defaults,
    are run when it is defined, so its body counts. A name that a module or class gives is seen by
    the statements of functions, anywhere in the package, that use it.
    """
    file = f"{SOURCE}/{mutation.module}.py"
    path = list(path_to(tree(file), mutation.line))
    inner = path[-1] if path else None
    if isinstance(inner, Function):
        yield from ((file, line) for each in inner.body for line in span(each))
    elif any(isinstance(each, Function) for each in path):
        yield from ((file, line) for line in span(inner))
    elif inner is not None:
        names = {
            node.id
            for node in ast.walk(inner)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }
        yield from uses(frozenset(names))


def lines_of_module(module: str) -> Iterator[tuple[str, int]]:
    file = f"{SOURCE}/{module}.py"
    for node in ast.walk(tree(file)):
        if isinstance(node, Function):
            yield from ((file, line) for each in node.body for line in span(each))


@cache
def tree(file: str) -> ast.Module:
    return ast.parse((ROOT / file).read_bytes())


def path_to(node: ast.AST, line: int) -> Iterator[ast.stmt]:
    """The statements around a line, outermost first."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt) and child.lineno <= line <= (child.end_lineno or 0):
            yield child
            yield from path_to(child, line)
        elif isinstance(child, ast.ExceptHandler | ast.match_case):
            yield from path_to(child, line)


def span(statement: ast.stmt | None) -> range:
    """The lines of a statement; of one that holds others, those before them."""
    if statement is None:
        return range(0)
    inner: list[ast.stmt] = getattr(statement, "body", [])
    end = inner[0].lineno if inner else (statement.end_lineno or 0) + 1
    return range(statement.lineno, max(end, statement.lineno + 1))


@cache
def uses(names: frozenset[str]) -> list[tuple[str, int]]:
    """The statements of functions in which one of these names occurs."""
    found = []
    for path in sorted((ROOT / SOURCE).rglob("*.py")):
        file = path.relative_to(ROOT).as_posix()
        for function in filter(lambda each: isinstance(each, Function), ast.walk(tree(file))):
            for node in ast.walk(function):
                name = getattr(node, "id", None) or getattr(node, "attr", None)
                if name in names:
                    found.append((file, node.lineno))  # type: ignore[attr-defined]
    return found
