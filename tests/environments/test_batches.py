"""Environments over data: what a batch is, its curvature, and the best fixed point found twice."""

from __future__ import annotations

import sys
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import dikin
from dikin.curvature import Squared
from dikin.environments import data, hindsight
from dikin.environments.batches import Batches, draw_batches
from dikin.errors import DikinError, MissingExtraError, NumericalError
from dikin.rng import stream

DOMAINS = {
    "ball": (dikin.Ball(3), lambda x: [cp.norm(x) <= 1]),
    "moved ball": (
        dikin.Ball(3, 0.5, [1, 0, -1]),
        lambda x: [cp.norm(x - np.array([1, 0, -1])) <= 0.5],
    ),
    "box": (dikin.Box([-1, 0, 0], [0.2, 4, 9]), lambda x: [x >= [-1, 0, 0], x <= [0.2, 4, 9]]),
    "simplex": (dikin.Simplex(3), lambda x: [x >= 0, cp.sum(x) == 1]),
}


def game(cls: Any, domain: Any, seed: int = 1) -> Batches:
    rng = np.random.default_rng(seed)
    contexts = rng.standard_normal((30, 3)) * [1.0, 2.0, 0.3]
    targets = contexts @ [1.0, -0.5, 2.0] + rng.standard_normal(30)
    if cls is dikin.LogisticBatches:
        targets = np.sign(targets)
    environment: Batches = cls(domain, contexts, targets, [1, 2, 5, 20], batches=50, seed=seed)
    return environment


def weights(environment: Batches) -> Any:
    """How much every row has counted, added up round by round."""
    total = np.zeros(len(environment.contexts))
    for t in range(1, environment.rounds + 1):
        total[environment.batch(t)] += 1 / len(environment.batch(t))
    return total


@pytest.mark.parametrize("name", DOMAINS)
@pytest.mark.parametrize("rounds", [10, 73, 4000])
def test_the_best_fixed_point_is_a_convex_solvers(name: str, rounds: int) -> None:
    domain, constraints = DOMAINS[name]
    for cls in (dikin.SquaredBatches, dikin.LogisticBatches):
        environment = game(cls, domain)
        environment.rounds = rounds
        point, total = environment.best()
        x, counted = cp.Variable(3), weights(environment)
        z = environment.contexts @ x
        if cls is dikin.SquaredBatches:
            loss = counted @ cp.square(z - environment.targets) / 2
        else:
            loss = counted @ cp.logistic(-cp.multiply(environment.targets, z))
        problem = cp.Problem(cp.Minimize(loss / rounds), constraints(x))
        problem.solve(solver=cp.CLARABEL)
        scale = rounds * environment.loss_range[1]
        assert domain.contains(point)
        assert total == pytest.approx(problem.value * rounds, abs=1e-7 * scale)
        assert total <= problem.value * rounds + 1e-9 * scale  # the solver stops at about 1e-8


def test_a_point_that_is_not_the_best_is_noticed() -> None:
    """The mutant of the test above: the barrier's weight never falls."""
    environment = game(dikin.SquaredBatches, dikin.Ball(3))
    environment.rounds = 73
    least = environment.best()[1]
    off = hindsight.sum_minimiser(
        environment.domain,
        environment.contexts,
        environment.targets,
        weights(environment),
        Squared(),
        1e12,
    )
    total = float(
        weights(environment) @ Squared().value(environment.contexts @ off, environment.targets)
    )
    assert total > least + 1e-7 * 73 * environment.loss_range[1]


def test_a_minimum_that_is_not_found_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hindsight, "minimise", lambda *_: (np.zeros(3), 7.0))
    environment = game(dikin.SquaredBatches, dikin.Ball(3))
    environment.rounds = 5
    with pytest.raises(NumericalError, match="decrement"):
        environment.best()


@pytest.mark.parametrize("cls", [dikin.SquaredBatches, dikin.LogisticBatches])
def test_a_round_is_the_mean_loss_of_its_batch(cls: Any) -> None:
    domain = dikin.Ball(3)
    environment = game(cls, domain)
    point = np.array([0.3, -0.5, 0.1])
    for t in range(1, 120):
        rows = environment.batch(t)
        assert len(set(rows.tolist())) == len(rows) in (1, 2, 5, 20)
        loss, sigma = environment.answer(point)
        losses = environment.loss.value(
            environment.contexts[rows] @ point, environment.targets[rows]
        )
        assert loss == pytest.approx(float(losses.mean()), rel=1e-12)
        assert (sigma == 0) == (len(rows) < 3)
        assert (
            sigma
            <= np.linalg.eigvalsh(environment.contexts[rows].T @ environment.contexts[rows])[0]
            / len(rows)
            + 1e-15
        )
    assert {len(environment.batch(t)) for t in range(1, 51)} == {1, 2, 5, 20}
    np.testing.assert_array_equal(environment.batch(1), environment.batch(51))


def test_predictions_far_out_do_not_overflow() -> None:
    contexts = np.vstack([np.eye(2) * 1e6, -np.eye(2) * 1e6] * 600)
    environment = dikin.LogisticBatches(
        dikin.Ball(2), contexts, np.ones(2400), [2400], batches=1, seed=0
    )
    loss, sigma = environment.answer(np.array([0.6, 0.8]))
    assert loss == pytest.approx(1.4e6 / 4)
    assert sigma == 0
    # 2400 factors of 2 would be more than the largest float.
    assert environment.answer(np.zeros(2))[0] == pytest.approx(np.log(2), rel=1e-14)


def test_batches_are_drawn_fairly() -> None:
    """Each of ten rows is in a share size/10 of 4000 batches: six standard deviations.

    Fails by chance less than once in 10^7 runs; the seed is fixed.
    """
    rows, starts = draw_batches(stream(3, "batches"), 10, np.array([4]), 4000)
    counts = np.bincount(rows, minlength=10)
    assert (np.diff(starts) == 4).all()
    assert np.abs(counts - 1600).max() < 6 * np.sqrt(4000 * 0.4 * 0.6)


def test_seeds_make_other_batches() -> None:
    one, same, other = (game(dikin.SquaredBatches, dikin.Ball(3)) for _ in range(3))
    np.testing.assert_array_equal(one.rows, same.rows)
    other = dikin.SquaredBatches(
        dikin.Ball(3), one.contexts, one.targets, [1, 2, 5, 20], batches=50, seed=2
    )
    assert not np.array_equal(one.rows[:20], other.rows[:20])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"sizes": [0]}, "between 1 and the number of rows, 4"),
        ({"sizes": [5]}, "between 1 and the number of rows, 4"),
        ({"sizes": [1.5]}, "whole numbers"),
        ({"sizes": []}, "whole numbers"),
        ({"sizes": [[1], [1, 2]]}, "whole numbers"),
        ({"batches": 0}, "batches must be"),
        ({"targets": [1, 2]}, "each of the 4 rows"),
        ({"targets": [1, 1, -1, 0]}, "-1 and 1, got 0"),
        ({"contexts": np.zeros((4, 3))}, "must have 2 numbers"),
        ({"contexts": np.full((4, 2), np.nan)}, "finite"),
    ],
)
def test_refusals(change: dict[str, Any], words: str) -> None:
    given: dict[str, Any] = {
        "contexts": np.eye(4)[:, :2],
        "targets": [1, -1, 1, 1],
        "sizes": [1, 4],
        "seed": 0,
    }
    dikin.LogisticBatches(dikin.Ball(2), **given)
    with pytest.raises(DikinError, match=words):
        dikin.LogisticBatches(dikin.Ball(2), **given | change)


# --- the data -----------------------------------------------------------------------------------


@pytest.mark.parametrize("load", [data.diabetes, data.breast_cancer])
def test_columns_are_uncorrelated_with_variance_one(load: Any) -> None:
    contexts, targets = load(5)
    np.testing.assert_allclose(contexts.T @ contexts / len(contexts), np.eye(5), atol=1e-10)
    np.testing.assert_allclose(contexts.mean(axis=0), 0, atol=1e-10)
    assert len(targets) == len(contexts)


def test_the_data_needs_no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("a connection")

    monkeypatch.setattr("socket.socket.connect", refuse)
    data._load.cache_clear()
    assert data.diabetes(2).contexts.shape == (442, 2)
    assert data.breast_cancer(2).contexts.shape == (569, 2)


def test_too_many_columns_and_a_missing_package(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DikinError, match="at most 10"):
        data.diabetes(11)
    data._load.cache_clear()
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'dikin\[data\]'"):
        data.diabetes()
