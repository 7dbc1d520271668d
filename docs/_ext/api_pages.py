"""The reference of every public name, written from the code at each build.

What is public is found, not listed: a class belongs to the group of the module that it is defined
in, so that a new learner has its page without an edit. `entries` is all of it;
`tests/test_docstrings.py` looks at each.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from functools import cached_property
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

import dikin
import dikin.checks
from dikin import registry

if TYPE_CHECKING:
    from sphinx.application import Sphinx


class Group(NamedTuple):
    """A page of the reference: where its names are defined, and its introduction."""

    file: str
    title: str
    modules: str
    words: str
    one_page_each: bool = True


LEARNERS = "dikin.learners dikin.feedback dikin.kernel dikin.open_queries dikin.players"
GROUPS = (
    Group("tuning", "Tuning", "dikin.tuning", "Names and ranges, ask and tell."),
    Group("studies", "Studies", "dikin.studies", "A tuner in a database, or behind an address."),
    Group("worth", "What tuning is worth", "dikin.worth", "The gain over today's setting.", False),
    Group("adapters", "Adapters", "dikin.adapters", "A tuner in OpenFeature, Xopt and Optuna."),
    Group("learners", "Learners", LEARNERS, "Begin with `dikin.Predictive`."),
    Group("domains", "Domains", "dikin.domains", "Convex sets with a self-concordant barrier."),
    Group("environments", "Environments", "dikin.environments", "Losses with a known best point."),
    Group("simulation", "Simulation", "dikin.engine", "Runs of a learner in an environment."),
    Group("curvature", "Curvature", "dikin.curvature", "Lower bounds on strong convexity."),
    Group("saving", "Saving, loading, registering", "dikin.loading dikin.registry",
          "Loading from a file, and registering classes of your own.", False),
    Group("checks", "Checks", "dikin.checks", "Laws of domains, learners, environments.", False),
    Group("errors", "Errors and warnings", "dikin.errors",
          "`except dikin.DikinError` catches every error. Each is also a built-in.", False),
)  # fmt: skip
MODULES = ("curvature", "checks", "errors", "feedback", "worth")
PACKAGES = ("adapters",)


# --- what is public ------------------------------------------------------------------------------


def entries() -> dict[str, Any]:
    """Every public class and function, under the name that a user writes."""
    found: dict[int, tuple[str, Any]] = {}
    for module in (dikin, *_modules()):
        for name, thing in _shown(module):
            found.setdefault(id(thing), (f"{module.__name__}.{name}", thing))
    for _, thing in list(found.values()):
        for base in getattr(thing, "__mro__", ()):  # what a public class inherits is seen too
            if base.__module__.split(".")[0] == "dikin":
                path = f"{base.__module__}.{base.__qualname__}"
                found.setdefault(id(base), (path, base))
    return dict(sorted(found.values()))


def _modules() -> Iterator[ModuleType]:
    for name in MODULES:
        yield importlib.import_module(f"dikin.{name}")
    for name in PACKAGES:
        package = importlib.import_module(f"dikin.{name}")
        for info in pkgutil.iter_modules(package.__path__):
            if not info.name.startswith("_"):
                yield importlib.import_module(f"{package.__name__}.{info.name}")
    for folder in registry.FOLDERS:
        yield importlib.import_module(f"dikin.{folder}")


def _shown(module: ModuleType) -> Iterator[tuple[str, Any]]:
    listed = getattr(module, "__all__", None)
    for name in listed or dir(module):
        thing = getattr(module, name)
        if name.startswith("_") or not (inspect.isclass(thing) or inspect.isfunction(thing)):
            continue
        if listed is not None or thing.__module__ == module.__name__:
            yield name, thing


def group_of(thing: Any) -> Group:
    """The group whose modules a class or function is defined in."""
    module = f"{thing.__module__}."
    found = [g for g in GROUPS if any(module.startswith(f"{m}.") for m in g.modules.split())]
    if len(found) != 1:
        raise LookupError(
            f"{thing.__module__}.{thing.__qualname__} has no group of its own: GROUPS"
        )
    return found[0]


# --- pages ---------------------------------------------------------------------------------------


def pages() -> dict[str, str]:
    """The text of every page of the reference, by its name."""
    public = entries()
    written = {"index": _index_page()}
    for group in GROUPS:
        own = {name: thing for name, thing in public.items() if group_of(thing) is group}
        written[group.file] = _group_page(group, own)
        for name, thing in own.items():
            if group.one_page_each and inspect.isclass(thing):
                written[name] = _class_page(name, thing)
    return written


def _class_page(name: str, cls: type) -> str:
    return f"{_title(cls.__name__)}\n{_description(name, cls)}"


def _index_page() -> str:
    rows = "\n".join(f"   {group.file}" for group in GROUPS)
    lines = "\n".join(f"- :doc:`{group.title} <{group.file}>`: {group.words}" for group in GROUPS)
    return (
        f"{_title('API reference')}\nEvery public name, from the docstrings.\n\n{lines}\n"
        "- :doc:`The command line <commands>`: every command and option.\n"
        "- :doc:`HTTP <http>`: every request that the service answers.\n\n"
        f".. toctree::\n   :hidden:\n\n{rows}\n   commands\n   http\n"
    )


def _title(text: str) -> str:
    return f"{text}\n{'=' * len(text)}\n"


def _group_page(group: Group, own: dict[str, Any]) -> str:
    parts = [_title(group.title), f"{group.words}\n"]
    for heading, names in _sections(own):
        if heading:
            parts.append(f"{heading}\n{'-' * len(heading)}\n")
        parts.append(_table({name: own[name] for name in names}))
        apart = {n for n in names if group.one_page_each and inspect.isclass(own[n])}
        parts += [_description(name, own[name]) for name in names if name not in apart]
    if group.file == "checks":
        parts.append(f"Laws\n----\n\n{_laws()}")
    paged = [name for name in own if group.one_page_each and inspect.isclass(own[name])]
    if paged:
        listed = "".join(f"   {own[name].__name__} <{name}>\n" for name in paged)
        parts.append(f".. toctree::\n   :hidden:\n\n{listed}")
    return "\n".join(parts)


def _laws() -> str:
    """Every law with its statement; their arguments are the same."""
    modules = ("domain", "learner", "environment")
    rows = "".join(
        f"   * - ``{name.removeprefix('check_')}``\n     - {plain_to_rst(first_line(law))}\n"
        for module in modules
        for name, law in sorted(dikin.checks.laws(f"dikin.checks.{module}").items())
    )
    return f".. list-table::\n   :widths: auto\n   :class: names\n\n{rows}"


def _sections(own: dict[str, Any]) -> list[tuple[str, list[str]]]:
    """What a user writes `dikin.` before, then the rest: by module, or to build on."""
    first = [name for name in own if name.count(".") == 1]
    by_module: dict[str, list[str]] = {}
    for name in own:
        if name not in first:
            by_module.setdefault(name.rpartition(".")[0], []).append(name)
    bases = [n for names in by_module.values() for n in names if first and _is_base(own[n])]
    rest = [(module, [n for n in ns if n not in bases]) for module, ns in by_module.items()]
    sections = [("", first), *rest, ("To build on", bases)]
    return [(heading, names) for heading, names in sections if names]


def _is_base(thing: Any) -> bool:
    return inspect.isclass(thing) and not issubclass(thing, Exception) and not _is_plain(thing)


def _is_plain(cls: type) -> bool:
    return not cls.__subclasses__()


def _table(own: dict[str, Any]) -> str:
    rows = "".join(
        f"   * - :py:obj:`{thing.__name__} <{name}>`\n     - {plain_to_rst(first_line(thing))}\n"
        for name, thing in own.items()
    )
    return f".. list-table::\n   :widths: auto\n   :class: names\n\n{rows}"


def first_line(thing: Any) -> str:
    """The first paragraph of a docstring, on one line."""
    return " ".join((inspect.getdoc(thing) or "").partition("\n\n")[0].split())


def _description(name: str, thing: Any) -> str:
    if not inspect.isclass(thing):
        return f".. autofunction:: {name}\n"
    if issubclass(thing, Exception):
        return f".. autoexception:: {name}\n   :show-inheritance:\n"
    return f".. autoclass:: {name}\n   :members:\n   :show-inheritance:\n{_inherited(thing)}"


def _inherited(cls: type) -> str:
    """What a class has from its bases, with links to where it is described."""
    public = {id(thing): name for name, thing in entries().items()}
    seen, lines = set(vars(cls)), []
    for base in cls.__mro__[1:]:
        fresh = sorted(n for n in vars(base) if not n.startswith("_") and n not in seen)
        described = [n for n in fresh if inspect.getdoc(getattr(base, n, None))]
        described = [n for n in described if _is_member(vars(base)[n])]
        seen |= {*fresh}
        if described and id(base) in public:
            path = public[id(base)]
            links = ", ".join(f":py:obj:`{n} <{path}.{n}>`" for n in described)
            lines.append(f"From :py:obj:`{base.__name__} <{path}>`: {links}.\n")
    return "".join(f"\n{line}" for line in lines)


def _is_member(member: Any) -> bool:
    plain = member.__func__ if isinstance(member, classmethod | staticmethod) else member
    return isinstance(plain, FunctionType | property | cached_property)


# --- docstrings ----------------------------------------------------------------------------------


def plain_to_rst(line: str) -> str:
    """A line of a docstring with what reStructuredText would take for a sign of its own."""
    pieces = re.split(r"(`+[^`]+`+)", line)
    return "".join(
        piece if number % 2 else re.sub(r"(?<!\\)([|*])|(?<=\w)(_)(?!\w)", r"\\\1\2", piece)
        for number, piece in enumerate(pieces)
    )


def docstring_to_rst(lines: list[str]) -> list[str]:
    """A docstring whose indented formulas are literal blocks and whose bars are bars."""
    found: list[str] = []
    literal: int | None = None  # the indentation of the block that is left as it is
    before = ""
    for line in lines:
        indent = len(line) - len(line.lstrip())
        if literal is not None and line.strip() and indent < literal:
            literal = None
        blank_before = bool(found) and not found[-1].strip()
        deeper = indent >= len(before) - len(before.lstrip()) + 4
        if literal is None and line.strip() and blank_before and deeper and before:
            if not before.endswith("::"):
                found += [f"{' ' * (indent - 4)}::", ""]
            literal = indent
        if literal is None and line.lstrip().startswith(">>>"):
            literal = indent
        if line.strip():
            before = line
        elif literal is not None and before.lstrip().startswith((">>>", "...")):
            literal = None
        found.append(line if literal is not None else plain_to_rst(line))
    return found


def _on_docstring(
    app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]
) -> None:
    lines[:] = docstring_to_rst(lines)


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to Sphinx, before numpydoc reads a docstring."""
    from repository_pages import AUTO, write

    def write_pages(app: Sphinx, config: object) -> None:
        for name, text in pages().items():
            write(AUTO / "api" / f"{name}.rst", text)

    app.connect("config-inited", write_pages)
    app.connect("autodoc-process-docstring", _on_docstring, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
