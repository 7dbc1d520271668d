"""The examples of the adapters run, and docs/adapters.md says what the committed CSVs say."""

from __future__ import annotations

import importlib
import logging
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from test_example_tables import OLD, is_old, measured, said, section, verdicts

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "adapters.md"
FOLDER = ROOT / "docs" / "adapters"


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    before = {*sys.modules}
    monkeypatch.syspath_prepend(ROOT / "examples")
    level = logging.getLogger("dikin").level
    yield importlib.import_module
    logging.getLogger("dikin").setLevel(level)  # a program may want less of it
    for name in {*sys.modules} - before:
        if str(ROOT / "examples") in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


def run(module: Any, monkeypatch: pytest.MonkeyPatch, *options: str) -> None:
    monkeypatch.setattr(module, "WORKERS", 1, raising=False)
    monkeypatch.setattr(sys, "argv", [module.__name__, *options])
    module.main()


# --- the page ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["optuna"])
def test_the_table_of_the_page_is_the_committed_one(example: Any, name: str) -> None:
    page, report, file = PAGE.read_text(encoding="utf-8"), example("report"), FOLDER / f"{name}.csv"
    assert said(page, name) == measured(report, file), "run make with PAGE=1"
    assert "\n".join(verdicts(report, file)) + "\n" in page
    assert (OLD in section(page, name)) == is_old(file)


# --- OpenFeature ---------------------------------------------------------------------------------


def test_the_shop_serves_and_learns(
    example: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shop = example("openfeature_service")
    seen = []
    real = shop.report
    monkeypatch.setattr(shop, "report", lambda *found: seen.append(found) or real(*found))
    run(shop, monkeypatch, "--visits", "300")
    ((tuner, visits),) = seen
    assert (len(visits), tuner.asked) == (300, 300)
    assert [visit.trial for visit in visits] == [*range(300)]  # each visit is one trial
    assert {visit.reports for visit in visits} == {0, 1, 2}
    never = [visit.trial for visit in visits if not visit.reports]
    assert [trial.id for trial in tuner.open_queries] == never  # and each report counts once
    assert tuner.rounds == 300 - len(never)
    text = capsys.readouterr().out
    assert "today's setting           41.10" in text
    assert f"{len(never)} never), {tuner.rounds} told" in text


def test_no_setting_beats_the_best_one(example: Any) -> None:
    spent = example("openfeature_service").spent
    grid = [
        (discount, fee) for discount in np.linspace(0, 50, 51) for fee in np.linspace(0, 20, 41)
    ]
    assert max(spent(*point) for point in grid) == spent(20, 6)


# --- Optuna --------------------------------------------------------------------------------------


def test_a_small_run_of_the_samplers(
    example: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE.read_text(encoding="utf-8"), encoding="utf-8")
    small = ["--rounds", "12", "--trials", "12", "--games", "2", "--page", str(page)]
    run(example("optuna_loop"), monkeypatch, *small, "--out", str(tmp_path))
    new = measured(example("report"), tmp_path / "optuna.csv")
    assert said(page.read_text(encoding="utf-8"), "optuna") == new


def test_the_functions_are_those_of_the_literature(example: Any) -> None:
    """Where they are least, as the literature has it, and no less anywhere else that is tried."""
    loop = example("optuna_loop")
    place = np.array([0.20169, 0.150011, 0.476874, 0.275332, 0.311652, 0.6573])
    assert loop.hartmann(place) == pytest.approx(0, abs=1e-5)
    corner = (420.9687 + 500) / 1000
    assert loop.schwefel(np.array([corner, corner])) == pytest.approx(0, abs=1e-4)
    points = np.random.default_rng(1).uniform(size=(500, 6))
    assert min(map(loop.hartmann, points)) > 0
    assert min(map(loop.schwefel, points[:, :2])) > 0
