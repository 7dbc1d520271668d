"""FKM against its text, with projections by closed forms of their own."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dikin
from learners import literal
from learners.projections import SETS

Array = literal.Array
T = 10**6


def game(place: str, lipschitz: float | None) -> tuple[dikin.Learner, Any]:
    domain, project = SETS[place]
    learner = dikin.FKM(domain, T, lipschitz, seed=2)
    r, d = domain.inradius / domain.radius, domain.dim
    if lipschitz is None:
        tuning = literal.fkm_general(d, T, r)
    else:
        tuning = literal.fkm_lipschitz(d, T, lipschitz * domain.radius, r)
    text = literal.BanditGradientDescent(project, *tuning, domain.center.size)
    text.step *= 1000  # the text's step is small: here many a step must end outside
    learner._descend(learner._pace._replace(eta=1000 * learner._pace.eta))
    return learner, text


def widest_gap(learner: dikin.Learner, text: Any) -> tuple[float, int]:
    """The largest distance between the centres, and how many steps ended outside."""
    units, gap, outside, project = learner.units, 0.0, 0, text.project

    def counted(v: Array) -> Array:
        nonlocal outside
        outside += bool(np.linalg.norm(project(v) - v) > 1e-6)
        return project(v)

    text.project = counted
    for t in range(150):
        center, query = (learner.center - units.center) / units.radius, learner.ask()
        x = (query.point - units.center) / units.radius
        loss = float(np.cos(3 * x.sum() + t))
        learner.tell(query, loss)
        text.told(x, loss, center)
        ours = (learner.center - units.center) / units.radius
        gap = max(gap, float(np.linalg.norm(ours - text.centers[-1])))
    return gap, outside


@pytest.mark.parametrize("lipschitz", [None, 1.5])
@pytest.mark.parametrize("place", SETS)
def test_fkm_is_its_text(place: str, lipschitz: float | None) -> None:
    gap, outside = widest_gap(*game(place, lipschitz))
    # The barrier's weight 1e-16 leaves at most sqrt(2 nu 1e-16) = 3e-8 where a step ends on the
    # boundary exactly, and far less elsewhere.
    assert gap < 1e-7
    assert outside > 5


def wide(text: Any) -> None:
    text.alpha *= 0.99


def slow(text: Any) -> None:
    text.step *= 0.999


def lazy(text: Any) -> None:
    """Dual averaging: the sum of the steps is projected, and not the last point's step."""
    sums = [np.zeros_like(text.centers[0])]

    def told(x: Array, loss: float, center: Array) -> None:
        u = (x - center) / text.delta
        sums.append(sums[-1] - text.step * loss * u)
        shrunk = 1 - text.alpha
        text.centers.append(shrunk * text.project(sums[-1] / shrunk))

    text.told = told


@pytest.mark.parametrize("spoil", [wide, slow, lazy])
def test_another_text_is_noticed(spoil: Callable[[Any], None]) -> None:
    learner, text = game("box", 1.5)
    spoil(text)
    with contextlib.suppress(literal.OffTheSphereError):
        assert widest_gap(learner, text)[0] > 1e-5
