"""Compiles the loop (`engine/loop.py`) for the kernels of one learner and one environment.

Numba specialises the loop by the types of the kernels: a method call on a NamedTuple is resolved to
the method of its class, which is plain Python in the domain's, learner's or environment's own file.
Machine code is cached on disk for later processes, under a digest of its source code.
"""

from __future__ import annotations

import dis
import hashlib
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from inspect import isfunction, signature
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from dikin import extras
from dikin.domains.geometry import GeometryKernel
from dikin.engine.loop import play_rounds
from dikin.environments.base import HasConstants, LossKernel
from dikin.environments.patterns import Pattern
from dikin.kernel import FUNCTIONS
from dikin.learners.barrier_ftrl import Schedule, TakesConstants
from dikin.learners.descent import Pace
from dikin.learners.kernel_learner import LearnerKernel

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

COMPILE_FROM = 20_000
"""Rounds from which on a game is compiled.

Compiling takes 2 to 5 seconds, once for all later processes; loading machine code from disk takes
half a second. A round takes 20 to 120 microseconds in plain Python and less than one compiled. Only
the length of a game decides, never what was compiled before: a seed always gives the same last
digit.
"""

ORDER_FREE = {"reassoc", "contract", "nsz"}
"""What a compiler may do to a sum whose order is free; NaN and infinity keep their meaning."""

OPTIONS = {
    "error_model": "numpy",
    "forceinline": True,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}
"""No checks for division by zero; one function in the end, in which nothing is passed around, and
no way from Python into its parts: to compile those takes a tenth of the time."""

LEARNER_OPTIONS = OPTIONS | {"_nrt": False}
"""A learner makes no arrays, so that nobody needs to count who uses them. Numba counts for every
view of an array, and that took three quarters of a round of `Predictive`. What a learner calls is
compiled likewise; losses are not, as a user's function may make arrays."""

PROTOCOLS = (
    GeometryKernel,
    Schedule,
    TakesConstants,
    Pace,
    LearnerKernel,
    LossKernel,
    HasConstants,
    Pattern,
)
"""What kernels are. Compiled code calls a kernel's method by a name that one of these declares.

No other method of a kernel can be called there: the compiler does not know it.
"""

ArgTypes = tuple[Any, ...]
"""Numba's types of some arguments."""


def worth_compiling(rounds: int, games: int) -> bool:
    """Whether that many games of that length are played compiled."""
    if rounds * games < COMPILE_FROM:
        return False
    if not extras.installed("numba"):
        _say_what_is_missing()
        return False
    return True


def _folder() -> Path:
    """The folder of machine code: in NUMBA_CACHE_DIR, in XDG_CACHE_HOME, or in ~/.cache."""
    cache = os.environ.get("NUMBA_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME")
    return Path(cache or os.path.expanduser("~/.cache")) / "dikin"


@cache
def _say_what_is_missing() -> None:
    """Once in a process."""
    sys.stderr.write(
        "dikin: numba is not installed, so that long games are played in plain Python, some 200 "
        'times as slowly: pip install "dikin[lab]"\n'
    )


@cache
def compiled_loop() -> CompiledLoop:
    """The loop of this process."""
    return CompiledLoop()


class CompiledLoop:
    """`play_rounds`, compiled when it is first called with kernels of new types."""

    def __init__(self) -> None:
        numba = extras.require("numba", "lab", "the compiled loop")
        _declare_methods()
        self._declared: set[Callable[..., object]] = set()
        self._loop = numba.njit(error_model="numpy")(play_rounds)
        self._loop._cache = self._machine_code = MachineCode(self._loop.targetctx)

    def machine_code(self, *arguments: Any) -> Callable[..., None]:
        """The machine code for arguments of these types, and of no others: it does not look.

        To find out the types takes as long as a thousand rounds.
        """
        argtypes = self._argtypes(arguments)
        if argtypes not in self._loop.overloads:
            self._declare_functions()
            with self._machine_code.locked(argtypes):
                self._loop.compile(argtypes)
        code: Callable[..., None] = self._loop.overloads[argtypes].entry_point
        return code

    def _argtypes(self, arguments: tuple[Any, ...]) -> ArgTypes:
        return tuple(map(self._loop.typeof_pyval, arguments))

    def _declare_functions(self) -> None:
        """Tell Numba about marked functions; a user's module may have marked more meanwhile."""
        from numba.extending import overload

        for function in FUNCTIONS.keys() - self._declared:
            body, order_free = FUNCTIONS[function]
            options = OPTIONS | {"fastmath": ORDER_FREE if order_free else False}
            overload(function, jit_options=options, strict=False)(_body_of(function, body))
            self._declared.add(function)


def _declare_methods() -> None:
    """Tell Numba what a method call on a kernel means."""
    from numba import types
    from numba.extending import overload_method

    for protocol in PROTOCOLS:
        options = LEARNER_OPTIONS if protocol is LearnerKernel else OPTIONS
        for method in filter(isfunction, vars(protocol).values()):
            for tuples in (types.NamedTuple, types.NamedUniTuple):
                resolve = overload_method(
                    tuples, method.__name__, jit_options=options, strict=False
                )
                resolve(_resolver(method))


def _body_of(function: Callable[..., Any], body: Callable[..., Any]) -> Callable[..., Any]:
    """What a call of a marked function means to the compiler: its own text, or its loop."""

    def resolve(*arguments: Any) -> Any:
        return body

    resolve.__signature__ = signature(function)  # type: ignore[attr-defined]
    return resolve


def _resolver(method: FunctionType) -> Callable[..., Any]:
    """What `kernel.method(...)` means to the compiler: the plain method of the kernel's class."""

    def resolve(kernel: Any, *arguments: Any) -> Any:
        default = method if method is HasConstants.constants else None  # others must be there
        return getattr(kernel.instance_class, method.__name__, default)

    resolve.__signature__ = signature(method)  # type: ignore[attr-defined]
    return resolve


# --- machine code on disk ------------------------------------------------------------------------


class MachineCode:
    """Machine code on disk: one file for the types of all arguments, named by what it is made of.

    This has the methods of Numba's own cache that a dispatcher calls. That one tells by the date of
    a single file whether machine code is outdated, and the loop is made of many. Kernels of this
    package alone are kept: a class of a user's script cannot be imported by another process.
    """

    def __init__(self, target: Any) -> None:
        self._folder = _folder()
        self._processor = target.codegen().magic_tuple()

    @contextmanager
    def locked(self, argtypes: ArgTypes) -> Iterator[None]:
        """Of several processes that need the same machine code, let one compile and others wait.

        The lock is a file beside the machine code, and ends with the process that holds it. Where
        there is none (Windows, a folder that cannot be written) each process compiles.
        """
        with ExitStack() as stack:
            if fcntl is not None and all(map(ours, argtypes)):
                with suppress(OSError):
                    self._folder.mkdir(parents=True, exist_ok=True)
                    path = self._folder / f"{self._name(argtypes)}.lock"
                    fcntl.flock(stack.enter_context(open(path, "wb")), fcntl.LOCK_EX)
            yield

    def load_overload(self, argtypes: ArgTypes, target: Any) -> Any:
        """What Numba compiled for these types, or None and a line that says what takes so long."""
        target.refresh()
        code = self._load(argtypes, target) if all(map(ours, argtypes)) else None
        if code is None:
            sys.stderr.write(f"dikin: compiling the loop for {_names(*argtypes[:2])}, once ...\n")
        return code

    def save_overload(self, argtypes: ArgTypes, compiled: Any) -> None:
        """Save what Numba compiled for these types, if possible."""
        if all(map(ours, argtypes)) and not compiled.library.has_dynamic_globals:
            with suppress(OSError):
                self._folder.mkdir(parents=True, exist_ok=True)
                self._file(argtypes).save("", compiled._reduce())

    def _load(self, argtypes: ArgTypes, target: Any) -> Any:
        from numba.core.compiler import CompileResult

        file = self._file(argtypes)
        try:
            code = file.load("")
            return None if code is None else CompileResult._rebuild(target, *code)
        except Exception:  # a damaged file may fail in any way, and is as good as none
            with suppress(OSError):
                file.flush()
            return None

    def _file(self, argtypes: ArgTypes) -> Any:
        from numba.core.caching import IndexDataCacheFile

        return IndexDataCacheFile(str(self._folder), self._name(argtypes), "")

    def _name(self, argtypes: ArgTypes) -> str:
        return digest(argtypes, self._processor)


@cache
def digest(argtypes: ArgTypes, processor: Any) -> str:
    """Of everything that machine code depends on: types, code, versions, the processor."""
    import numba

    options = LEARNER_OPTIONS, sorted(ORDER_FREE)
    made_by = sys.version, np.__version__, numba.__version__, options
    code = code_of(
        play_rounds, *(cls for numba_type in argtypes for cls in kernel_classes(numba_type))
    )
    text = repr((made_by, processor, list(map(str, argtypes)), code))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


# --- types ---------------------------------------------------------------------------------------


def kernel_classes(numba_type: Any) -> list[type]:
    """The classes of a kernel and of the kernels in its fields."""
    if not _is_kernel(numba_type):
        return []
    return [
        numba_type.instance_class,
        *(cls for field in numba_type for cls in kernel_classes(field)),
    ]


def ours(numba_type: Any) -> bool:
    """Whether a type is Numba's own or a kernel of this package, down to its fields."""
    if _is_kernel(numba_type):
        return numba_type.instance_class.__module__.startswith("dikin.") and all(
            map(ours, numba_type)
        )
    return not hasattr(numba_type, "dispatcher")


def _is_kernel(numba_type: Any) -> bool:
    return hasattr(numba_type, "instance_class")


def _names(learner: Any, environment: Any) -> str:
    """What a loop is compiled for, by the names of its parts."""
    parts = list(filter(_is_kernel, learner))
    named = parts if len(parts) > 1 else [learner, *parts]
    return " + ".join(part.instance_class.__name__ for part in (*reversed(named), environment))


# --- the code that machine code is made of -------------------------------------------------------


def code_of(*roots: Callable[..., object]) -> list[str]:
    """What functions and kernels compute, as text, with all that they call.

    Made of Python's instructions, so that comments, docstrings, annotations and line numbers do not
    count, nor anything in a file that no kernel uses.
    """
    texts: dict[Callable[..., object], str] = {}
    stack = list(roots)
    while stack:
        part = stack.pop()
        if part not in texts:
            texts[part], more = _function(part) if isfunction(part) else _class(part)
            stack += more
    return sorted(texts.values())


Definition = tuple[str, list[Any]]
"""The text of a function or class, and the functions and classes that it uses."""


def _function(function: Any) -> Definition:
    names = set(_names_in(function.__code__))
    used = {name: function.__globals__[name] for name in names & set(function.__globals__)}
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    used |= {name: cell.cell_contents for name, cell in cells}
    for module in [value for value in used.values() if isinstance(value, ModuleType)]:
        used |= {name: vars(module)[name] for name in names & set(vars(module))}
    constants = sorted((name, _value(used[name])) for name in used if _is_constant(used[name]))
    marks = {name: FUNCTIONS[f] for name, f in used.items() if isfunction(f) and f in FUNCTIONS}
    order_free = sorted(name for name, mark in marks.items() if mark.order_free)
    defaults = function.__defaults__, function.__kwdefaults__, order_free
    text = repr((function.__qualname__, _instructions(function.__code__), defaults, constants))
    kernels = [value for value in used.values() if _is_kernel_class(value)]
    return text, [*kernels, *(mark.body for mark in marks.values())]


def _class(cls: Any) -> Definition:
    methods, constants = [], []
    for base in cls.__mro__:
        own = [(name, value) for name, value in vars(base).items() if not name.startswith("__")]
        # Not those of every NamedTuple.
        methods += [v for _, v in own if isfunction(v) and v.__module__ == base.__module__]
        constants += [(name, _value(value)) for name, value in own if _is_constant(value)]
    return repr((cls.__module__, cls.__qualname__, cls._field_defaults, sorted(constants))), methods


def _instructions(code: CodeType) -> list[tuple[str, str]]:
    return [(each.opname, _value(each.argval)) for each in dis.get_instructions(code)]


def _names_in(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _names_in(inner)


def _value(value: Any) -> str:
    """A constant as a text that is the same in every process."""
    if isinstance(value, CodeType):
        return repr(_instructions(value))
    if isinstance(value, frozenset):
        return repr(sorted(map(repr, value)))
    return repr(value.tolist() if isinstance(value, np.ndarray) else value)


def _is_constant(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(map(_is_constant, value))
    return value is None or isinstance(value, int | float | complex | str | np.ndarray | np.generic)


def _is_kernel_class(value: Any) -> bool:
    return isinstance(value, type) and issubclass(value, tuple) and hasattr(value, "_fields")
