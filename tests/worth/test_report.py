"""The report on a study: one page with what it should say, whatever the names are."""

import re
from datetime import datetime
from html.parser import HTMLParser

import numpy as np
import pytest

import dikin
from dikin.errors import ParameterError, StateError
from dikin.plotting.panels import number_text
from dikin.studies.report import ticks
from service.browser import Window, browser
from studies.small import sharing

VOID = {"meta", "path"}


class Page(HTMLParser):
    """Checks that every element is closed, and keeps the text."""

    def __init__(self, page):
        super().__init__()
        self.open, self.text, self.tags = [], [], []
        self.feed(page)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        if self.open and self.open[-1] != "style":
            self.text.append(data)

    @property
    def words(self):
        return " ".join(" ".join(self.text).split())


def revenue(trial, noise):
    return 500.0 - 2 * (trial["price"] - 9) ** 2 + 5 * noise


def harmful(trial, noise):
    return (500.0 if trial.held_back else 300.0) + noise


def study_of(folder, rounds, value=revenue, name="shop", **more):
    parameters = {"price": dikin.Real(1, 14, start=4), "<b>&": dikin.Integer(1, 9)}
    tuner = dikin.Tuner(parameters, maximize=True, seed=7, **more)
    study = sharing(folder / "studies.db", name, tuner, seconds=0.3)
    rng = np.random.default_rng(1)
    for _ in range(rounds):
        trial = study.ask()
        study.tell(trial, value(trial, rng.standard_normal()))
    return study


def page_of(study, folder):
    file = study.report(folder / "report.html")
    return file.read_text(encoding="utf-8")


def test_every_context_has_its_setting(tmp_path):
    tuner = dikin.Tuner(
        {"price": dikin.Real(1, 14, start=4)}, seed=7, context={"<i>": ["eu", "us", "a&b"]}
    )
    with dikin.Study(tmp_path / "a.db", "shop", tuner) as study:
        study.tell(study.ask({"<i>": "us"}), 3.0)
        words, best = Page(page_of(study, tmp_path)).words, study.status().by_context
    assert "Best now, in the mean of contexts" in words
    for label in ("eu", "us", "a&b"):  # mutant: a report that has the mean alone
        assert f"{label} price {best[label]['price']:.5g}" in words


def test_the_page_says_what_it_should(tmp_path):
    with study_of(
        tmp_path, 300, holdback=0.2, guard=0.02, value_range=(0, 999), name="<i>&"
    ) as study:
        text = page_of(study, tmp_path)
        page, uplift, status = Page(text), study.uplift, study.status()
    assert f"{uplift.mean_percent:+.1f}"[:3] in page.words
    for word in ("control", "at any time", "held back", "Guard", "How to read it"):
        assert word.lower() in page.words.lower()
    assert "<i>" not in text  # names are text
    assert "<b>" not in text
    assert "<i>&" in page.words
    assert f"{uplift.tuned_rounds:,} tuned rounds" in page.words
    assert f"{status.best['price']:.5g}" in page.words
    assert str(datetime.now().year) in page.words
    assert page.words.count("never paused") == 1
    mean = number_text(status.best_value[0])
    assert f"expected value of the best setting is {mean}" in page.words


def test_the_page_needs_nothing_else(tmp_path):
    with study_of(tmp_path, 160, holdback=0.2, value_range=(-999, 999)) as study:
        text = page_of(study, tmp_path)
    assert not re.search(r"https?:|src=|href=|@import|url\(|<script", text)
    assert "prefers-color-scheme: dark" in text
    assert "@media print" in text
    images = [attrs for tag, attrs in Page(text).tags if tag == "svg"]
    assert [image["class"] for image in images] == 3 * ["wide", "narrow"]
    assert all(image["role"] == "img" and image["aria-label"] for image in images)
    assert "nan" not in re.sub(r"<style>.*</style>", "", text, flags=re.S).lower()


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_in_a_browser_it_asks_for_nothing_and_everybody_can_read_it(tmp_path, width, scheme):
    with study_of(tmp_path, 160, holdback=0.2, guard=0.02, value_range=(-999, 999)) as study:
        page_of(study, tmp_path)
    with browser() as chromium:
        shape = {"viewport": {"width": width, "height": 800}, "color_scheme": scheme}
        window = Window(chromium, tmp_path.as_uri(), **shape)
        page = window.open("/report.html")
        assert window.requests == [f"{tmp_path.as_uri()}/report.html"]
        assert window.faults == []
        assert window.violations() == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        smallest = "Math.min(...[...document.querySelectorAll('svg')].filter(e => e.clientWidth)"
        shown = page.evaluate(smallest + ".map(e => e.clientWidth / e.viewBox.baseVal.width))")
        assert shown > 0.9  # mutant: the wide picture on a phone, whose numbers nobody can read
        assert page.pdf().startswith(b"%PDF")


def test_pictures_stay_within_their_frames(tmp_path):
    with study_of(tmp_path, 300, holdback=0.2, value_range=(-999, 999)) as study:
        text = page_of(study, tmp_path)
    found = re.findall(r'<svg class="\w+" viewBox="0 0 (\d+) (\d+)".*?</svg>', text)
    pictures = re.findall(r"<svg.*?</svg>", text)
    assert len(pictures) == len(found) == 6
    for (width, height), picture in zip(found, pictures, strict=True):
        lines = re.findall(r'class="(?:line|band)" d="M([^"Z]*)', picture)
        assert lines
        for line in lines:
            points = [tuple(map(float, point.split())) for point in line.split("L")]
            assert len(points) > 50
            assert all(0 <= x <= int(width) and 0 <= y <= int(height) for x, y in points)


@pytest.mark.parametrize(("around", "sign"), [(500.0, "%"), (0.0, "")], ids=["percent", "none"])
def test_the_figure_has_the_unit_of_the_gain(tmp_path, around, sign):
    """In per cent, unless the control may be worth nothing."""
    with study_of(
        tmp_path, 160, lambda t, noise: around + noise, holdback=0.2, value_range=(-999, 999)
    ) as study:
        figure = study.plot(tmp_path / "study.png")
    (panel,) = [axes for axes in figure.axes if "interval" in axes.get_legend_handles_labels()[1]]
    figure.canvas.draw()
    assert {label.get_text()[-1:] == "%" for label in panel.get_yticklabels()} == {bool(sign)}


def test_when_the_guard_holds_that_comes_first(tmp_path):
    with study_of(tmp_path, 400, harmful, holdback=0.2, guard=0.02) as study:
        page, reason = Page(page_of(study, tmp_path)), study.status().guard_reason
        assert reason
        assert page.words.index(reason) < page.words.index("What tuning gains")
        assert "Paused in the rounds" in page.words
        study.resume()
        assert study.status().guard_reason is None
        assert not study.paused


def test_failures_and_limits_are_on_the_page(tmp_path):
    tuner = dikin.Tuner({"price": dikin.Real(1, 14)}, limits=["p99_ms <= 200 "], seed=7)
    with dikin.Study(tmp_path / "a.db", "shop", tuner) as study:
        for number in range(12):
            trial = study.ask()
            if number % 4:
                study.tell(trial, trial["price"], metrics={"p99_ms": 100.0})
            else:
                study.tell(trial, failed=True)
        words = Page(page_of(study, tmp_path)).words
    assert "3 trials failed" in words
    assert "keep p99_ms <= 200" in words


@pytest.mark.parametrize(("rounds", "more"), [(5, {}), (5, {"holdback": 0.1}), (1, {})])
def test_little_is_known(tmp_path, rounds, more):
    with study_of(tmp_path, rounds, **more) as study:
        page = Page(page_of(study, tmp_path))
    assert "not known" in page.words.lower()


def test_what_is_no_report(tmp_path):
    with study_of(tmp_path, 0) as study:
        with pytest.raises(StateError, match="no rounds to report"):
            study.report(tmp_path / "a.html")
        with pytest.raises(ParameterError, match=r"name it \.html"):
            study.report(tmp_path / "a.pdf")
    assert not list(tmp_path.glob("*.html"))


@pytest.mark.parametrize(
    ("low", "high", "count", "wanted"),
    [
        (0, 10, 3, [0, 5, 10]),
        (-3, 3, 3, [-2, 0, 2]),
        (0.01, 0.04, 3, [0.01, 0.02, 0.03, 0.04]),
        (5, 5, 3, [5]),
        (4.5, 9.5, 2, [6, 8]),  # mutant: steps of 5, and so 5 alone, which is no scale
    ],
)
def test_ticks_are_round_numbers(low, high, count, wanted):
    assert ticks(low, high, count) == wanted
