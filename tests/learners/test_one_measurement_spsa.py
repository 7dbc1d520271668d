"""One-measurement SPSA against its text; a constant in all losses changes nothing."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

import numpy as np
import pytest

import dikin
from learners import literal
from learners.projections import SETS

Array = literal.Array
STEP = 40.0
"""So large that many a step ends outside."""


class Text:
    """y <- the nearest point of shrunk K to y - eta (d/delta) (f - b) u, in the paper's units."""

    shrunk = 0.9

    def __init__(self, project: Callable[[Array], Array], domain: dikin.Domain) -> None:
        self.project, self.d = project, domain.dim
        self.r = domain.inradius / domain.radius
        self.y = np.zeros(domain.center.size)
        self.losses: list[float] = []

    def told(self, x: Array, loss: float, center: Array) -> None:
        """The direction is seen from the shipped centre: rounding would grow by 1/delta."""
        t = len(self.losses) + 1
        delta = 0.1 * self.r / t**0.101
        u = (x - center) / delta
        if abs(float(np.linalg.norm(u)) - 1) > 1e-9:
            raise literal.OffTheSphereError(f"|u| = {np.linalg.norm(u)}")
        if self.losses:
            self.y = self.y - self.eta(t) * self.d / delta * (loss - self.baseline()) * u
        self.y = self.shrunk * self.project(self.y / self.shrunk)
        self.losses.append(loss)

    def eta(self, t: int) -> float:
        return float(STEP * 0.1 * self.r / self.d * (101 / (100 + t)) ** 0.602)

    def baseline(self) -> float:
        mean = 0.0
        for t, loss in enumerate(self.losses, 1):
            mean = (1 - t**-0.5) * mean + t**-0.5 * loss
        return mean


def spsa(place: str) -> tuple[dikin.Learner, Text]:
    domain, project = SETS[place]
    return dikin.OneMeasurementSPSA(domain, STEP, seed=2), Text(project, domain)


def widest_gap(learner: dikin.Learner, text: Text) -> float:
    """The largest distance between the centres."""
    units, gap = learner.units, 0.0
    for t in range(80):
        center, query = (learner.center - units.center) / units.radius, learner.ask()
        x = (query.point - units.center) / units.radius
        loss = float(np.cos(3 * x.sum() + t))
        learner.tell(query, loss)
        text.told(x, loss, center)
        ours = (learner.center - units.center) / units.radius
        gap = max(gap, float(np.linalg.norm(ours - text.y)))
    return gap


@pytest.mark.parametrize("place", SETS)
def test_the_learner_is_its_text(place: str) -> None:
    # The barrier's weight 1e-16 leaves at most 3e-8 where a step ends on the boundary exactly.
    assert widest_gap(*spsa(place)) < 1e-7


def wide(text: Text) -> None:
    text.shrunk *= 0.99


def slow(text: Text) -> None:
    eta = text.eta
    text.eta = lambda t: 0.999 * eta(t)  # type: ignore[method-assign]


def without_baseline(text: Text) -> None:
    text.baseline = lambda: 0.0  # type: ignore[method-assign]


@pytest.mark.parametrize("spoil", [wide, slow, without_baseline])
def test_another_text_is_noticed(spoil: Callable[[Text], None]) -> None:
    learner, text = spsa("box")
    spoil(text)
    with contextlib.suppress(literal.OffTheSphereError):
        assert widest_gap(learner, text) > 1e-5


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
