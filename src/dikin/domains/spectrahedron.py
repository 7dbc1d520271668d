"""Spectrahedron {X symmetric, n x n, X >= 0, trace X = 1}.   Barrier -ln det X, nu = n - 1.

nu is that of `Simplex`, in an eigenbasis of X: |grad psi|*^2 = n - 1/trace X^2. The points are
density matrices, distances are Frobenius distances, d = n(n+1)/2 - 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from math import inf, sqrt
from typing import Self

import numpy as np

from dikin.arguments import LARGEST_MATRIX, whole
from dikin.domains.base import Array
from dikin.domains.simplex import PLANE_TOLERANCE, ProbabilityDomain, helmert
from dikin.errors import DomainError


class Spectrahedron(ProbabilityDomain):
    """Symmetric positive semidefinite n x n matrices of trace one.

    Parameters
    ----------
    n : int
        The number of rows, at least 2. The dimension is n(n + 1)/2 - 1.

    References
    ----------
    .. [1] Y. Nesterov and A. Nemirovskii, Interior-Point Polynomial Algorithms in Convex
       Programming, SIAM, 1994: the barrier -ln det.

    Examples
    --------
    >>> Spectrahedron(2).center
    array([[0.5, 0. ],
           [0. , 0.5]])
    """

    def __init__(self, n: int) -> None:
        why = "the only 1 x 1 matrix of trace one is [[1]]"
        super().__init__(whole(n, "n", 2, why, DomainError, LARGEST_MATRIX))
        self.dim = self.n * (self.n + 1) // 2 - 1
        self.center = np.eye(self.n) / self.n

    @cached_property
    def basis(self) -> Array:
        """Columns: an orthonormal basis of the symmetric matrices of trace zero, flattened."""
        rows, columns = np.triu_indices(self.n, 1)
        off = np.zeros((rows.size, self.n, self.n))
        index = np.arange(rows.size)
        off[index, rows, columns] = off[index, columns, rows] = sqrt(0.5)
        diagonal = helmert(self.n)[:, :, None] * np.eye(self.n)
        return np.concatenate([diagonal, off]).reshape(self.dim, self.n**2).T

    def barrier(self, v: Array) -> float:
        eigenvalues, _ = np.linalg.eigh(self.point(v))
        return float(-np.log(eigenvalues).sum()) if eigenvalues[0] > 0 else inf

    def gradient(self, v: Array) -> Array:
        return -self.inward(self._inverse(v))

    def hessian(self, v: Array) -> Array:
        inverse = self._inverse(v)
        images = inverse @ self.basis.T.reshape(-1, self.n, self.n) @ inverse
        return np.asarray(self.basis.T @ images.reshape(self.dim, -1).T)

    def _inverse(self, v: Array) -> Array:
        # By the eigenvalues of the barrier: where it is finite, so is this.
        eigenvalues, vectors = np.linalg.eigh(self.point(v))
        return np.asarray((vectors / eigenvalues) @ vectors.T, dtype=float)

    def margin(self, point: Array) -> float:
        off = max(abs(float(np.trace(point)) - 1), float(np.abs(point - point.T).max()))
        return float(np.linalg.eigvalsh(point)[0]) if off <= PLANE_TOLERANCE else -off

    def gauge(self, v: Array) -> float:
        return -self.n * float(np.linalg.eigvalsh(self.outward(v))[0])

    @classmethod
    def examples(cls) -> Iterator[Self]:
        yield cls(2)
        yield cls(3)
