"""Several values of one trial, and how much a value teaches whose standard error is known.

A surprise r_t with the standard error e_t is learnt as w_t r_t. With V the mean square of the
surprises that were learnt,

    w_t = min{1, p_t/(mean of recent p)},     p_t = 1/(V + e_t^2).

Of two unbiased estimates of a gradient the weights should be as 1/variance; V stands for what
varies besides. A value like most counts in full, and so does one that is quieter: steps are made
for surprises of the usual size. What is not learnt is left to the certificate, as what is clipped
(docs/mathematics.md, 13.3).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import fsum, sqrt
from typing import Any

import numpy as np

from dikin.arguments import LARGEST, as_float
from dikin.errors import LossError, shown

RECENT = 64.0
"""Values with a standard error over which the mean is taken."""


@dataclass
class Precision:
    """The mean of p over recent values, and the number of values with a standard error so far."""

    mean: float = 0.0
    count: float = 0.0

    def weight(self, square_error: float, variance: float) -> float:
        """The weight of a value: 1 for the first, for one like most and for a quieter one.

        `variance` is the mean square V of surprises; 0 while it is not known.
        """
        if not (self.count and variance > 0.0):
            return 1.0
        return min(1.0, 1.0 / ((variance + square_error) * self.mean))

    def learn(self, square_error: float, variance: float) -> None:
        """Take in a value."""
        if variance > 0.0:
            self.count += 1.0
            away = 1.0 / (variance + square_error) - self.mean
            self.mean += away / min(self.count, RECENT)


def value_and_error(value: Any, values: Any, sem: Any) -> tuple[Any, float | None]:
    """What was told as one value or as several, and its standard error where that is known."""
    if values is None:
        if value is None:
            raise LossError(
                "the value must be a real number, got None: tell(trial, value), "
                "tell(trial, values=[...]) or tell(trial, mean, sem=...). Nothing was changed."
            )
        return value, None if sem is None else _checked_error(sem)
    if value is not None or sem is not None:
        what = "a value" if value is not None else "sem"
        raise LossError(
            f"values are told alone: their mean and standard error follow from them, and {what} "
            "was given as well. Nothing was changed."
        )
    return _mean_and_error(values)


def _mean_and_error(values: Any) -> tuple[float, float | None]:
    if isinstance(values, str | bytes | dict) or not isinstance(values, Iterable):
        raise LossError(
            f"values must be several numbers, as in [3.1, 2.8], got {shown(values)}. Nothing was "
            "changed."
        )
    if isinstance(values, np.ndarray) and values.ndim == 0:
        values = [values]
    numbers = [as_float(value) for value in values]
    finite = [number for number in numbers if number is not None and abs(number) < LARGEST]
    if not numbers or len(finite) < len(numbers):
        raise LossError(
            f"values must be one or more finite numbers below {LARGEST:g}, got {shown(values)}. "
            "Leave out what was lost, or forget the trial if nothing is left. Nothing was changed."
        )
    mean = fsum(finite) / len(finite)
    if len(finite) == 1:
        return mean, None
    square = fsum((number - mean) ** 2 for number in finite) / (len(finite) - 1)
    return mean, sqrt(square / len(finite))


def _checked_error(sem: Any) -> float:
    error = as_float(sem)
    if error is None or not 0.0 <= error < LARGEST:
        raise LossError(
            f"sem is the standard error of the value, a number of at least 0 and below {LARGEST:g};"
            f" got {shown(sem)}. Nothing was changed."
        )
    return error
