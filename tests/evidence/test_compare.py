"""The matrix from one command: honest tunings, marks that mean what they say, clear mistakes."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from matrix_file import read_matrix
from rich.console import Console

import dikin
from dikin import registry
from dikin.domains.base import Domain
from dikin.engine.play import plain_rounds
from dikin.experiments.tables import read_csv
from evidence.compare import Request, Scenario, compare, plan
from evidence.compare.competitors import (
    Competitor,
    Entry,
    LeftOutError,
    enter,
    find_competitors,
)
from evidence.compare.plan import Match
from evidence.compare.scenarios import (
    SCENARIOS,
    DeclaredGame,
    find_scenarios,
)
from evidence.external import EXTERNAL, FixedPoint

ROOT = Path(__file__).resolve().parents[2]
HORIZON = 400


def learner(name: str) -> Competitor:
    return find_competitors([name.lower().partition("(")[0]], external=True)[name]


def entered(who: Competitor | str, scenario: str, seed: int = 0, horizon: int = HORIZON) -> Entry:
    competitor = learner(who) if isinstance(who, str) else who
    return enter(competitor, DeclaredGame.of(SCENARIOS[scenario], horizon, seed), seed)


def match(name: str, scenario: str) -> Match:
    """One game of some competitor."""
    return Match(HORIZON, range(1, 2), learner(name), SCENARIOS[scenario])


def run(out: Path, *learners: Any, **request: Any) -> str:
    """Play small games of these learners into a folder, and return what the terminal showed."""
    asked = {"scenarios": ("constant", "zero"), "rounds": 300, "seeds": 3, "workers": 1} | request
    console = Console(record=True, width=120, file=io.StringIO())
    compare(Request(learners=learners or SMALL, **asked), out, console)
    return console.export_text()


SMALL = ("FKM", "corral", "hazanlevy")


pytestmark = pytest.mark.usefixtures("unencoded")
"""But for the run that the next fixture makes once."""


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    out = tmp_path_factory.mktemp("compare")
    return out, run(out)


def test_the_files_have_every_learner_in_every_scenario(small: tuple[Path, str]) -> None:
    out, shown = small
    rows = read_csv(out / "compare.csv")
    assert {(r["learner"], r["scenario"]) for r in rows} == {
        (learner, scenario)
        for learner in ("FKM", "Corral", "HazanLevy")
        for scenario in ("constant", "zero")
    }
    assert [r["mark"] for r in rows if r["scenario"] == "zero"].count("best") == 1
    for row in rows:
        low, mean, high = (float(row[name]) for name in ("low", "regret", "high"))
        assert low <= mean <= high
        guessed = row["learner"] == "HazanLevy" and row["scenario"] == "zero"
        assert row["broken"] == ("curvature" if guessed else "")
        assert (row["rounds"], row["seeds"]) == ("300", "3")
        assert row["learner"] in shown
    assert (out / "compare.png").stat().st_size > 10_000
    assert all(len(c.regrets) == 3 for c in read_matrix(out).outcomes)


def test_learners_whose_standing_is_open_play_more_games(
    small: tuple[Path, str], tmp_path: Path
) -> None:
    """The first games are those of a run without a second look."""
    shown = run(tmp_path, most_seeds=5)
    once, twice = read_matrix(small[0]), read_matrix(tmp_path)
    assert (once.looks, twice.looks) == (1, 2)
    for before, after in zip(once.outcomes, twice.outcomes, strict=True):
        assert after.regrets[:3] == before.regrets
        assert (after.first_look, len(after.regrets)) == (3, 5), "three games leave all open"
    assert "6 cells whose standing is open play 5 games" in " ".join(shown.split())


@pytest.mark.parametrize(
    ("program", "options", "message"),
    [
        ("compare", ["--learner", "fkn"], "no learner is called 'fkn'. Did you mean 'fkm'?"),
        ("compare", ["--scenario", "consant"], "called 'consant'. Did you mean 'constant'?"),
        ("compare", ["--seeds", "0"], "0 is not a whole number of at least 1"),
        ("rates", ["--learner", "Nobody"], "the rate of 'Nobody' is not measured; choose from"),
    ],
)
def test_mistakes_end_with_status_2_and_a_sentence(
    program: str, options: list[str], message: str, tmp_path: Path
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", f"evidence.{program}", "--out", str(tmp_path / "out"), *options],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()


# --- tunings --------------------------------------------------------------------------------------


def test_every_learner_of_the_library_is_asked() -> None:
    def classes(external: bool) -> set[Any]:
        return {c.cls for c in find_competitors([], external).values() if not c.with_memory}

    own = {*registry.learners().values(), FixedPoint}
    assert classes(external=False) == own
    assert classes(external=True) == own | {*EXTERNAL.values()}


def test_regret_is_against_the_moving_minimum_where_that_moves() -> None:
    """The centre of the disc pays (0.8)^2/2 in every round, wherever on the circle the bowl is."""
    for name in ("circling", "jumping"):
        (game,) = match("FixedPoint", name).play()
        entry = entered("FixedPoint", name, 1)
        assert game["regret"] * entry.learner.units.loss_scale == pytest.approx(0.32 * HORIZON)
        run = dikin.play(entry.learner, entry.environment, HORIZON)
        assert run.regret[-1] < 0.3 * HORIZON, "against the best fixed point it is less"


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


def test_who_can_forget_plays_twice_where_something_moves(tmp_path: Path) -> None:
    both = find_competitors([Optional], external=False)
    assert list(both) == ["Optional", "Optional(memory)"]
    entry = entered(both["Optional(memory)"], "circling", horizon=1000)
    assert vars(entry.learner)["heard"]["memory"] == 400
    run(tmp_path, Optional, rounds=50, seeds=2, scenarios=("zero", "drift"))
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


def test_a_learner_of_a_user_takes_part_or_says_why_not(tmp_path: Path) -> None:
    shown = run(tmp_path, Newcomer, Prophet, Recluse, rounds=50, seeds=2, scenarios=("zero",))
    cells = {c.learner: c for c in read_matrix(tmp_path).outcomes}
    assert len(cells["Newcomer"].regrets) == 2
    assert cells["Prophet"].left_out == "asks for 'prophecy', which the game does not declare"
    assert cells["Recluse"].left_out == "not on Ball(dim=2): use FKM"
    assert "Left out of zero: Prophet asks for 'prophecy'" in shown


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
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path)
    assert not (tmp_path / "compare.csv").exists()
    finished = played[:2]
    assert "are there already" in run(tmp_path)
    assert not set(played[3:]) & set(finished)
    assert (tmp_path / "games.csv").read_bytes() == (small[0] / "games.csv").read_bytes()
    count = len(played)
    run(tmp_path)
    assert len(played) == count
    run(tmp_path, seed=1)
    assert len(played) == count + 6, "other seeds are other games"
    assert read_matrix(tmp_path).outcomes[0].regrets != read_matrix(small[0]).outcomes[0].regrets
    run(tmp_path, *SMALL, "scrible")
    assert len(played) == count + 8, "what was finished is kept when more is asked for"


# --- a scenario of one's own ----------------------------------------------------------------------


class Undeclared(dikin.Linear):
    """Says nothing about its losses but their range."""

    def __init__(self, *args: Any, **rest: Any) -> None:
        super().__init__(*args, **rest)
        self.smoothness = self.lipschitz = float("nan")


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
    found = compare(request, tmp_path)
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
        compare(request, tmp_path)


def test_matches_that_share_a_loop_go_to_one_worker() -> None:
    request = Request(learners=("fkm", "corral"), scenarios=("constant", "zero", "cone"))
    found = plan.plan_matches(request)
    batches = {(m.competitor.name, m.scenario.name): m.batch for m in found}
    assert batches["FKM", "constant"] == batches["FKM", "zero"] != batches["FKM", "cone"]
    assert batches["Corral", "constant"] != batches["Corral", "zero"], "nothing is compiled"
    assert len({m.key for m in found}) == len(found)
