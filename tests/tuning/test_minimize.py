"""A whole game in one call: the result, its digits, what is refused, Ctrl-C."""

from __future__ import annotations

import logging
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from decimal import Decimal
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import dikin
from dikin import Ball, Box, Integer, Predictive, Real, Shares, maximize, minimize
from dikin.errors import DomainError, LossError, ParameterError
from dikin.tuning import minimize as module

PLANE = {"price": Real(1, 14, start=4), "ads": Real(0, 60, start=40)}


def bowl(seed: int = 0, noise: float = 0.3) -> Callable[[dict[str, float]], float]:
    """Least at price 8 and ads 20, with noise of its own seed."""
    rng = np.random.default_rng(seed)

    def value(params: dict[str, float]) -> float:
        price, ads = params["price"] - 8, (params["ads"] - 20) / 5
        return price**2 + ads**2 + noise * rng.normal()

    return value


@pytest.fixture
def known_costs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fixed numbers for what the learner has to say of exploring."""
    costs = property(lambda learner: 1.25)
    monkeypatch.setattr(Predictive, "exploring_cost", costs, raising=False)
    monkeypatch.setattr(Predictive, "outlook", lambda learner, rounds: 300.0, raising=False)


# --- what is found -------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_noisy_bowl(seed: int) -> None:
    result = minimize(bowl(seed), PLANE, 1000, seed=seed)
    # From the start, at a distance of 4 each, to within a tenth of it: seeds are fixed.
    assert abs(result.best["price"] - 8) < 0.4
    assert abs(result.best["ads"] - 20) / 5 < 0.4
    assert result.value < 0.1 * result.first_value
    assert result.rounds == result.planned_rounds == len(result.history) == 1000


def test_the_result_is_that_of_a_tuner_played_by_hand() -> None:
    result, value = minimize(bowl(), PLANE, 60, seed=5), bowl()
    tuner = dikin.Tuner(PLANE, seed=5)
    for row in result.history:
        trial = tuner.ask()
        told = value(trial.params)
        tuner.tell(trial, told)
        assert row["value"] == told
        assert (row["price"], row["ads"]) == (trial["price"], trial["ads"])
        np.testing.assert_equal(row["expected"], trial.expected)
        assert (row["best.price"], row["best.ads"]) == tuple(tuner.best.values())
    assert result.best == tuner.best
    assert result.tuner is not None
    assert result.tuner.state() == tuner.state()


def test_the_result_is_that_of_a_learner_played_by_hand() -> None:
    domain, start = Box([0, 0], [4, 2]), [1.0, 1.5]
    options: dict[str, Any] = {"start": start, "smoothness": 2.0, "memory": 30, "seed": 3}
    result = minimize(lambda x: float(x @ x), domain, 40, value_range=(0, 20), **options)
    former = minimize(lambda x: float(x @ x), domain, 40, loss_range=(0, 20), **options)
    assert former.learner.state() == result.learner.state()
    learner = Predictive(domain, loss_range=(0, 20), **options)
    for row in result.history:
        query = learner.ask()
        learner.tell(query, float(query.point @ query.point))
        assert (row["x_0"], row["x_1"]) == tuple(query.point)
        assert row["certificate"] == learner.certificate
        assert (row["best.x_0"], row["best.x_1"]) == tuple(learner.center)
    np.testing.assert_array_equal(result.best, learner.center)
    assert result.tuner is None
    assert result.learner.state() == learner.state()


@pytest.mark.parametrize("parameters", [{"x": Real(0, 1)}, Box([0], [1])], ids=["named", "domain"])
def test_the_log_speaks_of_values(parameters: Any, caplog: pytest.LogCaptureFixture) -> None:
    maximize(lambda x: 5.0, parameters, 3, value_range=(0, 1), seed=1)
    assert "the value 5 lies outside value_range=(0, 1)" in caplog.text


@pytest.mark.parametrize("parameters", [PLANE, Box([1, 0], [14, 60])], ids=["named", "domain"])
def test_maximize_is_minimize_of_the_negative_digit_for_digit(parameters: Any) -> None:
    def value(x: Any) -> float:
        return bowl(noise=0)(x if isinstance(x, dict) else {"price": x[0], "ads": x[1]})

    known = {"smoothness": 300.0, "seed": 4}
    up = maximize(lambda x: -value(x), parameters, 300, value_range=(-300, 0), **known)
    down = minimize(value, parameters, 300, value_range=(0, 300), **known)
    assert (up.value, up.first_value) == (-down.value, -down.first_value)
    np.testing.assert_equal(up.best, down.best)
    for name in down.history.dtype.names or ():
        sign = -1 if name in ("value", "expected") else 1
        np.testing.assert_array_equal(up.history[name], sign * down.history[name], err_msg=name)
    assert (up.maximize, down.maximize) == (True, False)


def test_a_seed_is_a_game() -> None:
    one, two = (minimize(bowl(), PLANE, 50, seed=9) for _ in range(2))
    other = minimize(bowl(), PLANE, 50, seed=10)
    assert one.history.tobytes() == two.history.tobytes()
    assert one.best == two.best != other.best


def test_values_are_means_of_so_many() -> None:
    result = minimize(bowl(), PLANE, 60, seed=1)
    values = result.history["value"].tolist()
    assert result.averaged == 12
    assert result.first_value == pytest.approx(sum(values[:12]) / 12, rel=1e-12)
    assert result.value == pytest.approx(sum(values[-12:]) / 12, rel=1e-12)
    assert minimize(bowl(), PLANE, 3, seed=1).averaged == 1
    assert minimize(bowl(), PLANE, 700, seed=1).averaged == 100


def test_every_kind_of_parameter_and_constraints() -> None:
    seen: list[dict[str, Any]] = []

    def value(params: dict[str, Any]) -> float:
        seen.append(params)
        return params["level"] + params["a"] - params["b"] + params["traffic"]["new"]

    parameters = {
        "level": Integer(1, 9),
        "a": Real(0, 1),
        "b": Real(0, 1),
        "traffic": Shares(["old", "new"]),
    }
    result = minimize(value, parameters, 40, constraints="a + b <= 1", seed=1)
    assert all(isinstance(each["level"], int) for each in seen)
    assert all(each["a"] + each["b"] <= 1 + 1e-9 for each in seen)
    assert result.history["traffic.new"].tolist() == [each["traffic"]["new"] for each in seen]
    assert set(result.best) == set(parameters)


def test_points_of_a_matrix_domain() -> None:
    result = minimize(lambda x: float(x[0, 0]), dikin.Spectrahedron(2), 30, seed=1)
    assert result.best.shape == (2, 2)
    assert {"x_0_0", "x_1_1", "best.x_0_1"} <= {*(result.history.dtype.names or ())}


def test_a_function_may_change_what_it_is_given() -> None:
    def spoiling(x: Any) -> float:
        value = float(x @ x)
        x[:] = 99.0
        return value

    spoilt = minimize(spoiling, Ball(2), 40, seed=1)
    sound = minimize(lambda x: float(x @ x), Ball(2), 40, seed=1)
    assert spoilt.history.tobytes() == sound.history.tobytes()


def test_a_history_grows_with_its_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = minimize(bowl(), PLANE, 100, seed=1).history
    monkeypatch.setattr(module, "FIRST_ROWS", 3)
    grown = minimize(bowl(), PLANE, 100, seed=1).history
    assert grown.tobytes() == whole.tobytes()
    assert whole["round"].tolist() == [*range(1, 101)]


def test_the_tuner_of_a_result_plays_on() -> None:
    result = minimize(bowl(), PLANE, 20, seed=1)
    assert result.tuner is not None
    result.tuner.tell(result.tuner.ask(), 1.0)
    assert result.tuner.rounds == 21


# --- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "returned", [float("nan"), float("inf"), None, "12", [1.0], True, 1j, np.zeros(2)]
)
@pytest.mark.parametrize("parameters", [{"x": Real(0, 8, start=4)}, Ball(1)], ids=["named", "ball"])
def test_what_is_no_number_is_named_with_round_and_setting(returned: Any, parameters: Any) -> None:
    played: list[Any] = []

    def value(setting: Any) -> Any:
        played.append(setting)
        return returned if len(played) == 3 else 1.0

    with pytest.raises(LossError, match="round 3: the function returned") as caught:
        minimize(value, parameters, 10, seed=1)
    last = played[-1]
    shown = f"x={last['x']:.6g}" if isinstance(last, dict) else f"x_0={last[0]:.6g}"
    assert shown in str(caught.value)
    assert len(played) == 3


@pytest.mark.parametrize("number", [3, np.float32(2.5), np.int64(4), np.array(1.5), Decimal("0.1")])
def test_numbers_of_other_types_are_taken(number: Any) -> None:
    assert minimize(lambda x: number, Ball(2), 2, seed=1).history["value"][0] == float(number)


def test_an_error_of_the_function_comes_out_as_it_was() -> None:
    mine = ZeroDivisionError("mine")

    def fails(params: Any) -> float:
        raise mine

    with pytest.raises(ZeroDivisionError) as caught:
        minimize(fails, PLANE, 10, seed=1)
    assert caught.value is mine


@pytest.mark.parametrize("sense", [minimize, maximize])
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"rounds": 0}, "rounds must be at least 1"),
        ({"rounds": None}, "rounds must be a whole number, got None"),
        ({"rounds": 2.5}, "rounds must be a whole number, got 2.5"),
        ({"function": 3}, "function must take a setting and return a number, got 3"),
        ({"parameters": [(0, 1), (0, 2)]}, r"a dictionary such as .*, or a domain such as"),
        ({"parameters": {}}, "one or more names"),
        ({"parameters": {"x": (0, 1)}}, r"x: wanted dikin\.Real"),
        ({"start": [4, 4]}, "each named parameter has its own"),
        ({"constraints": "price + adds <= 9"}, "names 'adds'"),
        ({"parameters": Ball(2), "constraints": ["x <= 1"]}, "are for named parameters"),
        ({"parameters": Ball(2), "value_range": 3}, "value_range"),
        ({"value_range": (2, 1)}, "value_range"),
        ({"value_range": (1, 2), "loss_range": (1, 2)}, "leave out loss_range, its former name"),
        ({"memory": 0}, "memory"),
        ({"seed": -1}, "seed"),
        ({"separable": 1}, "separable must be True or False, got 1"),
        ({"by_lot": "no"}, "by_lot must be True or False, got 'no'"),
        ({"parameters": Ball(2), "by_lot": "no"}, "by_lot must be True or False, got 'no'"),
        ({"parameters": Ball(2), "separable": True}, "separable=True is for named parameters"),
    ],
)
def test_an_unusable_argument_is_named(
    sense: Callable[..., Any], arguments: dict[str, Any], words: str
) -> None:
    def never(setting: Any) -> float:
        pytest.fail("played with an unusable argument")

    given = {"function": never, "parameters": PLANE, "rounds": 10} | arguments
    with pytest.raises(ParameterError, match=words):
        sense(**given)


def test_rounds_must_be_given() -> None:
    with pytest.raises(TypeError, match="rounds"):
        minimize(bowl(), PLANE)  # type: ignore[call-arg]


def test_a_start_outside_the_domain_is_refused() -> None:
    with pytest.raises(DomainError):
        minimize(lambda x: 0.0, Ball(2), 10, start=[3, 0])


# --- Ctrl-C --------------------------------------------------------------------------------------


def interrupted(after: int) -> Callable[[Any], float]:
    calls = iter(range(after))

    def value(setting: Any) -> float:
        if next(calls, None) is None:
            raise KeyboardInterrupt
        return 1.0

    return value


@pytest.mark.parametrize("parameters", [PLANE, Ball(2)], ids=["named", "domain"])
def test_ctrl_c_gives_the_rounds_until_then(
    parameters: Any, caplog: pytest.LogCaptureFixture, known_costs: None
) -> None:
    with caplog.at_level(logging.WARNING, "dikin"):
        result = minimize(interrupted(5), parameters, 40, seed=1)
    assert (result.rounds, result.planned_rounds, len(result.history)) == (5, 40, 5)
    assert "stopped by Ctrl-C after 5 of 40 rounds" in caplog.text
    assert "stopped         by Ctrl-C after 5 of 40 rounds" in repr(result)
    assert result.learner.open_queries == []
    assert result.learner.rounds == 5


def test_ctrl_c_before_the_first_value_goes_on() -> None:
    with pytest.raises(KeyboardInterrupt):
        minimize(interrupted(0), PLANE, 40, seed=1)


@pytest.fixture
def usual_handler() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("step", ["ask", "tell", "center"])
@pytest.mark.parametrize(
    ("parameters", "player"),
    [(PLANE, dikin.Tuner), (Ball(2), dikin.Predictive)],
    ids=["named", "domain"],
)
def test_ctrl_c_between_two_calls_waits_for_the_next(
    step: str, parameters: Any, player: type, usual_handler: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So a round is counted by all or by none, wherever the signal comes."""
    steps, sound = iter(range(1000)), getattr(player, step)

    def signalled(self: Any, *arguments: Any) -> Any:
        if next(steps) == 3:
            signal.raise_signal(signal.SIGINT)
        if isinstance(sound, property):
            return sound.__get__(self)
        return sound(self, *arguments)

    patched = property(signalled) if isinstance(sound, property) else signalled
    monkeypatch.setattr(player, step, patched)
    result = minimize(lambda setting: 1.0, parameters, 40, seed=1)
    assert result.rounds == result.learner.rounds == (3 if step == "ask" else 4)
    assert result.learner.open_queries == []
    if result.tuner is not None:
        assert result.tuner.rounds == result.rounds
        assert result.tuner.open_queries == []
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_that_is_not_deferred_is_noticed(
    usual_handler: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutant: the round is learnt and not counted."""
    monkeypatch.setattr(module.Interrupts, "deferred", lambda interrupts: nullcontext())
    with pytest.raises(AssertionError):
        test_ctrl_c_between_two_calls_waits_for_the_next(
            "center", Ball(2), dikin.Predictive, usual_handler, monkeypatch
        )


def test_ctrl_c_reaches_a_function_that_runs(usual_handler: None) -> None:
    calls: list[str] = []

    def value(setting: Any) -> float:
        calls.append("begun")
        if len(calls) == 4:
            signal.raise_signal(signal.SIGINT)
            calls.append("not reached")
        return 1.0

    assert minimize(value, Ball(2), 40, seed=1).rounds == 3
    assert calls == 4 * ["begun"]


def test_the_handler_of_another_is_left_alone(usual_handler: None) -> None:
    heard: list[int] = []
    signal.signal(signal.SIGINT, lambda number, frame: heard.append(number))

    def value(setting: Any) -> float:
        signal.raise_signal(signal.SIGINT)
        return 1.0

    assert minimize(value, Ball(2), 5, seed=1).rounds == len(heard) == 5


# --- what is shown -------------------------------------------------------------------------------


def test_a_result_prints_where_it_began_and_what_exploring_costs(known_costs: None) -> None:
    result = minimize(bowl(), PLANE, 60, seed=1)
    lines = {line[:16].strip(): line[16:] for line in repr(result).splitlines()}
    assert lines["rounds"] == "60 (smaller is better)"
    assert lines["value"] == (
        f"{result.value:.6g} in the last 12 rounds, {result.first_value:.6g} in the first"
    )
    assert lines["price"] == f"{result.best['price']:.5g}   (began at 4)"
    assert lines["exploring"] == "costs at most 1.25 a round now, as declared"
    assert "measured" in lines
    assert len(lines) == 7


def test_a_long_point_prints_its_first_entries(known_costs: None) -> None:
    text = repr(minimize(lambda x: float(x @ x), Ball(20), 10, seed=1))
    assert "x_7 " in text
    assert "x_8 " not in text
    assert "20 in all" in text


@pytest.mark.parametrize("parameters", [{"<b>": Real(0, 1)}, Ball(2)], ids=["named", "domain"])
def test_a_notebook_shows_words_and_a_picture(parameters: Any, known_costs: None) -> None:
    html = minimize(lambda setting: 1.0, parameters, 20, seed=1)._repr_html_()
    root = ElementTree.fromstring(html)
    assert [child.tag for child in root] == ["table", "{http://www.w3.org/2000/svg}svg"]
    assert "<b>" not in html


def test_a_notebook_without_matplotlib_shows_words(
    known_costs: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = minimize(bowl(), PLANE, 20, seed=1)
    monkeypatch.setattr(dikin.extras, "installed", lambda package: False)
    assert result._repr_html_().startswith("<table>")
    assert "<svg" not in result._repr_html_()


@pytest.mark.parametrize("parameters", [PLANE, Ball(3)], ids=["named", "domain"])
def test_a_plot_is_a_figure_and_a_file(parameters: Any, tmp_path: Path) -> None:
    result = minimize(lambda setting: 1.0, parameters, 20, seed=1)
    figure = result.plot(tmp_path / "game.png", title="a game")
    assert (tmp_path / "game.png").read_bytes().startswith(b"\x89PNG")
    # A panel for each parameter, the value and the surprise; no certificate was asked for.
    assert len(figure.axes) == len(result.best) + 2


def test_a_frame_has_the_columns_of_the_history() -> None:
    result = minimize(bowl(), PLANE, 20, seed=1)
    frame = result.to_frame()
    assert tuple(frame.columns) == result.history.dtype.names
    assert frame["price"].tolist() == result.history["price"].tolist()


def test_a_bar_shows_long_games_and_stays_away_from_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shown: list[int] = []

    class Bar(AbstractContextManager[Any]):
        def __init__(self, total: int) -> None:
            self.start, self.pos = 0.0, 0
            shown.append(total)

        def update(self, steps: int) -> None:
            self.pos += steps
            shown.append(self.pos)

        def __exit__(self, *error: object) -> None:
            shown.append(-1)

    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setattr("dikin.engine.progress._new_bar", Bar)
    minimize(bowl(), PLANE, 20, seed=1)
    assert shown == []
    monkeypatch.setattr("dikin.engine.progress.PATIENCE", 0.0)
    minimize(bowl(), PLANE, 20, seed=1, progress=False)
    assert shown == []
    minimize(bowl(), PLANE, 20, seed=1)
    assert (shown[0], shown[-2:]) == (20, [20, -1])
    assert shown[1] == 1  # it moves after the first round: a call may take a minute


# --- a run in a notebook -------------------------------------------------------------------------


@pytest.mark.parametrize("rounds", [1, 1000])
def test_a_run_shows_its_regret_in_a_notebook(rounds: int) -> None:
    game = dikin.Ridge(Ball(2), smoothness=1.0, seed=1)
    learner = dikin.AdaptiveSmooth(Ball(2), 1.0, loss_range=game.loss_range, seed=1)
    run = dikin.play(learner, game, rounds)
    root = ElementTree.fromstring(run._repr_html_())
    rows = [[cell.text for cell in row] for row in root.findall("table")[1]]
    assert rows[0] == ["after round", "regret", "certificate"]
    assert rows[-1] == [f"{rounds:,}", f"{run.regret[-1]:.6g}", f"{run.certificate[-1]:.6g}"]
    assert len(rows) == (2 if rounds == 1 else 7)
    svg = "{http://www.w3.org/2000/svg}"
    points = root.findall(f"{svg}svg/{svg}polyline")[0].attrib["points"].split()
    heights = -np.array([float(point.split(",")[1]) for point in points])
    assert len(points) == len(run.checkpoints)
    # Pixels have one decimal: higher regret is drawn higher, up to that.
    order = np.argsort(run.regret)
    assert (np.diff(heights[order]) >= -0.11).all()


def test_a_function_of_named_arguments_is_given_them() -> None:
    ranges = {"price": dikin.Real(1, 14, start=4), "ads": dikin.Real(0, 60, start=40)}

    def revenue(price: float, ads: float) -> float:
        return 500 - 4 * (price - 8) ** 2 - 0.05 * (ads - 20) ** 2

    by_name = dikin.maximize(revenue, ranges, rounds=60, seed=1)
    by_dict = dikin.maximize(lambda p: revenue(**p), ranges, rounds=60, seed=1)
    any_names = dikin.maximize(lambda **p: revenue(**p), ranges, rounds=60, seed=1)
    assert by_name.best == by_dict.best == any_names.best


@pytest.mark.parametrize("domain", [Ball(2), Ball(5), dikin.Box([-1, -1], [1, 1])], ids=repr)
def test_a_bowl_around_its_minimum_is_no_fault(
    domain: dikin.Domain, caplog: pytest.LogCaptureFixture
) -> None:
    """All points that are measured have the same loss but for rounding."""
    result = minimize(lambda x: float(x @ x), domain, 300, seed=1)
    assert not caplog.records
    assert result.value < 0.5 * result.first_value


# --- lots and faults -----------------------------------------------------------------------------


NUMBERS = {"a": Integer(0, 5, start=1), "b": Integer(0, 5, start=4)}


def apart(a: int, b: int) -> float:
    return float(abs(a - 3) + abs(b - 2))


def test_whole_numbers_have_a_certificate_if_they_are_separable(known_costs: None) -> None:
    plain = minimize(apart, NUMBERS, 30, lipschitz=9.0, seed=1)
    assert np.isfinite(plain.learner.certificate)  # which knows nothing of the other number
    assert np.isnan(plain.certificate)
    assert np.isnan(plain.history["certificate"]).all()
    assert "certificate" not in repr(plain)
    told = minimize(apart, NUMBERS, 30, lipschitz=9.0, separable=True, seed=1)
    assert told.certificate == told.history["certificate"][-1] == told.learner.certificate
    assert "certificate" in repr(told)
    turned = maximize(lambda a, b: -apart(a, b), NUMBERS, 30, lipschitz=9.0, separable=True, seed=1)
    assert turned.certificate == told.certificate


@pytest.mark.parametrize("sense", [minimize, maximize])
@pytest.mark.parametrize("parameters", [PLANE, Ball(2)], ids=["named", "domain"])
def test_what_is_played_by_lot_is_said_to_the_learner(
    sense: Callable[..., Any], parameters: Any
) -> None:
    for by_lot in (False, True):
        assert sense(lambda _: 1.0, parameters, 2, by_lot=by_lot).learner.by_lot is by_lot


@pytest.mark.parametrize("parameters", [PLANE, Ball(2)], ids=["named", "domain"])
@pytest.mark.parametrize("memory", [None, 5])
def test_values_that_were_not_learnt_in_full_are_counted(
    parameters: Any, memory: float | None, known_costs: None
) -> None:
    values = iter([*(3.0 + k % 5 for k in range(60)), 1e9, 1e9, *(3.0 + k % 5 for k in range(38))])
    result = minimize(lambda _: next(values), parameters, 100, memory=memory, seed=1)
    assert result.clipped >= 2
    words = f"{result.clipped} of 100 values, too far off to be learnt in full"
    assert words in repr(result)
