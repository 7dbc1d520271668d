"""What is drawn is what was played, and files are whole figures."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dikin
from dikin.errors import ParameterError
from dikin.plotting import curves, history, style
from dikin.plotting.axes import LINE_HEIGHT
from dikin.plotting.style import save_figure
from dikin.tuning.history import Row, history_table, panels_of
from dikin.tuning.space import Space
from dikin.vectors import Table

PRICES = Space({"price": dikin.Real(1, 14, start=4), "level": dikin.Integer(1, 9, start=6)})


def made_up(space: Space, rounds: int, pause: tuple[int, int] = (0, 0)) -> Table:
    """Return a history of random numbers: drawing does not ask where they come from."""
    rng = np.random.default_rng(0)
    rows = []
    for i in range(rounds):
        played, best = rng.uniform(0.1, 0.9, (2, len(space.columns)))
        expected = np.nan if i == 0 else rng.normal()
        paused = pause[0] <= i < pause[1]
        rows.append(Row(i + 1, played, rng.normal(), expected, paused, center=best))
    return history_table(space, rows)


def draw_history(table: Table, space: Space = PRICES, maximize: bool = False, **more: Any) -> Any:
    return history.draw_history(table, panels_of(space), maximize=maximize, **more)


def labelled(axes: Any, label: str) -> Any:
    artists = [*axes.lines, *axes.collections]
    (found,) = (artist for artist in artists if artist.get_label() == label)
    return found


def texts(figure: Any) -> str:
    words = [text.get_text() for axes in figure.axes for text in axes.texts]
    titles = [axes.get_title(loc) for axes in figure.axes for loc in ("left", "right")]
    return "\n".join([*words, *titles, *(text.get_text() for text in figure.texts)])


@pytest.mark.parametrize("rounds", [7, 1500])
def test_the_band_is_the_range_that_was_played(rounds: int) -> None:
    table = made_up(PRICES, rounds)
    axes = draw_history(table).axes[0]
    outline = labelled(axes, "price").get_paths()[0].vertices
    played, size = table["price"], max(10, rounds // 50)
    drawn_rounds = sorted({int(x) for x in outline[:, 0]})
    assert (drawn_rounds[0], drawn_rounds[-1]) == (1, rounds)
    assert len(drawn_rounds) == min(rounds, 400)
    for x in drawn_rounds:
        heights = outline[outline[:, 0] == x][:, 1]
        ends = np.quantile(played[max(0, x - size) : x], [0.05, 0.95])
        # Quantiles by another order of operations: the last place may differ.
        assert [heights.min(), heights.max()] == pytest.approx(ends, abs=1e-12)


@pytest.mark.parametrize("rounds", [7, 1500])
def test_lines_are_the_best_guess_and_the_mean(rounds: int) -> None:
    table = made_up(PRICES, rounds)
    price, level, value = draw_history(table).axes
    size = max(10, rounds // 50)
    for axes, name in ((price, "best.price"), (level, "best.level")):
        drawn = labelled(axes, name).get_xydata()
        np.testing.assert_array_equal(drawn[:, 1], table[name][drawn[:, 0].astype(int) - 1])
        assert drawn[-1, 0] == rounds
    for x, mean in labelled(value, "mean value").get_xydata():
        rows = table["value"][max(0, int(x) - size) : int(x)]
        assert mean == pytest.approx(rows.mean(), abs=1e-12)


def test_the_start_is_dashed_and_labels_say_the_ends() -> None:
    figure = draw_history(made_up(PRICES, 30), maximize=True, title="prices of $ and $")
    assert [line.get_ydata()[0] for line in figure.axes[0].lines if line.is_dashed()] == [4.0]
    words = texts(figure)
    for wanted in ("start 4", "start 6", "larger is better", "mean of 10", "prices of $ and $"):
        assert wanted in words
    assert "smaller" not in words


def test_labels_do_not_overlap_and_stay_in_their_panel() -> None:
    space = Space({"w": dikin.Shares([f"part {i}" for i in range(9)])})
    table = made_up(space, 30)
    for name in space.columns:
        table[f"best.{name}"][-1] = 0.1  # all lines end at the same place
    axes = draw_history(table, space).axes[0]
    heights = sorted(text.get_position()[1] for text in axes.texts)
    assert len(heights) == 6
    assert axes.get_title("right") == "and 3 smaller shares"
    assert np.diff(heights).min() >= LINE_HEIGHT / history.HEIGHTS["parameter"] - 1e-9
    assert heights[0] >= 0
    assert heights[-1] <= 1


@pytest.mark.parametrize("rounds", [60, 2000])
def test_pauses_are_shaded(rounds: int) -> None:
    figure = draw_history(made_up(PRICES, rounds, pause=(20, 50)))
    for axes in figure.axes:
        (shade,) = labelled(axes, "paused").get_paths()
        ends = shade.vertices[:, 0].min(), shade.vertices[:, 0].max()
        assert ends == pytest.approx((21, 51), abs=1 + rounds / curves.MARKS)
    assert "shaded: paused" in texts(figure)


@pytest.mark.parametrize("rounds", [6, 50, 3000])
def test_a_value_far_off_is_marked_and_hides_nothing(rounds: int) -> None:
    table = made_up(PRICES, rounds)
    sound = draw_history(table).axes[2]
    table["value"][[1, rounds - 1]] = 1e9, -1e6
    axes = draw_history(table).axes[2]
    usual = np.delete(table["value"], [1, rounds - 1])
    low, high = axes.get_ylim()
    assert high - low < 2 * np.ptp(usual) + 1
    for sign, edge, round in (("▲", high, 2), ("▼", low, rounds)):
        mark = labelled(axes, sign)
        assert mark.get_ydata().tolist() == [edge]
        assert mark.get_xdata()[0] == pytest.approx(round, abs=rounds / curves.MARKS)
    note = "▲ 1 above and ▼ 1 below the axis · 2 far off, not in the mean"
    assert note in axes.get_title("right")
    assert np.nanmax(np.abs(labelled(axes, "mean value").get_ydata())) < 10
    assert "axis" not in sound.get_title("right")


@pytest.mark.parametrize("absurd", [[], [1e6], [1e6, -1e6], [1e6, 1e12]])
def test_what_is_far_off(absurd: list[float]) -> None:
    noise = np.random.default_rng(1).normal(size=40)
    values = np.array([*noise[:20], *absurd, np.nan, *noise[20:]])
    assert values[curves.far_off(values)].tolist() == absurd
    shifted = curves.far_off(1e3 + 1e-3 * values)
    np.testing.assert_array_equal(shifted, curves.far_off(values))


@pytest.mark.parametrize(
    "values",
    [
        [],
        [3.0, 1e6],
        [0.0] * 90 + [5.0, 20.0],  # most are nothing: what is seldom is not absurd
        [0.3] * 9 + [0.1 + 0.2] * 9 + [7.0],  # equal but for rounding
        [0.0, 1.0] * 45 + [100.0] * 10,  # a tenth is not few
        np.exp(-np.arange(60) / 8),  # learning from a bad start
        np.full(5, np.nan),
    ],
)
def test_what_is_not_far_off(values: Any) -> None:
    assert not curves.far_off(np.array(values, dtype=float)).any()


@pytest.mark.parametrize("rounds", [1, 2, 8, 1234])
def test_rounds_on_the_axis_are_whole_and_distinct(rounds: int) -> None:
    figure = draw_history(made_up(PRICES, rounds))
    axes = figure.axes[-1]
    style.rendered(figure, "png")
    low, high = axes.get_xlim()
    ticks = [tick for tick in axes.xaxis.get_majorticklocs() if low <= tick <= high]
    written = axes.xaxis.get_major_formatter().format_ticks(ticks)
    assert written == [f"{tick:,.0f}" for tick in ticks]
    assert len(set(written)) == len(written)
    assert min(rounds, 2) <= len(ticks) <= 9
    assert all(tick == round(tick) for tick in ticks)


def test_failures_are_marked_and_are_no_values() -> None:
    table = made_up(PRICES, 30)
    table["failed"][[3, 17]] = True
    table["value"][[3, 17]] = np.nan
    axes = draw_history(table).axes[2]
    assert labelled(axes, "failed").get_xdata().tolist() == [4, 18]
    assert "2 failed" in axes.get_title("right")
    mean = labelled(axes, "mean value").get_ydata()
    assert mean[5] == pytest.approx(np.nanmean(table["value"][:6]), abs=1e-12)
    table["failed"], table["value"] = True, np.nan  # nothing but failures
    figure = draw_history(table)
    style.rendered(figure, "png")
    assert "30 failed" in figure.axes[2].get_title("right")


def test_the_expected_value_is_drawn_beside_the_mean() -> None:
    table = made_up(PRICES, 30)
    axes = draw_history(table).axes[2]
    expected = labelled(axes, "expected").get_ydata()
    assert np.isnan(expected[0])
    assert expected[-1] == pytest.approx(table["expected"][-10:].mean(), abs=1e-12)
    table["expected"] = np.nan  # mutant: a line of nothing, and words about it
    axes = draw_history(table).axes[2]
    assert "expected" not in axes.get_title("right")


def test_a_choice_is_drawn_by_its_names() -> None:
    space = Space({"codec": dikin.Choice(["lz4", "zstd", "none"], start="zstd")})
    table = made_up(space, 20)
    for name in ("codec", "best.codec"):
        table[name] = np.arange(20) % 3
    figure = draw_history(table, space)
    style.rendered(figure, "png")
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert set(filter(None, labels)) == {"lz4", "zstd", "none"}
    assert "start zstd" in texts(figure)


def test_many_logarithmic_parameters_have_axes_with_numbers_and_the_rest_is_counted() -> None:
    space = Space({f"p{i}": dikin.Real(0.001, [1, 0.002][i % 2], log=True) for i in range(11)})
    table = made_up(space, 50)
    for i, name in enumerate(space.columns):
        table[name] = table[f"best.{name}"] = np.geomspace(0.001, [1, 0.002][i % 2], 50)
    figure = draw_history(table, space)
    style.rendered(figure, "png")
    assert len(figure.axes) == history.MOST_PANELS + 1
    assert "not drawn: 3 more" in texts(figure)
    for axes in figure.axes[:2]:
        low, top = axes.get_ylim()
        assert axes.get_yscale() == "log"
        assert sum(low <= tick <= top for tick in axes.get_yticks()) >= 2


def test_a_long_history_is_a_small_file() -> None:
    table = np.resize(made_up(PRICES, 1000), 200_000)
    table["round"] = np.arange(1, 200_001)
    figure = draw_history(table)
    # 400 marks of some ten characters, for each outline and line.
    assert len(style.rendered(figure, "svg")) < 250_000


def test_files_are_what_their_names_say_and_the_same_for_the_same_history(tmp_path: Path) -> None:
    begin = {"a.png": b"\x89PNG\r\n\x1a\n", "a.SVG": b"<?xml", "a.pdf": b"%PDF-"}
    figure, again = draw_history(made_up(PRICES, 30)), draw_history(made_up(PRICES, 30))
    for name, head in begin.items():
        save_figure(figure, tmp_path / name)
        content = (tmp_path / name).read_bytes()
        assert content.startswith(head)
        assert content == style.rendered(again, name[2:].lower())
    with pytest.raises(ParameterError, match=r"ends in \.png, \.svg, \.pdf, got"):
        save_figure(figure, tmp_path / "a.jpg")
    assert {*os.listdir(tmp_path)} == begin.keys()


def test_pyplot_and_the_global_style_are_left_alone(tmp_path: Path) -> None:
    code = f"""
import sys, dikin, matplotlib
def style():  # to read "backend" would choose one
    return {{name: matplotlib.rcParams[name] for name in matplotlib.rcParams if name != "backend"}}
before = style()
tuner = dikin.Tuner({{"x": dikin.Real(0, 1)}}, seed=1)
tuner.tell(tuner.ask(), 1.0)
tuner.plot({str(tmp_path / "a.svg")!r})
assert "matplotlib.pyplot" not in sys.modules
assert style() == before
"""
    subprocess.run([sys.executable, "-c", code], check=True)
