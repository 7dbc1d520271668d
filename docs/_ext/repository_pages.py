"""The repository's own files on the site: pages of its root, folders of numbers, links between.

Markdown is written for the repository, where links are relative to the file. Two things differ on
the site: the pages of the root (`CONTRIBUTING.md`) are included under `auto/root`, and a folder of
files has no page of its own but a section of `auto/files.md`. `site_target` is the one place that
knows it; pages are read through it, included ones too.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from markdown_links import is_local, with_targets

if TYPE_CHECKING:
    from sphinx.application import Sphinx

DOCS = Path(__file__).resolve().parent.parent
ROOT = DOCS.parent
AUTO = DOCS / "auto"
"""Pages that are written at each build."""
FILES = AUTO / "files.md"


def pages_elsewhere() -> dict[Path, Path]:
    """The page on the site of Markdown outside `docs`; the README is a part of the first page."""
    pages = {path: AUTO / "root" / f"{path.stem.lower()}.md" for path in sorted(ROOT.glob("*.md"))}
    pages |= {path: AUTO / f"{path.parent.name}.md" for path in ROOT.glob("deploy/README.md")}
    return pages | {ROOT / "README.md": DOCS / "index.md"}


def folders() -> dict[Path, str]:
    """The folders that pages link to, by what their files end with: numbers, then programs."""
    numbers = sorted({file.parent for file in DOCS.glob("*/*.csv") if AUTO not in file.parents})
    programs = [ROOT / "examples", ROOT / "examples" / "clients"]
    return dict.fromkeys(numbers, "*.csv") | dict.fromkeys(programs, "*.*")


def site_target(target: str, source: Path, page: Path) -> str:
    """A link of the file `source`, as it is written on the site's page `page`."""
    path, mark, fragment = target.partition("#")
    if not path or not is_local(target):
        return target
    file = Path(os.path.normpath(source.parent / path))
    if file in folders():
        file, mark, fragment = FILES, "#", _section(file)
    file = pages_elsewhere().get(file, file)
    return Path(os.path.relpath(file, page.parent)).as_posix() + mark + fragment


def _read_page(app: Sphinx, docname: str, source: list[str]) -> None:
    page = Path(app.env.doc2path(docname))
    if page.suffix == ".md" and AUTO not in page.parents:
        source[0] = with_targets(source[0], lambda target: site_target(target, page, page))


def _read_included(app: Sphinx, path: Path, docname: str, source: list[str]) -> None:
    # MyST gives the last part of the document's name only.
    page = Path(app.env.doc2path(app.env.docname))
    included = Path(os.path.normpath(app.srcdir / path))
    source[0] = with_targets(source[0], lambda target: site_target(target, included, page))


def _section(folder: Path) -> str:
    return folder.relative_to(ROOT).as_posix().replace("/", "-")


def files_page() -> str:
    """Every file of the folders that pages link to."""
    parts = [
        "# Numbers and programs\n\nThe files of the repository that the pages are made of: the "
        "numbers behind tables and figures, as CSV with a first row of names, and the examples.\n"
    ]
    for folder, pattern in ({DOCS: "*.csv"} | folders()).items():
        files = [file for file in sorted(folder.glob(pattern)) if file.is_file()]
        links = (f"- [{f.name}]({Path(os.path.relpath(f, AUTO)).as_posix()})" for f in files)
        parts.append("\n".join([f"## {_section(folder)}", "", *links, ""]))
    return "\n".join(parts)


def _write_pages(app: Sphinx, config: object) -> None:
    write(FILES, files_page())
    for source, page in pages_elsewhere().items():
        if AUTO in page.parents:
            path = Path(os.path.relpath(source, page.parent)).as_posix()
            write(page, f"```{{include}} {path}\n```\n")


def write(file: Path, text: str) -> None:
    """Write a page and its folder."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to Sphinx."""
    app.connect("config-inited", _write_pages)
    app.connect("source-read", _read_page)
    app.connect("include-read", _read_included)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
