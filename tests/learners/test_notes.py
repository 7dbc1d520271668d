"""The learners of the field say what is published of them and what is ours."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from numpydoc.docscrape import ClassDoc

from dikin import registry

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "learners.md").read_text(encoding="utf-8")
HEADING = "### What is published and what is ours"
OWN = {"predictive", "adaptivesmooth", "adaptivelipschitz"}
"""Those that the library is about: their papers and proofs are docs/mathematics.md."""
FIELD = sorted(registry.learners().keys() - OWN)


def note_faults(cls: type) -> list[str]:
    note = " ".join(ClassDoc(cls)["Notes"])
    faults = [
        f"does not say what is {word}" for word in ("Published:", "Ours:") if word not in note
    ]
    return faults + ([] if ClassDoc(cls)["References"] else ["has no reference"])


def table_rows(page: str) -> list[str]:
    """The learners that the page has a row for, by name."""
    section = page.split(HEADING)[1].split("\n#")[0]
    cells = re.findall(r"^\| (`.*?) \|", section, flags=re.M)
    return [name for cell in cells for name in re.findall(r"`(\w+)`", cell)]


@pytest.mark.parametrize("kind", FIELD)
def test_a_learner_says_what_is_published_and_what_is_ours(kind: str) -> None:
    assert note_faults(registry.learners()[kind]) == []


def test_the_page_says_it_of_each_learner_once() -> None:
    assert sorted(name.lower() for name in table_rows(PAGE)) == FIELD


def test_a_missing_word_and_a_missing_row_are_noticed() -> None:
    sound = registry.learners()["tewa"]
    for word, fault in (
        ("Published:", "published"),
        ("Ours:", "Ours"),
        ("References", "reference"),
    ):
        mutant = type("Mutant", (), {"__doc__": str(sound.__doc__).replace(word, "Attributes", 1)})
        assert any(fault.lower() in found.lower() for found in note_faults(mutant))
    assert "Tewa" not in table_rows(PAGE.replace("| `Tewa` |", "| Tewa |"))
