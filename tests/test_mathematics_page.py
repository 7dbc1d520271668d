r"""docs/mathematics.md: numbers, references to them, and formulas that every host renders.

The page is read on the documentation site and on code hosts. There Markdown is parsed before the
formulas are, so that some formulas would be damaged: a backslash before punctuation (`\{`, `\,`,
`\\`) is taken away, an underscore after punctuation or a star may begin emphasis, a bar ends a cell
of a table. They are refused here; `\lbrace`, `\thinspace`, `\cr`, `\ast` and `\lvert` do the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "mathematics.md").read_text(encoding="utf-8")

STATEMENT = r"(?:Theorem|Lemma|Proposition|Corollar(?:y|ie)|Definition)s?"
MACROS = r"""
    Big Delta Lambda Phi Psi Sigma alpha approx arg ast bar begin beta cdot circ cr delta det dots
    ell end enspace epsilon eta exp frac gamma ge hat hphantom in int kappa lVert lambda lbrace le
    left leftarrow ln log lvert mathbb mathbf mathrm max min mu nabla nu omega pm preceq psi qquad
    quad rVert rbrace rho right rvert sigma sqrt star subset succeq sum sup tag tau text tfrac theta
    thinspace tilde times top varepsilon varphi xi
"""
"""All that the page uses: what is not here is a slip, or to be looked at on the hosts first."""


# --- the page in parts ---------------------------------------------------------------------------


def without_code(text: str) -> str:
    """The page with its code blanked out."""
    text = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    return re.sub(r"`[^`\n]*`", "`", text)


def displays(text: str) -> list[str]:
    return re.findall(r"^\$\$\n(.*?)\n\$\$$", without_code(text), flags=re.M | re.S)


def prose(text: str) -> str:
    """The page without code and without displayed formulas."""
    return re.sub(r"^\$\$\n.*?\n\$\$$", "", without_code(text), flags=re.M | re.S)


def inline(text: str) -> list[str]:
    return re.findall(r"\$([^$\n]*)\$", prose(text))


def titles(text: str) -> list[str]:
    return re.findall(r"^#+ (.*)$", without_code(text), flags=re.M)


def slug(title: str) -> str:
    return re.sub(r"[^\w -]", "", title).lower().replace(" ", "-")


def statements(text: str) -> list[int]:
    return [int(n) for n in re.findall(rf"^#+ {STATEMENT} (\d+) \(.+\)$", text, flags=re.M)]


# --- the rules -----------------------------------------------------------------------------------


def numbering_faults(text: str) -> Iterator[str]:
    found = statements(text)
    if found != list(range(1, len(found) + 1)):
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


def dollar_faults(text: str) -> Iterator[str]:
    if without_code(text).count("\n$$\n") != 2 * len(displays(text)):
        yield "a line of $$ has no other"
    for line in prose(text).splitlines():
        if line.count("$") % 2:
            yield f"an odd number of dollars: {line[:60]}"
    for formula in inline(text):
        if formula != formula.strip() or not formula:
            yield f"a space beside a dollar: ${formula}$"


def formula_faults(formula: str) -> Iterator[str]:
    macros = re.findall(r"\\([A-Za-z]+)", formula)
    for macro in sorted({*macros} - {*MACROS.split()}):
        yield f"unknown \\{macro}"
    if re.search(r"\\[^A-Za-z]", formula):
        yield "a backslash before punctuation"
    if re.search(r"[^\w\s]_|(?<!\\)\*", re.sub(r"\\text\{[^}]*\}", "", formula)):
        yield "what may begin emphasis"
    if not formula.isascii():
        yield "a letter that is no TeX"
    depth = [0]
    for sign in formula:
        depth.append(depth[-1] + (sign == "{") - (sign == "}"))
    if min(depth) < 0 or depth[-1]:
        yield "braces that do not match"
    if macros.count("left") != macros.count("right"):
        yield "left without right"
    if re.findall(r"\\begin\{(\w+)\}", formula) != re.findall(r"\\end\{(\w+)\}", formula):
        yield "begin without end"
    if ("&" in formula or "cr" in macros) and "begin" not in macros:
        yield "columns without an environment"


def math_faults(text: str) -> Iterator[str]:
    yield from dollar_faults(text)
    for formula in (*inline(text), *displays(text)):
        yield from (f"{fault} in {formula[:70]}" for fault in formula_faults(formula))
    for row in re.findall(r"^\|.*\|$", prose(text), flags=re.M):
        if any("|" in formula for formula in re.findall(r"\$([^$]*)\$", row)):
            yield f"a bar inside a cell: {row[:60]}"
    for formula in inline(text):
        if "tag" in re.findall(r"\\([A-Za-z]+)", formula):
            yield f"a number within a line: {formula}"


def width_faults(text: str) -> Iterator[str]:
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) > 120 and not line.startswith("|"):
            yield f"line {number} has {len(line)} characters"


RULES: list[Callable[[str], Iterator[str]]] = [
    numbering_faults,
    reference_faults,
    math_faults,
    width_faults,
]


@pytest.mark.parametrize("rule", RULES)
def test_page_keeps_the_rule(rule: Callable[[str], Iterator[str]]) -> None:
    assert list(rule(PAGE)) == []


def test_there_is_something_to_check() -> None:
    assert len(statements(PAGE)) == 26
    assert len(inline(PAGE)) > 500
    assert len(displays(PAGE)) > 20
    assert PAGE.count("](#") > 40
    used = " ".join((*inline(PAGE), *displays(PAGE)))
    assert [
        macro for macro in MACROS.split() if not re.search(rf"\\{macro}(?![A-Za-z])", used)
    ] == []


MUTANTS = [
    ("#### Lemma 7 (", "#### Lemma 8 (", "statements are numbered"),
    ("### Theorem 5 (the", "**Theorem 5** (the", "statements are numbered"),
    (r"\tag{2}", r"\tag{4}", "equations are numbered"),
    ("equation (3)", "equation (7)", "equation (7) is not there"),
    ("equation (3)", "the display", "equation (3) is never referred to"),
    ("(#lemma-3-growth)", "(#lemma-3)", "no heading for #lemma-3"),
    ("[Lemma 3](#lemma-3-growth)", "[Lemma 3](#theorem-2-sharp-constants)", "Lemma 3 leads to"),
    ("[5.1](#51-proof)", "[5.1](#52-what-it-covers)", "section 5.1 leads to"),
    ("[Lemma 3](#lemma-3-growth)", "Lemma 3", "Lemma 3 is no link"),
    ("[LZZ, Lemma 25]", "Lemma 25", "Lemma 25 is no link"),
    ("[section 8](#8-geometry)", "section 8", "section 8 is no link"),
    ("$f_t$ is", "$f_t is", "an odd number of dollars"),
    ("$f_t$ is", "$ f_t$ is", "a space beside a dollar"),
    ("\n$$\n", "\n", "a line of $$ has no other"),
    (r"\mathbf H p$", r"\mathbf H p\|$", "a backslash before punctuation"),
    (r"\min\lbrace", r"\min\{", "a backslash before punctuation"),
    (r"\tilde f_t", r"\tilde{f}_t", "what may begin emphasis"),
    (r"\lambda^\ast_t", r"\lambda^*_t", "what may begin emphasis"),
    (r"\varepsilon", r"\vareps", r"unknown \vareps"),
    ("$\\beta$", "$β$", "a letter that is no TeX"),
    ("S_{t-1}", "S_{t-1", "braces that do not match"),
    (r"\right]", "]", "left without right"),
    (r"\end{aligned}", r"\end{split}", "begin without end"),
    (r"\lvert x\rvert^2)$ |", "|x|^2)$ |", "a bar inside a cell"),
    ("The game and the units", "The game " + 120 * "x", "characters"),
]


@pytest.mark.parametrize(("old", "new", "fault"), MUTANTS, ids=[mutant[-1] for mutant in MUTANTS])
def test_a_damaged_page_is_noticed(old: str, new: str, fault: str) -> None:
    assert old in PAGE
    # Once: of two lines of $$ that are both missing nobody could tell.
    damaged = PAGE.replace(old, new, 1 if old == "\n$$\n" else -1)
    faults = [found for rule in RULES for found in rule(damaged)]
    assert any(fault in found for found in faults), faults[:5]


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
        ("#### Theorem 13 (", "src/dikin/learners/predictive_certificate.py", "Theorem 13"),
        ("### 13.5 ", "src/dikin/forecasts/mixture.py", "section 13.5"),
        ("## 13. ", "src/dikin/learners/predictive.py", "section 13"),
        ("## 3. The reduced form", "src/dikin/learners/barrier_ftrl.py", '"The reduced form"'),
        ("### 5.5 A range that is not known", "docs/learners.md", "#55-a-range-that-is-not-known"),
    ],
)
def test_a_lost_section_is_noticed(old: str, file: str, lost: str) -> None:
    assert old in PAGE
    assert lost in named_in((ROOT / file).read_text(encoding="utf-8"))
    assert not has(PAGE.replace(old, "### "), lost)
