"""A shipped domain as the paper sees it: a barrier psi on a set of size one around the origin."""

from collections.abc import Callable
from dataclasses import dataclass
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
