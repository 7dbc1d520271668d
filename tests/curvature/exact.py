"""The second derivation: exact rational arithmetic, which knows no LAPACK and no error bounds."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

Matrix = list[list[Fraction]]


def exact(rows: Any) -> Matrix:
    return [[Fraction(float(entry)) for entry in row] for row in np.atleast_2d(rows)]


def times(one: Matrix, two: Matrix) -> Matrix:
    return [
        [
            sum((a * b for a, b in zip(row, column, strict=True)), Fraction(0))
            for column in zip(*two, strict=True)
        ]
        for row in one
    ]


def gram(rows: Matrix, weights: Sequence[Fraction]) -> Matrix:
    """sum_i w_i r_i r_i'."""
    scaled = [[w * entry for entry in row] for w, row in zip(weights, rows, strict=True)]
    return times([list(column) for column in zip(*rows, strict=True)], scaled)


def shifted(matrix: Matrix, factor: int, shift: float) -> Matrix:
    """factor * matrix + shift I."""
    return [
        [factor * entry + (Fraction(shift) if i == j else 0) for j, entry in enumerate(row)]
        for i, row in enumerate(matrix)
    ]


def is_semidefinite(matrix: Matrix) -> bool:
    """Whether a symmetric matrix is positive semidefinite, by elimination without rounding."""
    left = [row[:] for row in matrix]
    while left:
        pivot = left[0][0]
        if pivot < 0 or (pivot == 0 and any(left[0])):
            return False
        if pivot == 0:
            left = [row[1:] for row in left[1:]]
            continue
        left = [
            [entry - row[0] * top / pivot for entry, top in zip(row[1:], left[0][1:], strict=True)]
            for row in left[1:]
        ]
    return True
