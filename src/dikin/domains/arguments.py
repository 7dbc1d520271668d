"""What a constructor may be given: arrays and numbers, checked and named in the refusal."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dikin.errors import DomainError, ShapeError

Array = NDArray[np.float64]


def frozen(values: ArrayLike, name: str, ndim: int) -> Array:
    """A read-only float copy of an argument, refused where it has a wrong rank or is not finite."""
    try:
        array = np.array(values, dtype=float)
    except (TypeError, ValueError) as reason:
        what = "numbers in rows of equal length" if ndim == 2 else "numbers"
        raise DomainError(f"{name} must be {what}, got {values!r}") from reason
    except OverflowError as reason:
        raise DomainError(f"every entry of {name} must be finite") from reason
    if array.ndim != ndim or array.size == 0:
        wanted = {1: "a non-empty vector", 2: "a non-empty matrix"}[ndim]
        came = (
            f"the single number {array}; write [{array}]"
            if array.ndim == 0
            else (f"an array of shape {array.shape}")
        )
        raise ShapeError(f"{name} must be {wanted}, got {came}")
    if not np.isfinite(array).all():
        where, value = not_finite(array)
        raise DomainError(f"{name}[{where}] is {value}; every entry must be finite")
    array.setflags(write=False)
    return array


def not_finite(array: Array) -> tuple[str, float]:
    """The place and value of the first entry that is not finite."""
    where = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
    return ", ".join(map(str, where)), float(array[where])


def whole(value: Any, name: str, least: int, why: str) -> int:
    """A whole-number argument of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise DomainError(f"{name} must be a whole number, got {value!r}")
    if value < least:
        raise DomainError(f"{name} must be at least {least} ({why}), got {value}")
    return int(value)


def positive(value: Any, name: str) -> float:
    """A finite positive argument."""
    try:
        if isinstance(value, str | bytes | bool | np.bool_):
            raise TypeError
        number = float(value)
    except (TypeError, ValueError) as reason:
        raise DomainError(f"{name} must be a positive number, got {value!r}") from reason
    except OverflowError:
        number = np.inf
    if not 0 < number < np.inf:
        raise DomainError(f"{name} must be positive and finite, got {value!r}")
    return number
