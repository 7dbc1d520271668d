"""The worked examples of CONTRIBUTING.md: one file each, dropped into its folder, and it works."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import dikin
import dikin.domains
import dikin.learners
from dikin import registry

PAGE = (Path(__file__).resolve().parent.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
BLOCKS = {
    name: next(
        b for b in re.findall(r"```python\n(.*?)```", PAGE, flags=re.S) if f"class {cls}(" in b
    )
    for name, cls in {"halfball": "Halfball", "anytime": "Anytime"}.items()
}


@pytest.fixture
def drop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[object]:
    """Put a file into a folder of the package for the length of a test."""
    dropped: list[str] = []

    def put(folder: ModuleType, name: str) -> ModuleType:
        (tmp_path / f"{name}.py").write_text(BLOCKS[name], encoding="utf-8")
        monkeypatch.setattr(folder, "__path__", [*folder.__path__, str(tmp_path)])
        for found in (registry.domains, registry.learners):
            found.cache_clear()
        dropped.append(f"{folder.__name__}.{name}")
        return importlib.import_module(dropped[-1])

    yield put
    for module in dropped:
        sys.modules.pop(module, None)
    monkeypatch.undo()
    for found in (registry.domains, registry.learners):
        found.cache_clear()


def test_a_domain_is_one_file(drop) -> None:
    cls = drop(dikin.domains, "halfball").Halfball
    assert registry.domains()["halfball"] is cls
    for domain in cls.examples():
        assert len(dikin.check_domain(domain)) > 20
        world = dikin.Ridge(domain, 1.0, seed=1)
        learner = dikin.AdaptiveSmooth(domain, 1.0, loss_range=world.loss_range, seed=1)
        assert dikin.play(learner, world, 50).regret.shape[0] > 2


def test_a_learner_is_one_file(drop) -> None:
    cls = drop(dikin.learners, "anytime").Anytime
    assert registry.learners()["anytime"] is cls
    assert len(dikin.check_learner(cls, dikin.Ball(2))) > 8
    world = dikin.Linear(dikin.Ball(2), seed=1)
    (learner, *_) = cls.examples(dikin.Ball(2), 1)
    assert dikin.play(learner, world, 200).fused
