"""benchmarks/uplift_coverage.py as a module."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def coverage(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(ROOT / "examples")
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    yield importlib.import_module("uplift_coverage")
    for name in ("uplift_coverage", "report"):
        sys.modules.pop(name, None)
