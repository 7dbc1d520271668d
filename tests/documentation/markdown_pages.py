"""The pages that people read in the repository."""

from pathlib import Path

from repository_pages import AUTO, ROOT

__all__ = ["ROOT", "markdown"]


def markdown() -> list[Path]:
    """Return every page in Markdown."""
    found = [*ROOT.glob("*.md"), *ROOT.glob("deploy/**/*.md"), *ROOT.glob("docs/**/*.md")]
    return [path for path in found if AUTO not in path.parents]
