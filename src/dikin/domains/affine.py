"""Affine image {matrix x + shift : x in domain}.   Barrier and nu are the domain's."""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from dikin.domains.ball import Ball
from dikin.domains.base import Array, Domain, frozen
from dikin.domains.simplex import Simplex
from dikin.errors import DomainError, shown


class Affine(Domain):
    """The image of a domain under x -> matrix x + shift.

    Parameters
    ----------
    domain : Domain
        The domain. Points that are matrices are flattened.
    matrix : array_like
        The linear map. It may be tall, which places the set in a larger space, but must not flatten
        the set.
    shift : array_like
        The vector added to every point.

    Raises
    ------
    DomainError
        If the first argument is not a domain, or the matrix maps it onto a set of smaller
        dimension.
        If the matrix does not map points of the domain onto vectors as long as the shift.

    Examples
    --------
    >>> from dikin import Ball
    >>> Affine(Ball(2), [[2, 0], [0, 1]], [1, 0]).contains([3, 0])
    True
    """

    def __init__(self, domain: Domain, matrix: ArrayLike, shift: ArrayLike) -> None:
        if not isinstance(domain, Domain):
            raise DomainError(f"Affine: the first argument is {shown(domain)}, wanted a domain")
        self.domain = domain
        self.matrix, self.shift = frozen(matrix, "matrix", 2), frozen(shift, "shift", 1)
        shape = (self.shift.size, domain.center.size)
        if self.matrix.shape != shape:
            raise DomainError(
                f"Affine: to map points of {domain.center.size} entries onto the {self.shift.size} "
                f"of shift the matrix must be {shape[0]} x {shape[1]}, got "
                f"{self.matrix.shape[0]} x {self.matrix.shape[1]}"
            )
        self.dim, self.nu, self.symmetry = domain.dim, domain.nu, domain.symmetry
        self.center = self.matrix @ domain.center.ravel() + self.shift
        image = self.matrix @ domain.basis
        singular = np.linalg.svd(image, compute_uv=False)
        if image.shape[0] < self.dim or singular[-1] <= 1e-13 * singular[0]:
            raise DomainError(
                f"Affine: the matrix flattens the domain: its singular values there are {singular}"
            )
        # The columns of Q are the chart of the image; R takes the domain's chart vectors to it.
        self._Q, self._R = np.linalg.qr(image)
        self._R_inverse = np.linalg.inv(self._R)
        # Bounds by the largest and least stretch, and by the image's local balls (`symmetry`).
        largest, least = float(singular[0]), float(singular[-1])
        inverse = np.sqrt(np.linalg.eigvalsh(self.hessian(np.zeros(self.dim)))).tolist()
        self.radius = min(largest * domain.radius, (self.nu + 2.0 * sqrt(self.nu)) / inverse[0])
        self.inradius = max(least * domain.inradius, 1.0 / inverse[-1])
        self.diameter = max(least * domain.diameter, 2.0 / inverse[0])

    def outward(self, v: Array) -> Array:
        return np.asarray(self._Q @ v)

    def inward(self, displacement: Array) -> Array:
        return np.asarray(displacement @ self._Q)

    def barrier(self, v: Array) -> float:
        return self.domain.barrier(self._R_inverse @ v)

    def gradient(self, v: Array) -> Array:
        return np.asarray(self.domain.gradient(self._R_inverse @ v) @ self._R_inverse)

    def hessian(self, v: Array) -> Array:
        return np.asarray(
            self._R_inverse.T @ self.domain.hessian(self._R_inverse @ v) @ self._R_inverse
        )

    def margin(self, point: Array) -> float:
        displacement = point - self.center
        v = self.inward(displacement)
        off = float(np.linalg.norm(displacement - self.outward(v)))
        if off > 1e-9 * (self.radius + float(np.linalg.norm(self.center))):
            return -off
        return self.domain.margin(self.domain.point(self._R_inverse @ v))

    def gauge(self, v: Array) -> float:
        return self.domain.gauge(self._R_inverse @ v)

    def barrier_growth(self, share: float) -> float:
        return self.domain.barrier_growth(share)

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls(Ball(2, 0.5, [1, 1]), [[2, 1], [-1, 3]], [10, 0])
        yield cls(Simplex(3), [[1, 0, 2], [0, 4, 1], [1, 1, 0], [0, 0, 7]], [0, 1, 0, -1])
