"""Optimizers of other packages under the learners' interface."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dikin
from dikin.checks import learner as laws
from dikin.errors import MissingExtraError, NotSavableError
from evidence import evolution
from evidence.compare import Request, compare
from evidence.evolution import NoiseHandlingEvolution
from evidence.external import CMA, EXTERNAL, SPSA, TBPSA, ExternalOptimizer

DOMAINS = [
    dikin.Ball(3, 2.0, [1.0, 1.0, -5.0]),
    dikin.Box([0.0], [0.01]),
    dikin.Simplex(3),
    dikin.Affine(dikin.Ball(2), [[2.0, 1.0], [0.0, 0.5]], [3.0, 3.0]),
]


@pytest.mark.parametrize("kind", EXTERNAL)
@pytest.mark.parametrize("domain", DOMAINS, ids=repr)
def test_external_optimizers_keep_the_laws_that_need_no_state(
    kind: str, domain: dikin.Domain
) -> None:
    def make(seed: int) -> ExternalOptimizer:
        return next(EXTERNAL[kind].examples(domain, seed))

    laws.check_queries_are_answered_in_any_order(make, 0)
    for pattern in ("driving", "alternating"):
        learner = make(0)
        for query in laws.play(learner, 60, pattern):
            assert domain.contains(query.point)
            assert domain.contains(learner.center)


@pytest.mark.parametrize("kind", EXTERNAL)
def test_one_seed_is_one_play_and_no_global_generator_is_touched(kind: str) -> None:
    next(EXTERNAL[kind].examples(dikin.Ball(2), 1))  # what importing draws is not ours
    before = np.random.get_state()[1]  # noqa: NPY002
    games = []
    for seed in (1, 1, 2):
        (learner,) = EXTERNAL[kind].examples(dikin.Ball(2), seed)
        games.append([query.point.tolist() for query in laws.play(learner, 40)])
    assert games[0] == games[1] != games[2]
    assert np.array_equal(before, np.random.get_state()[1])  # noqa: NPY002


@pytest.mark.parametrize("kind", EXTERNAL)
def test_external_optimizers_cannot_be_saved_and_say_so(kind: str, tmp_path: Path) -> None:
    (learner,) = EXTERNAL[kind].examples(dikin.Ball(2), 1)
    with pytest.raises(NotSavableError, match="and cannot be saved"):
        learner.save(tmp_path / "learner.json")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", EXTERNAL)
def test_external_optimizers_learn(kind: str) -> None:
    """A plain bowl without noise: within 300 rounds the centre is near its bottom."""
    target = np.array([0.4, -0.3])
    (learner,) = EXTERNAL[kind].examples(dikin.Ball(2), 5)
    for _ in range(300):
        query = learner.ask()
        learner.tell(query, 3.0 + 2.0 * float(np.sum((query.point - target) ** 2)))
    assert np.linalg.norm(learner.center - target) < 0.1


def evolved(noise: float, rounds: int) -> tuple[NoiseHandlingEvolution, list[tuple[float, ...]]]:
    """CMA-ES with noise handling on a bowl, and what it played."""
    chance = np.random.default_rng(1)
    evolution = NoiseHandlingEvolution(np.zeros(3), 0.3, chance, {})
    points = []
    for _ in range(rounds):
        candidate, z = evolution.next()
        points.append(tuple(z.tolist()))
        evolution.learn(candidate, float(z @ z) + noise * float(chance.standard_normal()))
    return evolution, points


def test_noise_handling_plays_points_again_more_often_the_more_noise_there_is() -> None:
    """Without noise two of a generation of seven; with much noise every point many times."""
    repeats = []
    for noise in (0.0, 10.0):
        points = evolved(noise, 900)[1]
        repeats.append(len(points) / len({*points}))
    assert repeats[0] == pytest.approx(9 / 7, abs=0.02)
    assert repeats[1] > 4


def test_answers_that_never_come_are_asked_for_again() -> None:
    evolution = NoiseHandlingEvolution(np.zeros(2), 0.3, np.random.default_rng(1), {})
    first = {tuple(evolution.next()[1].tolist()) for _ in range(6)}
    assert {tuple(evolution.next()[1].tolist()) for _ in range(6)} == first
    candidate, z = evolution.next()
    evolution.learn(candidate, 1.0)
    evolution.learn(candidate, 5.0)  # the second answer of one evaluation counts for nothing
    assert {tuple(evolution.next()[1].tolist()) for _ in range(20)} == first - {tuple(z.tolist())}


class Wanderer(ExternalOptimizer):
    """Wants one point, and remembers what it is told."""

    def __init__(self, domain: dikin.Domain, z: Any) -> None:
        super().__init__(domain, seed=0)
        self.z, self.heard = np.array(z), 0.0

    def _next_candidate(self) -> tuple[Any, Any]:
        return None, self.z

    def _recommended(self) -> Any:
        return self.z

    def _tell_candidate(self, candidate: Any, loss: float) -> None:
        self.heard = loss


def test_outside_the_nearest_point_is_played_and_the_distance_told() -> None:
    box = dikin.Box([-1.0, -1.0], [3.0, 3.0])  # radius 2 sqrt(2) around (1, 1)
    learner = Wanderer(box, [1.0, 0.25])
    query = learner.ask()
    far = 2 * 2**0.5
    assert query.point == pytest.approx([3.0, 1 + 0.25 * far], abs=1e-6)
    learner.tell(query, 0.2)
    assert learner.heard == pytest.approx(0.2 + (1.0 - 2.0 / far) ** 2, abs=1e-6)
    inside = Wanderer(box, [0.1, -0.2])
    query = inside.ask()
    inside.tell(query, 0.2)
    assert query.point == pytest.approx([1 + 0.1 * far, 1 - 0.2 * far])
    assert inside.heard == 0.2


@pytest.mark.parametrize(("cls", "arguments"), [(CMA, ()), (SPSA, (100, 1.0)), (TBPSA, ())])
def test_a_missing_package_is_named_with_the_remedy(
    cls: Any, arguments: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def absent(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(evolution, "import_module", absent)
    with pytest.raises(MissingExtraError, match=r"pip install 'dikin\[compare\]'"):
        cls(dikin.Ball(2), *arguments)
    with pytest.raises(MissingExtraError):
        compare(Request(learners=(cls,), scenarios=("zero",), rounds=50, workers=1), tmp_path)
