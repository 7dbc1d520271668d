"""Finds the library's classes by their folders and fills the tables of names with them.

A new file of a folder is known without editing a list; classes of users come in by `register`.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from typing import Any, TypeVar

from dikin.domains.base import DOMAINS, Domain
from dikin.environments.base import ENVIRONMENTS, Environment
from dikin.errors import StateError
from dikin.kinds import Kinds
from dikin.kinds import find as find
from dikin.kinds import register as register
from dikin.learners.base import LEARNERS, Learner

T = TypeVar("T")
FOLDERS: dict[str, Kinds[Any]] = {
    "domains": DOMAINS,
    "learners": LEARNERS,
    "environments": ENVIRONMENTS,
}


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


def fill() -> dict[str, type]:
    """Take in the library's classes, give them to their packages, and name them all.

    Only here, as a package that names its classes itself would be a list to edit: afterwards
    `from dikin.domains import Box` works.
    """
    every: dict[str, type] = {}
    for folder, kinds in FOLDERS.items():
        found: dict[str, Any] = discover(folder, kinds.base)
        kinds.classes.update(found)
        named = {cls.__name__: cls for cls in found.values()}
        package = importlib.import_module(f"dikin.{folder}")
        vars(package).update(named, __all__=sorted(named))
        every |= named
    return every


def domains() -> dict[str, type[Domain]]:
    """Every domain class by kind."""
    return DOMAINS.every()


def learners() -> dict[str, type[Learner]]:
    """Every learner class by kind."""
    return LEARNERS.every()


def environments() -> dict[str, type[Environment]]:
    """Every environment class by kind."""
    return ENVIRONMENTS.every()


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
