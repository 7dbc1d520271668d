"""The centres of `Predictive`: follow the regularised leader, one for each feature of a context.

Without contexts there is one centre. With them a centre that all contexts share learns from every
round, and each feature has one that learns from its own rounds, begins at the common one and is
held there as far as its models do not differ from the others' by more than chance. So contexts that
hardly differ need no more rounds than one. The certificate holds for any point that is known before
the direction is drawn: how it came about is a matter of regret alone (docs/mathematics.md, 13.2 and
13.7).
"""

from __future__ import annotations

from math import sqrt
from typing import Any

from dikin.domains.base import Array
from dikin.kernel import compilable
from dikin.learners import predictive_adaptation as adaptation
from dikin.learners import predictive_schedule as schedule
from dikin.learners.kernel_learner import LearnerState
from dikin.learners.predictive_adaptation import COMMON_TRACK, OWN_TRACK
from dikin.learners.predictive_levels import TINY
from dikin.learners.predictive_state import Centres, Plan
from dikin.vectors import add_combination, add_scaled, combine, dot, multiply

FIRST = 2.0
"""Rounds of a feature, in the mean of all, before there is evidence."""
TOGETHER, ALONE = 1.0, 3.0
"""Evidence that is no more than chance, in standard deviations: of all features together, and of
one of several, which may be the most deviant of many."""
POWER = 3.0
"""How fast the share of a feature's own models rises with its evidence. By the theory of shrinkage
it would be 1, for models whose curvature is known; half of the measured one is believed, and what
is not moved at once goes on to cost."""
EXPLORED = 0.5
"""The share of the radius of exploration that is a feature's own: the radius of the common centre,
which has seen more, is smaller."""


@compilable
def cell(geometry: Any, i: int) -> slice:
    """Where the iterate of a centre is in `state.centres`; of one alone, in `state.iterate`."""
    return slice(i * geometry.iterate_size, (i + 1) * geometry.iterate_size)


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
    weight, linear = 1.0 / centres.rate[0], state.linear[:size]
    if plan.slope.size > 0:
        multiply(-weight, plan.slope, linear)
    iterates = state.centres if plan.cells > 1 else state.iterate
    for i in range(plan.cells):
        iterate = iterates[cell(geometry, i)]
        geometry.solve(linear, centres.curvature[0], weight, iterate)
        if i > 0:
            common = state.tracks[adaptation.track(geometry, i, COMMON_TRACK)]
            geometry.write_vector(iterate, 1.0, common)
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
    least: float,
    price: tuple[float, bool],
    trace: float,
) -> None:
    """What an answer adds to every centre that has a share in its context.

    The scratch begins with the estimate for a surprise of 1, of which `learnt` counts, and the
    point around which it was explored. `least` is the least curvature that it shows to the common
    centre, and `price` that of exploring.
    """
    size, centres = geometry.size, state.numbers.centres
    gradient, point = state.scratch[:size], state.scratch[size : 2 * size]
    cost, smooth = price
    for i in range(plan.cells):
        share = features[i]
        if share > 0.0:
            curved = sigma
            if plan.adaptive:
                believed = adaptation.believed_curvature(geometry, plan, state, i, learnt, share)
                curved += max(believed, least) if i == 0 else believed
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
        centres.count[i] *= keep * keep
        centres.squares[i] *= keep * keep


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
    iterates = state.centres if plan.cells > 1 else state.iterate
    iterate = iterates[cell(geometry, 0)]
    if plan.adaptive:
        adaptation.move_centre(geometry, plan, state, iterate, stiff, clipped)
    else:
        move_centre(geometry, plan, state, iterate, stiff, clipped)
    if plan.cells > 1:
        for c in range(1, plan.cells):
            if features[c] > 0.0:
                move_feature(geometry, plan, state, c, features[c], stiff, clipped)
        average_features(plan, state)
    combine_centres(geometry, plan, state)


@compilable
def move_centre(
    geometry: Any, plan: Plan, state: LearnerState, iterate: Array, stiff: float, clipped: bool
) -> None:
    """The next rate and the next iterate of the first centre, as the theorem on rates has them."""
    centres, levels, keep = state.numbers.centres, state.numbers.levels, plan.keep
    before = centres.rate[0]
    if schedule.rate_is_due(clipped, centres.rounds[0], 1.0):
        span = min(centres.rounds[0] + 1.0, plan.memory)
        wanted = schedule.balanced_rate(
            plan, levels, state.numbers.shares, centres.curvature[0], span, stiff
        )
        centres.rate[0] = schedule.next_rate(plan, levels, wanted, before)
    after = centres.rate[0]
    solve_centre(geometry, plan, state, iterate, keep / before - 1.0 / after)
    if after != before:
        barrier = start_barrier(geometry, plan, iterate)
        if not schedule.pay_for_rate(plan, centres, 0, keep, before, barrier):
            centres.rate[0] = before
            solve_centre(geometry, plan, state, iterate, 1.0 / after - 1.0 / before)


@compilable
def solve_centre(
    geometry: Any, plan: Plan, state: LearnerState, iterate: Array, more: float
) -> None:
    """The iterate of the first centre, where psi'(u_0) counts so much more than before."""
    linear, centres = state.linear[: geometry.size], state.numbers.centres
    if plan.slope.size > 0:
        add_scaled(more, plan.slope, linear)
    geometry.solve(linear, centres.curvature[0], 1.0 / centres.rate[0], iterate)


# --- contexts ------------------------------------------------------------------------------------


@compilable
def compare_features(
    geometry: Any, plan: Plan, state: LearnerState, features: list[float], learnt: float
) -> None:
    """How far the models of features differ from each other, in units of their noise.

    Compared are the slopes of all that was learnt in a feature, at the common centre. Where
    features do not differ their squares are, in the mean, the sum of the squares of the estimates:
    an analysis of variance. The scratch begins with the estimate for a surprise of 1, of which
    `learnt` counts; it is written.
    """
    if plan.cells == 1:
        return
    size, centres = geometry.size, state.numbers.centres
    gradient, common = state.scratch[:size], state.scratch[2 * size : 3 * size]
    total = state.tracks[adaptation.track(geometry, 0, OWN_TRACK)]
    geometry.write_vector(state.centres[cell(geometry, 0)], 1.0, common)
    into_plane(plan, gradient)
    square = learnt * learnt * dot(gradient, gradient)
    for c in range(1, plan.cells):
        share = features[c]
        if share > 0.0:
            own = state.tracks[adaptation.track(geometry, c, OWN_TRACK)]
            add_scaled(-1.0, own, total)
            linear = state.linear[c * size : (c + 1) * size]
            combine(1.0, linear, centres.curvature[c] - centres.lam[c], common, own)
            into_plane(plan, own)
            add_scaled(1.0, own, total)
            centres.count[c] += share
            centres.squares[c] += share * share * square
            centres.slope_square[c] = dot(own, own)
    weigh_evidence(geometry, plan, state, features, total)


@compilable
def into_plane(plan: Plan, slope: Array) -> None:
    """Leave out of a slope what no point of the set can feel, as a simplex' total."""
    for k in range(plan.normals.size // slope.size):
        normal = plan.normals[k * slope.size : (k + 1) * slope.size]
        add_scaled(-dot(normal, slope), normal, slope)


@compilable
def weigh_evidence(
    geometry: Any, plan: Plan, state: LearnerState, features: list[float], total: Array
) -> None:
    """The evidence of all features together, and of those of the last answer alone."""
    centres = state.numbers.centres
    count = squares = between = groups = 0.0
    for c in range(1, plan.cells):
        if centres.count[c] > 0.0:
            count += centres.count[c]
            squares += centres.squares[c]
            between += centres.slope_square[c] / centres.count[c]
            groups += 1.0
    if groups < 2.0 or not squares > 0.0 or count < FIRST * groups:
        return
    common = dot(total, total)
    chance = 1.0 + TOGETHER * sqrt(2.0 / (plan.dim * (groups - 1.0)))
    within = (groups - 1.0) * squares / count
    centres.evidence[0] = (between - common / count) / (chance * within)
    chance = 1.0 + ALONE * sqrt(2.0 / plan.dim)
    for c in range(1, plan.cells):
        if features[c] > 0.0 and centres.count[c] >= FIRST:
            part = centres.count[c] / count
            away = centres.slope_square[c] + part * part * common
            away -= 2.0 * part * dot(state.tracks[adaptation.track(geometry, c, OWN_TRACK)], total)
            centres.evidence[c] = away / (chance * max(centres.squares[c], part * squares))


@compilable
def own_share(centres: Centres, c: int) -> float:
    """How far the centre of a feature is free to leave the common one: from 0 to 1."""
    evidence = max(centres.evidence[c], centres.evidence[0])
    return 1.0 - 1.0 / evidence**POWER if evidence > 1.0 else 0.0


@compilable
def solve_feature(geometry: Any, plan: Plan, state: LearnerState, c: int) -> None:
    """The iterate of a feature's centre: where its models are least, held by the common one.

    argmin  eta_c [m L_c(u) + (1 - m) S_c/2 |u - w|^2] + psi(u) - psi'(w).u, for the common centre w
    and m = own_share. As w is itself a minimum, psi'(w) is known from its models.
    """
    size, centres = geometry.size, state.numbers.centres
    free, rate = own_share(centres, c), centres.rate[c]
    linear, iterate = state.scratch[2 * size : 3 * size], state.centres[cell(geometry, c)]
    held = (1.0 - free) * rate * centres.curvature[c]
    factor = centres.rate[0] * centres.curvature[0] - held
    geometry.write_vector(state.centres[cell(geometry, 0)], factor, linear)
    add_scaled(centres.rate[0], state.linear[:size], linear)
    add_scaled(free * rate, state.linear[c * size : (c + 1) * size], linear)
    geometry.solve(linear, rate * centres.curvature[c], 1.0, iterate)


@compilable
def move_feature(
    geometry: Any,
    plan: Plan,
    state: LearnerState,
    c: int,
    share: float,
    stiff: float,
    clipped: bool,
) -> None:
    """The next rate and the next iterate of a feature's centre, and what its step says.

    Its step is how much farther it has moved than the common centre, since its last answer.
    """
    size = geometry.size
    iterate, common = (
        state.centres[cell(geometry, c)],
        state.tracks[adaptation.track(geometry, c, COMMON_TRACK)],
    )
    step, now = state.scratch[3 * size : 4 * size], state.scratch[2 * size : 3 * size]
    geometry.write_vector(iterate, 1.0, step)
    add_scaled(-1.0, common, step)
    adaptation.choose_rate(plan, state, c, share, stiff, clipped)
    solve_feature(geometry, plan, state, c)
    geometry.write_vector(state.centres[cell(geometry, 0)], 1.0, common)
    geometry.write_vector(iterate, 1.0, now)
    if plan.adaptive:
        combine(1.0, now, -1.0, step, step)
        add_scaled(-1.0, common, step)
        adaptation.test_memory(geometry, plan, state, c, now, step, stiff)


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
def solve_features(geometry: Any, plan: Plan, state: LearnerState) -> None:
    """The iterates that the context of the state needs, from the common centre as it is now."""
    for c in range(1, plan.cells):
        if state.numbers.features[c] > 0.0:
            solve_feature(geometry, plan, state, c)


@compilable
def combine_centres(geometry: Any, plan: Plan, state: LearnerState) -> None:
    """The centre for the features of the state, and the shift of its ellipsoid."""
    n, centres = state.numbers, state.numbers.centres
    common = centres.rate[0] * centres.curvature[0]
    n.shift = common
    if plan.cells == 1:
        return
    size = geometry.size
    mean, part = state.scratch[:size], state.scratch[size : 2 * size]
    geometry.write_vector(state.centres[cell(geometry, 0)], share_of_none(plan, n.features), mean)
    wide = 0.0  # the mean of the squares of how far out each centre explores
    for c in range(1, plan.cells):
        share = n.features[c]
        if share > 0.0:
            geometry.write_vector(state.centres[cell(geometry, c)], share, part)
            add_scaled(1.0, part, mean)
            own = EXPLORED * own_share(centres, c) * share
            wide += own * (
                1.0 / (TINY + centres.rate[c] * centres.curvature[c]) - 1.0 / (TINY + common)
            )
    n.shift = 1.0 / (wide + 1.0 / (TINY + common))
    geometry.place(mean, state.iterate)


@compilable
def share_of_none(plan: Plan, features: list[float]) -> float:
    """How much of a context is in no feature: all of it before the first was asked for."""
    rest = 1.0
    for c in range(1, plan.cells):
        rest -= features[c]
    return rest if rest > 0.5 else 0.0
