"""Named parameters as one convex set: a cube (cut by constraints) and the sets of other kinds.

A *working point* is a point of that set: the coordinates of the parameters. *Values* are one number
for each column: the parameters in their order, each Shares with a column for each part.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from dikin import extras
from dikin.domains.base import Domain
from dikin.domains.box import Box
from dikin.domains.polytope import Polytope
from dikin.domains.product import Product
from dikin.errors import DomainError, ParameterError, did_you_mean, shown
from dikin.plotting.axes import Axis
from dikin.tuning.constraints import Constraint, read_constraints
from dikin.tuning.parameters.base import ParameterKind
from dikin.tuning.parameters.description import check_parameters, parameter_from_spec
from dikin.vectors import Array

ROOM = 0.15
"""A start is moved inside until it has this share of the range to each bound. Exploring needs room,
and from a corner the way to anywhere is long: measured, 0.15 halves what a bad start costs, and a
good one loses little."""

ROUNDING = 1e-9
"""By how much a start may break a constraint, in units of its terms."""
NEAR = 0.03
"""A value nearer to its bound than this part of the range is next to it."""
RESERVED = ("round", "value", "expected", "held", "certificate", "held_back", "expected_control")
"""What a history has besides the parameters."""

Params = dict[str, Any]
"""What each parameter is set to, by name."""


class _Place(NamedTuple):
    """A parameter, and where it stands: in a working point, and among the values."""

    parameter: ParameterKind
    point: slice
    values: slice


class Space:
    """The set that named parameters span, and the way there and back.

    `domain` is the set of working points, `columns` has a name for each value ("price", or
    "traffic.old" for a part of a Shares), `types` its NumPy type, and `by_lot` says whether some
    value is drawn at random.
    """

    def __init__(self, parameters: Mapping[str, ParameterKind], constraints: Any = ()) -> None:
        self.parameters = check_parameters(parameters)
        self.by_lot = any(each.by_lot for each in self.parameters.values())
        limits = self._limits = read_constraints(constraints, self.parameters)
        self.constraints = [constraints] if isinstance(constraints, str) else list(constraints)
        named = {name: each.columns(name) for name, each in self.parameters.items()}
        self.columns = tuple(column for columns in named.values() for column in columns)
        _refuse_names(self.columns)
        self.types = tuple(
            np.int64 if each.axis.whole else np.float64
            for name, each in self.parameters.items()
            for _ in named[name]
        )
        own_domains = {name: each.domain for name, each in self.parameters.items()}
        parts = {name: domain for name, domain in own_domains.items() if domain is not None}
        self._sides = [n for n, columns in named.items() if n not in parts for _ in columns]
        at = _slices({name: len(named[name]) for name in (*dict.fromkeys(self._sides), *parts)})
        values = _slices({name: len(columns) for name, columns in named.items()})
        self._places = [
            _Place(each, at[name], values[name]) for name, each in self.parameters.items()
        ]
        cube = [self._cube(self._sides, limits)] if self._sides else []
        domains = (*cube, *parts.values())
        self.domain = domains[0] if len(domains) == 1 else Product(*domains)

    def _cube(self, sides: list[str], limits: list[Constraint]) -> Domain:
        """The cube, or the part of it in which the constraints hold."""
        ranges = [self.parameters[name].linear_range or (0.0, 1.0) for name in sides]
        low, high = np.array(ranges).T
        factors = np.array([[limit.factors.get(name, 0.0) for name in sides] for limit in limits])
        most = np.array([limit.limit for limit in limits])
        binding = [
            np.maximum(row * low, row * high).sum() > end
            for row, end in zip(factors, most, strict=True)
        ]
        if not any(binding):
            return Box(len(sides) * [0.0], len(sides) * [1.0])
        extras.require("scipy.optimize", "lab", "a constraint")
        factors, most = factors[binding], most[binding]
        eye = np.eye(len(sides))
        rows = np.vstack([factors * (high - low), eye, -eye])
        ends = np.concatenate([most - factors @ low, np.ones(len(sides)), np.zeros(len(sides))])
        try:
            return Polytope(rows, ends)
        except DomainError as reason:
            raise ParameterError(
                f"the constraints {', '.join(map(repr, self.constraints))} leave no room within "
                "the ranges of the parameters: widen a range, or relax a constraint"
            ) from reason

    @property
    def axes(self) -> list[Axis]:
        """How the values of each column are drawn."""
        return [each.axis for name, each in self.parameters.items() for _ in each.columns(name)]

    def refuse_smoothness(self, smoothness: float | None) -> None:
        """Refuse a constant that cannot hold: between whole numbers values have corners."""
        for name, parameter in self.parameters.items():
            if parameter.has_corners and smoothness is not None:
                raise ParameterError(
                    f"smoothness={shown(smoothness)} cannot hold with {name}, {parameter!r}: mean "
                    "values have corners there, as between whole numbers. Give lipschitz instead, "
                    "or neither"
                )

    # --- from points to values -----------------------------------------------------------------

    def played(self, point: Array, uniform: float) -> Array:
        """Return the values of a trial at a working point.

        `uniform` is a random number in [0, 1), the lot of all parameters that draw one: with one
        lot for all of them the mean value stays convex for more than sums of one term each.
        """
        at = point.tolist()
        rows = [each.played_values(at[where], uniform) for each, where, _ in self._places]
        return np.array([value for row in rows for value in row], dtype=float)

    def best(self, point: Array) -> Array:
        """Return the values to settle on at a working point: whole numbers are the nearest ones."""
        at = point.tolist()
        rows = [each.best_values(at[where]) for each, where, _ in self._places]
        return np.array([value for row in rows for value in row], dtype=float)

    def params(self, values: Array) -> Params:
        """Return the values by name: a float, an int, a level, or a dictionary of shares."""
        row = values.tolist()
        settings = (each.setting(row[where]) for each, _, where in self._places)
        return dict(zip(self.parameters, settings, strict=True))

    def bounds_near(self, values: Array) -> Params:
        """The bounds that values are next to, by name; a wider range may be worth a try there."""
        row, bounds = values.tolist(), {}
        for name, (each, _, where) in zip(self.parameters, self._places, strict=True):
            two_alone = each.by_lot and not each.has_corners  # and so both are bounds
            if name in self._sides and not two_alone:
                at = each.coordinates(row[where])
                ends = [round(u) for u in at if not NEAR <= u <= 1.0 - NEAR]
                if len(ends) == len(at):
                    bounds[name] = each.setting(each.best_values(ends))
        return bounds

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
        for each, _, where in self._places:
            start = each.start_values()
            if start is not None:
                values[where] = start
        return values

    def control_values(self, control: Any) -> Array:
        """Return the values of a setting to compare with, checked.

        A parameter that is left out is as at the start.
        """
        if control is None:
            control = {}
        if not isinstance(control, Mapping):
            raise ParameterError(
                'control must be a setting by name, such as {"price": 4}, got ' + shown(control)
            )
        parameters = dict(self.parameters)
        for name, value in control.items():
            if name not in parameters:
                near = did_you_mean(str(name), parameters)
                raise ParameterError(f"control has no parameter {shown(name)}.{near}")
            if value is None:
                raise ParameterError(f"control has no value for {name}: leave it out for its start")
            try:
                parameters[name] = parameters[name].with_start(value)
            except ParameterError as reason:
                raise ParameterError(
                    f"control cannot set {name} to {shown(value)}: {reason}"
                ) from reason
        there = Space(parameters, self.constraints)
        if control:
            try:
                there._refuse_start()
            except ParameterError as reason:
                raise ParameterError(f"control cannot be played: {reason}") from reason
        return there.start_values

    def _declared_start(self) -> Array:
        point = self.domain.center.copy()
        for each, where, _ in self._places:
            start = each.start_values()
            if start is not None:
                point[where] = each.coordinates(start)
        return point

    def _refuse_start(self) -> None:
        """Refuse a start that breaks a constraint; one that lies on its limit does not."""
        started = self.params(self.start_values)
        for limit in self._limits:
            terms = [factor * started[name] for name, factor in limit.factors.items()]
            slack = ROUNDING * (abs(limit.limit) + sum(map(abs, terms)))
            if sum(terms) > limit.limit + slack:
                values = {name: started[name] for name in limit.factors}
                raise ParameterError(
                    f"the start {values} breaks a constraint ({limit.text}); give every parameter "
                    "in it a start that satisfies it"
                )

    # --- as JSON -------------------------------------------------------------------------------

    def spec(self) -> dict[str, Any]:
        """The space as JSON values."""
        parameters = {name: each.spec() for name, each in self.parameters.items()}
        return {"parameters": parameters, "constraints": self.constraints}

    @classmethod
    def from_spec(cls, spec: dict[str, Any]) -> Space:
        """Return the space that `spec` described."""
        parameters = spec["parameters"]
        if not isinstance(parameters, dict):
            raise ParameterError(f"parameters must be an object of names, got {shown(parameters)}")
        return cls(
            {name: parameter_from_spec(name, each) for name, each in parameters.items()},
            spec.get("constraints", ()),
        )


def _refuse_names(columns: tuple[str, ...]) -> None:
    """Refuse columns of one name, in a history too."""
    for name in columns:
        if name in RESERVED:
            raise ParameterError(
                f"a parameter cannot be called {name!r}: that is a column of the history. Rename "
                f"it, for example {shown(name + '_setting')}"
            )
    for title, count in Counter([*columns, *(f"best.{each}" for each in columns)]).items():
        if count > 1:
            raise ParameterError(f"two values would be called {title!r}: rename a parameter")


def _slices(sizes: dict[str, int]) -> dict[str, slice]:
    """Where each name stands in a row that has so many numbers of each."""
    ends = accumulate(sizes.values())
    return {
        name: slice(end - size, end) for (name, size), end in zip(sizes.items(), ends, strict=True)
    }


def _moved_inside(domain: Domain, point: Array) -> Array:
    """The point, or the nearest one with room in a box, and on its way to the centre elsewhere."""
    if isinstance(domain, Box):
        return np.clip(point, ROOM, 1.0 - ROOM)
    offset, most = domain.locate(point), 1.0 - 2.0 * ROOM
    gauge = domain.gauge(offset)
    return point if gauge <= most else domain.point(most / gauge * offset)
