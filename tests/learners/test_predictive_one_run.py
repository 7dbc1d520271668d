"""The bound for one run against its transcription, and losses that are not convex."""

from dataclasses import replace
from math import inf, isnan, log1p
from typing import Any

import numpy as np
import pytest

import dikin
from dikin import errors
from dikin.learners import predictive_certificate as certificate
from dikin.learners import predictive_one_run as one_run
from dikin.learners.predictive_state import Run
from learners.predictive_replay import Replay, Setting
from learners.predictive_spaces import SPACES
from paper.charts import holds
from reference.one_run import RATES, OneRun
from reference.predictive import Answer, Array

FAILURE = 0.05


def nearest(name: str, radius: float) -> Any:
    """The point of the disc or of the cube, in the unit ball, that is nearest."""
    if name == "disc":
        return lambda u: u / max(1.0, float(np.linalg.norm(u)))
    return lambda u: np.clip(u, -radius, radius)


def transcribed(replay: Replay, name: str, kind: Any = OneRun, beta: float = 0.7) -> OneRun:
    reference = replay.reference
    prices = [reference.round_price(answer, beta, None) for answer in reference.answers]
    side = reference.dim**-0.5
    psi = replay.space.psi
    run: OneRun = kind(reference.answers, prices, nearest(name, side), psi.support)
    return run


@pytest.fixture(scope="module", params=["disc", "cube"])
def played(request: pytest.FixtureRequest) -> tuple[str, Replay]:
    setting = Setting("smooth", ranged=True, start=False, memory=None, late=2)
    return request.param, Replay(SPACES[request.param](), setting).play(40)


class WrongSign(OneRun):
    def deviation(self, answer: Answer, u: Array) -> float:
        return answer.surprise + float(answer.full_estimate @ (answer.query.center - u))


class NoSquares(OneRun):
    def price_of_squares(self, rate: float) -> float:
        return 0.0


class NoOdds(OneRun):
    def odds(self, failure: float) -> float:
        return 0.0


class NoDirections(OneRun):
    """As if one u had been chosen beforehand."""

    def odds(self, failure: float) -> float:
        return super().odds(failure) - self.dim * log1p(2.0)


def test_the_transcription(played: tuple[str, Replay]) -> None:
    """Beyond the range's own bound, so that every term counts: it is taken out on both sides."""
    name, replay = played
    learner = replay.learner
    around = learner._center_vector()
    learner._n.run.losses = inf

    def check(kind: Any) -> None:
        run = transcribed(replay, name, kind)
        run = replace(run, answers=[*run.answers])
        most = max(run.most(answer) for answer in run.answers)
        bounds = [
            run.largest(rate, around)
            + run.price_of_squares(rate) * 0.25 / (run.dim + 2) * np.trace(run.second_moments())
            + run.odds(FAILURE) / rate
            for rate in RATES
            if rate * most < 1
        ]
        shipped = learner.certificate_for(
            smoothness=0.7 * replay.smoothness_unit, confidence=1 - FAILURE
        )
        assert shipped / replay.half == pytest.approx(min(bounds), rel=1e-7)

    holds(check, OneRun, WrongSign, NoSquares, NoOdds, NoDirections)


def test_what_the_range_says(played: tuple[str, Replay]) -> None:
    """In forty rounds no estimate beats it."""
    name, replay = played
    replay.learner._n.run.losses = sum(a.loss + 1 for a in replay.reference.answers)
    found = replay.learner.certificate_for(
        smoothness=0.7 * replay.smoothness_unit, confidence=1 - FAILURE
    )
    wanted = transcribed(replay, name).bound(FAILURE, replay.learner._center_vector())
    assert found / replay.half == pytest.approx(wanted, rel=1e-7)


def test_the_largest_is_not_exceeded(played: tuple[str, Replay]) -> None:
    """F + (psi/l) V at points of the set, inside and on its boundary."""
    name, replay = played
    run, rng = transcribed(replay, name), np.random.default_rng(5)
    project = nearest(name, replay.reference.dim**-0.5)

    def check(kind: Any) -> None:
        for rate in (2.0**-7, 2.0**-12):
            most = transcribed(replay, name, kind).largest(rate, replay.learner._center_vector())
            for u in map(project, rng.normal(size=(200, run.dim)) * 0.8):
                assert run.estimate(u) + run.price_of_squares(rate) * run.squares(u) <= most + 1e-9

    holds(check, OneRun, NoSquares)


def test_the_inequality_of_one_round() -> None:
    """exp(l x - psi_h(l) x^2) <= 1 + l x for x >= -h, with equality at -h; not with half of psi."""
    h = 3.0

    def check(share: float) -> None:
        for rate in (1e-6, 1e-3, 0.1, 0.3, 0.333):
            psi = share * rate * one_run.quadratic_price(rate, h)
            x = np.linspace(-h, 40.0, 2001)
            assert (np.exp(rate * x - psi * x**2) <= 1 + rate * x + 1e-15).all()

    holds(check, 1.0, 0.5, 0.98)


def test_the_rates_are_those_of_the_page() -> None:
    """lambda_k = 2^(-(k + 3)/2), k = 1, ..., 24: a grid that must not depend on what is told."""
    np.testing.assert_allclose(one_run.RATES, RATES, rtol=1e-15)


@pytest.mark.parametrize("surprise", [0.7, -1.3])
def test_no_deviation_is_deeper(surprise: float) -> None:
    """X(u) = r - r g.(y - u) is at least -h for |u| <= 1 + epsilon, and no less deep in one u."""
    plan = dikin.Predictive(dikin.Ball(3), loss_range=(-1, 1), seed=1)._plan
    rng, run, moments = np.random.default_rng(4), Run(), np.zeros(16)
    y, g = np.array([0.1, -0.3, 0.2]), np.array([2.0, 0.5, -1.5])
    where = (float(g @ y), float(np.linalg.norm(y)), 2.0)
    one_run.add_answer(plan, run, (0.2, surprise), where, g, moments)
    far = rng.normal(size=(500, 3))
    far *= 1.5 / np.linalg.norm(far, axis=1, keepdims=True)
    worst = -np.sign(surprise) * 1.5 * g / np.linalg.norm(g)
    deviations = surprise - surprise * ((y - np.vstack([far, worst])) @ g)
    assert deviations.min() == deviations[-1] == pytest.approx(-run.deepest, rel=1e-12)


@pytest.mark.parametrize("name", SPACES)
def test_no_direction_is_stiffer(name: str) -> None:
    """|H^(1/2) v| <= stiffness |v|: the matrix from its own action on vectors."""
    geometry = SPACES[name]().domain.equal_sided_geometry(1.0)
    metric, y = np.empty(geometry.metric_size), geometry.start()
    rng = np.random.default_rng(3)
    geometry.solve(rng.normal(size=geometry.size), 0.5, 0.1, y)
    longest = 0.0
    for _ in range(200):
        s, g = rng.normal(size=geometry.size), np.zeros(geometry.size)
        square, _ = geometry.explore(y, 1.0, 0.7, s, metric)
        geometry.linear_update(y, metric, s, square**-0.5, 0.0, g)
        longest = max(longest, float(np.linalg.norm(g)))
    assert longest <= geometry.stiffness(metric) * (1 + 1e-12)
    assert geometry.stiffness(metric) <= 4 * geometry.size**0.5 * longest


# --- what there is no bound for -----------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [{"loss_range": None}, {"memory": 50}, {"contexts": 2}],
)
def test_no_bound(options: dict[str, Any]) -> None:
    learner = dikin.Predictive(dikin.Ball(2), **({"loss_range": (0, 1), "seed": 1} | options))
    for _ in range(9):
        query = learner.ask([0.5, 0.5]) if learner.contexts else learner.ask()
        learner.tell(query, float(query.point[0] ** 2))
    assert isnan(learner.certificate_for(smoothness=1.0, confidence=0.9))
    assert not isnan(learner.certificate_for(smoothness=1.0))


def test_too_many_dimensions() -> None:
    learner = dikin.Predictive(dikin.Ball(65), loss_range=(0, 1), seed=1)
    learner.tell(learner.ask(), 0.5)
    assert isnan(learner.certificate_for(smoothness=1.0, confidence=0.9))


def test_auto_memory() -> None:
    learner = dikin.Predictive(dikin.Ball(2), loss_range=(0, 1), memory="auto", seed=1)
    learner.tell(learner.ask(), 0.5)
    assert learner.certificate_for(smoothness=1.0, confidence=0.9) == pytest.approx(0.5)
    assert isnan(learner.certificate_for(smoothness=1.0, confidence=0.9, memory=250))


@pytest.mark.parametrize("value", [0.0, 1.0, 95, -0.5, float("nan"), "0.9"])
def test_a_confidence_is_between_0_and_1(value: Any) -> None:
    learner = dikin.Predictive(dikin.Ball(2), loss_range=(0, 1), seed=1)
    with pytest.raises(errors.ParameterError, match="confidence"):
        learner.certificate_for(smoothness=1.0, confidence=value)


def test_saved_and_in_a_tuner(tmp_path: Any) -> None:
    tuner = dikin.Tuner({"x": dikin.Real(0.0, 1.0)}, value_range=(0, 1), seed=3)
    for _ in range(30):
        trial = tuner.ask()
        tuner.tell(trial, (trial.params["x"] - 0.3) ** 2)
    tuner.save(tmp_path / "tuner.json")
    again = dikin.load(tmp_path / "tuner.json")
    asked = {"smoothness": 2.0, "confidence": 0.95, "nonconvexity": 0.01}
    assert tuner.certificate_for(**asked) == again.certificate_for(**asked) > 0
    assert np.array_equal(tuner.learner._state.moments, again.learner._state.moments)


# --- nearly convex --------------------------------------------------------------------------------


def test_the_price_of_losses_that_are_not_convex(played: tuple[str, Replay]) -> None:
    name, replay = played
    unit = replay.smoothness_unit
    plain, priced = (
        replay.learner.certificate_for(smoothness=unit, nonconvexity=x) for x in (0.0, 0.3)
    )

    class AtTheCentre(OneRun):
        def swing(self, answer: Answer) -> float:
            return 1.0

    def check(kind: Any) -> None:
        wanted = transcribed(replay, name, kind).nonconvexity(0.3)
        assert priced - plain == pytest.approx(wanted, rel=1e-9)

    holds(check, OneRun, AtTheCentre)


@pytest.mark.parametrize("loss_range", [None, (-1, 1)])
@pytest.mark.parametrize("memory", [None, 5.0])
def test_every_round_counts_once(loss_range: Any, memory: float | None) -> None:
    """Also those that measure how large losses are, with the memory's weight for its age."""
    learner = dikin.Predictive(dikin.Ball(2), loss_range=loss_range, memory=memory, seed=1)
    for t in range(20):
        learner.tell(learner.ask(), 0.1 * (t % 3))
    keep = learner._plan.keep
    # Without a range the first eight weigh the same, as no loss may change what a round weighs.
    equal = 8 if loss_range is None else 1
    wanted = sum(keep ** (19 - max(t, equal - 1)) for t in range(20))
    assert learner._n.sums.rounds[0] == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize("dim", [1, 2, 3, 10])
def test_a_swing_is_at_least_its_mean(dim: int) -> None:
    """sqrt(1 + d h^2) is at least the mean of |1 - d s.h|, and at most 1.61 times as much.

    It is the mean itself where h is 0.
    """
    plan = dikin.Predictive(dikin.Ball(dim), seed=1)._plan
    assert certificate.swing_of(plan, 0.0) == 1.0
    s = np.random.default_rng(dim).normal(size=(40_000, dim))
    first = s[:, 0] / np.linalg.norm(s, axis=1)
    for h in (0.1, 0.5, 1.0, 3.0, 20.0):
        mean, most = np.abs(1 - dim * h * first).mean(), certificate.swing_of(plan, h)
        assert 0.995 * mean <= most <= 1.62 * mean, f"{dim} {h}"


def test_a_slope_that_is_made_level() -> None:
    """A loss of 0.3 x that is level around the centre, and less at the far end.

    The certificate sees no slope; with the deviation from a convex loss it is a bound. Nothing
    here is random but the side that is played, and either side is told the same.
    """
    learner, deviation = dikin.Predictive(dikin.Ball(1), 0.0, loss_range=(-1, 1), seed=1), 0.25
    for _ in range(50):
        learner.tell(learner.ask(), 0.0)
    regret = 50 * (0.3 + deviation)
    assert learner.certificate_for(smoothness=0.0) < 1e-9
    assert learner.certificate_for(smoothness=0.0, nonconvexity=deviation) >= regret
    assert learner.certificate_for(smoothness=0.0, nonconvexity=deviation, confidence=0.9) >= regret
