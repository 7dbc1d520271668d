"""One of several values without an order."""

from __future__ import annotations

from dataclasses import dataclass

from dikin.errors import ParameterError
from dikin.tuning.parameters.levels import Levels

MOST = 16
"""Values of a choice: each needs rounds of its own."""


@dataclass(frozen=True, eq=False, repr=False)
class Choice(Levels):
    """One of 2 to 16 values without an order: a codec, an algorithm, a layout.

    Each value has a level and a best setting of the other parameters of its own, and both resemble
    those of the other values until measurements say otherwise. For values in an order use `Levels`.

    In `trial.point` and in a history a value stands as its position.

    Parameters
    ----------
    values : sequence of float or str
        Different numbers or texts.
    start : float or str, optional
        The value in use today, with which tuning begins. The first one by default.

    Examples
    --------
    >>> Choice(["lz4", "zstd"], start="zstd")
    Choice(values=('lz4', 'zstd'), start='zstd')
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.values) > MOST:
            raise ParameterError(f"a Choice has 2 to {MOST} values, got {len(self.values)}")

    @property
    def options(self) -> int:
        return len(self.values)

    @property
    def grid(self) -> None:
        return None
