"""SECURITY.md: the tests that it names are there; and what no other test holds."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from dikin.errors import AccessError
from dikin.service import tokens
from dikin.service.tokens import Access, Token, TokenCheck
from release.archives import ROOT

PAGE = (ROOT / "SECURITY.md").read_text(encoding="utf-8")


def missing(page: str) -> list[str]:
    """Return the tests that a page names, and that are not there."""
    named = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", page)
    return [f"{file}::{name}" for file, name in named if not has(ROOT / file, name)]


def has(file: Path, name: str) -> bool:
    return (
        file.is_file() and re.search(rf"^(async )?def {name}\(", file.read_text(), re.M) is not None
    )


def test_the_tests_that_hold_a_promise_are_there() -> None:
    assert missing(PAGE) == []
    rows = [line for line in PAGE.splitlines() if line.startswith("| ")]
    promises = [line for line in rows if not line.startswith("| promise")]
    assert len(promises) >= 15
    assert [line for line in promises if "`tests/" not in line] == []


def test_a_test_that_is_gone_is_noticed() -> None:
    gone = "`tests/test_state.py::test_gone`, `tests/gone.py::test_a`"
    assert missing(gone) == ["tests/test_state.py::test_gone", "tests/gone.py::test_a"]


def test_pages_lead_here_and_from_here() -> None:
    for page in ("README.md", "docs/service.md"):
        assert re.search(r"\]\((\.\./)?SECURITY\.md\)", (ROOT / page).read_text()), page
    for target in re.findall(r"\]\(([^)#]+)\)", PAGE):
        assert (ROOT / target).exists(), target


class Hasty(TokenCheck):
    """A mutant: it says at once that an id is not known."""

    def access(self, authorization: str | None) -> Access:
        if str(authorization).split("_")[1] not in self._by_id:
            raise AccessError("not known")
        return super().access(authorization)


def comparisons(check: TokenCheck, text: str, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many digests are compared before a token is refused."""
    calls: list[tuple[str, str]] = []
    compare: Callable[[str, str], bool] = tokens.hmac.compare_digest

    def counted(a: str, b: str) -> bool:
        calls.append((a, b))
        return compare(a, b)

    with monkeypatch.context() as patch:
        patch.setattr(tokens.hmac, "compare_digest", counted)
        with pytest.raises(AccessError):
            check.access(f"Bearer {text}")
    assert all(len(a) == len(b) == 64 for a, b in calls)
    return len(calls)


@pytest.mark.parametrize("text", ["dikin_known_wrong", "dikin_other_wrong", "dikin_other_"])
def test_a_digest_is_compared_once_whatever_came(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = [Token("known", "a", tokens._digest("right"), "read", None, 0, None, None)]
    assert comparisons(TokenCheck(kept), text, monkeypatch) == 1
    mutant = comparisons(Hasty(kept), text, monkeypatch)
    assert mutant == (1 if "known" in text else 0)
