"""Services for the tests: one without tokens, one with, each with a file of its own."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from service import serving
from service.browser import Window, browser
from service.serving import Serving
from studies.conftest import file, new_file, server, url

__all__ = ["file", "server", "url"]


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    with browser() as started:
        yield started


Show = Callable[..., Window]


@pytest.fixture
def show(chromium: Any) -> Iterator[Show]:
    """Open a page of an address. At the end it has logged no fault."""
    windows: list[Window] = []

    def window(url: str, path: str = "/", **options: Any) -> Window:
        windows.append(Window(chromium, url, **options))
        windows[-1].open(path)
        return windows[-1]

    yield window
    for each in windows:
        assert each.faults == []
        each.page.close()


@pytest.fixture(scope="module")
def service() -> Iterator[Serving]:
    """A service without tokens, for this machine alone."""
    with new_file() as store, Serving(store) as running:
        yield running


@pytest.fixture(scope="module")
def guarded() -> Iterator[Serving]:
    with serving.guarded() as running:
        yield running
