"""Sets with projections by closed forms of their own, in the paper's units."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import dikin

Array = NDArray[np.float64]


def onto_ball(v: Array) -> Array:
    return v / max(1.0, float(np.linalg.norm(v)))


def onto_box(v: Array) -> Array:
    half = np.array([2.0, 1.5]) / 2.5  # of Box([0, -1], [4, 2]), whose radius is 2.5
    return np.clip(v, -half, half)


def onto_simplex(v: Array) -> Array:
    """By sorting (Held, Wolfe, Crowder 1974), in coordinates moved to the centre and scaled."""
    n, scale = v.size, np.sqrt(1 - 1 / v.size)
    x = 1 / n + scale * v
    falling = np.sort(x)[::-1]
    level = (np.cumsum(falling) - 1) / np.arange(1, n + 1)
    return (np.maximum(x - level[falling > level][-1], 0) - 1 / n) / scale


SETS: dict[str, tuple[Any, Callable[[Array], Array]]] = {
    "ball": (dikin.Ball(3, 2.5, [1, -2, 0]), onto_ball),
    "box": (dikin.Box([0, -1], [4, 2]), onto_box),
    "simplex": (dikin.Simplex(4), onto_simplex),
}
