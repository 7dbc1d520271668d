"""Games designed to mislead a learner that forecasts losses or trusts the past.

    f_t(x) = alpha_t a.v + gamma_t b.v + kappa_t + (omega/2) |v - w|^2,      v = (x - c)/R,

with a and b unit vectors, w inside, and a table (alpha_t, gamma_t, kappa_t) that is fixed before
the game; each kind is a way to fill it. Where omega > 0 there is no linear part, and w is best;
elsewhere the sum of the losses is linear. After `horizon` rounds the table repeats.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import isqrt
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from dikin.arguments import whole
from dikin.domains.base import Array, Domain
from dikin.environments.base import Environment, add, linear_minimiser
from dikin.errors import UnknownNameError, did_you_mean
from dikin.kernel import reordered
from dikin.rng import Generator

Index = NDArray[np.int64]
Table = tuple[Array | float, Array | float, Array | float]
"""The columns alpha, gamma and kappa; a number stands for all rounds."""


def _signs(rng: Generator, count: int) -> Array:
    return rng.choice([-1.0, 1.0], size=count)


# Every table is a function of i = t - 1 = 0, 1, ..., horizon - 1 and a generator.


def _spikes(i: Index, rng: Generator) -> Table:
    return 0.0, 0.0, np.where(i % 97 == 96, _signs(rng, i.size), 0.0)


def _bursts(i: Index, rng: Generator) -> Table:
    return np.where(i % 200 >= 180, -1.0, 0.25), 0.0, 0.0


def _switches(i: Index, rng: Generator) -> Table:
    return np.where(i // isqrt(i.size) % 2 == 0, 1.0, -1.0), 0.0, 0.0


def _period(i: Index, rng: Generator) -> Table:
    return 0.7 * _signs(rng, 32)[i % 32], 0.3, 0.0


def _storm(i: Index, rng: Generator) -> Table:
    on = np.where(i >= i.size // 2, 1.0, 0.0)
    return 0.6 * on * _signs(rng, i.size), 0.4 * on, 0.0


def _alternating(i: Index, rng: Generator) -> Table:
    return 0.2, 0.0, np.where(i % 2 == 0, 0.8, -0.8)


def _late(i: Index, rng: Generator) -> Table:
    return np.where(i >= i.size - max(i.size // 10, 1), 1.0, 0.0), 0.0, 0.0


def _growing(i: Index, rng: Generator) -> Table:
    size = (i + 1) / i.size
    return 0.6 * size * _signs(rng, i.size), 0.4 * size, 0.0


def _shrinking(i: Index, rng: Generator) -> Table:
    size = (i.size - i) / i.size
    return 0.6 * size * _signs(rng, i.size), 0.4 * size, 0.0


def _signs_only(i: Index, rng: Generator) -> Table:
    return _signs(rng, i.size), 0.0, 0.0


def _walk(i: Index, rng: Generator) -> Table:
    """A random walk of steps 1/50 between two walls, at which it is folded back."""
    path: Array = np.cumsum(0.02 * _signs(rng, i.size))
    return 0.0, 0.0, np.abs((path - 0.75) % 3.0 - 1.5) - 0.75


class Kind(NamedTuple):
    """One way to mislead."""

    description: str
    table: Callable[[Index, Generator], Table]
    height: float = 0.0
    """The most of the bowl, 0 where the losses are linear."""


KINDS = {
    "spikes": Kind("a bowl, and one round in 97 has a constant of 1 or -1", _spikes, 1.0),
    "bursts": Kind("linear, with 20 rounds of the opposite direction in every 200", _bursts),
    "switches": Kind("linear, the direction turns round every sqrt(T) rounds", _switches),
    "period": Kind("linear, with a pattern of signs that comes back every 32 rounds", _period),
    "storm": Kind("nothing in the first half, then random and linear", _storm),
    "alternating": Kind("linear, and a constant of 0.8 and -0.8 in turn", _alternating),
    "late": Kind("nothing, then linear in the last tenth", _late),
    "growing": Kind("random and linear, larger and larger", _growing),
    "shrinking": Kind("random and linear, smaller and smaller", _shrinking),
    "signs": Kind("one direction with a random sign each round: nothing to foresee", _signs_only),
    "walk": Kind("a bowl, with a constant that walks at random", _walk, 0.5),
}


class Hostile(Environment):
    """Losses designed to mislead a learner that forecasts losses or trusts the past.

    Parameters
    ----------
    domain : Domain
        The set to play on.
    kind : str
        The way to mislead: a key of `dikin.environments.hostile.KINDS`, where each is described.
    horizon : int
        Rounds for which the losses are laid out; then they repeat.
    seed : int, optional
        Fixes the losses; without one they differ every time.

    Attributes
    ----------
    name : str
        The way to mislead.
    horizon : int
        Rounds until the losses repeat.

    Raises
    ------
    UnknownNameError
        If no kind has that name.
    ParameterError
        If `horizon` is not a positive whole number.

    Examples
    --------
    >>> from dikin import Ball
    >>> Hostile(Ball(2), "spikes", horizon=1000, seed=1).loss_range
    (-1.0, 2.0)
    """

    comparator_sums = 3

    def __init__(self, domain: Domain, kind: str, horizon: int, seed: int | None = None) -> None:
        super().__init__(domain, seed)
        if kind not in KINDS:
            raise UnknownNameError(
                f"no hostile game is called {kind!r}.{did_you_mean(str(kind), KINDS)} "
                f"There are {', '.join(KINDS)}"
            )
        self.horizon = whole(horizon, "horizon", 1, "the table of losses depends on it")
        self.name = kind
        a, b, w = self._direction(), self._direction(), self._inner_point(0.8)
        w = (w - domain.center.ravel()) / domain.radius
        far, height = 1.0 + float(np.linalg.norm(w)), KINDS[kind].height
        omega = 2 * height / far**2
        columns = KINDS[kind].table(np.arange(self.horizon), self._setup)
        alpha, gamma, kappa = (np.broadcast_to(column, self.horizon) for column in columns)
        slopes = np.linalg.norm(np.outer(alpha, a) + np.outer(gamma, b), axis=1)
        self.loss_range = (float((kappa - slopes).min()), float((kappa + slopes).max()) + height)
        self.smoothness = omega / domain.radius**2
        self.lipschitz = (float(slopes.max()) + omega * far) / domain.radius
        self.kernel: HostileKernel = HostileKernel(
            domain.center.ravel(),
            domain.radius,
            a,
            b,
            w,
            np.stack([alpha, gamma, kappa], axis=1),
            omega,
        )

    def best(self) -> tuple[Array, float]:
        domain, kernel = self.domain, self.kernel
        slope = self.total(1) * kernel.a + self.total(2) * kernel.b
        v = kernel.w if kernel.omega > 0 else linear_minimiser(domain, slope) / domain.radius
        point = domain.center + domain.radius * v.reshape(domain.point_shape)
        return point, float(slope @ v) + self.total(3)

    @classmethod
    def examples(cls, domain: Domain, seed: int) -> Iterator[Self]:
        for kind in ("period", "walk"):
            yield cls(domain, kind, 150, seed)


class HostileKernel(NamedTuple):
    """The losses themselves; all randomness is in the table."""

    center: Array
    radius: float
    a: Array
    b: Array
    w: Array
    table: Array
    omega: float

    def value(self, round: int, chance: float, x: Array) -> float:
        row = (round - 1) % self.table.shape[0]
        one, two, square = hostile_sums(x, self.center, self.radius, self.a, self.b, self.w)
        linear = self.table[row, 0] * one + self.table[row, 1] * two
        value: float = linear + self.table[row, 2] + 0.5 * self.omega * square
        return value

    def gradient(self, round: int, chance: float, x: Array) -> Array:
        alpha, gamma, _ = self.table[(round - 1) % self.table.shape[0]]
        bowl = self.omega * ((x - self.center) / self.radius - self.w)
        return np.asarray((alpha * self.a + gamma * self.b + bowl) / self.radius)

    def strong_convexity(self, round: int) -> float:
        return self.omega / (self.radius * self.radius)

    def accumulate(self, round: int, chance: float, sums: Array) -> None:
        row = (round - 1) % self.table.shape[0]
        for column in range(3):
            add(sums, 1 + column, self.table[row, column])


@reordered
def hostile_sums(
    x: Array, center: Array, radius: float, a: Array, b: Array, w: Array
) -> tuple[float, float, float]:
    """a.v, b.v and |v - w|^2 for v = (x - center)/radius."""
    one = two = square = 0.0
    for i in range(x.size):
        v = (x[i] - center[i]) / radius
        one += a[i] * v
        two += b[i] * v
        square += (v - w[i]) * (v - w[i])
    return one, two, square
