"""The laws of a learner, whatever its mathematics: what it may play, and what may change it.

Every `check_*` takes `make`, which builds a fresh learner from a seed, and a seed; it raises a
`CheckFailedError` where the law does not hold.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from math import inf, isfinite, nan
from typing import Any, NamedTuple, TypeVar

import numpy as np

from dikin.checks import LearnerFactory
from dikin.checks.failure import fail
from dikin.domains.base import Array
from dikin.errors import (
    CertificateWarning,
    ClosedQueryError,
    CurvatureError,
    DikinError,
    LossError,
    LossRangeError,
    QueryError,
    UnknownQueryError,
)
from dikin.feedback import Feedback
from dikin.learners.base import Learner
from dikin.learners.threads import ignored
from dikin.open_queries import Query

L = TypeVar("L", bound=Learner)


# --- how the laws play -------------------------------------------------------------------------


class Move(NamedTuple):
    """What an adversary sees in a round: with the learner's centre, more than a bandit reveals."""

    round: int
    learner: Learner
    query: Query

    @property
    def offset(self) -> Array:
        """The played point as a chart vector."""
        domain = self.learner.domain
        return domain.locate(points_of(self.learner, self.query)[0]) / domain.radius

    @property
    def step(self) -> Array:
        """From the learner's centre to the played point, in the chart."""
        domain = self.learner.domain
        return self.offset - domain.locate(self.learner.center) / domain.radius


PATTERNS: dict[str, Callable[[Move], float]] = {
    "highest": lambda move: 1.0,
    "lowest": lambda move: -1.0,
    "alternating": lambda move: 1.0 if move.round % 2 else -1.0,
    "steep": lambda move: 1.0 if move.offset.sum() > 0 else -1.0,
    # Every estimate of the gradient points the same way: the fastest way to the boundary.
    "driving": lambda move: 1.0 if move.step.sum() > 0 else -1.0,
    # One coordinate decides: the others wander, and near a corner their digits are lost first.
    "reactive": lambda move: 1.0 if move.step[0] > 0 else -1.0,
}
"""Losses, as positions between the lowest (-1) and the highest (1) of the range."""


def loss_at(learner: Learner, position: float) -> float:
    """The loss at a position in the learner's range; the ends are the ends to the last bit.

    Parameters
    ----------
    learner
        Its current range counts.
    position
        From -1 for the least loss to 1 for the largest.
    """
    low, high = learner.units.loss_range
    ends = {-1.0: low, 1.0: high}
    return ends.get(position, low + (high - low) * (position + 1) / 2)


def answer_at(learner: Learner, position: float) -> Any:
    """What to tell a learner, of the kind that it declares, for a loss at a position.

    Parameters
    ----------
    learner
        The learner to tell.
    position
        As for `loss_at`.
    """
    return shaped(learner, loss_at(learner, position), loss_at(learner, -position), position)


def shaped(learner: Learner, loss: Any, other: Any = None, slope: float = 1.0) -> Any:
    """A loss as an answer of the kind that a learner declares.

    Parameters
    ----------
    learner
        The learner to tell.
    loss
        The loss.
    other
        The loss at the second point, where there are two; the same one for None.
    slope
        The gradient in units of the range over the radius, where one is told.
    """
    if learner.feedback is Feedback.PAIR:
        return loss, loss if other is None else other
    if learner.feedback is Feedback.GRADIENT:
        domain, steep = learner.domain, learner.units.loss_scale / learner.units.radius
        return loss, slope * steep * domain.outward(np.full(domain.dim, domain.dim**-0.5))
    return loss


def ask(learner: Learner, round: int | None = None) -> Query:
    """A query, with a context where the learner needs one.

    Parameters
    ----------
    learner
        The learner to ask.
    round
        The number that determines the context; the learner's rounds for None.
    """
    if learner.feedback is not Feedback.CONTEXT:
        return learner.ask()
    domain = learner.domain
    turned = np.cos(np.arange(domain.dim) + (learner.rounds if round is None else round))
    return learner.ask(domain.outward(turned) / np.linalg.norm(turned))


def points_of(learner: Learner, query: Query) -> list[Array]:
    """The points at which a query needs losses.

    Parameters
    ----------
    learner
        The learner that was asked.
    query
        The query it returned.
    """
    return list(query.point) if learner.feedback is Feedback.PAIR else [query.point]


def play(learner: Learner, rounds: int, pattern: str = "steep") -> Iterator[Query]:
    """The queries of a game against a pattern, with every curvature from none to the limit.

    Parameters
    ----------
    learner
        The learner that plays.
    rounds
        How many rounds.
    pattern
        A key of `PATTERNS`.
    """
    for t in range(rounds):
        query = ask(learner)
        yield query
        position = PATTERNS[pattern](Move(t, learner, query))
        curvature = learner.curvature_limit[0] * (t % 3) / 2
        learner.tell(query, answer_at(learner, position), curvature)


def with_range(learner: L) -> L:
    """A learner that has a range: if it is not declared, a first loss is told.

    Parameters
    ----------
    learner
        Before its first round.
    """
    if learner.may_restart:
        learner.tell(ask(learner), answer_at(learner, 0.0))
    return learner


def without_range(make: LearnerFactory, seed: int) -> Learner:
    """A learner like the one that `make` builds, without its range.

    Parameters
    ----------
    make
        What builds a learner from a seed.
    seed
        The seed.
    """
    learner = make(seed)
    return learner._anew(learner.domain, learner.arguments() | {"loss_range": None}, seed)


def name(learner: Learner) -> str:
    """A learner, for a message.

    Parameters
    ----------
    learner
        The learner to name.
    """
    return f"{type(learner).__name__} on {learner.domain}"


# --- the points --------------------------------------------------------------------------------


def check_points_stay_inside(make: LearnerFactory, seed: int) -> None:
    """Every asked point and every centre is in the domain, whatever the losses: no tolerance."""
    for pattern in PATTERNS:
        learner = make(seed)
        # Only driven learners come near the boundary, where the last digits matter.
        rounds = 250 if pattern == "driving" else 70
        with ignored(CertificateWarning):
            for query in play(learner, rounds, pattern):
                for point in (*points_of(learner, query), learner.center):
                    _belongs(learner, point, f"at query {query.id} under {pattern} losses")


def _belongs(learner: Learner, point: Array, when: str) -> None:
    shape = learner.domain.point_shape
    if point.shape != shape or point.dtype != np.float64:
        fail(
            name(learner), f"gave {point.dtype} of shape {point.shape}", f"float64 of shape {shape}"
        )
    margin = learner.domain.margin(point)
    if not margin >= 0:
        fail(name(learner), f"{point} {when} has margin {margin:.3g}", "at least 0")


# --- chance ------------------------------------------------------------------------------------


def check_same_seed_same_play(make: LearnerFactory, seed: int) -> None:
    """One seed gives one game, bit for bit; another seed gives another, if anything is drawn."""
    games = [[query.point for query in play(make(s), 30)] for s in (seed, seed, seed + 1)]
    for i, (one, two) in enumerate(zip(*games[:2], strict=True)):
        if not np.array_equal(one, two):
            fail(name(make(seed)), f"seed {seed} asked query {i} about {two}", f"{one} as before")
    if np.array_equal(games[0], games[2]) and _draws(make(seed)):
        fail(name(make(seed)), f"seeds {seed} and {seed + 1} play alike", "two games")


def _draws(learner: Learner) -> bool:
    before = learner.state()["generator"]
    ask(learner)
    return bool(learner.state()["generator"] != before)


# --- the state ---------------------------------------------------------------------------------


def check_restored_learner_continues_exactly(make: LearnerFactory, seed: int) -> None:
    """A state that went through JSON continues bit for bit, with its open queries."""
    learner = make(seed)
    for _ in play(learner, 25):
        pass
    queries = [ask(learner) for _ in range(3)]
    state = json.loads(json.dumps(learner.state()))
    twin = learner.restore(learner.domain, state)
    same_state(learner, twin, "right after")
    with ignored(CertificateWarning):
        for query in (queries[2], queries[0]):
            for each in (learner, twin):
                each.tell(query.id, answer_at(each, 0.3), 0.0)
            same_state(learner, twin, f"after an answer to query {query.id}")
        for ours, theirs in zip(play(learner, 25), play(twin, 25), strict=True):
            if ours.id != theirs.id or not np.array_equal(ours.point, theirs.point):
                fail(name(learner), f"restored it asks {theirs}", f"{ours}")
    same_state(learner, twin, "at the end")


def same_state(learner: Learner, twin: Learner, when: str) -> None:
    """Fail where the states of a learner and of its restored twin differ.

    Parameters
    ----------
    learner, twin
        The two.
    when
        The instant, for the message.
    """
    ours, theirs = learner.state(), twin.state()
    for key in ours:
        if ours[key] != theirs[key]:
            fail(name(learner), f"{when} restoring, {key} is {theirs[key]}", f"{ours[key]}")


def check_state_does_not_grow(make: LearnerFactory, seed: int) -> None:
    """The state after many rounds holds as many numbers as after few."""
    learner = make(seed)
    sizes = []
    for rounds in (10, 100):
        for _ in play(learner, rounds):
            pass
        sizes.append(_numbers_in(learner.state()))
    if sizes[0] != sizes[1]:
        fail(
            name(learner),
            f"the state has {sizes[1]} numbers after 100 more rounds",
            f"{sizes[0]}",
        )


def _numbers_in(value: Any) -> int:
    if isinstance(value, dict):
        return sum(map(_numbers_in, value.values()))
    if isinstance(value, list | tuple):
        return sum(map(_numbers_in, value))
    return 1


def check_looking_changes_nothing(make: LearnerFactory, seed: int) -> None:
    """Reading a learner, or writing into an array that it returned, does not change its future.

    A read-only array is as good as a copy.
    """
    learner, twin = make(seed), make(seed)
    for ours, theirs in zip(play(learner, 20), play(twin, 20), strict=True):
        before = learner.state()
        for array in (ours.point, learner.center, *(q.point for q in learner.open_queries)):
            if array.flags.writeable:
                original = array.copy()
                array += 1.0
                after = learner.state()
                array[...] = original
                if before != after:
                    fail(
                        name(learner),
                        f"writing into the array {original} that it gave changed its state",
                        "the same as before",
                    )
        if not np.array_equal(ours.point, theirs.point):
            fail(
                name(learner),
                f"looked at, it asks query {ours.id} about {ours.point}",
                f"{theirs.point}",
            )


# --- the answers -------------------------------------------------------------------------------


class Refusal(NamedTuple):
    """An answer that must be rejected."""

    query: Any
    loss: Any
    curvature: Any
    error: type[DikinError]


def refusals(learner: Learner, query: Query, closed: Query) -> Iterator[Refusal]:
    """Every kind of wrong answer, each wrong in one thing only.

    Parameters
    ----------
    learner
        The learner that must reject them.
    query
        An open one.
    closed
        One that was answered.
    """
    low, high = learner.accepts
    limit, fine = learner.curvature_limit[0], answer_at(learner, 0.0)
    for loss in (nan, inf, -inf, "0.5", None, True, [0.5], 1j):
        yield Refusal(query, shaped(learner, loss), 0.0, LossError)
    outside = (low - 0.01 * (high - low), high + 0.01 * (high - low))
    for loss in (*(outside if isfinite(high - low) else ()), 1e300):
        yield Refusal(query, shaped(learner, loss), 0.0, LossRangeError)
    if learner.feedback in (Feedback.PAIR, Feedback.GRADIENT):
        for other in (loss_at(learner, 0.0), fine[:1], (*fine, 0.0), (fine[0], nan * fine[1])):
            yield Refusal(query, other, 0.0, LossError)
    for curvature in (nan, inf, -1e-9, "0", None, False, [0.0]):
        yield Refusal(query, fine, curvature, CurvatureError)
    for curvature in (1.01 * limit + 1e-6, 1e300):
        yield Refusal(query, fine, curvature, CurvatureError)
    for unknown in (10**6, -1, "0", None, 0.5, Query(10**6, query.point)):
        yield Refusal(unknown, fine, 0.0, UnknownQueryError)
    for shut in (closed, closed.id):
        yield Refusal(shut, fine, 0.0, ClosedQueryError)
    yield Refusal(Query(query.id, query.point + 1e-9), fine, 0.0, QueryError)


def check_refused_answer_changes_nothing(make: LearnerFactory, seed: int) -> None:
    """A wrong answer raises an error of its kind, and the learner is unchanged."""
    learner, twin = make(seed), make(seed)
    for each in (learner, twin):
        *_, closed = play(each, 5)
        query = ask(each)
    before = learner.state()
    for refusal in refusals(learner, query, closed):
        try:
            learner.tell(*refusal[:3])
        except refusal.error:
            pass
        else:
            fail(
                name(learner),
                f"accepted the answer {refusal[:3]}",
                f"a {refusal.error.__name__}",
            )
        if learner.state() != before:
            fail(
                name(learner),
                f"the refused answer {refusal[:3]} changed the state",
                "the same as before",
            )
    for each in (learner, twin):
        each.tell(query.id, answer_at(each, 0.5))
    for ours, theirs in zip(play(learner, 10), play(twin, 10), strict=True):
        if not np.array_equal(ours.point, theirs.point):
            fail(
                name(learner),
                f"after refusals it asks query {ours.id} about {ours.point}",
                f"{theirs.point}",
            )


def check_queries_are_answered_in_any_order(make: LearnerFactory, seed: int) -> None:
    """Ids are distinct; each query is open until its answer, and every answer is a round."""
    learner = make(seed)
    queries = [ask(learner) for _ in range(6)]
    open_ids = [query.id for query in queries]
    if len(set(open_ids)) != len(open_ids):
        fail(name(learner), f"gave the ids {open_ids}", "each once")
    with ignored(CertificateWarning):
        for i, answered in enumerate((3, 0, 5, 1, 4, 2)):
            learner.tell(queries[answered], answer_at(learner, -0.5))
            open_ids.remove(queries[answered].id)
            if [query.id for query in learner.open_queries] != open_ids:
                ids = [query.id for query in learner.open_queries]
                fail(name(learner), f"has {ids} open after {i + 1} answers", f"{open_ids}")
            if learner.rounds != i + 1:
                fail(name(learner), f"counts {learner.rounds} rounds after answers", f"{i + 1}")


def check_forget_closes_that_query_alone(make: LearnerFactory, seed: int) -> None:
    """A forgotten query is closed; it does not affect other queries or later rounds."""
    learner, twin = make(seed), make(seed)
    for each in (learner, twin):
        for _ in play(each, 10):
            pass
        queries = [ask(each) for _ in range(3)]
    before = learner.state()
    learner.forget(queries[1])
    after = learner.state()
    rest = [item for i, item in enumerate(before["open"]) if i != 1]
    if after != before | {"open": rest}:
        changed = [key for key in before if key != "open" and after[key] != before[key]]
        fail(name(learner), f"forgetting changed {changed or 'other queries'}", "one query less")
    shut = queries[1]
    for use in (
        partial(learner.forget, shut),
        partial(learner.tell, shut, answer_at(learner, 0.0)),
    ):
        try:
            use()
        except ClosedQueryError:
            continue
        fail(name(learner), f"took query {shut.id} after it was forgotten", "a ClosedQueryError")
    with ignored(CertificateWarning):
        for each in (learner, twin):
            each.tell(queries[2].id, answer_at(each, 1.0))
            each.tell(queries[0].id, answer_at(each, -1.0))
        for ours, theirs in zip(play(learner, 10), play(twin, 10), strict=True):
            if not np.array_equal(ours.point, theirs.point):
                fail(
                    name(learner),
                    f"after forgetting, query {ours.id} is {ours.point}",
                    f"{theirs.point}",
                )
