"""The sampler in the real Optuna: what a tuner adds to it."""

import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import optuna
import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.storages.journal import JournalFileBackend
from optuna.trial import TrialState

import dikin
from dikin.adapters.optuna import TunerSampler

PRICE = {"price": FloatDistribution(1, 14)}
START = dikin.Real(1, 14, start=4)


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    yield
    optuna.logging.set_verbosity(optuna.logging.INFO)


def begun(study: optuna.Study, space: Any = PRICE, **start: Any) -> optuna.Study:
    """Complete a first trial at the start, which fixes the search space."""
    study.enqueue_trial(start or {"price": 4.0})
    study.tell(study.ask(space), 0.0)
    return study


def test_values_reach_their_trials() -> None:
    """Late and out of order: the same as a tuner by hand, bit for bit."""
    study = begun(optuna.create_study(direction="maximize", sampler=TunerSampler(seed=7)))
    asked = [study.ask(PRICE) for _ in range(6)]
    tuner = dikin.Tuner({"price": START}, maximize=True, seed=7)
    trials = tuner.ask(n=6)
    assert [each.params["price"] for each in asked] == [trial["price"] for trial in trials]
    for value, place in enumerate((2, 0, 5, 1, 4)):
        study.tell(asked[place], float(value))
        tuner.tell(trials[place], float(value))
    assert study.sampler.tuner.state() == tuner.state()


def test_contexts_and_covariates_reach_the_tuner() -> None:
    """Known ones come from the callable, later ones from user attributes."""
    declared: dict[str, Any] = {
        "context": {"region": ["eu", "us"]},
        "covariates": {"load": float, "visitors": float},
    }
    rounds = [{"region": ["eu", "us"][i % 2], "load": i / 30, "else": 1} for i in range(30)]
    coming = iter(rounds)
    sampler = TunerSampler(known=lambda: next(coming), seed=7, **declared)
    study = begun(optuna.create_study(sampler=sampler))
    tuner = dikin.Tuner({"price": START}, seed=7, **declared)
    for i, known in enumerate(rounds):
        asked = study.ask(PRICE)
        trial = tuner.ask({"region": known["region"]}, covariates={"load": known["load"]})
        assert asked.params["price"] == trial["price"]
        asked.set_user_attr("visitors", float(i))
        asked.set_user_attr("note", "not for the tuner")
        study.tell(asked, 5.0 + i % 7)
        tuner.tell(trial, 5.0 + i % 7, covariates={"visitors": float(i)})
    assert study.sampler.tuner.state() == tuner.state()


def test_failed_trials_count_and_pruned_ones_are_forgotten() -> None:
    study = begun(optuna.create_study(sampler=TunerSampler(seed=7)))
    failed, pruned, endless, invalid = (study.ask(PRICE) for _ in range(4))
    study.tell(study.ask(), state=TrialState.FAIL)  # before it had a price
    pruned.report(3.0, step=1)
    study.tell(failed, state=TrialState.FAIL)
    study.tell(pruned, state=TrialState.PRUNED)
    study.tell(endless, float("inf"))
    with warnings.catch_warnings(action="ignore"):  # Optuna warns of the value
        study.tell(invalid, float("nan"))  # and takes the trial for failed, too
    assert study.sampler.tuner.open_queries == []
    assert study.sampler.tuner.history()["failed"].tolist() == [True, True]


def test_metrics_with_a_limit_are_user_attributes() -> None:
    sampler = TunerSampler(limits=["p99_ms <= 200", "failed <= 0.1"], seed=7)
    study = begun(optuna.create_study(sampler=sampler))
    asked, without = study.ask(PRICE), study.ask(PRICE)
    asked.set_user_attr("p99_ms", 187.0)
    study.tell(asked, 1.0)
    study.tell(without, 1.0)  # forgotten, and logged
    assert study.sampler.tuner.history()["metric.p99_ms"].tolist() == [187.0]
    assert study.sampler.tuner.open_queries == []


def test_categories_are_tuned() -> None:
    codecs = CategoricalDistribution([None, "lz4", 3])
    space = {"codec": codecs, "n": IntDistribution(1, 64, log=True)}
    study = begun(optuna.create_study(sampler=TunerSampler(seed=7)), space, codec=3, n=8)
    cost = {None: 3.0, "lz4": 1.0, 3: 2.0}
    for _ in range(60):
        trial = study.ask(space)
        study.tell(trial, cost[trial.params["codec"]])
    assert study.sampler.tuner.rounds == 60
    assert study.sampler.tuner.space.parameters["codec"] == dikin.Choice([0, 1, 2], start=2)
    assert study.sampler.best["codec"] == "lz4"


def test_a_trial_that_did_not_use_its_setting_is_forgotten() -> None:
    """Half of the trials do not ask for y."""
    space = {"x": FloatDistribution(0, 1), "y": FloatDistribution(0, 1)}
    study = begun(optuna.create_study(sampler=TunerSampler(seed=7)), space, x=0.5, y=0.5)

    def objective(trial: optuna.Trial) -> float:
        x = trial.suggest_float("x", 0, 1)
        return x + trial.suggest_float("y", 0, 1) if trial.number % 2 else x

    study.optimize(objective, n_trials=10)
    assert (study.sampler.tuner.rounds, study.sampler.tuner.open_queries) == (5, [])


def test_the_first_trial_that_completes_fixes_the_search_space() -> None:
    study = optuna.create_study(sampler=TunerSampler(seed=7))
    for price, value in ((4.0, None), (5.0, 500.0)):
        study.enqueue_trial({"price": price, "ads": 30})
        trial = study.ask()
        trial.suggest_float("price", 1, 14), trial.suggest_int("ads", 0, 60, step=5)
        assert (study.sampler.tuner, study.sampler.best) == (None, {})
        study.tell(trial, value, state=TrialState.FAIL if value is None else None)
    trial = study.ask()
    assert {"price", "ads"} == {*trial.relative_params}
    parameters = study.sampler.tuner.space.parameters
    assert parameters == {"price": dikin.Real(1, 14, start=5), "ads": dikin.Integer(0, 12, start=6)}


def test_trials_of_an_earlier_sampler_are_left_alone() -> None:
    """After a restart ids begin anew: a late answer must not reach one of the new trials."""
    study = begun(optuna.create_study(sampler=TunerSampler(seed=7)))
    before = study.ask(PRICE)
    study.sampler = TunerSampler(seed=8)
    now = study.ask(PRICE)
    study.tell(before, 9.0)
    assert study.sampler.tuner.rounds == 0
    study.tell(now, 1.0)
    assert study.sampler.tuner.history()["value"].tolist() == [1.0]


@pytest.mark.parametrize(
    ("distribution", "kind", "values"),
    [
        (FloatDistribution(1, 14), dikin.Real(1, 14, start=2), None),
        (FloatDistribution(1e-3, 10, log=True), dikin.Real(1e-3, 10, start=2, log=True), None),
        (FloatDistribution(0.1, 0.7, step=0.1), dikin.Integer(0, 6, start=1), 7),
        (IntDistribution(1, 7), dikin.Integer(0, 6, start=1), 7),
        (IntDistribution(-1, 5, step=3), dikin.Integer(0, 2, start=1), 3),
        (IntDistribution(1, 8, log=True), dikin.Integer(1, 8, start=2, log=True), 8),
    ],
    ids=repr,
)
def test_a_distribution_is_a_parameter(distribution: Any, kind: Any, values: int | None) -> None:
    """All values of a grid are used, also the last one, where steps add up to a little more."""
    start = 0.2 if distribution.high == 0.7 else 2
    study = begun(optuna.create_study(sampler=TunerSampler(seed=7)), {"x": distribution}, x=start)
    used = []
    for _ in range(200):
        trial = study.ask({"x": distribution})
        used.append(trial.params["x"])
        study.tell(trial, -abs(trial.params["x"] - distribution.low))  # runs to both ends
    assert study.sampler.tuner.space.parameters == {"x": kind}
    assert study.sampler.tuner.rounds == 200  # each was used as asked
    assert values is None or len({*used}) <= values
    assert min(used) >= distribution.low
    assert max(used) <= distribution.high
    best = study.sampler.best["x"]
    assert distribution._contains(distribution.to_internal_repr(best))
    assert type(best) is type(used[0])


def test_a_parameter_that_cannot_be_tuned_is_drawn() -> None:
    study = optuna.create_study(sampler=TunerSampler(seed=7))

    def objective(trial: optuna.Trial) -> float:
        size = trial.suggest_categorical("size", list(range(20)))
        return trial.suggest_float("x", 0, 1) + (size > 10)

    study.optimize(objective, n_trials=30)
    assert len({trial.params["size"] for trial in study.trials}) > 2
    assert (list(study.sampler.tuner.space.parameters), study.sampler.tuner.rounds) == (["x"], 29)


def test_several_objectives_are_refused() -> None:
    study = optuna.create_study(directions=["minimize", "maximize"], sampler=TunerSampler())
    with pytest.raises(ValueError, match="multi-objective"):
        study.ask(PRICE)


def journal(folder: Path) -> optuna.storages.JournalStorage:
    return optuna.storages.JournalStorage(JournalFileBackend(str(folder / "optuna.log")))


def test_a_study_of_dikin_survives_and_is_shared(tmp_path: Path) -> None:
    """Settings come back from Optuna's database as they were asked."""

    def store(tuner: dikin.Tuner) -> dikin.Study:
        return dikin.Study(tmp_path / "studies.db", "shop", tuner)

    def sampler() -> TunerSampler:
        return TunerSampler(store=store, seed=7)

    one = begun(optuna.create_study(study_name="a", storage=journal(tmp_path), sampler=sampler()))
    asked = [one.ask(PRICE) for _ in range(3)]
    one.tell(asked[0], 1.0)
    other = optuna.load_study(study_name="a", storage=journal(tmp_path), sampler=sampler())
    fresh = other.ask(PRICE)
    assert other.sampler.tuner.open_queries[-1].params == fresh.params
    other.sampler.tuner.forget(2)  # by another client
    one.tell(asked[2].number, 3.0)
    one.tell(asked[1].number, 2.0)
    assert other.sampler.tuner.history()["value"].tolist() == [1.0, 2.0]
    for study in (one, other):
        study.sampler.tuner.close()


def test_threads_make_one_tuner() -> None:
    study, made = begun(optuna.create_study()), []
    study.sampler = TunerSampler(store=lambda tuner: made.append(tuner) or tuner)  # type: ignore[func-returns-value,arg-type,return-value]
    with ThreadPoolExecutor(8) as pool:
        trials = list(pool.map(lambda _: study.ask(PRICE), range(40)))
        list(pool.map(lambda trial: study.tell(trial, 1.0), trials))
    assert [(tuner.asked, tuner.rounds, tuner.open_queries) for tuner in made] == [(40, 40, [])]
