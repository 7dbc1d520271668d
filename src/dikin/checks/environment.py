"""Laws of an environment: its losses have the declared properties.

Points are boundary points and their mixtures, where losses are largest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from math import isfinite, isnan
from typing import Any, NamedTuple

import numpy as np

from dikin.checks.failure import at_most, require
from dikin.checks.sample_points import center_of, directions, exit_multiple
from dikin.domains.base import Array, Domain
from dikin.environments.base import Environment
from dikin.feedback import Feedback
from dikin.rng import Generator

Setup = Callable[[], Environment]
ROUNDS = (1, 2, 3, 17, 31, 64, 500)
"""Before and after the changes of every pattern among the examples."""
SLACK = 1e-9
"""Of an inequality, relative to the range of the losses: for rounding."""


def points(domain: Domain, rng: Generator, count: int = 12) -> list[Array]:
    """Flattened points of the boundary, and points between them."""
    at = center_of(domain)
    steps = [exit_multiple(domain, h, digits=1e-6) * h for h in directions(at, rng, count)]
    ends = [domain.point(0.999999 * step).ravel() for step in steps]
    mixed = [a + rng.random() * (b - a) for a, b in pairwise(ends)]
    return [*ends, *mixed]


def rounds(
    environment: Environment, rng: Generator
) -> Iterator[tuple[int, Callable[[Array], float]]]:
    """Losses of several rounds as functions of a point, with chances from the whole interval."""
    for t in ROUNDS:
        for chance in (*np.linspace(0.05, 0.95, 7).tolist(), rng.random()):
            yield t, partial(environment.kernel.value, t, chance)


class Chord(NamedTuple):
    """Two points, with the loss of a round at both and in the middle."""

    round: int
    length: float
    ends: tuple[float, float]
    middle: float

    @property
    def drop(self) -> float:
        """Return the height of the middle of the chord above the loss."""
        return sum(self.ends) / 2 - self.middle


def chords(environment: Environment, rng: Generator) -> Iterator[Chord]:
    """Chords of the losses of several rounds."""
    candidates = points(environment.domain, rng)
    lengths = [float(np.linalg.norm(x - y)) for x, y in pairwise(candidates)]
    middles = [(x + y) / 2 for x, y in pairwise(candidates)]
    for t, f in rounds(environment, rng):
        ends = pairwise([f(x) for x in candidates])
        for length, both, middle in zip(lengths, ends, middles, strict=True):
            yield Chord(t, length, both, f(middle))


def check_losses_are_as_strongly_convex_as_told(setup: Setup, rng: Generator) -> None:
    """f((x+y)/2) <= (f(x)+f(y))/2 - sigma/8 |x-y|^2."""
    environment = setup()
    for chord in chords(environment, rng):
        owed = environment.curvature(chord.round) / 8 * chord.length**2
        limit = chord.drop + _slack(environment)
        at_most(environment, "the drop by its curvature", owed, limit, round=chord.round)


def check_losses_are_as_smooth_as_declared(setup: Setup, rng: Generator) -> None:
    """f((x+y)/2) >= (f(x)+f(y))/2 - beta/8 |x-y|^2."""
    environment = setup()
    if not isfinite(environment.smoothness):
        return  # a kink, or nothing declared
    for chord in chords(environment, rng):
        limit = environment.smoothness / 8 * chord.length**2 + _slack(environment)
        at_most(environment, "the drop below a chord", chord.drop, limit, round=chord.round)


def check_losses_are_as_steep_as_declared(setup: Setup, rng: Generator) -> None:
    """|f(x) - f(y)| <= L |x-y|."""
    environment = setup()
    if isnan(environment.lipschitz):
        return  # nothing declared
    for chord in chords(environment, rng):
        limit = environment.lipschitz * chord.length + _slack(environment)
        change = abs(chord.ends[0] - chord.ends[1])
        at_most(environment, "the change of the loss", change, limit, round=chord.round)


def check_losses_keep_the_declared_range(setup: Setup, rng: Generator) -> None:
    """Every loss is between lo and hi on the whole domain."""
    environment, (low, high) = setup(), setup().loss_range
    candidates = [*points(environment.domain, rng), np.array(environment.best()[0]).ravel()]
    for t, f in rounds(environment, rng):
        for x in candidates:
            at_most(environment, "a loss", f(x), high + _slack(environment), round=t, at=x)
            at_most(environment, "minus a loss", -f(x), -low + _slack(environment), round=t, at=x)


def check_losses_do_not_depend_on_play(setup: Setup, rng: Generator) -> None:
    """Two plays that differ in every round but the last meet the same loss there."""
    one, two = setup(), setup()
    candidates = [shaped(one, x) for x in points(one.domain, rng)]
    for x, y in pairwise(candidates):
        one.answer(x)
        two.answer(y)
    first, second = one.answer(candidates[0]), two.answer(candidates[0])
    require(first == second, one, "the loss after another play", second, first)


def check_best_is_no_worse_than_any_point(setup: Setup, rng: Generator) -> None:
    """The best fixed point's total is the sum of its losses, and no point has a smaller one."""
    environment = setup()
    candidates = points(environment.domain, rng)
    rounds, losses = [], []
    for t in range(1, 201):
        rounds.append((t, next_chance(environment)))
        losses.append(environment.answer(shaped(environment, candidates[t % len(candidates)]))[0])
    point, total = environment.best()
    best, margin = np.array(point).ravel(), environment.domain.margin(np.asarray(point))
    require(margin >= 0, environment, "the margin of the best point", margin, "at least 0")

    def suffered(x: Array) -> float:
        return sum(float(environment.kernel.value(t, chance, x)) for t, chance in rounds)

    size = _slack(environment) * len(rounds)
    at_most(environment, "the error of the best total", abs(suffered(best) - total), size)
    off = abs(environment.total_loss - sum(losses))
    at_most(environment, "the error of the total loss", off, size)
    near = [best + 0.01 * (x - best) for x in candidates]
    for x in (*candidates, *near):
        at_most(environment, "the best total", total, suffered(x) + size, other=x)


def shaped(environment: Environment, x: Array) -> Array:
    """A flattened point in its own shape."""
    return x.reshape(environment.domain.point_shape)


def _slack(environment: Environment) -> float:
    return SLACK * (environment.loss_range[1] - environment.loss_range[0])


def next_chance(environment: Environment) -> float:
    """The chance of the next round, without using it up."""
    state = environment.chances.bit_generator.state
    chance = environment.chances.random()
    environment.chances.bit_generator.state = state
    return float(chance)


def check_gradients_support_the_losses(setup: Setup, rng: Generator) -> None:
    """f(y) >= f(x) + g(x).(y - x) + sigma/2 |y - x|^2, where gradients are offered."""
    environment = setup()
    if Feedback.GRADIENT not in environment.offers:
        return
    kernel: Any = environment.kernel
    candidates = points(environment.domain, rng)
    for t in ROUNDS:
        for chance in (0.05, 0.3, 0.6, 0.95):
            for x, y in pairwise(candidates):
                step, limit = y - x, kernel.value(t, chance, y) + _slack(environment)
                tangent = kernel.value(t, chance, x) + float(kernel.gradient(t, chance, x) @ step)
                owed = tangent + environment.curvature(t) / 2 * float(step @ step)
                at_most(environment, "the tangent there", owed, limit, round=t, at=y)


def check_losses_depend_on_the_context_alone(setup: Setup, rng: Generator) -> None:
    """f_t(x) = f_t(x + h) for every h with z_t.h = 0, where contexts are offered."""
    environment = setup()
    if Feedback.CONTEXT not in environment.offers:
        return
    kernel: Any = environment.kernel
    domain = environment.domain
    for t, f in rounds(environment, rng):
        z = domain.inward(shaped(environment, kernel.context(t)))
        for x in points(domain, rng, 3):
            h = rng.standard_normal(domain.dim)
            h -= z * float(z @ h) / float(z @ z)
            h *= domain.inradius / 2 / max(float(np.linalg.norm(h)), 1.0)
            middle = (domain.center.ravel() + x) / 2  # a ball of half the inradius fits around it
            change = abs(f(middle + domain.outward(h).ravel()) - f(middle))
            at_most(environment, "the change where z.x has none", change, _slack(environment))
