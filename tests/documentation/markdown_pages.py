"""The pages that people read in the repository."""

from __future__ import annotations

from pathlib import Path

from repository_pages import AUTO, ROOT

__all__ = ["ROOT", "markdown"]


def markdown() -> list[Path]:
    """Every page in Markdown; templates are parts of pages."""
    found = [*ROOT.glob("*.md"), *ROOT.glob("deploy/**/*.md"), *ROOT.glob("docs/**/*.md")]
    return [path for path in found if AUTO not in path.parents and path.name != "template.md"]
