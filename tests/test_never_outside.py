"""No point is ever outside of the domain: by its own margin, and by the definition of the set."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import dikin
from dikin import registry
from dikin.domains.base import Domain
from dikin.learners.base import Learner

Array = NDArray[np.float64]
ROUNDS = 200  # for each of four ways to answer: 800 a domain and learner
EQUALITY = 1e-12  # granted to sum x = 1, trace X = 1 and X = X', never to an inequality

DOMAINS = {
    f"{kind}{i}": domain
    for kind, cls in registry.FOLDERS["domains"].every().items()
    for i, domain in enumerate(cls.examples())
}

ANSWERS: dict[str, Callable[[int, bool], tuple[bool | int, bool]]] = {
    "alternating": lambda t, beyond: (t % 2, False),
    "all low": lambda t, beyond: (False, False),
    "one side": lambda t, beyond: (beyond, False),
    "curved": lambda t, beyond: (beyond, t % 3 == 0),
}
"""Whether the loss and the curvature are the largest, by the round and the side of the centre."""


def smooth(domain: Domain) -> Learner:
    """Smoothness one in the paper's units."""
    return dikin.AdaptiveSmooth(domain, 4 / domain.radius**2, loss_range=(-3, 5), seed=1)


def lipschitz(domain: Domain) -> Learner:
    """Lipschitz constant one in the paper's units."""
    return dikin.AdaptiveLipschitz(domain, 4 / domain.radius, loss_range=(-3, 5), seed=1)


def played(learner: Learner, way: str, rounds: int) -> list[Array]:
    (low, high), limit = learner.units.loss_range, learner.curvature_limit[0]
    first = learner.domain.center.flat[0]
    points = []
    for t in range(rounds):
        query = learner.ask()
        loss, curvature = ANSWERS[way](t, query.point.flat[0] > first)
        learner.tell(query, high if loss else low, limit * curvature)
        points.append(query.point)
    return points


def is_member(domain: Domain, points: Array) -> NDArray[np.bool_] | None:
    """Whether each point satisfies the definition of the set; None where none is written here."""
    match domain:
        case dikin.Ball():
            away = points - domain.center
            return (away**2).sum(axis=1) <= domain.radius**2
        case dikin.Box():
            return ((domain.lower <= points) & (points <= domain.upper)).all(axis=1)
        case dikin.Simplex():
            return (points >= 0).all(axis=1) & (np.abs(points.sum(axis=1) - 1) <= EQUALITY)
        case dikin.Ellipsoid():
            away = points - domain.center
            return (away * np.linalg.solve(domain.shape, away.T).T).sum(axis=1) <= 1
        case dikin.Polytope():
            return (points @ domain.A.T <= domain.b).all(axis=1)
        case dikin.Spectrahedron():
            off_trace = np.abs(np.trace(points, axis1=1, axis2=2) - 1)
            off_symmetry = np.abs(points - points.swapaxes(1, 2)).max(axis=(1, 2))
            positive = np.linalg.eigvalsh(points)[:, 0] >= 0
            return positive & (off_trace <= EQUALITY) & (off_symmetry <= EQUALITY)
    return None


def outside(domain: Domain, points: list[Array]) -> list[int]:
    """The rounds whose point either judge puts outside."""
    inside = np.array([domain.margin(point) >= 0 for point in points])
    member = is_member(domain, np.stack(points))
    return np.flatnonzero(~(inside if member is None else inside & member)).tolist()


@pytest.mark.parametrize("way", ANSWERS)
@pytest.mark.parametrize("make", [smooth, lipschitz])
@pytest.mark.parametrize("domain", DOMAINS.values(), ids=DOMAINS)
def test_never_outside(domain: Domain, make: Callable[..., Learner], way: str) -> None:
    points = played(make(domain), way, ROUNDS)
    assert outside(domain, points) == []
    assert len({point.tobytes() for point in points}) == ROUNDS  # it does explore


NARROW = {
    "ball": dikin.Ball(3, 1e-15, [3, -5, 1]),
    "ellipsoid": dikin.Ellipsoid([3, 5], np.diag([1e-30, 4e-30])),
    "affine": dikin.Affine(dikin.Ball(2), np.array([[1, 0.5], [0, 1]]) * 1e-15, [1, 1]),
}


@pytest.mark.parametrize("make", [smooth, lipschitz])
@pytest.mark.parametrize("domain", NARROW.values(), ids=NARROW)
def test_rounding_is_caught_by_the_net(
    domain: Domain, make: Callable[..., Learner], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a set a few ulps wide points round over the edge; without the net, some get there."""
    assert outside(domain, played(make(domain), "alternating", 1000)) == []
    learner = make(domain)
    monkeypatch.setattr(learner, "_inside", lambda u, point: point)
    assert outside(domain, played(learner, "alternating", 1000)) != []


class FarSighted(dikin.AdaptiveSmooth):
    """Explores half as far again as Dikin's ellipsoid, without the net."""

    def _propose(self) -> Any:
        u, square, memo = super()._propose()
        y = self.geometry.vector(self._state.iterate)
        return y + 1.5 * (u - y), square, memo

    def _inside(self, u: Array, point: Array) -> Array:
        return point


@pytest.mark.parametrize("kind", ["ball", "box", "simplex", "ellipsoid", "polytope"])
def test_a_learner_that_looks_too_far_is_caught(kind: str) -> None:
    domain = DOMAINS[kind + "0"]
    points = played(FarSighted(domain, 0.0, seed=1), "one side", ROUNDS)
    found = outside(domain, points)
    assert found
    assert found == np.flatnonzero(~is_member(domain, np.stack(points))).tolist()
    assert found == [t for t in range(ROUNDS) if domain.margin(points[t]) < 0]


SIMPLEX = dikin.Simplex(5)
PRODUCT = dikin.Product(dikin.Box([0], [1]), dikin.Simplex(4))
REACTIVE = {
    "Scrible": dikin.Scrible(SIMPLEX, horizon=10, seed=5),
    "SahaTewari": dikin.SahaTewari(SIMPLEX, smoothness=1.0, horizon=10, seed=5),
    "AdaptiveLipschitz": dikin.AdaptiveLipschitz(SIMPLEX, 1e-9, seed=5),
    "Product": dikin.Scrible(PRODUCT, horizon=10, seed=5),
}


@pytest.mark.parametrize("name", REACTIVE)
def test_a_simplex_stays_finite_against_who_reacts_to_one_coordinate(name: str) -> None:
    """It is driven from corner to corner, long after the horizon that its rate was made for."""
    learner, place = REACTIVE[name], 1 if name == "Product" else 0
    for _ in range(800):
        query = learner.ask()
        learner.tell(query, 1.0 if query.point[place] > learner.center[place] else -1.0)
        assert np.isfinite(learner.center).all()
        assert learner.domain.contains(query.point)
