"""The arguments of a learner's constructor, each declared once.

A declaration on the class says how an argument is checked, what it is in the paper's units, and how
strongly convex a loss can be that keeps it. To assign the attribute checks it; `Learner.arguments`,
`Learner.curvature_limit` and saved states follow from the declarations.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

from dikin.arguments import moderate, nonnegative, positive
from dikin.domains.base import Domain
from dikin.units import Units

T = TypeVar("T")

Limit = tuple[float, str]
"""The largest strong convexity of a loss in the user's units, and the reason."""

LINEAR: Limit = (0.0, "as linear losses are not strongly convex")


def limit_of_smooth(smoothness: float, domain: Domain) -> Limit:
    """A smooth loss is at most as strongly convex as it is smooth."""
    return smoothness, "the smoothness that this learner was built with"


def limit_of_lipschitz(lipschitz: float, domain: Domain) -> Limit:
    """The limit of a Lipschitz loss on a set of diameter D (docs/mathematics.md)."""
    return 4.0 * lipschitz / domain.diameter, "4 L/D: no loss of this Lipschitz constant has more"


class Parameter(Generic[T]):
    """An argument of a constructor, as an attribute that checks what it is set to.

    Parameters
    ----------
    check
        Gives the value to keep, from what came and the argument's name; or raises.
    scaled
        The value in the paper's units, from the learner's units and the value.
    limit
        The largest strong convexity of a loss that keeps the argument.
    """

    def __init__(
        self,
        check: Callable[[Any, str], T],
        *,
        scaled: Callable[[Units, float], float] | None = None,
        limit: Callable[[float, Domain], Limit] | None = None,
    ) -> None:
        self.check, self.scaled, self.limit = check, scaled, limit
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, learner: None, owner: type) -> Self: ...

    @overload
    def __get__(self, learner: object, owner: type) -> T: ...

    def __get__(self, learner: object | None, owner: type) -> T | Self:
        if learner is None:
            return self
        try:
            value: T = vars(learner)[self.name]
        except KeyError:
            raise AttributeError(f"{owner.__name__} was not given {self.name} yet") from None
        return value

    def __set__(self, learner: object, value: Any) -> None:
        vars(learner)[self.name] = self.check(value, self.name)

    def in_units(self, units: Units, value: float) -> float:
        """The value in the paper's units, refused where it is too large to compute with."""
        assert self.scaled is not None
        return moderate(self.scaled(units, value), self.name, value)


def smoothness() -> Parameter[float]:
    """A constant beta with f(x + v) <= f(x) + f'(x).v + beta/2 |v|^2 for every loss."""
    return Parameter(nonnegative, scaled=Units.curvature, limit=limit_of_smooth)


def lipschitz() -> Parameter[float]:
    """A constant L > 0 with |f(x) - f(x')| <= L |x - x'| for every loss."""
    return Parameter(positive, scaled=Units.slope, limit=limit_of_lipschitz)
