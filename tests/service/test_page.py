"""The page, in a real browser."""

import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest

import dikin
from dikin.service.tokens import TokenStore
from service.browser import Window
from service.conftest import Show
from service.serving import Serving, revenue, shop
from studies.conftest import new_file


@pytest.fixture(scope="module")
def live(chromium: Any) -> Iterator[Serving]:
    """A service with some studies; the browser first, as without one nothing else is started."""
    with new_file() as store, Serving(store) as running:
        shop(store, rounds=150).close()
        shop(store, 'a/b <b>"ö', rounds=3).close()
        yield running


SIZES = {"wall": (1920, 1080), "desk": (1280, 800), "phone": (390, 844)}


@pytest.mark.parametrize(
    ("path", "size", "scheme"),
    [
        ("/", "wall", "dark"),
        ("/", "phone", "light"),
        ("/#/study/shop", "desk", "light"),
        ("/#/study/shop", "phone", "dark"),
    ],
)
def test_it_loads_and_everybody_can_read_it(
    show: Show, live: Serving, size: str, scheme: str, path: str
) -> None:
    width, height = SIZES[size]
    shape = {"viewport": {"width": width, "height": height}, "color_scheme": scheme}
    window = show(live.url, path, **shape)
    page = window.page
    page.get_by_text("150").first.wait_for(timeout=120_000)
    page.get_by_role("heading", level=1).wait_for()
    assert window.violations() == []
    wider = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert wider <= 0, "the page is wider than the screen"
    assert window.foreign() == []


def test_every_study_at_a_glance(show: Show, live: Serving) -> None:
    page = show(live.url).page
    page.get_by_role("link", name="shop").first.wait_for()
    assert page.get_by_text('a/b <b>"ö').first.is_visible()
    page.get_by_role("link", name="shop").first.press("Enter")
    page.get_by_role("heading", name="shop", level=1).wait_for()
    assert page.url.endswith("#/study/shop")
    page.go_back()
    page.get_by_role("link", name="a/b").first.click()
    page.get_by_role("heading", name='a/b <b>"ö', level=1).wait_for()


def test_an_address_that_names_no_study_leads_to_the_list(show: Show, live: Serving) -> None:
    window = show(live.url, "/#/study/%E0%A4%A")
    window.page.get_by_text("%E0%A4%A, which is not the encoded name").wait_for()
    assert window.violations() == []
    window.page.get_by_role("link", name="All studies").click()
    window.page.get_by_role("link", name="shop").first.wait_for()


def test_a_live_update_arrives(show: Show, live: Serving) -> None:
    with dikin.Study(live.url, "shop") as study:
        late = study.ask()
        page = show(live.url, "/#/study/shop").page
        page.get_by_text("150").first.wait_for()
        page.get_by_role("rowheader", name=str(late.id), exact=True).wait_for(timeout=120_000)
        for _ in range(7):
            trial = study.ask()
            study.tell(trial, revenue(trial))
        page.get_by_text("157").first.wait_for(timeout=120_000)
        study.forget(late)


def test_the_settings_of_each_context(show: Show, live: Serving) -> None:
    tuner = dikin.Tuner({"price": dikin.Real(1, 14)}, context={"region": ["eu", "us"]}, seed=1)
    with dikin.Study(live.url, "fleet", tuner) as study:
        for t in range(4):
            study.tell(study.ask(context={"region": ("eu", "us")[t % 2]}), float(t))
    window = show(live.url, "/#/study/fleet")
    page = window.page
    page.get_by_role("heading", name="Settings by context").wait_for(timeout=120_000)
    table = page.get_by_role("table", name="Settings by context")
    assert table.get_by_role("rowheader").all_inner_texts() == ["eu", "us"]
    assert table.get_by_role("cell").first.inner_text().startswith("price ")
    assert window.violations() == []
    other = show(live.url, "/#/study/shop").page
    other.get_by_text("150").first.wait_for(timeout=120_000)
    assert not other.get_by_role("heading", name="Settings by context").is_visible()


def test_the_cursor_reads_one_round(show: Show, live: Serving) -> None:
    """By keys, in all charts at once; and with the time of the place where the reader is."""
    page = show(live.url, "/#/study/shop", timezone_id="Asia/Kolkata").page
    chart = page.get_by_role("slider", name="Cursor in Value")
    chart.press("Home")
    page.get_by_text("Round 1 at").wait_for()
    assert page.evaluate("new Date().getTimezoneOffset()") == -330
    chart.press("ArrowRight")
    page.get_by_text("Round 2 at").wait_for()
    assert "value" in str(chart.get_attribute("aria-valuetext"))
    chart.press("Escape")
    page.get_by_text("Point at a chart").wait_for()


def test_pause_and_resume(show: Show, live: Serving) -> None:
    page = show(live.url, "/#/study/shop").page
    with dikin.Study(live.url, "shop") as study:
        page.once("dialog", lambda question: question.dismiss())
        page.get_by_role("button", name="Pause").click()
        assert not study.paused
        page.on("dialog", lambda question: question.accept())
        page.get_by_role("button", name="Pause").click()
        page.get_by_text("paused").first.wait_for()
        assert study.paused
        page.get_by_role("button", name="Resume").click()
        page.get_by_role("button", name="Pause").wait_for()
        assert not study.paused


def test_tokens(chromium: Any) -> None:
    with new_file() as store, Serving(store) as running:
        shop(store, rounds=5).close()
        read = TokenStore(store).create("wall", "read")
        window = Window(chromium, running.url)
        while running.send("GET", "/v1/token").status != 401:
            pass  # a token that was just made is asked for within two seconds
        page = window.open("/#/study/shop")
        field = page.get_by_label("Token")
        field.fill("dikin_wrong_one")
        field.press("Enter")
        page.get_by_text("not known to this service").wait_for()
        field.fill(read)
        field.press("Enter")
        page.get_by_role("heading", name="shop", level=1).wait_for()
        assert page.get_by_role("button", name="Pause").is_disabled()
        # Chromium itself logs an answer of 401; the page logs nothing.
        assert all("401" in text for text in window.faults)
        assert read not in page.content()
        assert not any(read in url for url in window.requests)
        page.get_by_role("button", name="Sign out").click()
        page.get_by_label("Token").wait_for()
        assert page.evaluate("sessionStorage.length + localStorage.length") == 0
        page.close()


def test_it_says_that_the_service_is_away_and_comes_back(chromium: Any) -> None:
    with new_file() as store, Serving(store) as running:
        shop(store, rounds=5).close()
        window = Window(chromium, running.url)
        page = window.open("/#/study/shop")
        page.get_by_text("live", exact=True).wait_for()
        running.kill()
        page.get_by_text("econnecting").first.wait_for(timeout=120_000)
        threading.Timer(0.1, running.start).start()
        page.get_by_text("live", exact=True).wait_for(timeout=120_000)
        with dikin.Study(running.url, "shop") as study:
            study.tell(study.ask(), 400.0)
        page.get_by_text("6", exact=True).first.wait_for()
        page.close()


def test_a_value_far_off_is_marked_and_flattens_no_other(show: Show) -> None:
    with new_file() as store, Serving(store) as running:
        with shop(store, rounds=30) as study:
            for value in (1e6, -1e9):
                study.tell(study.ask(), value)
        page = show(running.url, "/#/study/shop").page
        chart = page.locator("figure.hue-value")
        note = "mean of 30 without 2 far off, each value."
        chart.get_by_text(note).wait_for()
        scale = page.locator("figure.hue-value .labels text[text-anchor=end]")
        scale.first.wait_for()
        numbers = [float(each.strip("\N{MINUS SIGN}")) for each in scale.all_text_contents()]
        assert max(numbers) < 2000, numbers
        with dikin.Study(running.url, "shop") as study:
            left_out = study.summary().left_out
        number = page.locator(".number", has_text="Values left out")
        number.get_by_text(str(left_out), exact=True).wait_for()
        number.get_by_text("of 32, in whole or in part: they look like faults").wait_for()
        assert chart.locator("path.dots").get_attribute("d").count("M") == 32
        page.close()


def test_the_best_setting_limits_and_failures(show: Show, live: Serving) -> None:
    """With the words of a choice, the interval of a number, and what is left to a metric."""
    parameters = {"codec": dikin.Choice(["lz4", "zstd"]), "pool": dikin.Integer(1, 1000, log=True)}
    tuner = dikin.Tuner(parameters, limits=["p99_ms <= 200"], seed=3)
    with dikin.Study(live.url, "server", tuner) as study:
        for number in range(40):
            trial = study.ask()
            if number % 8 == 7:
                study.tell(trial, failed=True)
                continue
            cost = 10 * (trial["codec"] == "lz4") + abs(trial["pool"] - 50) / 50 + number % 2
            study.tell(trial, cost, metrics={"p99_ms": 150 + number % 3})
        found, status = study.recommend(), study.status()
    window = show(live.url, "/#/study/server")
    page = window.page
    page.locator(".number", has_text="Failed trials").get_by_text("5", exact=True).wait_for()
    page.get_by_text("smaller is better, p99_ms <= 200").wait_for()
    table = page.get_by_role("table", name="Best setting")
    table.get_by_role("rowheader").first.wait_for()
    names = table.get_by_role("rowheader").all_inner_texts()
    assert names == ["codec", "pool", "p99_ms <= 200"]
    cells = [row.get_by_role("cell").all_inner_texts() for row in table.get_by_role("row").all()]
    assert cells[1][1] == found.params["codec"]
    assert cells[2][:2] == ["32", f"{found.params['pool']:,}"]
    assert float(cells[3][1]) == pytest.approx(found.limits["p99_ms <= 200"].mean, abs=0.1)
    assert cells[3][3] == ""
    assert status.best_value is not None
    expected = page.locator(".number", has_text="Expected value").locator(".number-value")
    width = status.best_value[2] - status.best_value[1]
    shown = float(expected.inner_text().replace("\N{MINUS SIGN}", "-"))
    assert shown == pytest.approx(status.best_value[0], abs=width / 10)
    crosses = page.locator("figure.hue-value path.failed").get_attribute("d")
    assert crosses.count("M") == 5
    ticks = page.locator("figure", has_text="codec").locator(".labels text[text-anchor=end]")
    assert ticks.all_text_contents() == ["lz4", "zstd"]
    assert window.violations() == []
    path = "/v1/studies/server/page"
    seen = live.send("GET", path).content
    seen["recommendation"]["broken"] = ["p99_ms <= 200"]
    page.route("**/page?*", lambda route: route.fulfill(body=json.dumps(seen)))
    with dikin.Study(live.url, "server") as study:
        study.ask()
    table.get_by_text("no setting is known to keep it").wait_for()


def worth(store: str, name: str, gain: float, **more: Any) -> dikin.Study:
    """A study in which a tuned round earns so much more than the control, which earns 100."""
    price = {"price": dikin.Real(1, 14, start=4)}
    tuner = dikin.Tuner(
        price, maximize=True, seed=7, holdback=0.3, guard=0.02, value_range=(0, 200), **more
    )
    found = dikin.Study(store, name, tuner)
    for i in range(150):
        trial = found.ask({"region": ["eu", "us"][i % 2]} if more else None)
        found.tell(trial, 100.0 + i % 3 + (0.0 if trial.held_back else gain))
    return found


@pytest.fixture(scope="module")
def compared(chromium: Any) -> Iterator[Serving]:
    """A service with a study that pays and one that harms."""
    with new_file() as store, Serving(store) as running:
        worth(store, "pays", 10.0, context={"region": ["eu", "us"]}).close()
        worth(store, "harms", -10.0).close()
        yield running


@pytest.mark.parametrize(("width", "scheme"), [(1440, "dark"), (390, "light")])
def test_the_gain_is_the_first_number(
    show: Show, compared: Serving, width: int, scheme: str
) -> None:
    shape = {"viewport": {"width": width, "height": 900}, "color_scheme": scheme}
    window = show(compared.url, "/#/study/pays", **shape)
    page = window.page
    page.get_by_text("may be read at any time").first.wait_for(timeout=120_000)
    first = page.evaluate("document.body.innerText")
    assert first.index("Gain over the control") < first.index("Rounds")
    assert "held back" in first
    assert window.violations() == []
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0


def test_a_guard_that_holds_is_said_with_its_reason(show: Show, compared: Serving) -> None:
    page = show(compared.url, "/#/study/harms").page
    page.get_by_text("held by the guard").first.wait_for(timeout=120_000)
    assert "surely by more than 2 %" in page.evaluate("document.body.innerText")
