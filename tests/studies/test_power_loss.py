"""Power loss, in small: `make power-loss` cuts a thousand rounds at every sync."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from studies import power_loss

DOCS = Path(__file__).resolve().parent.parent.parent / "docs"


def test_the_page_has_a_table_of_no_loss() -> None:
    """As `make power-loss PAGE=1` writes it."""
    page = (DOCS / "durability.md").read_text(encoding="utf-8")
    table = page.partition("<!-- power-loss -->")[2].partition("<!-- end of power-loss -->")[0]
    lines = table.strip().split("\n")
    assert lines[:2] == power_loss.HEADING
    lost = {
        tuple(cell.strip() for cell in line.split("|")[1:3]): line.split("|")[5]
        for line in lines[2:]
    }
    assert {kind for kind, count in lost.items() if int(count.replace(",", "")) == 0} == {
        ("FULL", "forgetful"),
        ("FULL", "random"),
    }


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
@pytest.mark.parametrize("synchronous", ["FULL", "OFF"])
def test_what_was_acknowledged_is_there_after_a_power_loss(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, synchronous: str
) -> None:
    """With synchronous=OFF, the mutant, it is not."""
    rounds = 6
    record = power_loss.recorded(tmp_path, rounds, synchronous)
    for kind in ("forgetful", "random"):
        found = power_loss.cut(record, kind)
        assert found.acknowledged == 2 * rounds
        assert found.cuts >= 2 * rounds - 1
        if synchronous == "FULL":
            assert (found.lost, found.first) == (0, "")
        else:
            assert found.lost > rounds
