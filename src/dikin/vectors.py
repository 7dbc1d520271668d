"""Operations of kernels on vectors: each has a body in NumPy and a loop that is compiled."""

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


def _total(a: Array) -> float:
    total = 0.0
    for i in range(a.size):
        total += a[i]
    return total


@looped(_total, order_free=True)
def total(a: Array) -> float:
    """The sum of the entries."""
    return float(a.sum())


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


def _copy(a: Array, out: Array) -> None:
    for i in range(out.size):
        out[i] = a[i]


@looped(_copy)
def copy(a: Array, out: Array) -> None:
    """Set out to a."""
    out[:] = a


def _clear(out: Array) -> None:
    for i in range(out.size):
        out[i] = 0.0


@looped(_clear)
def clear(out: Array) -> None:
    """Set out to zero."""
    out[:] = 0.0


def _multiply(x: float, a: Array, out: Array) -> None:
    for i in range(out.size):
        out[i] = x * a[i]


@looped(_multiply)
def multiply(x: float, a: Array, out: Array) -> None:
    """Set out to x a, which may be out itself."""
    np.multiply(a, x, out)


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
