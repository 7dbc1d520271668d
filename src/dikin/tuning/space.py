"""Named parameters as one convex set, with the way there and back.

*Values* are one number for each column: the parameters in their order, each Shares with a column
for each part. A *working point* has the coordinates that are searched: the cube [-1, 1]^d, or a
polytope around 0 where there are constraints or shares. *Picks* are the positions of the values of
choices.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from dikin import extras
from dikin.domains.polytope import Polytope
from dikin.domains.simplex import Simplex
from dikin.errors import DomainError, ParameterError, did_you_mean, shown
from dikin.plotting.axes import Axis
from dikin.tuning.constraints import read_constraints
from dikin.tuning.parameters.base import ParameterKind
from dikin.tuning.parameters.description import check_parameters, parameter_from_spec
from dikin.tuning.sets import Cube, Cut
from dikin.vectors import Array

EDGE = 0.98
"""The start is moved to this share of the way to a bound: exploring needs room."""
ROUNDING = 1e-9
"""By how much a start may break a constraint, in units of its terms."""
NEAR = 0.03
"""A value nearer to its bound than this part of the range is next to it."""
RESERVED = ("round", "value", "expected", "paused", "failed", "held_back", "expected_control")
"""Columns of a history besides the parameters."""
PREFIXES = ("metric.", "context.", "covariate.")
"""Beginnings of other columns of a history."""

Params = dict[str, Any]
"""The value of each parameter, by name."""


class _Place(NamedTuple):
    """A parameter, and its place among the coordinates, the picks and the values."""

    parameter: ParameterKind
    at: slice
    pick: int | None
    values: slice


class Space:
    """The set that named parameters span, and the way there and back.

    Parameters
    ----------
    parameters : mapping
        From names to parameters such as `Real`.
    constraints : sequence of str, default ()
        Linear constraints between parameters, such as "ads + 3 * staff <= 100".

    Attributes
    ----------
    parameters : dict
        As given.
    constraints : list of str
        As given.
    set : Cube or Cut
        The set of working points.
    sides, picks : dict
        The coordinate of each number, and the place of each choice among the picks, by name.
    grids : list
        For each working coordinate the places that can be used; None for all.
    options : tuple of int
        The number of values of each choice.
    columns : tuple of str
        A name for each value: "price", and "traffic.old" for a part of a Shares.
    types : tuple of type
        The NumPy type of each value: int64 for whole numbers.

    Raises
    ------
    ParameterError
        If a parameter or a constraint is unusable, or no setting satisfies the constraints.
    """

    def __init__(self, parameters: Mapping[str, ParameterKind], constraints: Any = ()) -> None:
        self.parameters = check_parameters(parameters)
        self._limits = read_constraints(constraints, self.parameters)
        self.constraints = [constraints] if isinstance(constraints, str) else list(constraints)
        kinds = self.parameters
        names = {name: columns_of(name, each) for name, each in kinds.items()}
        self.columns = tuple(column for columns in names.values() for column in columns)
        _refuse_names(self.columns)
        self.types = tuple(np.int64 if axis.whole else np.float64 for axis in self.axes)
        chosen = [name for name, each in kinds.items() if each.options]
        self.picks = {name: k for k, name in enumerate(chosen)}
        self.options = tuple(kinds[name].options for name in chosen)
        wide = [name for name, each in kinds.items() if each.parts]
        sides = [name for name in kinds if name not in (*chosen, *wide)]
        self.sides = {name: i for i, name in enumerate(sides)}
        self._span(sides, [len(kinds[name].parts) for name in wide])
        order = [*sides, *wide]
        at = dict(zip(order, _slices([len(names[name]) for name in order]), strict=True))
        values = _slices([len(each) for each in names.values()])
        self._places = [
            _Place(each, at.get(name, slice(0, 0)), self.picks.get(name), where)
            for (name, each), where in zip(kinds.items(), values, strict=True)
        ]
        grids = [kinds[name].grid for name in sides]
        self.grids = [
            None if grid is None else (grid - self._origin[i]) / self._basis[i, i]
            for i, grid in enumerate(grids)
        ] + [None] * (self.set.d - len(sides))

    def _span(self, sides: list[str], shares: list[int]) -> None:
        """Set the origin and the basis of working points, and the set of them."""
        limits = self._limits
        k, n = len(sides), len(sides) + sum(shares)
        d = n - len(shares)
        self._origin, self._basis = np.full(n, 0.5), np.zeros((n, d))
        self._basis[:k, :k] = 0.5 * np.eye(k)
        row, column = k, k
        for size in shares:
            self._origin[row : row + size] = 1.0 / size
            self._basis[row : row + size, column : column + size - 1] = 0.5 * Simplex(size).basis
            row, column = row + size, column + size - 1
        ranges = [self.parameters[name].linear_range or (0.0, 1.0) for name in sides]
        low, high = np.array(ranges).reshape(k, 2).T
        factors = np.array([[limit.factors.get(name, 0.0) for name in sides] for limit in limits])
        factors = factors.reshape(len(limits), k)
        most = np.array([limit.limit for limit in limits])
        binding = np.maximum(factors * low, factors * high).sum(axis=1) > most
        rows, ends = factors[binding] * (high - low), most[binding] - factors[binding] @ low
        if binding.any():
            extras.require("scipy.optimize", "lab", "a constraint")
            eye = np.eye(k)
            try:
                cut = Polytope(
                    np.vstack([rows, eye, -eye]), np.concatenate([ends, np.ones(k), np.zeros(k)])
                )
            except DomainError as reason:
                raise ParameterError(
                    f"the constraints {', '.join(map(repr, self.constraints))} leave no room "
                    "within the ranges of the parameters: widen a range, or relax a constraint"
                ) from reason
            self._origin[:k] = cut.center
        if not binding.any() and not shares:
            self.set: Cube | Cut = Cube(d)
            return
        whole = np.zeros((len(rows), n))
        whole[:, :k] = rows
        outer = np.vstack([whole, np.eye(n)[:k], -np.eye(n)])
        slack = np.concatenate([ends, np.ones(k), np.zeros(n)]) - outer @ self._origin
        self.set = Cut(outer @ self._basis, slack)

    @property
    def axes(self) -> list[Axis]:
        """The scale of each column."""
        return [each.axis for each in self.parameters.values() for _ in each.parts or (each,)]

    # --- working points and values -------------------------------------------------------------

    def values(self, x: Array, picks: tuple[int, ...]) -> Array:
        """Return the values at a working point, one for each column."""
        at = (self._origin + self._basis @ x).tolist()
        row: list[float] = []
        for each, where, pick, _ in self._places:
            row += map(each.best, at[where]) if pick is None else [each.axis.low + picks[pick]]
        return np.array(row, dtype=float)

    def locate(self, values: Array) -> tuple[Array, tuple[int, ...]]:
        """Return the working point and the picks of some values."""
        row, at, picks = values.tolist(), self._origin.copy(), [0] * len(self.options)
        for each, where, pick, place in self._places:
            if pick is None:
                at[where] = [each.to_unit(value) for value in row[place]]
            else:
                picks[pick] = round(row[place.start] - each.axis.low)
        at -= self._origin
        if isinstance(self.set, Cube):  # the basis is diagonal
            return at / np.diagonal(self._basis), tuple(picks)
        return np.linalg.lstsq(self._basis, at)[0], tuple(picks)

    def params(self, values: Array) -> Params:
        """Return the values by name: a float, an int, a level, or a dictionary of shares."""
        row = values.tolist()
        settings = (each.setting(row[where]) for each, _, _, where in self._places)
        return dict(zip(self.parameters, settings, strict=True))

    def interval(self, name: str, found: Sequence[float]) -> tuple[float, float, float]:
        """Return a coordinate with the ends of its interval as values of a number."""
        i, each = self.sides[name], self.parameters[name]
        middle, *ends = (
            each.best(float(self._origin[i] + self._basis[i, i] * end)) for end in found
        )
        return middle, min(middle, *ends), max(middle, *ends)

    def bounds_near(self, values: Array) -> Params:
        """Return the bounds that values are next to; a wider range may be worth a try there."""
        row, bounds = values.tolist(), {}
        for name, (each, _, _, where) in zip(self.parameters, self._places, strict=True):
            if name in self.sides:
                u = each.to_unit(row[where.start])
                if not NEAR <= u <= 1.0 - NEAR:
                    bounds[name] = each.shown(each.best(float(round(u))))
        return bounds

    # --- the start -----------------------------------------------------------------------------

    def start(self) -> tuple[Array, tuple[int, ...]]:
        """Return the start as a working point a little inside, and its picks."""
        self._refuse_start()
        x, picks = self.locate(self.start_values)
        return self.set.inside(x, EDGE), picks

    @property
    def start_values(self) -> Array:
        """The start as given; where a parameter has none, the middle, or the first choice."""
        values = self.values(np.zeros(self.set.d), (0,) * len(self.options))
        for each, _, _, where in self._places:
            if each.parts and each.start is not None:
                values[where] = np.array(each.start) / np.sum(each.start)
            elif each.start is not None:
                values[where] = each.number(each.start)
            elif each.options and each.grid is not None:
                values[where] += each.options // 2
        return values

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

    def checked(self, params: Any, what: str, whole: bool = True) -> Array:
        """Return the values of a setting by name; what may be left out is as at the start."""
        if not isinstance(params, Mapping):
            raise ParameterError(
                f'{what} must be a setting by name, such as {{"price": 4}}, got {shown(params)}'
            )
        parameters = dict(self.parameters)
        for name, value in params.items():
            if name not in parameters:
                near = did_you_mean(str(name), parameters)
                raise ParameterError(f"{what} has no parameter {shown(name)}.{near}")
            if value is None:
                raise ParameterError(f"{what} has no value for {name}: leave it out for its start")
            try:
                parameters[name] = parameters[name].with_start(value)
            except ParameterError as reason:
                raise ParameterError(
                    f"{what} cannot set {name} to {shown(value)}: {reason}"
                ) from reason
        missing = [name for name in self.parameters if name not in params]
        if whole and missing:
            raise ParameterError(
                f"{what} lacks {', '.join(missing)}, got {shown(dict(params))}. Nothing was "
                "changed."
            )
        there = Space(parameters, self.constraints)
        if params:
            try:
                there._refuse_start()
            except ParameterError as reason:
                raise ParameterError(f"{what} cannot be used: {reason}") from reason
        return there.start_values

    def converted(self, values: Array, before: Space) -> Array | None:
        """Return the values of another space's setting in this one.

        A parameter that is new is at its start, a number outside its range stays as it is. None if
        a level or a choice is gone.
        """
        old, row = dict(zip(before.columns, values.tolist(), strict=True)), self.start_values
        for name, (each, _, _, where) in zip(self.parameters, self._places, strict=True):
            was, columns, axis = before.parameters.get(name), self.columns[where], each.axis
            if type(was) is not type(each) or not set(columns) <= old.keys():
                continue
            if axis.labels:
                value, known = was.shown(old[name]), map(each.shown, range(len(axis.labels)))
                if value not in known:
                    return None
                row[where] = each.number(value)
            elif each.options and not axis.low <= old[name] <= axis.high:
                return None
            else:
                row[where] = [old[column] for column in columns]
                if axis.log:  # below 0 there is no logarithm
                    row[where] = np.maximum(row[where], axis.low)
        return row

    # --- as JSON -------------------------------------------------------------------------------

    def spec(self) -> dict[str, Any]:
        """Return the space as JSON values."""
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


def columns_of(name: str, parameter: ParameterKind) -> tuple[str, ...]:
    """Return a name for each value of a parameter."""
    return tuple(f"{name}.{part}" for part in parameter.parts) or (name,)


def _refuse_names(columns: tuple[str, ...]) -> None:
    """Refuse columns of one name, in a history too."""
    for name in columns:
        if name in RESERVED or name.startswith(PREFIXES):
            raise ParameterError(
                f"a parameter cannot be called {name!r}: that is a column of the history. Rename "
                f"it, for example {shown(name + '_setting')}"
            )
    for title, count in Counter([*columns, *(f"best.{each}" for each in columns)]).items():
        if count > 1:
            raise ParameterError(f"two values would be called {title!r}: rename a parameter")


def _slices(sizes: Sequence[int]) -> list[slice]:
    """Return the places of so many numbers each, one after the other."""
    ends = np.cumsum(sizes, dtype=int).tolist()
    return [slice(end - size, end) for size, end in zip(sizes, ends, strict=True)]
