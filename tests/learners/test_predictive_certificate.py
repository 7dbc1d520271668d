"""E[regret] <= E[certificate], seen on games whose best fixed point is known exactly.

The gap, certificate less regret, must not be below zero by three standard errors of its mean over
the seeds: in hostile games it may in truth be about zero. Seeds are fixed, so nothing fails by
chance; a new learner that is right would fail a game whose gap is in truth zero once in 700 times.
"""

from collections.abc import Callable
from math import sqrt
from typing import Any

import numpy as np
import pytest

import dikin
from learners.predictive_games import Table, hostile
from paper.charts import holds


def gap(game: Table, learner: Any, delays: Any) -> float:
    """Certificate less regret, both discounted, when answer t comes `delays[t]` rounds late."""
    due: dict[int, list[Any]] = {}
    losses, arrived = np.zeros(game.rounds), list[int]()
    for t in range(game.rounds + int(delays.max()) + 1):
        if t < game.rounds:
            query = learner.ask()
            losses[t], bend = game.answer(t, query.point)
            due.setdefault(t + int(delays[t]), []).append((t, query, losses[t], bend))
        for round, *answer in due.pop(t, []):
            learner.tell(*answer)
            arrived.append(round)
    keep, weights = 1 - 1 / (learner.memory or np.inf), np.zeros(game.rounds)
    weights[arrived] = keep ** np.arange(game.rounds - 1, -1, -1.0)
    return float(learner.certificate - (weights @ losses - game.least(weights)))


def above(gaps: list[float]) -> None:
    mean, error = float(np.mean(gaps)), float(np.std(gaps, ddof=1)) / sqrt(len(gaps))
    assert mean >= -3 * error, f"certificate less regret: {mean} +- {error}"


RANGE = {"loss_range": (-1, 1)}
SETTINGS: dict[str, Callable[[Table], dict[str, Any]]] = {
    "smooth": lambda game: {"smoothness": game.smoothness} | RANGE,
    "Lipschitz": lambda game: {"lipschitz": game.lipschitz} | RANGE,
    "no range": lambda game: {"smoothness": game.smoothness, "lipschitz": game.lipschitz},
}
CASES = [
    ("bursts", "no range", 0, None),
    ("switches", "smooth", 50, None),
    ("nothing, then linear", "Lipschitz", 0, None),
    ("growing", "no range", 50, None),
    ("shrinking", "smooth", 0, 200),
    ("random signs", "Lipschitz", 50, 200),
]
"""A game, what is declared, by how many rounds answers may be late, and the memory."""


@pytest.mark.parametrize(("name", "setting", "late", "memory"), CASES)
def test_on_hostile_games(name: str, setting: str, late: int, memory: int | None) -> None:
    game, gaps = hostile(name, 800), []
    for seed in range(10):
        delays = np.random.default_rng([seed, 5]).integers(0, late + 1, size=game.rounds)
        options = SETTINGS[setting](game) | {"memory": memory, "seed": seed}
        gaps.append(gap(game, dikin.Predictive(game.domain, **options), delays))
    above(gaps)


class TooSmall(dikin.Predictive):
    @property
    def certificate(self) -> float:
        return 0.8 * super().certificate


def test_a_certificate_a_fifth_smaller_would_be_wrong() -> None:
    """One linear loss of the largest slope: each step of the proof is all but an equality."""
    flat = np.zeros(380)
    game = Table(flat, np.tile(np.eye(6)[0], (380, 1)), flat)

    def check(kind: Callable[..., Any]) -> None:
        learners = [kind(game.domain, 0.0, seed=seed, **RANGE) for seed in range(30)]
        above([gap(game, learner, np.zeros(380)) for learner in learners])

    holds(check, dikin.Predictive, TooSmall)
