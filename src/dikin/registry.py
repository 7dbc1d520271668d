"""Finds every domain and learner by its folder: a new file is known without editing a list."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from functools import cache
from typing import Any, TypeVar

from dikin.domains.base import Domain
from dikin.environments.base import Environment
from dikin.errors import StateError, UnknownKindError, did_you_mean
from dikin.learners.base import Learner

T = TypeVar("T")


def discover(folder: str, base: type[T]) -> dict[str, type[T]]:
    """The concrete subclasses of `base` defined in the modules of `dikin.<folder>`, by kind."""
    package = importlib.import_module(f"dikin.{folder}")
    found: dict[str, type[T]] = {}
    for info in pkgutil.iter_modules(package.__path__):
        module = importlib.import_module(f"dikin.{folder}.{info.name}")
        for cls in vars(module).values():
            if not (inspect.isclass(cls) and issubclass(cls, base)):
                continue
            if cls.__module__ != module.__name__ or inspect.isabstract(cls):
                continue
            kind = cls.__name__.lower()
            if kind in found:
                raise TypeError(f"two classes of dikin.{folder} are called {kind!r}")
            found[kind] = cls
    return found


@cache
def domains() -> dict[str, type[Domain]]:
    """Every domain class by kind."""
    return discover("domains", Domain)  # type: ignore[type-abstract]


@cache
def learners() -> dict[str, type[Learner]]:
    """Every learner class by kind."""
    return discover("learners", Learner)  # type: ignore[type-abstract]


@cache
def environments() -> dict[str, type[Environment]]:
    """Every environment class by kind."""
    return discover("environments", Environment)  # type: ignore[type-abstract]


def find(kind: str, known: dict[str, type[T]], role: str) -> type[T]:
    """The class called `kind`, or an error with the nearest name."""
    if kind not in known:
        raise UnknownKindError(f"no {role} is called {kind!r}.{did_you_mean(kind, known)}")
    return known[kind]


def domain_from_spec(spec: dict[str, Any]) -> Domain:
    """The domain that `Domain.spec` described."""
    if not isinstance(spec, dict) or "kind" not in spec:
        raise StateError(
            "a domain is described by an object with its kind and arguments such as "
            f'{{"kind": "box", "lower": [0, 0], "upper": [10, 2]}}, got {spec!r}'
        )
    try:
        arguments = {key: _revive(value) for key, value in spec.items() if key != "kind"}
        cls = find(spec["kind"], domains(), "domain")
        return cls(*arguments.pop("parts", ()), **arguments)
    except (AttributeError, KeyError, TypeError) as reason:
        raise StateError(f"not a description of a domain: {spec!r} ({reason})") from reason


def _revive(value: Any) -> Any:
    if isinstance(value, dict):
        return domain_from_spec(value)
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return [domain_from_spec(part) for part in value]
    return value
