"""The sampler in the real Optuna: its own suite for samplers, and what a tuner adds to it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import optuna
import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.storages.journal import JournalFileBackend
from optuna.testing.pytest_samplers import (
    BasicSamplerTestCase,
    RelativeSamplerTestCase,
    SingleOnlySamplerTestCase,
)
from optuna.trial import TrialState

import dikin
from dikin.adapters.optuna import TunerSampler
from dikin.errors import ParameterError

PRICE = {"price": FloatDistribution(1, 14)}


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    yield
    optuna.logging.set_verbosity(optuna.logging.INFO)


class TestAsOptunaDoes(BasicSamplerTestCase, RelativeSamplerTestCase, SingleOnlySamplerTestCase):
    """Optuna's own tests."""

    @pytest.fixture
    def sampler(self) -> Callable[[], TunerSampler]:
        return lambda: TunerSampler(seed=7)


# --- what holds for the sampler ------------------------------------------------------------------


def by_hand(maximize: bool = False) -> dikin.Tuner:
    return dikin.Tuner({"price": dikin.Real(1, 14)}, maximize=maximize, seed=7)


def test_values_reach_their_trials() -> None:
    """Late and out of order: the same as a tuner that is told by hand, bit for bit."""
    study = optuna.create_study(direction="maximize", sampler=TunerSampler(PRICE, seed=7))
    asked = [study.ask(PRICE) for _ in range(6)]
    tuner = by_hand(maximize=True)
    trials = tuner.ask(n=6)
    assert [each.params["price"] for each in asked] == [trial["price"] for trial in trials]
    for value, place in enumerate((2, 0, 5, 1, 4)):
        study.tell(asked[place], float(value))
        tuner.tell(trials[place], float(value))
    assert study.sampler.tuner.state() == tuner.state()


def test_contexts_and_covariates_reach_the_tuner() -> None:
    """What is known before from the callable, what comes later from user attributes."""
    declared: dict[str, Any] = {
        "context": {"region": ["eu", "us"]},
        "covariates": {"load": float, "visitors": float},
    }
    rounds = [{"region": ["eu", "us"][i % 2], "load": i / 30, "else": 1} for i in range(30)]
    coming = iter(rounds)
    study = optuna.create_study(
        sampler=TunerSampler(PRICE, known=lambda: next(coming), seed=7, **declared)
    )
    tuner = dikin.Tuner({"price": dikin.Real(1, 14)}, seed=7, **declared)
    for i, known in enumerate(rounds):
        asked = study.ask(PRICE)
        trial = tuner.ask({"region": known["region"]}, covariates={"load": known["load"]})
        assert asked.params["price"] == trial["price"]
        asked.set_user_attr("visitors", float(i))
        asked.set_user_attr("note", "not for the tuner")
        study.tell(asked, 5.0 + i % 7)
        tuner.tell(trial, 5.0 + i % 7, covariates={"visitors": float(i)})
    assert study.sampler.tuner.state() == tuner.state()


def test_failed_trials_are_told_and_pruned_ones_forgotten() -> None:
    study = optuna.create_study(sampler=TunerSampler(PRICE, seed=7))
    failed, pruned, endless, invalid = (study.ask(PRICE) for _ in range(4))
    early = study.ask()  # failed before it had a price
    study.tell(early, state=TrialState.FAIL)
    pruned.report(3.0, step=1)
    study.tell(failed, state=TrialState.FAIL)
    study.tell(pruned, state=TrialState.PRUNED)
    study.tell(endless, float("inf"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Optuna says that a value is no number
        study.tell(invalid, float("nan"))  # Optuna takes it for failed, too
    assert study.sampler.tuner.open_queries == []
    assert study.sampler.tuner.history()["failed"].tolist() == [True, True]


def test_metrics_with_a_limit_are_user_attributes() -> None:
    sampler = TunerSampler(PRICE, limits=["p99_ms <= 200", "failed <= 0.1"], seed=7)
    study = optuna.create_study(sampler=sampler)
    asked, without = study.ask(PRICE), study.ask(PRICE)
    asked.set_user_attr("p99_ms", 187.0)
    study.tell(asked, 1.0)
    study.tell(without, 1.0)  # forgotten, and the log says why
    assert study.sampler.tuner.history()["metric.p99_ms"].tolist() == [187.0]
    assert study.sampler.tuner.open_queries == []


def test_categories_are_tuned() -> None:
    codecs = CategoricalDistribution([None, "lz4", 3])
    space = {"codec": codecs, "n": IntDistribution(1, 64, log=True)}
    study = optuna.create_study(sampler=TunerSampler(space, start={"codec": 3, "n": 8}, seed=7))
    cost = {None: 3.0, "lz4": 1.0, 3: 2.0}
    for _ in range(60):
        trial = study.ask(space)
        study.tell(trial, cost[trial.params["codec"]])
    assert study.sampler.tuner.rounds == 60
    assert study.sampler.tuner.space.parameters["codec"] == dikin.Choice([0, 1, 2], start=2)
    assert study.sampler.best["codec"] == "lz4"


def test_what_was_not_played_teaches_nothing() -> None:
    """Half of the trials do not ask for y, so that the value is not that of what was asked."""
    space = {"x": FloatDistribution(0, 1), "y": FloatDistribution(0, 1)}
    study = optuna.create_study(sampler=TunerSampler(space, seed=7))

    def objective(trial: optuna.Trial) -> float:
        x = trial.suggest_float("x", 0, 1)
        return x + trial.suggest_float("y", 0, 1) if trial.number % 2 else x

    study.optimize(objective, n_trials=10)
    assert (study.sampler.tuner.rounds, study.sampler.tuner.open_queries) == (5, [])


def test_the_first_trial_that_completes_says_what_is_tuned() -> None:
    study = optuna.create_study(sampler=TunerSampler(seed=7))
    study.enqueue_trial({"price": 4.0})  # today's
    for value in (None, 500.0, 400.0):
        trial = study.ask()
        played = trial.suggest_float("price", 1, 14), trial.suggest_int("ads", 0, 60, step=5)
        if value is None:
            study.tell(trial, state=TrialState.FAIL)
            study.enqueue_trial({"price": 5.0})
            assert (study.sampler.tuner, study.sampler.best) == (None, {})
            assert played == (4.0, 30)
        else:
            study.tell(trial, value)
    parameters = study.sampler.tuner.space.parameters
    assert parameters == {"price": dikin.Real(1, 14, start=5), "ads": dikin.Integer(0, 12, start=6)}
    assert study.sampler.tuner.rounds == 1


def test_trials_of_a_sampler_before_are_left_alone() -> None:
    """After a restart ids begin anew: a late answer must not be taken for one of the new trials."""
    study = optuna.create_study(sampler=TunerSampler(PRICE, seed=7))
    before = study.ask(PRICE)
    study.sampler = TunerSampler(PRICE, seed=8)
    now = study.ask(PRICE)
    study.tell(before, 9.0)
    assert study.sampler.tuner.rounds == 0
    study.tell(now, 1.0)
    assert study.sampler.tuner.history()["value"].tolist() == [1.0]


# --- distributions -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("distribution", "kind", "values"),
    [
        (FloatDistribution(1, 14), dikin.Real(1, 14), None),
        (FloatDistribution(1e-3, 10, log=True), dikin.Real(1e-3, 10, log=True), None),
        (FloatDistribution(0.1, 0.7, step=0.1), dikin.Integer(0, 6), 7),
        (IntDistribution(3, 9), dikin.Integer(0, 6), 7),
        (IntDistribution(3, 9, step=3), dikin.Integer(0, 2), 3),
        (IntDistribution(1, 8, log=True), dikin.Integer(1, 8, log=True), 8),
    ],
    ids=repr,
)
def test_a_distribution_is_a_parameter(distribution: Any, kind: Any, values: int | None) -> None:
    """All values of a grid are played, also the last one, where steps add up to a little more."""
    study = optuna.create_study(sampler=TunerSampler({"x": distribution}, seed=7))
    played = []
    for _ in range(200):
        trial = study.ask({"x": distribution})
        played.append(trial.params["x"])
        study.tell(trial, -abs(trial.params["x"] - distribution.low))  # runs to both ends
    assert study.sampler.tuner.space.parameters == {"x": kind}
    assert study.sampler.tuner.rounds == 200  # each was played as asked
    assert values is None or len({*played}) <= values
    assert min(played) >= distribution.low
    assert max(played) <= distribution.high
    best = study.sampler.best["x"]
    assert distribution._contains(distribution.to_internal_repr(best))
    assert type(best) is type(played[0])


def test_what_cannot_be_tuned_is_drawn(caplog: pytest.LogCaptureFixture) -> None:
    study = optuna.create_study(sampler=TunerSampler(seed=7))

    def objective(trial: optuna.Trial) -> float:
        size = trial.suggest_categorical("size", list(range(20)))
        return trial.suggest_float("x", 0, 1) + (size > 10)

    study.optimize(objective, n_trials=30)
    assert len({trial.params["size"] for trial in study.trials}) > 2
    assert (list(study.sampler.tuner.space.parameters), study.sampler.tuner.rounds) == (["x"], 29)
    said = [line for line in caplog.messages if "'size' is drawn at random" in line]
    assert len(said) == 1


@pytest.mark.parametrize(
    ("space", "start", "message"),
    [
        ({"size": CategoricalDistribution(list(range(17)))}, None, "of 2 to 16 values"),
        ({"x": FloatDistribution(1, 1)}, None, "needs a FloatDistribution, an IntDistribution"),
        (PRICE, {"prize": 4}, "start has 'prize'. Did you mean 'price'?"),
    ],
)
def test_arguments_that_cannot_be(space: Any, start: Any, message: str) -> None:
    with pytest.raises(ParameterError) as caught:
        TunerSampler(space, start=start)
    assert message in str(caught.value)


def test_an_error_of_the_tuner_comes_through() -> None:
    study = optuna.create_study(sampler=TunerSampler(PRICE, start={"price": 99}))
    with pytest.raises(ParameterError, match="start=99 lies outside its range"):
        study.ask(PRICE)


# --- storages, studies, threads ------------------------------------------------------------------


def journal(folder: Path) -> optuna.storages.JournalStorage:
    return optuna.storages.JournalStorage(JournalFileBackend(str(folder / "optuna.log")))


def test_a_storage_that_others_read(tmp_path: Path) -> None:
    """What was asked is noted in Optuna's database, and comes back from there as it was."""
    storage = journal(tmp_path)
    study = optuna.create_study(study_name="a", storage=storage, sampler=TunerSampler(PRICE))
    numbers = [study.ask(PRICE).number for _ in range(5)]
    again = optuna.load_study(study_name="a", storage=journal(tmp_path), sampler=study.sampler)
    for number in numbers:
        again.tell(number, 1.0)
    assert study.sampler.tuner.rounds == 5


def test_a_study_of_dikin_survives_and_is_shared(tmp_path: Path) -> None:
    def store(tuner: dikin.Tuner) -> dikin.Study:
        return dikin.Study(tmp_path / "studies.db", "shop", tuner)

    storage = journal(tmp_path)
    one = optuna.create_study(
        study_name="a", storage=storage, sampler=TunerSampler(PRICE, store=store, seed=7)
    )
    asked = [one.ask(PRICE) for _ in range(3)]
    one.tell(asked[0], 1.0)
    other = optuna.load_study(
        study_name="a", storage=journal(tmp_path), sampler=TunerSampler(PRICE, store=store, seed=7)
    )
    fresh = other.ask(PRICE)
    assert other.sampler.tuner.open_queries[-1].params == fresh.params
    other.sampler.tuner.forget(2)  # by another client
    one.tell(asked[2].number, 3.0)
    one.tell(asked[1].number, 2.0)
    assert other.sampler.tuner.history()["value"].tolist() == [1.0, 2.0]
    for study in (one, other):
        study.sampler.tuner.close()


def test_threads() -> None:
    study = optuna.create_study(sampler=TunerSampler(seed=7))

    def objective(trial: optuna.Trial) -> float:
        return (trial.suggest_float("x", -4, 4) - 1) ** 2 + trial.suggest_int("n", 0, 9)

    study.optimize(objective, n_trials=60, n_jobs=4)
    tuner = study.sampler.tuner
    assert tuner.open_queries == []
    # Threads that began before the first trial had completed play the start.
    assert 56 <= tuner.rounds <= 59


def test_threads_make_one_tuner() -> None:
    study, made = optuna.create_study(), []
    study.sampler = TunerSampler(PRICE, store=lambda tuner: made.append(tuner) or tuner)  # type: ignore[func-returns-value,arg-type,return-value]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: study.ask(PRICE), range(40)))
    assert len(made) == 1
    assert made[0].asked == 40
