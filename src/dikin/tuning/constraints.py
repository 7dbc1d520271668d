"""Linear constraints as people write them: "ads + 3 * staff <= 100".

A text is read with Python's own parser and walked by hand. Nothing in it is ever run.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from math import isfinite
from typing import Any, NamedTuple

from dikin.errors import ParameterError, did_you_mean, shown
from dikin.tuning.parameters.base import ParameterKind

EXAMPLE = "'ads + 3 * staff <= 100'"
NUMBER = ""
"""The key of the number without a name in a linear expression."""

Linear = dict[str, float]
"""Factors of names, and a number."""


class Constraint(NamedTuple):
    """sum of factors[name] * value of name <= limit."""

    text: str
    factors: dict[str, float]
    limit: float


def read_constraints(texts: Any, parameters: Mapping[str, ParameterKind]) -> list[Constraint]:
    """Return the constraints of some texts, each with `<=` or `>=` between linear expressions.

    Only a parameter with a `linear_range` can stand in one.
    """
    texts = [texts] if isinstance(texts, str) else texts
    if not isinstance(texts, list | tuple):
        raise ParameterError(f"constraints are texts such as {EXAMPLE}, got {shown(texts)}")
    return [constraint for text in texts for constraint in _read(text, parameters)]


def _read(text: Any, parameters: Mapping[str, ParameterKind]) -> Iterator[Constraint]:
    if not isinstance(text, str):
        raise ParameterError(f"a constraint is a text such as {EXAMPLE}, got {shown(text)}")
    said = f"the constraint {shown(text)}"
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as reason:
        why = getattr(reason, "msg", reason)
        raise ParameterError(f"{said} is not like {EXAMPLE}: {why}") from reason
    if not isinstance(tree, ast.Compare):
        raise ParameterError(f"{said} must compare with <= or >=, as in {EXAMPLE}")
    try:
        linear = [_linear(side, said, parameters) for side in (tree.left, *tree.comparators)]
    except (OverflowError, RecursionError):
        raise ParameterError(f"{said} has a number that is too large, or too many terms") from None
    for left, operator, right in zip(linear, tree.ops, linear[1:], strict=False):
        if not isinstance(operator, ast.LtE | ast.GtE):
            raise ParameterError(
                f"{said} must compare with <= or >=, as in {EXAMPLE}. For an equation express one "
                "parameter by the others, or use Shares"
            )
        over = _times(_sum(left, right, -1.0), 1.0 - 2.0 * isinstance(operator, ast.GtE))
        limit = -over.pop(NUMBER, 0.0)
        factors = {name: factor for name, factor in over.items() if factor}
        if not factors:
            raise ParameterError(f"{said} has no parameter in it")
        if not all(map(isfinite, (*factors.values(), limit))):
            raise ParameterError(f"{said} has a number that is too large")
        yield Constraint(text, factors, limit)


def _sum(one: Linear, other: Linear, sign: float) -> Linear:
    return {name: one.get(name, 0.0) + sign * other.get(name, 0.0) for name in one | other}


def _times(linear: Linear, by: float) -> Linear:
    return {name: by * factor for name, factor in linear.items()}


def _linear(node: ast.expr, said: str, parameters: Mapping[str, ParameterKind]) -> Linear:
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return {NUMBER: float(value)}
        case ast.Name(id=name):
            if name not in parameters:
                raise ParameterError(
                    f"{said} names an unknown parameter {name!r}.{did_you_mean(name, parameters)}"
                )
            if parameters[name].linear_range is None:
                raise ParameterError(
                    f"{said} names {name}, {parameters[name]!r}: only a Real without log can stand "
                    "in a constraint, or a kind of your own that has a linear_range"
                )
            return {name: 1.0}
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() as sign, operand=inner):
            return _times(_linear(inner, said, parameters), 1.0 - 2.0 * isinstance(sign, ast.USub))
        case ast.BinOp(left=a, op=operator, right=b):
            one, two = _linear(a, said, parameters), _linear(b, said, parameters)
            match operator:
                case ast.Add() | ast.Sub():
                    return _sum(one, two, 1.0 - 2.0 * isinstance(operator, ast.Sub))
                case ast.Mult() if one.keys() == {NUMBER}:
                    return _times(two, one[NUMBER])
                case ast.Mult() if two.keys() == {NUMBER}:
                    return _times(one, two[NUMBER])
                case ast.Div() if two.keys() == {NUMBER} and two[NUMBER]:
                    return _times(one, 1.0 / two[NUMBER])
    raise ParameterError(
        f"{said} is not linear at {ast.unparse(node)!r}: wanted sums of parameters times numbers, "
        f"as in {EXAMPLE}"
    )
