"""Check the built site: every link leads somewhere, and no page asks another host for anything.

    python docs/_ext/check_site.py site

It reads every HTML file, and the style sheets for fonts and pictures of other hosts.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}
"""What a browser fetches by itself."""
NAMES_ONLY = {"canonical", "author", "license"}
"""A link in the head with one of these says something, and loads nothing."""
_STYLE_SHEET = re.compile(r"(?:url\(|@import)\s*['\"]?((?:https?:)?//[^'\")\s]+)")


class Page(HTMLParser):
    """What a page links to, what it loads, and the anchors it has."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take in a tag."""
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        wanted = LOADED.get(tag)
        if wanted in given and given.get("rel") not in NAMES_ONLY:
            self.loaded.append(given[wanted])
        parts = given.get("srcset", "").split(",")
        self.loaded += [part.split()[0] for part in parts if part.strip()]
        if tag == "a" and "href" in given:
            self.links.append(given["href"])


def faults(site: Path) -> Iterator[str]:
    """Everything that is wrong, one line each."""
    pages = {file: Page(file) for file in pages_of(site)}
    for file, page in pages.items():
        name = file.relative_to(site).as_posix()
        for target in page.loaded:
            if _is_elsewhere(target):
                yield f"{name}: loads {target} from another host"
        for target in [*page.links, *page.loaded]:
            if not _is_elsewhere(target) and not _is_found(target, file, pages):
                yield f"{name}: {target} leads nowhere"
    for file in sorted(site.rglob("*.css")):
        for target in _STYLE_SHEET.findall(file.read_text(encoding="utf-8")):
            yield f"{file.relative_to(site).as_posix()}: loads {target} from another host"


def pages_of(site: Path) -> list[Path]:
    """The pages; a theme's templates may lie beside its styles."""
    return [file for file in sorted(site.rglob("*.html")) if site / "_static" not in file.parents]


def _is_elsewhere(target: str) -> bool:
    return bool(urlsplit(target).netloc) or urlsplit(target).scheme in ("mailto", "data")


def _is_found(target: str, file: Path, pages: dict[Path, Page]) -> bool:
    parts = urlsplit(target)
    goal = Path(os.path.normpath(file.parent / unquote(parts.path))) if parts.path else file
    if not parts.fragment or goal not in pages:
        return goal.is_file()
    return unquote(parts.fragment) in pages[goal].anchors


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    found = list(faults(folder))
    print("\n".join(found) or f"{len(pages_of(folder))} pages: every link leads somewhere")
    sys.exit(bool(found))
