"""Linear constraints as people write them: "ads + 3 * staff <= 100".

A text is read with Python's own parser and walked by hand; nothing in it is ever run.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from math import isfinite
from typing import Any, NamedTuple

from dikin.errors import ParameterError, did_you_mean, shown
from dikin.tuning.parameters.base import ParameterKind

EXAMPLE = "'ads + 3 * staff <= 100'"


class Constraint(NamedTuple):
    """sum of factors[name] * value of name <= limit."""

    text: str
    factors: dict[str, float]
    limit: float


class _Linear(NamedTuple):
    """An expression: factors of names, and a number."""

    factors: dict[str, float]
    constant: float

    def scaled(self, by: float) -> _Linear:
        return _Linear({name: by * f for name, f in self.factors.items()}, by * self.constant)

    def plus(self, other: _Linear) -> _Linear:
        names = self.factors | other.factors
        factors = {n: self.factors.get(n, 0.0) + other.factors.get(n, 0.0) for n in names}
        return _Linear(factors, self.constant + other.constant)


def read_constraints(texts: Any, parameters: Mapping[str, ParameterKind]) -> list[Constraint]:
    """The constraints that some texts describe, each with `<=` or `>=` between linear expressions.

    Only a parameter with a `linear_range` can stand in one.
    """
    if isinstance(texts, str):
        texts = [texts]
    if not isinstance(texts, list | tuple):
        raise ParameterError(f"constraints are texts such as {EXAMPLE}, got {shown(texts)}")
    return [constraint for text in texts for constraint in _read(text, parameters)]


def _read(text: Any, parameters: Mapping[str, ParameterKind]) -> Iterator[Constraint]:
    if not isinstance(text, str):
        raise ParameterError(f"a constraint is a text such as {EXAMPLE}, got {shown(text)}")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as reason:
        what = reason.msg if isinstance(reason, SyntaxError) else reason
        raise ParameterError(
            f"the constraint {shown(text)} is not like {EXAMPLE}: {what}"
        ) from reason
    if not isinstance(tree, ast.Compare):
        raise ParameterError(
            f"the constraint {shown(text)} must compare with <= or >=, as in {EXAMPLE}"
        )
    try:
        sides = [_linear(side, text, parameters) for side in (tree.left, *tree.comparators)]
    except (OverflowError, RecursionError):
        raise ParameterError(
            f"the constraint {shown(text)} has a number that is too large, or too many terms"
        ) from None
    for left, operator, right in zip(sides, tree.ops, sides[1:], strict=False):
        if isinstance(operator, ast.Lt | ast.Gt):
            raise ParameterError(
                f"the constraint {shown(text)} must compare with <= or >=, which is the same "
                "here: a limit may always be reached"
            )
        if not isinstance(operator, ast.LtE | ast.GtE):
            raise ParameterError(
                f"the constraint {shown(text)} must compare with <= or >=. For an equation "
                "express one parameter by the others, or use Shares"
            )
        sign = 1.0 if isinstance(operator, ast.LtE) else -1.0
        over = left.plus(right.scaled(-1.0)).scaled(sign)
        factors = {name: factor for name, factor in over.factors.items() if factor}
        if not factors:
            raise ParameterError(f"the constraint {shown(text)} has no parameter in it")
        if not all(map(isfinite, (*factors.values(), over.constant))):
            raise ParameterError(f"the constraint {shown(text)} has a number that is too large")
        yield Constraint(text, factors, -over.constant)


def _linear(node: ast.expr, text: str, parameters: Mapping[str, ParameterKind]) -> _Linear:
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return _Linear({}, float(value))
        case ast.Name(id=name):
            if name not in parameters:
                near = did_you_mean(name, parameters)
                raise ParameterError(
                    f"the constraint {shown(text)} names {name!r}, no parameter.{near}"
                )
            if parameters[name].linear_range is None:
                raise ParameterError(
                    f"the constraint {shown(text)} names {name}, {parameters[name]!r}: only a Real "
                    "without log can stand in a constraint, or a kind of your own that has a "
                    "linear_range"
                )
            return _Linear({name: 1.0}, 0.0)
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() as sign, operand=inner):
            return _linear(inner, text, parameters).scaled(
                -1.0 if isinstance(sign, ast.USub) else 1.0
            )
        case ast.BinOp(left=a, op=ast.Add() | ast.Sub() as sign, right=b):
            one, two = _linear(a, text, parameters), _linear(b, text, parameters)
            return one.plus(two.scaled(-1.0 if isinstance(sign, ast.Sub) else 1.0))
        case ast.BinOp(left=a, op=ast.Mult(), right=b):
            one, two = _linear(a, text, parameters), _linear(b, text, parameters)
            if not one.factors:
                return two.scaled(one.constant)
            if not two.factors:
                return one.scaled(two.constant)
        case ast.BinOp(left=a, op=ast.Div(), right=b):
            one, two = _linear(a, text, parameters), _linear(b, text, parameters)
            if not two.factors and two.constant:
                return one.scaled(1.0 / two.constant)
    raise ParameterError(
        f"the constraint {shown(text)} is not linear at {ast.unparse(node)!r}: wanted sums of "
        f"parameters times numbers, as in {EXAMPLE}"
    )
