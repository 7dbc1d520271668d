"""The laws of a learner whose range of losses is not known: `loss_range=None`.

Every `check_*` takes `make`, which builds a learner of some range, and a seed, and judges the same
learner without a range; it raises a `CheckFailedError` where the law does not hold.
"""

from __future__ import annotations

import json
from math import inf, isnan, log2, nan

import numpy as np

from dikin.checks import LearnerFactory
from dikin.checks.failure import fail
from dikin.checks.learner import (
    ask,
    name,
    same_state,
    shaped,
    without_range,
)
from dikin.errors import CertificateWarning, LossError, LossRangeError
from dikin.learners.threads import ignored

LOSSES = [5.0, 5.01, 4.9, 4.93, 7.0, 6.0, -40.0, 30.0]
"""Narrow at first, around a middle that is not zero; every so often one that is far outside."""


def check_unknown_range_is_doubled_by_a_loss_outside(make: LearnerFactory, seed: int) -> None:
    """No loss is rejected; the range contains all of them, and is at most four times as wide.

    Or it is still the first: a small share of the first loss, or of what a Lipschitz constant
    allows. A loss outside makes it wider by a power of two and counts as one restart; a loss inside
    leaves it alone.
    """
    learner = without_range(make, seed)
    steep = (getattr(learner, "lipschitz", None) or 0.0) * learner.units.radius
    first = 1e-3 * LOSSES[0] + 0.1 * steep
    losses: list[float] = []
    for loss in LOSSES:
        low, high, restarts = *learner.units.loss_range, learner.restarts
        try:
            learner.tell(ask(learner), shaped(learner, loss), learner.curvature_limit[0] / 2)
        except LossRangeError:
            fail(name(learner), f"refused the loss {loss:g} after {losses}", "a wider range")
        losses.append(loss)
        least, most = learner.units.loss_range
        slack = 1e-9 * (most - least)  # as much as `tell` takes for rounding
        if not least - slack <= min(losses) <= max(losses) <= most + slack:
            fail(
                name(learner),
                f"the range is ({least:g}, {most:g})",
                f"one that contains the losses {losses}",
            )
        if learner.rounds != len(losses):
            fail(name(learner), f"counts {learner.rounds} rounds after answers", f"{len(losses)}")
        outside = len(losses) > 1 and not low - slack <= loss <= high + slack
        if learner.restarts != restarts + outside:
            expected_restarts = restarts + outside
            fail(
                name(learner),
                f"counts {learner.restarts} restarts after the loss {loss:g}",
                f"{expected_restarts}",
            )
        doublings = log2((most - least) / (high - low))
        if len(losses) > 1 and abs(doublings - max(outside, round(doublings))) > 1e-6:
            fail(
                name(learner),
                f"the loss {loss:g} made the range {2**doublings:g} times as wide",
                f"a power of two and at least {1 + outside}",
            )
        if not most - least <= max(4.001 * (max(losses) - min(losses)), first):
            fail(
                name(learner),
                f"the range is ({least:g}, {most:g}) for the losses {losses}",
                "at most four times their spread",
            )


def check_restarted_learner_is_that_of_the_wider_range(make: LearnerFactory, seed: int) -> None:
    """From one restart to the next it plays as if its range had been declared at its first round.

    There are enough rounds between two restarts to expose a formula that depends on their number.
    """
    learner = without_range(make, seed)
    twin = make(seed)
    query, theirs = ask(learner), ask(twin)
    for i, loss in enumerate((*LOSSES[:6], *(5.0, 6.0) * 8, *LOSSES[6:])):
        before, stream = learner.units.loss_range, learner._noise.seed()
        answer, curvature = shaped(learner, loss), twin.curvature_limit[0] * (i % 3) / 2
        learner.tell(query, answer, curvature)
        if learner.units.loss_range == before:
            twin.tell(theirs, answer, curvature)
        else:
            arguments = learner.arguments() | {"loss_range": list(learner.units.loss_range)}
            twin = learner._anew(learner.domain, arguments, stream)
        query, theirs = ask(learner, i), ask(twin, i)
        if not np.array_equal(query.point, theirs.point):
            fail(
                name(learner),
                f"told the loss {loss:g}, it asks about {query.point}",
                f"{theirs.point} as with the range {learner.units.loss_range} from the beginning",
            )
        if not np.array_equal(learner.center, twin.center):
            fail(
                name(learner),
                f"told the loss {loss:g}, its centre is {learner.center}",
                f"{twin.center} as with the range {learner.units.loss_range} from the beginning",
            )


def check_queries_stay_open_after_a_restart(make: LearnerFactory, seed: int) -> None:
    """A query of an earlier range stays open; its answer is a round, widens, and teaches nothing.

    A wrong answer is rejected as always, and changes nothing.
    """
    learner = without_range(make, seed)
    queries = [ask(learner) for _ in range(5)]
    for i, loss in enumerate((5.0, 9.0)):
        learner.tell(queries[i], shaped(learner, loss))
        if learner.open_queries != queries[i + 1 :]:
            expected_ids = [query.id for query in queries[i + 1 :]]
            ids = [query.id for query in learner.open_queries]
            fail(
                name(learner),
                f"told the loss {loss:g}, it has the queries {ids} open",
                f"{expected_ids}",
            )
    present = ask(learner)
    before = learner.state()
    for query in (queries[2], present):
        for wrong in (nan, inf, "5", None):
            try:
                learner.tell(query, shaped(learner, wrong))
            except LossError:
                continue
            fail(
                name(learner),
                f"accepted the loss {wrong!r} for query {query.id}",
                "a LossError",
            )
    if learner.state() != before:
        fail(name(learner), "a refused answer changed the state", "the same as before")
    learner.forget(present)
    for i, loss in ((2, 5.0), (4, -200.0)):
        numbers = learner.state()["numbers"]
        learner.tell(queries[i].id, shaped(learner, loss))
        if i == 2 and learner.state()["numbers"] != numbers:
            fail(
                name(learner),
                f"learnt from query {queries[i].id} of an earlier range",
                "nothing learnt",
            )
    open_ids = [query.id for query in learner.open_queries]
    if learner.rounds != 4 or learner.restarts != 2 or open_ids != [queries[3].id]:
        fail(
            name(learner),
            "after four late answers, two of them outside, it has "
            f"{learner.rounds} rounds, {learner.restarts} restarts and the queries {open_ids} open",
            f"4, 2 and {[queries[3].id]}",
        )
    learner.forget(queries[3])
    if learner.open_queries:
        ids = [query.id for query in learner.open_queries]
        fail(name(learner), f"has the queries {ids} open after forgetting all", "none")


def check_unknown_range_continues_exactly_when_restored(make: LearnerFactory, seed: int) -> None:
    """A state that went through JSON continues bit for bit, through restarts and late answers."""
    learner = without_range(make, seed)
    queries = [ask(learner) for _ in range(3)]
    with ignored(CertificateWarning):
        for loss in LOSSES[:4]:
            learner.tell(ask(learner), shaped(learner, loss))
        queries.append(ask(learner))
        state = json.loads(json.dumps(learner.state()))
        twin = learner.restore(learner.domain, state)
        same_state(learner, twin, "right after")
        for query, loss in zip(queries, (6.0, 60.0, 6.0, 6.0), strict=True):
            for each in (learner, twin):
                each.tell(query.id, shaped(each, loss))
            same_state(learner, twin, f"after an answer to query {query.id}")
        for loss in LOSSES[4:]:
            for each in (learner, twin):
                each.tell(ask(each), shaped(each, loss))
        same_state(learner, twin, "at the end")
    if (learner.rounds, learner.restarts) != (twin.rounds, twin.restarts):
        fail(
            name(learner),
            f"restored it counts {twin.rounds} rounds and {twin.restarts} restarts",
            f"{learner.rounds} and {learner.restarts}",
        )


def check_certificate_of_unknown_range_covers_every_range(make: LearnerFactory, seed: int) -> None:
    """The certificate is NaN before the first loss, while nothing is known of the losses.

    Later it is NaN for a learner that does not say what each range adds to it: a bound for the
    rounds of the current range is not a bound for the game.
    """
    learner = without_range(make, seed)
    if not isnan(learner.certificate):
        fail(
            name(learner),
            f"the certificate is {learner.certificate:g} before the first loss",
            "NaN",
        )
    for loss in LOSSES:
        learner.tell(ask(learner), shaped(learner, loss))
        if learner._certificate_part() is None and not isnan(learner.certificate):
            fail(
                name(learner),
                f"the certificate is {learner.certificate:g} after the loss {loss:g}",
                "NaN: no range says what it adds",
            )
