"""Words of the pages: codespell knows frequent mistakes, a dictionary everything that is no word.

`words.txt` has the words that the dictionary does not know: names of people and programs, terms of
the field, and British spelling. A new one is added there, in its place in the alphabet; a plural
needs no line of its own.
"""

from __future__ import annotations

import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from documentation.markdown_pages import ROOT, markdown

LIST = Path(__file__).parent / "words.txt"
# What is no prose: blocks of code, formulas, code within a line, targets of links, tags.
NO_PROSE = [
    r"(?ms)^(```+|~~~+).*?^\1\s*$",
    r"(?ms)^---\n.*?^---$",
    r"(?s)\$\$.*?\$\$",
    r"\$[^$\n]*\$",
    r"(?m)^    .*$",
    r"(?s)(`+)(?!`).*?(?<!`)\1(?!`)",
    r"\]\([^)]*\)",
    r"<[^>]*>",
]
WORD = re.compile(r"(?<![\w/.\\_^{@-])[A-Za-z][a-z]+(?![\w/_^}(@=]|\.\w)")


@cache
def dictionary() -> Any:
    from spellchecker import SpellChecker

    known = SpellChecker(distance=1)
    known.word_frequency.load_words(accepted())
    return known


def accepted() -> list[str]:
    return LIST.read_text(encoding="utf-8").split()


def unknown(text: str) -> set[str]:
    """The words of a page's prose that no dictionary has."""
    for pattern in NO_PROSE:
        text = re.sub(pattern, " ", text)
    found = dictionary().unknown({word.lower() for word in WORD.findall(text) if len(word) > 2})
    return {word for word in found if dictionary().unknown([word.removesuffix("s")])}


def test_every_word_is_one() -> None:
    texts = {path: path.read_text(encoding="utf-8") for path in markdown()}
    found = {path.relative_to(ROOT).as_posix(): unknown(text) for path, text in texts.items()}
    wrong = {page: words for page, words in found.items() if words}
    assert wrong == {}, f"mistakes, or words for {LIST.relative_to(ROOT)}"


def test_the_list_is_in_order_and_wanted() -> None:
    assert accepted() == sorted(set(accepted()))
    text = "\n".join(path.read_text(encoding="utf-8") for path in markdown()).lower()
    assert [word for word in accepted() if word not in text] == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The regert is small.", {"regert"}),
        ("A bound on teh regret", {"teh"}),  # codespell:ignore teh
        ("`regert` and [a](regert.md)\n\n    regert\n\n```\nregert\n```\n", set()),
        ("The learner's centre; $regert$, dikin.regert", set()),
    ],
)
def test_a_mistake_is_noticed(text: str, found: set[str]) -> None:
    assert unknown(text) == found


@pytest.mark.parametrize(
    ("text", "status"),
    [("the regret is small", 0), ("teh regret", 65)],  # codespell:ignore teh
)
def test_codespell_notices_a_mistake(text: str, status: int, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "codespell_lib", "--toml", "pyproject.toml", str(page)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
    assert done.returncode == status
