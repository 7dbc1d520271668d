"""Operations of kernels on vectors. Those that add have a loop, which is compiled."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dikin.kernel import looped

Array = NDArray[np.float64]
"""Vectors, and the points and matrices of a set, in double precision."""
Table = NDArray[np.void]
"""A structured array: `table["price"]` is a column."""


def _dot(a: Array, b: Array) -> float:
    total = 0.0
    for i in range(a.size):
        total += a[i] * b[i]
    return total


@looped(_dot, order_free=True)
def dot(a: Array, b: Array) -> float:
    """Return the product a.b."""
    return float(a.dot(b))


def _dots(a: Array, b: Array) -> tuple[float, float]:
    square = product = 0.0
    for i in range(a.size):
        square += a[i] * a[i]
        product += a[i] * b[i]
    return square, product


@looped(_dots, order_free=True)
def dots(a: Array, b: Array) -> tuple[float, float]:
    """Return the products a.a and a.b."""
    return float(a.dot(a)), float(a.dot(b))


def _stack(a: Array, b: Array, metric: Array) -> tuple[float, float]:
    for i in range(a.size):
        metric[0, i], metric[1, i] = a[i], b[i]
    return dots(a, b)


@looped(_stack)
def stack(a: Array, b: Array, metric: Array) -> tuple[float, float]:
    """Set the first two rows to a and b, and return a.a and a.b."""
    metric[0], metric[1] = a, b
    square, product = metric[:2].dot(a).tolist()
    return square, product


def _mix(x: float, y: float, metric: Array, out: Array) -> None:
    for i in range(out.size):
        out[i] = x * metric[0, i] + y * metric[1, i]


@looped(_mix)
def mix(x: float, y: float, metric: Array, out: Array) -> None:
    """Set out to x and y times the first two rows: one call into BLAS, in place of three."""
    np.array((x, y)).dot(metric[:2], out)


def _add_mix(x: float, y: float, metric: Array, out: Array) -> None:
    for i in range(out.size):
        out[i] += x * metric[0, i] + y * metric[1, i]


@looped(_add_mix)
def add_mix(x: float, y: float, metric: Array, out: Array) -> None:
    """Add x and y times the first two rows to out."""
    out += np.array((x, y)).dot(metric[:2])


def _times(a: Array, b: Array, out: Array) -> None:
    for i in range(out.size):
        out[i] = a[i] * b[i]


@looped(_times)
def times(a: Array, b: Array, out: Array) -> None:
    """Set out to a b, entry by entry. It may be one of them."""
    np.multiply(a, b, out)


def _combine(x: float, a: Array, y: float, b: Array, out: Array) -> None:
    for i in range(out.size):
        out[i] = x * a[i] + y * b[i]


@looped(_combine)
def combine(x: float, a: Array, y: float, b: Array, out: Array) -> None:
    """Set out to x a + y b, of which either may be out itself."""
    np.add(a if x == 1.0 else x * a, y * b, out)


def _add_combination(x: float, a: Array, y: float, b: Array, out: Array) -> None:
    for i in range(out.size):
        out[i] += x * a[i] + y * b[i]


@looped(_add_combination)
def add_combination(x: float, a: Array, y: float, b: Array, out: Array) -> None:
    """Add x a + y b to out."""
    out += x * a
    if y != 0.0:
        out += y * b
