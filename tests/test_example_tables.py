"""The examples with tables play and write; docs/examples.md says what the committed CSVs say."""

from __future__ import annotations

import csv
import importlib
import re
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dikin

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "examples.md"
FOLDER = ROOT / "docs" / "examples"
NAMES = ("price", "traffic", "program", "oppertune")
RUN = {
    "price": ["--rounds", "20", "40", "--games", "2"],
    "program": ["--rounds", "3", "--checks", "1", "--games", "2"],
    "oppertune": ["--rounds", "12", "--games", "2"],
}
"""Small forms; the traffic example has tests of its own."""


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(ROOT / "examples")
    yield importlib.import_module
    for name in (*NAMES, "rivals", "report", "comparison", "fleet"):
        sys.modules.pop(name, None)


def rows(file: Path) -> list[dict[str, str]]:
    with open(file, encoding="utf-8", newline="") as text:
        return list(csv.DictReader(text))


def measured(file: Path) -> list[tuple[str, ...]]:
    """Every number of a CSV as a page shows it: table, player, setting, number."""
    shown = {"least": "**{}**", "equal": "{} =", "": "{}"}
    return [
        (
            row["table"],
            row["player"],
            f"{row['setting']} ({row['games']} games)",
            shown[row["mark"]].format(f"{row['mean']} ± {row['half']}"),
        )
        for row in rows(file)
    ]


def said(page: str, name: str) -> list[tuple[str, ...]]:
    """The same from the table of a page."""
    (table,) = re.findall(rf"^\| {name}: (?:.*\n\|)*.*$", page, flags=re.M)
    head, _, *lines = (
        [cell.strip() for cell in line.strip("|").split("|")] for line in table.split("\n")
    )
    return [
        (name, player, setting, number)
        for player, *numbers in lines
        for setting, number in zip(head[1:], numbers, strict=True)
    ]


def verdicts(file: Path) -> list[str]:
    """Who is best, from the marks of a CSV, as a page says it."""
    found = rows(file)
    lines = []
    for setting in dict.fromkeys(row["setting"] for row in found):
        marked = {
            mark: [r["player"] for r in found if (r["setting"], r["mark"]) == (setting, mark)]
            for mark in ("least", "equal")
        }
        text = f"- {setting}: the least is that of {marked['least'][0]}"
        rest = f"; not distinguished from it: {', '.join(marked['equal'])}"
        lines.append(text + (rest if marked["equal"] else "") + ".")
    return lines


# --- the commands --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*RUN])
def test_a_small_run(
    example: Any,
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    module, page = example(name), tmp_path / "page.md"
    monkeypatch.setattr(module, "WORKERS", 1, raising=False)
    page.write_text(PAGE.read_text(encoding="utf-8"), encoding="utf-8")
    options = [*RUN[name], "--out", str(tmp_path / "new"), "--page", str(page)]
    monkeypatch.setattr(sys, "argv", [name, *options])
    module.main()
    text = capsys.readouterr().out
    assert f"{name}: " in text
    assert "the least is that of" in text
    assert (tmp_path / "new" / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    new = measured(tmp_path / "new" / f"{name}.csv")
    written = page.read_text(encoding="utf-8")
    assert said(written, name) == new
    lines = verdicts(tmp_path / "new" / f"{name}.csv")
    assert "\n\n" + "\n".join(lines) + "\n\n" in written + "\n"
    # What it said before is gone.
    before = PAGE.read_text(encoding="utf-8")
    assert written.count("the least is that of") - before.count("the least is that of") == len(
        lines
    ) - len(verdicts(FOLDER / f"{name}.csv"))
    committed = measured(FOLDER / f"{name}.csv")
    assert {player for _, player, *_ in new} == {player for _, player, *_ in committed}


# --- the page ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_the_table_of_the_page_is_the_committed_one(name: str) -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert said(page, name) == measured(FOLDER / f"{name}.csv"), "run make examples"
    assert "\n".join(verdicts(FOLDER / f"{name}.csv")) + "\n" in page
    assert f"examples/{name}.png" in page
    assert (FOLDER / f"{name}.png").read_bytes().startswith(b"\x89PNG")


def test_a_digit_more_in_the_page_is_noticed() -> None:
    page, numbers = PAGE.read_text(encoding="utf-8"), measured(FOLDER / "price.csv")
    wrong = page.replace(numbers[0][-1], "1" + numbers[0][-1], 1)
    assert said(wrong, "price") != numbers


# --- tables --------------------------------------------------------------------------------------


def test_marks_compare_game_by_game(example: Any) -> None:
    """b is always 1 worse than a; c differs from a by 1, 0 and -0.9: no interval without 0."""
    a = np.array([1.0, 5.0, 9.0])
    values = {"a": a, "b": a + 1, "c": a + np.array([1.0, 0.0, -0.9]), "oracle": a - 3}
    table = example("report").Results(
        "test", "numbers", {k: {"s": v} for k, v in values.items()}, reference="oracle"
    )
    marks = {cell.player: cell.mark for cell in table.cells()}
    assert marks == {"a": "least", "b": "", "c": "equal", "oracle": ""}
    assert list(table.verdicts()) == ["s: the least is that of a; not distinguished from it: c."]


def test_a_page_without_the_table_is_refused(example: Any, tmp_path: Path) -> None:
    report, page = example("report"), tmp_path / "page.md"
    page.write_text("| other: numbers | s |\n| --- | --- |\n", encoding="utf-8")
    table = report.Results("test", "numbers", {"a": {"s": np.array([1.0, 2.0])}})
    with pytest.raises(SystemExit, match="no table that begins with"):
        report.write_page([table.block()], page)


# --- rivals --------------------------------------------------------------------------------------

BOWL = {"x": dikin.Real(0, 10, start=2), "y": dikin.Real(1, 100, start=50, log=True)}


def bowl(point: Any) -> float:
    """Least at (7, 10), which is (0.7, 0.5) on the cube; 1 plus the squared distance there."""
    x, y = point[0] / 10, np.log(point[1]) / np.log(100)
    return 1 + (x - 0.7) ** 2 + (y - 0.5) ** 2


@pytest.mark.parametrize("name", ["Bluefin", "NoiseHandlingCMA", "PyCMA", "TBPSA", "TPE"])
@pytest.mark.parametrize("maximize", [False, True])
def test_rivals_learn_also_from_late_answers(example: Any, name: str, maximize: bool) -> None:
    sign = -1 if maximize else 1
    rival = getattr(example("rivals"), name)(BOWL, maximize, 1)
    for _ in range(40):
        trials = [rival.ask() for _ in range(4)]
        for trial in reversed(trials):
            assert 0 <= trial.params["x"] <= 10
            assert 1 <= trial.params["y"] <= 100
            rival.tell(trial, sign * bowl(trial.point))
    best = [rival.best["x"], rival.best["y"]]
    assert bowl(best) - 1 < 0.25 * (bowl([2, 50]) - 1)


@pytest.mark.parametrize("name", ["Bluefin", "PyCMA", "TBPSA", "Today"])
def test_rivals_begin_at_todays_setting(example: Any, name: str) -> None:
    for parameters in (BOWL, {"s": dikin.Shares(["a", "b", "c"], start=[0.5, 0.3, 0.2])}):
        rival = getattr(example("rivals"), name)(parameters, False, 1)
        assert rival._values(rival._recommended()) == pytest.approx(rival.space.start_values)


def test_bluefin_from_the_middle_is_that_of_the_library(example: Any) -> None:
    rivals = example("rivals")
    ours, own = (
        rivals._Bluefin(np.full(2, 0.5), 3),
        dikin.Bluefin(dikin.Box([0, 0], [1, 1]), seed=3),
    )
    for _ in range(20):
        one, two = ours.ask(), own.ask()
        assert one.point == pytest.approx(two.point)
        for learner, query in ((ours, one), (own, two)):
            learner.tell(query, float(((query.point - 0.7) ** 2).sum()))


def test_the_nearest_shares(example: Any) -> None:
    """By the variational inequality: (z - p)(q - p) <= 0 for every q, and so for every corner."""
    generator = np.random.default_rng(1)
    for z in generator.normal(0.3, 0.6, size=(100, 4)):
        p = example("rivals").nearest_shares(z)
        assert p.min() >= 0
        assert p.sum() == pytest.approx(1)
        assert ((z - p) @ (np.eye(4) - p).T <= 1e-12).all()


def test_far_outside_costs_more(example: Any) -> None:
    """The squared distance to what was played, in units of the first loss."""
    rivals, told = example("rivals"), []

    class Far(rivals.Today):
        def _next(self) -> Any:
            return None, np.array([1.0, 1.0])

        def _values(self, z: Any) -> Any:
            return rivals.nearest_shares(z)

        def _learn(self, candidate: Any, loss: float) -> None:
            told.append(loss)

    player = Far({"s": dikin.Shares(["a", "b"])}, False, 1)
    for value in (4.0, 7.0):
        player.tell(player.ask(), value)
    assert told == pytest.approx([4 + 4 * 0.5, 7 + 4 * 0.5])


# --- price ---------------------------------------------------------------------------------------


def test_no_setting_beats_the_best_of_a_round(example: Any) -> None:
    market = example("price").Market(5000)
    generator = np.random.default_rng(1)
    for round in (0, 100, 140, 2499, 2500, 4999):
        price, ads = market.best(round)
        assert 1 < price < 14
        assert 0 < ads < 60
        top = market.revenue(round, price, ads)
        others = generator.uniform([1, 0], [14, 60], size=(200, 2)).tolist()
        near = [[price + dp, ads + da] for dp in (-0.01, 0, 0.01) for da in (-0.1, 0, 0.1)]
        assert all(market.revenue(round, *other) <= top for other in others + near)


def test_revenue_is_concave(example: Any) -> None:
    """On segments between any two settings of the ranges, corners included."""
    market, generator = example("price").Market(1000), np.random.default_rng(2)
    ends = generator.uniform([1, 0], [14, 60], size=(300, 2, 2))
    ends[:50, 0] = [1, 60]  # where least is to spare
    for round in range(0, 1000, 24):
        for one, two in ends:
            middle = market.revenue(round, *((one + two) / 2))
            chord = (market.revenue(round, *one) + market.revenue(round, *two)) / 2
            assert middle >= chord - 1e-9 * abs(chord)


def test_the_market_changes_as_it_is_said(example: Any) -> None:
    price = example("price")
    market = price.Market(10_000)
    before, after = (market.best(round)[0] for round in (4999, 5000))
    assert after < 0.75 * before
    assert market.best(4999)[0] > 1.1 * market.best(0)[0]  # 4999 and 0 may be other days
    days = [market.revenue(24 * day, 7, 30) for day in range(8)]
    assert max(days) > 1.2 * min(days)
    assert days[7] == pytest.approx(days[0], rel=0.02)  # but for the drift


# --- the others ----------------------------------------------------------------------------------


def test_what_is_compressed_can_be_read_again(example: Any) -> None:
    program = example("program")
    text = program.corpus()
    block = program.block_of(text, np.random.default_rng(1))
    assert len(block) == program.BLOCK
    params = {
        "level": 6, "window_bits": 12, "memory_level": 3, "chunk_kib": 30.5,
        "dictionary_kib": 4.2, "threads": 3,
    }  # fmt: skip
    whole = b""
    for chunk in program.compressed(block, params):
        known = whole[-int(4.2 * 1024) :]
        options = {"zdict": known} if known else {}
        whole += zlib.decompressobj(-12, **options).decompress(chunk)
    assert whole == block
    sizes = sum(map(len, program.compressed(block, params)))
    # 100 Mbit/s are 12 500 bytes in a millisecond.
    assert program.milliseconds(block, params) > sizes / 12_500


def test_the_problems_of_oppertune(example: Any) -> None:
    problems = example("oppertune").PROBLEMS
    five, two = problems["5 settings"], problems["2 settings"]
    assert five.loss(five.best) == two.loss(two.best) == 0
    # 40, 30, 40, 50, 70; 200 and 400.
    assert five.loss(five.start) == pytest.approx((1600 + 900 + 1600 + 2500 + 4900) / 1e4)
    assert two.loss(two.start) == pytest.approx(0.6)
    assert [side.low for side in five.parameters().values()] == [1] * 5
    assert [side.high for side in two.parameters().values()] == [1000] * 2
