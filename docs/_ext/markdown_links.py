"""Links of a Markdown text: where they stand, and what a heading's anchor is.

The site and the test of links read pages by the same rules, which are those of code hosts: a link
is relative to the file it stands in, a folder is a link like any other, and a heading is reached by
its words in small letters.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

# What is code is no link: fenced blocks first, then code within a line.
_CODE = r"^(?P<fence>```+|~~~+).*?^(?P=fence)\s*$|(?P<ticks>`+)(?!`).*?(?<!`)(?P=ticks)(?!`)"
# The text of a link may hold an image or brackets of its own; the target has no spaces.
_LINK = r"(?P<before>\]\()(?P<target>[^)\s]+)(?=\))"
_CODE_OR_LINK = re.compile(f"{_CODE}|{_LINK}", re.MULTILINE | re.DOTALL)
_FENCE = re.compile(r"^(```+|~~~+).*?^\1\s*$", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^#{1,6} +(.+?) *#*$", re.MULTILINE)
_LABEL = re.compile(r'^\((\S+)\)=$|<a (?:id|name)="([^"]+)"', re.MULTILINE)


def links(text: str) -> Iterator[str]:
    """The targets of all links and images, in order."""
    for found in _CODE_OR_LINK.finditer(text):
        if found["target"]:
            yield found["target"]


def with_targets(text: str, change: Callable[[str], str]) -> str:
    """The text with every target changed."""

    def replaced(found: re.Match[str]) -> str:
        target = found["target"]
        return found["before"] + change(target) if target else found[0]

    return _CODE_OR_LINK.sub(replaced, text)


def is_local(target: str) -> bool:
    """Whether a target is a file or an anchor, and not an address."""
    return not re.match(r"[a-z][a-z0-9+.-]*:", target, re.IGNORECASE)


def anchor(heading: str) -> str:
    """The anchor of a heading, as code hosts make it."""
    words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)  # of a link its text
    return re.sub(r"[^\w\- ]", "", words.replace("`", "")).strip().lower().replace(" ", "-")


def anchors(text: str) -> set[str]:
    """Every anchor of a page."""
    prose = _FENCE.sub("", text)
    found: set[str] = {label for pair in _LABEL.findall(prose) for label in pair if label}
    for heading in _HEADING.findall(prose):
        name = anchor(heading)
        repeated = (f"{name}-{number}" for number in range(1, 100))
        found.add(next(n for n in (name, *repeated) if n not in found))
    return found
