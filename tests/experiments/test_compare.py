"""The matrix from one command: honest tunings, marks that mean what they say, clear mistakes."""

from __future__ import annotations

import csv
from dataclasses import replace
from math import isnan
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import dikin
from dikin import registry
from dikin.cli import main
from dikin.domains.base import Domain
from dikin.engine.play import readable
from dikin.experiments import matrix
from dikin.experiments.arenas import ARENAS, Told
from dikin.experiments.entrants import LeftOutError, enter, find_learners
from dikin.experiments.matrix import Cell, Matrix, half_interval, ties
from dikin.experiments.still import Still
from dikin.feedback import Feedback

HORIZON = 400


def run(out: Path, *options: str) -> Any:
    return CliRunner().invoke(main, ["compare", "--out", str(out), *options])


SMALL = [
    *("--learner", "FKM", "--learner", "corral", "--learner", "hazanlevy"),
    *("--environment", "constant", "--environment", "zero", "--rounds", "300", "--seeds", "3"),
]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    out = tmp_path_factory.mktemp("compare")
    result = run(out, *SMALL, "--workers", "1")
    assert result.exit_code == 0, result.output
    return out, result.output


def test_the_files_and_the_screen_say_the_same(small: tuple[Path, str]) -> None:
    out, shown = small
    with open(out / "compare.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert {(r["learner"], r["environment"]) for r in rows} == {
        (learner, environment)
        for learner in ("FKM", "Corral", "HazanLevy")
        for environment in ("constant", "zero")
    }
    assert {r["rounds"] for r in rows} == {"300"}
    assert {r["seeds"] for r in rows} == {"3"}
    assert [r["mark"] for r in rows if r["environment"] == "zero"].count("best") == 1
    for row in rows:
        low, mean, high = (float(row[name]) for name in ("low", "regret", "high"))
        assert low <= mean <= high
        assert f"{mean:,.0f} ±{high - mean:,.0f}" in shown
        guessed = row["learner"] == "HazanLevy" and row["environment"] == "zero"
        assert row["broken"] == ("curvature" if guessed else "")
        assert float(row["seconds"]) > 0
    assert "300 rounds" in shown
    assert (out / "compare.png").stat().st_size > 10_000
    again = matrix.read(out)
    assert {c.learner for c in again.cells} == {"FKM", "Corral", "HazanLevy"}
    assert all(len(c.regrets) == 3 for c in again.cells)


def test_two_workers_play_the_same_games(small: tuple[Path, str], tmp_path: Path) -> None:
    assert run(tmp_path, *SMALL, "--workers", "2").exit_code == 0
    assert (tmp_path / "games.csv").read_bytes() == (small[0] / "games.csv").read_bytes()


def test_another_seed_plays_other_games(small: tuple[Path, str], tmp_path: Path) -> None:
    options = ["--learner", "fkm", "--environment", "zero", "--rounds", "300", "--seeds", "2"]
    assert run(tmp_path, *options, "--seed", "1", "--workers", "1").exit_code == 0
    first = matrix.read(small[0]).at("FKM", "zero")
    other = matrix.read(tmp_path).at("FKM", "zero")
    assert first is not None
    assert other is not None
    assert set(first.regrets).isdisjoint(other.regrets)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--learner", "fkn"], "no learner is called 'fkn'. Did you mean 'fkm'?"),
        (["--environment", "consant"], "is called 'consant'. Did you mean 'constant'?"),
        (["--rounds", "3"], "3 is not in the range"),
        (["--seeds", "0"], "0 is not in the range"),
    ],
)
def test_mistakes_end_with_status_2_and_a_sentence(
    options: list[str], message: str, tmp_path: Path
) -> None:
    result = run(tmp_path / "out", *options)
    assert result.exit_code == 2
    assert message in result.output
    assert "Traceback" not in result.output
    assert not (tmp_path / "out").exists()


# --- tunings --------------------------------------------------------------------------------------


def test_every_learner_of_the_library_is_asked() -> None:
    own = set(registry.learners())
    assert set(find_learners([], outsiders=False)) == own | {"still"}
    assert set(find_learners([], outsiders=True)) == own | {"still", "cma", "spsa", "tbpsa"}


def test_standing_still_is_no_way_to_play() -> None:
    """In every arena the centre pays some hundredths of half the losses' range every round."""
    for arena in ARENAS.values():
        entry = enter(Still, arena, HORIZON, 1)
        readable(entry.learner, entry.world)(HORIZON)
        regret = entry.world.total_loss - entry.world.best()[1]
        assert regret / entry.learner.units.loss_scale / HORIZON > 0.03, arena.name


@pytest.mark.parametrize("name", ARENAS)
def test_what_is_told_is_true_or_marked(name: str) -> None:
    world = ARENAS[name].game(HORIZON, 1)
    told = Told.of(ARENAS[name], world, HORIZON)
    assert told.constants["loss_range"] == world.loss_range
    assert told.constants["lipschitz"] == world.lipschitz
    assert ("smoothness" in told.chosen) != (told.constants["smoothness"] == world.smoothness)
    sigmas = [world.curvature(t) for t in range(1, HORIZON + 1)]
    always = min(sigmas) == max(sigmas) > 0 and name != "hidden"
    assert ("curvature" in told.chosen) != always
    if always:
        assert told.constants["curvature"] == pytest.approx(sigmas[0], rel=1e-12)


@pytest.mark.parametrize("learner", registry.learners())
def test_every_learner_plays_or_says_why_not(learner: str) -> None:
    """In every environment, for a few rounds, told no more curvature than it takes."""
    reasons: list[str] = []
    for arena in ARENAS.values():
        try:
            entry = enter(registry.learners()[learner], arena, HORIZON, 1)
        except LeftOutError as reason:
            reasons.append(str(reason))
            continue
        assert entry.learner.units.loss_range == entry.world.loss_range
        sigma = arena.game(HORIZON, 1).curvature(HORIZON // 3)
        most = min(sigma, entry.learner.curvature_limit[0])
        assert entry.world.curvature(HORIZON // 3) == (most if arena.told else 0.0)
        readable(entry.learner, entry.world)(3)
    assert all(len(reason) > 10 for reason in reasons)


@pytest.mark.parametrize(
    ("learner", "arena", "broken"),
    [
        ("AdaptiveSmooth", "constant", ()),
        ("AdaptiveSmooth", "tenth-flat", ()),
        ("AdaptiveSmooth", "cone", ("smoothness",)),
        ("AdaptiveLipschitz", "cone", ()),
        ("HazanLevy", "constant", ()),
        ("HazanLevy", "hidden", ("curvature",)),
        ("HazanLevy", "tenth-flat", ("curvature",)),
        ("HazanLevy", "line", ("curvature", "smoothness")),
        ("FKM", "zero", ()),
        ("Scrible", "linear", ()),
        ("Scrible", "zero", ("linearity",)),
        ("Corral", "decaying", ()),
    ],
)
def test_assumptions_that_do_not_hold_are_marked(
    learner: str, arena: str, broken: tuple[str, ...]
) -> None:
    assert enter(getattr(dikin, learner), ARENAS[arena], HORIZON, 0).broken == broken


class Newcomer(dikin.FKM):
    """A learner that nobody has heard of, with the usual arguments."""


class Prophet(dikin.FKM):
    def __init__(self, domain: Domain, prophecy: str, **rest: Any) -> None:
        super().__init__(domain, **rest)


class Recluse(dikin.FKM):
    def __init__(self, domain: Domain, horizon: int, **rest: Any) -> None:
        raise dikin.errors.DomainError(f"not on {domain}: use FKM")


def test_a_new_learner_takes_part_without_being_listed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found = registry.learners() | {c.kind: c for c in (Newcomer, Prophet, Recluse)}
    monkeypatch.setattr(registry, "learners", lambda: found)
    names = [word for name in ("newcomer", "prophet", "recluse") for word in ("--learner", name)]
    options = ["--environment", "zero", "--rounds", "50", "--seeds", "2", "--workers", "1"]
    result = run(tmp_path, *names, *options)
    assert result.exit_code == 0
    cells = {c.learner: c for c in matrix.read(tmp_path).cells}
    assert len(cells["Newcomer"].regrets) == 2
    assert cells["Prophet"].left_out == "asks for 'prophecy', which no game of compare declares"
    assert cells["Recluse"].left_out == "not on Ball(dim=2): use FKM"
    assert "Left out of all: Prophet asks for 'prophecy'" in result.output


# --- marks ----------------------------------------------------------------------------------------


def cell(learner: str, regrets: list[float], **changes: Any) -> Cell:
    made = Cell(learner, "zero", "VALUE", 100, tuple(range(len(regrets))), tuple(regrets), 1.0)
    return replace(made, **changes)


def test_the_best_is_marked_and_those_not_told_apart() -> None:
    best = cell("A", [10.0, 12.0, 11.0, 13.0])
    near = cell("B", [12.0, 10.0, 13.0, 12.0])
    paired = cell("C", [10.6, 12.5, 11.4, 13.5])  # close, and worse in every single game
    seer = cell("D", [1.0, 1.0, 1.0, 1.0], feedback=Feedback.PAIR.name)
    table = Matrix((best, near, paired, seer, Cell("E", "zero", "VALUE", 100, left_out="no")))
    assert [table.mark(c) for c in table.cells] == ["best", "tie", "", "", ""]
    assert table.ratio(paired) == pytest.approx(12.0 / 11.5)
    assert table.learners() == ["A", "B", "C", "D"]  # those that see more last
    assert list(table.absent()) == ["E no"]


def test_another_package_wins_if_it_does_and_ratios_are_to_this_library() -> None:
    ours, theirs = cell("A", [10.0, 12.0, 11.0]), cell("Z", [5.0, 6.0, 5.5], package="cma")
    table = Matrix((ours, theirs))
    assert [table.mark(c) for c in table.cells] == ["", "best"]
    assert [table.ratio(c) for c in table.cells] == [1.0, 0.5]
    assert table.learners() == ["A", "Z"]


def test_games_of_other_seeds_are_compared_by_welch() -> None:
    many = cell("A", [10.0, 12.0, 11.0, 13.0, 9.0, 12.0, 11.0, 10.0])
    assert not ties(cell("B", [16.0, 17.0, 16.5]), many)
    assert ties(cell("B", [11.0, 14.0, 12.0]), many)
    assert not ties(cell("B", [11.0]), many), "one game tells nothing, and is no tie"


def test_the_interval_is_students() -> None:
    # t(0.975, 3) = 3.1824; the standard deviation of 1, 2, 3, 4 is sqrt(5/3).
    assert half_interval([1.0, 2.0, 3.0, 4.0]) == pytest.approx(3.182446 * (5 / 3) ** 0.5 / 2)
    assert isnan(half_interval([1.0]))


def test_a_regret_of_nothing_does_not_make_the_others_infinite() -> None:
    table = Matrix((cell("A", [-5.0, -4.0]), cell("B", [30.0, 31.0])))
    assert table.ratio(table.cells[1]) == 30.5
    assert table.ratio(table.cells[0]) == 1.0


def test_help_shows_examples_line_by_line() -> None:
    page = CliRunner().invoke(main, ["compare", "--help"]).output
    assert "\n    dikin compare --environment linear --outsiders\n" in page
