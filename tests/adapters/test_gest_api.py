"""The generator as gest-api describes it."""

from math import inf, nan
from typing import Any

import numpy as np
import pytest
from gest_api.generator import Generator
from gest_api.vocs import VOCS, ContextualVariable, ContinuousVariable

import dikin
from dikin.adapters.gest_api import TunerGenerator
from dikin.errors import ParameterError

Point = dict[str, Any]


def vocs(**more: Any) -> VOCS:
    given = {"variables": {"current": [-2.0, 2.0]}, "objectives": {"loss": "MINIMIZE"}}
    return VOCS(**(given | more))


def tuner(maximize: bool = False) -> dikin.Tuner:
    return dikin.Tuner({"current": dikin.Real(-2, 2)}, maximize=maximize, seed=7)


def measured(point: Point, loss: Any) -> Point:
    return point | {"loss": loss}


def test_results_reach_their_points() -> None:
    """Late and out of order: the same as a tuner that is told by hand, bit for bit."""
    generator, by_hand = (
        TunerGenerator(vocs(objectives={"loss": "MAXIMIZE"}), seed=7),
        tuner(maximize=True),
    )
    points, trials = generator.suggest(6), by_hand.ask(n=6)
    assert [point["current"] for point in points] == [trial["current"] for trial in trials]
    for places in ((4, 1), (0,), (), (5, 2)):
        generator.ingest([measured(points[place], 1.0 + place) for place in places])
        for place in places:
            by_hand.tell(trials[place], 1.0 + place)
    assert generator.tuner.state() == by_hand.state()


def test_what_is_observed_is_a_covariate() -> None:
    """A contextual variable, told with the result; where it is missing, without."""
    given = vocs(variables={"current": [-2.0, 2.0], "humidity": ContextualVariable()})
    generator = TunerGenerator(given, seed=7)
    by_hand = dikin.Tuner({"current": dikin.Real(-2, 2)}, covariates={"humidity": float}, seed=7)
    for i in range(30):
        (point,), trial = generator.suggest(1), by_hand.ask()
        assert point.keys() == {"current", "_id"}
        missing = i % 5 == 4
        seen: Point = {"humidity": nan} if i % 10 == 4 else {} if missing else {"humidity": i / 30}
        generator.ingest([measured(point, 1.0 + i % 7) | seen])
        by_hand.tell(trial, 1.0 + i % 7, covariates=None if missing else seen)
    assert generator.tuner.state() == by_hand.state()
    assert generator.tuner.covariates.spec() == {"humidity": None}


def test_a_refused_batch_changes_nothing() -> None:
    generator = TunerGenerator(vocs(), seed=7)
    first, second, told = generator.suggest(3)
    generator.ingest([measured(told, 1.0)])
    before = generator.tuner.state()
    for wrong in (
        [measured(first, 1.0), measured(told, 1.0)],  # was told before
        [measured(first, 1.0), measured(second | {"_id": 99}, 1.0)],  # was never suggested
        [measured(first, 1.0), second],  # no objective
        [measured(first, 1.0), measured(second, "much")],  # no number
    ):
        with pytest.raises(dikin.DikinError, match=r"Nothing was changed|number, got 'much'"):
            generator.ingest(wrong)
        assert generator.tuner.state() == before


def test_what_failed_is_told_and_what_is_no_number_is_forgotten() -> None:
    generator = TunerGenerator(vocs(), seed=7)
    points = generator.suggest(6)
    failed = points.pop() | {"xopt_error": True, "xopt_error_str": "a trip"}  # no objective
    losses = (nan, inf, None, 1e200, np.float64("nan"))
    generator.ingest([failed, *map(measured, points, losses)])
    assert generator.tuner.open_queries == []
    assert generator.tuner.history()["failed"].tolist() == [True]


def test_constraints_are_limits() -> None:
    given = {"trip": ["LESS_THAN", 1.5], "gain": ["GREATER_THAN", -1], "heat": ["BOUNDS", 0, 9]}
    generator = TunerGenerator(vocs(constraints=given), seed=7)
    limits = [limit.text for limit in generator.tuner.limits]
    assert limits == ["trip <= 1.5", "gain >= -1.0", "heat >= 0.0", "heat <= 9.0"]
    first, second, third = generator.suggest(3)
    known = {"trip": 1.0, "gain": 2.0, "heat": 3.0}
    before = generator.tuner.state()
    with pytest.raises(ParameterError, match="must have the output 'heat'"):
        generator.ingest([measured(first, 1.0) | {"trip": 1.0, "gain": 2.0}])
    assert generator.tuner.state() == before
    failed = third | {"xopt_error": True}  # no outputs at all
    generator.ingest([measured(first, 1.0) | known, measured(second, 1.0) | known | {"heat": nan}])
    generator.ingest([failed])
    history = generator.tuner.history()
    assert history["failed"].tolist() == [False, True]
    assert history["metric.heat"].tolist()[0] == 3.0


def test_points_from_elsewhere_teach_nothing() -> None:
    """Also where a table has written NaN and floats into the ids, or NumPy's numbers come."""
    generator = TunerGenerator(vocs(), seed=7)
    point, other = generator.suggest(2)
    elsewhere = [{"current": 0.0, "loss": 1.0} | each for each in ({}, {"_id": nan}, {"_id": None})]
    generator.ingest([*elsewhere, measured(point | {"_id": float(point["_id"])}, 3.0)])
    generator.ingest([measured(other | {"_id": np.int64(other["_id"])}, np.float64(2.5))])
    assert generator.tuner.history()["value"].tolist() == [3.0, 2.5]


def test_the_interface() -> None:
    generator = TunerGenerator(vocs(constants={"charge": 250, "name": "run 7"}), seed=7)
    assert isinstance(generator, Generator)
    assert generator.returns_id
    points = [*generator.suggest(2), *generator.suggest(None), *generator.suggest()]
    assert [point["_id"] for point in points] == [0, 1, 2, 3]
    assert {(point["charge"], point["name"]) for point in points} == {(250, "run 7")}
    assert all(-2 <= point["current"] <= 2 for point in points)
    with pytest.raises(ValueError, match="n must be at least 1"):
        generator.suggest(0)
    generator.finalize()


@pytest.mark.parametrize(
    ("variable", "kind"),
    [
        ([1.0, 14.0], dikin.Real(1, 14)),
        (ContinuousVariable(domain=[1, 14], default_value=4), dikin.Real(1, 14, start=4)),
        (
            ContinuousVariable(domain=[0, 9], dtype=int, default_value=0),
            dikin.Integer(0, 9, start=0),
        ),
        ({32, 8, 16}, dikin.Levels([8, 16, 32])),
        (
            {"type": "DiscreteVariable", "values": {0.5, 2.0, 1.0}, "default_value": 1.0},
            dikin.Levels([0.5, 1.0, 2.0], start=1.0),
        ),
    ],
)
def test_a_variable_is_a_parameter(variable: Any, kind: Any) -> None:
    generator = TunerGenerator(vocs(variables={"x": variable}), seed=7)
    assert generator.tuner.space.parameters == {"x": kind}


def test_options_are_those_of_a_tuner() -> None:
    two = vocs(variables={"a": [0.0, 1.0], "b": [0.0, 1.0]})
    generator = TunerGenerator(two, constraints=["a + b <= 1"], holdback=0.5, seed=7)
    assert all(point["a"] + point["b"] <= 1 for point in generator.suggest(20))
    assert generator.tuner.summary().holdback == 0.5


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"objectives": {}}, "one objective, MINIMIZE or MAXIMIZE, got {}"),
        ({"objectives": {"a": "EXPLORE"}}, "MINIMIZE or MAXIMIZE, got {'a': ExploreObjective"),
        ({"constraints": {"c": ["LESS_THAN", 1e200]}}, "needs a finite number below"),
        ({"variables": {"x": {"a", "b"}}}, "the variable 'x': a level must be a number, got '"),
        (
            {"variables": {"x": ContinuousVariable(domain=[0, 1], dtype=(float, (3,)))}},
            "the variable 'x': a tuner chooses single numbers, got dtype=",
        ),
        (
            {"variables": {"x": ContinuousVariable(domain=[0, 9], dtype=int, default_value=2.5)}},
            "the variable 'x': start of an Integer must be a whole number, got 2.5",
        ),
    ],
)
def test_what_a_tuner_cannot_handle(more: Any, message: str) -> None:
    with pytest.raises(ParameterError) as caught:
        TunerGenerator(vocs(**more))
    assert message in str(caught.value)
