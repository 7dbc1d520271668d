"""The laws of a learner, whatever its mathematics: its points, its state and its answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from math import inf, isfinite, nan
from typing import Any, NamedTuple

import numpy as np

from dikin.checks import LearnerFactory
from dikin.checks.failure import require
from dikin.domains.base import Array
from dikin.errors import (
    ClosedQueryError,
    DikinError,
    LossError,
    LossRangeError,
    ParameterError,
    QueryError,
    UnknownQueryError,
)
from dikin.feedback import Feedback
from dikin.learners.base import Learner
from dikin.open_queries import Query
from dikin.silence import silence

# --- how the laws play -------------------------------------------------------------------------


class Move(NamedTuple):
    """A round as an adversary sees it: with the learner's centre, more than a bandit reveals."""

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
        """Return the vector from the learner's centre to the played point, in the chart."""
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
    """Return the loss at a position in the range. The ends are the ends to the last bit."""
    low, high = learner.units.loss_range
    ends = {-1.0: low, 1.0: high}
    return ends.get(position, low + (high - low) * (position + 1) / 2)


def answer_at(learner: Learner, position: float) -> Any:
    """Return the answer, of the kind that a learner declares, with a loss at a position."""
    return shaped(learner, loss_at(learner, position), loss_at(learner, -position), position)


def shaped(learner: Learner, loss: Any, other: Any = None, slope: float = 1.0) -> Any:
    """Return a loss as an answer of the kind that a learner declares."""
    if learner.feedback is Feedback.PAIR:
        return loss, loss if other is None else other
    if learner.feedback is Feedback.GRADIENT:
        domain, steep = learner.domain, learner.units.loss_scale / learner.units.radius
        return loss, slope * steep * domain.outward(np.full(domain.dim, domain.dim**-0.5))
    return loss


def ask(learner: Learner, round: int | None = None) -> Any:
    """Ask a query, with a context where the learner needs one."""
    if learner.feedback is not Feedback.CONTEXT:
        return learner.ask()
    domain = learner.domain
    turned = np.cos(np.arange(domain.dim) + (learner.rounds if round is None else round))
    return learner.ask(domain.outward(turned) / np.linalg.norm(turned))


def points_of(learner: Learner, query: Query) -> list[Array]:
    """Return the points at which a query needs losses."""
    return list(query.point) if learner.feedback is Feedback.PAIR else [query.point]


def play(learner: Learner, rounds: int, pattern: str = "steep") -> Iterator[Query]:
    """The queries of a game against a pattern, with every curvature from none to the limit."""
    for t in range(rounds):
        query = ask(learner)
        yield query
        position = PATTERNS[pattern](Move(t, learner, query))
        curvature = learner.curvature_limit[0] * (t % 3) / 2
        learner.tell(query, answer_at(learner, position), curvature)


def name(learner: Learner) -> str:
    """Return the name of a learner, for a message."""
    return f"{type(learner).__name__} on {learner.domain}"


# --- the points --------------------------------------------------------------------------------


def check_points_stay_inside(make: LearnerFactory, seed: int) -> None:
    """Every asked point and every centre is in the domain, whatever the losses: no tolerance."""
    for pattern in PATTERNS:
        learner = make(seed)
        domain = learner.domain
        # Only driven learners come near the boundary, where the last digits matter.
        rounds = 250 if pattern == "driving" else 70
        with silence():
            for query in play(learner, rounds, pattern):
                for point in (*points_of(learner, query), learner.center):
                    form, wanted = (str(point.dtype), point.shape), ("float64", domain.point_shape)
                    require(form == wanted, name(learner), "the form of a point", form, wanted)
                    margin = domain.margin(point)
                    require(margin >= 0, name(learner), "the margin", margin, ">= 0", at=point)


# --- chance and the state ----------------------------------------------------------------------


def check_same_seed_same_play(make: LearnerFactory, seed: int) -> None:
    """One seed gives one game, bit for bit. Another seed gives another, if anything is drawn."""
    games = [[query.point for query in play(make(s), 30)] for s in (seed, seed, seed + 1)]
    learner = make(seed)
    for one, two in zip(*games[:2], strict=True):
        require(np.array_equal(one, two), name(learner), f"a point of seed {seed}", two, one)
    before = learner.state()["generator"]
    ask(learner)
    if learner.state()["generator"] != before:
        differ = not np.array_equal(games[0], games[2])
        require(differ, name(learner), "the play of another seed", "the same", "another")


def check_restored_learner_continues_exactly(make: LearnerFactory, seed: int) -> None:
    """A state that went through JSON continues bit for bit, with its open queries."""
    learner = make(seed)
    for _ in play(learner, 25):
        pass
    queries = [ask(learner) for _ in range(3)]
    twin = learner.restore(learner.domain, json.loads(json.dumps(learner.state())))
    same_state(learner, twin, "right after")
    with silence():
        for query in (queries[2], queries[0]):
            for each in (learner, twin):
                each.tell(query.id, answer_at(each, 0.3), 0.0)
            same_state(learner, twin, f"after an answer to query {query.id}")
        same_play(learner, twin, 25, "restored")
    same_state(learner, twin, "at the end")


def same_state(learner: Learner, twin: Learner, when: str) -> None:
    """Require one state of a learner and of its restored twin."""
    ours, theirs = learner.state(), twin.state()
    for key in ours:
        same = ours[key] == theirs[key]
        require(same, name(learner), f"{when} restoring, {key}", theirs[key], ours[key])


def same_play(learner: Learner, twin: Learner, rounds: int, what: str) -> None:
    """Require one future of a learner and of its twin."""
    for ours, theirs in zip(play(learner, rounds), play(twin, rounds), strict=True):
        same = ours.id == theirs.id and np.array_equal(ours.point, theirs.point)
        require(same, name(learner), f"a query of the {what} learner", ours, theirs)


def check_state_does_not_grow(make: LearnerFactory, seed: int) -> None:
    """The state after many rounds holds as many numbers as after few."""
    learner, sizes = make(seed), []
    for rounds in (10, 100):
        for _ in play(learner, rounds):
            pass
        sizes.append(_numbers_in(learner.state()))
    require(sizes[0] == sizes[1], name(learner), "the state's size 100 rounds later", *sizes[::-1])


def _numbers_in(value: Any) -> int:
    if isinstance(value, dict):
        return sum(map(_numbers_in, value.values()))
    return sum(map(_numbers_in, value)) if isinstance(value, list | tuple) else 1


def check_looking_changes_nothing(make: LearnerFactory, seed: int) -> None:
    """Reading a learner, or writing into an array that it returned, does not change it."""
    learner, twin = make(seed), make(seed)
    for ours, theirs in zip(play(learner, 20), play(twin, 20), strict=True):
        before = learner.state()
        for array in (ours.point, learner.center, *(q.point for q in learner.open_queries)):
            if array.flags.writeable:
                original = array.copy()
                array += 1.0
                after = learner.state()
                array[...] = original
                _unchanged(learner, before, after, f"writing into the array {original} it gave")
        same = np.array_equal(ours.point, theirs.point)
        require(same, name(learner), "a point of a learner looked at", ours.point, theirs.point)


def _unchanged(learner: Learner, before: Any, after: Any, cause: str) -> None:
    require(before == after, name(learner), f"the state after {cause}", after, before)


# --- the answers -------------------------------------------------------------------------------


class Refusal(NamedTuple):
    """An answer that must be rejected."""

    query: Any
    loss: Any
    curvature: Any
    error: type[DikinError]


def refusals(learner: Learner, query: Query, closed: Query) -> Iterator[Refusal]:
    """Every kind of wrong answer to an open query or a closed one, each wrong in one thing only."""
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
        yield Refusal(query, fine, curvature, ParameterError)
    for curvature in (1.01 * limit + 1e-6, 1e300):
        yield Refusal(query, fine, curvature, ParameterError)
    for unknown in (10**6, -1, "0", None, 0.5, Query(10**6, query.point)):
        yield Refusal(unknown, fine, 0.0, UnknownQueryError)
    for shut in (closed, closed.id):
        yield Refusal(shut, fine, 0.0, ClosedQueryError)
    yield Refusal(Query(query.id, query.point + 1e-9), fine, 0.0, QueryError)


def refused(learner: Learner, error: type[DikinError], use: Callable[..., None], *arg: Any) -> None:
    """Require an error of a kind from a use of a learner."""
    try:
        use(*arg)
    except error:
        return
    require(False, name(learner), f"the use of {arg}", "accepted", error.__name__)


def check_refused_answer_changes_nothing(make: LearnerFactory, seed: int) -> None:
    """A wrong answer raises an error of its kind, and the learner is unchanged."""
    learner, twin = make(seed), make(seed)
    for each in (learner, twin):
        *_, closed = play(each, 5)
        query = ask(each)
    before = learner.state()
    for refusal in refusals(learner, query, closed):
        refused(learner, refusal.error, learner.tell, *refusal[:3])
        _unchanged(learner, before, learner.state(), f"the refused answer {refusal[:3]}")
    for each in (learner, twin):
        each.tell(query.id, answer_at(each, 0.5))
    same_play(learner, twin, 10, "refusing")


def check_queries_are_answered_in_any_order(make: LearnerFactory, seed: int) -> None:
    """Ids are distinct. Each query is open until its answer, and every answer is a round."""
    learner = make(seed)
    queries = [ask(learner) for _ in range(6)]
    ids = [query.id for query in queries]
    require(len({*ids}) == len(ids), name(learner), "the list of ids", ids, "each once")
    with silence():
        for i, answered in enumerate((3, 0, 5, 1, 4, 2), start=1):
            learner.tell(queries[answered], answer_at(learner, -0.5))
            ids.remove(queries[answered].id)
            found = [query.id for query in learner.open_queries]
            require(found == ids, name(learner), f"the list open after {i} answers", found, ids)
            require(learner.rounds == i, name(learner), "the number of rounds", learner.rounds, i)


def check_forget_closes_that_query_alone(make: LearnerFactory, seed: int) -> None:
    """A forgotten query is closed. It does not affect other queries or later rounds."""
    learner, twin = make(seed), make(seed)
    for each in (learner, twin):
        for _ in play(each, 10):
            pass
        queries = [ask(each) for _ in range(3)]
    before = learner.state()
    learner.forget(queries[1])
    rest = [item for i, item in enumerate(before["open"]) if i != 1]
    _unchanged(learner, before | {"open": rest}, learner.state(), "forgetting")
    refused(learner, ClosedQueryError, learner.forget, queries[1])
    refused(learner, ClosedQueryError, learner.tell, queries[1], answer_at(learner, 0.0))
    with silence():
        for each in (learner, twin):
            each.tell(queries[2].id, answer_at(each, 1.0))
            each.tell(queries[0].id, answer_at(each, -1.0))
        same_play(learner, twin, 10, "forgetting")
