"""Classes by their saved names: the library's classes and those that users register.

A file or a database holds the name of a class and never the class itself. Every role (domain,
learner, environment, parameter kind) has a registry, made beside its base class. The library
registers its own classes as users do theirs.
"""

from __future__ import annotations

from typing import Any, ClassVar, Generic, TypeVar

from dikin.errors import NotSavableError, ParameterError, did_you_mean, shown

T = TypeVar("T", bound=Any)
C = TypeVar("C", bound=type)


class Registered:
    """The base of each role: a class has its name in lower case as its `kind`."""

    kind: ClassVar[str] = ""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.kind = cls.__name__.lower()


class Registry(Generic[T]):
    """The classes of one role, by name."""

    def __init__(self, role: str, base: type[T]) -> None:
        self.role, self.base = role, base
        self.classes: dict[str, type[T]] = {}
        FOLDERS[base.__module__.removeprefix("dikin.").removesuffix(".base")] = self

    def every(self) -> dict[str, type[T]]:
        """Return all classes."""
        return dict(self.classes)

    def find(self, kind: str) -> type[T]:
        """Return the class of a name, or raise an error with the nearest name."""
        if kind not in self.classes:
            near = did_you_mean(kind, self.classes)
            raise ParameterError(
                f"no {self.role} is called {shown(kind)}.{near} A class of your own is known once "
                "the module that registers it (dikin.register) has been imported."
            )
        return self.classes[kind]

    def add(self, cls: type[T]) -> None:
        """Add a class of a user. A new definition of the same class replaces the old one."""
        if missing := sorted(getattr(cls, "__abstractmethods__", ())):
            raise ParameterError(
                f"{cls.__name__} is abstract: define {', '.join(missing)}, which every "
                f"{self.role} needs. Nothing was registered."
            )
        present = self.classes.get(cls.kind)
        if present is not None and _full_name(present) != _full_name(cls):
            raise ParameterError(
                f"the {self.role} {_full_name(present)} already has the name {cls.kind!r}: give "
                f"{_full_name(cls)} another class name. Nothing was registered."
            )
        self.classes[cls.kind] = cls

    def require(self, cls: type[T]) -> None:
        """Raise an error if a file could not name this class."""
        known = self.classes.get(cls.kind)
        if known is None or _full_name(known) != _full_name(cls):
            raise NotSavableError(
                f"the {self.role} {_full_name(cls)} is not registered, so a saved file could not "
                "be loaded: write @dikin.register above the class, or call "
                f"dikin.register({cls.__name__}). Nothing was saved."
            )


FOLDERS: dict[str, Registry[Any]] = {}
"""Every registry, by the folder of the library that contains the classes of its role."""


def register(target: C) -> C:
    """Register a domain, learner, environment or parameter kind of your own under its name.

    Write `@dikin.register` above the class, or call it. Afterwards `dikin.load`, `Study` and
    programs find the class by its name in lower case. A process that loads must first import the
    module that registers. A new definition of the class (a notebook cell that is run twice)
    replaces the old one.

    Parameters
    ----------
    target : type
        A class derived from `dikin.Domain`, `dikin.Learner`, `dikin.Environment` or
        `dikin.ParameterKind`, or from a class of the library, with all methods that its base
        requires.

    Returns
    -------
    type
        The same class.

    Raises
    ------
    ParameterError
        If `target` is anything else, is abstract, or has the name of another registered class.
    """
    for role in FOLDERS.values():
        if isinstance(target, type) and issubclass(target, role.base):
            role.add(target)
            return target
    bases = ", ".join(f"dikin.{role.base.__name__}" for role in FOLDERS.values())
    raise ParameterError(
        f"register needs a class derived from one of {bases}, got {target!r}. "
        "Nothing was registered."
    )


def _full_name(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"
