"""Tests mirror the source: a module's tests are where its path says, or where README.md says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import pytest

import dikin

SRC = Path(dikin.__file__).parent
TESTS = Path(__file__).parent
PAGE = (TESTS / "README.md").read_text(encoding="utf-8")

ELSEWHERE = {"documentation", "formats", "paper", "reference", "release"}
"""Folders of tests that are not about one package."""


def paths(folder: Path, pattern: str) -> set[str]:
    found = folder.rglob(pattern)
    return {path.relative_to(folder).as_posix() for path in found if "__" not in path.as_posix()}


MODULES = {path.removesuffix(".py") for path in paths(SRC, "*.py")}
FILES = paths(TESTS, "test_*.py")


def own_file(module: str) -> str:
    """The test file of a module or package: domains/test_box.py of domains/box."""
    path = PurePosixPath(module)
    return (path.parent / f"test_{path.name}.py").as_posix()


def files_with_a_module(modules: set[str]) -> set[str]:
    """All names that mirror something; a package as a whole is tested in its own folder."""
    packages = {PurePosixPath(module).parent for module in modules}
    whole = {(package / f"test_{package.name}.py").as_posix() for package in packages}
    return {own_file(module) for module in modules} | whole


def topics(page: str) -> set[str]:
    section = page.partition("\n## Topics")[2].partition("\nFive folders")[0]
    return set(re.findall(r"`([\w/]+\.py)`", section))


def rows(page: str) -> Iterator[tuple[list[str], list[str]]]:
    """The modules without a file of their own, and where each row says that they are tested."""
    for line in page.partition("\n## Modules")[2].splitlines():
        if line.startswith("| `"):
            modules, places = line.strip("| ").split(" | ")
            yield re.findall("`(.+?)`", modules), re.findall("`(.+?)`", places)


def faults(page: str, modules: set[str], files: set[str]) -> Iterator[str]:
    folders = {PurePosixPath(file).parent.as_posix() for file in files}
    for folder in sorted({PurePosixPath(module).parent.as_posix() for module in modules} - folders):
        yield f"src/dikin/{folder} has no folder tests/{folder}"

    mirrored = {file for file in files if PurePosixPath(file).parts[0] not in ELSEWHERE}
    strangers, named = mirrored - files_with_a_module(modules), topics(page)
    for file in sorted(strangers - named):
        yield f"{file} is named like no module: rename it, or add it to the topics of the page"
    for file in sorted(named - strangers):
        yield f"the page names the topic {file}: there is none"

    table = {module: places for listed, places in rows(page) for module in listed}
    without = {module for module in modules if own_file(module) not in files}
    for module in sorted(without - table.keys()):
        yield f"{module} has no {own_file(module)}: write it, or name others on the page"
    for module in sorted(table.keys() - without):
        yield f"the page has a row for {module}: there is no such module, or it has its own tests"
    for place in sorted({place for places in table.values() for place in places}):
        if place not in files | folders:
            yield f"the page says that something is tested in {place}: there is none"


def test_tests_mirror_the_source() -> None:
    assert len(MODULES) > 150
    assert len(FILES) > 100
    assert list(faults(PAGE, MODULES, FILES)) == []


SMALL_PAGE = """
## Topics

- `domains/test_law.py`

Five folders

## Modules

| `domains/gauge` | `domains/test_law.py`, `domains` |
"""
SMALL_MODULES = {"files", "domains/box", "domains/gauge"}
SMALL_FILES = {"test_files.py", "domains/test_box.py", "domains/test_law.py", "paper/test_a.py"}


@pytest.mark.parametrize(
    ("page", "modules", "files", "words"),
    [
        ("", set(), set(), []),
        ("", {"worth/guard"}, {"worth/test_guard.py"}, []),
        ("", {"worth/guard"}, {"worth/test_worth.py"}, ["worth/guard has no worth/test_guard.py"]),
        ("", {"worth/guard"}, set(), ["no folder tests/worth", "no worth/test_guard.py"]),
        ("", set(), {"domains/test_boxes.py"}, ["domains/test_boxes.py is named like no module"]),
        ("", set(), {"test_box.py"}, ["test_box.py is named like no module"]),
        ("- `test_gone.py`\n", set(), set(), ["topic test_gone.py: there is none"]),
        ("- `test_files.py`\n", set(), set(), ["topic test_files.py: there is none"]),
        ("| `gone` | `domains` |\n", set(), set(), ["row for gone: there is no such module"]),
        ("| `domains/box` | `paper` |\n", set(), set(), ["row for domains/box"]),
        ("| `rng` | `a/test_a.py` |\n", {"rng"}, set(), ["tested in a/test_a.py: there is none"]),
    ],
)
def test_what_is_not_mirrored_is_noticed(
    page: str, modules: set[str], files: set[str], words: list[str]
) -> None:
    spoilt = SMALL_PAGE + page
    if page.startswith("-"):
        spoilt = SMALL_PAGE.replace("\nFive", f"{page}\nFive")
    noticed = list(faults(spoilt, SMALL_MODULES | modules, SMALL_FILES | files))
    assert len(noticed) == len(words), noticed
    assert [word for word, fault in zip(words, noticed, strict=True) if word not in fault] == []
