"""The learners of the field say what is published of them and what is ours."""

from __future__ import annotations

import pytest
from numpydoc.docscrape import ClassDoc

from dikin import registry

OWN = {"predictive", "adaptivesmooth", "adaptivelipschitz"}
"""Those that the library is about: their papers and proofs are docs/mathematics.md."""
FIELD = sorted(registry.FOLDERS["learners"].every().keys() - OWN)


def note_faults(cls: type) -> list[str]:
    note = " ".join(ClassDoc(cls)["Notes"])
    faults = [
        f"does not say what is {word}" for word in ("Published:", "Ours:") if word not in note
    ]
    return faults + ([] if ClassDoc(cls)["References"] else ["has no reference"])


@pytest.mark.parametrize("kind", FIELD)
def test_a_learner_says_what_is_published_and_what_is_ours(kind: str) -> None:
    assert note_faults(registry.FOLDERS["learners"].every()[kind]) == []


def test_a_missing_word_is_noticed() -> None:
    sound = registry.FOLDERS["learners"].every()["tewa"]
    for word, fault in (
        ("Published:", "published"),
        ("Ours:", "Ours"),
        ("References", "reference"),
    ):
        mutant = type("Mutant", (), {"__doc__": str(sound.__doc__).replace(word, "Attributes", 1)})
        assert any(fault.lower() in found.lower() for found in note_faults(mutant))
