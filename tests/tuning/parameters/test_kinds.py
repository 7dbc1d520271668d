"""What every kind of parameter obeys, and that one of a user's own works wherever ours do."""

import copy
import json
import pickle
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dikin
from dikin import registry
from dikin.errors import NotSavableError, ParameterError
from dikin.tuning.parameters.base import PARAMETER_KINDS, ParameterKind
from dikin.tuning.parameters.description import parameter_from_spec, parameter_from_text
from tables import scratch
from tuning.parameters.own_kinds import Odd

EXAMPLES: list[ParameterKind] = [
    *(dikin.Real(1, 14, start=4), dikin.Real(-2, 0.5), dikin.Real(0.001, 10, log=True)),
    *(dikin.Integer(1, 9, start=6), dikin.Integer(-3, 9), dikin.Integer(0, 1)),
    dikin.Integer(1, 1000, start=8, log=True),
    *(dikin.Levels([16, 32, 64, 128], start=32), dikin.Levels(["small", "large"])),
    dikin.Levels([0.1, "auto", 7], start="auto"),
    *(dikin.Choice(["lz4", "zstd", "none"], start="zstd"), dikin.Choice([1, "auto"])),
    dikin.Shares(["old", "new"], start={"old": 0.9, "new": 0.1}),
    *(dikin.Shares(("a", "b", "c")), Odd(9, start=3), Odd(3)),
]
assert {type(each) for each in EXAMPLES} == {*PARAMETER_KINDS.classes.values(), Odd}


@pytest.fixture(autouse=True)
def own(monkeypatch: pytest.MonkeyPatch) -> None:
    scratch(monkeypatch)
    dikin.register(Odd)


def places(parameter: ParameterKind) -> Iterator[list[float]]:
    """Coordinates all over the set, its corners included; none of a kind without coordinates."""
    rng, size = np.random.default_rng(1), len(parameter.parts)
    if size > 1:
        yield from rng.dirichlet(np.ones(size), 30).tolist()
        yield from np.eye(size).tolist()
    elif parameter.grid is not None:
        yield from ([u] for u in parameter.grid.tolist())
    elif not parameter.options:
        yield from ([u] for u in (0.0, 1.0, *rng.uniform(0, 1, 30).tolist()))


def rows(parameter: ParameterKind) -> Iterator[Sequence[float]]:
    """Values all over the set."""
    if parameter.options:
        yield from ([parameter.axis.low + k] for k in range(parameter.options))
    else:
        yield from (list(map(parameter.best, place)) for place in places(parameter))


def values_are_on_the_axis(parameter: ParameterKind) -> None:
    axis = parameter.axis
    for values in rows(parameter):
        assert all(axis.low <= value <= axis.high for value in values)
        assert not axis.whole or all(value == round(value) for value in values)


def values_come_back(parameter: ParameterKind) -> None:
    for place in places(parameter):
        again = [parameter.to_unit(parameter.best(u)) for u in place]
        assert again == pytest.approx(place, abs=1e-12)


def what_can_be_used_is_declared(parameter: ParameterKind) -> None:
    """Between two places of a grid there is nothing."""
    if parameter.grid is not None:
        used = {parameter.best(u) for u in np.linspace(0, 1, 500)}
        assert used <= {parameter.best(u) for u in parameter.grid.tolist()}


def a_linear_range_is_one(parameter: ParameterKind) -> None:
    if parameter.linear_range is not None:
        low, high = parameter.linear_range
        for (u,) in places(parameter):
            assert parameter.best(u) == pytest.approx(low + u * (high - low), rel=1e-12)


def it_is_a_value(parameter: ParameterKind) -> None:
    spec = json.loads(json.dumps(parameter.spec()))
    twins = [parameter_from_spec("p", spec), parameter_from_text("p", repr(parameter))]
    for twin in (*twins, pickle.loads(pickle.dumps(parameter)), copy.deepcopy(parameter)):
        assert twin == parameter
        assert hash(twin) == hash(parameter)
        assert repr(twin) == repr(parameter)
    bare = parameter.with_start(None)
    assert bare.start is None
    assert (bare == parameter) == (parameter.start is None)
    assert parameter != 3


def what_is_read_is_json(parameter: ParameterKind) -> None:
    for values in rows(parameter):
        setting = parameter.setting(values)
        assert json.loads(json.dumps(setting)) == setting
    for wrong in (-1e9, 0.4, 1e9):  # from a client
        parameter.setting([wrong] * max(len(parameter.parts), 1))


LAWS = [
    values_are_on_the_axis,
    values_come_back,
    what_can_be_used_is_declared,
    a_linear_range_is_one,
    it_is_a_value,
    what_is_read_is_json,
]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize("parameter", EXAMPLES, ids=repr)
def test_every_kind_obeys(parameter: ParameterKind, law: Callable[[ParameterKind], None]) -> None:
    law(parameter)


@pytest.mark.parametrize("parameter", EXAMPLES, ids=repr)
def test_every_kind_is_tuned(parameter: ParameterKind) -> None:
    """Every setting is one of the kind's own, and the tuner's point says the same."""
    tuner = dikin.Tuner({"p": parameter}, seed=1)
    allowed = {json.dumps(parameter.setting(values)) for values in rows(parameter)}
    for _ in range(40):
        trial = tuner.ask()
        assert parameter.setting(trial.point.tolist()) == trial["p"]
        if parameter.grid is not None or parameter.options:
            assert json.dumps(trial["p"]) in allowed
        tuner.tell(trial, float(trial.point[0]))
    tuner.add_trial({"p": parameter.setting(next(iter(rows(parameter))))}, 1.0)


class Lost(Odd):
    def to_unit(self, value: float) -> float:
        return 1.0 - super().to_unit(value)


class Beyond(Odd):
    def best(self, u: float) -> float:
        return super().best(u) + 20.0 * (0.4 < u < 0.6)


class Between(Odd):
    def best(self, u: float) -> float:
        return 1.0 + (self.last - 1) * u


class Linear(Odd):
    linear_range = (1.0, 11.0)  # type: ignore[assignment]


class Bytes(Odd):
    def setting(self, numbers: Sequence[float]) -> Any:
        return bytes([int(numbers[0]) % 9])


class Short(dikin.Levels):
    def setting(self, numbers: Sequence[float]) -> Any:
        return self.values[int(numbers[0])]


class Unequal(Odd):
    __eq__ = object.__eq__
    __hash__ = object.__hash__


MUTANTS: list[tuple[type[Any], Any, Any]] = [
    (Lost, (9,), values_come_back),
    (Beyond, (9,), values_are_on_the_axis),
    (Between, (9,), what_can_be_used_is_declared),
    (Linear, (9,), a_linear_range_is_one),
    (Unequal, (9,), it_is_a_value),
    (Bytes, (9,), what_is_read_is_json),
    (Short, ([1, 2],), what_is_read_is_json),
]


@pytest.mark.parametrize(("mutant", "arguments", "law"), MUTANTS)
def test_a_law_notices(mutant: type[Any], arguments: Any, law: Any) -> None:
    dikin.register(mutant)
    with pytest.raises((AssertionError, TypeError, IndexError)):
        law(mutant(*arguments))


def test_every_law_has_a_mutant() -> None:
    assert {law for _, _, law in MUTANTS} == {*LAWS}


NEW: dict[str, ParameterKind] = {
    "batch": dikin.Levels([16, 32, 64, 128], start=32),
    "size": dikin.Levels(["small", "medium", "large"]),
    "odd": Odd(9, start=3),
    "codec": dikin.Choice(["lz4", "zstd"], start="lz4"),
}


def cost(params: dict[str, Any]) -> float:
    """Least at 64, large, 7 and zstd."""
    total = abs({16: 0, 32: 1, 64: 2, 128: 3}[params["batch"]] - 2.0)
    total += 2.0 - ["small", "medium", "large"].index(params["size"])
    return total + abs(params["odd"] - 7.0) / 2 + (params["codec"] == "lz4")


def played(rounds: int = 50, **options: Any) -> dikin.Tuner:
    tuner = dikin.Tuner(NEW, seed=3, **options)
    for _ in range(rounds):
        trial = tuner.ask()
        tuner.tell(trial, cost(trial.params))
    return tuner


def test_a_tuner_begins_at_the_start_and_finds_the_best() -> None:
    begin = dikin.Tuner(NEW, seed=3).best
    assert begin == {"batch": 32, "size": "medium", "odd": 3, "codec": "lz4"}
    assert played(400).best == {"batch": 64, "size": "large", "odd": 7, "codec": "zstd"}


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({"kind": "odd", "last": 4}, "p: last must be odd, got 4"),
        ({"kind": "odd", "last": "x"}, "p: "),
        ({"kind": "odd"}, "p: last missing"),
        ({"kind": "odd", "last": 5, "first": 1}, "p: 'first' is not known"),
        ({"kind": "even", "last": 5}, "p: no parameter kind is called 'even'"),
        ({"kind": ["odd"], "last": 5}, "p: no parameter kind is called"),
        (["odd"], "p: a parameter is an object such as"),
    ],
)
def test_a_description_that_fits_no_kind_is_refused(spec: Any, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        parameter_from_spec("p", spec)


@pytest.mark.parametrize(
    ("levels", "warned"), [(("a", "b", "c", "d", "large"), True), (("off", "on"), False)]
)
def test_the_last_of_many_levels_is_worth_a_warning(
    tmp_path: Path, levels: tuple[str, ...], warned: bool
) -> None:
    tuner = dikin.Tuner({"size": dikin.Levels(levels, start=levels[-1])}, maximize=True, seed=1)
    with dikin.Study(tmp_path / "a.db", "a", tuner) as study:
        for _ in range(120):
            trial = study.ask()
            study.tell(trial, 1.0 * levels.index(trial["size"]))
        assert study.best == {"size": levels[-1]}
        said = study.status().warnings
    words = "the best size so far is large, next to its bound large: if values beyond it"
    assert [words in warning for warning in said] == [True] * warned


def test_what_is_not_registered_is_played_and_not_saved(tmp_path: Path) -> None:
    class Unknown(Odd):
        """Nobody registered it."""

    tuner = dikin.Tuner({"p": Unknown(5)}, seed=1)
    tuner.tell(tuner.ask(), 1.0)
    with pytest.raises(NotSavableError, match=r"parameter kind .*Unknown is not registered"):
        tuner.save(tmp_path / "a.json")
    with pytest.raises(NotSavableError, match=r"Unknown is not registered"):
        dikin.Study(tmp_path / "a.db", "a", tuner)
    assert not (tmp_path / "a.json").exists()


def test_a_kind_that_lacks_something_is_not_registered() -> None:
    class Half(dikin.ParameterKind):
        """Does not say how a coordinate becomes a value."""

    with pytest.raises(ParameterError, match="define axis"):
        dikin.register(Half)
    assert "half" not in registry.FOLDERS["tuning.parameters"].every()


def test_it_is_drawn_and_described(tmp_path: Path) -> None:
    tuner = played()
    rounds = tuner.history()
    assert set(rounds["batch"]) <= {0, 1, 2, 3}
    figure = tuner.plot(tmp_path / "a.svg")
    figure.canvas.draw()
    texts = {text.get_text() for axes in figure.axes for text in axes.texts}
    assert {"start 32", "start medium"} <= texts
    ticks = [tick.get_text() for tick in figure.axes[1].get_yticklabels()]
    assert {"small", "medium", "large"} >= {tick for tick in ticks if tick} > {"medium"}
    assert "(began at 32)" in str(tuner)
    assert "(began at medium)" in str(tuner)


def test_a_study_keeps_it(tmp_path: Path) -> None:
    with dikin.Study(tmp_path / "a.db", "a", dikin.Tuner(NEW, seed=3)) as study:
        for _ in range(20):
            trial = study.ask()
            study.tell(trial, cost(trial.params))
        best, history = study.best, study.history()
    again = NEW | {"batch": dikin.Levels([16, 32, 64, 128])}  # today's value may be another one
    with dikin.Study(tmp_path / "a.db", "a", dikin.Tuner(again, seed=3)) as study:
        assert study.best == best == played(20).best
        assert study.history().tobytes() == history.tobytes()
    other = NEW | {"odd": Odd(7)}
    with pytest.raises(dikin.DikinError, match=r"parameter 'odd', Odd\(last=9\), not Odd\(last=7"):
        dikin.Study(tmp_path / "a.db", "a", dikin.Tuner(other, seed=3))
