"""benchmarks/mutants.py: the changes it makes, the lines that show them, and the page."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCE = b'''"""A docstring with 1 < 2."""

LIMIT = 3


def inside(x: float, margin: float = 0.5) -> bool:
    if not x < LIMIT and True:
        print(x)
    return x + margin > min(x * 2, 7)
'''
CHANGES = {
    (3, "3", "4"),
    (6, "0.5", "0.55"),
    (7, "not ", ""),
    (7, "<", "<="),
    (7, "and", "or"),
    (7, "True", "False"),
    (8, "print(x)", "None"),
    (9, ">", ">="),
    (9, "+", "-"),
    (9, "min", "max"),
    (9, "*", "/"),
    (9, "2", "3"),
    (9, "7", "8"),
}


def test_every_rule_changes_one_place(scripts: Any) -> None:
    places = scripts("mutation_places").Places("module", SOURCE)
    places.visit(ast.parse(SOURCE))
    assert {(each.line, each.before, each.after) for each in places.found} == CHANGES
    lines = SOURCE.splitlines()
    for mutation in places.found:
        changed = mutation.of(SOURCE).splitlines()
        differ = [i for i, line in enumerate(changed, 1) if line != lines[i - 1]]
        assert differ == [mutation.line]
        assert mutation.after.encode() in changed[mutation.line - 1]


def test_a_draw_is_the_same_again_for_each_package(scripts: Any) -> None:
    places = scripts("mutation_places")
    draw = places.chosen(["theory", "curvature"], 4, seed=5)
    assert draw == places.chosen(["theory"], 4, seed=5) + places.chosen(["curvature"], 4, seed=5)
    assert [each.module.partition("/")[0] for each in draw] == ["theory"] * 4 + ["curvature"] * 4
    assert draw[:2] == places.chosen(["theory"], 2, seed=5)
    assert draw != places.chosen(["theory", "curvature"], 4, seed=6)


def test_a_change_is_seen_where_its_statement_or_its_name_is_used(scripts: Any) -> None:
    """A statement of several lines, a default, and a constant that other statements use."""
    places, seen = scripts("mutation_places"), scripts("seen_lines")
    text = (ROOT / "src/dikin/vectors.py").read_text(encoding="utf-8").splitlines()
    first = next(i for i, line in enumerate(text, 1) if line.startswith("    return "))
    inside = places.Mutation("vectors", first, 4, "return", "return")
    assert ("src/dikin/vectors.py", first) in set(seen.lines_of(inside))
    file = "src/dikin/learners/predictive_schedule.py"
    text = (ROOT / file).read_text(encoding="utf-8").splitlines()
    constant = next(i for i, line in enumerate(text, 1) if "EVERY, STEP = " in line)
    used = {i for i, line in enumerate(text, 1) if "STEP *" in line}
    change = places.Mutation("learners/predictive_schedule", constant, 0, "STEP", "STEP")
    assert used <= {line for name, line in seen.lines_of(change) if name == file}


@pytest.mark.parametrize("name", ["drawn", "known"])
def test_the_page_has_the_tables_of_its_files(scripts: Any, name: str) -> None:
    command = scripts("mutants")
    rows = command.read_rows(command.FOLDER / f"{name}_outcomes.csv")
    assert len(rows) > 20
    assert command.table(rows, command.reasons()) in command.PAGE.read_text(encoding="utf-8")


def test_every_reason_is_that_of_a_survivor(scripts: Any) -> None:
    command = scripts("mutants")
    files = [command.FOLDER / f"{name}_outcomes.csv" for name in ("drawn", "known")]
    rows = [row for file in files for row in command.read_rows(file)]
    assert set(command.reasons()) <= {row.key for row in rows if row.outcome == command.SURVIVED}
