"""The built site in a real browser; `make docs` runs this after it has built it."""

import os
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from service.browser import Window, browser

SITE = Path(__file__).resolve().parent.parent.parent / "site"
PAGES = [
    *("index", "first_loop", "limits", "service", "evidence", "mathematics", "auto/api/learners"),
    *("auto/api/dikin.Tuner", "auto/api/commands", "auto/root/contributing"),
]
pytestmark = pytest.mark.skipif(
    "SITE" not in os.environ, reason="the site in a browser: make docs does it, after building it"
)


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None: ...


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(SITE)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser() as started:
        yield started


def opened(chromium: Any, address: str, **options: Any) -> Window:
    window = Window(chromium, address, **options)
    window.page.set_default_timeout(180_000)  # hundreds of formulas, on a busy machine
    return window


def sideways(page: Any) -> int:
    """Return by how many pixels a page is wider than the window."""
    root = "document.documentElement"
    return int(page.evaluate(f"{root}.scrollWidth - {root}.clientWidth"))


def await_formulas(page: Any) -> None:
    """Until MathJax has set what is to be seen: a quiet network does not say so."""
    page.wait_for_function("window.MathJax?.startup?.promise")
    page.evaluate("MathJax.startup.promise")


@pytest.mark.parametrize("width", [390, 1280])
def test_every_kind_of_page(chromium: Any, address: str, width: int) -> None:
    window = opened(chromium, address, viewport={"width": width, "height": 900})
    wide = []
    for name in PAGES:
        page = window.open(f"/{name}.html")
        page.wait_for_load_state("networkidle")
        if page.locator("script[src*=mathjax]").count():
            await_formulas(page)
        wide += [name] if sideways(page) > 0 else []
    assert (wide, window.foreign(), window.faults) == ([], [], [])
    foreign = "http://127.0.0.1:9/none.js"
    page.set_content(f'<div style="width: 3000px">wide</div><script src="{foreign}"></script>')
    page.wait_for_load_state("networkidle")
    assert sideways(page) > 0, "the mutant is not noticed"
    assert (window.foreign(), len(window.faults)) == ([foreign], 1)


def test_search_finds_without_a_network(chromium: Any, address: str) -> None:
    window = opened(chromium, address)
    page = window.open("/search.html?q=certificate")
    page.wait_for_selector(":text('Search finished')")
    page.wait_for_load_state("networkidle")
    assert page.locator("#search-results li").count() > 5
    assert window.foreign() == []
    # Sphinx looks for summaries by an anchor with dots in it, does not find it, and says so.
    assert [fault for fault in window.faults if "Anchored content block" not in fault] == []
    page = opened(chromium, address).open("/search.html?q=zyxwvut")  # a word of no page
    page.wait_for_selector(":text('did not match any documents')")
    assert page.locator("#search-results li a").count() == 0


CUT_OFF = """
  () => [...document.querySelectorAll(".bd-article mjx-container[display=true] > mjx-math")]
    .filter((formula) => {
      const box = formula.getBoundingClientRect();
      for (let at = formula.parentElement; at.tagName !== "BODY"; at = at.parentElement) {
        const room = at.getBoundingClientRect();
        if (box.left < room.left - 1) return true;
        if (box.right > room.right + 1) return !SCROLLS.includes(getComputedStyle(at).overflowX);
      }
      return false;
    }).length
"""
"""How many displayed formulas stick out of a box that does not scroll; SCROLLS: which do."""


def cut_off(page: Any, scrolls: str) -> int:
    return int(page.evaluate(CUT_OFF.replace("SCROLLS", scrolls)))


@pytest.mark.parametrize(
    ("width", "scrolls"), [(1280, "[]"), (390, "['auto', 'scroll']")], ids=["desk", "phone"]
)
def test_formulas_are_set_and_none_is_cut_off(
    chromium: Any, address: str, width: int, scrolls: str
) -> None:
    """On a desk every displayed formula fits; on a phone it may scroll, from its left end on."""
    window = opened(chromium, address, viewport={"width": width, "height": 900})
    page = window.open("/mathematics.html")
    await_formulas(page)
    page.evaluate("MathJax.startup.document.lazyTypesetAll()")
    formulas = page.locator(".math").count()
    assert formulas > 100
    assert page.locator("mjx-container > mjx-math").count() >= formulas
    assert page.locator("mjx-merror").count() == 0
    assert window.foreign() == []
    assert cut_off(page, scrolls) == 0
    wide = "mjx-container[display=true] > mjx-math { min-width: 3000px !important }"
    page.add_style_tag(content=f"{wide} .bd-article * {{ overflow: hidden !important }}")
    displayed = page.locator(".bd-article mjx-container[display=true]").count()
    assert cut_off(page, scrolls) == displayed, "the mutant is not noticed"
    page.evaluate(r"document.body.append(MathJax.tex2chtml('\\frac{'))")
    assert page.locator("mjx-merror").count() == 1, "the mutant is not noticed"
