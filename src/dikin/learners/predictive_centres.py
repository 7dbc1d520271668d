"""The centres of `Predictive`: follow the regularised leader, one for each feature of a context.

Without contexts there is one centre. With them a centre that all contexts share learns from every
round, and each feature has one that learns from its own: what is played is their mean, so that
contexts that hardly differ need no more rounds than one. The certificate holds for any point that
is known before the direction is drawn: how it came about is a matter of regret alone
(docs/mathematics.md, 13.2 and 13.7).
"""

from __future__ import annotations

from typing import Any

from dikin.domains.base import Array
from dikin.kernel import compilable
from dikin.learners import predictive_adaptation as adaptation
from dikin.learners import predictive_schedule as schedule
from dikin.learners.kernel_learner import LearnerState
from dikin.learners.predictive_adaptation import OWN_TRACK
from dikin.learners.predictive_levels import TINY
from dikin.learners.predictive_state import Centres, Plan
from dikin.vectors import add_combination, add_scaled, clear, combine, dot, multiply

OWN_WINDOW = 64.0
"""Rounds of a feature over which its estimates are compared with those of all."""
FIRST = 4.0
"""Rounds of a feature before there is evidence."""
CHANCE = 1.5
"""Evidence that is no more than chance: 1 in the mean, and a little more at the most so far."""
COMMON = 2.0
"""Evidence beyond chance with which the centre of a feature counts as much as the common one."""


@compilable
def iterate_of(geometry: Any, state: LearnerState, i: int) -> Array:
    """The iterate of a centre: that of the state itself, where there is one alone."""
    if state.centres.size == 0:
        return state.iterate
    size = geometry.iterate_size
    return state.centres[i * size : (i + 1) * size]


@compilable
def start_barrier(geometry: Any, plan: Plan, iterate: Array) -> float:
    """psi_0 at a centre."""
    barrier: float = geometry.barrier(iterate)
    if plan.slope.size > 0:
        barrier += plan.lift - geometry.product(iterate, plan.slope)
    return barrier


@compilable
def begin_at_start(geometry: Any, plan: Plan, state: LearnerState) -> None:
    """All centres at the start, with the rate that has just been chosen."""
    centres, size = state.numbers.centres, geometry.size
    for i in range(plan.cells):
        weight = 1.0 / centres.rate[i]
        linear = state.linear[i * size : (i + 1) * size]
        if plan.slope.size > 0:
            multiply(-weight, plan.slope, linear)
        geometry.solve(linear, centres.curvature[i], weight, iterate_of(geometry, state, i))
    combine_centres(geometry, plan, state)


# --- learning ------------------------------------------------------------------------------------


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
    for i in range(plan.cells):
        share = features[i]
        if share > 0.0:
            curved = sigma
            if plan.adaptive:
                curved += adaptation.believed_curvature(geometry, plan, state, i, learnt, share)
            linear = state.linear[i * size : (i + 1) * size]
            fade(centres, i, kept_share(plan, share), linear)
            add_combination(share * learnt, gradient, -share * curved, point, linear)
            lam = schedule.regularisation(
                plan, centres.curvature[i], centres.rate[i], cost, smooth, trace, curved
            )
            centres.curvature[i] += share * (curved + lam)
            centres.lam[i] += share * lam
            centres.exploring[i] += share * cost
            centres.rounds[i] += share


@compilable
def kept_share(plan: Plan, share: float) -> float:
    """What a round of that share in a context leaves of the terms before it."""
    return plan.keep if share == 1.0 else plan.keep**share


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
    for i in range(plan.cells):
        if features[i] > 0.0:
            if plan.adaptive:
                iterate = iterate_of(geometry, state, i)
                adaptation.move_centre(
                    geometry, plan, state, i, iterate, features[i], stiff, clipped
                )
            else:
                move_centre(geometry, plan, state, i, features[i], stiff, clipped)
    average_features(plan, state)
    combine_centres(geometry, plan, state)


@compilable
def move_centre(
    geometry: Any,
    plan: Plan,
    state: LearnerState,
    i: int,
    share: float,
    stiff: float,
    clipped: bool,
) -> None:
    """The next rate and the next iterate of a centre, as the theorem on rates has them."""
    centres, levels = state.numbers.centres, state.numbers.levels
    before, keep = centres.rate[i], kept_share(plan, share)
    iterate = iterate_of(geometry, state, i)
    if schedule.rate_is_due(clipped, centres.rounds[i], share):
        span = min(centres.rounds[i] + 1.0, plan.memory)
        wanted = schedule.balanced_rate(
            plan, levels, state.numbers.shares, centres.curvature[i], span, stiff
        )
        centres.rate[i] = schedule.next_rate(plan, levels, wanted, before)
    after = centres.rate[i]
    solve_centre(geometry, plan, state, i, iterate, keep / before - 1.0 / after)
    if after != before:
        barrier = start_barrier(geometry, plan, iterate)
        if not schedule.pay_for_rate(plan, centres, i, keep, before, barrier):
            centres.rate[i] = before
            solve_centre(geometry, plan, state, i, iterate, 1.0 / after - 1.0 / before)


@compilable
def solve_centre(
    geometry: Any, plan: Plan, state: LearnerState, i: int, iterate: Array, more: float
) -> None:
    """The iterate of a centre, where psi'(u_0) counts so much more than before."""
    size, centres = geometry.size, state.numbers.centres
    linear = state.linear[i * size : (i + 1) * size]
    if plan.slope.size > 0:
        add_scaled(more, plan.slope, linear)
    geometry.solve(linear, centres.curvature[i], 1.0 / centres.rate[i], iterate)


# --- the mean of the centres ---------------------------------------------------------------------


@compilable
def compare_features(
    geometry: Any,
    plan: Plan,
    state: LearnerState,
    features: list[float],
    s: Array,
    size: float,
) -> None:
    """How far the estimates in a context differ from those of all, in units of their noise.

    `s` is the direction that was played and `size` the surprise, both in units of which the product
    has as many independent entries of mean square 1 as there are dimensions. A mean over some
    rounds of a feature then has the square d by chance.
    """
    if plan.cells == 1:
        return
    centres, common = state.numbers.centres, adaptation.track(geometry, state, 0, OWN_TRACK)
    for c in range(1, plan.cells):
        share = features[c]
        if share > 0.0:
            own = adaptation.track(geometry, state, c, OWN_TRACK)
            count = min(centres.rounds[c] + share, OWN_WINDOW)
            step = share / count
            combine(1.0 - step, own, step * size, s, own)
            add_scaled(-step, common, own)
            if count >= FIRST:
                evidence = count * dot(own, own) / plan.dim
                centres.evidence[c] = max(centres.evidence[c], evidence)
    step = 1.0 / min(centres.rounds[0] + 1.0, OWN_WINDOW)
    combine(1.0 - step, common, step * size, s, common)


@compilable
def own_share(centres: Centres, c: int) -> float:
    """How much the centre of a feature counts beside the common one."""
    beyond = max(centres.evidence[c] - CHANCE, 0.0)
    return beyond / (COMMON + beyond)


@compilable
def share_of(plan: Plan, centres: Centres, features: list[float], i: int) -> float:
    """How much a centre counts in what is played in a context."""
    if plan.cells == 1:
        return 1.0
    if i > 0:
        return own_share(centres, i) * features[i]
    own = 0.0
    for c in range(1, plan.cells):
        own += own_share(centres, c) * features[c]
    return 1.0 - own


@compilable
def average_features(plan: Plan, state: LearnerState) -> None:
    """The mean of the contexts so far: what is played where none is given."""
    n = state.numbers
    total = 0.0
    for c in range(1, plan.cells):
        total += n.centres.rounds[c]
    for c in range(1, plan.cells):
        n.features[c] = n.centres.rounds[c] / total


@compilable
def combine_centres(geometry: Any, plan: Plan, state: LearnerState) -> None:
    """The centre for the features of the state, and the shift of its ellipsoid."""
    n, centres = state.numbers, state.numbers.centres
    if plan.cells == 1:
        n.shift = centres.rate[0] * centres.curvature[0]
        return
    size = geometry.size
    mean, part = state.scratch[:size], state.scratch[size : 2 * size]
    clear(mean)
    wide = 0.0  # the mean of the squares of how far out each centre explores
    for i in range(plan.cells):
        share = share_of(plan, centres, n.features, i)
        if share > 0.0:
            geometry.write_vector(iterate_of(geometry, state, i), share, part)
            add_scaled(1.0, part, mean)
            wide += share / (TINY + centres.rate[i] * centres.curvature[i])
    n.shift = 1.0 / wide
    geometry.place(mean, state.iterate)
