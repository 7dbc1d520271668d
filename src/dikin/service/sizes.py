"""Limits on the size of a study that a request describes, checked before the study is built.

A short request may describe a large study: one number describes a ball. Invalid parts are skipped
here: the library itself refuses them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dikin.arguments import is_whole
from dikin.errors import ParameterError, shown
from dikin.service.limits import (
    LARGEST_STATE,
    LONGEST_CONSTRAINT,
    LONGEST_NAME,
    MOST_CONSTRAINTS,
    MOST_ENTRIES,
    MOST_PARTS,
    MOST_VALUES,
)

Spec = dict[str, Any]


def refuse_large(spec: Spec) -> None:
    """Refuse a description of a tuner or learner, or a state of one, that is too large."""
    state = spec.get("state")
    if isinstance(state, dict):
        tuner = _object(state.get("tuner"))
        _refuse_tuner(_object(tuner.get("parameters")), _list(tuner.get("constraints")))
    else:
        _refuse_tuner(_object(spec.get("tuner")), _list(spec.get("constraints")))
    for part in _objects(spec):
        if isinstance(part.get("domain"), dict):
            _refuse_domain(part["domain"])


def refuse_large_state(state: Spec) -> None:
    """Refuse a learner or tuner with too many numbers: every snapshot contains them all."""
    count = _numbers(state)
    _refuse(
        "numbers in the state of a learner or tuner",
        count,
        LARGEST_STATE,
        "choose fewer dimensions, a smaller horizon or another learner",
    )


def _refuse_tuner(parameters: Spec, constraints: list[Any]) -> None:
    shares = [_list(each["names"]) for each in parameters.values() if _has(each, "names")]
    sides = len(parameters) - len(shares)
    advice = "split them into several studies"
    _refuse("values of a tuner", sides + sum(map(len, shares)), MOST_VALUES, advice)
    _refuse("parameters that are shares", len(shares), MOST_PARTS, advice)
    for name in (part for names in shares for part in names if isinstance(part, str)):
        _refuse("characters in the name of a share", len(name), LONGEST_NAME, "shorten it")
    _refuse("constraints", len(constraints), MOST_CONSTRAINTS, "leave some out")
    for text in constraints:
        length = len(text) if isinstance(text, str) else 0
        _refuse("characters in a constraint", length, LONGEST_CONSTRAINT, "shorten it")
    if constraints:
        entries = sides * (2 * sides + len(constraints))
        _refuse(
            "entries in the matrix of the constraints and bounds", entries, MOST_ENTRIES, advice
        )


def _refuse_domain(domain: Spec) -> None:
    advice = "describe a smaller set"
    _refuse("entries in a point of a domain, or rows", _size(domain), MOST_VALUES, advice)
    _refuse("parts of a domain", _leaves(domain), MOST_PARTS, advice)
    for part in _objects(domain):
        entries = sum(len(_list(row)) for row in _list(part.get("A")))
        _refuse("entries in the matrix of a polytope", entries, MOST_ENTRIES, advice)


def _refuse(what: str, count: int, most: int, advice: str) -> None:
    if count > most:
        raise ParameterError(
            f"over HTTP there can be at most {most:,} {what}, got {shown(count)}: {advice}, or "
            "open the database directly with dikin.Study. Nothing was created"
        )


def _size(domain: Spec) -> int:
    """The entries of a point, those of all parts together, or the rows of a matrix."""
    sizes = [0]
    for name, value in domain.items():
        if name in ("dim", "n") and is_whole(value):
            sizes.append(value**2 if domain.get("kind") == "spectrahedron" else value)
        inner = [each for each in _list(value) if isinstance(each, dict)]
        sizes.append(sum(map(_size, inner)) if inner else len(_list(value)))
        sizes.append(_size(_object(value)))
    return max(sizes)


def _leaves(domain: Spec) -> int:
    inner = [part for value in domain.values() for part in (value, *_list(value))]
    return max(1, sum(_leaves(part) for part in inner if isinstance(part, dict)))


def _objects(value: Any) -> Iterator[Spec]:
    """All objects within a value, itself included."""
    stack = [value]
    while stack:
        part = stack.pop()
        if isinstance(part, dict):
            yield part
        inner = part.values() if isinstance(part, dict) else part
        stack += [each for each in inner if isinstance(each, dict | list)]


def _numbers(value: Any) -> int:
    if isinstance(value, dict | list):
        return sum(map(_numbers, value.values() if isinstance(value, dict) else value))
    return 1


def _has(value: Any, name: str) -> bool:
    return isinstance(value, dict) and name in value


def _object(value: Any) -> Spec:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
