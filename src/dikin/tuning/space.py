"""Named parameters as one convex set, with the way there and back.

*Values* are one number for each column: the parameters in their order, each Shares with a column
for each part. A *working point* has the coordinates that are searched: the cube [-1, 1]^d, or a
polytope around 0 where there are constraints or shares. *Picks* are the positions of the values of
choices.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
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

EDGE = 0.9
"""The start is moved to this share of the way to a bound: exploring needs room."""
ROUNDING = 1e-9
"""A setting may break a constraint by so much, in units of its terms."""
NEAR = 0.03
"""A value nearer to its bound than this part of the range is next to it."""
RESERVED = ("round", "value", "expected", "paused", "failed", "held_back", "expected_control")
"""Columns of a history besides the parameters."""
PREFIXES = ("metric.", "context.", "covariate.")
"""Beginnings of other columns of a history."""

Params = dict[str, Any]
"""The value of each parameter, by name."""


class Place(NamedTuple):
    """A parameter, and its place among the columns, the coordinates and the choices."""

    name: str
    parameter: ParameterKind
    columns: tuple[str, ...]
    values: slice
    at: slice
    """The coordinates: none of a choice, one of a number, several of a Shares."""
    pick: int | None
    """The position among the choices, None for a parameter with coordinates."""


class Space:
    """The set that named parameters span, and the way there and back.

    `set` is that of the working points, `grids` are the places of each coordinate that can be used
    (None for all), and `options` the numbers of values of the choices. The `columns` have a name
    for each value ("price", and "traffic.old" for a part of a Shares), `axes` have their scales.
    """

    def __init__(self, parameters: Mapping[str, ParameterKind], constraints: Any = ()) -> None:
        self.parameters = kinds = check_parameters(parameters)
        self._limits = read_constraints(constraints, kinds)
        self.constraints = [constraints] if isinstance(constraints, str) else list(constraints)
        chosen = [name for name, each in kinds.items() if each.options]
        wide = [name for name, each in kinds.items() if each.parts]
        sides = [name for name in kinds if name not in (*chosen, *wide)]
        names = {n: tuple(f"{n}.{part}" for part in p.parts) or (n,) for n, p in kinds.items()}
        picks = {name: k for k, name in enumerate(chosen)}
        values, at, none = _slices(names, names), _slices([*sides, *wide], names), slice(0, 0)
        self.places = [
            Place(name, each, names[name], values[name], at.get(name, none), picks.get(name))
            for name, each in kinds.items()
        ]
        self.columns = tuple(column for place in self.places for column in place.columns)
        _refuse_names(self.columns)
        self.axes: list[Axis] = [p.parameter.axis for p in self.places for _ in p.columns]
        self.options = tuple(kinds[name].options for name in chosen)
        self._span(sides, [len(names[name]) for name in wide])
        grids = [kinds[name].grid for name in sides]
        self.grids = [
            None if grid is None else (grid - self._origin[i]) / self._basis[i, i]
            for i, grid in enumerate(grids)
        ] + [None] * (self.set.d - len(sides))
        middle = (0 if kinds[name].grid is None else kinds[name].options // 2 for name in chosen)
        self.start_values = self.values(np.zeros(self.set.d), tuple(middle))
        for place in self.places:
            if place.parameter.start is not None:
                self.start_values[place.values] = place.parameter.numbers(place.parameter.start)
        self.start_values.setflags(write=False)
        self._refuse(self.start_values, "the start")

    def _span(self, sides: list[str], shares: list[int]) -> None:
        """Set the origin and the basis of working points, and the set of them."""
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
        factors = [[each.factors.get(name, 0.0) for name in sides] for each in self._limits]
        rows = np.array(factors).reshape(len(factors), k)
        most = np.array([each.limit for each in self._limits])
        binding = np.maximum(rows * low, rows * high).sum(axis=1) > most
        ends = most[binding] - rows[binding] @ low
        rows = rows[binding] * (high - low)
        if len(rows):
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
        elif not shares:
            self.set: Cube | Cut = Cube(d)
            return
        whole = np.zeros((len(rows), n))
        whole[:, :k] = rows
        outer = np.vstack([whole, np.eye(n)[:k], -np.eye(n)])
        slack = np.concatenate([ends, np.ones(k), np.zeros(n)]) - outer @ self._origin
        self.set = Cut(outer @ self._basis, slack)

    # --- working points and values -------------------------------------------------------------

    def values(self, x: Array, picks: tuple[int, ...]) -> Array:
        """Return the values at a working point, a number for each column."""
        at = (self._origin + self._basis @ x).tolist()
        row: list[float] = []
        for _, each, _, _, where, pick in self.places:
            row += map(each.best, at[where]) if pick is None else [each.axis.low + picks[pick]]
        return np.array(row, dtype=float)

    def locate(self, values: Array) -> tuple[Array, tuple[int, ...]]:
        """Return the working point and the picks of some values."""
        row, at, picks = values.tolist(), self._origin.copy(), [0] * len(self.options)
        for _, each, _, where, place, pick in self.places:
            if pick is None:
                at[place] = list(map(each.to_unit, row[where]))
            else:
                picks[pick] = round(row[where.start] - each.axis.low)
        at -= self._origin
        if isinstance(self.set, Cube):  # the basis is diagonal
            return at / np.diagonal(self._basis), tuple(picks)
        return np.linalg.lstsq(self._basis, at, rcond=None)[0], tuple(picks)

    def params(self, values: Array) -> Params:
        """Return the values by name: a float, an int, a level, or a dictionary of shares."""
        row = values.tolist()
        return {name: each.setting(row[where]) for name, each, _, where, *_ in self.places}

    def start(self) -> tuple[Array, tuple[int, ...]]:
        """Return the start as a working point a little inside, and its picks."""
        x, picks = self.locate(self.start_values)
        return self.set.inside(x, EDGE), picks

    def interval(self, place: Place, found: Sequence[float]) -> tuple[float, float, float]:
        """Return a coordinate with the ends of its interval as values of a number."""
        i = place.at.start
        at = (float(self._origin[i] + self._basis[i, i] * end) for end in found)
        middle, *ends = map(place.parameter.best, at)
        return middle, min(middle, *ends), max(middle, *ends)

    def bounds_near(self, values: Array) -> Params:
        """Return the bounds next to the values: a wider range may be worth a try there."""
        row, bounds = values.tolist(), {}
        for name, each, _, where, at, _ in self.places:
            u = each.to_unit(row[where.start]) if at.stop == at.start + 1 else 0.5
            if not NEAR <= u <= 1.0 - NEAR:
                bounds[name] = each.setting([each.best(float(round(u)))])
        return bounds

    # --- settings of users ---------------------------------------------------------------------

    def checked(self, params: Any, what: str, whole: bool = True) -> Array:
        """Return the values of a setting by name, with the start of a parameter left out."""
        if not isinstance(params, Mapping):
            raise ParameterError(
                f'{what} must be given by name, such as {{"price": 4}}, got {shown(params)}'
            )
        values = self.start_values.copy()
        places = {place.name: place for place in self.places}
        for name, value in params.items():
            if name not in places:
                near = did_you_mean(str(name), places)
                raise ParameterError(f"{what} has no parameter {shown(name)}.{near}")
            if value is None:
                raise ParameterError(f"{what} has no value for {name}: leave it out for its start")
            try:
                there = places[name].parameter.with_start(value)
            except ParameterError as reason:
                why = re.sub(r"\bstart(=\S+)?", "it", str(reason))
                raise ParameterError(f"{what} cannot have {name}={shown(value)}: {why}") from None
            values[places[name].values] = there.numbers(there.start)
        missing = [name for name in places if name not in params]
        if whole and missing:
            raise ParameterError(
                f"{what} lacks {', '.join(missing)}, got {shown(dict(params))}. Nothing was "
                "changed."
            )
        if params:
            self._refuse(values, what)
        return values

    def _refuse(self, values: Array, what: str) -> None:
        """Refuse a setting that breaks a constraint by more than rounding."""
        params = self.params(values) if self._limits else {}
        for limit in self._limits:
            terms = [factor * params[name] for name, factor in limit.factors.items()]
            slack = ROUNDING * (abs(limit.limit) + sum(map(abs, terms)))
            if sum(terms) > limit.limit + slack:
                there = {name: params[name] for name in limit.factors}
                raise ParameterError(
                    f"{what} {there} breaks a constraint ({limit.text}). Set every parameter in it "
                    "to a value that satisfies it"
                )

    def converted(self, values: Array, before: Space) -> Array | None:
        """Return the values of another space's setting in this one.

        A parameter that is new is at its start, a number outside its range stays as it is. None if
        a level or a choice is gone.
        """
        old = dict(zip(before.columns, values.tolist(), strict=True))
        row = self.start_values.copy()
        for name, each, columns, where, *_ in self.places:
            was, axis = before.parameters.get(name), each.axis
            if type(was) is not type(each) or not set(columns) <= old.keys():
                continue
            if axis.labels:
                value = was.setting([old[name]])
                if value not in (each.setting([place]) for place in range(len(axis.labels))):
                    return None
                row[where] = each.numbers(value)
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


def _refuse_names(columns: tuple[str, ...]) -> None:
    """Refuse columns that have the same name, or that of another column of the history."""
    for name in columns:
        if name in RESERVED or name.startswith(PREFIXES):
            raise ParameterError(
                f"a parameter cannot be called {name!r}: that is a column of the history. Rename "
                f"it, for example {shown(name + '_setting')}"
            )
    for title, count in Counter([*columns, *(f"best.{each}" for each in columns)]).items():
        if count > 1:
            raise ParameterError(f"two values would be called {title!r}: rename a parameter")


def _slices(order: Iterable[str], columns: Mapping[str, tuple[str, ...]]) -> dict[str, slice]:
    """Return the places of the columns of each parameter, one after the other."""
    slices, end = {}, 0
    for name in order:
        slices[name] = slice(end, end + len(columns[name]))
        end = slices[name].stop
    return slices
