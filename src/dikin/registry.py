"""Classes by their saved names: the library's classes and those that users register.

A file or a database holds the name of a class and never the class itself. There is one registry for
every role (domain, learner, environment, parameter kind), made beside the role's base class. The
library registers its own classes as users do theirs.
"""

from __future__ import annotations

import inspect
import threading
import warnings
from types import ModuleType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from dikin.errors import (
    DikinWarning,
    NotSavableError,
    ParameterError,
    did_you_mean,
    shown,
)

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "dikin"
"""The group of entry points in which an installed package names its classes."""


T = TypeVar("T", bound=Any)
C = TypeVar("C", bound=type)


class Registry(Generic[T]):
    """The classes of one role, by name.

    `built_with` names the arguments that the library passes to a constructor after the domain.
    If it is empty, the constructor may have any arguments.
    """

    def __init__(self, role: str, base: type[T], built_with: tuple[str, ...] = ()) -> None:
        self.role, self.base, self._built_with = role, base, built_with
        self.classes: dict[str, type[T]] = {}
        FOLDERS[base.__module__.removeprefix("dikin.").removesuffix(".base")] = self

    def every(self) -> dict[str, type[T]]:
        """All classes, those of installed packages included."""
        read_entry_points()
        return dict(self.classes)

    def find(self, kind: str) -> type[T]:
        """The class called `kind`, or an error with the nearest name."""
        if kind not in self.classes and kind not in self.every():
            near = did_you_mean(kind, self.classes)
            raise ParameterError(
                f"no {self.role} is called {shown(kind)}.{near} One of your own is known once "
                "the module that registers it (dikin.register) has been imported."
            )
        return self.classes[kind]

    def add(self, cls: type[T]) -> None:
        """Add a class of a user. A new definition of the same class replaces the old one."""
        self.refuse_unfit(cls)
        present = self.classes.get(cls.kind)
        if present is not None and not _same_definition(present, cls):
            raise ParameterError(
                f"the {self.role} {_full_name(present)} already has the name {cls.kind!r}: give "
                f"{_full_name(cls)} another class name. Nothing was registered."
            )
        self.classes[cls.kind] = cls

    def refuse_unfit(self, cls: type[T]) -> None:
        """Raise an error if the library could not build, check or load objects of a class."""
        if missing := sorted(getattr(cls, "__abstractmethods__", ())):
            raise ParameterError(
                f"{cls.__name__} is abstract: define {', '.join(missing)}, which every "
                f"{self.role} needs. Nothing was registered."
            )
        if not isinstance(inspect.getattr_static(cls, "examples"), classmethod):
            raise ParameterError(
                f"{cls.__name__}.examples must be a classmethod, because the checks call it on the "
                "class: put @classmethod above it. Nothing was registered."
            )
        if not self._built_with:
            return
        try:
            call = dict.fromkeys(self._built_with)
            inspect.signature(cls.__init__).bind_partial(None, None, **call)
        except TypeError as reason:
            raise ParameterError(
                f"the constructor of {cls.__name__} must take the domain first and "
                f"{', '.join(self._built_with)} by name, as dikin.load passes them ({reason}). "
                "Nothing was registered."
            ) from reason

    def require(self, cls: type[T]) -> None:
        """Raise an error if a file could not name this class."""
        if not self._knows(cls, self.classes) and not self._knows(cls, self.every()):
            raise NotSavableError(
                f"the {self.role} {_full_name(cls)} is not registered, so a saved file could not "
                "be loaded: write @dikin.register above the class, or call "
                f"dikin.register({cls.__name__}). Nothing was saved."
            )

    @staticmethod
    def _knows(cls: type[T], classes: dict[str, type[T]]) -> bool:
        return cls.kind in classes and _same_definition(classes[cls.kind], cls)


FOLDERS: dict[str, Registry[Any]] = {}
"""Every registry, by the folder of the library that contains the classes of its role."""


def register(target: C) -> C:
    """Register a domain, learner, environment or parameter kind of your own under its name.

    Write `@dikin.register` above the class, or call it. Afterwards `dikin.load`, `Study` and
    programs find the class by its name in lower case. A process that loads must first import the
    module that registers. For an installed package an entry point of the group `dikin` does that.
    A new definition of the class (a notebook cell that is run twice) replaces the old one.

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


# --- installed packages ------------------------------------------------------------------------

_unread = [GROUP]
_reading = threading.RLock()


def read_entry_points() -> None:
    """Register the classes of installed packages, once: when a name is looked up, not on import."""
    from importlib.metadata import entry_points  # slow to import, and seldom needed

    with _reading:
        # Removed first: a module that is imported here may itself look up a name.
        while _unread:
            for point in entry_points(group=_unread.pop()):
                _read(point)


def _read(point: EntryPoint) -> None:
    """Register the class that an entry point names, or import its module, which registers."""
    try:
        target = point.load()
        if not isinstance(target, ModuleType):
            register(target)
    except Exception as reason:  # one broken package must not stop the work with all others
        warnings.warn(
            f"the entry point {point.name} = {point.value} of the group {GROUP!r} was skipped: "
            f"{type(reason).__name__}: {reason}",
            DikinWarning,
            stacklevel=2,
        )


def _same_definition(one: type, two: type) -> bool:
    """Return whether two classes are the same one, or the same lines executed twice."""
    return one is two or _full_name(one) == _full_name(two)


def _full_name(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"
