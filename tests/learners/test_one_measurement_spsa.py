"""One-measurement SPSA: a constant in all losses changes nothing, and it finds a minimum.

That it is its text is tested with the other learners that project, in test_descent.py.
"""

from __future__ import annotations

import numpy as np
import pytest

import dikin


def test_a_constant_in_all_losses_changes_nothing() -> None:
    """That is what the reference is for: FKM would walk off."""
    centres = []
    for constant in (0.0, 0.7):
        learner = dikin.OneMeasurementSPSA(dikin.Ball(2), seed=1)
        for _ in range(200):
            query = learner.ask()
            learner.tell(query, 0.1 * float(query.point @ query.point) + constant)
        centres.append(learner.center)
    assert centres[0] == pytest.approx(centres[1], abs=1e-9)


def test_spsa_explores_less_and_less_and_finds_the_minimum_of_a_bowl() -> None:
    target = np.array([0.4, -0.3])
    learner = dikin.OneMeasurementSPSA(dikin.Ball(2), seed=3)
    reaches = []
    for _ in range(3000):
        centre, query = learner.center, learner.ask()
        reaches.append(float(np.linalg.norm(query.point - centre)))
        learner.tell(query, float(((query.point - target) ** 2).sum()) / 2)
    assert reaches[-1] == pytest.approx(reaches[0] * 3000**-0.101)
    assert np.linalg.norm(learner.center - target) < 0.05
