"""Which class a saved name stands for: the library's classes and those that users register.

A file or a database holds the name of a class and never the class itself. There is one registry for
every role (domain, learner, environment), made beside the role's base class. The library registers
its own classes as users do theirs.
"""

from __future__ import annotations

import inspect
import threading
import warnings
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeVar

from dikin.errors import (
    EntryPointWarning,
    NotSavableError,
    ParameterError,
    UnknownKindError,
    did_you_mean,
    shown,
)

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "dikin"
"""The group of entry points in which an installed package names its classes."""


class Named(Protocol):
    """A class that is known by its name in lower case."""

    kind: ClassVar[str]


T = TypeVar("T", bound=Named)
C = TypeVar("C", bound=type)


class Registry(Generic[T]):
    """The classes of one role, by name.

    `built_with` names the arguments that the library gives to a constructor after the domain;
    where it is empty, the constructor may be as it likes.
    """

    def __init__(self, role: str, base: type[T], built_with: tuple[str, ...] = ()) -> None:
        self.role, self.base, self._built_with = role, base, built_with
        self.classes: dict[str, type[T]] = {}
        FOLDERS[f"{role}s"] = self

    def every(self) -> dict[str, type[T]]:
        """All classes, those of installed packages included."""
        read_entry_points()
        return dict(self.classes)

    def find(self, kind: str) -> type[T]:
        """The class called `kind`, or an error with the nearest name."""
        if kind not in self.classes and kind not in self.every():
            near = did_you_mean(kind, self.classes)
            raise UnknownKindError(
                f"no {self.role} is called {shown(kind)}.{near} One of your own is known once "
                "the module that registers it (dikin.register) was imported."
            )
        return self.classes[kind]

    def add(self, cls: type[T]) -> None:
        """Take in a class of a user; one that is defined anew takes the place of the old one."""
        self.refuse_unfit(cls)
        known = self.classes.get(cls.kind)
        if known is not None and not _same_definition(known, cls):
            raise ParameterError(
                f"the {self.role} {_full_name(known)} has the name {cls.kind!r} already: give "
                f"{_full_name(cls)} another class name. Nothing was registered."
            )
        self.classes[cls.kind] = cls

    def refuse_unfit(self, cls: type[T]) -> None:
        """Refuse a class of which the library could not build, check or load an object."""
        if missing := sorted(getattr(cls, "__abstractmethods__", ())):
            raise ParameterError(
                f"{cls.__name__} is abstract: also write {', '.join(missing)}, which every "
                f"{self.role} needs. Nothing was registered."
            )
        if not isinstance(inspect.getattr_static(cls, "examples"), classmethod):
            raise ParameterError(
                f"{cls.__name__}.examples must be a classmethod, as the checks ask the class for "
                "examples: put @classmethod above it. Nothing was registered."
            )
        if self._built_with:
            self._refuse_constructor(cls)

    def _refuse_constructor(self, cls: type[T]) -> None:
        try:
            call = dict.fromkeys(self._built_with)
            inspect.signature(cls.__init__).bind_partial(None, None, **call)
        except TypeError as reason:
            raise ParameterError(
                f"the constructor of {cls.__name__} must take the domain first and "
                f"{', '.join(self._built_with)} by name, as dikin.load builds it so ({reason}). "
                "Nothing was registered."
            ) from reason

    def require(self, cls: type[T]) -> None:
        """Refuse to save an object of a class that no file could name."""
        if self._knows(cls):
            return
        read_entry_points()
        if not self._knows(cls):
            raise NotSavableError(
                f"the {self.role} {_full_name(cls)} is not registered, so that what is saved could "
                "not be loaded: write @dikin.register above the class, or call "
                f"dikin.register({cls.__name__}). Nothing was saved."
            )

    def _knows(self, cls: type[T]) -> bool:
        known = self.classes.get(cls.kind)
        return known is not None and _same_definition(known, cls)


FOLDERS: dict[str, Registry[Any]] = {}
"""Every registry, by the folder of the library in which the classes of its role are."""


def register(cls: C) -> C:
    """Make a domain, learner or environment of your own known by its name, and return it.

    Write `@dikin.register` above the class, or call it. From then on `dikin.load`, `Study` and
    `dikin compare` find the class by its name in lower case. A process that loads must import the
    module that registers first; for an installed package an entry point of the group `dikin` does
    that. A class that is defined anew (a cell of a notebook that is run twice) replaces the old
    one.

    Parameters
    ----------
    cls : type
        A class derived from `dikin.Domain`, `dikin.Learner` or `dikin.Environment`, or from a class
        of the library, with all methods that its base asks for.

    Returns
    -------
    type
        The same class.

    Raises
    ------
    ParameterError
        If `cls` is anything else, is abstract, or has the name of another class.
    """
    for role in FOLDERS.values():
        if isinstance(cls, type) and issubclass(cls, role.base):
            role.add(cls)
            return cls
    raise ParameterError(
        "register needs a class derived from dikin.Domain, dikin.Learner or dikin.Environment, got "
        f"{cls!r}. Nothing was registered."
    )


def domains() -> dict[str, type[Any]]:
    """Every domain class by kind."""
    return FOLDERS["domains"].every()


def learners() -> dict[str, type[Any]]:
    """Every learner class by kind."""
    return FOLDERS["learners"].every()


def environments() -> dict[str, type[Any]]:
    """Every environment class by kind."""
    return FOLDERS["environments"].every()


# --- installed packages ------------------------------------------------------------------------

_unread = [GROUP]
_reading = threading.RLock()


def read_entry_points() -> None:
    """Register what installed packages offer, once: when a name is looked for, not on import."""
    from importlib.metadata import entry_points  # slow to import, and seldom needed

    with _reading:
        # Taken off first: a module that is imported here may itself look for a name.
        while _unread:
            for point in entry_points(group=_unread.pop()):
                _read(point)


def _read(point: EntryPoint) -> None:
    """Register the class that an entry point names, or import its module, which registers."""
    try:
        found = point.load()
        if not isinstance(found, ModuleType):
            register(found)
    except Exception as reason:  # one broken package must not stop the work with all others
        warnings.warn(
            f"the entry point {point.name} = {point.value} of the group {GROUP!r} was left out: "
            f"{type(reason).__name__}: {reason}",
            EntryPointWarning,
            stacklevel=2,
        )


def _same_definition(one: type, two: type) -> bool:
    """Whether two classes are the same one, or the same lines executed twice."""
    return one is two or _full_name(one) == _full_name(two)


def _full_name(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"
