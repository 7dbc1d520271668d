"""Contexts projected onto the plane of a domain, and where c.x can be on it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import sqrt

import numpy as np

from dikin.curvature.spectrum import gamma
from dikin.domains.base import Array, Domain


@dataclass(frozen=True)
class Projection:
    """The map c -> B'c, for a domain x = center + Bv with the columns of B orthonormal."""

    domain: Domain

    @cached_property
    def identity(self) -> bool:
        """Whether v is x - center itself, so that nothing is to be projected."""
        basis = self.domain.basis
        return basis.shape[0] == basis.shape[1] and bool((basis == np.eye(len(basis))).all())

    @cached_property
    def relative_error(self) -> float:
        """At most |computed B'c - B'c| / |c|: d sums of m products, each off by gamma_m |c|."""
        return 0.0 if self.identity else sqrt(self.domain.dim) * gamma(self.domain.center.size + 3)

    def apply(self, contexts: Array) -> Array:
        """B'c for every context."""
        return contexts if self.identity else contexts @ self.domain.basis

    def prediction_range(self, contexts: Array) -> tuple[Array, Array]:
        """The least and the largest that c.x can be on the domain, for every context.

        c.x = c.center + (B'c).v with |v| <= radius; widened by the largest rounding error.
        """
        center, radius = self.domain.center.ravel(), self.domain.radius
        middle = contexts @ center
        sizes = np.sqrt(np.sum(contexts**2, axis=1))
        along = np.sqrt(np.sum(self.apply(contexts) ** 2, axis=1)) + self.relative_error * sizes
        far = sqrt(float(center @ center)) + radius
        width = along * radius + 4 * gamma(center.size + 8) * sizes * far
        return middle - width, middle + width
