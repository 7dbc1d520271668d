"""The laws of a learner whose range of losses is not known: `loss_range=None`."""

import json
from math import inf, isnan, log2, nan

import numpy as np

from dikin.checks import LearnerFactory
from dikin.checks.failure import at_most, require
from dikin.checks.learner import ask, name, refused, same_state, shaped
from dikin.errors import LossError, LossRangeError
from dikin.learners.base import Learner
from dikin.silence import silence

LOSSES = [5.0, 5.01, 4.9, 4.93, 7.0, 6.0, -40.0, 30.0]
"""Narrow at first, around a middle that is not zero; every so often one that is far outside."""


def without_range(make: LearnerFactory, seed: int) -> Learner:
    """A learner like the one that `make` builds, without its range."""
    learner = make(seed)
    return type(learner)(learner.domain, **learner.arguments() | {"loss_range": None}, seed=seed)


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
            require(False, name(learner), f"the loss {loss:g}", "refused", "a wider range")
        losses.append(loss)
        least, most = found = learner.units.loss_range
        slack = 1e-9 * (most - least)  # as much as `tell` takes for rounding
        inside = least - slack <= min(losses) <= max(losses) <= most + slack
        require(inside, name(learner), "the range", found, f"one around {losses}")
        counted = learner.rounds == len(losses)
        require(counted, name(learner), "the number of rounds", learner.rounds, len(losses))
        outside = len(losses) > 1 and not low - slack <= loss <= high + slack
        counted = learner.restarts == restarts + outside
        require(counted, name(learner), "restarts", learner.restarts, restarts + outside)
        doublings = log2((most - least) / (high - low))
        double = len(losses) == 1 or abs(doublings - max(outside, round(doublings))) <= 1e-6
        wanted = f"a power of two and at least {1 + outside}"
        require(double, name(learner), "the growth of the range", 2**doublings, wanted)
        spread = max(4.001 * (max(losses) - min(losses)), first)
        at_most(name(learner), "the width of the range", most - least, spread)


def check_restarted_learner_is_that_of_the_wider_range(make: LearnerFactory, seed: int) -> None:
    """Between restarts it plays as if its range had been declared at its first round."""
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
            twin = type(learner)(learner.domain, **arguments, seed=stream)
        query, theirs = ask(learner, i), ask(twin, i)
        wanted = f"as with {learner.units.loss_range} from the beginning"
        for own, other in ((query.point, theirs.point), (learner.center, twin.center)):
            require(np.array_equal(own, other), name(learner), "a point", own, f"{other} {wanted}")


def check_queries_stay_open_after_a_restart(make: LearnerFactory, seed: int) -> None:
    """A query of an earlier range stays open. Its answer is a round and teaches nothing."""
    learner = without_range(make, seed)
    queries = [ask(learner) for _ in range(5)]
    for i, loss in enumerate((5.0, 9.0)):
        learner.tell(queries[i], shaped(learner, loss))
        same = learner.open_queries == queries[i + 1 :]
        require(same, name(learner), "open", learner.open_queries, queries[i + 1 :])
    present = ask(learner)
    before = learner.state()
    for query in (queries[2], present):
        for wrong in (nan, inf, "5", None):
            refused(learner, LossError, learner.tell, query, shaped(learner, wrong))
    same = learner.state() == before
    require(same, name(learner), "the state after refusals", learner.state(), before)
    learner.forget(present)
    for i, loss in ((2, 5.0), (4, -200.0)):
        numbers = learner.state()["numbers"]
        learner.tell(queries[i].id, shaped(learner, loss))
        taught = i == 2 and learner.state()["numbers"] != numbers
        require(not taught, name(learner), "an answer of an earlier range", "learnt", "nothing")
    found = (learner.rounds, learner.restarts, [query.id for query in learner.open_queries])
    wanted = (4, 2, [queries[3].id])
    require(found == wanted, name(learner), "(rounds, restarts, open)", found, wanted)
    learner.forget(queries[3])
    require(not learner.open_queries, name(learner), "open", learner.open_queries, "nothing")


def check_unknown_range_continues_exactly_when_restored(make: LearnerFactory, seed: int) -> None:
    """A state that went through JSON continues bit for bit, through restarts and late answers."""
    learner = without_range(make, seed)
    queries = [ask(learner) for _ in range(3)]
    with silence():
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
    ours, theirs = (learner.rounds, learner.restarts), (twin.rounds, twin.restarts)
    require(ours == theirs, name(learner), "restored (rounds, restarts)", theirs, ours)


def check_certificate_of_unknown_range_covers_every_range(make: LearnerFactory, seed: int) -> None:
    """The certificate is NaN before the first loss, while nothing is known of the losses.

    Later it is NaN for a learner that does not say what each range adds to it: a bound for the
    rounds of the current range is not a bound for the game.
    """
    learner = without_range(make, seed)
    found = learner.certificate
    require(isnan(found), name(learner), "the certificate before the first loss", found, "NaN")
    for loss in LOSSES:
        learner.tell(ask(learner), shaped(learner, loss))
        found = learner.certificate
        says = learner._certificate_part() is not None
        require(says or isnan(found), name(learner), "the certificate of no range", found, "NaN")
