"""FKM after a reshaping of the set (Flaxman, Kalai, McMahan, SODA 2005, section 3.2).

The regret of FKM grows with R/r, which is large for a thin set. An affine map that makes the set
round first costs nothing: convex losses stay convex. The paper brings the set into isotropic
position by random walks inside it, which gives r = sqrt((d+2)/d) and R = sqrt(d (d+2)) (Kannan,
Lovasz, Simonovits 1995), up to the error of the samples. Every domain here offers something better.
With H the barrier's Hessian at the analytic centre c, the map x -> H^(1/2) (x - c) leads to

    r >= 1  and  R <= nu + 2 sqrt(nu)

(Nesterov, Introductory Lectures on Convex Optimization, Theorem 4.2.6): a ratio of the same order
if nu is of the order of d, known without samples and the same in every run. If the sizes of the
original set, mapped, give a better bound on r or R, that is used.

In the new coordinates this is `fkm`; a Lipschitz constant grows by the longest axis of the
ellipsoid {z : z'Hz <= 1} where strong convexity, which is not used, would grow by the square of the
shortest one. For a ball the map is a scaling, and nothing changes.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt
from typing import Self

import numpy as np

from dikin.domains.base import Array, Domain, Geometry
from dikin.domains.dense import DenseGeometry
from dikin.domains.newton import factor
from dikin.learners.fkm import FKM


class Reshaped:
    """The oracles of a domain at v = stretch u, for working vectors u."""

    def __init__(self, domain: Domain, stretch: Array) -> None:
        self._domain, self._stretch = domain, stretch
        self.dim, self.center = domain.dim, domain.center
        self.point_shape = domain.point_shape

    def barrier(self, u: Array) -> float:
        return self._domain.barrier(self._stretch @ u)

    def gradient(self, u: Array) -> Array:
        return np.asarray(self._domain.gradient(self._stretch @ u) @ self._stretch)

    def hessian(self, u: Array) -> Array:
        hessian = self._domain.hessian(self._stretch @ u)
        return np.asarray(self._stretch.T @ hessian @ self._stretch)

    def outward(self, u: Array) -> Array:
        """The displacement in units of the domain's radius."""
        return self._domain.outward(self._stretch @ u) / self._domain.radius

    def inward(self, displacement: Array) -> Array:
        return np.asarray(self._domain.inward(displacement) @ self._stretch) / self._domain.radius


class RoundGeometry(DenseGeometry):
    """The set in the local norm of its centre: v = stretch u with stretch' H stretch = R^2."""

    def __init__(self, domain: Domain) -> None:
        lower, inverse = factor(domain.hessian(np.zeros(domain.dim)))
        axes = np.linalg.svd(lower, compute_uv=False)
        radius = min(float(axes[0]) * domain.radius, domain.nu + 2.0 * sqrt(domain.nu))
        self.stretch = radius * inverse
        super().__init__(Reshaped(domain, self.stretch), 1.0)
        self.inradius = max(float(axes[-1]) * domain.inradius, 1.0) / radius
        self.length = radius / float(axes[-1])
        """The longest that a working vector of length one can be in the user's units."""


class ReshapedFKM(FKM):
    """`FKM` in coordinates in which the domain is nearly round: for thin domains.

    Notes
    -----
    Published: the idea of making the set round by an affine map before `FKM` plays on it.

    Ours: the map. The paper brings the set into isotropic position by random walks inside it. Here
    the barrier's Hessian at the analytic centre gives the map, without samples and the same in
    every run. The ratio of radii is of the same order if nu is of the order of d.

    References
    ----------
    Flaxman, Kalai, McMahan: Online convex optimization in the bandit setting: gradient descent
    without a gradient. SODA 2005, section 3.2.

    Examples
    --------
    >>> from dikin import Box
    >>> thin = Box([0, 0], [1000, 1])
    >>> learner = ReshapedFKM(thin, horizon=1000, seed=1)
    >>> bool(abs(learner.ask().point - thin.center)[0] > 10)
    True
    >>> bool(abs(FKM(thin, horizon=1000, seed=1).ask().point - thin.center)[0] > 10)
    False
    """

    def _form(self) -> Geometry:
        self._round = RoundGeometry(self.domain)
        return self._round

    def _position(self) -> tuple[float, float]:
        self._surely_inside = 0.0  # which holds for the original coordinates only
        return self._round.inradius, self._round.length

    @classmethod
    def examples(cls, domain: Domain, seed: int) -> Iterator[Self]:
        yield cls(domain, 5000, 2.0 / domain.radius, loss_range=(3, 11), seed=seed)
