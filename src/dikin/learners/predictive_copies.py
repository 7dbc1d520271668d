"""The copies of the update in `Predictive`, and the centre that they agree on.

A copy is a run of follow-the-regularised-leader on the same estimates, with a memory of its own and
a curvature that it believes in; in a context it has a centre for every feature and one that all
contexts share. What is played is their mean, by weights that follow how well each would have done.
The certificate holds for any centre that is known before the direction is drawn: how copies are
chosen and weighed is a matter of regret alone (docs/mathematics.md, 13.7).
"""

from __future__ import annotations

from math import exp, inf, log, sqrt
from typing import Any

from dikin.domains.base import Array
from dikin.kernel import compilable
from dikin.learners import predictive_schedule as schedule
from dikin.learners.kernel_learner import LearnerState
from dikin.learners.predictive_state import Centres, Copy, Numbers, Plan, smoothness_of
from dikin.vectors import add_combination, add_scaled, clear, multiply

AUTO_COPIES = (Copy(inf), Copy(4000.0), Copy(1000.0), Copy(250.0))
"""The copies of a learner whose memory chooses itself."""
SHARED = 0.5
"""The share of a centre that is common to all contexts."""


@compilable
def iterate_of(geometry: Any, state: LearnerState, i: int) -> Array:
    """The iterate of one of the centres: that of the state itself, where there is one alone."""
    if state.copies.size == 0:
        return state.iterate
    size = geometry.iterate_size
    return state.copies[i * size : (i + 1) * size]


@compilable
def start_barrier(geometry: Any, plan: Plan, iterate: Array) -> float:
    """psi_0 at a centre."""
    barrier: float = geometry.barrier(iterate)
    if plan.slope.size > 0:
        barrier += plan.lift - geometry.product(iterate, plan.slope)
    return barrier


@compilable
def begin_at_start(geometry: Any, plan: Plan, state: LearnerState) -> None:
    """All centres at the start, with the rates that have just been chosen."""
    centres, size = state.numbers.centres, geometry.size
    for i in range(len(centres.rate)):
        weight = 1.0 / centres.rate[i]
        linear = state.linear[i * size : (i + 1) * size]
        if plan.slope.size > 0:
            multiply(-weight, plan.slope, linear)
        geometry.solve(linear, centres.curvature[i], weight, iterate_of(geometry, state, i))
    combine_copies(geometry, plan, state)


@compilable
def add_to_centres(
    geometry: Any,
    plan: Plan,
    state: LearnerState,
    features: list[float],
    learnt: float,
    sigma: float,
    price: tuple[float, bool],
    trace: float,
) -> None:
    """What an answer adds to every centre that has a share in its context.

    The scratch begins with the estimate for a surprise of 1, of which `learnt` counts, and the
    point around which it was explored. `price` is that of exploring.
    """
    size, centres = geometry.size, state.numbers.centres
    gradient, point = state.scratch[:size], state.scratch[size : 2 * size]
    cost, smooth = price
    for k in range(len(plan.keeps)):
        curved = sigma + believed_curvature(plan, state.numbers, k)
        for c in range(plan.cells):
            share = features[c]
            if share > 0.0:
                i = k * plan.cells + c
                linear = state.linear[i * size : (i + 1) * size]
                fade(centres, i, kept_share(plan, k, share), linear)
                add_combination(share * learnt, gradient, -share * curved, point, linear)
                lam = schedule.regularisation(
                    plan, centres.curvature[i], centres.rate[i], cost, smooth, trace, curved
                )
                centres.curvature[i] += share * (curved + lam)
                centres.lam[i] += share * lam
                centres.exploring[i] += share * cost
                centres.rounds[i] += share


@compilable
def believed_curvature(plan: Plan, n: Numbers, k: int) -> float:
    """The curvature that a copy believes in."""
    return plan.beliefs[k] * smoothness_of(plan, n.levels) if plan.beliefs[k] > 0.0 else 0.0


@compilable
def kept_share(plan: Plan, k: int, share: float) -> float:
    """What a round of that share in a context leaves of the terms before it."""
    keep = plan.keeps[k]
    return keep if share == 1.0 else keep**share


@compilable
def fade(centres: Centres, i: int, keep: float, linear: Array) -> None:
    """What a memory leaves of a centre's sums."""
    if keep < 1.0:
        multiply(keep, linear, linear)
        centres.curvature[i] *= keep
        centres.lam[i] *= keep
        centres.exploring[i] *= keep
        centres.rate_changes[i] *= keep


@compilable
def move_centres(
    geometry: Any,
    plan: Plan,
    state: LearnerState,
    features: list[float],
    stiff: float,
    clipped: bool,
) -> None:
    """The next rate and the next iterate of every centre that has a share in the context."""
    for k in range(len(plan.keeps)):
        for c in range(plan.cells):
            if features[c] > 0.0:
                move_centre(geometry, plan, state, k, c, features[c], stiff, clipped)
    combine_copies(geometry, plan, state)


@compilable
def move_centre(
    geometry: Any,
    plan: Plan,
    state: LearnerState,
    k: int,
    c: int,
    share: float,
    stiff: float,
    clipped: bool,
) -> None:
    """The next rate and the next iterate of one centre."""
    i, keep = k * plan.cells + c, kept_share(plan, k, share)
    centres, levels = state.numbers.centres, state.numbers.levels
    before = centres.rate[i]
    if schedule.rate_is_due(clipped, centres.rounds[i], share):
        span = min(centres.rounds[i] + 1.0, plan.memories[k])
        wanted = schedule.balanced_rate(plan, levels, centres.curvature[i], span, stiff)
        centres.rate[i] = schedule.next_rate(plan, levels, wanted, before)
    after = centres.rate[i]
    solve_centre(geometry, plan, state, i, keep / before - 1.0 / after)
    if after != before:
        barrier = start_barrier(geometry, plan, iterate_of(geometry, state, i))
        if not schedule.pay_for_rate(plan, centres, i, keep, before, barrier):
            centres.rate[i] = before
            solve_centre(geometry, plan, state, i, 1.0 / after - 1.0 / before)


@compilable
def solve_centre(geometry: Any, plan: Plan, state: LearnerState, i: int, more_start: float) -> None:
    """The iterate of a centre, where psi'(u_0) counts so much more than before."""
    size, centres = geometry.size, state.numbers.centres
    linear = state.linear[i * size : (i + 1) * size]
    if plan.slope.size > 0:
        add_scaled(more_start, plan.slope, linear)
    geometry.solve(
        linear, centres.curvature[i], 1.0 / centres.rate[i], iterate_of(geometry, state, i)
    )


# --- the mean of the copies ----------------------------------------------------------------------


@compilable
def share_of(plan: Plan, features: list[float], k: int, c: int) -> float:
    """How much a cell weighs in the centre of a copy."""
    return plan.shared[k] if c == 0 else (1.0 - plan.shared[k]) * features[c]


@compilable
def combine_copies(geometry: Any, plan: Plan, state: LearnerState) -> None:
    """The centre for the features of the state, and the shift of its ellipsoid."""
    n, centres = state.numbers, state.numbers.centres
    if state.copies.size == 0:
        n.shift = centres.rate[0] * centres.curvature[0]
        return
    size = geometry.size
    mean, part = state.scratch[:size], state.scratch[size : 2 * size]
    clear(mean)
    n.shift = 0.0
    for k in range(len(plan.keeps)):
        for c in range(plan.cells):
            share = n.hedge.weight[k] * share_of(plan, n.features, k, c)
            if share > 0.0:
                i = k * plan.cells + c
                geometry.write_vector(iterate_of(geometry, state, i), share, part)
                add_scaled(1.0, part, mean)
                n.shift += share * centres.rate[i] * centres.curvature[i]
    geometry.place(mean, state.iterate)


@compilable
def weigh(
    geometry: Any, plan: Plan, state: LearnerState, features: list[float], learnt: float
) -> None:
    """The weights of the copies after an estimate, which the scratch begins with."""
    n, count = state.numbers, len(plan.keeps)
    if count == 1:
        return
    gradient = state.scratch[: geometry.size]
    mean = 0.0
    for k in range(count):
        n.hedge.product[k] = learnt * copy_product(geometry, plan, state, features, k, gradient)
        mean += n.hedge.weight[k] * n.hedge.product[k]
    spread = 0.0
    for k in range(count):
        off = n.hedge.product[k] - mean
        n.hedge.loss[k] += off
        spread += n.hedge.weight[k] * off * off
    n.hedge.spread[0] += spread
    if not n.hedge.spread[0] > 0.0:
        return
    rate = sqrt(log(count + 1.0) / n.hedge.spread[0])
    least = n.hedge.loss[0]
    for k in range(count):
        least = min(least, n.hedge.loss[k])
    total = 0.0
    for k in range(count):
        n.hedge.weight[k] = exp(-rate * (n.hedge.loss[k] - least))
        total += n.hedge.weight[k]
    for k in range(count):
        n.hedge.weight[k] = 0.99 * n.hedge.weight[k] / total + 0.01 / count


@compilable
def copy_product(
    geometry: Any, plan: Plan, state: LearnerState, features: list[float], k: int, vector: Array
) -> float:
    """The product of a vector with the centre of a copy."""
    total = 0.0
    for c in range(plan.cells):
        share = share_of(plan, features, k, c)
        if share > 0.0:
            total += share * geometry.product(
                iterate_of(geometry, state, k * plan.cells + c), vector
            )
    return total
