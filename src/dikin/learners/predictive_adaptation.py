"""A curvature that is measured, and a memory that ends when the minimum has moved.

With `memory="auto"` nothing is asked of the user: both come from what is seen.

*Curvature.* Where the losses stay, the estimates rise along the centres: E g_t = beta (y_t - u) for
a bowl. So their regression on each other, over some 2000 rounds, shows the curvature; and where
the minimum wanders it shows none. It counts as if it had been told, by half and as far as it is
larger than its standard error.

*Memory.* While nothing changes the centre moves to and fro by the noise of the estimates. When the
minimum has moved it keeps moving one way: averages of its steps over 64, 256 and 1024 rounds, in
units of that noise, then become too large for chance. With that alarm the centre stays where it
is, and what holds it there counts for less.

Neither is in the certificate, which holds for any centre (docs/mathematics.md, 13.2 and 13.7).
"""

from __future__ import annotations

from math import log, sqrt
from typing import Any

from dikin.domains.base import Array
from dikin.kernel import compilable
from dikin.learners import predictive_schedule as schedule
from dikin.learners.kernel_learner import LearnerState
from dikin.learners.predictive_levels import REACH
from dikin.learners.predictive_schedule import SPREAD
from dikin.learners.predictive_state import MEASURED, Plan, smoothness_of
from dikin.vectors import add_scaled, combine, dot, multiply

SEEN = 500.0
"""So many rounds more than those that the centre remembers are in the regression."""
BELIEVED = 0.5
"""The share of the measured curvature that is believed."""
MOST = 0.25
"""Of the smoothness: more is not believed. Many dimensions at once drift more than each of them."""
DOUBT = 3.0
"""Nothing is believed of a curvature below so many standard errors."""
SHORTEST, PATHS, LONGER = 64.0, 3, 4.0
"""Rounds of the first average, how many there are, and by how much each is longer than the last."""
CHANCE = 1.5
"""How large an average must be for an alarm: see `threshold`."""
LEFT = 3.0
"""After an alarm as many rounds are remembered as that average looks at, times this, but not less
than FORGET of what was."""
FORGET = 0.5
TRACKS = 4 + PATHS
"""Vectors that are kept for a centre: means of y and of g, the averages of its steps, and for a
feature of contexts the slope of its models at the common centre, and where that was."""
OWN_TRACK, COMMON_TRACK = 2 + PATHS, 3 + PATHS


@compilable
def track(geometry: Any, i: int, which: int) -> slice:
    """Where one of the vectors is in `state.tracks` that are kept for a centre."""
    place = (i * TRACKS + which) * geometry.size
    return slice(place, place + geometry.size)


@compilable
def believed_curvature(
    geometry: Any, plan: Plan, state: LearnerState, i: int, learnt: float, share: float
) -> float:
    """The curvature that the estimates show, this one included, as far as it is beyond doubt.

    The scratch begins with the estimate for a surprise of 1, of which `learnt` counts, and the
    point around which it was explored.
    """
    centres, size = state.numbers.centres, geometry.size
    gradient, point = state.scratch[:size], state.scratch[size : 2 * size]
    mean_y, mean_g = state.tracks[track(geometry, i, 0)], state.tracks[track(geometry, i, 1)]
    keep = 1.0 - share / (SEEN + centres.rounds[i])
    n = centres.seen[i] = keep * centres.seen[i] + share
    left = 1.0 - share / n
    # Deviations from the means, of which products are added: sums of g.y would cancel where centres
    # are near each other.
    combine(1.0, point, -1.0, mean_y, mean_y)
    combine(learnt, gradient, -1.0, mean_g, mean_g)
    off = left * learnt * dot(gradient, mean_y)
    rise = keep * centres.rise[i] + share * left * dot(mean_y, mean_g)
    spread = keep * centres.spread[i] + share * left * dot(mean_y, mean_y)
    combine(1.0, point, -left, mean_y, mean_y)
    combine(learnt, gradient, -left, mean_g, mean_g)
    noise = keep * centres.noise[i] + share * off * off
    centres.rise[i], centres.spread[i], centres.noise[i] = rise, spread, noise
    if i > 0:  # what features show of it together: each has its own minimum
        rise = spread = noise = 0.0
        for c in range(1, plan.cells):
            rise += centres.rise[c]
            spread += centres.spread[c]
            noise += centres.noise[c]
    if not (rise > 0.0 and spread > 0.0):
        return 0.0
    sure = 1.0 - DOUBT * DOUBT * noise / (rise * rise)
    most = MOST * smoothness_of(plan, state.numbers.levels)
    return min(BELIEVED * rise / spread * sure, most) if sure > 0.0 else 0.0


@compilable
def least_curvature(plan: Plan, state: LearnerState, stiff: float) -> float:
    """With so much more, the common centre would explore no farther out than sizes were measured.

    `stiff` is the curvature of the barrier. None where a user declared the curvature of the losses.
    """
    centres = state.numbers.centres
    if plan.smoothness >= 0.0:
        return 0.0
    wanted: float = (1.0 / (REACH * REACH) - 1.0) * stiff / centres.rate[0]
    return max(wanted - float(centres.curvature[0]), 0.0)


@compilable
def choose_rate(
    plan: Plan, state: LearnerState, i: int, share: float, stiff: float, clipped: bool
) -> None:
    """The next rate of a centre, if it is time to look at it."""
    centres, levels = state.numbers.centres, state.numbers.levels
    if schedule.rate_is_due(clipped, centres.rounds[i], share):
        span = min(centres.rounds[i] + MEASURED, plan.memory)
        wanted = schedule.balanced_rate(
            plan, levels, state.numbers.shares, centres.curvature[i], span, stiff
        )
        centres.rate[i] = schedule.next_rate(plan, levels, wanted, centres.rate[i])


@compilable
def move_centre(
    geometry: Any, plan: Plan, state: LearnerState, iterate: Array, stiff: float, clipped: bool
) -> None:
    """The next rate and the next iterate of the first centre, and what its step says."""
    centres, size = state.numbers.centres, geometry.size
    now, step = state.scratch[2 * size : 3 * size], state.scratch[3 * size : 4 * size]
    geometry.write_vector(iterate, 1.0, step)
    before = centres.rate[0]
    choose_rate(plan, state, 0, 1.0, stiff, clipped)
    linear = state.linear[:size]
    if plan.slope.size > 0:
        add_scaled(1.0 / before - 1.0 / centres.rate[0], plan.slope, linear)
    geometry.solve(linear, centres.curvature[0], 1.0 / centres.rate[0], iterate)
    geometry.write_vector(iterate, 1.0, now)
    combine(1.0, now, -1.0, step, step)
    test_memory(geometry, plan, state, 0, now, step, stiff)


@compilable
def test_memory(
    geometry: Any,
    plan: Plan,
    state: LearnerState,
    i: int,
    centre: Array,
    step: Array,
    stiff: float,
) -> None:
    """Forget some of what holds a centre where it is, if its steps are no chance; both written."""
    centres, levels, size = state.numbers.centres, state.numbers.levels, geometry.size
    noise = max(levels.mean_square, (levels.current / SPREAD) ** 2)
    held = stiff + centres.rate[i] * centres.curvature[i]
    multiply(sqrt(held / (plan.dim * noise)) / centres.rate[i], step, step)
    kept = remembered(geometry, plan, state, i, step)
    if kept < 1.0:
        linear = state.linear[i * size : (i + 1) * size]
        add_scaled((1.0 - kept) * centres.curvature[i], centre, linear)
        centres.curvature[i] *= kept
        centres.lam[i] *= kept
        centres.rounds[i] *= kept


@compilable
def remembered(geometry: Any, plan: Plan, state: LearnerState, i: int, step: Array) -> float:
    """The share of its rounds that a centre goes on to remember, after a step in units of noise."""
    rounds, least, window = state.numbers.centres.rounds[i], 1.0, SHORTEST
    for j in range(PATHS):
        path = state.tracks[track(geometry, i, 2 + j)]
        combine(1.0 - 1.0 / window, path, sqrt((2.0 - 1.0 / window) / window), step, path)
        if least * rounds > LEFT * window and dot(path, path) > plan.dim * threshold(
            plan, rounds / window
        ):
            least = min(least, max(FORGET, LEFT * window / rounds))
        window *= LONGER
    return least


@compilable
def threshold(plan: Plan, looks: float) -> float:
    """Above this the square of an average, by its mean, is no chance.

    A sum of d squares of standard normal numbers exceeds d + 2 sqrt(d x) + 2 x with a probability
    of e^-x at most (Laurent and Massart 2000), and in `looks` windows it has as many occasions.
    """
    x = CHANCE + log(max(looks, 1.0))
    return 1.0 + 2.0 * sqrt(x / plan.dim) + 2.0 * x / plan.dim
