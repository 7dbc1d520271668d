"""Covariates of a tuner, several values, standard errors: what they do and what is refused."""

import json
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from math import inf, isnan, nan, sqrt
from typing import Any

import numpy as np
import pytest

import dikin
from dikin.errors import CovariateError, LossError, ParameterError
from dikin.learners.predictive import Besides, Predictive
from dikin.tuning.covariates import WORDS
from dikin.tuning.several_values import Precision
from paper.charts import holds

PARAMETERS = {"x": dikin.Real(0, 1, start=0.3), "y": dikin.Real(0, 1, start=0.6)}
HOUR = {"hour": dikin.Cycle(24)}


def tuner(seed: int = 1, **options: Any) -> dikin.Tuner:
    return dikin.Tuner(PARAMETERS, seed=seed, **options)


def bowl(trial: dikin.Trial) -> float:
    return float(((trial.point - 0.5) ** 2).sum())


def play(player: dikin.Tuner, rounds: int, seed: int = 2) -> None:
    """Load at the ask, the kind with the value, which both explain nearly all of."""
    rng = np.random.default_rng(seed)
    for t in range(rounds):
        load, kind = float(rng.normal()), "web" if rng.random() < 0.5 else "batch"
        trial = player.ask(covariates={"load": load, "hour": t % 24})
        value = bowl(trial) + 0.5 * load + (0.4 if kind == "web" else 0.0)
        value += 0.3 * np.sin(2 * np.pi * t / 24) + 0.02 * rng.normal()
        player.tell(trial, value, covariates={"kind": kind})


def text(player: dikin.Tuner) -> str:
    return json.dumps(player.state(), allow_nan=False)  # as a service takes it


# --- what it finds -------------------------------------------------------------------------------


@pytest.mark.parametrize("maximize", [False, True])
def test_what_explains_the_values_is_found(maximize: bool) -> None:
    player = tuner(covariates=HOUR, maximize=maximize)
    play(player, 400)
    found = player.explained
    assert found.share > 0.9
    assert sum(found.by.values()) == pytest.approx(found.share)
    assert found.by["load"] > found.by["hour"] > 0.05
    assert found.coefficients["load"] == pytest.approx(0.5, abs=0.05)
    hour, kind = found.coefficients["hour"], found.coefficients["kind"]
    assert isinstance(hour, dict)
    assert isinstance(kind, dict)
    assert hour["sin 1"] == pytest.approx(0.3, abs=0.06)
    assert kind["web"] - kind["batch"] == pytest.approx(0.4, abs=0.05)
    assert player.learner.forecasters["covariates"] > 0.6
    status = player.summary()
    assert status.explained == found.share
    assert status.covariates == {
        "hour": {"kind": "cycle", "period": 24.0},
        "load": None,
        "kind": status.covariates["kind"],
    }
    assert "% of the variance, by covariates (load" in str(status)
    assert str(found).startswith("explained")
    assert "load" in found._repr_html_()
    assert dikin.status.Status.from_json(status.to_json()).explained_by == found.by


def test_nothing_is_explained_before_and_without() -> None:
    player = tuner()
    assert isnan(player.explained.share)
    assert player.explained.by == {}
    assert "no covariates" in str(player.explained)
    assert "explained" not in str(player.summary())
    assert player.summary().explained_by is None


def test_of_words_only_the_differences_count() -> None:
    """Their coefficients add up to 0, however many words there are."""
    player, kinds = tuner(), {"web": 0.0, "batch": 0.3, "night": 0.9}
    for t in range(60):
        kind = [*kinds][t % 3]
        trial = player.ask(covariates={"kind": kind})
        player.tell(trial, bowl(trial) + kinds[kind])
    found = player.explained.coefficients["kind"]
    assert isinstance(found, dict)
    assert found["web"] < found["batch"] - 0.1 < found["night"] - 0.5
    assert sum(found.values()) == pytest.approx(0.0, abs=1e-12)


def test_a_control_asked_before_the_regression_began_teaches_it_nothing() -> None:
    """Nothing was known then with which its value could have been foreseen."""
    player = tuner(holdback=0.3)
    early = [player.ask(covariates={"load": 0.1 * i}) for i in range(20)]
    control = next(trial for trial in early if trial.held_back)
    for i in range(60):
        trial = player.ask(covariates={"load": float(i % 7)})
        player.tell(trial, bowl(trial) + 0.2 * (i % 7))
    regression = player._learning.covariates.regression
    assert regression.begun
    before = regression.state()
    player.tell(control, 0.5)
    np.testing.assert_equal(regression.state(), before)
    trials = iter(partial(player.ask, covariates={"load": 3.0}), None)
    late = next(trial for trial in trials if trial.held_back)
    player.tell(late, 0.5)
    assert tuple(regression.fit.mean) != before["fit"][0]  # one that was asked since does


def regret(seed: int, informed: bool) -> float:
    player, rng, total = tuner(seed), np.random.default_rng([seed, 3]), 0.0
    for _ in range(300):
        load = float(rng.normal())
        trial = player.ask(covariates={"load": load} if informed else None)
        total += bowl(trial)
        player.tell(trial, bowl(trial) + 0.3 * load + 0.03 * float(rng.normal()))
    return total


def test_they_make_learning_faster() -> None:
    """Five games, seeds fixed beforehand; the ratio is about a half."""
    games = [(regret(seed, True), regret(seed, False)) for seed in range(5)]
    assert sum(with_ for with_, _ in games) < 0.7 * sum(without for _, without in games)


def test_the_expected_value_of_a_trial_knows_its_covariates() -> None:
    player = tuner(covariates=HOUR)
    play(player, 300)
    low, high = (player.ask(covariates={"load": load}).expected for load in (-1.0, 1.0))
    assert high - low == pytest.approx(1.0, abs=0.3)


# --- what comes ----------------------------------------------------------------------------------


def test_a_number_is_a_number() -> None:
    one, other = tuner(), tuner()
    for t in range(30):
        given: list[Any] = [t % 2 == 0, np.float32(t), Decimal(t), np.int64(t), None]
        same = [float(t % 2 == 0), float(t), float(t), float(t)]
        for player, numbers in ((one, given), (other, same)):
            named = dict(zip("abcde", numbers, strict=False))
            player.tell(player.ask(covariates=named), float(t % 7))
    assert text(one) == text(other)


BAD: list[tuple[Any, str]] = [
    ({"load": nan}, "finite"),
    ({"load": -inf}, "finite"),
    ({"load": Decimal("NaN")}, "finite"),
    ({"load": 1e100}, "below 1e\\+100"),
    ({"load": [1.0]}, "a number or a word"),
    ({"load": 1j}, "a number or a word"),
    ({"load": "high"}, "is a number"),
    ({"hour": "noon"}, "is a number of Cycle"),
    ({"kind": 3}, "is a word"),
    ({"kind": ""}, "1 to 100"),
    ({"kind": "a\nb"}, "printable"),
    ({"": 1}, "name of a covariate"),
    ({3: 1}, "name of a covariate"),
    ([1, 2], "by name"),
    ("load=1", "by name"),
    ({f"c{i}": 1.0 for i in range(17)}, "at most 16"),
    ({f"c{i}": 1.0 for i in range(14)}, "at most 16"),
]


@pytest.mark.parametrize(("bad", "words"), BAD, ids=[str(bad)[:30] for bad, _ in BAD])
def test_what_is_refused_changes_nothing(bad: Any, words: str) -> None:
    player = tuner(covariates=HOUR)
    play(player, 12)
    open_ = player.ask()
    before = text(player)
    with pytest.raises(CovariateError, match=words):
        player.ask(covariates=bad)
    with pytest.raises(CovariateError, match=words):
        player.tell(open_, 1.0, covariates=bad)
    assert text(player) == before
    player.tell(open_, 1.0)


def test_a_category_has_few_words_and_one_more_is_refused() -> None:
    player = tuner(covariates={"kind": ["w0", "w1"]})
    for t in range(WORDS):
        player.tell(player.ask(covariates={"kind": f"w{t}"}), 1.0)
    before = text(player)
    with pytest.raises(CovariateError, match=rf"at most {WORDS}.*'other'"):
        player.ask(covariates={"kind": "one more"})
    assert text(player) == before


def test_given_twice() -> None:
    player = tuner()
    trial = player.ask(covariates={"load": 1})
    assert trial.covariates == {"load": 1.0}
    before = text(player)
    with pytest.raises(CovariateError, match=r"was 1.0 when the trial was asked, and 2.0 came"):
        player.tell(trial, 1.0, covariates={"load": 2})
    assert text(player) == before
    player.tell(trial, 1.0, covariates={"load": 1, "users": 3})
    assert player.history()["covariate.users"].tolist() == [3.0]


@pytest.mark.parametrize(
    "kinds",
    [
        ["load"],
        {"kind": []},
        {"kind": ["a", "a"]},
        {"kind": ["a", 3]},
        {"kind": "ab"},
        {"kind": [f"{i}" for i in range(WORDS + 1)]},
        {"load": 24},
        {"load": str},
        {"hour": {"kind": "cycle"}},
        {1: None},
        {f"c{i}": None for i in range(17)},
    ],
    ids=str,
)
def test_what_cannot_be_declared(kinds: Any) -> None:
    with pytest.raises(ParameterError):
        tuner(covariates=kinds)


def test_a_constant_covariate_says_nothing() -> None:
    """The tuner plays as it would without it, bit for bit."""
    one, other = tuner(), tuner()
    for t in range(60):
        for player, known in ((one, {"version": 3.0}), (other, None)):
            trial = player.ask(covariates=known)
            player.tell(trial, bowl(trial) + 0.1 * (t % 5))
    assert one.learner.state() == other.learner.state()


def test_absurd_and_missing_ones_cost_little() -> None:
    player, rng = tuner(), np.random.default_rng(5)
    for t in range(300):
        load = float(rng.normal())
        given = {"load": 1e30 if t in (2, 5, 90, 200) else load, "absurd": float(t == 50) * 1e30}
        trial = player.ask(covariates=given if t % 9 else {})
        player.tell(trial, bowl(trial) + 0.5 * load + 0.02 * float(rng.normal()))
    assert player.explained.share > 0.8
    assert player.explained.coefficients["load"] == pytest.approx(0.5, abs=0.05)


def test_new_ones_are_learnt_later_on() -> None:
    player, rng = tuner(), np.random.default_rng(6)
    for t in range(400):
        load = float(rng.normal())
        trial = player.ask(covariates={} if t < 200 else {"load": load})
        player.tell(trial, bowl(trial) + 0.5 * load + 0.02 * float(rng.normal()))
    assert player.explained.coefficients["load"] == pytest.approx(0.5, abs=0.05)


def test_on_hold_nothing_is_learnt_of_them() -> None:
    player = tuner(covariates=HOUR)
    play(player, 50)
    learnt = json.dumps(player.state()["covariates"])
    player.hold()
    player.tell(player.ask(covariates={"load": 5.0}), 9.0)
    assert json.dumps(player.state()["covariates"]) == learnt
    assert player.history()["covariate.load"][-1] == 5.0


def test_learners_refuse_them() -> None:
    learner = Predictive(dikin.Ball(2), seed=1)
    with pytest.raises(CovariateError, match=r"only a dikin.Tuner"):
        learner.ask(covariates={"load": 1.0})
    query = learner.ask()
    for beside in ({"covariates": {"load": 1.0}}, {"sem": 0.1}):
        with pytest.raises(CovariateError, match=r"only a dikin.Tuner"):
            learner.tell(query, 1.0, **beside)  # type: ignore[arg-type]
    learner.tell(query, 1.0)


# --- it goes on ----------------------------------------------------------------------------------


def test_a_tuner_with_covariates_goes_on_bit_for_bit() -> None:
    """Saved with trials open, of which each is forecast as it was when it was asked."""
    one = tuner(covariates=HOUR)
    play(one, 40)
    trials = [one.ask(covariates={"load": float(load)}) for load in range(3)]
    one.forget(trials[1])
    other = dikin.restore(json.loads(text(one)))
    for player in (one, other):
        player.tell(trials[2].id, 1.3, covariates={"kind": "new"}, sem=0.2)
        player.tell(trials[0].id, 0.3, covariates={"kind": "web"})
        play(player, 40, seed=9)
    assert text(one) == text(other)
    assert len(one._learning.fits) == 0


def test_without_covariates_it_is_predictive_as_before() -> None:
    player = tuner()
    learner = Predictive(player.space.domain, start=player.space.start, memory="auto", seed=1)
    for t in range(80):
        trial, query = player.ask(), learner.ask()
        for each in (player, learner):
            each.tell(trial.id, 0.1 * (t % 7) + float(query.point[0]))  # type: ignore[attr-defined]
    assert player.learner.state()["numbers"] == learner.state()["numbers"]
    assert learner.forecasters["covariates"] == pytest.approx(0.2)


# --- the forecast does not look ahead ------------------------------------------------------------


class LooksAhead(dikin.Tuner):
    """The forecast knows the value."""

    def tell(self, trial: Any, value: Any = None, *more: Any, **named: Any) -> None:
        id, fits = getattr(trial, "id", trial), self._learning.fits
        if id in fits:
            level = fits[id].level.copy()
            level.mixture = self.learner.units.loss(value)
            fits[id] = fits[id]._replace(level=level)
        super().tell(trial, value, *more, **named)


class LearnsMeanwhile(dikin.Tuner):
    """A late value is forecast with what was learnt since it was asked."""

    def tell(self, trial: Any, *more: Any, **named: Any) -> None:
        id, learning = getattr(trial, "id", trial), self._learning
        if id in learning.fits:
            learning.fits[id] = learning.covariates.regression.fit
        super().tell(trial, *more, **named)


def heard(patch: pytest.MonkeyPatch) -> list[float]:
    """What the regression expects, as the learner hears it."""
    found, shipped = [], Predictive._with_besides

    def listening(self: Predictive, memo: Any, beside: Besides) -> Any:
        found.append(beside.regression)
        return shipped(self, memo, beside)

    patch.setattr(Predictive, "_with_besides", listening)
    return found


def test_a_forecast_depends_neither_on_its_value_nor_on_what_came_meanwhile() -> None:
    def check(kind: Callable[..., dikin.Tuner]) -> None:
        player = kind(PARAMETERS, covariates=HOUR, seed=1)
        play(player, 60)
        late = player.ask(covariates={"load": 0.7})
        twin = dikin.restore(player.state())
        twin.__class__ = kind
        with pytest.MonkeyPatch.context() as patch:
            forecasts = heard(patch)
            player.tell(late.id, 2.0)
            play(twin, 20, seed=8)
            twin.tell(late.id, -1.0)
        assert forecasts[0] == forecasts[-1]

    holds(check, dikin.Tuner, LooksAhead, LearnsMeanwhile)


SLOPE = np.array([0.5, -0.3, 0.2])
ROUNDS, GAMES = 120, 12


def gaps(kind: Callable[..., dikin.Tuner], covariate: Callable[[int, float, float], float]) -> Any:
    """Certificate less regret: linear losses, noise that a covariate knows in some rounds."""
    parameters = {name: dikin.Real(-1, 1) for name in "xyz"}
    found = []
    for seed in range(GAMES):
        # A range of length 2 is 1 on the cube: the certificate is for losses there.
        player = kind(parameters, smoothness=0.0, value_range=(-1.5, 1.5), seed=seed)
        rng, total = np.random.default_rng([seed, 4]), 0.0
        for t in range(ROUNDS):
            noise = 0.5 * float(rng.choice([-1.0, 1.0]))
            trial = player.ask()
            loss = float(SLOPE @ trial.point)
            total += loss
            told = {"load": covariate(t, noise, loss + noise), "other": float(rng.normal())}
            player.tell(trial, loss + noise, covariates=told)
        found.append(player.certificate - (total + ROUNDS * float(np.abs(SLOPE).sum())))
    return np.array(found)


def lying(t: int, noise: float, value: float) -> float:
    """The noise, then its opposite, then neither, and absurd now and then."""
    return 1e30 if t % 41 == 40 else noise * (1.0, -1.0, 0.0)[t // 40 % 3]


def influenced(t: int, noise: float, value: float) -> float:
    """The value itself, which the setting influences."""
    return value


def above(found: Any, errors: float) -> None:
    mean, error = found.mean(), found.std(ddof=1) / sqrt(found.size)
    assert mean >= errors * error, f"certificate less regret: {mean} +- {error}"


def test_the_certificate_holds_with_covariates_that_lie() -> None:
    """Linear losses: it is the mean regret, and not below by three standard errors.

    A forecast that looks ahead breaks it.

    So does a covariate that the setting influences, as the guide says: what the setting does is
    then taken off the value as explained.
    """
    check = partial(above, errors=-3.0)
    wrong = gaps(LooksAhead, lying), gaps(dikin.Tuner, influenced)
    holds(check, gaps(dikin.Tuner, lying), *wrong)


# --- several values ------------------------------------------------------------------------------


def test_several_values_are_their_mean_with_its_standard_error() -> None:
    one, other = tuner(), tuner()
    rng = np.random.default_rng(1)
    for t in range(60):
        values = [float(v) for v in rng.normal(size=2 + t % 3)]
        mean, error = float(np.mean(values)), float(np.std(values, ddof=1)) / sqrt(len(values))
        one.tell(one.ask(), values=iter(values))
        other.tell(other.ask(), mean, sem=error)
    assert one.learner.center == pytest.approx(other.learner.center, rel=1e-9)
    assert one.history()["sem"] == pytest.approx(other.history()["sem"])
    assert one.sem_rounds == one.summary().sem_rounds == 60
    alone = tuner()
    alone.tell(alone.ask(), values=np.array([3.0]))
    assert alone.sem_rounds == 0


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({"values": []}, "one or more"),
        ({"values": [1.0, nan]}, "finite"),
        ({"values": [1.0, "2"]}, "finite"),
        ({"values": "12"}, "several numbers"),
        ({"values": 3.0}, "several numbers"),
        ({"value": 1.0, "values": [1.0]}, "told alone"),
        ({"values": [1.0], "sem": 0.1}, "told alone"),
        ({"value": 1.0, "sem": -0.1}, "at least 0"),
        ({"value": 1.0, "sem": nan}, "at least 0"),
        ({"value": 1.0, "sem": inf}, "at least 0"),
        ({"value": 1.0, "sem": "0.1"}, "at least 0"),
        ({"sem": 0.1}, "got None"),
        ({}, "got None"),
    ],
    ids=str,
)
def test_values_that_are_refused_change_nothing(told: dict[str, Any], words: str) -> None:
    player = tuner()
    trial = player.ask()
    before = text(player)
    with pytest.raises(LossError, match=words):
        player.tell(trial, **told)
    assert text(player) == before
    player.tell(trial, 1.0)


def surprised(error: float | None) -> tuple[dikin.Tuner, float]:
    """A tuner that is used to standard errors of 0.1, after a surprise; how far its centre went."""
    player, rng = tuner(value_range=(-5, 5), smoothness=2.0), np.random.default_rng(7)
    for _ in range(120):
        trial = player.ask()
        player.tell(trial, bowl(trial) + 0.1 * float(rng.normal()), sem=0.1)
    before = player.learner.center
    player.tell(player.ask(), 0.4, sem=error)
    return player, float(np.linalg.norm(player.learner.center - before))


def test_a_value_that_is_noisier_than_usual_teaches_less() -> None:
    usual, noisy, quiet = surprised(0.1), surprised(1.0), surprised(0.0)
    assert noisy[1] < 0.2 * usual[1]
    assert quiet[1] == pytest.approx(usual[1], rel=0.2)
    assert noisy[0].clipped == usual[0].clipped  # it was not learnt in full, and is no fault
    state = noisy[0].learner._state  # the certificate has all of it
    assert np.linalg.norm(state.estimates[: state.linear.size] - state.linear) > 0
    expected = [player.expected for player, _ in (usual, noisy)]
    assert abs(expected[1]) < abs(expected[0])


def noisy_regret(seed: int, tells: bool) -> float:
    """Noise whose size is known and varies by factors: log-normal."""
    player, rng, total = tuner(seed), np.random.default_rng([seed, 8]), 0.0
    for _ in range(300):
        error = 0.1 * float(np.exp(1.2 * rng.normal()))
        trial = player.ask()
        total += bowl(trial)
        player.tell(trial, bowl(trial) + error * float(rng.normal()), sem=error if tells else None)
    return total


def test_to_tell_the_standard_error_helps() -> None:
    """Five games, seeds fixed beforehand."""
    games = [(noisy_regret(seed, True), noisy_regret(seed, False)) for seed in range(5)]
    assert sum(told for told, _ in games) < 0.9 * sum(silent for _, silent in games)


# --- Cycle ---------------------------------------------------------------------------------------


def test_a_cycle() -> None:
    day = dikin.Cycle(24)
    assert [day.phase(hour) for hour in (0, 6, 24, 30, -6)] == [0.0, 0.25, 0.0, 0.25, 0.75]
    assert 0.0 <= day.phase(-1e-300) < 1.0
    assert dikin.Cycle.from_spec(json.loads(json.dumps(day.spec()))) == day
    assert repr(day) == "Cycle(period=24.0)"
    for period in (0, -1, nan, inf, "24", None, True):
        with pytest.raises(ParameterError, match="period of a Cycle"):
            dikin.Cycle(period)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="described by"):
        dikin.Cycle.from_spec({"period": 24})


def test_a_standard_error_says_nothing_while_surprises_have_no_size() -> None:
    """V = 0: all losses so far were as expected, and every value weighs the same."""
    assert Precision(mean=2.0, count=3.0).weight(4.0, 0.0) == 1.0
    assert Precision(mean=2.0, count=3.0).weight(0.25, 1.0) == 0.4


def test_the_precision_is_the_mean_over_the_last_values() -> None:
    """1/(V + s^2), over all values at first."""
    found = Precision()
    for error in (1.0, 3.0, 0.0):
        found.learn(error, 1.0)
    assert found.mean == pytest.approx((1 / 2 + 1 / 4 + 1) / 3, rel=1e-15)
