"""The laws of an environment: what it declares about its losses is true of them.

Every `check_*` takes a way to set the game up anew and a generator, and raises `CheckFailedError`
with the number that broke the law. Points are boundary points and their mixtures, where losses are
largest; a loss of a round is read off the environment's kernel at several points.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from math import isfinite, isnan

import numpy as np

from dikin.checks.probing import center_of, directions, fail, reach
from dikin.domains.base import Array, Domain
from dikin.environments.base import Environment, Foretold, Sloped
from dikin.feedback import Feedback
from dikin.rng import Generator

Setup = Callable[[], Environment]
ROUNDS = (1, 2, 3, 17, 31, 64, 500)
"""Before and after the changes of every pattern among the examples."""
DIGITS = 1e-9


def points(domain: Domain, rng: Generator, count: int = 12) -> list[Array]:
    """Flattened points of the boundary, and points between them."""
    at = center_of(domain)
    steps = [reach(domain, h) * h for h in directions(at, rng, count)]
    ends = [domain.point(0.999999 * step).ravel() for step in steps]
    mixed = [a + rng.random() * (b - a) for a, b in pairwise(ends)]
    return [*ends, *mixed]


def rounds(world: Environment, rng: Generator) -> Iterator[tuple[int, Callable[[Array], float]]]:
    """Losses of several rounds as functions of a point, with chances from the whole interval."""
    for t in ROUNDS:
        for chance in (*np.linspace(0.05, 0.95, 7).tolist(), rng.random()):
            yield t, partial(world.world.value, t, chance)


def check_losses_are_as_strongly_convex_as_told(setup: Setup, rng: Generator) -> None:
    """f((x+y)/2) <= (f(x)+f(y))/2 - sigma/8 |x-y|^2."""
    world = setup()
    spots, size = points(world.domain, rng), _size(world)
    for t, f in rounds(world, rng):
        for x, y in pairwise(spots):
            drop = (f(x) + f(y)) / 2 - f((x + y) / 2)
            owed = world.curvature(t) / 8 * float((x - y) @ (x - y))
            if not drop >= owed - DIGITS * size:
                fail(world, f"round {t}: the chord is {drop:.3g} above, wanted {owed:.3g}")


def check_losses_are_as_smooth_as_declared(setup: Setup, rng: Generator) -> None:
    """f((x+y)/2) >= (f(x)+f(y))/2 - beta/8 |x-y|^2."""
    world = setup()
    if not isfinite(world.smoothness):
        return  # a kink, or nothing declared
    spots, size = points(world.domain, rng), _size(world)
    for t, f in rounds(world, rng):
        for x, y in pairwise(spots):
            drop = (f(x) + f(y)) / 2 - f((x + y) / 2)
            most = world.smoothness / 8 * float((x - y) @ (x - y))
            if not drop <= most + DIGITS * size:
                fail(
                    world,
                    f"round {t}: the chord is {drop:.3g} above, limit {most:.3g}",
                )


def check_losses_are_as_steep_as_declared(setup: Setup, rng: Generator) -> None:
    """|f(x) - f(y)| <= L |x-y|."""
    world = setup()
    if isnan(world.lipschitz):
        return  # nothing declared
    spots, size = points(world.domain, rng), _size(world)
    for t, f in rounds(world, rng):
        for x, y in pairwise(spots):
            change, most = abs(f(x) - f(y)), world.lipschitz * float(np.linalg.norm(x - y))
            if not change <= most + DIGITS * size:
                fail(world, f"round {t}: the loss changes by {change:.6g}, at most {most:.6g}")


def check_losses_keep_the_declared_range(setup: Setup, rng: Generator) -> None:
    """Every loss is between lo and hi on the whole domain."""
    world = setup()
    low, high = world.loss_range
    spots = [*points(world.domain, rng), np.array(world.best()[0]).ravel()]
    for t, f in rounds(world, rng):
        for x in spots:
            if not low - DIGITS * (high - low) <= f(x) <= high + DIGITS * (high - low):
                fail(world, f"round {t}: the loss {f(x):.6g} is outside ({low:.6g}, {high:.6g})")


def check_losses_do_not_depend_on_play(setup: Setup, rng: Generator) -> None:
    """Two plays that differ in every round but the last meet the same loss there."""
    one, two = setup(), setup()
    spots = [world_point(one, x) for x in points(one.domain, rng)]
    for x, y in pairwise(spots):
        one.answer(x)
        two.answer(y)
    if one.answer(spots[0]) != two.answer(spots[0]):
        fail(one, "the same point met two losses after different plays")


def check_best_is_no_worse_than_any_point(setup: Setup, rng: Generator) -> None:
    """The best fixed point's total is what it would have suffered, and nobody suffers less."""
    world = setup()
    spots = points(world.domain, rng)
    best = np.array(world.best()[0]).ravel()
    played, losses = [], []
    for t in range(1, 201):
        chance = _next_chance(world)
        played.append((t, chance))
        losses.append(world.answer(world_point(world, spots[t % len(spots)]))[0])
    point, total = world.best()
    best = np.array(point).ravel()
    if world.domain.margin(np.asarray(point)) < 0:
        fail(world, f"the best point {point} lies outside the domain")

    def suffered(x: Array) -> float:
        return sum(float(world.world.value(t, chance, x)) for t, chance in played)

    size = DIGITS * _size(world) * len(played)
    if not abs(suffered(best) - total) <= size:
        fail(world, f"the best point suffers {suffered(best):.9g}, declared {total:.9g}")
    if not abs(world.total_loss - sum(losses)) <= size:
        fail(world, f"the total loss is {world.total_loss:.9g}, wanted {sum(losses):.9g}")
    near = [best + 0.01 * (x - best) for x in spots]
    for x in (*spots, *near):
        if not suffered(x) >= total - size:
            fail(world, f"{x} suffers {suffered(x):.9g}, less than the best {total:.9g}")


def world_point(world: Environment, x: Array) -> Array:
    """A flattened point in its own shape."""
    return x.reshape(world.domain.point_shape)


def _size(world: Environment) -> float:
    return world.loss_range[1] - world.loss_range[0]


def _next_chance(world: Environment) -> float:
    """The chance of the next round, without using it up."""
    state = world.chances.bit_generator.state
    chance = world.chances.random()
    world.chances.bit_generator.state = state
    return float(chance)


def check_gradients_support_the_losses(setup: Setup, rng: Generator) -> None:
    """f(y) >= f(x) + g(x).(y - x) + sigma/2 |y - x|^2, where gradients are offered."""
    world = setup()
    if Feedback.GRADIENT not in world.offers:
        return
    assert isinstance(world.world, Sloped)
    spots, size = points(world.domain, rng), _size(world)
    for t in ROUNDS:
        for chance in (0.05, 0.3, 0.6, 0.95):
            for x, y in pairwise(spots):
                f, g = partial(world.world.value, t, chance), world.world.gradient(t, chance, x)
                step = y - x
                owed = f(x) + float(g @ step) + world.curvature(t) / 2 * float(step @ step)
                if not f(y) >= owed - DIGITS * size:
                    fail(world, f"round {t}: the loss is {f(y):.6g}, its tangent {owed:.6g} there")


def check_losses_depend_on_the_context_alone(setup: Setup, rng: Generator) -> None:
    """f_t(x) = f_t(x + h) for every h with z_t.h = 0, where contexts are offered."""
    world = setup()
    if Feedback.CONTEXT not in world.offers:
        return
    assert isinstance(world.world, Foretold)
    domain, size = world.domain, _size(world)
    for t, f in rounds(world, rng):
        z = domain.inward(world_point(world, world.world.context(t)))
        for x in points(domain, rng, 3):
            h = rng.standard_normal(domain.dim)
            h -= z * float(z @ h) / float(z @ z)
            h *= domain.inradius / 2 / max(float(np.linalg.norm(h)), 1.0)
            middle = (domain.center.ravel() + x) / 2  # a ball of half the inradius fits around it
            change = abs(f(middle + domain.outward(h).ravel()) - f(middle))
            if not change <= DIGITS * size:
                fail(world, f"round {t}: the loss changes by {change:.3g} where z.x does not")
