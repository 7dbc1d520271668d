"""Strong convexity of the losses, round by round: the patterns of the paper's two tables.

A pattern is a value, `pattern.at(t)` the curvature of round t = 1, 2, ..., and `pattern.sigma` the
largest. A pattern of your own is a NamedTuple with these two. A smoothness or a Lipschitz constant
that changes is a pattern too.
"""

from __future__ import annotations

from math import inf, isfinite
from typing import Any, NamedTuple, Protocol

from dikin.arguments import positive
from dikin.errors import ParameterError


class Pattern(Protocol):
    """A curvature for every round."""

    @property
    def sigma(self) -> float:
        """The largest curvature."""
        ...

    def at(self, round: int) -> float:
        """The curvature of a round.

        Parameters
        ----------
        round : int
            The round t = 1, 2, ...

        Returns
        -------
        float
            The strong convexity of its loss.
        """
        ...


class Constant(NamedTuple):
    """The same curvature, sigma, in every round.

    Parameters
    ----------
    sigma : float
        The curvature, finite and not negative.
    """

    sigma: float

    def at(self, round: int) -> float:
        return self.sigma


class Decaying(NamedTuple):
    """A curvature that falls with the round t: sigma t^(-alpha).

    Parameters
    ----------
    sigma : float
        The curvature of the first round, finite and not negative.
    alpha : float
        The exponent by which it falls, at least 0.
    """

    sigma: float
    alpha: float

    def at(self, round: int) -> float:
        return float(self.sigma * float(round) ** -self.alpha)


class FlatFirst(NamedTuple):
    """No curvature in the first rounds, then sigma.

    Parameters
    ----------
    sigma : float
        The curvature of the later rounds, finite and not negative.
    rounds : int
        Number of flat rounds at the beginning, possibly 0.
    """

    sigma: float
    rounds: int

    def at(self, round: int) -> float:
        return self.sigma if round > self.rounds else 0.0


class FlatLast(NamedTuple):
    """Curvature sigma, and none in the last rounds of a game.

    Parameters
    ----------
    sigma : float
        The curvature of the earlier rounds, finite and not negative.
    horizon : int
        How many rounds the game has. Later rounds are flat, too.
    rounds : int
        Number of flat rounds at the end, possibly 0.
    """

    sigma: float
    horizon: int
    rounds: int

    def at(self, round: int) -> float:
        return self.sigma if round <= self.horizon - self.rounds else 0.0


for _pattern in (Constant, Decaying, FlatFirst, FlatLast):
    # A NamedTuple has no base to inherit a docstring from.
    _pattern.at.__doc__ = Pattern.at.__doc__


def as_pattern(curvature: Any) -> Any:
    """A number or pattern among the arguments, as a pattern."""
    pattern = curvature
    if not hasattr(curvature, "at"):
        try:
            pattern = Constant(float(curvature))
        except (TypeError, ValueError) as reason:
            raise ParameterError(
                f"curvature must be a number or a pattern such as Decaying(1.0, 0.5), "
                f"got {curvature!r}"
            ) from reason
    if not (isfinite(pattern.sigma) and pattern.sigma >= 0):
        raise ParameterError(f"curvature must be finite and not negative, got {curvature!r}")
    if isinstance(pattern, Decaying) and not 0 <= pattern.alpha < inf:
        raise ParameterError(f"alpha of a decaying curvature must be at least 0, got {pattern!r}")
    if isinstance(pattern, FlatFirst | FlatLast) and pattern.rounds < 0:
        raise ParameterError(f"the number of flat rounds must not be negative, got {pattern!r}")
    return pattern


def as_positive_pattern(constant: Any, name: str) -> Any:
    """A smoothness or a Lipschitz constant among the arguments, or a pattern of them."""
    if not hasattr(constant, "at"):
        return Constant(positive(constant, name))
    pattern = as_pattern(constant)
    positive(pattern.sigma, f"the largest {name}")
    return pattern
