"""Names that were given up and still work."""

from __future__ import annotations

import warnings
from operator import attrgetter
from typing import Any


def renamed(old: str, new: str) -> property:
    """An attribute by its former name: reads the new one, with a `DeprecationWarning`."""
    read = attrgetter(new)

    def read_with_warning(self: object) -> Any:
        warnings.warn(f"use {new} instead of {old}", DeprecationWarning, stacklevel=2)
        return read(self)

    return property(read_with_warning, doc=f"Deprecated: use `{new}`.")
