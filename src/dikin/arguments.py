"""Checks of arguments. An error names the argument."""

from __future__ import annotations

from decimal import Decimal
from math import inf, isfinite
from numbers import Real
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from dikin.errors import DikinError, DomainError, ParameterError, shown
from dikin.vectors import Array

T = TypeVar("T")
Refusal = type[DikinError]

LARGEST_VECTOR, LARGEST_MATRIX = 10**9, 10**4
"""Entries of a point, and rows of one that is a matrix."""
LARGEST = 1e100
"""Beyond this, or its inverse, products of three such numbers would overflow."""


def as_float(value: Any) -> float | None:
    """Return a real number as a float, infinite if it is too large, or None for anything else.

    Strings, booleans and times are rejected. Arrays of one number and no dimension are accepted.
    """
    if isinstance(value, np.ndarray):
        return float(value) if value.ndim == 0 and value.dtype.kind in "fiu" else None
    if isinstance(value, bool | np.bool_ | np.timedelta64) or not isinstance(value, Real | Decimal):
        return None
    try:
        return float(value)
    except OverflowError:
        return inf if value > 0 else -inf  # type: ignore[operator]
    except ValueError:  # a Decimal that is a signalling NaN
        return None


def number(value: Any, name: str, error: Refusal = ParameterError) -> float:
    """Return a real number as a float."""
    result = as_float(value)
    if result is None:
        raise error(f"{name} must be a number, got {shown(value)}")
    return result


def is_whole(value: Any) -> bool:
    """Return whether a value is a whole number. Booleans and NumPy times are not."""
    return isinstance(value, int | np.integer) and not isinstance(
        value, bool | np.bool_ | np.timedelta64
    )


def whole(
    value: Any,
    name: str,
    least: int,
    why: str,
    error: Refusal = ParameterError,
    most: float = LARGEST,
) -> int:
    """Return a whole number from `least` to `most`."""
    if not is_whole(value):
        raise error(f"{name} must be a whole number, got {shown(value)}")
    if value < least:
        raise error(f"{name} must be at least {least} ({why}), got {shown(value)}")
    if value > most:
        raise error(f"{name} must be at most {most:,.10g}, got {shown(value)}")
    return int(value)


def nonnegative(value: Any, name: str) -> float:
    """Return a finite number of at least zero."""
    result = number(value, name)
    if not (isfinite(result) and result >= 0):
        raise ParameterError(f"{name} must be finite and not negative, got {shown(value)}")
    return result


def positive(value: Any, name: str, error: Refusal = ParameterError) -> float:
    """Return a finite number above zero."""
    result = number(value, name, error)
    if not 0 < result < inf:
        raise error(f"{name} must be positive and finite, got {shown(value)}")
    return result


def true_or_false(value: Any, name: str) -> bool:
    """Return a boolean. Other values are not converted."""
    if not isinstance(value, bool):
        raise ParameterError(f"{name} must be True or False, got {shown(value)}")
    return value


def checked_range(ends: Any, noun: str = "loss") -> tuple[float, float]:
    """Return the least and the largest loss, or value, of a constructor's arguments."""
    name = f"{noun}_range"
    try:
        if isinstance(ends, str | bytes):
            raise TypeError
        low, high = (number(end, f"an end of {name}") for end in ends)
    except (TypeError, ValueError) as reason:
        raise ParameterError(
            f"{name} must be the least and the largest possible {noun}, got {shown(ends)}"
        ) from reason
    if not (isfinite(low) and isfinite(high) and low < high):
        raise ParameterError(f"{name} must be finite with low < high, got ({low:g}, {high:g})")
    if not 1 / LARGEST < high - low < LARGEST:
        raise ParameterError(
            f"{name}=({low:g}, {high:g}) is {high - low:g} wide; it must be between "
            f"{1 / LARGEST:g} and {LARGEST:g}: choose another unit of {noun}"
        )
    return low, high


def plain_number(value: Any) -> float:
    """Return a number as Python's own. Whole numbers stay whole."""
    return value if type(value) is int else float(value)


def plain_tuple(values: Any) -> Any:
    """Return a list or an array as a tuple of Python's own values, anything else as it is."""
    if not isinstance(values, list | tuple | np.ndarray):
        return values
    return tuple(value.item() if isinstance(value, np.generic) else value for value in values)


def frozen(values: ArrayLike, name: str, ndim: int) -> Array:
    """Return a read-only float copy of an argument with this rank and finite entries."""
    try:
        array = np.array(values, dtype=float)
    except (TypeError, ValueError, OverflowError) as reason:
        wanted = "numbers" + " in rows of equal length" * (ndim == 2)
        raise DomainError(f"{name} must be {wanted}, all finite, got {shown(values)}") from reason
    if array.ndim != ndim or array.size == 0:
        wanted = "a non-empty vector" if ndim == 1 else "a non-empty matrix"
        got = f"an array of shape {array.shape}" if array.ndim else f"{array}; write [{array}]"
        raise DomainError(f"{name} must be {wanted}, got {got}")
    if not np.isfinite(array).all():
        where, value = not_finite(array)
        raise DomainError(f"{name}[{where}] is {value}; every entry must be finite")
    array.setflags(write=False)
    return array


def not_finite(array: Array) -> tuple[str, float]:
    """Return the index and value of the first entry that is not finite."""
    where = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
    return ", ".join(map(str, where)), float(array[where])
