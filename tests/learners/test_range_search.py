"""`loss_range=None`: what the laws in `unknown_range_laws` leave out."""

from __future__ import annotations

import logging
import pydoc
import warnings
from collections.abc import Callable
from dataclasses import replace
from math import isnan, log
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dikin
from dikin import errors, registry
from dikin.checks.learner import ask, shaped
from dikin.domains.base import Array
from dikin.learners import range_search
from dikin.learners.adaptive import HELD, RATE
from dikin.learners.range_search import STALE, RangeSearch, first_range
from dikin.theory.certificate import Part
from learners.unknown_range_laws import without_range

BOX = dikin.Box([0, 0], [10, 2])


def smooth(**changes: Any) -> Any:
    settings: dict[str, Any] = {"loss_range": None, "seed": 7} | changes
    return dikin.AdaptiveSmooth(BOX, 0.5, **settings)


def told(learner: Any, *losses: float, curvature: float = 0.0) -> Any:
    for loss in losses:
        learner.tell(learner.ask(), loss, curvature)
    return learner


# --- the first losses ----------------------------------------------------------------------------


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


def test_a_first_range_that_is_the_one_to_ask_in() -> None:
    """Half of it is L R/32 = 1 around 0, and the learner that asked had (-1, 1) too."""
    learner = told(dikin.FKM(dikin.Ball(2), 100, 32.0, loss_range=None, seed=1), 0.0, 0.5)
    assert learner.units.loss_range == (-1.0, 1.0)
    assert (learner.rounds, learner.restarts) == (2, 0)


UNITS = (2.0**-60, 2.0**-20, 1.0, 2.0**40)
AFTER_ZEROS = (0.0, 0.0, 0.75, 1.0, 0.0, 1.75, -0.25, 0.5)


def ranges_in_units(first: Callable[[float, float], tuple[float, float]]) -> list[list[float]]:
    """The ends of the range after each of `AFTER_ZEROS`, told in each unit of loss."""
    found = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(range_search, "first_range", first)
        for unit in UNITS:
            learner = dikin.AdaptiveSmooth(BOX, 0.5 * unit, loss_range=None, seed=7)
            for loss in AFTER_ZEROS:
                told(learner, unit * loss)
            found.append([end / unit for end in learner.units.loss_range])
    return found


def test_a_first_loss_of_zero_says_nothing_of_the_unit_of_loss() -> None:
    """The first loss that is not 0 gives the scale, as the first one does otherwise."""

    def check(first: Callable[[float, float], tuple[float, float]]) -> None:
        assert ranges_in_units(first) == [[-2.0, 2.0]] * len(UNITS)

    check(first_range)
    fixed = 2.0**-16  # wider for ever than losses in the smallest unit

    def mutant(loss: float, slope: float) -> tuple[float, float]:
        return (-fixed, fixed) if loss == slope == 0.0 else first_range(loss, slope)

    with pytest.raises(AssertionError):
        check(mutant)


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


# --- what it is like -----------------------------------------------------------------------------


def test_it_is_the_learner_that_it_was_built_as() -> None:
    learner = smooth(horizon=50)
    same, learner.note = learner, "the user's own"
    told(learner, 3.0, 7.0, 8.0)
    assert same is learner
    assert type(learner) is dikin.AdaptiveSmooth
    assert repr(learner) == "<AdaptiveSmooth on Box(dim=2), 3 rounds>"
    assert learner.note == "the user's own"
    assert (learner.smoothness, learner.horizon, learner.kind) == (0.5, 50, "adaptivesmooth")
    assert learner.loss_range is None
    assert learner.arguments() == smooth(horizon=50).arguments()
    assert learner.accepts == (-np.inf, np.inf)
    assert told(smooth(loss_range=(0, 9)), 3.0).restarts == 0
    assert "class AdaptiveSmooth" in pydoc.plain(pydoc.render_doc(learner))
    with pytest.raises(errors.FeedbackError, match="AdaptiveSmooth does not use a context"):
        learner.ask([1.0, 0.0])


def test_a_range_that_is_not_known_may_be_given_by_position() -> None:
    class Positional(dikin.FKM):
        def __init__(self, domain: dikin.Domain, loss_range: Any, seed: int | None = None) -> None:
            super().__init__(domain, 100, loss_range=loss_range, seed=seed)

        def arguments(self) -> dict[str, Any]:
            return {"loss_range": self.loss_range}

    assert told(Positional(BOX, None, seed=1), 3.0, 9.0).restarts == 1


def test_each_restart_is_one_line_of_the_log(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="dikin"):
        told(smooth(), 3.0, 3.0, 5.0, 4.0, 50.0)
    assert [record.message for record in caplog.records] == [
        "AdaptiveSmooth begins anew for losses in (0, 6) after 3 rounds; restarts so far: 1",
        "AdaptiveSmooth begins anew for losses in (-45, 51) after 5 rounds; restarts so far: 2",
    ]
    assert {record.name for record in caplog.records} == {"dikin"}


def test_it_is_saved_and_loaded(tmp_path: Path) -> None:
    learner = smooth()
    pending = learner.ask()
    told(learner, 3.0, 9.0, 4.0)
    learner.save(tmp_path / "learner.json")
    twin = dikin.load(tmp_path / "learner.json")
    for each in (learner, twin):
        each.tell(pending.id, 1000.0)
    assert twin.state() == learner.state()
    assert (twin.restarts, twin.rounds) == (2, 4)
    state = learner.state()
    with pytest.raises(errors.StateError):
        dikin.restore(state | {"range_search": {"past": {}}})


def test_stale_queries_are_distinguished_from_foreign_and_closed_ones() -> None:
    learner = smooth()
    queries = [learner.ask() for _ in range(3)]
    learner.tell(queries[0], 3.0)
    with pytest.raises(errors.QueryError):
        learner.tell(dikin.Query(1, queries[1].point + 1e-9), 3.0)
    with pytest.raises(errors.ClosedQueryError, match=r"open are \[1, 2\]"):
        learner.tell(0, 3.0)
    with pytest.raises(ValueError, match="read-only"):
        queries[1].point[:] = 99.0
    learner.tell(queries[1], 3.0)
    for wrong in (True, "1", None, 1):
        with pytest.raises(errors.QueryError):
            learner.forget(wrong)


def test_the_paper_s_constants_warn_once() -> None:
    with pytest.warns(errors.SlowLearnerWarning):
        learner = smooth(constants="paper", horizon=100)
    with warnings.catch_warnings(action="error"):
        dikin.restore(told(learner, 3.0, 9.0, 99.0).state())


# --- the certificate -----------------------------------------------------------------------------


ACROSS = 2 * BOX.radius
STEEP = 20.0  # a Lipschitz constant: L D is twice as much as the last range is wide
LOSSES = [3.0, 3.0, 8.0, *[4.0, 4.5, 3.5] * 20, 50.0, *[40.0, 0.0, -30.0] * 20]


class Unclipped(RangeSearch):
    """A round that ends a range is not learnt from."""

    def learn(self, learner: Any, memo: Any, answer: Any, curvature: float) -> None:
        super().learn(
            learner, memo if self.has_room(learner, memo, answer) else STALE, answer, curvature
        )


class Accounting(RangeSearch):
    """Changes what is kept of a range that has ended."""

    def begin_anew(self, learner: Any, fresh: Any, search: RangeSearch) -> None:
        super().begin_anew(learner, fresh, self.changed(search))

    def changed(self, search: RangeSearch) -> RangeSearch:
        raise NotImplementedError


class ShortGames(Accounting):
    """Closes a range as if the game had ended with it."""

    def changed(self, search: RangeSearch) -> RangeSearch:
        parts = tuple(part._replace(schedule=OwnRoundsOnly(part)) for part in search.parts)
        return replace(search, parts=parts)


class OwnRoundsOnly:
    """A schedule that knows no longer game than its own range."""

    def __init__(self, part: Part) -> None:
        self.right, self.rounds, self.kappa = part.schedule, part.account.rounds, 1.0

    def typical(self, rounds: int) -> float:
        return float(self.right.typical(self.rounds) * self.rounds / rounds)


class NoComparator(Accounting):
    def changed(self, search: RangeSearch) -> RangeSearch:
        free = [part._replace(account=part.account._replace(rounds=0)) for part in search.parts]
        return replace(search, parts=tuple(free))


class NothingIdle(Accounting):
    def changed(self, search: RangeSearch) -> RangeSearch:
        return replace(search, idle=0)


class LastOnly(Accounting):
    def changed(self, search: RangeSearch) -> RangeSearch:
        return replace(search, restarts=0)


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
    def adds_up(search: type[RangeSearch]) -> None:
        learner = kind(BOX, constant, loss_range=None, seed=3)
        learner._search = search()
        require_sum(learner, most, steepest)

    adds_up(RangeSearch)
    for wrong in (Unclipped, ShortGames, NoComparator, NothingIdle, LastOnly):
        with pytest.raises(AssertionError):
            adds_up(wrong)


def require_sum(learner: Any, most: float, steepest: Callable[[float], float]) -> None:
    """The theorem of 5.5 term by term, with a learner of its own for every range."""
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


def test_a_steep_loss_varies_by_more_than_the_range_is_wide(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """W = LD counts, not the 2B of the last range: without (W - 2B)+ the bound is too small."""
    right = range_search.variation

    def as_wide_as_the_range(width: float, *rest: Any) -> tuple[float, float]:
        return width, right(width, *rest)[1]

    def steep() -> Any:
        return dikin.AdaptiveLipschitz(BOX, STEEP, loss_range=None, seed=3)

    learner = told(steep(), *LOSSES)
    low, high = learner.units.loss_range
    assert 1.5 * (high - low) < STEEP * ACROSS
    whole = learner.certificate
    monkeypatch.setattr(range_search, "variation", as_wide_as_the_range)
    assert learner.certificate < whole
    with pytest.raises(AssertionError):
        require_sum(steep(), STEEP * ACROSS, lambda width: STEEP * ACROSS)


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


def test_the_certificate_covers_late_answers() -> None:
    learner = smooth()
    queries = [learner.ask() for _ in range(3)]
    stream = learner._noise.seed()
    learner.tell(queries[0], 3.0)
    low, high = learner.units.loss_range
    assert learner.certificate == high - low  # a round that taught nothing
    learner.tell(queries[1], 3.0)
    assert learner.certificate == 2 * (high - low)  # of an earlier range: one more of them
    one, two = learner.ask(), learner.ask()
    learner.tell(two, 3.0)
    learner.tell(one, 3.0)
    alone = smooth(loss_range=(low, high), seed=stream)
    queries = [alone.ask(), alone.ask()]
    for query in reversed(queries):
        alone.tell(query, 3.0)
    learnt = share_of(alone, 4, high - low)
    assert learner.certificate == pytest.approx(2 * (high - low) + learnt, rel=1e-12)


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


# --- in a game -----------------------------------------------------------------------------------


def bowl(round: int, x: Array) -> float:
    """Between 100 and 100.3, but for three rounds."""
    scale = 100.0 if round in (3, 40, 200) else 1.0
    return 100.0 + scale * (0.02 * (x[0] - 3) ** 2 + 0.05 * (x[1] - 0.5) ** 2) / 4


def test_play_takes_it_without_a_range_and_the_bound_holds() -> None:
    rows = []
    for seed in range(5):
        world = dikin.FromFunction(
            BOX, bowl, loss_range=(100, 128), smoothness=2.5, comparator=[3.0, 0.5], seed=seed
        )
        learner = dikin.AdaptiveSmooth(BOX, 2.5, loss_range=None, seed=seed)
        run = dikin.play(learner, world, 400, progress=False)
        assert not run.compiled
        assert 1 <= learner.restarts <= 12
        assert learner.rounds == world.rounds == 400
        rows.append((run.regret[-1], run.certificate[-1]))
    regret, certificate = np.mean(rows, axis=0)
    assert 0 < regret < certificate


def test_the_first_range_is_the_one_of_the_page() -> None:
    """f +- 2^-16 |f|, or LR/32 if that is more; 2^-100 if both are 0: section 5.5."""
    assert first_range(-3.0, 0.0) == (-3 - 3 * 2**-16, -3 + 3 * 2**-16)
    assert first_range(1.0, 8.0) == (0.75, 1.25)
    assert first_range(0.0, 0.0) == (-(2.0**-100), 2.0**-100)
