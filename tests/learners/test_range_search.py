"""`loss_range=None`: what the laws in `unknown_range_laws` leave out."""

from collections.abc import Callable
from math import isnan, log
from typing import Any

import numpy as np
import pytest

import dikin
from dikin import errors, registry
from dikin.checks.learner import ask, shaped
from dikin.learners.barrier_ftrl import HELD, RATE
from dikin.learners.range_search import first_range
from learners.unknown_range_laws import without_range

BOX = dikin.Box([0, 0], [10, 2])


def smooth(**changes: Any) -> Any:
    settings: dict[str, Any] = {"loss_range": None, "seed": 7} | changes
    return dikin.AdaptiveSmooth(BOX, 0.5, **settings)


def told(learner: Any, *losses: float, curvature: float = 0.0) -> Any:
    for loss in losses:
        learner.tell(learner.ask(), loss, curvature)
    return learner


def test_losses_that_cannot_be_computed_with_are_refused() -> None:
    learner = smooth()
    for rounds, loss in enumerate((3.0, 4.0, 1e90)):
        query = learner.ask()
        before = learner.state()
        for wrong in (1e150, -1e308):
            with pytest.raises(errors.LossRangeError, match="choose another unit of loss"):
                learner.tell(query, wrong)
        assert learner.state() == before
        learner.tell(query, loss)
        assert learner.restarts == rounds


@pytest.mark.parametrize("unit", [2.0**-60, 2.0**-20, 1.0, 2.0**40])
def test_a_first_loss_of_zero_says_nothing_of_the_unit_of_loss(unit: float) -> None:
    """The first loss that is not 0 gives the scale, as the first one does otherwise."""
    learner = dikin.AdaptiveSmooth(BOX, 0.5 * unit, loss_range=None, seed=7)
    told(learner, *(unit * loss for loss in (0.0, 0.0, 0.75, 1.0, 0.0, 1.75, -0.25, 0.5)))
    assert [end / unit for end in learner.units.loss_range] == [-2.0, 2.0]


@pytest.mark.parametrize("kind", sorted(registry.FOLDERS["learners"].every()))
def test_every_learner_takes_zeros_first(kind: str) -> None:
    cls = registry.FOLDERS["learners"].every()[kind]
    domain = dikin.Ball(1)
    learner = without_range(lambda seed: next(iter(cls.examples(domain, seed))), 1)
    for loss in (0.0, 0.0, 1e-9, 0.0, 3e-9, 1.0, -2.0):
        query = ask(learner)
        assert all(domain.contains(point) for point in np.reshape(query.point, (-1, 1)))
        learner.tell(query, shaped(learner, loss))
    assert learner.rounds == 7
    assert np.isfinite(learner.center).all()


def test_curvature_that_only_the_range_limits_is_understated_not_refused() -> None:
    """As the ranges grow, so does the limit: 8 (high - low)/D^2."""
    learner = told(dikin.FKM(BOX, 100, loss_range=None, seed=1), 3.0, 3.1, curvature=5.0)
    assert learner.rounds == 2
    with pytest.raises(errors.ParameterError, match="must be finite and not negative"):
        learner.tell(learner.ask(), 3.0, float("inf"))
    with pytest.raises(errors.ParameterError, match=r"exceeds 0\.5"):
        told(smooth(), 3.0, 3.1, curvature=0.6)  # the smoothness is known


ACROSS = 2 * BOX.radius
STEEP = 20.0  # a Lipschitz constant: L D is twice as much as the last range is wide
LOSSES = [3.0, 3.0, 8.0, *[4.0, 4.5, 3.5] * 20, 50.0, *[40.0, 0.0, -30.0] * 20]


@pytest.mark.parametrize(
    ("kind", "constant", "most", "steepest"),
    [
        (dikin.AdaptiveSmooth, 0.5, 0.0, lambda width: width + 0.25 * ACROSS**2),
        (dikin.AdaptiveLipschitz, 4.0, 4 * ACROSS, lambda width: 4 * ACROSS),
        (dikin.AdaptiveLipschitz, STEEP, STEEP * ACROSS, lambda width: STEEP * ACROSS),
    ],
)
def test_the_certificate_adds_up(
    kind: Any, constant: float, most: float, steepest: Callable[[float], float]
) -> None:
    """The theorem of 5.5 term by term, with a learner of its own for every range."""
    learner = kind(BOX, constant, loss_range=None, seed=3)
    ranges: list[Any] = []
    for loss in LOSSES:
        query, stream, before = learner.ask(), learner._noise.seed(), learner.units.loss_range
        learner.tell(query, loss)
        if ranges:
            ranges[-1].tell(ranges[-1].ask(), float(np.clip(loss, *before)))
        if learner.units.loss_range != before:
            changed = learner.arguments() | {"loss_range": learner.units.loss_range}
            ranges.append(type(learner)(BOX, **changed, seed=stream))
    assert len(ranges) == 3
    low, high = learner.units.loss_range
    varies = max(high - low, most)
    # The first round, and 2 d Lambda for each of two restarts, d = 2.
    total = varies + 2 * 2 * 2 * steepest(high - low)
    for each in ranges:
        total += share_of(each, len(LOSSES), varies)
    assert learner.certificate == pytest.approx(total, rel=1e-12)
    assert dikin.restore(learner.state()).certificate == learner.certificate


def share_of(learner: Any, rounds: int, varies: float) -> float:
    """A range's share of the certificate of a game of that many rounds on a box, nu = 2."""
    scale, schedule = learner.units.loss_scale, learner._schedule
    own = learner.certificate / scale  # of a game of its own rounds alone

    def moved(share: float, fall: float) -> float:
        """All that depends on the share: a box is symmetric, and psi rises most in a corner."""
        price = -2 * log(1 - (1 - share) ** 2) / learner._state.numbers[RATE]
        return (
            fall * share * learner.rounds
            + price
            + (1 - share) ** 2 / 2 * learner._state.numbers[HELD]
        )

    def least(length: int, fall: float) -> float:
        return min(1.0, 2 / (fall * length * schedule.typical(length)))

    alone, fall = least(learner.rounds, 1.0), varies / (2 * scale)
    # By its own width, which is known before its rounds are played.
    return scale * (own - moved(alone, 1.0) + moved(least(rounds, 1.0), fall))


@pytest.mark.parametrize("kind", registry.FOLDERS["learners"].every())
def test_what_has_no_certificate_gets_none(kind: str) -> None:
    try:
        known = next(iter(registry.FOLDERS["learners"].every()[kind].examples(BOX, 1)))
    except errors.DikinError:
        return  # not on a box
    learner: Any = type(known)(BOX, **known.arguments() | {"loss_range": None}, seed=1)
    for t in range(8):  # so many show `Predictive` how large losses are
        learner.tell(ask(learner), shaped(learner, 3.0 + 0.1 * t))
    certified = not isnan(known.certificate) and kind != "discard"
    assert isnan(learner.certificate) != certified


def test_the_first_range_is_the_one_of_the_page() -> None:
    """f +- 2^-16 |f|, or LR/32 if that is more; 2^-100 if both are 0: section 5.5."""
    assert first_range(-3.0, 0.0) == (-3 - 3 * 2**-16, -3 + 3 * 2**-16)
    assert first_range(1.0, 8.0) == (0.75, 1.25)
    assert first_range(0.0, 0.0) == (-(2.0**-100), 2.0**-100)
