"""Contexts of a tuner: weights, what is refused, one setting for each, and where they are drawn."""

import json
from collections.abc import Callable
from fractions import Fraction
from math import inf, isnan, nan, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dikin
from dikin.errors import ContextError, ParameterError
from dikin.tuning import contexts as contexts_module
from dikin.tuning.contexts import Contexts, Interval, Round
from dikin.tuning.history import context_panels

REGION = {"region": ["eu", "us"]}
ALL = REGION | {"hour": dikin.Cycle(24), "load": (0, 1)}
PRICE = {"price": dikin.Real(1, 14, start=4)}
TARGETS = {"eu": 9.0, "us": 3.0}


def tuner(context: Any = ALL, parameters: Any = PRICE, **options: Any) -> dikin.Tuner:
    return dikin.Tuner(parameters, context=context, seed=1, **options)


def text(player: dikin.Tuner) -> str:
    return json.dumps(player.state(), allow_nan=False)


def place(t: int) -> dict[str, Any]:
    return {"region": ("eu", "us")[t % 2], "hour": (5 * t) % 24, "load": (t % 7) / 7}


def play(player: dikin.Tuner, rounds: int, first: int = 0) -> None:
    for t in range(first, first + rounds):
        trial = player.ask(context=place(t))
        player.tell(trial, 0.1 * float(trial.point[0]) + 0.01 * (t % 5))


def learn_regions(player: dikin.Tuner, rounds: int) -> None:
    rng = np.random.default_rng(3)
    for t in range(rounds):
        region = ("eu", "us")[t % 2]
        trial = player.ask(context={"region": region})
        player.tell(trial, (trial["price"] - TARGETS[region]) ** 2 + rng.normal(0, 0.5))


# --- weights -------------------------------------------------------------------------------------


def hat(place: Fraction, knot: int, knots: int, *, round_again: bool) -> Fraction:
    """A hat function of width one, in exact arithmetic, as a piecewise definition."""
    away = abs(place - knot)
    if round_again:
        away = min(away, knots - away)
    return 1 - away if away < 1 else Fraction(0)


@pytest.mark.parametrize("share", [Fraction(k, 16) for k in range(17)])
def test_hats_on_a_range(share: Fraction) -> None:
    low, high = -3, 5  # sixteenths of it are exact in binary
    found = Interval(low, high).weights(float(low + (high - low) * share))
    assert found == [hat(2 * share, knot, 3, round_again=False) for knot in range(3)]


@pytest.mark.parametrize("eighth", range(-16, 25))
def test_hats_on_a_cycle(eighth: int) -> None:
    found = Round(dikin.Cycle(24)).weights(eighth * 3.0)
    share = Fraction(eighth % 8, 8)
    assert found == [hat(4 * share, knot, 4, round_again=True) for knot in range(4)]


@pytest.mark.parametrize("seed", range(5))
def test_weights_add_up_to_one_and_several_are_products(seed: int) -> None:
    known, rng = Contexts(ALL), np.random.default_rng(seed)
    assert known.size == 2 * 4 * 3 == len(known.labels) == len(set(known.labels))
    for _ in range(50):
        here = {
            "load": float(rng.random()),
            "hour": float(rng.normal(0, 100)),
            "region": str(rng.choice(["eu", "us"])),
        }
        weights = known.weights(known.checked(here))
        assert min(weights) >= 0.0
        assert sum(weights) == pytest.approx(1.0, abs=1e-12)
        parts = [part.weights(here[name]) for name, part in known.parts.items()]
        assert weights == pytest.approx(np.einsum("i,j,k->ijk", *parts).ravel().tolist(), abs=0)


def test_at_a_knot_all_weight_is_there() -> None:
    known = Contexts(ALL)
    for i, (label, here) in enumerate(known.grid()):
        assert known.labels[i] == label
        assert known.weights(known.checked(here)) == [float(j == i) for j in range(known.size)]


def test_a_mutant_that_does_not_come_round(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests of weights catch hats that end at midnight."""

    def cut(self: Round, value: float) -> list[float]:
        at = self.cycle.phase(float(value)) * contexts_module.HOURS
        return [max(0.0, 1.0 - abs(at - knot)) for knot in range(contexts_module.HOURS)]

    monkeypatch.setattr(Round, "weights", cut)
    with pytest.raises(AssertionError):
        test_hats_on_a_cycle(7)
    with pytest.raises(AssertionError):
        test_weights_add_up_to_one_and_several_are_products(0)


# --- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("declared", "words"),
    [
        ({}, "declared by name"),
        (["region"], "declared by name"),
        ({"region": ["eu"]}, "two different words"),
        ({"region": ["eu", "eu"]}, "two different words"),
        ({"region": "eu"}, "two different words"),
        ({"region": ["eu", 3]}, "two different words"),
        ({"region": ["eu", "u" * 101]}, "two different words"),
        ({"load": (1, 0)}, "two ends"),
        ({"load": (0, 0)}, "two ends"),
        ({"load": (0, inf)}, "two ends"),
        ({"load": (nan, 1)}, "two ends"),
        ({"load": (0, 1, 2)}, "two ends"),
        ({"load": (False, True)}, "two ends"),
        ({"load": {"kind": "rnage", "low": 0, "high": 1}}, "two ends"),
        ({"hour": {"kind": "cycle"}}, "cycle"),
        ({"": ["a", "b"]}, "1 to 100"),
        ({3: ["a", "b"]}, "1 to 100"),
        ({"a": dikin.Cycle(24), "b": dikin.Cycle(7), "c": [*"abcde"]}, "4 x 4 x 5 = 80 .* most 64"),
        ({"a": [f"{i}" for i in range(65)]}, "65 = 65 .* at most 64"),
    ],
    ids=str,
)
def test_what_cannot_be_declared(declared: Any, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        tuner(declared)


def test_sixty_four_settings_are_allowed() -> None:
    declared = {"a": dikin.Cycle(24), "b": dikin.Cycle(7), "c": [*"abcd"]}
    assert Contexts(declared).size == 64 == contexts_module.MOST


def test_a_name_is_a_context_or_a_covariate() -> None:
    with pytest.raises(ParameterError, match="'region' is declared as a context and as a cov"):
        tuner(REGION, covariates={"region": ["eu", "us"]})


GOOD = {"region": "eu", "hour": 3, "load": 0.5}


@pytest.mark.parametrize(
    ("context", "words"),
    [
        (None, "chooses by context"),
        (2.5, "chooses by context"),
        ([1, 2], "chooses by context"),
        ({}, "'region' is missing"),
        ({"region": "eu", "hour": 3}, "'load' is missing"),
        (GOOD | {"laod": 1}, "no context 'laod'. Did you mean 'load'"),
        (GOOD | {"region": "uk"}, "'eu', 'us'; got 'uk'"),
        (GOOD | {"region": 0}, "one of 'eu', 'us'"),
        (GOOD | {"region": np.array(["eu", "us"])}, "one of 'eu', 'us'"),
        (GOOD | {"region": None}, "one of 'eu', 'us'"),
        (GOOD | {"load": -0.001}, "between 0 and 1; got -0.001"),
        (GOOD | {"load": 1.001}, "between 0 and 1"),
        (GOOD | {"load": nan}, "a finite number.*got nan"),
        (GOOD | {"load": "0.5"}, "a finite number"),
        (GOOD | {"load": True}, "a finite number"),
        (GOOD | {"hour": inf}, "a finite number"),
        (GOOD | {"hour": 1e300}, "a finite number below"),
        (GOOD | {"hour": [3]}, "a finite number"),
    ],
    ids=str,
)
def test_a_context_that_is_refused_changes_nothing(context: Any, words: str) -> None:
    player = tuner()
    play(player, 12)
    player.ask(context=GOOD)
    before = text(player)
    acts: list[Callable[[], Any]] = [
        lambda: player.ask(context=context),
        lambda: player.ask(context=context, n=3),
        lambda: player.best_for(context),
    ]
    for act in acts:
        with pytest.raises(ContextError, match=words):
            act()
        assert text(player) == before


def test_a_tuner_without_contexts_refuses_them() -> None:
    player = tuner(None)
    before = text(player)
    with pytest.raises(ContextError, match="declared without contexts"):
        player.ask(context={"region": "eu"})
    with pytest.raises(ContextError, match="declared without contexts"):
        player.best_for({"region": "eu"})
    assert text(player) == before
    assert player.best_for() == player.best


# --- settings ------------------------------------------------------------------------------------


def test_each_context_gets_its_setting() -> None:
    player = tuner(REGION)
    assert player.best_for({"region": "eu"}) == {"price": 4}
    learn_regions(player, 600)
    for region, target in TARGETS.items():
        assert abs(player.best_for({"region": region})["price"] - target) < 1.0
        trial = player.ask(context={"region": region})
        assert trial.context == {"region": region}
        assert abs(trial["price"] - target) < 2.5
    found = player.summary()
    assert found.by_context == {name: player.best_for({"region": name}) for name in TARGETS}
    assert found.contexts == REGION
    assert found.covariates is None
    lines = dict(found.lines())
    assert lines["eu"].startswith("price ")
    assert "in the mean of contexts" in lines["price"]


def test_a_mutant_that_forgets_the_context(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test above catches weights that are the same everywhere."""
    monkeypatch.setattr(Contexts, "weights", lambda self, _: [1.0 / self.size] * self.size)
    with pytest.raises(AssertionError):
        test_each_context_gets_its_setting()


def test_between_two_knots_a_setting_is_their_mean() -> None:
    player = tuner({"load": (0, 1)})
    for t in range(90):
        load = (t % 3) / 2
        trial = player.ask(context={"load": load})
        player.tell(trial, (trial["price"] - 4 - 5 * load) ** 2)
    low, middle = (player.best_for({"load": load})["price"] for load in (0, 0.5))
    assert low != middle
    assert player.best_for({"load": 0.125})["price"] == pytest.approx(0.75 * low + 0.25 * middle)


def test_on_hold_the_best_setting_of_the_context_is_played() -> None:
    player = tuner(REGION)
    learn_regions(player, 60)
    player.hold()
    before = {region: player.best_for({"region": region}) for region in TARGETS}
    assert before["eu"] != before["us"]
    for region, best in before.items():
        trial = player.ask(context={"region": region})
        assert trial.held
        assert trial.params == best
        player.tell(trial, 99.0)
    assert {region: player.best_for({"region": region}) for region in TARGETS} == before


KINDS: dict[str, tuple[Any, Any]] = {
    "integer": ({"n": dikin.Integer(0, 9), "x": dikin.Real(0, 1)}, ()),
    "levels": ({"batch": dikin.Levels([16, 32, 64])}, ()),
    "shares": ({"split": dikin.Shares(["a", "b", "c"])}, ()),
    "constraints": ({"x": dikin.Real(0, 1), "y": dikin.Real(0, 1)}, ["x + 2 * y <= 1"]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_parameter_and_a_state_with_open_trials(kind: str, tmp_path: Path) -> None:
    parameters, constraints = KINDS[kind]
    player = tuner(ALL, parameters, constraints=constraints, maximize=True)
    play(player, 30)
    waiting = [player.ask(context=place(t)) for t in range(3)]
    player.save(tmp_path / "a.json")
    twin = dikin.load(tmp_path / "a.json")
    assert text(twin) == text(player)
    assert [trial.context for trial in twin.open_queries] == [trial.context for trial in waiting]
    for each in (player, twin):
        each.tell(waiting[1].id, 1.5)
        play(each, 20, 7)
        each.tell(waiting[0].id, 0.5)
    assert text(twin) == text(player)
    for t in range(8):
        setting = player.best_for(place(t))
        assert setting == twin.best_for(place(t))
        asked = player.ask(context=place(t)).params
        for found in (setting, asked):
            if kind == "integer":
                assert isinstance(found["n"], int)
            elif kind == "levels":
                assert found["batch"] in (16, 32, 64)
            elif kind == "shares":
                assert sum(found["split"].values()) == pytest.approx(1.0)
            else:
                assert found["x"] + 2 * found["y"] <= 1 + 1e-9


def test_a_state_with_a_context_that_cannot_be_is_refused() -> None:
    player = tuner(REGION)
    player.ask(context={"region": "eu"})
    state = player.state()
    state["known"][0][2] = {"region": "mars"}
    with pytest.raises(dikin.DikinError):
        dikin.restore(json.loads(json.dumps(state)))


def test_history_has_a_column_for_each_context() -> None:
    player = tuner()
    play(player, 6)
    table = player.history()
    assert table["context.region"].tolist() == ["eu", "us"] * 3
    assert table["context.hour"].tolist() == [place(t)["hour"] for t in range(6)]
    assert not [name for name in table.dtype.names or () if name.startswith("covariate.")]


def test_a_status_tells_sixteen_settings_at_most() -> None:
    """Of so many words that they are no covariate."""
    player = tuner({"a": [f"w{i}" for i in range(40)]})
    for i in range(40):
        player.tell(player.ask(context={"a": f"w{i}"}), 0.1 * i)
    assert not player.explained.by
    assert player.history()["context.a"][-1] == "w39"
    assert list(player.summary().by_context or {}) == [f"w{i}" for i in range(16)]


# --- drawing -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("declared", "across", "lines"),
    [
        (REGION, "region", [""]),
        ({"load": (0, 1)}, "load", [""]),
        (ALL, "hour", ["eu, load 0", "eu, load 0.5", "eu, load 1", "us, load 0"]),
        (REGION | {"device": [*"abc"]}, "device", ["eu", "us"]),
    ],
    ids=str,
)
def test_what_is_drawn_over_contexts(declared: Any, across: str, lines: list[str]) -> None:
    player = tuner(declared)
    (panel,) = context_panels(player.space, player.contexts, player._center_in)
    assert panel.across == across
    assert [line.label for line in panel.lines][: len(lines)] == lines
    assert all(len(line.y) == len(panel.xs) for line in panel.lines)


def test_the_figure_shows_the_setting_of_each_region() -> None:
    player = tuner(REGION, PRICE | {"split": dikin.Shares(["a", "b"])})
    learn_regions(player, 40)
    axes = player.plot().axes
    assert [each.get_title("left") for each in axes[-2:]] == ["price", "split"]
    tops = [bar.get_y() + bar.get_height() for bar in axes[-2].patches]
    assert tops == pytest.approx([player.best_for({"region": each})["price"] for each in TARGETS])
    assert [tick.get_text() for tick in axes[-2].get_xticklabels()] == ["eu", "us"]
    assert len(axes[-1].patches) == 4


def test_the_figure_has_a_line_over_a_cycle() -> None:
    player = tuner({"hour": dikin.Cycle(24)})
    for t in range(60):
        trial = player.ask(context={"hour": t % 24})
        player.tell(trial, (trial["price"] - 4 - t % 24 / 6) ** 2)
    line = player.plot().axes[-1].lines[0]
    assert (line.get_xdata()[0], line.get_xdata()[-1]) == (0, 24)
    for hour in (0, 3, 12):
        at = list(line.get_xdata()).index(hour)
        assert line.get_ydata()[at] == player.best_for({"hour": hour})["price"]
    assert line.get_ydata()[0] == line.get_ydata()[-1]


# --- the standard error of the recent mean -------------------------------------------------------


def test_the_standard_error_is_that_of_the_surprises() -> None:
    """Of values whose level rises by ten times the noise in 100 rounds the trend does not count."""
    player, rng, surprises = tuner(None), np.random.default_rng(5), []
    assert isnan(player.summary().recent_sem)
    for t in range(300):
        trial = player.ask()
        value = 0.1 * t + rng.normal(0, 1.0)
        surprises.append(value - trial.expected)
        player.tell(trial, value)
    found = player.summary()
    last = np.array(surprises[-100:])
    assert found.recent_sem == pytest.approx(sqrt(((last - last.mean()) ** 2).sum() / 99 / 100))
    values = player.history()["value"][-100:]
    assert found.recent_sem < 0.6 * values.std(ddof=1) / 10
    assert dikin.restore(player.state()).summary().recent_sem == found.recent_sem
    assert f"± {found.recent_sem:.2g} (standard error)" in str(found)
