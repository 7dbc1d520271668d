"""Private words that were given up do not come back: CONTRIBUTING.md has the words in their place.

A stranger who knows convex optimisation and Python should guess what a name means.
"""

from __future__ import annotations

import io
import re
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

WORDS = {
    "adopt": "take_over",
    "arena": "scenario",
    "bend": "curvature",
    "bends": "curvature",
    "bent": "curved",
    "entrant": "competitor",
    "foretold": "with a context",
    "fused": "compiled",
    "grounds": "rate cases",
    "haze": "noise",
    "outsider": "external optimizer",
    "recoil": "linear_update",
    "road": "plain or compiled",
    "roads": "plain or compiled",
    "sloped": "with a gradient",
    "spot": "point",
    "tally": "accumulate",
    "turnstile": "fair lock",
}
"""Refused everywhere, also as a part of a name, with the word that is used instead."""

PHRASES = {
    "told apart": "distinguished",
    "said in words": "as a message",
    "one result a seed": "per seed",
    "a row a round": "one row per round",
    "is no domain": "is not a domain",
    "thousand million": "10^9",
    "truth value": "boolean",
}

NAMES = {
    "Aim": "Direction",
    "Asked": "Memo",
    "Cone": "Distance",
    "Frame": "LocalMetric",
    "Kinds": "ArgTypes",
    "Late": "Memo",
    "Looked": "Memo",
    "Machine": "LearnerKernel",
    "Place": "Iterate",
    "Scales": "UnitConversion",
    "Scratch": "Workspace",
    "Seen": "Memo",
    "Sent": "Memo",
    "Shot": "Memo",
    "Stab": "Memo",
    "Still": "FixedPoint",
    "World": "LossKernel",
    "home": "rate_cases",
    "straight": "a word for what it is",
    "walk_in": "try_acquire",
}
"""Plain English elsewhere: refused as whole names in code, and between backticks on pages."""


def words(text: str) -> set[str]:
    """The words of a text in small letters; those of a name such as walk_in or WalkIn too."""
    return {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", text)}


def names(text: str, python: bool) -> set[str]:
    """The names of a source, or those between backticks on a page."""
    if python:
        tokens = tokenize.generate_tokens(io.StringIO(text).readline)
        return {token.string for token in tokens if token.type == tokenize.NAME}
    return {name for code in re.findall(r"`([^`\n]+)`", text) for name in re.findall(r"\w+", code)}


def refused(text: str, python: bool) -> set[str]:
    """The words of a source or page that were given up."""
    plain = " ".join(text.lower().split())
    phrases = {phrase for phrase in PHRASES if phrase in plain}
    return (words(text) & {*WORDS}) | phrases | (names(text, python) & {*NAMES})


def files() -> list[Path]:
    pages = [*ROOT.glob("docs/**/*.md"), ROOT / "CONTRIBUTING.md", ROOT / "README.md"]
    return [*ROOT.glob("src/**/*.py"), *ROOT.glob("docs/**/*.py"), *pages]


def test_no_private_words() -> None:
    found = {
        (path.relative_to(ROOT).as_posix(), word)
        for path in files()
        for word in refused(path.read_text(encoding="utf-8"), path.suffix == ".py")
    }
    better = WORDS | PHRASES | NAMES
    new = sorted(f"{file}: {word}; say {better[word]}" for file, word in found)
    assert new == []
    assert len(files()) > 150


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("recoil = 1", {"recoil"}),
        ("def tally_sums(): ...", {"tally"}),
        ("class OutsiderLearner: ...", {"outsider"}),
        ("FUSED = True", {"fused"}),
        ("x = 1  # the two roads", {"roads"}),
        ('"""Losses that bend."""', {"bend"}),
        ('"""What cannot be told\n    apart."""', {"told apart"}),
        ('message = "the arena"', {"arena"}),
        ('"""Texts and truth\n    values."""', {"truth value"}),
        ("raise DomainError(f'{x} is no domain')", {"is no domain"}),
        ("# A row a round.", {"a row a round"}),
        ("# A thousand million rounds.", {"thousand million"}),
        ("class Place(NamedTuple): ...", {"Place"}),
        ("lock.walk_in()", {"walk_in"}),
    ],
)
def test_a_private_word_is_noticed(text: str, found: set[str]) -> None:
    assert refused(text, python=True) == found


@pytest.mark.parametrize(
    "text",
    [
        '"""Place it here: the world is still, and late answers are sent on a straight line."""',
        "refused = defused = broadcast(homepage, total)",
        "def place(frame, machine): ...",
    ],
)
def test_plain_words_are_not_noticed(text: str) -> None:
    assert refused(text, python=True) == set()


def test_pages_name_things_between_backticks() -> None:
    assert refused("A `Frame(x)` on the roads. Machine code.", python=False) == {"Frame", "roads"}
