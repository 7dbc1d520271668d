"""The learners with a barrier and a fixed rate against their texts."""

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dikin
from dikin.learners.base import Learner
from learners import literal
from paper.runs import shipped_domain
from reference import barriers
from reference.barriers import Normalised

T, ROUNDS = 3000, 40
SHORT = 3  # rounds, for which ln T/T is largest: every cap binds
LOSSES = (3.0, 11.0)
SETS = {name: barriers.examples()[name] for name in ("moved ball", "box", "simplex")}


class Units:
    """The paper's units by hand: lengths in R, losses in [-1, 1]."""

    def __init__(self, barrier: barriers.UserBarrier, horizon: int = T) -> None:
        self.T, self.domain, self.R = horizon, shipped_domain(barrier), barrier.reach()
        self.B = (LOSSES[1] - LOSSES[0]) / 2
        self.psi = Normalised(barrier, self.R)
        self.d, self.nu = self.psi.dim, barrier.nu
        self.D = 2.0  # no two points of the unit ball are farther apart
        self.beta = 0.5 * self.R**2 / self.B
        self.sigma = 0.2 * self.R**2 / self.B
        self.L = 1.5 * self.R / self.B


Wanted = tuple[float, float]
"""eta/delta and delta before they are capped."""


def capped(units: Units, eta: float, delta: float) -> tuple[float, float]:
    """The rate and the share that the text plays at: eta <= delta/(2d), delta <= 1."""
    share = min(1.0, delta)
    return min(share * eta, literal.largest_rate(units.d, share)), share


def scrible(units: Units) -> tuple[Learner, Any, Wanted]:
    learner = dikin.Scrible(units.domain, units.T, loss_range=LOSSES, seed=2)
    wanted = literal.scrible_rate(units.d, units.nu, units.T), 1.0
    return learner, literal.FixedRate(units.psi, *capped(units, *wanted)), wanted


def saha_tewari(units: Units) -> tuple[Learner, Any, Wanted]:
    learner = dikin.SahaTewari(units.domain, units.T, 0.5, loss_range=LOSSES, seed=2)
    return learner, *explored(units, literal.saha_tewari_reach, units.beta)


def lipschitz_barrier(units: Units) -> tuple[Learner, Any, Wanted]:
    learner = dikin.LipschitzBarrier(units.domain, units.T, 1.5, loss_range=LOSSES, seed=2)
    return learner, *explored(units, literal.lipschitz_reach, units.L)


def explored(units: Units, reach: Callable[..., float], constant: float) -> tuple[Any, Wanted]:
    """The text that explores at a share, and what that would be without its caps."""
    delta = reach(units.d, units.nu, units.T, constant, units.D)
    wanted = literal.scrible_rate(units.d, units.nu, units.T), delta
    return literal.FixedRate(units.psi, *capped(units, *wanted)), wanted


def hazan_levy(units: Units) -> tuple[Learner, Any, Wanted]:
    learner = dikin.HazanLevy(units.domain, units.T, 0.5, 0.2, loss_range=LOSSES, seed=2)
    eta = literal.hazan_levy_rate(units.d, units.nu, units.T, units.beta, units.sigma)
    text = literal.KnownCurvature(units.psi, capped(units, eta, 1.0)[0], units.sigma)
    return learner, text, (eta, 1.0)


BUILD: dict[str, Callable[[Units], tuple[Learner, Any, Wanted]]] = {
    "scrible": scrible,
    "saha_tewari": saha_tewari,
    "lipschitz_barrier": lipschitz_barrier,
    "hazan_levy": hazan_levy,
}


def widest_gap(learner: Learner, text: Any, units: Units) -> float:
    """The largest distance between the two centres over a game, in the paper's units."""
    gap = 0.0
    for t in range(ROUNDS):
        query = learner.ask()
        x = units.psi.from_user(query.point)
        loss = float(np.cos(3 * x.sum() + t))
        learner.tell(query, 7 + 4 * loss)
        text.told(x, loss)
        ours = units.psi.from_user(learner.center)
        gap = max(gap, float(np.linalg.norm(ours - text.centers[-1])))
    return gap


@pytest.mark.parametrize("name", BUILD)
@pytest.mark.parametrize("place", SETS)
def test_the_learner_is_its_text(name: str, place: str) -> None:
    units = Units(SETS[place])
    learner, text, _ = BUILD[name](units)
    # Both solve to rounding; a gap would grow from round to round.
    assert widest_gap(learner, text, units) < 1e-9


@pytest.mark.parametrize("name", BUILD)
@pytest.mark.parametrize("place", SETS)
def test_the_rate_and_the_share_are_capped(name: str, place: str) -> None:
    """Over few rounds: the text with its caps, and neither of those without one of them."""
    units = Units(SETS[place], SHORT)
    learner, text, (eta, delta) = BUILD[name](units)
    assert eta > 1.1 * literal.largest_rate(units.d, 1.0)
    assert delta > 1.1 or name in ("scrible", "hazan_levy")  # these always explore at the share 1
    assert widest_gap(learner, text, units) < 1e-9
    for spoiled in [{"eta": eta}] + [{"delta": delta}] * (delta != 1.0):
        learner, text, _ = BUILD[name](units)
        vars(text).update(spoiled)
        with contextlib.suppress(literal.OffTheSphereError):
            assert widest_gap(learner, text, units) > 1e-6


def test_discard_is_hazan_levy_on_the_rounds_that_count() -> None:
    domain = dikin.Ball(2)
    naive = dikin.Discard(domain, T, 0.5, 0.2, seed=2)
    bare = dikin.HazanLevy(domain, T, 0.5, 0.2, seed=2)
    for t in range(60):
        query = naive.ask()
        loss = float(np.cos(t))
        if t % 3:
            naive.tell(query, loss, 0.1)
            bare.ask()  # the same noise is drawn, and nothing learnt from it
            bare.forget(t)
        else:
            naive.tell(query, loss, 0.2)
            bare.tell(bare.ask(), loss)
        assert np.array_equal(naive.center, bare.center)
    assert naive.rounds == 60
    assert naive.certificate > bare.certificate + 2 * 40
