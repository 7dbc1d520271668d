"""Sums over a vector that kernels share; their order is free, so that they run at full width."""

from __future__ import annotations

from math import log

from dikin.domains.base import Array
from dikin.kernel import compiled, reordered


@reordered
def dot(a: Array, b: Array) -> float:
    """a.b."""
    total = 0.0
    for i in range(a.size):
        total += a[i] * b[i]
    return total


@reordered
def dots(a: Array, b: Array) -> tuple[float, float]:
    """a.a and a.b in one pass."""
    square = product = 0.0
    for i in range(a.size):
        square += a[i] * a[i]
        product += a[i] * b[i]
    return square, product


@reordered
def rises(y: Array, s: Array, root: Array) -> tuple[float, float]:
    """y.(root s) and y.y in one pass."""
    rise = square = 0.0
    for i in range(y.size):
        rise += y[i] * s[i] * root[i]
        square += y[i] * y[i]
    return rise, square


@compiled
def place(u: Array, center: Array, radius: float, x: Array) -> None:
    """X = center + radius u."""
    for i in range(x.size):
        x[i] = center[i] + radius * u[i]


@compiled
def combine(x: float, a: Array, y: float, b: Array, out: Array) -> None:
    """Out = x a + y b."""
    for i in range(a.size):
        out[i] = x * a[i] + y * b[i]


@compiled
def kick(y: Array, s: Array, root: Array, scale: float, damping: float, linear: Array) -> None:
    """Linear += scale root s - damping y."""
    for i in range(linear.size):
        linear[i] += scale * s[i] * root[i] - damping * y[i]


@compiled
def step(y: Array, s: Array, root: Array, scale: float, u: Array) -> None:
    """U = y + scale s/root."""
    for i in range(u.size):
        u[i] = y[i] + scale * s[i] / root[i]


@reordered
def log_sum(values: Array, scale: float) -> float:
    """The sum of ln(scale values)."""
    total = 0.0
    for i in range(values.size):
        total += log(scale * values[i])
    return total
