"""The page of a study as one file: what it shows, and that it needs nothing else."""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

import dikin
from dikin import errors
from dikin.cli import main
from dikin.service.report import write_report
from service.conftest import Show
from service.serving import shop

NAME = '</script><img src=x onerror="document.title=1">'


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report on a study with a hostile name, a holdback, limits and failures."""
    folder = tmp_path_factory.mktemp("report")
    parameters = {"price": dikin.Real(1, 14, start=4), "<b>&": dikin.Choice(["a", "b"])}
    tuner = dikin.Tuner(
        parameters,
        maximize=True,
        limits=["p99_ms <= 200"],
        holdback=0.2,
        guard=0.02,
        value_range=(300, 600),
        seed=7,
    )
    with dikin.Study(folder / "a.db", NAME, tuner) as study:
        for number in range(120):
            trial = study.ask()
            if number % 8 == 7:
                study.tell(trial, failed=True)
            else:
                value = 500 - (trial["price"] - 9) ** 2 + number % 3
                study.tell(trial, value, metrics={"p99_ms": 100.0 + number % 5})
        return write_report(study, folder / "report.html")


def test_it_needs_nothing_else(written: Path) -> None:
    text = written.read_text(encoding="utf-8")
    assert not re.findall(r'<(?:script|link|img)[^>]* (?:src|href)="(?!data:)', text)
    assert "@import" not in text
    assert text.count("<script") == text.count("</script>") == 2
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)
    assert data is not None
    content = json.loads(data[1])
    assert content["study"]["name"] == NAME
    assert len(content["rounds"]["round"]) > 80


@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (390, "dark")])
def test_in_a_browser(show: Show, written: Path, width: int, scheme: str) -> None:
    shape = {"viewport": {"width": width, "height": 900}, "color_scheme": scheme}
    window = show(written.parent.as_uri(), "/report.html", **shape)
    page = window.page
    page.get_by_role("heading", name=NAME, level=1).wait_for()
    page.locator("figure.hue-value path.line[d^=M]").wait_for(state="attached")
    said = page.evaluate("document.body.innerText")
    for words in (
        "Gain over the control",
        "may be read at any time",
        "p99_ms <= 200",
        "Failed trials",
    ):
        assert words in said
    names = page.get_by_role("table", name="Best setting").get_by_role("rowheader")
    assert names.all_inner_texts() == ["price", "<b>&", "p99_ms <= 200"]
    assert not page.get_by_role("button", name="Pause").is_visible()
    assert window.requests == [f"{written.parent.as_uri()}/report.html"]
    assert window.violations() == []
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    assert page.title() != "1"
    assert page.pdf().startswith(b"%PDF")


def test_the_command_and_what_is_no_report(tmp_path: Path) -> None:
    file = f"{tmp_path}/studies.db"
    with shop(file) as study:
        with pytest.raises(errors.StateError, match="no rounds to report"):
            write_report(study, tmp_path / "a.html")
        study.tell(study.ask(), 1.0)
        with pytest.raises(errors.ParameterError, match=r"name it \.html"):
            write_report(study, tmp_path / "a.pdf")
    assert not list(tmp_path.glob("*.html"))
    out = str(tmp_path / "shop.html")
    done = CliRunner().invoke(main, ["study", "report", "shop", "--url", file, "--out", out])
    assert done.output == f"written to {out}\n"
    assert Path(out).stat().st_size > 50_000
