"""The gain over the control on the page: the first number, and what the guard does."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import dikin
from service.browser import Window, browser
from service.conftest import folder
from service.serving import Serving


def study(store: str, name: str, gain: float, **more: Any) -> dikin.Study[dikin.Trial]:
    """A study in which a tuned round earns so much more than the control, which earns 100."""
    price = {"price": dikin.Real(1, 14, start=4)}
    tuner = dikin.Tuner(price, maximize=True, seed=7, holdback=0.3, guard=0.02, **more)
    found = dikin.Study(store, name, tuner, commit_within=0.3)
    for i in range(150):
        trial = found.ask(**({"context": {"region": ["eu", "us"][i % 2]}} if more else {}))
        found.tell(trial, 100.0 + i % 3 + (0.0 if trial.held_back else gain))
    return found


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser() as started:
        yield started


@pytest.fixture(scope="module")
def live(chromium: Any) -> Iterator[Serving]:
    with folder() as store, Serving(store) as running:
        known: dict[str, Any] = {"context": {"region": ["eu", "us"]}}
        study(store, "pays", 10.0, **known).close()
        study(store, "harms", -10.0).close()
        yield running


@pytest.mark.parametrize("width", [1920, 1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_gain_is_the_first_number(
    chromium: Any, live: Serving, width: int, scheme: str, tmp_path: Path
) -> None:
    shape = {"viewport": {"width": width, "height": 900}, "color_scheme": scheme}
    window = Window(chromium, live.url, **shape)
    page = window.open("/#/study/pays")
    page.get_by_text("valid at any time").first.wait_for(timeout=120_000)
    first = page.evaluate("document.body.innerText")
    assert first.index("Gain over the control") < first.index("Surprise")
    assert "held back" in first
    assert window.violations() == []
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    assert window.faults == []
    page.close()


def test_a_guard_that_holds_is_said_with_its_reason(chromium: Any, live: Serving) -> None:
    window = Window(chromium, live.url)
    page = window.open("/#/study/harms")
    page.get_by_text("held by the guard").first.wait_for(timeout=120_000)
    assert "surely by more than 2 %" in page.evaluate("document.body.innerText")
    page.close()
