"""Every name of the reference, with methods and properties, is documented in numpydoc form."""

import inspect
import re
from collections.abc import Iterator
from enum import Enum
from functools import cached_property
from types import FunctionType
from typing import Any

import numpydoc.validate
import pytest
from api_pages import entries
from numpydoc.docscrape import ClassDoc

import dikin
from dikin import registry

RULES = {"GL08", "PR01", "PR02", "RT01", "RT03"}
"""No docstring, parameters without an entry or with one too many, nothing of what is returned."""
FOR_STUDIES = {
    *("draft", "open_fact", "open_trial", "checked_answer", "checked_trial"),
    *("kept_rounds", "recall", "state_in_study", "identity"),
}
"""Methods of a tuner that a study calls, and nobody else."""


def members(cls: type) -> Iterator[str]:
    """The public methods and properties that a class defines, and no base of another package."""
    others = [base for base in cls.mro() if not base.__module__.startswith("dikin")]
    for name, member in vars(cls).items():
        plain = member.__func__ if isinstance(member, classmethod | staticmethod) else member
        internal = name.startswith("_") or (cls is dikin.Tuner and name in FOR_STUDIES)
        internal = internal or any(name in vars(base) for base in others)
        if not internal and isinstance(plain, FunctionType | property | cached_property):
            yield name


def exempt(thing: Any) -> set[str]:
    """The rules for constructors that nobody calls, and for what needs one line alone."""
    if inspect.isclass(thing):
        base = inspect.isabstract(thing) or "Protocol" in str(thing.mro())
        return {"PR01"} if base or issubclass(thing, Enum) else set()
    if not (inspect.isfunction(thing) or inspect.ismethod(thing)):
        return {"RT01"}
    arguments = {*inspect.signature(thing).parameters} - {"self"}
    return {"RT01", "PR01"} if arguments <= said_by_class(thing) else set()


def said_by_class(method: Any) -> set[str]:
    """Arguments of every method that its class names in backticks."""
    owner = getattr(inspect.getmodule(method), method.__qualname__.partition(".")[0])
    found = re.search(r"In every method (.*?)\n\n", str(owner.__doc__), re.S)
    return set(re.findall(r"`(\w+)`", found[1])) if found else set()


def faults(name: str, thing: Any) -> list[str]:
    """What numpydoc finds wrong with a name; a method may leave its words to its base's."""
    if not inspect.getdoc(thing):
        return [f"{name}: no docstring"]
    if not thing.__doc__:  # its base's
        return []
    found = numpydoc.validate.validate(name)["errors"]
    return [f"{name}: {words}" for code, words in found if code in RULES - exempt(thing)]


def test_everything_public_is_documented() -> None:
    every = entries()
    for name, thing in entries().items():
        if inspect.isclass(thing):
            every |= {f"{name}.{member}": getattr(thing, member) for member in members(thing)}
    assert [fault for name, thing in every.items() for fault in faults(name, thing)] == []


def test_a_missing_parameter_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    words = str(dikin.Ball.__doc__).replace("    radius :", "    diameter :")
    monkeypatch.setattr(dikin.Ball, "__doc__", words)
    missing, unknown = faults("dikin.Ball", dikin.Ball)
    assert "{'radius'} not documented" in missing
    assert "Unknown parameters {'diameter'}" in unknown


OWN = {"predictive", "adaptivesmooth", "adaptivelipschitz"}
"""Those that the library is about: their papers and proofs are docs/mathematics.md."""

WORDS = ("Published:", "Ours:", "References")


def missing_words(cls: type) -> list[str]:
    doc = ClassDoc(cls)
    note = " ".join(doc["Notes"]) + ("References" if doc["References"] else "")
    return [word for word in WORDS if word not in note]


def test_a_learner_says_what_is_published_and_what_is_ours() -> None:
    learners = registry.FOLDERS["learners"].every()
    for kind in learners.keys() - OWN:
        assert missing_words(learners[kind]) == [], kind
    for word in WORDS:
        text = str(learners["tewa"].__doc__).replace(word, "Attributes", 1)
        assert word in missing_words(type("Mutant", (), {"__doc__": text}))
