"""What every kind of parameter obeys, and that one of a user's own works wherever ours do."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable, Iterator
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dikin
from dikin import registry
from dikin.errors import NotSavableError, ParameterError
from dikin.tuning.parameters.base import PARAMETER_KINDS, ParameterKind
from dikin.tuning.parameters.description import parameter_from_spec, parameter_from_text
from service.serving import QUICK, Serving
from tables import scratch
from tuning.parameters.own_kinds import Disc, Odd

KINDS: list[type[ParameterKind]] = [*PARAMETER_KINDS.classes.values(), Odd, Disc]
EXAMPLES = [example for cls in KINDS for example in cls.examples()]
UNIFORMS = (0.0, 0.2, 0.5, 0.9)


@pytest.fixture(autouse=True)
def own(monkeypatch: pytest.MonkeyPatch) -> None:
    scratch(monkeypatch)
    dikin.register(Odd)
    dikin.register(Disc)


def places(parameter: ParameterKind) -> Iterator[list[float]]:
    """Coordinates all over the set, corners of a cube included."""
    rng, size = np.random.default_rng(1), len(parameter.columns("p"))
    domain = parameter.domain
    if domain is None:
        yield from ([0.0] * size, [1.0] * size, *rng.uniform(0, 1, (30, size)).tolist())
    else:
        for direction in rng.normal(size=(30, domain.dim)):
            v = domain.inradius * direction / np.linalg.norm(direction)
            yield domain.point(rng.uniform() * v).tolist()


# --- laws -----------------------------------------------------------------------------------------


def values_are_on_the_axis(parameter: ParameterKind) -> None:
    axis, size = parameter.axis, len(parameter.columns("p"))
    for place in places(parameter):
        played = [parameter.played_values(place, uniform) for uniform in UNIFORMS]
        for values in (*played, parameter.best_values(place)):
            assert len(values) == size
            assert all(axis.low <= value <= axis.high for value in values)
            assert not axis.whole or all(value == int(value) for value in values)


def best_values_come_back(parameter: ParameterKind) -> None:
    for place in places(parameter):
        values = parameter.best_values(place)
        again = parameter.best_values(parameter.coordinates(values))
        assert again == pytest.approx(values, rel=1e-9, abs=1e-9)


def what_is_drawn_is_declared(parameter: ParameterKind) -> None:
    drawn = {
        tuple(parameter.played_values(place, uniform)) == tuple(parameter.best_values(place))
        for place in places(parameter)
        for uniform in UNIFORMS
    }
    assert parameter.by_lot == (False in drawn)


def a_linear_range_is_one(parameter: ParameterKind) -> None:
    if parameter.linear_range is None:
        return
    low, high = parameter.linear_range
    for (u,) in places(parameter):
        for uniform in UNIFORMS:
            (value,) = parameter.played_values([u], uniform)
            assert value == pytest.approx(low + u * (high - low), rel=1e-12, abs=1e-12)


def corners_are_declared(parameter: ParameterKind) -> None:
    """The mean of a curve over lots: without corners its chords lie on one line."""
    if not parameter.by_lot:
        return
    lots = (np.arange(2000) + 0.5) / 2000

    def mean(u: float) -> float:
        played = [parameter.played_values([u], uniform)[0] for uniform in lots]
        return float(np.mean(np.square(parameter.axis.low - np.array(played) - 1.0)))

    means = np.array([mean(u) for u in np.linspace(0, 1, 9)])
    bends = np.abs(np.diff(means, 2)).max() > 1e-2 * np.ptp(means)
    assert parameter.has_corners == bends


def it_is_a_value(parameter: ParameterKind) -> None:
    spec = json.loads(json.dumps(parameter.spec()))
    twins = [parameter_from_spec("p", spec), parameter_from_text("p", repr(parameter))]
    for twin in (*twins, pickle.loads(pickle.dumps(parameter)), copy.deepcopy(parameter)):
        assert twin == parameter
        assert hash(twin) == hash(parameter)
        assert repr(twin) == repr(parameter)
    bare = parameter.without_start()
    assert bare.start is None
    assert (bare == parameter) == (parameter.start is None)
    assert parameter != 3


def what_is_read_is_json(parameter: ParameterKind) -> None:
    for place in places(parameter):
        setting = parameter.setting(parameter.best_values(place))
        assert json.loads(json.dumps(setting)) == setting
    for wrong in (-1e9, 0.4, 1e9):  # from a client
        parameter.setting([wrong] * len(parameter.columns("p")))


LAWS = [
    values_are_on_the_axis,
    best_values_come_back,
    what_is_drawn_is_declared,
    a_linear_range_is_one,
    corners_are_declared,
    it_is_a_value,
    what_is_read_is_json,
]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize("parameter", EXAMPLES, ids=repr)
def test_every_kind_obeys(parameter: ParameterKind, law: Callable[[ParameterKind], None]) -> None:
    law(parameter)


class SilentLot(Odd):
    by_lot = False


class Lost(Odd):
    def to_unit(self, value: float) -> float:
        return 1.0 - super().to_unit(value)


class Beyond(Odd):
    by_lot, has_corners = True, True

    def played(self, u: float, uniform: float) -> float:
        return super().played(u, uniform) + 2.0 * (uniform > 0.8)


class Linear(Odd):
    linear_range = (1.0, 9.0)  # type: ignore[assignment]


class Smooth(Odd):
    has_corners = False


class Bytes(Odd):
    def shown(self, value: float) -> Any:
        return bytes([int(value) % 9])


class Short(dikin.Levels):
    def shown(self, value: float) -> Any:
        return self.values[int(value)]


class Unequal(Odd):
    __eq__ = object.__eq__
    __hash__ = object.__hash__


MUTANTS: list[tuple[type[Any], Any, Any]] = [
    (SilentLot, (9,), what_is_drawn_is_declared),
    (Lost, (9,), best_values_come_back),
    (Beyond, (9,), values_are_on_the_axis),
    (Linear, (9,), a_linear_range_is_one),
    (Smooth, (9,), corners_are_declared),
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


# --- wherever a parameter is used -----------------------------------------------------------------

NEW: dict[str, ParameterKind] = {
    "batch": dikin.Levels([16, 32, 64, 128], start=32),
    "size": dikin.Levels(["small", "medium", "large"]),
    "odd": Odd(9, start=3),
    "disc": Disc(5.0, start=(1.0, -2.0)),
}


def cost(params: dict[str, Any]) -> float:
    """Least at 64, large, 7 and (2, 2)."""
    total = abs({16: 0, 32: 1, 64: 2, 128: 3}[params["batch"]] - 2.0)
    total += 2.0 - ["small", "medium", "large"].index(params["size"])
    east, north = params["disc"]
    return total + abs(params["odd"] - 7.0) / 2 + ((east - 2) ** 2 + (north - 2) ** 2) / 5


def played(rounds: int = 50, **options: Any) -> dikin.Tuner:
    tuner = dikin.Tuner(NEW, seed=3, **options)
    for _ in range(rounds):
        trial = tuner.ask()
        tuner.tell(trial, cost(trial.params))
    return tuner


def test_a_tuner_begins_at_the_start_and_finds_the_best() -> None:
    begin = dikin.Tuner(NEW, seed=3).best
    assert begin == {"batch": 32, "size": "medium", "odd": 3, "disc": [1.0, -2.0]}
    best = played(1500).best
    assert (best["batch"], best["size"], best["odd"]) == (64, "large", 7)
    assert best["disc"] == pytest.approx([2, 2], abs=0.5)


def test_all_that_draw_share_one_lot() -> None:
    pair = {"a": dikin.Levels([1, 2, 3]), "b": dikin.Integer(1, 3)}
    tuner = dikin.Tuner(pair, seed=1)
    for _ in range(50):
        point = tuner.space.domain.center + np.random.default_rng(1).uniform(-0.4, 0.4)
        values = tuner.space.params(tuner.space.played(point, np.random.default_rng().uniform()))
        assert values["a"] == values["b"]


@pytest.mark.parametrize("parameter", [NEW["batch"], NEW["odd"]], ids=repr)
def test_a_certificate_is_that_of_an_integer(parameter: Any) -> None:
    with pytest.raises(ParameterError, match=r"smoothness=1\.0 cannot hold with p, .*lipschitz"):
        dikin.Tuner({"p": parameter}, smoothness=1.0)
    beside = {"p": parameter, "x": dikin.Real(0, 1)}
    options: dict[str, Any] = {"lipschitz": 2.0, "value_range": (0, 9), "seed": 1}
    for parameters, separable, bound in (
        ({"p": parameter}, False, True),
        (beside, False, False),
        (beside, True, True),
    ):
        tuner = dikin.Tuner(parameters, separable=separable, **options)
        assert tuner.learner.by_lot
        tuner.tell(tuner.ask(), 1.0)
        assert isnan(tuner.certificate) != bound
        with pytest.raises(ParameterError, match="cannot hold with p"):
            tuner.certificate_for(smoothness=1.0)
    assert not dikin.Tuner({"d": NEW["disc"]}, smoothness=1.0).learner.by_lot


@pytest.mark.parametrize("name", NEW)
def test_no_constraint_can_name_it(name: str) -> None:
    both = NEW | {"x": dikin.Real(0, 1)}
    with pytest.raises(ParameterError, match=rf"names {name}, .*only a Real without log"):
        dikin.Tuner(both, constraints=f"x + {name} <= 40")
    dikin.Tuner(both, constraints="2 * x <= 1", seed=1).ask()


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
    class Half(dikin.Interval):
        """Says neither what it draws nor whether it has corners."""

    with pytest.raises(ParameterError, match="define best, by_lot, examples, has_corners, to_unit"):
        dikin.register(Half)
    assert "half" not in registry.parameter_kinds()


@pytest.mark.parametrize("base", [dikin.Real, dikin.Integer, dikin.Levels, Odd, dikin.Shares])
@pytest.mark.parametrize("method", ["played", "best", "played_values", "best_values"])
def test_no_certificate_is_inherited_for_what_is_played_otherwise(base: Any, method: str) -> None:
    """A Real that is rounded by lot would have corners, and say that it has none."""
    with pytest.raises(ParameterError, match="Rounded changes what is played and inherits by_lot"):
        type("Rounded", (base,), {method: lambda *_: 1.0})
    more = {method: lambda *_: 1.0, "by_lot": True}
    with pytest.raises(ParameterError, match=r"Rounded .* inherits has_corners"):
        type("Rounded", (base,), more)
    type("Rounded", (base,), more | {"has_corners": True})
    type("Renamed", (base,), {"shown": lambda *_: 1.0})


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


class OwnServing(Serving):
    program = (
        f"import sys; sys.path.insert(0, {str(Path(__file__).parents[2])!r})\n"
        "import dikin; from tuning.parameters.own_kinds import Disc, Odd\n"
        f"dikin.register(Odd); dikin.register(Disc)\n{QUICK}"
    )


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    with OwnServing(str(tmp_path_factory.mktemp("kinds") / "a.db")) as running:
        yield running


def test_the_service_and_the_data_of_its_page(service: Serving) -> None:
    spec = {"tuner": {name: each.spec() for name, each in NEW.items()}, "seed": 3}
    assert service.send("PUT", "/v1/studies/a", spec).status == 201
    with dikin.Study(service.url, "a") as study:
        for _ in range(120):
            trial = study.ask()
            study.tell(trial, cost(trial.params))
        assert study.best == played(120).best
        assert len(study.history()) == 120
    said = service.send("GET", "/v1/studies/a").content
    assert said["columns"] == ["batch", "size", "odd", "disc.east", "disc.north"]
    assert said["ranges"] == [[0, 3], [0, 2], [1, 9], [-5, 5], [-5, 5]]
    assert said["log"] == [False] * 5
    assert said["labels"][:3] == [["16", "32", "64", "128"], ["small", "medium", "large"], []]
    assert said["start"] == {"batch": 32, "size": "medium", "odd": 3, "disc": [1, -2]}
    assert service.send("GET", "/metrics").status == 200
    point = {"id": 119, "value": 1, "point": [99, -7, 3, 0, 0]}
    assert service.send("POST", "/v1/studies/a/tell", point).status == 409


@pytest.mark.parametrize(
    ("levels", "warned"), [(("small", "medium", "large"), True), (("off", "on"), False)]
)
def test_the_last_of_many_levels_is_worth_a_warning(
    service: Serving, levels: tuple[str, ...], warned: bool
) -> None:
    size = dikin.Levels(levels, start=levels[-1])
    tuner = dikin.Tuner({"size": size}, maximize=True, seed=1)
    with dikin.Study(service.url, levels[-1], tuner) as study:
        for _ in range(120):
            trial = study.ask()
            study.tell(trial, 1.0 * levels.index(trial["size"]))
    said = service.send("GET", f"/v1/studies/{levels[-1]}").content
    assert said["best"] == {"size": levels[-1]}
    words = "the best size so far is large, next to its bound large: if values beyond it"
    assert [words in warning for warning in said["warnings"]] == [True] * warned


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({"kind": "odd", "last": 4}, "p: last must be odd, got 4"),
        ({"kind": "odd", "last": "x"}, "p: "),
        ({"kind": "odd"}, "p: last missing"),
        ({"kind": "odd", "last": 5, "first": 1}, "p: 'first' is not known"),
        ({"kind": "even", "last": 5}, "p: no parameter kind is called 'even'"),
        ({"kind": ["odd"], "last": 5}, "p: no parameter kind is called"),
        ({"kind": "levels", "values": [1]}, "p: Levels need two or more values"),
    ],
)
def test_the_service_refuses_a_bad_one(service: Serving, spec: Any, words: str) -> None:
    status, _, detail = service.problem("PUT", "/v1/studies/b", {"tuner": {"p": spec}})
    assert status == 422
    assert words in detail
