"""The pages as they stand in the repository: links, the reference, and what else the site reads."""

import os
import re
from pathlib import Path

import pytest
from api_pages import GROUPS, docstring_to_rst, entries, group_of, pages
from check_site import faults
from interface_pages import commands, requests
from markdown_links import anchors, is_local, links
from repository_pages import AUTO, DOCS, ROOT, site_target

from dikin.cli import main
from documentation.markdown_pages import markdown


def broken(path: Path, text: str) -> list[str]:
    """Return the links of a page that lead nowhere."""
    return [target for target in links(text) if is_local(target) and not leads(target, path, text)]


def leads(target: str, path: Path, text: str) -> bool:
    file, _, fragment = target.partition("#")
    goal = Path(os.path.normpath(path.parent / file)) if file else path
    if AUTO in goal.parents:  # written when the site is built, and looked at then
        return True
    if not fragment or goal.suffix != ".md":
        return goal.exists()
    return fragment in anchors(text if goal == path else goal.read_text(encoding="utf-8"))


def from_an_index(text: str) -> list[str]:
    """Return commands that would ask an index for this package: it is on none."""
    return re.findall(r"pip install[^`#\n]*?[ \"']dikin\b[^`\n]*", text)


def test_every_link_leads_somewhere_and_nothing_is_installed_from_an_index() -> None:
    for path in markdown():
        text = path.read_text(encoding="utf-8")
        assert (broken(path, text), from_an_index(text)) == ([], []), path
    assert len(markdown()) > 15


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("[a](no_such_page.md)", 1),
        ("![a](images/none.png)", 1),
        ("[a](limits.md#no-such-heading)", 1),
        ("# Here\n\n[a](#there)", 1),
        ("[![a](images/none.png)](limits.md)", 1),
        ("[a](first_loop.md#the-loop)", 0),
        ("## `code` & more\n\n[a](#code--more)", 0),
        ("```\n[a](nowhere.md)\n```\n`[a](nowhere.md)`", 0),
        ("[a](https://example.org/none)", 0),
        ("# Twice\n\n# Twice\n\n[a](#twice-1)", 0),
        ("[a](../README.md) and [numbers](worth)", 0),
    ],
)
def test_a_broken_link_is_noticed_and_no_other(text: str, count: int) -> None:
    assert len(broken(DOCS / "mutant.md", text)) == count


def test_an_installation_from_an_index_is_noticed() -> None:
    for text in ("`pip install dikin`", 'pip install "dikin[lab]"', "pip install -U 'dikin[data]'"):
        assert len(from_an_index(text)) == 1
    assert from_an_index("`pip install '.[lab]'` adds pictures to dikin; pip install .") == []


@pytest.mark.parametrize(
    ("target", "source", "page", "found"),
    [
        ("docs/limits.md#pause", ROOT / "README.md", DOCS / "index.md", "limits.md#pause"),
        ("CONTRIBUTING.md", ROOT / "README.md", DOCS / "index.md", "auto/root/contributing.md"),
        ("../CONTRIBUTING.md#map", DOCS / "a.md", DOCS / "a.md", "auto/root/contributing.md#map"),
        ("worth", DOCS / "a.md", DOCS / "a.md", "auto/files.md#docs-worth"),
        ("#pause", DOCS / "a.md", DOCS / "a.md", "#pause"),
    ],
)  # fmt: skip
def test_links_are_rewritten_for_the_site(
    target: str, source: Path, page: Path, found: str
) -> None:
    assert site_target(target, source, page) == found


def test_every_public_name_is_in_the_reference() -> None:
    written = "\n".join(pages().values())
    assert [name for name in entries() if f":: {name}\n" not in written] == []
    assert {group_of(thing).file for thing in entries().values()} == {g.file for g in GROUPS}
    with pytest.raises(LookupError, match="no group"):
        group_of(broken)


def test_formulas_and_bars_of_a_docstring() -> None:
    lines = ["With |x| <= 1 and x_t:", "", "    f(x) = |x|", "", "|y| and `|z|`."]
    assert docstring_to_rst(lines) == [
        r"With \|x\| <= 1 and x_t:", "", "::", "", "    f(x) = |x|", "", r"\|y\| and `|z|`.",
    ]  # fmt: skip


def on_a_page(command: str) -> bool:
    """Whether a page names a command, in full or after another of its group."""
    text = "".join(page.read_text(encoding="utf-8") for page in DOCS.glob("*.md"))
    return command in text or f"`{command.rpartition(' ')[2]} NAME" in text


def test_every_command_and_request_is_described() -> None:
    said = {" ".join(path): words for path, words in commands(main)}
    assert {"dikin", "dikin study create", "dikin serve", "dikin token create"} <= said.keys()
    assert all("Usage:" in words for words in said.values())
    assert [path for path in said if not on_a_page(path)] == []
    assert not on_a_page("dikin study patience")
    described = {"paths": {"/a": {"get": {"description": "Does a.\nMore.", "x-right": "read"}}}}
    assert list(requests(described)) == [("GET", "/a", "read", "Does a.")]


@pytest.mark.parametrize(
    ("html", "fault"),
    [
        ('<a href="none.html">', "leads nowhere"),
        ('<a href="#none">', "leads nowhere"),
        ('<a href="index.html#none">', "leads nowhere"),
        ('<img src="none.png">', "leads nowhere"),
        ('<script src="https://cdn.example.org/a.js"></script>', "another host"),
        ('<link rel="stylesheet" href="//fonts.example.org/a.css">', "another host"),
        ('<img src="index.html" srcset="https://example.org/a.png 2x">', "another host"),
    ],
)
def test_a_fault_of_the_built_site_is_noticed(tmp_path: Path, html: str, fault: str) -> None:
    page = tmp_path / "index.html"
    page.write_text('<p id="here"><a href="#here">', encoding="utf-8")
    assert list(faults(tmp_path)) == []
    page.write_text(f'<a href="https://example.org/"><p id="here">{html}', encoding="utf-8")
    assert [line.split(": ", 1)[0] for line in faults(tmp_path)] == ["index.html"]
    assert fault in next(faults(tmp_path))

    (style := tmp_path / "a.css").write_text("a { background: url(a.png) }", encoding="utf-8")
    assert len(list(faults(tmp_path))) == 1
    style.write_text("@import 'https://fonts.example.org/a.css';", encoding="utf-8")
    assert len(list(faults(tmp_path))) == 2
