"""The old name of `dikin.theory.schedules`."""

import warnings
from typing import Any

from dikin.theory import schedules


def __getattr__(name: str) -> Any:
    value = getattr(schedules, name)
    warnings.warn(
        "dikin.theory.tuning is now dikin.theory.schedules", DeprecationWarning, stacklevel=2
    )
    return value
