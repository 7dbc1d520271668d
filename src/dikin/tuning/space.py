"""Named parameters as one convex set: a cube (cut by constraints), and a simplex for each Shares.

A *working point* is a point of that set. *Values* are what the user reads, one number for each
column: the parameters in their order, each Shares with a column for each part.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from dikin import extras
from dikin.domains.base import Domain
from dikin.domains.box import Box
from dikin.domains.polytope import Polytope
from dikin.domains.product import Product
from dikin.domains.simplex import Simplex
from dikin.errors import DomainError, ParameterError, shown
from dikin.tuning.constraints import Constraint, read_constraints
from dikin.tuning.parameters import (
    Integer,
    Interval,
    Parameter,
    Real,
    Shares,
    check_parameters,
    parameter_from_spec,
    spec_of,
)
from dikin.vectors import Array

ROOM = 0.15
"""A start is moved inside until it has this share of the range to each bound. Exploring needs room,
and from a corner the way to anywhere is long: measured, 0.15 halves what a bad start costs, and a
good one loses little."""

ROUNDING = 1e-9
"""By how much a start may break a constraint, in units of its terms."""
RESERVED = ("round", "value", "expected", "held", "certificate")
"""What a history has besides the parameters."""

Params = dict[str, Any]
"""Values by name: a float, an int, or a dictionary of shares."""


class _Place(NamedTuple):
    """Where a parameter stands: in a working point, and among the values."""

    point: slice
    values: slice


class Space:
    """The set that named parameters span, and the way there and back.

    Parameters
    ----------
    parameters : mapping
        From names to `Real`, `Integer` or `Shares`.
    constraints : sequence of str, default ()
        Linear constraints between parameters, such as "ads + 3 * staff <= 100".

    Attributes
    ----------
    parameters : dict
        As given.
    constraints : list of str
        As given.
    domain : Domain
        The set of working points.
    columns : tuple of str
        A name for each value: "price", and "traffic.old" for a part of a Shares.
    types : tuple of type
        The NumPy type of each value: int64 for an Integer.

    Raises
    ------
    ParameterError
        If a parameter or a constraint is unusable, or no setting satisfies the constraints.
    """

    def __init__(self, parameters: Mapping[str, Parameter], constraints: Any = ()) -> None:
        self.parameters = check_parameters(parameters)
        limits = self._limits = read_constraints(constraints, self.parameters)
        self.constraints = [constraints] if isinstance(constraints, str) else list(constraints)
        self._intervals: dict[str, Interval] = {}
        self._shares: dict[str, Shares] = {}
        for name, parameter in self.parameters.items():
            if isinstance(parameter, Shares):
                self._shares[name] = parameter
            else:
                self._intervals[name] = parameter
        self._places = self._placed()
        self.columns = tuple(
            column
            for name, parameter in self.parameters.items()
            for column in _columns(name, parameter)
        )
        for name in self.columns:
            if name in RESERVED:
                raise ParameterError(
                    f"a parameter cannot be called {name!r}: that is a column of the history. "
                    f"Rename it, for example {shown(name + '_setting')}"
                )
        self.types = tuple(
            np.int64 if isinstance(parameter, Integer) else np.float64
            for parameter in self.parameters.values()
            for _ in range(_size(parameter))
        )
        titles = Counter([*self.columns, *(f"best.{each}" for each in self.columns)])
        for title, count in titles.items():
            if count > 1:  # two columns of a history
                raise ParameterError(f"two values would be called {title!r}: rename a parameter")
        self.domain = self._domain(limits)

    def _placed(self) -> dict[str, _Place]:
        points, at = {}, 0
        for name in (*self._intervals, *self._shares):
            size = _size(self.parameters[name])
            points[name] = slice(at, at + size)
            at += size
        places, at = {}, 0
        for name, parameter in self.parameters.items():
            places[name] = _Place(points[name], slice(at, at + _size(parameter)))
            at += _size(parameter)
        return places

    def _domain(self, limits: list[Constraint]) -> Domain:
        parts: list[Domain] = []
        if self._intervals:
            sides = len(self._intervals)
            binding = [limit for limit in limits if self._can_break(limit)]
            parts.append(self._cut_cube(binding) if binding else Box(sides * [0.0], sides * [1.0]))
        parts += [Simplex(len(parameter.names)) for parameter in self._shares.values()]
        return parts[0] if len(parts) == 1 else Product(*parts)

    def _can_break(self, limit: Constraint) -> bool:
        """Whether some setting within the ranges breaks a constraint."""
        most = 0.0
        for name, factor in limit.factors.items():
            side = self._intervals[name]
            most += max(factor * side.low, factor * side.high)
        return most > limit.limit

    def _cut_cube(self, limits: list[Constraint]) -> Domain:
        """The part of the cube in which the constraints hold."""
        extras.require("scipy.optimize", "lab", "a constraint")
        names = list(self._intervals)
        low = np.array([float(each.low) for each in self._intervals.values()])
        side = np.array([float(each.high) for each in self._intervals.values()]) - low
        factors = np.array([[limit.factors.get(name, 0.0) for name in names] for limit in limits])
        most = np.array([limit.limit for limit in limits]) - factors @ low
        eye = np.eye(len(names))
        rows = np.vstack([factors * side, eye, -eye])
        ends = np.concatenate([most, np.ones(len(names)), np.zeros(len(names))])
        try:
            return Polytope(rows, ends)
        except DomainError as reason:
            raise ParameterError(
                f"the constraints {', '.join(map(repr, self.constraints))} leave no room within "
                "the ranges of the parameters: widen a range, or relax a constraint"
            ) from reason

    @property
    def ranges(self) -> list[list[float]]:
        """The least and the largest value of each column."""
        return [
            [0.0, 1.0] if isinstance(each, Shares) else [each.low, each.high]
            for each in self.parameters.values()
            for _ in range(_size(each))
        ]

    @property
    def log(self) -> list[bool]:
        """Whether a column has a logarithmic scale, for each of them."""
        return [
            isinstance(each, Real) and each.log
            for each in self.parameters.values()
            for _ in range(_size(each))
        ]

    # --- from points to values -----------------------------------------------------------------

    @property
    def has_whole_numbers(self) -> bool:
        """Whether some value is drawn by lot from the two whole numbers around a coordinate."""
        return np.int64 in self.types

    def played(self, point: Array, uniform: float) -> Array:
        """The values to play at a working point.

        Parameters
        ----------
        point : Array
            In the domain.
        uniform : float
            A random number in [0, 1), by which all whole numbers are rounded: with one lot for all
            of them the mean value stays convex for more than sums of one term each.

        Returns
        -------
        Array
            One value for each column.
        """
        return self._values(point, lambda side, u: side.played(u, uniform))

    def best(self, point: Array) -> Array:
        """The values to settle on at a working point: whole numbers are the nearest ones.

        Parameters
        ----------
        point : Array
            In the domain.

        Returns
        -------
        Array
            One value for each column.
        """
        return self._values(point, lambda side, u: side.best(u))

    def _values(self, point: Array, of: Callable[[Interval, float], float]) -> Array:
        values = np.empty(point.size)
        for name, (where, column) in self._places.items():
            side = self._intervals.get(name)
            values[column] = point[where] if side is None else of(side, float(point[where][0]))
        return values

    def params(self, values: Array) -> Params:
        """The values by name.

        Parameters
        ----------
        values : Array
            One for each column.

        Returns
        -------
        dict
            A float, an int, or a dictionary of shares for each parameter.
        """
        found: Params = {}
        for name, parameter in self.parameters.items():
            part = values[self._places[name].values]
            if isinstance(parameter, Shares):
                found[name] = dict(zip(parameter.names, part.tolist(), strict=True))
            else:
                found[name] = parameter.shown(part[0])
        return found

    # --- the start -----------------------------------------------------------------------------

    @property
    def start(self) -> Array | None:
        """Today's values as a working point, moved inside; None if no parameter has a start."""
        if all(parameter.start is None for parameter in self.parameters.values()):
            return None
        point = self._declared_start()
        self._refuse_start()
        parts = self.domain.parts if isinstance(self.domain, Product) else (self.domain,)
        pieces = self.domain.split(point) if isinstance(self.domain, Product) else [point]
        moved = [_moved_inside(part, piece) for part, piece in zip(parts, pieces, strict=True)]
        return np.concatenate(moved)

    @property
    def start_values(self) -> Array:
        """Today's values as given; where a parameter has none, that of the centre."""
        values = self.best(self.domain.center)
        for name, parameter in self.parameters.items():
            if isinstance(parameter, Shares):
                values[self._places[name].values] = parameter.start_point()
            elif parameter.start is not None:
                values[self._places[name].values] = float(parameter.start)
        return values

    def _declared_start(self) -> Array:
        point = self.domain.center.copy()
        for name, parameter in self.parameters.items():
            if isinstance(parameter, Shares):
                point[self._places[name].point] = parameter.start_point()
            elif parameter.start is not None:
                point[self._places[name].point] = parameter.to_unit(float(parameter.start))
        return point

    def _refuse_start(self) -> None:
        """Refuse a start that breaks a constraint; one that lies on its limit does not."""
        started = self.params(self.start_values)
        for limit in self._limits:
            terms = [factor * started[name] for name, factor in limit.factors.items()]
            slack = ROUNDING * (abs(limit.limit) + sum(map(abs, terms)))
            if sum(terms) > limit.limit + slack:
                given = {name: started[name] for name in limit.factors}
                raise ParameterError(
                    f"the start {given} breaks a constraint ({limit.text}); give every parameter "
                    "in it a start that satisfies it"
                )

    # --- as JSON -------------------------------------------------------------------------------

    def spec(self) -> dict[str, Any]:
        """The space as JSON values."""
        parameters = {name: spec_of(each) for name, each in self.parameters.items()}
        return {"parameters": parameters, "constraints": self.constraints}

    @classmethod
    def from_spec(cls, spec: dict[str, Any]) -> Space:
        """The space that `spec` described.

        Parameters
        ----------
        spec : dict
            What `spec` gave.
        """
        parameters = spec["parameters"]
        if not isinstance(parameters, dict):
            raise ParameterError(f"parameters must be an object of names, got {shown(parameters)}")
        return cls(
            {name: parameter_from_spec(name, each) for name, each in parameters.items()},
            spec.get("constraints", ()),
        )


def _size(parameter: Parameter) -> int:
    return len(parameter.names) if isinstance(parameter, Shares) else 1


def _columns(name: str, parameter: Parameter) -> list[str]:
    if isinstance(parameter, Shares):
        return [f"{name}.{part}" for part in parameter.names]
    return [name]


def _moved_inside(domain: Domain, point: Array) -> Array:
    """The point, or the nearest one with room in a box, and on its way to the centre elsewhere."""
    if isinstance(domain, Box):
        return np.clip(point, ROOM, 1.0 - ROOM)
    offset, most = domain.locate(point), 1.0 - 2.0 * ROOM
    gauge = domain.gauge(offset)
    return point if gauge <= most else domain.point(most / gauge * offset)
