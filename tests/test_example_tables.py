"""The examples with tables play and write; docs/examples.md says what the committed CSVs say."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import dikin
from csv_rows import rows

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
REFERENCES = {"traffic": "told the capacities"}
"""The player of a table that is compared with nobody."""


def block(report: Any, file: Path) -> Any:
    """The table and the sentences that the games of a CSV make."""
    (found,) = report.read_results(file, REFERENCES.get(file.stem))
    return found.block()


def measured(report: Any, file: Path) -> list[tuple[str, ...]]:
    """Every number of a CSV as a page shows it: table, player, setting, number."""
    if is_old(file):
        return old_numbers(file)
    made = block(report, file)
    return [
        (made.name, player, setting, number)
        for player, *numbers in made.rows
        for setting, number in zip(made.head[1:], numbers, strict=True)
    ]


def verdicts(report: Any, file: Path) -> list[str]:
    """What a page says below the table."""
    return [
        f"- {note}" for note in (old_notes(file) if is_old(file) else block(report, file).notes)
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


# One table was measured before games were kept (docs/adapters), and stands on its page as it was.

OLD = 'In this table "=" stands for players that are not distinguished from the least'
"""What a page says of such a table."""


def is_old(file: Path) -> bool:
    """Whether a CSV has means instead of games."""
    return "mean" in rows(file)[0]


def old_numbers(file: Path) -> list[tuple[str, ...]]:
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


def old_notes(file: Path) -> list[str]:
    found = rows(file)
    notes = []
    for setting in dict.fromkeys(row["setting"] for row in found):
        marked = {
            mark: [r["player"] for r in found if (r["setting"], r["mark"]) == (setting, mark)]
            for mark in ("least", "equal")
        }
        rest = f" Not distinguished from it: {', '.join(marked['equal'])}."
        text = f"{setting}: the smallest is that of {marked['least'][0]}."
        notes.append(text + (rest if marked["equal"] else ""))
    return notes


def section(page: str, name: str) -> str:
    """What stands between the headings around a table."""
    (found,) = (part for part in re.split(r"^## ", page, flags=re.M) if f"\n| {name}: " in part)
    return found


# --- the commands --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*RUN])
def test_a_small_run(
    scripts: Any,
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    module, page = scripts(name), tmp_path / "page.md"
    monkeypatch.setattr(module, "WORKERS", 1, raising=False)
    page.write_text(PAGE.read_text(encoding="utf-8"), encoding="utf-8")
    options = [*RUN[name], "--out", str(tmp_path / "new"), "--page", str(page)]
    monkeypatch.setattr(sys, "argv", [name, *options])
    module.main()
    text = capsys.readouterr().out
    assert f"{name}: " in text
    assert "the smallest is that of" in text
    assert (tmp_path / "new" / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    report, file = scripts("report"), tmp_path / "new" / f"{name}.csv"
    new = measured(report, file)
    written = page.read_text(encoding="utf-8")
    assert said(written, name) == new
    lines = verdicts(report, file)
    assert "\n\n" + "\n".join(lines) + "\n\n" in written + "\n"
    # What it said before is gone.
    before = PAGE.read_text(encoding="utf-8")
    assert written.count("the smallest is that of") - before.count(
        "the smallest is that of"
    ) == len(lines) - len(verdicts(report, FOLDER / f"{name}.csv"))
    committed = measured(report, FOLDER / f"{name}.csv")
    assert {player for _, player, *_ in new} == {player for _, player, *_ in committed}
    assert {row["game"] for row in rows(file)} == {"1", "2"}


# --- the page ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_the_table_of_the_page_is_the_committed_one(scripts: Any, name: str) -> None:
    page, report, file = PAGE.read_text(encoding="utf-8"), scripts("report"), FOLDER / f"{name}.csv"
    assert said(page, name) == measured(report, file), "run make examples"
    assert "\n".join(verdicts(report, file)) + "\n" in page
    assert f"examples/{name}.png" in page
    assert (FOLDER / f"{name}.png").read_bytes().startswith(b"\x89PNG")


# --- tables --------------------------------------------------------------------------------------


LEVEL_GAMES = np.array([1.0, 5.0, 9.0, 5.0])
PLAYERS = {
    "a": LEVEL_GAMES,
    "near": LEVEL_GAMES + np.array([0.2, -0.1, 0.0, 0.1]),
    "far": LEVEL_GAMES + np.array([1.0, 1.1, 0.9, 1.0]),
    "noisy": LEVEL_GAMES + np.array([9.0, -4.0, 8.0, -3.0]),
    "oracle": LEVEL_GAMES - 0.9,
}
"""Beside the first: 1 % more, and 20 %, both surely so; half as much again, and who knows."""


def results(scripts: Any, players: dict[str, Any], **how: Any) -> Any:
    values = {name: {"s": games} for name, games in players.items()}
    return scripts("report").Results("test", "numbers", values, **how)


def marks(table: Any) -> list[str]:
    """The cells of a column, with m in the place of their numbers."""
    return [re.sub(r"[\d.-]+ ± [\d.]+", "m", cell.replace("**", "!")) for _, cell in table.rows()]


def test_marks_are_those_of_the_one_rule(scripts: Any) -> None:
    table = results(scripts, PLAYERS, reference="oracle")
    assert table.rows()[0] == ["a", "**5.00 ± 5.20**"]
    assert marks(table) == ["!m!", "m =", "m", "m ?", "m"]
    # Who knows what others must find would be the best otherwise, and everyone else behind.
    assert marks(results(scripts, PLAYERS)) == ["m", "m", "m", "m ?", "!m!"]


def test_the_correction_is_for_all_comparisons_of_a_table(scripts: Any) -> None:
    """A player that is behind in a table of its own is open beside many that are level."""
    chance = np.random.default_rng(4)
    pair = {"a": np.full(6, 5.0), "b": np.array([5.1, 6.5, 5.2, 6.3, 5.3, 6.0])}
    assert marks(results(scripts, pair)) == ["!m!", "m"]
    more = {f"c{i}": 5.1 + 0.3 * chance.standard_normal(6) for i in range(8)}
    assert marks(results(scripts, pair | more))[1] == "m ?"


def test_verdicts_have_a_ratio_with_its_interval(scripts: Any) -> None:
    """That of "far" by hand: 6/5, and the interval of what each game adds to its logarithm."""
    table = results(scripts, PLAYERS, reference="oracle")
    away = PLAYERS["far"] / 6.0 - PLAYERS["a"] / 5.0
    half = stats.t.ppf(0.975, 3) * away.std(ddof=1) / 2
    low, high = (1.2 * np.exp(sign * half) for sign in (-1, 1))
    (line,) = table.verdicts()
    begin, level, open_, behind = re.split(r"(?<=[a)])\. ", line)
    assert begin == "s: the smallest is that of a"
    assert re.fullmatch(r"Level: near 1\.01 \(0\.9\d to 1\.0\d\)", level)
    assert open_.startswith("Open: noisy 1.50 (")
    assert behind == f"Behind: far 1.20 ({low:.2f} to {high:.2f})."
    assert [*results(scripts, {"a": LEVEL_GAMES}).verdicts()] == ["s: the smallest is that of a."]


def test_every_game_is_in_the_csv_and_makes_the_same_table(scripts: Any, tmp_path: Path) -> None:
    report, file = scripts("report"), tmp_path / "test.csv"
    table = results(scripts, PLAYERS, first=101, reference="oracle")
    report.publish(table, tmp_path, None)
    found = rows(file)
    assert len(found) == 4 * len(PLAYERS)
    assert found[5] == {
        "table": "test",
        "setting": "s",
        "player": "near",
        "game": "102",
        "value": "4.9",
    }
    (again,) = report.read_results(file, "oracle")
    assert (again.rows(), [*again.verdicts()]) == (table.rows(), [*table.verdicts()])
    assert again.first == 101
    # A game that is missing would change the table.
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    file.write_text("".join(lines[:-1]), encoding="utf-8")
    assert report.read_results(file, "oracle")[0].rows() != table.rows()


def test_a_table_is_replaced_where_it_stands(scripts: Any, tmp_path: Path) -> None:
    """With or without sentences below it, as often as one likes; what is around it stays."""
    report, page = scripts("report"), tmp_path / "page.md"
    before, after = (
        "# Title\n\n- a list\n\n",
        "\nText.\n\n| other: x | s |\n| --- | --- |\n| a | 1 |\n",
    )
    page.write_text(f"{before}| test: old | s |\n| --- | --- |\n{after}", encoding="utf-8")
    table = results(scripts, PLAYERS, reference="oracle").block()
    for shown in (table, table, table._replace(notes=[]), table._replace(notes=[]), table):
        report.write_page([shown], page)
        assert page.read_text(encoding="utf-8") == before + shown.markdown() + after
    assert table.notes[0] in page.read_text(encoding="utf-8")


# --- rivals --------------------------------------------------------------------------------------

BOWL = {"x": dikin.Real(0, 10, start=2), "y": dikin.Real(1, 100, start=50, log=True)}


def bowl(point: Any) -> float:
    """Least at (7, 10), which is (0.7, 0.5) on the cube; 1 plus the squared distance there."""
    x, y = point[0] / 10, np.log(point[1]) / np.log(100)
    return 1 + (x - 0.7) ** 2 + (y - 0.5) ** 2


@pytest.mark.parametrize("name", ["Bluefin", "NoiseHandlingCMA", "PyCMA", "TBPSA", "TPE"])
@pytest.mark.parametrize("maximize", [False, True])
def test_rivals_learn_also_from_late_answers(scripts: Any, name: str, maximize: bool) -> None:
    sign = -1 if maximize else 1
    rival = getattr(scripts("rivals"), name)(BOWL, maximize, 1)
    for _ in range(40):
        trials = [rival.ask() for _ in range(4)]
        for trial in reversed(trials):
            assert 0 <= trial.params["x"] <= 10
            assert 1 <= trial.params["y"] <= 100
            rival.tell(trial, sign * bowl(trial.point))
    best = [rival.best["x"], rival.best["y"]]
    assert bowl(best) - 1 < 0.25 * (bowl([2, 50]) - 1)


@pytest.mark.parametrize("name", ["Bluefin", "PyCMA", "TBPSA", "Today"])
def test_rivals_begin_at_todays_setting(scripts: Any, name: str) -> None:
    for parameters in (BOWL, {"s": dikin.Shares(["a", "b", "c"], start=[0.5, 0.3, 0.2])}):
        rival = getattr(scripts("rivals"), name)(parameters, False, 1)
        assert rival._values(rival._recommended()) == pytest.approx(rival.space.start_values)


def test_bluefin_is_its_text(scripts: Any) -> None:
    """FKM with RMSprop on the cube, word for word; with another decay it is noticed."""

    def gap(decay: float) -> float:
        rival = scripts("rivals").Bluefin(BOWL, False, 3)
        z, v, gap = rival._start(), np.zeros(2), 0.0
        unit = None
        for t in range(60):
            steps, losses = [], []
            for _ in range(2):
                trial = rival.ask()
                at = [trial.params["x"] / 10, np.log(trial.params["y"]) / np.log(100)]
                steps.append(np.array(at) - z)
                value = float(np.cos(3 * steps[-1].sum() + t // 20))
                unit = unit or abs(value)
                losses.append(value / (1000 * unit))
                rival.tell(trial, value)
            s = (steps[0] - steps[1]) / 0.2
            gap = max(gap, abs(float(np.linalg.norm(s)) - 1), float(np.abs(sum(steps)).max()))
            g = 2 / 0.2 * (losses[0] - losses[1]) * s
            v = decay * v + (1 - decay) * g**2
            z = np.clip(z - 0.01 * g / (np.sqrt(v) + 1e-8), 0.1, 0.9)
            gap = max(gap, float(np.abs(z - rival._recommended()).max()))
        return gap

    assert gap(0.99) < 1e-9
    assert gap(0.999) > 1e-3


def test_the_nearest_shares(scripts: Any) -> None:
    """By the variational inequality: (z - p)(q - p) <= 0 for every q, and so for every corner."""
    generator = np.random.default_rng(1)
    for z in generator.normal(0.3, 0.6, size=(100, 4)):
        p = scripts("rivals").nearest_shares(z)
        assert p.min() >= 0
        assert p.sum() == pytest.approx(1)
        assert ((z - p) @ (np.eye(4) - p).T <= 1e-12).all()


def test_far_outside_costs_more(scripts: Any) -> None:
    """The squared distance to what was played, in units of the first loss."""
    rivals, told = scripts("rivals"), []

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


def test_no_setting_beats_the_best_of_a_round(scripts: Any) -> None:
    market = scripts("price").Market(5000)
    generator = np.random.default_rng(1)
    for round in (0, 100, 140, 2499, 2500, 4999):
        price, ads = market.best(round)
        assert 1 < price < 14
        assert 0 < ads < 60
        top = market.revenue(round, price, ads)
        others = generator.uniform([1, 0], [14, 60], size=(200, 2)).tolist()
        near = [[price + dp, ads + da] for dp in (-0.01, 0, 0.01) for da in (-0.1, 0, 0.1)]
        assert all(market.revenue(round, *other) <= top for other in others + near)


def test_the_market_changes_as_it_is_said(scripts: Any) -> None:
    price = scripts("price")
    market = price.Market(10_000)
    before, after = (market.best(round)[0] for round in (4999, 5000))
    assert after < 0.75 * before
    assert market.best(4999)[0] > 1.1 * market.best(0)[0]  # 4999 and 0 may be other days
    days = [market.revenue(24 * day, 7, 30) for day in range(8)]
    assert max(days) > 1.2 * min(days)
    assert days[7] == pytest.approx(days[0], rel=0.02)  # but for the drift


# --- the others ----------------------------------------------------------------------------------


def test_the_problems_of_oppertune(scripts: Any) -> None:
    problems = scripts("oppertune").PROBLEMS
    five, two = problems["5 settings"], problems["2 settings"]
    assert five.loss(five.best) == two.loss(two.best) == 0
    # 40, 30, 40, 50, 70; 200 and 400.
    assert five.loss(five.start) == pytest.approx((1600 + 900 + 1600 + 2500 + 4900) / 1e4)
    assert two.loss(two.start) == pytest.approx(0.6)
    assert [side.low for side in five.parameters().values()] == [1] * 5
    assert [side.high for side in two.parameters().values()] == [1000] * 2
