"""The real-data example plays, draws and writes; its page says what the committed CSV says."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from real_data_page import NOTHING, TOLD, TOO_MUCH, render

from dikin.experiments.tables import items, read_csv, write_csv

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(ROOT / "examples")
    module = importlib.import_module("real_data")
    monkeypatch.setattr(module, "BATCHES", 20)
    yield module
    for name in ("real_data", "comparison"):
        sys.modules.pop(name, None)


def test_a_small_run(example: Any, tmp_path: Path) -> None:
    results = example.play_all(rounds=40, games=2, workers=1)
    lines = example.table(results)
    assert len(lines) == sum(
        setting.plays(player) for setting in example.SETTINGS for player in example.PLAYERS
    )
    write_csv(tmp_path / "real_data.csv", items(*lines[0]), lines)
    example.draw(results, tmp_path / "real_data.png")
    assert (tmp_path / "real_data.png").read_bytes().startswith(b"\x89PNG")
    written, kept = read_csv(tmp_path / "real_data.csv"), read_csv(_committed())
    for one, two in zip(written, kept, strict=True):
        assert (one["setting"], one["player"]) == (two["setting"], two["player"])
    assert written[0].keys() == kept[0].keys()


def test_all_players_meet_the_same_losses(example: Any) -> None:
    """What they are told differs; the best fixed point, and so every loss, does not."""
    best = {
        example.play(example.Task(0, player, 3, 50)).best for player in range(len(example.PLAYERS))
    }
    assert max(best) == pytest.approx(min(best), rel=1e-12)


def test_the_page_is_made_from_the_committed_run() -> None:
    page = (DOCS / "real_data.md").read_text(encoding="utf-8")
    assert page == render(DOCS / "real_data"), "run `make page`"


def test_the_committed_run_says_what_the_page_says() -> None:
    rows = read_csv(_committed())
    for row in rows:
        if row["player"] == TOLD:
            assert float(row["ratio"]) < 1, "told sigma_t is no worse in any setting"
        if row["player"] in (TOLD, NOTHING):
            assert float(row["regret"]) < float(row["certificate"])
    over = [row for row in rows if row["player"] == TOO_MUCH]
    assert any(float(row["regret"]) > float(row["certificate"]) for row in over)


def _committed() -> Path:
    return DOCS / "real_data" / "real_data.csv"
