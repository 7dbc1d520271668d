"""The README's lines, run word for word, and the commands that the pages name."""

import ast
import random
import re
from pathlib import Path
from typing import Any

import pytest

from dikin import registry
from documentation.markdown_pages import markdown

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


def test_the_six_lines_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    random.seed(1)
    (block,) = re.findall(r"```python\n(.*?)```", README, flags=re.S)
    lines = block.split("\n")
    first, last = (
        next(i for i, x in enumerate(lines) if x.startswith(y)) for y in ("ranges =", "print(")
    )
    assert last - first + 1 == 6
    scope: dict[str, Any] = {}
    exec(block, scope)
    best = ast.literal_eval(capsys.readouterr().out)
    monkeypatch.setattr(random, "gauss", lambda mean, deviation: 0.0)
    assert scope["revenue"](**best) > 497  # of 500, without noise. Today's setting has 416.
    assert scope["tuner"].rounds == 1000
    assert (tmp_path / "tuner.json").exists()


def unknown_commands(page: str) -> list[str]:
    """Return the `make` commands that a page names and the Makefile does not have."""
    named = re.findall(r"`make ([a-z][\w-]*)[^`]*`|^    make ([a-z][\w-]*)", page, flags=re.M)
    return [a or b for a, b in named if f"\n{a or b}:" not in MAKEFILE]


def test_the_commands_are_in_the_makefile() -> None:
    for page in [*markdown(), ROOT / "tests" / "README.md"]:
        assert unknown_commands(page.read_text(encoding="utf-8")) == [], page
    assert unknown_commands("`make test`, `make serve-demos PAGE=1`\n    make tests  # no") == [
        "serve-demos",
        "tests",
    ]


def test_it_is_a_landing_page() -> None:
    assert len(README.splitlines()) <= 120
    assert README.count("![") == 1
    numbers = README.split("<!-- numbers -->")[1].split("<!-- end")[0].strip().split("\n")
    assert len(numbers) == 4
    assert all(re.search(r" `make [\w-]+`$", line) for line in numbers)


def test_every_learner_has_an_entry() -> None:
    page = (ROOT / "docs" / "learners.md").read_text(encoding="utf-8")
    for cls in registry.FOLDERS["learners"].every().values():
        assert f"`{cls.__name__}(" in page, cls.__name__
