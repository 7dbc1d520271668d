"""A whole number between two bounds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from dikin.arguments import is_whole
from dikin.errors import ParameterError, shown
from dikin.plotting.axes import Axis
from dikin.tuning.parameters.base import ParameterKind
from dikin.tuning.parameters.real import check_bounds

MOST = 2**53
"""Beyond it neighbouring whole numbers are the same float."""


@dataclass(frozen=True, eq=False, repr=False)
class Integer(ParameterKind):
    """A whole number between two bounds: a size, a number of workers.

    Every trial has a whole number. Up to four of them are searched as a `Choice` is.

    Parameters
    ----------
    low, high : int
        The bounds, which may be used.
    start : int, optional
        The value in use today, with which tuning begins. The middle of the range by default.
    log : bool, default False
        Whether to search in the logarithm, for a range over powers of ten such as 1 to 1000.

    Examples
    --------
    >>> Integer(1, 9, start=6)
    Integer(low=1, high=9, start=6)
    """

    low: int
    high: int
    start: int | None = None
    log: bool = False

    def __post_init__(self) -> None:
        for name in ("low", "high") if self.start is None else ("low", "high", "start"):
            value = getattr(self, name)
            if not is_whole(value) or abs(int(value)) > MOST:
                wanted = "a whole number" if not is_whole(value) else "between -2^53 and 2^53"
                raise ParameterError(f"{name} of an Integer must be {wanted}, got {shown(value)}")
        check_bounds(self, int)

    @cached_property
    def axis(self) -> Axis:
        """The ends of the numbers, and their scale."""
        return Axis(self.low, self.high, self.log, whole=True)
