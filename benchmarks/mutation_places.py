"""What can be made wrong in a module: its operators, numbers, conditions and calls."""

from __future__ import annotations

import ast
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from dikin.experiments.tables import read_csv

ROOT = Path(__file__).resolve().parents[1]
SOURCE = "src/dikin"
PACKAGES = ("learners", "domains", "curvature", "tuning", "theory", "worth", "studies")
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
    """Where the place begins in its line, in bytes."""
    before: str
    after: str

    @property
    def package(self) -> str:
        """The package of its module."""
        return self.module.partition("/")[0]

    def of(self, text: bytes) -> bytes:
        """The text of the module with the change."""
        start = sum(map(len, text.splitlines(keepends=True)[: self.line - 1])) + self.column
        end = start + len(self.before.encode())
        return text[:start] + self.after.encode() + text[end:]


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
            column = start - self.starts[line - 1]
            self.found.append(Mutation(self.module, line, column, before, after))

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


def chosen(packages: list[str], each: int, seed: int) -> list[Mutation]:
    """So many of each package, drawn from all places of all its modules."""
    found = list[Mutation]()
    for package in packages:
        everything = [place for module in modules(package) for place in places(module)]
        random.Random(f"{seed} {package}").shuffle(everything)
        found += everything[:each]
    return found


def known(file: Path) -> Iterator[Mutation]:
    """The mutations of a list: the first place of a module where a text stands becomes another."""
    for row in read_csv(file):
        text = (ROOT / SOURCE / f"{row['module']}.py").read_text(encoding="utf-8")
        start = text.find(row["before"])
        if start < 0:
            sys.exit(f"{file}: {row['module']}.py has no {row['before']!r} any more: mend the list")
        line = text.count("\n", 0, start) + 1
        column = len(text[:start].rpartition("\n")[2].encode())
        yield Mutation(row["module"], line, column, row["before"], row["after"])
