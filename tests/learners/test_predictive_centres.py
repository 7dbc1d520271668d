"""Contexts: centres and certificate of `Predictive(contexts=K)`, beside their transcription.

Each centre is a minimum of its own, held by the common one, what is played is their mean, and the
certificate is the sum of the least values of each feature's models. With nothing told they come
from the support function of the set, else from closed forms (a cube, a disc).
"""

from collections.abc import Callable
from math import isnan, sqrt
from typing import Any

import numpy as np
import pytest

import dikin
from dikin.engine import jit
from dikin.errors import FeedbackError
from dikin.learners import predictive_centres as centres
from dikin.learners import predictive_certificate as certificate
from learners.predictive_cells_replay import Case, CellsReplay
from learners.predictive_games import HOSTILE, Table, hostile
from learners.predictive_spaces import SPACES
from reference.barriers import Array

CASES = {
    "cube": Case(memory=None, contexts=3, late=4),
    "disc": Case(memory=60.0, contexts=2, one_hot=False, start=True, late=4, told=True),
    "simplex": Case(memory=None, contexts=2, start=True, one_hot=False),
    "long box": Case(memory="auto", contexts=2, told=True),
}
JUMP, ANSWERS = 120, 200
FEWER = {"long box": 145}
"""After a jump rounding errors grow by a factor of a million in 30 answers, where a measured
curvature frees the centres of features: those are compared for 25 answers more."""


def replay(name: str, kind: Callable[..., Any] = dikin.Predictive) -> CellsReplay:
    return CellsReplay(SPACES[name](), CASES[name], jump=JUMP, kind=kind).play(
        FEWER.get(name, ANSWERS)
    )


@pytest.mark.parametrize("name", CASES)
def test_centers_and_certificates(name: str) -> None:
    reference = replay(name).reference
    own = [reference.own_share(c) for c in range(1, len(reference.cells))]
    assert 0 < max(own) < 1, "no feature had a centre of its own: the mean was not tested"


def test_the_centre_of_a_context_is_where_it_explores() -> None:
    """Four standard errors, in two coordinates: a right learner would fail once in 8 000 seeds.

    A refused context changes nothing.
    """
    run = CellsReplay(SPACES["cube"](), CASES["cube"]).play(60)
    learner, weights = run.learner, [0.0, 0.25, 0.75]
    middle = learner.center_for(weights)
    points = [learner.ask(context=weights).point for _ in range(400)]
    error = np.std(points, axis=0) / sqrt(len(points))
    assert (np.abs(np.mean(points, axis=0) - middle) <= 4 * error).all()
    before = learner.state()
    for wrong in ([0.5, 0.5], [0.5, 0.5, 0.5], [1.5, -0.5, 0.0], None, "a", [np.nan, 0.5, 0.5]):
        with pytest.raises(FeedbackError, match="weights"):
            learner.ask(context=wrong)
    assert learner.state() == before


def test_minima_in_opposite_corners_are_found() -> None:
    """A mean of a common setting and one of their own would not get farther than half-way."""
    learner = dikin.Predictive(dikin.Box([-1, -1], [1, 1]), contexts=2, memory="auto", seed=1)
    for t in range(600):
        sign = 1.0 if t % 2 else -1.0
        query = learner.ask(context=np.eye(2)[t % 2])
        away = query.point - 0.8 * sign
        learner.tell(query, 0.5 * float(away @ away))
    for c, sign in enumerate((-1.0, 1.0)):
        found = learner.center_for(np.eye(2)[c])
        assert np.abs(found - 0.8 * sign).max() < 0.2, found


def test_a_game_without_contexts_is_refused_however_long_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The compiled loop gives no context either."""
    monkeypatch.setattr(jit, "COMPILE_FROM", 1)
    world = hostile("switches", 100)
    learner = dikin.Predictive(world.domain, contexts=2, seed=1)
    with pytest.raises(FeedbackError, match="2 weights"):
        dikin.play(learner, world, 100, progress=False)
    assert learner.rounds == 0


# --- closed forms of the least of a feature's models ---------------------------------------------


def least_on_cube(linear: Array, bend: float, half: float) -> float:
    """Coordinate by coordinate."""
    u = np.clip(-linear / bend, -half, half) if bend > 0 else -half * np.sign(linear)
    return float(linear @ u + bend / 2 * (u @ u))


def least_on_ball(linear: Array, bend: float) -> float:
    size = float(np.linalg.norm(linear))
    return -size * size / (2 * bend) if size < bend else bend / 2 - size


@pytest.mark.parametrize("name", ["cube", "disc"])
@pytest.mark.parametrize("bend", [0.0, 1e-9, 0.3, 3.0, 1e6])
def test_the_least_of_models_is_that_of_a_closed_form(name: str, bend: float) -> None:
    """At most the minimum, and less by 1e-11 of the largest that it may be."""
    learner = dikin.Predictive(SPACES[name]().domain)
    rng, d = np.random.default_rng(3), 2
    for size in (1e-6, 0.2, 1.0, 40.0):
        linear = size * rng.normal(size=d)
        wanted = (
            least_on_cube(linear, bend, 1 / sqrt(d))
            if name == "cube"
            else least_on_ball(linear, bend)
        )
        found = certificate.least_of_models(learner.geometry, learner.domain.nu, linear, bend)
        scale = float(np.linalg.norm(linear)) + bend
        assert -1.1e-11 * scale <= found - wanted <= 1e-15 * scale


@pytest.mark.parametrize("size", [np.nan, np.inf, 1e308, 1e-320, 0.0])
def test_the_least_of_models_of_absurd_sizes_is_not_known_or_nothing(size: float) -> None:
    """Sums in a forged file, or ones that have overflowed, must not be waited for."""
    learner = dikin.Predictive(SPACES["cube"]().domain)
    linear = np.array([size, -size])
    found = certificate.least_of_models(learner.geometry, learner.domain.nu, linear, 0.0)
    assert isnan(found) if not size < 1e308 else -1e-300 <= found <= 0.0


# --- mutants -------------------------------------------------------------------------------------

own_share, compare_features = centres.own_share, centres.compare_features
add_estimate, certified_curvature = certificate.add_estimate, certificate.certified_curvature


def freer(cells: Any, c: int) -> float:
    """A feature's centre is held less than its evidence says."""
    return 0.95 * own_share(cells, c) + 0.05


def wrong_sign(geometry: Any, plan: Any, state: Any, features: Any, learnt: float) -> None:
    """What all features have in common is added to what it is to be taken from."""
    compare_features(geometry, plan, state, features, learnt)
    total = state.tracks[centres.adaptation.track(geometry, 0, centres.OWN_TRACK)]
    centres.weigh_evidence(geometry, plan, state, features, -total)


def one_square(geometry: Any, plan: Any, state: Any, features: Any, learnt: float) -> None:
    """The noise of an estimate is that of a surprise of 1."""
    compare_features(geometry, plan, state, features, 1.0)


def wrong_cell(plan: Any, n: Any, features: list[float], *rest: Any) -> None:
    """The estimates of the first feature count as the second's. (Were all moved on by one, the
    sum over the features would be the same.)
    """
    moved = [features[0], 0.0, features[1] + features[2], *features[3:]]
    add_estimate(plan, n, moved, *rest)


def curved_between(plan: Any, features: list[float], sigma: float) -> float:
    """A curvature counts where a context lies between features."""
    return sigma


FUNCTIONS: dict[str, tuple[str, Any, str, Callable[..., Any]]] = {
    "a centre that is held less": ("cube", centres, "own_share", freer),
    "a difference of the wrong sign": ("cube", centres, "compare_features", wrong_sign),
    "noise of another size": ("cube", centres, "compare_features", one_square),
    "estimates in the wrong cell": ("cube", certificate, "add_estimate", wrong_cell),
    "curvature between features": ("disc", certificate, "certified_curvature", curved_between),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_another_rule_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the right rule has passed; the learner runs as plain Python."""
    case, module, function, mutant = FUNCTIONS[name]
    monkeypatch.setattr(module, function, mutant)
    with pytest.raises(AssertionError):
        replay(case)


# --- the certificate in hostile games ------------------------------------------------------------

ROUNDS, SEEDS = 100, 12
LINEAR = [name for name in HOSTILE if not hostile(name, 8).kernel.bends.any()]
"""Games in which a policy between features is the sum of its parts."""


class Totals:
    """Sums of the losses, for each feature: what a policy suffers."""

    def __init__(self, features: int) -> None:
        self.offsets, self.bends = np.zeros(features), np.zeros(features)
        self.slopes = np.zeros((features, 2))

    def add(self, world: Table, t: int, weights: Array) -> None:
        rows = world.kernel
        self.offsets += weights * rows.offsets[t]
        self.bends += weights * rows.bends[t]
        self.slopes += np.outer(weights, rows.slopes[t])

    def least(self) -> float:
        """Of the best policy, on the unit disc."""
        parts = zip(self.slopes, self.bends, strict=True)
        return float(self.offsets.sum()) + sum(least_on_ball(*part) for part in parts)


Choose = Callable[[Any, Table, int, Any], Array]


def against_the_learner(learner: Any, world: Table, t: int, rng: Any) -> Array:
    """The feature whose centre the next loss hurts most."""
    value = world.kernel.value
    centers = [learner.center_for(weights) for weights in np.eye(2)]
    return np.eye(2)[int(np.argmax([value(t + 1, 0.0, center) for center in centers]))]


def between(learner: Any, world: Table, t: int, rng: Any) -> Array:
    first = float(rng.choice([0.0, 0.3, 1.0]))
    return np.array([first, 1.0 - first])


def play_in_contexts(
    name: str, choose: Choose, seed: int, totals: Totals, memory: Any
) -> tuple[float, float]:
    """Certificate and total loss of one game; answers come up to ten rounds late."""
    world, rng = hostile(name, ROUNDS), np.random.default_rng([seed, 31])
    learner = dikin.Predictive(
        world.domain, world.smoothness, contexts=2, memory=memory, loss_range=(-1, 1), seed=seed
    )
    waiting: list[Any] = []
    total = 0.0
    for t in range(ROUNDS):
        weights = choose(learner, world, t, rng)
        query = learner.ask(context=weights)
        loss = float(world.kernel.value(t + 1, 0.0, query.point))
        waiting.append((query, loss, world.kernel.strong_convexity(t + 1)))
        totals.add(world, t, weights)
        total += loss
        while len(waiting) > rng.integers(0, 11) or (t == ROUNDS - 1 and waiting):
            learner.tell(*waiting.pop(int(rng.integers(len(waiting)))))
    return learner.certificate, total


def gap_of(name: str, choose: Choose, memory: Any) -> tuple[float, float]:
    """Certificate less regret against the policy that is best for the mean losses: mean, error.

    Contexts may depend on what was played, and so may the losses of a feature; the theorem is for a
    policy that does not.
    """
    totals = Totals(2)
    games = [play_in_contexts(name, choose, seed, totals, memory) for seed in range(SEEDS)]
    gaps = np.array([certified - total for certified, total in games]) + totals.least() / SEEDS
    return float(gaps.mean()), float(gaps.std(ddof=1)) / sqrt(SEEDS)


@pytest.mark.parametrize("name", HOSTILE[::2])
def test_the_certificate_where_the_opponent_chooses_the_context(name: str) -> None:
    """Not below the regret by three standard errors: in truth equal, once in 700 seeds."""
    memory = "auto" if HOSTILE.index(name) % 4 else None
    mean, error = gap_of(name, against_the_learner, memory)
    assert mean >= -3 * error, f"certificate less regret: {mean} +- {error}"


@pytest.mark.parametrize("name", LINEAR)
def test_the_certificate_between_features(name: str) -> None:
    mean, error = gap_of(name, between, None)
    assert mean >= -3 * error, f"certificate less regret: {mean} +- {error}"


def test_an_estimate_that_is_half_as_large_would_be_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The best policy is then taken for worse than it is."""

    def half(plan: Any, n: Any, features: Any, surprise: float, *rest: Any) -> None:
        add_estimate(plan, n, features, 0.5 * surprise, *rest)

    monkeypatch.setattr(certificate, "add_estimate", half)
    mean, error = gap_of("nothing, then linear", between, None)
    assert mean < -3 * error


def test_what_is_played_without_a_context_is_the_mean_of_the_contexts() -> None:
    """Weighted by their rounds; a context between two counts half for each."""
    learner = dikin.Predictive(dikin.Ball(2), contexts=2, seed=3)
    for t, context in enumerate(([1, 0], [0, 1], [1, 0], [0.5, 0.5]) * 3):
        query = learner.ask(context=context)
        learner.tell(query, float(query.point @ [0.3, -0.2]) + 0.01 * (t % 3))
    np.testing.assert_allclose(learner._n.features, [1, 7.5 / 12, 4.5 / 12], rtol=1e-12)
