"""A real browser: Debian's Chromium, driven by Playwright."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# A browser that looks for updates meanwhile would disturb, and its sandbox refuses the superuser.
ARGUMENTS = [
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def program() -> str:
    """The browser, or the test is skipped."""
    given = os.environ.get("BROWSER_PATH")
    found = given or next(filter(None, map(shutil.which, PROGRAMS)), None)
    if found is None:
        pytest.skip("the page: no Chromium is installed (apt-get install chromium)")
    return found


@contextmanager
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    path = program()
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=path, args=ARGUMENTS, chromium_sandbox=os.getuid() != 0
        )
        yield started
        started.close()


class Window:
    """A page, with all that it logged and asked for."""

    def __init__(self, started: Any, url: str, **options: Any) -> None:
        self.url = url
        self.page = started.new_page(**options)
        self.faults: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))

    def _console(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.faults.append(message.text)

    def open(self, path: str = "/") -> Any:
        self.page.goto(self.url + path)
        return self.page

    def violations(self) -> list[str]:
        """What axe-core finds on the page."""
        from axe_playwright_python.sync_playwright import Axe

        found = Axe().run(self.page).response["violations"]
        return [f"{each['impact']}: {each['id']}: {each['nodes'][0]['html']}" for each in found]

    def foreign(self) -> list[str]:
        """Requests that went elsewhere."""
        own = (self.url + "/", "data:")
        return [url for url in self.requests if not url.startswith(own)]
