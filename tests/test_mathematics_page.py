"""docs/mathematics.md: numbers, references to them, and what the sources say of the page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "mathematics.md").read_text(encoding="utf-8")

STATEMENT = r"(?:Theorem|Lemma|Proposition|Corollar(?:y|ie)|Definition)s?"


# --- the page in parts ---------------------------------------------------------------------------


def without_code(text: str) -> str:
    """The page with its code blanked out."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    return re.sub(r"`[^`\n]*`", "`", text)


def prose(text: str) -> str:
    """The page without code and without displayed formulas."""
    return re.sub(r"^\$\$\n.*?\n\$\$$", "", without_code(text), flags=re.M | re.S)


def titles(text: str) -> list[str]:
    return re.findall(r"^#+ (.*)$", without_code(text), flags=re.M)


def slug(title: str) -> str:
    return re.sub(r"[^\w -]", "", title).lower().replace(" ", "-")


def statements(text: str) -> list[int]:
    return [int(n) for n in re.findall(rf"^#+ {STATEMENT} (\d+) \(.+\)$", text, flags=re.M)]


# --- the rules -----------------------------------------------------------------------------------


def numbering_faults(text: str) -> Iterator[str]:
    found = statements(text)
    if found != sorted(set(found)):  # what goes leaves its number free
        yield f"statements are numbered {found}"
    tags = [int(n) for n in re.findall(r"\\tag\{(\d+)\}", text)]
    if tags != list(range(1, len(tags) + 1)):
        yield f"equations are numbered {tags}"
    named = {int(n) for n in re.findall(r"\bequation\s\((\d+)\)", prose(text))}
    for n in sorted(named ^ set(tags)):
        yield f"equation ({n}) is " + ("not there" if n in named else "never referred to")


def reference_faults(text: str) -> Iterator[str]:
    known = {slug(title) for title in titles(text)}
    body = re.sub(r"^#.*$", "", prose(text), flags=re.M)
    for name, target in re.findall(r"\[([^\]]*)\]\(#([^)]*)\)", body):
        if target not in known:
            yield f"no heading for #{target}"
        if re.fullmatch(rf"{STATEMENT} \d+", name) and not target.startswith(f"{slug(name)}-"):
            yield f"{name} leads to #{target}"
        number = re.fullmatch(r"(?:[Ss]ection )?(\d+(?:\.\d)?)", name)
        if number and not target.startswith(f"{number[1].replace('.', '')}-"):
            yield f"section {number[1]} leads to #{target}"
    # What is left after links and citations such as [LZZ, Lemma 6] is a reference that is no link.
    bare = re.sub(r"\[[^\]]*\]\([^)]*\)|\[[A-Z]+,\s[^\]]*\]", "", body)
    for name in re.findall(rf"{STATEMENT}\s\d+|[Ss]ections? \d+", bare):
        yield f"{' '.join(name.split())} is no link"


def faults(text: str) -> list[str]:
    return [*numbering_faults(text), *reference_faults(text)]


def test_numbers_and_references_are_right() -> None:
    assert faults(PAGE) == []
    assert len(statements(PAGE)) > 20
    assert PAGE.count("](#") > 40


MUTANTS = [
    ("#### Lemma 7 (", "#### Lemma 8 (", "statements are numbered"),
    ("### Theorem 5 (the", "**Theorem 5** (the", "no heading for #theorem-5"),
    (r"\tag{2}", r"\tag{4}", "equations are numbered"),
    ("equation (3)", "equation (7)", "equation (7) is not there"),
    ("equation (3)", "the display", "equation (3) is never referred to"),
    ("(#lemma-3-growth)", "(#lemma-3)", "no heading for #lemma-3"),
    ("[Lemma 3](#lemma-3-growth)", "[Lemma 3](#theorem-2-sharp-constants)", "Lemma 3 leads to"),
    ("[5.1](#51-proof)", "[5.1](#52-what-it-covers)", "section 5.1 leads to"),
    ("[Lemma 3](#lemma-3-growth)", "Lemma 3", "Lemma 3 is no link"),
    ("[LZZ, Lemma 25]", "Lemma 25", "Lemma 25 is no link"),
    ("[section 8](#8-geometry)", "section 8", "section 8 is no link"),
]


@pytest.mark.parametrize(("old", "new", "fault"), MUTANTS, ids=[mutant[-1] for mutant in MUTANTS])
def test_a_damaged_page_is_noticed(old: str, new: str, fault: str) -> None:
    assert old in PAGE
    found = faults(PAGE.replace(old, new))
    assert any(fault in each for each in found), found[:5]


# --- what the sources say of the page -----------------------------------------------------------

FILES = sorted(
    path
    for folder in ("src", "tests", "docs", "benchmarks", "examples")
    for path in (ROOT / folder).rglob("*")
    if path.suffix in {".py", ".md"} and path.resolve() != Path(__file__).resolve()
)


def named_in(source: str) -> set[str]:
    """The statements and sections of the page that a source names."""
    text = re.sub(r"\s+(?:# ?)?", " ", source)
    page = r"(?:docs/)?mathematics\.md`?"
    found = {f"Theorem {n}" for n in re.findall(rf"Theorem (\d+) of {page}", text)}
    found |= {f"Theorem {n}" for n in re.findall(rf"{page}, Theorem (\d+)", text)}
    found |= {f"section {n}" for n in re.findall(rf"{page}, (?:sections? )?(\d+(?:\.\d)?)", text)}
    found |= {f'"{title}"' for title in re.findall(rf'{page}, "([^"]+)"', text)}
    return found | {f"#{anchor}" for anchor in re.findall(rf"\({page}#([^)]+)\)", text)}


def has(page: str, name: str) -> bool:
    kind, _, number = name.partition(" ")
    if kind == "Theorem":
        return bool(re.search(rf"^#+ Theorem {number} \(", page, flags=re.M))
    if kind == "section":
        return bool(re.search(rf"^#+ {re.escape(number)}\.? ", page, flags=re.M))
    if name.startswith("#"):
        return name[1:] in {slug(title) for title in titles(page)}
    return any(title.endswith(name.strip('"')) for title in titles(page))


def test_what_the_sources_name_is_there() -> None:
    named = {
        (path.name, name) for path in FILES for name in named_in(path.read_text(encoding="utf-8"))
    }
    assert len(named) > 12
    assert {(file, name) for file, name in named if not has(PAGE, name)} == set()


@pytest.mark.parametrize(
    ("old", "file", "lost"),
    [
        ("#### Theorem 13 (", "src/dikin/learners/predictive.py", "Theorem 13"),
        ("## 13. ", "src/dikin/learners/predictive.py", "section 13"),
        ("## 3. The reduced form", "src/dikin/learners/barrier_ftrl.py", '"The reduced form"'),
        ("### 5.5 A range that is not known", "docs/learners.md", "#55-a-range-that-is-not-known"),
    ],
)
def test_a_lost_section_is_noticed(old: str, file: str, lost: str) -> None:
    assert old in PAGE
    assert lost in named_in((ROOT / file).read_text(encoding="utf-8"))
    assert not has(PAGE.replace(old, "### "), lost)
