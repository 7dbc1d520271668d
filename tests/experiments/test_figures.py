"""Figures draw results: they play no games and read no private state."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from dikin import experiments

FOLDER = Path(experiments.__file__).parent
FILES = [*FOLDER.rglob("figure*.py"), *FOLDER.rglob("report.py"), *FOLDER.rglob("screen.py")]


def trespasses(source: str) -> list[str]:
    """Imports of what plays, and attributes that are another's own."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [getattr(node, "module", None) or "", *(alias.name for alias in node.names)]
            found += [n for n in names if n in ("play", "replicate") or "engine" in n.split(".")]
        elif isinstance(node, ast.Attribute):
            plays = node.attr in ("play", "ask", "tell", "start")
            found += [node.attr] if plays or node.attr.startswith("_") else []
    return found


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(FOLDER)))
def test_figures_read_results(file: Path) -> None:
    assert trespasses(file.read_text(encoding="utf-8")) == []


def test_the_files_are_found_and_the_rule_can_be_broken() -> None:
    assert len(FILES) == 9
    for line in (
        "from dikin.engine.play import play",
        "import dikin.engine.replicate",
        "before = learner._total",
        "cell.play()",
        "query = learner.ask()",
    ):
        assert trespasses(line), line
