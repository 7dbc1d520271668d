"""The example of an adapter runs."""

import importlib
import logging
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


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
    monkeypatch.setattr(sys, "argv", [module.__name__, *options])
    module.main()


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
    assert f"{len(never)} never), {tuner.rounds} learned" in text
