"""The benchmarks of the first rounds and of absurd values: losses, faults, and the page."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from csv_rows import read

ROOT = Path(__file__).resolve().parent.parent
FOLDER, PAGE = ROOT / "docs" / "beginning", ROOT / "docs" / "beginning.md"


@pytest.fixture
def loops(scripts: Callable[[str], Any]) -> Any:
    return scripts("loops")


@pytest.fixture
def beginning(scripts: Callable[[str], Any]) -> Any:
    return scripts("beginning")


@pytest.fixture
def absurd(scripts: Callable[[str], Any]) -> Any:
    return scripts("absurd")


def start_of(loop: Any) -> Any:
    return np.array([side.start for side in loop.parameters.values()], dtype=float)


# --- losses --------------------------------------------------------------------------------------


@pytest.mark.parametrize("game", [0, 1])
@pytest.mark.parametrize("start", ["anywhere", "far"])
def test_the_excess_is_0_at_the_minimum_and_1_at_the_start(
    beginning: Any, loops: Any, start: str, game: int
) -> None:
    for kind in beginning.KINDS:
        loop = beginning.loop_for(beginning.Task(start, kind, "", game), 10)
        assert loops.excess(loop.losses, 1, loop.losses.minima[0]) == 0
        assert loops.excess(loop.losses, 1, start_of(loop)) == pytest.approx(1)
        assert start_of(loop).min() >= 0.15
        assert start_of(loop).max() <= 0.85


def test_a_value_is_the_excess_with_noise_and_the_excess_is_kept(loops: Any) -> None:
    minimum, noise = np.array([0.25, 0.5]), np.array([0.0, 7.0, 0.0])
    losses = loops.standing(np.diag([2.0, 1.0]), minimum, True, noise)
    x = np.array([0.75, 0.0])  # (2 0.5)^2 + 0.5^2
    assert [losses.value(round, 0.0, x) for round in (1, 2)] == [1.25, 8.25]
    assert losses.costs.tolist() == [1.25, 1.25, 0.0]
    sizes = losses._replace(squared=False, offset=-2.0)
    assert sizes.value(3, 0.0, x) == 1.5 - 2.0
    assert sizes.costs[2] == 1.5


def test_the_shop_is_that_of_the_readme(absurd: Any, loops: Any) -> None:
    loop = absurd.shop(np.random.default_rng(0), 10)
    for price, ads in ((4, 40), (8, 20), (13, 5)):
        revenue = 500 - 4 * (price - 8) ** 2 - 0.05 * (ads - 20) ** 2
        lost = loops.excess(loop.losses, 1, np.array([(price - 1) / 13, ads / 60]))
        assert -loop.losses.offset - lost == pytest.approx(revenue)
    assert start_of(loop) == pytest.approx([3 / 13, 40 / 60])


def test_the_minimum_jumps_every_700_rounds(absurd: Any) -> None:
    losses = absurd.jumping(np.random.default_rng(0), 2000).losses
    assert np.flatnonzero(np.diff(losses.rows)).tolist() == [699, 1399]
    assert len(np.unique(losses.minima, axis=0)) == 3


# --- faults --------------------------------------------------------------------------------------


def test_single_faults_have_their_share(absurd: Any) -> None:
    for share in absurd.SHARES:
        hit = absurd.single(np.random.default_rng(1), 2000, share)
        assert len(set(hit.tolist())) == share * 2000


def test_bursts_have_their_length_and_on_average_their_share(absurd: Any) -> None:
    chance = np.random.default_rng(1)
    for share in absurd.SHARES:
        counts = []
        for _ in range(400):
            hit = absurd.bursts(chance, 2000, share)
            runs = np.split(hit, np.flatnonzero(np.diff(hit) > 1) + 1) if len(hit) else []
            assert {len(run) for run in runs} <= {20}
            assert len(hit) == 0 or 0 <= hit.min() <= hit.max() < 2000
            counts.append(len(hit))
        # The number of bursts is rounded at random, by less than one: 20/(2 sqrt(400)) is 0.5.
        assert np.mean(counts) == pytest.approx(share * 2000, abs=2.5)


@pytest.mark.parametrize("name", ["mixed", "one-sided", "two-sided", "bursts", "zero", "-999999"])
def test_faults_change_the_values_that_are_hit_and_no_others(absurd: Any, name: str) -> None:
    loop = absurd.new_loop("shop", 0, 2000)
    spoiled = absurd.with_faults(loop, absurd.FAULTS[name], 0.1, np.random.default_rng(2))
    x = np.array([0.5, 0.5])
    values = [
        np.array([losses.value(round, 0.0, x) for round in range(1, 2001)])
        for losses in (loop.losses, spoiled.losses)
    ]
    assert np.count_nonzero(values[0] != values[1]) == 200
    assert spoiled.losses.costs == pytest.approx(loop.losses.costs)
    told = values[1][values[0] != values[1]]
    if name in ("zero", "-999999"):
        assert set(told) == {float(name) if name != "zero" else 0.0}
    if name in ("one-sided", "bursts"):
        assert (values[1] >= values[0]).all()
    if name == "two-sided":
        assert (told > 0).any()
        assert (told < -1000).any()
    if name == "mixed":
        assert np.isclose(values[1], 40 * values[0]).sum() == 100
        assert np.isclose(np.abs(told + 500), 60 * loop.size).sum() == 100


# --- the commands and the page -------------------------------------------------------------------


def run(module: Any, monkeypatch: pytest.MonkeyPatch, folder: Path) -> str:
    """The page after a run of two games each."""
    page = folder / "page.md"
    page.write_text(PAGE.read_text(encoding="utf-8"), encoding="utf-8")
    options = ["--games", "2", "--out", str(folder / "new"), "--page", str(page)]
    monkeypatch.setattr(module, "WORKERS", 1)
    monkeypatch.setattr(sys, "argv", [module.__name__, *options])
    module.main()
    return page.read_text(encoding="utf-8")


def test_a_small_run_of_the_first_rounds(
    beginning: Any,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(beginning, "KINDS", beginning.KINDS[::5])
    monkeypatch.setattr(beginning, "HORIZONS", (12, 24))
    page = run(beginning, monkeypatch, tmp_path)
    rows = read(tmp_path / "new" / "beginning.csv", beginning.Row)
    assert len(rows) == 2 * len(beginning.KINDS) * 2 * 2 * 2
    printed = capsys.readouterr().out
    for block in beginning.blocks(rows):
        assert block.markdown() in page
        assert f"{block.name}: " in printed
    assert page.split("\n## Absurd values")[1] == read_page().split("\n## Absurd values")[1]


def test_a_small_run_of_absurd_values(
    absurd: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    few = {name: absurd.FAULTS[name] for name in ("mixed", "bursts")}
    monkeypatch.setattr(absurd, "FAULTS", few)
    monkeypatch.setattr(absurd, "SHARES", (0.05, 0.1))
    monkeypatch.setattr(absurd, "ROUNDS", 40)
    page = run(absurd, monkeypatch, tmp_path)
    rows = read(tmp_path / "new" / "faults.csv", absurd.Row)
    assert {row.loop for row in rows} == {*absurd.LOOPS}
    for block in absurd.blocks(rows):
        assert block.markdown() in page


def read_page() -> str:
    return PAGE.read_text(encoding="utf-8")


def test_the_page_says_what_the_files_say(beginning: Any, absurd: Any) -> None:
    first = beginning.blocks(read(FOLDER / "beginning.csv", beginning.Row))
    faults = read(FOLDER / "faults.csv", absurd.Row)
    second = absurd.blocks(faults)
    for block in (*first, *second):
        assert block.markdown() in read_page(), block.name


def test_the_files_are_of_the_benchmarks_as_they_stand(beginning: Any, absurd: Any) -> None:
    rows = read(FOLDER / "beginning.csv", beginning.Row)
    assert {row.game for row in rows} == {*range(beginning.GAMES)}
    assert {row.rounds for row in rows} == {*beginning.HORIZONS}
    assert {row.kind for row in rows} == {*beginning.KINDS}
    faults = read(FOLDER / "faults.csv", absurd.Row)
    assert [row[:5] for row in faults] == [(*task,) for task in absurd.tasks(None)]
    assert {row.rounds for row in faults} == {absurd.ROUNDS}
