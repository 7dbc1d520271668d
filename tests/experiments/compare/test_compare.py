"""The matrix from one command: honest tunings, marks that mean what they say, clear mistakes."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from matrix_file import read_matrix

import dikin
from dikin import registry
from dikin.cli import main
from dikin.domains.base import Domain
from dikin.engine.play import plain_rounds
from dikin.experiments import compare
from dikin.experiments.compare import Request, Scenario, plan
from dikin.experiments.compare.competitors import (
    Competitor,
    Entry,
    LeftOutError,
    enter,
    find_competitors,
)
from dikin.experiments.compare.external import EXTERNAL, FixedPoint
from dikin.experiments.compare.plan import Match
from dikin.experiments.compare.scenarios import (
    GROUPS,
    SCENARIOS,
    DeclaredGame,
    find_scenarios,
)
from dikin.experiments.tables import read_csv
from tables import scratch

HORIZON = 400


def learner(name: str) -> Competitor:
    return find_competitors([name.lower().partition("(")[0]], external=True)[name]


def entered(who: Competitor | str, scenario: str, seed: int = 0, horizon: int = HORIZON) -> Entry:
    competitor = learner(who) if isinstance(who, str) else who
    return enter(competitor, DeclaredGame.of(SCENARIOS[scenario], horizon, seed), seed)


def match(name: str, scenario: str) -> Match:
    """One game of some competitor."""
    return Match(HORIZON, range(1, 2), learner(name), SCENARIOS[scenario])


def run(out: Path, *options: str) -> Any:
    return CliRunner().invoke(main, ["compare", "--out", str(out), *options])


SMALL = [
    *("--learner", "FKM", "--learner", "corral", "--learner", "hazanlevy"),
    *("--scenario", "constant", "--scenario", "zero", "--rounds", "300", "--seeds", "3"),
]


pytestmark = pytest.mark.usefixtures("unencoded")
"""But for the run that the next fixture makes once."""


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    out = tmp_path_factory.mktemp("compare")
    result = run(out, *SMALL, "--workers", "1")
    assert result.exit_code == 0, result.output
    return out, result.output


def test_the_files_and_the_screen_say_the_same(small: tuple[Path, str]) -> None:
    out, shown = small
    rows = read_csv(out / "compare.csv")
    assert {(r["learner"], r["scenario"]) for r in rows} == {
        (learner, scenario)
        for learner in ("FKM", "Corral", "HazanLevy")
        for scenario in ("constant", "zero")
    }
    assert {r["rounds"] for r in rows} == {"300"}
    assert {r["seeds"] for r in rows} == {"3"}
    assert [r["mark"] for r in rows if r["scenario"] == "zero"].count("best") == 1
    for row in rows:
        low, mean, high = (float(row[name]) for name in ("low", "regret", "high"))
        assert low <= mean <= high
        assert f"{mean:,.0f} ±{high - mean:,.0f}" in shown
        guessed = row["learner"] == "HazanLevy" and row["scenario"] == "zero"
        assert row["broken"] == ("curvature" if guessed else "")
        assert float(row["seconds"]) > 0
    assert "300 rounds" in shown
    assert (out / "compare.png").stat().st_size > 10_000
    again = read_matrix(out)
    assert {c.learner for c in again.outcomes} == {"FKM", "Corral", "HazanLevy"}
    assert all(len(c.regrets) == 3 for c in again.outcomes)


def test_two_workers_play_the_same_games(small: tuple[Path, str], tmp_path: Path) -> None:
    assert run(tmp_path, *SMALL, "--workers", "2").exit_code == 0
    assert (tmp_path / "games.csv").read_bytes() == (small[0] / "games.csv").read_bytes()


def test_another_seed_plays_other_games(small: tuple[Path, str], tmp_path: Path) -> None:
    options = ["--learner", "fkm", "--scenario", "zero", "--rounds", "300", "--seeds", "2"]
    assert run(tmp_path, *options, "--seed", "1", "--workers", "1").exit_code == 0
    first = read_matrix(small[0]).at("FKM", "zero")
    other = read_matrix(tmp_path).at("FKM", "zero")
    assert first is not None
    assert other is not None
    assert set(first.regrets).isdisjoint(other.regrets)


def test_learners_whose_standing_is_open_play_more_games(
    small: tuple[Path, str], tmp_path: Path
) -> None:
    """The first games are those of a run without a second look."""
    result = run(tmp_path, *SMALL, "--workers", "1", "--most-seeds", "5")
    assert result.exit_code == 0, result.output
    once, twice = read_matrix(small[0]), read_matrix(tmp_path)
    assert (once.looks, twice.looks) == (1, 2)
    for before, after in zip(once.outcomes, twice.outcomes, strict=True):
        assert after.regrets[:3] == before.regrets
        assert (after.first_look, len(after.regrets)) == (3, 5), "three games leave all open"
    assert "6 cells whose standing is open play 5 games" in " ".join(result.output.split())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--learner", "fkn"], "no learner is called 'fkn'. Did you mean 'fkm'?"),
        (["--scenario", "consant"], "is called 'consant'. Did you mean 'constant'?"),
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
    def classes(external: bool) -> set[Any]:
        return {c.cls for c in find_competitors([], external).values() if not c.with_memory}

    own = {*registry.learners().values(), FixedPoint}
    assert classes(external=False) == own
    assert classes(external=True) == own | {*EXTERNAL.values()}


def test_a_fixed_point_is_no_way_to_play() -> None:
    """The centre pays some hundredths of half the losses' range every round.

    Not in hostile games: where the direction turns round, no point is better than another.
    """
    for name, scenario in SCENARIOS.items():
        (game,) = match("FixedPoint", name).play()
        assert scenario.group == "hostile" or game["regret"] / HORIZON > 0.03, name


def test_regret_is_against_the_moving_minimum_where_that_moves() -> None:
    """The centre of the disc pays (0.8)^2/2 in every round, wherever on the circle the bowl is."""
    for name in ("circling", "jumping"):
        (game,) = match("FixedPoint", name).play()
        entry = entered("FixedPoint", name, 1)
        assert game["regret"] * entry.learner.units.loss_scale == pytest.approx(0.32 * HORIZON)
        run = dikin.play(entry.learner, entry.environment, HORIZON)
        assert run.regret[-1] < 0.3 * HORIZON, "against the best fixed point it is less"


def test_every_scenario_has_a_group_and_best_points_differ_by_seed() -> None:
    assert {s.group for s in SCENARIOS.values()} == set(GROUPS) - {"own"}
    for scenario in SCENARIOS.values():
        one, two = (scenario.game(HORIZON, seed) for seed in (1, 2))
        for world in (one, two):
            for _ in range(HORIZON - 10):  # a circle that closes is centred
                world.answer(world.domain.center)
        assert not np.allclose(one.best()[0], two.best()[0]), scenario.name


@pytest.mark.parametrize("name", SCENARIOS)
def test_what_is_told_is_true_or_marked(name: str) -> None:
    declared = DeclaredGame.of(SCENARIOS[name], HORIZON, 1)
    game, constants, chosen = declared.environment, declared.constants, declared.chosen
    assert constants["loss_range"] == game.loss_range
    assert constants["lipschitz"] == game.lipschitz
    assert ("smoothness" in chosen) != (constants["smoothness"] == game.smoothness)
    sigmas = [game.curvature(t) for t in range(1, HORIZON + 1)]
    always = min(sigmas) == max(sigmas) > 0 and SCENARIOS[name].tells_curvature
    assert ("curvature" in chosen) != always
    if always:
        assert constants["curvature"] == pytest.approx(sigmas[0], rel=1e-12)


@pytest.mark.parametrize("name", find_competitors([], external=False))
def test_every_learner_plays_or_says_why_not(name: str) -> None:
    """In every scenario, for a few rounds, told no more curvature than it takes."""
    reasons: list[str] = []
    for scenario in filter(learner(name).plays, SCENARIOS.values()):
        try:
            entry = entered(name, scenario.name, 1)
        except LeftOutError as reason:
            reasons.append(str(reason))
            continue
        assert entry.learner.units.loss_range == entry.environment.loss_range
        sigma = scenario.game(HORIZON, 1).curvature(HORIZON // 3)
        most = min(sigma, entry.learner.curvature_limit[0])
        assert entry.environment.curvature(HORIZON // 3) == (
            most if scenario.tells_curvature else 0.0
        )
        plain_rounds(entry.learner, entry.environment)(3)
    assert all(len(reason) > 10 for reason in reasons)


@pytest.mark.parametrize(
    ("name", "scenario", "broken"),
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
    name: str, scenario: str, broken: tuple[str, ...]
) -> None:
    assert entered(name, scenario).broken == broken


def test_an_optional_horizon_is_not_given_and_an_optional_smoothness_only_if_true() -> None:
    """One that needs the horizon gets it; one that can do without plays better so."""
    assert entered("AdaptiveSmooth", "zero").learner.horizon is None
    assert entered("FKM", "zero").learner.horizon == HORIZON
    given = {}
    for name in ("zero", "cone"):
        entry = entered(Competitor("Optional", Optional), name)
        given[name] = vars(entry.learner)["heard"]
        assert entry.broken == ()
    assert given["zero"] == {"smoothness": 1.0, "lipschitz": pytest.approx(1.9), "memory": None}
    assert given["cone"] == {"smoothness": None, "lipschitz": 1.0, "memory": None}


class Optional(dikin.FKM):
    """Can do without everything, and can forget."""

    def __init__(
        self,
        domain: Domain,
        smoothness: float | None = None,
        lipschitz: float | None = None,
        loss_range: Any = None,
        start: Any = None,
        memory: int | None = None,
        seed: int | None = None,
    ) -> None:
        super().__init__(domain, HORIZON, lipschitz, loss_range=loss_range, seed=seed)
        assert start is None
        self.heard = {"smoothness": smoothness, "lipschitz": lipschitz, "memory": memory}


def test_who_can_forget_plays_twice_where_something_moves(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found = registry.learners() | {"optional": Optional}
    monkeypatch.setattr(registry, "learners", lambda: found)
    both = find_competitors(["optional"], external=False)
    assert list(both) == ["Optional", "Optional(memory)"]
    entry = entered(both["Optional(memory)"], "circling", horizon=1000)
    assert vars(entry.learner)["heard"]["memory"] == 400
    options = ["--learner", "optional", "--rounds", "50", "--seeds", "2", "--workers", "1"]
    result = run(tmp_path, *options, "--scenario", "zero", "--scenario", "drift")
    assert result.exit_code == 0, result.output
    cells = {(c.learner, c.scenario): c for c in read_matrix(tmp_path).outcomes}
    twice = {(n, s) for n in both for s in ("circling", "jumping")}
    assert set(cells) == twice | {("Optional", "zero"), ("Optional", "season")}
    assert {c.scenario for c in cells.values() if c.moving} == {"circling", "jumping"}
    assert ("circling", "Optional", "Optional(memory)") in read_matrix(tmp_path).p_values


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
    options = ["--scenario", "zero", "--rounds", "50", "--seeds", "2", "--workers", "1"]
    result = run(tmp_path, *names, *options)
    assert result.exit_code == 0
    cells = {c.learner: c for c in read_matrix(tmp_path).outcomes}
    assert len(cells["Newcomer"].regrets) == 2
    assert cells["Prophet"].left_out == "asks for 'prophecy', which the game does not declare"
    assert cells["Recluse"].left_out == "not on Ball(dim=2): use FKM"
    assert "Left out of all: Prophet asks for 'prophecy'" in result.output


# --- an interrupted run ---------------------------------------------------------------------------


def test_an_interrupted_run_goes_on_where_it_was(
    small: tuple[Path, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Stopped in the middle of the games, then run again: the same games, none played twice."""
    played: list[str] = []
    play = Match.play

    def counted(match: Match) -> Any:
        played.append(match.key)
        if len(played) == 3:
            raise KeyboardInterrupt
        return play(match)

    monkeypatch.setattr(Match, "play", counted)
    assert run(tmp_path, *SMALL, "--workers", "1").exit_code == 130
    assert not (tmp_path / "compare.csv").exists()
    finished = played[:2]
    again = run(tmp_path, *SMALL, "--workers", "1")
    assert again.exit_code == 0
    assert "are there already" in again.output
    assert not set(played[3:]) & set(finished)
    assert (tmp_path / "games.csv").read_bytes() == (small[0] / "games.csv").read_bytes()
    count = len(played)
    assert run(tmp_path, *SMALL, "--workers", "1").exit_code == 0
    assert len(played) == count
    assert run(tmp_path, *SMALL, "--workers", "1", "--seed", "1").exit_code == 0
    assert len(played) == count + 6, "other seeds are other games"
    assert run(tmp_path, *SMALL, "--workers", "1", "--learner", "scrible").exit_code == 0
    assert len(played) == count + 8, "what was finished is kept when more is asked for"


def test_slow_cells_can_have_fewer_games() -> None:
    def games(**request: int) -> list[int]:
        """Of a quick learner, of a slow one, and of a slow one that is in no comparison."""
        made = Request(**request)  # type: ignore[arg-type]
        return [made.games(*cell) for cell in ((True, False), (False, True), (False, False))]

    assert games(seeds=32, slow_seeds=8) == [32, 8, 2]
    assert games(seeds=32) == [32, 32, 2]
    assert games() == [8, 4, 2]
    assert games(seeds=1) == [1, 1, 1]


def test_help_shows_examples_line_by_line() -> None:
    page = CliRunner().invoke(main, ["compare", "--help"]).output
    assert "\n    dikin compare --scenario linear --scenario drift --external\n" in page


# --- a scenario of one's own ----------------------------------------------------------------------


class Slope(dikin.Linear):
    """An environment of a user."""


class Undeclared(dikin.Linear):
    """Says nothing about its losses but their range."""

    def __init__(self, *args: Any, **rest: Any) -> None:
        super().__init__(*args, **rest)
        self.smoothness = self.lipschitz = float("nan")


def test_a_registered_environment_is_a_scenario(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    scratch(monkeypatch)
    assert "slope" not in {s.name for s in find_scenarios([])}
    result = run(tmp_path, "--scenario", "slope")
    assert result.exit_code == 2
    assert "no scenario of compare is called 'slope'" in result.output
    dikin.register(Slope)
    assert [s.name for s in find_scenarios(["own", "zero"])] == ["zero", "slope"]
    assert find_scenarios(["slope"]) == find_scenarios([Slope])
    assert len(find_scenarios([])) == len(SCENARIOS), "only when it is asked for"
    options = ["--learner", "fkm", "--learner", "scrible", "--rounds", "50", "--seeds", "2"]
    result = run(tmp_path, *options, "--scenario", "slope", "--workers", "1")
    assert result.exit_code == 0, result.output
    assert "Your own: regret after 50 rounds" in result.output
    found = read_matrix(tmp_path).outcomes
    assert {(c.learner, c.scenario, len(c.regrets)) for c in found} == {
        ("FKM", "slope", 2),
        ("Scrible", "slope", 2),
    }


def test_scenarios_are_values_too_on_any_domain(tmp_path: Path) -> None:
    box = dikin.Box([0.0], [4.0])
    wanted = (
        Scenario.own("steep", lambda horizon, seed: dikin.Linear(box, 3.0, seed)),
        Scenario.own("unknown", lambda horizon, seed: Undeclared(box, 1.0, seed)),
    )
    request = Request(
        learners=(dikin.Scrible, "fkm", "agarwaldekelxiao"),
        scenarios=wanted,
        rounds=50,
        seeds=2,
        workers=1,
    )
    found = compare.compare(request, tmp_path)
    steep = {c.learner: c for c in found.outcomes if c.scenario == "steep"}
    assert all(c.played and "lipschitz" not in c.broken for c in steep.values())
    unknown = {c.learner: c for c in found.outcomes if c.scenario == "unknown"}
    assert unknown["AgarwalDekelXiao"].left_out == (
        "asks for 'lipschitz', which the game does not declare"
    )
    assert unknown["FKM"].played


def test_two_scenarios_of_one_name_are_refused() -> None:
    twin = Scenario.own("zero", lambda horizon, seed: dikin.Linear(dikin.Ball(2), 1.0, seed))
    with pytest.raises(dikin.errors.ParameterError, match="two scenarios are called 'zero'"):
        find_scenarios(["zero", twin])
    assert find_scenarios([twin, twin]) == [twin]


def test_two_learners_of_one_name_are_refused() -> None:
    impostor: Any = type("FKM", (dikin.FKM,), {})
    with pytest.raises(dikin.errors.ParameterError, match="two competitors are called FKM"):
        find_competitors(["fkm", impostor], external=False)
    assert len(find_competitors(["fkm", dikin.FKM], external=False)) == 1


@pytest.mark.parametrize("moving", [False, True])
def test_a_scenario_without_a_best_point_is_refused(moving: bool, tmp_path: Path) -> None:
    def game(horizon: int, seed: int) -> dikin.Environment:
        given = {"comparator": [0.5]} if moving else {}
        box = dikin.Box([0.0], [1.0])
        return dikin.FromFunction(box, lambda t, x: x[0], loss_range=(0, 1), **given)

    request = Request(
        learners=("fkm",),
        scenarios=(Scenario.own("bare", game, moving=moving),),
        rounds=10,
        seeds=1,
        workers=1,
    )
    with pytest.raises(dikin.errors.ParameterError, match=r"'bare' has no regret.* comparator"):
        compare.compare(request, tmp_path)


def test_what_is_compared_on_purpose_is_not_warned_of(recwarn: pytest.WarningsRecorder) -> None:
    warnings.simplefilter("always")
    (match,) = plan.plan_matches(
        Request(learners=("adaptivesmooth",), scenarios=("thin-20",), rounds=10, seeds=1)
    )
    match.play()
    assert not recwarn.list
    entered("AdaptiveSmooth", "thin-20")
    assert recwarn.pop(dikin.errors.SlowLearnerWarning), "the probe sees it"


def test_matches_that_share_a_loop_go_to_one_worker() -> None:
    request = Request(learners=("fkm", "corral"), scenarios=("constant", "zero", "cone"))
    found = plan.plan_matches(request)
    batches = {(m.competitor.name, m.scenario.name): m.batch for m in found}
    assert batches["FKM", "constant"] == batches["FKM", "zero"] != batches["FKM", "cone"]
    assert batches["Corral", "constant"] != batches["Corral", "zero"], "nothing is compiled"
    assert len({m.key for m in found}) == len(found)
