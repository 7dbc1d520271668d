"""Every public name is documented in numpydoc form, and nothing is documented that is not there.

Public is what `dir` shows of `dikin` and of its packages for users (`PACKAGES`, `MODULES`), the
methods and properties that their classes define, and the attributes of the classes' own examples.
The rules:

- Every parameter of a signature has an entry with a description under `Parameters`; a constructor's
  stand in the docstring of the class. Nothing else is listed there.
- A default that is documented is that of the signature.
- A function or method that has parameters and returns something says what under `Returns` or
  `Yields`. One without parameters, and a property, need one line that says what it gives.
- A method may leave its docstring to the one that it overrides.
- An error that the body itself raises stands under `Raises`.
- A public attribute of an instance is a parameter, a property, or stands under `Attributes` of the
  class or of one that it derives from; an attribute that is listed exists.
- An error or warning says in its first line when it comes, and below what to do.
- A law of `dikin.checks` states itself in its docstring; all take the same arguments.

`NOT_YET` lists what is not documented so far, a class with its members. It can only become shorter.
"""

from __future__ import annotations

import ast
import enum
import importlib
import inspect
import pkgutil
import textwrap
from collections.abc import Iterator
from functools import cache, cached_property
from types import FunctionType, ModuleType
from typing import Any

import pytest
from numpydoc.docscrape import NumpyDocString

import dikin
import dikin.checks
from dikin import registry

PACKAGES = ("theory", "adapters")
"""Their modules are looked into one by one."""
MODULES = ("curvature", "checks", "errors", "feedback", "forecasts", "worth")


# --- what is public ------------------------------------------------------------------------------


def shown(module: ModuleType) -> dict[str, Any]:
    """The classes and functions of this library that `dir` shows of a module, by full name."""
    own = getattr(module, "__all__", None)
    things = {name: getattr(module, name) for name in dir(module) if not name.startswith("_")}
    return {
        full_name(thing): thing
        for name, thing in things.items()
        if (inspect.isclass(thing) or inspect.isfunction(thing))
        and (name in own if own is not None else thing.__module__ == module.__name__)
    }


def full_name(thing: Any) -> str:
    return f"{thing.__module__}.{thing.__qualname__}"


@cache
def public() -> dict[str, Any]:
    """Every public class and function, by full name."""
    modules = [dikin, *(importlib.import_module(f"dikin.{name}") for name in MODULES)]
    modules += [importlib.import_module(f"dikin.{folder}") for folder in registry.FOLDERS]
    for package in (importlib.import_module(f"dikin.{name}") for name in PACKAGES):
        modules += [
            importlib.import_module(f"{package.__name__}.{info.name}")
            for info in pkgutil.iter_modules(package.__path__)
        ]
    found = {name: thing for module in modules for name, thing in shown(module).items()}
    # What a public class inherits is seen through it.
    for cls in [thing for thing in found.values() if inspect.isclass(thing)]:
        found |= {full_name(base): base for base in cls.__mro__ if ours(base)}
    return found


def ours(thing: Any) -> bool:
    return getattr(thing, "__module__", "").split(".")[0] == "dikin"


def members(cls: type) -> Iterator[tuple[str, Any]]:
    """The public methods and properties that a class defines itself."""
    for name, member in vars(cls).items():
        if not name.startswith("_"):
            plain = member.__func__ if isinstance(member, classmethod | staticmethod) else member
            if isinstance(plain, FunctionType | property | cached_property):
                yield name, plain


@cache
def instances() -> dict[type, Any]:
    """An example of every class that has some."""
    # Every learner plays on a line; some on nothing else.
    domain = dikin.Ball(1)
    alone = (*registry.domains().values(), *registry.parameter_kinds().values())
    found: dict[type, Any] = {cls: next(iter(cls.examples())) for cls in alone}
    for cls in (*registry.learners().values(), *registry.environments().values()):
        found[cls] = next(iter(cls.examples(domain, 0)))
    return found


# --- what is said --------------------------------------------------------------------------------


def parsed(text: str | None) -> NumpyDocString:
    return NumpyDocString(textwrap.dedent(text or ""))


def entries(text: str | None, section: str) -> dict[str, str]:
    """The names of a section, with their descriptions."""
    return {
        name.strip().lstrip("*"): " ".join(entry.desc).strip()
        for entry in parsed(text)[section]
        for name in (entry.name or entry.type).split(",")
    }


def parameters(function: Any) -> list[str]:
    found = list(inspect.signature(function).parameters)
    method = inspect.isfunction(function) and found[:1] in (["self"], ["cls"])
    return found[1:] if method and "." in function.__qualname__ else found


def default_faults(function: Any, text: str | None) -> list[str]:
    """The parameters whose documented default is another than that of the signature."""
    found = inspect.signature(function).parameters
    faults = []
    for entry in parsed(text)["Parameters"]:
        said = entry.type.partition("default ")[2]
        for name in map(str.strip, entry.name.split(",")):
            if said and name in found and literal(said) != repr(found[name].default):
                faults.append(f"Parameters: the default of {name} is not {said}")
    return faults


def literal(said: str) -> str:
    """A literal as `repr` writes it; a text that is none, in lower case as NaN is then."""
    try:
        return repr(ast.literal_eval(said))
    except (SyntaxError, ValueError):
        return said.lower()


def raised(function: Any) -> set[str]:
    """The errors that a body raises itself, by name."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError):  # written by a dataclass
        return set()
    calls = (node.exc for node in ast.walk(tree) if isinstance(node, ast.Raise))
    names = (call.func for call in calls if isinstance(call, ast.Call))
    return {name.id for name in names if isinstance(name, ast.Name) and name.id.endswith("Error")}


def missing_entries(
    text: str | None, section: str, wanted: list[str], optional: set[str]
) -> list[str]:
    said = entries(text, section)
    faults = [f"{section}: no {name}" for name in wanted if not said.get(name)]
    return faults + [
        f"{section}: {name} is not there" for name in said.keys() - {*wanted} - optional
    ]


def function_faults(function: Any, text: str | None) -> list[str]:
    """What the docstring of a function or method lacks."""
    if not (text or "").strip():
        return ["no docstring"]
    wanted = parameters(function)
    faults = missing_entries(text, "Parameters", wanted, set()) + default_faults(function, text)
    returns = inspect.signature(function).return_annotation not in ("None", None, "NoReturn")
    if wanted and returns and not (parsed(text)["Returns"] or parsed(text)["Yields"]):
        faults.append("no Returns")
    return faults + [f"Raises: no {name}" for name in raised(function) - {*entries(text, "Raises")}]


def class_faults(cls: type) -> list[str]:
    """What the docstring of a class lacks: its constructor, its attributes."""
    text = vars(cls).get("__doc__")
    if not (text or "").strip() or text.startswith(f"{cls.__name__}("):
        return ["no docstring"]
    if issubclass(cls, Exception):
        return [] if parsed(text)["Extended Summary"] else ["does not say what to do"]
    if issubclass(cls, enum.Enum):
        return missing_entries(text, "Attributes", [member.name for member in cls], set())
    wanted = [] if hidden_constructor(cls) else parameters(cls)
    faults = missing_entries(text, "Parameters", wanted, set())
    faults += default_faults(cls, text) if wanted else []
    if "__init__" in vars(cls):
        said = {*entries(text, "Raises")}
        faults += [f"Raises: no {name}" for name in raised(cls.__init__) - said if wanted]
    return faults + attribute_faults(cls, wanted)


def hidden_constructor(cls: type) -> bool:
    """Whether nobody outside calls it: a protocol, or a base that its subclasses document."""
    return getattr(cls, "_is_protocol", False) or (
        inspect.isabstract(cls) and full_name(cls) not in map(full_name, shown(dikin).values())
    )


def attribute_faults(cls: type, constructor: list[str]) -> list[str]:
    bases = [base for base in cls.__mro__ if ours(base)]
    known = {*constructor, *(name for base in bases for name, _ in members(base))}
    listed = {name for base in bases for name in entries(base.__doc__, "Attributes")}
    known |= listed | {name for base in bases for name in entries(base.__doc__, "Parameters")}
    declared = {name for base in bases for name in vars(base).get("__annotations__", {})}
    there = {name for name in declared if not name.startswith("_")}
    if cls in instances():
        there |= {name for name in vars(instances()[cls]) if not name.startswith("_")}
    faults = [f"Attributes: no {name}" for name in sorted(there - known)]
    if cls in instances():
        own = entries(cls.__doc__, "Attributes")
        example = instances()[cls]
        faults += [f"Attributes: {n} is not there" for n in own if not hasattr(example, n)]
    return faults


def member_text(cls: type, name: str) -> str | None:
    """The docstring of a member, its own or that of the one that it overrides."""
    return inspect.getdoc(getattr(cls, name))


def member_faults(cls: type, name: str, member: Any) -> list[str]:
    text = member_text(cls, name)
    if isinstance(member, FunctionType):
        overrides = not member.__doc__ and text
        # The errors of an overridden method are said there only if they are its own.
        faults = function_faults(member, text)
        return [fault for fault in faults if not (overrides and fault.startswith("Raises"))]
    return [] if (text or "").strip() else ["no docstring"]


def judge(thing: Any) -> list[str]:
    """The faults of a function, or of a class with its members."""
    if inspect.isfunction(thing):
        return function_faults(thing, thing.__doc__)
    if issubclass(thing, Exception):
        return class_faults(thing)
    within = ((name, member_faults(thing, name, member)) for name, member in members(thing))
    return class_faults(thing) + [f"{name}: {fault}" for name, faults in within for fault in faults]


@cache
def judged() -> dict[str, list[str]]:
    return {name: judge(thing) for name, thing in public().items()}


# --- the test ------------------------------------------------------------------------------------

NOT_YET = {}


def test_everything_public_is_documented() -> None:
    found = {name: faults for name, faults in judged().items() if faults and name not in NOT_YET}
    assert found == {}


def test_what_is_listed_as_not_documented_is_not() -> None:
    done = {name for name in NOT_YET if not judged().get(name)}
    assert done == set(), "documented, or gone: take it off NOT_YET"


@pytest.mark.parametrize("kind", registry.learners())
def test_arguments_of_learners_have_types_and_defaults(kind: str) -> None:
    """Their docstrings are made from the constructors: these words from their sources."""
    cls = registry.learners()[kind]
    documented = {name: words for name, words, _ in parsed(cls.__doc__)["Parameters"]}
    assert list(documented) == list(inspect.signature(cls).parameters)
    for name, argument in inspect.signature(cls).parameters.items():
        words, default = documented[name], argument.default
        assert ("float" in words) == (
            "float" in argument.annotation or "Range" in argument.annotation
        )
        assert ("int" in words) == argument.annotation.startswith("int")
        assert words.endswith(", optional") == (default is None)
        given = default is not None and default is not inspect.Parameter.empty
        assert (words.partition(", default ")[2] == repr(default)) == given


def test_every_law_states_itself() -> None:
    names = [info.name for info in pkgutil.iter_modules(dikin.checks.__path__)]
    laws = dikin.checks.laws(*names)
    assert [name for name, law in laws.items() if not (law.__doc__ or "").strip()] == []
    assert len(laws) > 30


# --- each rule catches its mutant ----------------------------------------------------------------


def sound(x: float, *, y: float = 1.0) -> float:
    """The sum of two numbers.

    Parameters
    ----------
    x : float
        The first.
    y : float, default 1.0
        The second.

    Returns
    -------
    float
        Their sum.

    Raises
    ------
    ValueError
        If x is negative.
    """
    if x < 0:
        raise ValueError("negative")
    return x + y


class Sound:
    """A pair.

    Parameters
    ----------
    one : int
        The first.

    Attributes
    ----------
    two : int
        The second.
    """

    two: int

    def __init__(self, one: int) -> None:
        self.one, self.two = one, one

    @property
    def total(self) -> int:
        """Their sum."""
        return self.one + self.two


class SoundError(ValueError):
    """Comes when something is wrong.

    Put it right.
    """


MUTANTS: list[tuple[Any, str, str, str]] = [
    (sound, "        The second.\n", "", "Parameters: no y"),
    (sound, "    y : float, default 1.0\n        The second.\n", "", "Parameters: no y"),
    (sound, "    y : float, default 1.0", "    z : float", "Parameters: z is not there"),
    (sound, "default 1.0", "default 1.1", "Parameters: the default of y is not 1.1"),
    (sound, "    Returns\n    -------\n    float\n        Their sum.\n", "", "no Returns"),
    (sound, "    ValueError", "    KeyError", "Raises: no ValueError"),
    (Sound, "    one : int", "    three : int", "Parameters: no one"),
    (Sound, "    two : int", "    three : int", "Attributes: no two"),
    (Sound.total, "Their sum.", "", "total: no docstring"),
    (SoundError, "    Put it right.\n", "", "does not say what to do"),
]


@pytest.mark.parametrize(
    ("thing", "old", "new", "fault"), MUTANTS, ids=[mutant[-1] for mutant in MUTANTS]
)
def test_a_missing_word_is_noticed(
    thing: Any, old: str, new: str, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"{__name__}.ours", lambda base: base.__module__ == __name__)
    judged_thing = Sound if thing is Sound.total else thing
    assert judge(judged_thing) == []
    assert old in thing.__doc__
    if thing is Sound.total:
        monkeypatch.setattr(Sound, "total", property(thing.fget, doc=""))
        monkeypatch.setattr(thing.fget, "__doc__", "")
    else:
        monkeypatch.setattr(thing, "__doc__", thing.__doc__.replace(old, new))
    assert fault in judge(judged_thing)
