"""Both tables from one command: resumable, the same everywhere, and clear about mistakes."""

import io
import re
import shutil
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from rich.console import Console
from scipy.stats import linregress, ttest_1samp

import dikin
from dikin.cli import main
from dikin.errors import CheckFailedError
from dikin.experiments.fit import Curve, fit_power
from dikin.experiments.reproduce import reproduce, show
from dikin.experiments.reproduce.plan import FULL, QUICK, TABLES, Request
from dikin.experiments.reproduce.results import Line, Measured, all_cells, count_verdicts
from dikin.experiments.reproduce.results import refuse_broken_bounds as refuse
from dikin.experiments.runner import Store
from dikin.experiments.tables import read_csv
from dikin.vectors import Array
from experiments.reproduce import small

CSVS = {"table1.csv", "table2.csv", "predictive.csv", "dimensions.csv", "games.csv"}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An uninterrupted run, without figures and report."""
    out = tmp_path_factory.mktemp("whole")
    small.run(out)
    return out


def test_the_tables_fit_into_a_terminal(whole: Path) -> None:
    """As wide as a terminal is by default: no cell is cut off, none is broken in two."""
    console = Console(record=True, width=80, file=io.StringIO())
    show(measured(whole), console)
    shown = console.export_text()
    assert "…" not in shown
    assert len(re.findall(r"sigma_t = t\^-0\.2.* \d\.\d{3} to \d\.\d{3}", shown)) == 3


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted(folder.glob("*.csv"))}


@pytest.mark.usefixtures("unencoded")
def test_the_folder_has_tables_figures_and_a_report_that_needs_no_network(
    whole: Path, tmp_path: Path
) -> None:
    shutil.copy(whole / "cells.sqlite", tmp_path)
    reproduce(small.request(), tmp_path, Console(file=io.StringIO()))
    assert contents(tmp_path) == contents(whole)
    assert set(contents(whole)) == CSVS
    for number, rows in ((1, 10), (2, 9)):
        table = read_csv(whole / f"table{number}.csv")
        assert len(table) == rows
        for row in table:
            low, measured, high = (float(row[c]) for c in ("low", "measured", "high"))
            assert low - 1e-9 <= measured <= high + 1e-9
            assert float(row["regret"]) < float(row["certificate"])
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert page.count("<img ") == len(list(tmp_path.glob("*.png"))) == 4
    assert len(list(tmp_path.glob("*.svg"))) == 4
    assert not re.search(r'(src|href)="(?!data:)', page)
    assert "How every number was made" in page
    dims = small.TINY.dims
    assert f"d, from {dims[0]} to {dims[-1]}, at" in page


def test_the_one_pattern_of_all_rows_is_those_of_the_library() -> None:
    for table in TABLES.values():
        for T in (999, 1000):
            flat = int(T ** float(table.flat_power))
            whole = {
                "zero": dikin.Constant(0.0),
                "constant": dikin.Constant(table.sigma),
                "first": dikin.FlatFirst(table.sigma, flat),
                "last": dikin.FlatLast(table.sigma, T, T // 2),
            } | {f"decay-{a:.3g}": dikin.Decaying(table.sigma, a) for a in table.alphas}
            for name, row in table.rows.items():
                own = row.pattern(T)
                assert own.sigma == whole[name].sigma
                assert [own.at(t) for t in range(1, T + 1)] == [
                    whole[name].at(t) for t in range(1, T + 1)
                ]


def line_with(measured: float, half: float, bound: float) -> Line:
    """The first row of Table 1 with a regret and a certificate of these slopes."""
    sizes, share = np.geomspace(3e4, 1e6, 6), np.array([-1.0, 1.0]) * half
    logs = np.log(sizes / sizes[0])[:, None]
    row = TABLES[1].rows["zero"]
    regrets = Curve(sizes, np.exp((measured + 0.1 * share) * logs), 6, 2 / 3)
    bounds = Curve(sizes, 9 * np.exp((bound + 0 * share) * logs), 6, 2 / 3)
    return Line(1, row, regrets, bounds)


def test_a_verdict_says_where_an_interval_lies_and_what_else_is_as_steep() -> None:
    exploring = line_with(0.7, 0.0, 0.6).exploring
    assert 2 / 3 < exploring < 0.75
    for line, verdict in (
        (line_with(0.67, 0.1, 0.6), "consistent"),
        (line_with(0.6, 0.0, 0.6), "below"),
        (line_with(exploring - 0.01, 0.0, 0.6), "above, as exploring is"),
        (line_with(0.8, 0.0, 0.81), "above, as the bound is"),
        (line_with(0.8, 0.0, 0.79), "above"),
        (replace(line_with(exploring - 0.01, 0.0, 0.6), player="predictive"), "above"),
    ):
        assert line.verdict == verdict
        assert line.side == verdict.split(",")[0]
    sides = ["consistent", "above", "above"]
    assert count_verdicts(sides) == (
        "Of 3 intervals 1 contain the proved exponent, 2 lie above it and 0 below."
    )


def test_theory_in_the_tables_is_the_papers() -> None:
    zero, constant, first, last, *decays = (row.rate for row in TABLES[1].rows.values())
    assert [r.horizon_exponent for r in (zero, constant, first, last)] == [2 / 3, 0.5, 0.5, 0.5]
    assert [r.horizon_exponent for r in decays] == pytest.approx(
        [0.55, 0.6, 0.65, 2 / 3, 2 / 3, 2 / 3]
    )
    assert QUICK.horizons[-1] == 10**6
    assert FULL.horizons[-1] == 10**7
    keys = [cell.key for cell in all_cells(Request(effort=FULL))]
    assert len(set(keys)) == len(keys) > 1000


def test_two_workers_give_the_same_bytes(tmp_path: Path) -> None:
    for workers in (1, 2):
        small.run_least(tmp_path / str(workers), workers=workers)
    assert contents(tmp_path / "1") == contents(tmp_path / "2")


def test_a_bound_below_the_regret_is_loud(whole: Path) -> None:
    first, *rest = measured(whole).tables[1]
    refuse([first, *rest])
    half = replace(first.curve, regrets=0.5 * first.curve.regrets)
    with pytest.raises(CheckFailedError, match=r"mean regret .* exceeds mean certificate"):
        refuse([replace(first, certificate=half), *rest])


def measured(folder: Path) -> Measured:
    settings = {"version": dikin.__version__} | small.request().settings()
    with closing(Store(folder / "cells.sqlite", settings)) as store:
        return Measured.of(small.request(), store.finished())


def test_the_interval_is_students_of_what_each_game_does_to_the_slope() -> None:
    """How the slope changes when a game counts a little more: by difference quotients."""
    sizes = np.geomspace(1e3, 1e6, 4)
    regrets = sizes[:, None] ** 0.6 * np.random.default_rng(1).uniform(0.5, 2.0, (4, 6))

    def slope(weights: Array) -> float:
        return float(linregress(np.log(sizes), np.log(regrets @ weights)).slope)

    even = np.full(6, 1 / 6)
    changes = [
        (slope(even + 1e-6 * extra) - slope(even - 1e-6 * extra)) / 2e-6 for extra in np.eye(6)
    ]
    interval = ttest_1samp(changes, 0.0).confidence_interval(0.95)
    found = fit_power(sizes, regrets)
    half = (interval.high - interval.low) / 2
    assert (found.low, found.high) == pytest.approx(
        (found.exponent - half, found.exponent + half), rel=1e-6
    )


def test_a_damaged_store_is_refused_and_left_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "cells.sqlite").write_bytes(b"this is no database" * 100)
    result = CliRunner().invoke(main, ["reproduce", "--out", str(tmp_path)])
    assert result.exit_code == 2
    assert "cannot be used as a store of results" in result.output
    assert (tmp_path / "cells.sqlite").read_bytes() == b"this is no database" * 100


def test_the_games_of_a_file_give_its_exponents(whole: Path) -> None:
    """Anyone can fit anew: here with another program."""
    games = read_csv(whole / "games.csv")
    for row, name in zip(read_csv(whole / "table1.csv"), TABLES[1].rows, strict=True):
        own = [game for game in games if game["part"] == f"table 1/{name}/sharp"]
        sizes = sorted({int(game["horizon"]) for game in own})[-small.TINY.tail :]
        means = [
            np.mean([float(game["regret"]) for game in own if int(game["horizon"]) == size])
            for size in sizes
        ]
        slope = linregress(np.log(sizes), np.log(means)).slope
        assert float(row["measured"]) == pytest.approx(slope, abs=2e-6)
