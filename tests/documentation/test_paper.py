"""The paper in docs/paper: its numbers are those of the CSVs, and its source holds together."""

import re
from collections import Counter
from pathlib import Path

import paper_numbers
import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAPER = DOCS / "paper"
SOURCE = (PAPER / "dikin.tex").read_text(encoding="utf-8")
NUMBERS = (PAPER / "numbers.tex").read_text(encoding="utf-8")
REFERENCES = (PAPER / "references.bib").read_text(encoding="utf-8")


def faults(source: str, numbers: str, references: str) -> set[str]:
    """What a TeX would complain of."""
    text = re.sub(r"(?<!\\)%.*", "", source)
    cited = {key for keys in re.findall(r"\\cite\{(.+?)\}", text) for key in keys.split(",")}
    listed = re.findall(r"^@\w+\{(\w+),", references, re.MULTILINE)
    found = {f"cited, not listed: {key}" for key in cited - set(listed)}
    found |= {f"listed, not cited: {key}" for key in set(listed) - cited}
    found |= {f"listed twice: {key}" for key, count in Counter(listed).items() if count > 1}
    labels = set(re.findall(r"\\label\{(.+?)\}", text))
    used = set(re.findall(r"\\(?:eq)?ref\{(.+?)\}", text))
    found |= {f"no label: {label}" for label in used - labels}
    begun = Counter(re.findall(r"\\begin\{(\w+\*?)\}", text))
    ended = Counter(re.findall(r"\\end\{(\w+\*?)\}", text))
    found |= {f"not closed: {name}" for name in (begun - ended) + (ended - begun)}
    if text.count("{") != text.count("}"):
        found.add("braces")
    defined = set(re.findall(r"\\newcommand\{\\(\w+)\}", numbers + text))
    named = set(re.findall(r"\\([A-Z][a-z]+[A-Z]\w*)", text))
    found |= {f"not defined: {name}" for name in named - defined}
    unused = set(re.findall(r"\{\\([A-Z]\w+)\}", numbers)) - named
    figures = re.findall(r"\\includegraphics\[.*?\]\{(.+?)\}", text)
    found |= {f"not used: {name}" for name in unused}
    return found | {f"no figure: {each}" for each in figures if not (PAPER / each).exists()}


def test_the_source_holds_together() -> None:
    assert faults(SOURCE, NUMBERS, REFERENCES) == set()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (r"\cite{luo2022adaptive}", r"\cite{luo2023adaptive}"),
        (r"\label{thm:certificate}", ""),
        (r"\end{theorem}", ""),
        (r"\ExponentRows", r"\ExponentLines"),
        ("../evidence/exponents.png", "../evidence/exponent.png"),
    ],
)
def test_a_fault_is_seen(before: str, after: str) -> None:
    assert before in SOURCE
    assert faults(SOURCE.replace(before, after, 1), NUMBERS, REFERENCES)


def test_the_numbers_are_those_of_the_measurements() -> None:
    assert paper_numbers.render(DOCS) == NUMBERS
