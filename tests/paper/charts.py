"""A shipped domain as the paper sees it: a barrier psi on a set of size one around the origin.

Points are chart vectors divided by the domain's radius, so |u| <= 1 on the set and u = 0 is the
analytic centre. `holds` gives a check the right thing and then wrong ones, which it must reject.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import dikin

Array = NDArray[np.float64]


def holds(check: Callable[..., None], right: Any, *wrong: Any) -> None:
    """The check passes for the right thing and fails for each of the wrong ones."""
    check(right)
    for number, mutant in enumerate(wrong):
        try:
            check(mutant)
        except (AssertionError, np.linalg.LinAlgError):
            continue
        pytest.fail(f"wrong variant {number} went through")


@dataclass(frozen=True)
class Chart:
    """psi of a domain at normalised scale; the oracles are the domain's own."""

    domain: dikin.domains.base.Domain

    @property
    def nu(self) -> float:
        return self.domain.nu

    @property
    def dim(self) -> int:
        return self.domain.dim

    @property
    def scale(self) -> float:
        return self.domain.radius

    def value(self, u: Array) -> float:
        return self.domain.barrier(self.scale * u)

    def gradient(self, u: Array) -> Array:
        return self.scale * self.domain.gradient(self.scale * u)

    def hessian(self, u: Array) -> Array:
        return self.scale**2 * self.domain.hessian(self.scale * u)


def exit_time(value: Callable[[Array], float], start: Array, way: Array) -> float:
    """The largest t, to 14 digits and from below, with start + t way inside."""
    low, high = 0.0, 1.0
    while value(start + high * way) < inf:
        low, high = high, 2 * high
    while high - low > 1e-14 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if value(start + middle * way) < inf else (low, middle)
    return low


def direction(psi: Chart, rng: np.random.Generator) -> Array:
    """A random way from the centre, the same on every side of a badly scaled set."""
    s = rng.normal(size=psi.dim)
    return np.asarray(np.linalg.solve(np.linalg.cholesky(psi.hessian(np.zeros(psi.dim))).T, s))


def interior(psi: Chart, seed: int, count: int = 4) -> Iterator[Array]:
    """The centre, random points, and points nine tenths and 999 thousandths of the way out."""
    rng = np.random.default_rng(seed)
    yield np.zeros(psi.dim)
    for depth in [*rng.random(count), *[0.9] * count, *[0.999] * count]:
        way = direction(psi, rng)
        yield depth * exit_time(psi.value, np.zeros(psi.dim), way) * way
