"""How strongly convex the losses are, round by round: the patterns of the paper's two tables.

A pattern is a value, `pattern.at(t)` the curvature of round t = 1, 2, ..., and `pattern.sigma` the
largest. One's own pattern is a NamedTuple with these two.
"""

from __future__ import annotations

from math import inf, isfinite
from typing import Any, NamedTuple, Protocol

from dikin.errors import CurvatureError


class Pattern(Protocol):
    """A curvature for every round."""

    @property
    def sigma(self) -> float:
        """The largest curvature."""
        ...

    def at(self, round: int) -> float:
        """The curvature of a round."""
        ...


class Constant(NamedTuple):
    """sigma in every round."""

    sigma: float

    def at(self, round: int) -> float:
        return self.sigma


class Decaying(NamedTuple):
    """sigma t^(-alpha)."""

    sigma: float
    alpha: float

    def at(self, round: int) -> float:
        bend: float = self.sigma * float(round) ** -self.alpha
        return bend


class FlatFirst(NamedTuple):
    """Nothing in the first `rounds` rounds, then sigma."""

    sigma: float
    rounds: int

    def at(self, round: int) -> float:
        return self.sigma if round > self.rounds else 0.0


class FlatLast(NamedTuple):
    """sigma, and nothing in the last `rounds` of `horizon` rounds."""

    sigma: float
    horizon: int
    rounds: int

    def at(self, round: int) -> float:
        return self.sigma if round <= self.horizon - self.rounds else 0.0


def as_pattern(curvature: Any) -> Any:
    """A number or pattern as a checked pattern."""
    pattern = curvature
    if not hasattr(curvature, "at"):
        try:
            pattern = Constant(float(curvature))
        except (TypeError, ValueError) as reason:
            raise CurvatureError(
                f"curvature must be a number or a pattern such as Decaying(1.0, 0.5), "
                f"got {curvature!r}"
            ) from reason
    if not (isfinite(pattern.sigma) and pattern.sigma >= 0):
        raise CurvatureError(f"curvature must be finite and not negative, got {curvature!r}")
    if isinstance(pattern, Decaying) and not 0 <= pattern.alpha < inf:
        raise CurvatureError(f"alpha of a decaying curvature must be at least 0, got {pattern!r}")
    if isinstance(pattern, FlatFirst | FlatLast) and pattern.rounds < 0:
        raise CurvatureError(f"the number of flat rounds must not be negative, got {pattern!r}")
    return pattern
