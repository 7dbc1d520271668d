"""The README's lines, run word for word; and what any page says to take so many lines."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dikin import registry

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
FIRST_AND_LAST = ("ranges =", "print(")
GUIDE = (ROOT / "docs" / "learners.md").read_text(encoding="utf-8")
OVERVIEW = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
LONGEST = 120
"""Lines of a page that one reads to the end."""


def test_the_six_lines_do_what_they_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", README, flags=re.S)
    assert len(blocks) == 1
    lines = blocks[0].split("\n")
    first, last = (lines.index(next(x for x in lines if x.startswith(y))) for y in FIRST_AND_LAST)
    assert last - first + 1 == 6
    scope: dict[str, Any] = {}
    exec(blocks[0], scope)
    best = ast.literal_eval(capsys.readouterr().out)
    assert scope["revenue"](**best) > 498  # of 500; today's setting has 416
    assert (tmp_path / "tuner.json").exists()
    assert scope["tuner"].rounds == 1000


def test_every_page_and_picture_that_is_named_exists() -> None:
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", README):
        assert (ROOT / target).exists(), target


def unknown_commands(page: str) -> list[str]:
    """The `make` commands that a page names and the Makefile does not have."""
    return [name for name in re.findall(r"`make ([\w-]+)`", page) if f"\n{name}:" not in MAKEFILE]


def test_the_commands_are_in_the_makefile() -> None:
    assert unknown_commands(README) == unknown_commands(OVERVIEW) == []
    assert unknown_commands("`make test`, `make serve-demos`, `make tests`") == [
        "serve-demos",
        "tests",
    ]


def claims_without_command(page: str) -> list[str]:
    """The strengths that a page claims and names no command for."""
    section = page.split("## What it is good at\n")[1].split("\n## ")[0]
    strengths = re.split(r"^- ", section, flags=re.M)[1:]
    return [text for text in strengths if not re.search(r"`make [\w-]+`", text)]


def test_every_strength_is_shown_by_a_command() -> None:
    assert claims_without_command(README) == []
    mutant = README.replace("with late answers: `make traffic`", "with late answers")
    assert [text.split("**")[1] for text in claims_without_command(mutant)] == ["Splitting traffic"]


def test_it_is_a_landing_page() -> None:
    assert len(README.splitlines()) <= LONGEST
    assert README.count("![") == 1


def test_every_heading_that_is_named_exists() -> None:
    for page, heading in re.findall(r"\]\((?!http)([^)#]+)#([^)]+)\)", README):
        text = (ROOT / page).read_text(encoding="utf-8")
        titles = re.findall(r"^#+ (.*)$", text, flags=re.M)
        slugs = [re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles]
        assert heading in slugs, (page, heading)


def test_every_learner_is_named() -> None:
    for cls in registry.learners().values():
        assert f"`{cls.__name__}`" in OVERVIEW, cls.__name__
        assert f"`{cls.__name__}(" in GUIDE, cls.__name__


# --- what is said to take so many lines ----------------------------------------------------------

WORDS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
NUMBERS = dict(zip(WORDS, range(2, 13), strict=True)) | {"dozen": 12, "twenty": 20, "thirty": 30}
CLAIM = r"(?i)\b([a-z]+|\d+)\s+lines\b"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), ROOT / "deploy" / "README.md"]


def code_lines(page: str, heading: str) -> int:
    """The lines of the first example under a heading, without what they print."""
    block = page.split(f"## {heading}\n")[1].split("```python\n")[1].split("```")[0]
    return sum(line.startswith((">>> ", "... ")) for line in block.splitlines())


def readme_lines(page: str) -> int:
    lines = page.splitlines()
    first, last = (next(i for i, x in enumerate(lines) if x.startswith(y)) for y in FIRST_AND_LAST)
    return last - first + 1


def client_lines(page: str) -> int:
    """Those of the longer client."""
    assert "/clients" in page
    clients = (ROOT / "examples" / "clients").glob("client.*")
    return max(len(client.read_text(encoding="utf-8").splitlines()) for client in clients)


def method_lines(page: str) -> int:
    """Those of every method that is not here; they must agree."""
    methods = [part for part in page.split("\n\n") if part.startswith("**")]
    (count,) = {len(method.strip().splitlines()) for method in methods}
    return count


COUNTS: dict[tuple[str, str], Callable[[str], int]] = {
    ("README.md", "six"): readme_lines,
    ("docs/learners.md", "five"): lambda page: code_lines(page, "Five lines"),
    ("docs/not_practical.md", "three"): method_lines,
    ("docs/service.md", "thirty"): client_lines,
    ("deploy/README.md", "30"): client_lines,
}


def claims(page: str) -> set[str]:
    """The numbers of lines that a page names.

    Tables say what another design would take; an option of a directive quotes a heading.
    """
    said = re.sub(r"(?m)^[|:].*$", "", page)
    found = {number.lower() for number in re.findall(CLAIM, said)}
    return {number for number in found if number in NUMBERS or number.isdigit()}


def test_every_number_of_lines_is_counted() -> None:
    said = {
        (str(path.relative_to(ROOT)), number)
        for path in PAGES
        for number in claims(path.read_text(encoding="utf-8"))
    }
    assert said == COUNTS.keys()


@pytest.mark.parametrize(("file", "number"), COUNTS)
def test_a_number_of_lines_is_true(file: str, number: str) -> None:
    page = (ROOT / file).read_text(encoding="utf-8")
    assert COUNTS[file, number](page) == (int(number) if number.isdigit() else NUMBERS[number])


def test_a_line_more_is_noticed() -> None:
    assert claims("seven lines, 7 lines, five\nlines, these lines") == {"seven", "7", "five"}
    assert claims("| a dozen lines |\n:start-after: Six lines") == set()
    for file, mutant in (
        ("README.md", ("tuner = dikin.Tuner", "import sys\ntuner = dikin.Tuner")),
        ("docs/learners.md", (">>> query = learner.ask()", ">>> 1\n>>> query = learner.ask()")),
        ("docs/not_practical.md", ("losses*, COLT 2021", "losses*,\nCOLT 2021")),
    ):
        page = (ROOT / file).read_text(encoding="utf-8")
        ((count, number),) = ((c, n) for (f, n), c in COUNTS.items() if f == file)
        assert mutant[0] in page
        try:
            found = count(page.replace(*mutant))
        except ValueError:  # the methods no longer agree
            continue
        assert found != NUMBERS[number]
