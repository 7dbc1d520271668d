"""docs/mathematics.md: numbers, references to them, and the places of the sources that name it."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "mathematics.md").read_text(encoding="utf-8")
STATEMENT = r"(?:Theorem|Lemma|Proposition|Corollar(?:y|ie)|Definition)s?"


def prose(text: str) -> str:
    """Return the page without code and without displayed formulas."""
    text = re.sub(r"^```.*?^```$|^\$\$\n.*?\n\$\$$", "", text, flags=re.M | re.S)
    return re.sub(r"`[^`\n]*`", "`", text)


def slug(title: str) -> str:
    return re.sub(r"[^\w -]", "", title).lower().replace(" ", "-")


def statements(text: str) -> list[int]:
    return [int(n) for n in re.findall(rf"^#+ {STATEMENT} (\d+) \(.+\)$", text, flags=re.M)]


def faults(text: str) -> Iterator[str]:
    """Yield numbers that are not in order, and references that lead elsewhere or are no links."""
    tags = [int(n) for n in re.findall(r"\\tag\{(\d+)\}", text)]
    found = statements(text)
    if found != sorted(set(found)):  # a number stays with its statement when others go
        yield f"statements are numbered {found}"
    if tags != list(range(1, len(tags) + 1)):
        yield f"equations are numbered {tags}"
    named = {int(n) for n in re.findall(r"\bequation\s\((\d+)\)", prose(text))}
    for n in sorted(named ^ set(tags)):
        yield f"equation ({n}) is " + ("not there" if n in named else "never referred to")
    body = re.sub(r"^#.*$", "", prose(text), flags=re.M)
    for name, target in re.findall(r"\[([^\]]*)\]\(#([^)]*)\)", body):
        if re.fullmatch(rf"{STATEMENT} \d+", name) and not target.startswith(f"{slug(name)}-"):
            yield f"{name} leads to #{target}"
        number = re.fullmatch(r"(?:[Ss]ection )?(\d+(?:\.\d)?)", name)
        if number and not target.startswith(f"{number[1].replace('.', '')}-"):
            yield f"section {number[1]} leads to #{target}"
    # What is left after links and citations such as [LZZ, Lemma 6] is a reference that is no link.
    bare = re.sub(r"\[[^\]]*\]\([^)]*\)|\[[A-Z]+,\s[^\]]*\]", "", body)
    for name in re.findall(rf"{STATEMENT}\s\d+|[Ss]ections? \d+", bare):
        yield f"{' '.join(name.split())} is no link"


def test_numbers_and_references_are_right() -> None:
    assert list(faults(PAGE)) == []
    assert len(statements(PAGE)) > 15
    assert PAGE.count("](#") > 40


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("#### Lemma 7 (", "#### Lemma 5 (", "statements are numbered"),
        (r"\tag{2}", r"\tag{4}", "equations are numbered"),
        ("equation (3)", "equation (7)", "equation (7) is not there"),
        ("equation (3)", "the display", "equation (3) is never referred to"),
        ("[Lemma 3](#lemma-3-growth)", "[Lemma 3](#theorem-2-sharp-constants)", "Lemma 3 leads to"),
        ("[5.1](#51-proof)", "[5.1](#52-what-it-covers)", "section 5.1 leads to"),
        ("[Lemma 3](#lemma-3-growth)", "Lemma 3", "Lemma 3 is no link"),
        ("[section 8](#8-geometry)", "section 8", "section 8 is no link"),
    ],
)
def test_a_damaged_page_is_noticed(old: str, new: str, fault: str) -> None:
    assert old in PAGE
    found = list(faults(PAGE.replace(old, new)))
    assert any(fault in each for each in found), found[:5]


def named_in(source: str) -> set[str]:
    """Return the statements and sections of the page that a source names."""
    text = re.sub(r"\s+(?:# ?)?", " ", source)
    page = r"(?:docs/)?mathematics\.md`?"
    found = {f"Theorem {n}" for n in re.findall(rf"Theorem (\d+) of {page}", text)}
    found |= {f"Theorem {n}" for n in re.findall(rf"{page}, Theorem (\d+)", text)}
    found |= {f"section {n}" for n in re.findall(rf"{page}, (?:sections? )?(\d+(?:\.\d)?)", text)}
    return found | {f'"{title}"' for title in re.findall(rf'{page}, "([^"]+)"', text)}


def has(page: str, name: str) -> bool:
    kind, _, number = name.partition(" ")
    if kind == "Theorem":
        return bool(re.search(rf"^#+ Theorem {number} \(", page, flags=re.M))
    if kind == "section":
        return bool(re.search(rf"^#+ {re.escape(number)}\.? ", page, flags=re.M))
    title = re.escape(name.strip('"'))
    return bool(re.search(rf"^#+ .*{title}$", page, flags=re.M))


def test_sections_that_the_sources_name_are_there() -> None:
    files = [
        path
        for folder in ("src", "tests", "docs", "evidence", "examples")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in {".py", ".md"} and path.resolve() != Path(__file__).resolve()
    ]
    named = {(file.name, name) for file in files for name in named_in(file.read_text("utf-8"))}
    assert len(named) > 12
    assert {(file, name) for file, name in named if not has(PAGE, name)} == set()


@pytest.mark.parametrize(
    ("old", "source", "lost"),
    [
        ("#### Theorem 13 (", "(docs/mathematics.md,\n# Theorem 13)", "Theorem 13"),
        ("### 13.5 ", "docs/mathematics.md, sections 13.5 and 4", "section 13.5"),
        ("## 3. The reduced form", 'mathematics.md, "The reduced form"', '"The reduced form"'),
    ],
)
def test_a_lost_section_is_noticed(old: str, source: str, lost: str) -> None:
    (name,) = named_in(source)
    assert name.startswith(lost)
    assert has(PAGE, name)
    assert not has(PAGE.replace(old, "### "), name)
