"""Compiles the loop (`engine/loop.py`) for the kernels of one learner and one environment.

Numba specialises the loop by the types of the kernels: a method call on a NamedTuple is resolved to
the method of its class, which is plain Python in the domain's, learner's or environment's own file.
Numba keeps machine code on disk next to a file that is named by a digest of the package's source:
another version compiles anew.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from inspect import isfunction, signature
from pathlib import Path
from types import FunctionType
from typing import Any

from dikin import extras
from dikin.domains.geometry import Geometry
from dikin.engine.loop import play_rounds
from dikin.environments.base import LossKernel
from dikin.environments.patterns import Pattern
from dikin.kernel import FUNCTIONS
from dikin.learners.adaptive import AdaptiveRound, Schedule

COMPILE_FROM = 20_000
"""Rounds from which on a run is compiled.

Compiling takes 5 seconds, once for all later processes. Loading machine code from disk takes half a
second. A round takes 20 to 120 microseconds in plain Python and less than one compiled. Only the
length of a run decides, never earlier compilations: a seed always gives the same last digit.
"""

ORDER_FREE = {"reassoc", "contract", "nsz"}
"""Liberties of a compiler with a sum whose order is free. NaN and infinity keep their meaning."""
OPTIONS = {"error_model": "numpy", "forceinline": True}
"""No checks for division by zero, and one function in the end, without calls inside."""
PROTOCOLS = (Geometry, Schedule, AdaptiveRound, LossKernel, Pattern)
"""Classes of kernels. Compiled code calls a kernel's method by a name that they declare."""
ROOT = Path(__file__).parents[1]


def worth_compiling(rounds: int, runs: int) -> bool:
    """Return whether that many runs of that length are compiled."""
    if rounds * runs < COMPILE_FROM:
        return False
    if not extras.installed("numba"):
        _say_what_is_missing()
        return False
    return True


@cache
def _say_what_is_missing() -> None:
    """Once in a process."""
    sys.stderr.write(
        "dikin: numba is not installed, and long runs are played in plain Python, some 200 "
        'times as slowly: pip install "dikin[lab]"\n'
    )


def compiled_loop(*kernels: Any) -> Callable[..., None]:
    """`play_rounds`, which is compiled when it is first called with kernels of new types."""
    loop: Callable[..., None] = _loop(all(map(_ours, kernels)))
    _declare_functions()
    return loop


@cache
def _loop(kept: bool) -> Any:
    """The loop of this process. Machine code is kept for kernels of this package alone.

    A class of a user's script cannot be imported by another process.
    """
    numba = extras.require("numba", "lab", "the compiled loop")
    _declare_methods()
    path = _kept_source() if kept else None
    if path is None:
        return numba.njit(error_model="numpy")(play_rounds)
    # Numba tells by this file's date whether machine code is outdated: its name does.
    code = play_rounds.__code__.replace(co_filename=str(path))
    return numba.njit(error_model="numpy", cache=True)(FunctionType(code, play_rounds.__globals__))


def _kept_source() -> Path | None:
    """Return the file next to which machine code lies, or None if it cannot be written."""
    cache = os.environ.get("NUMBA_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    path = Path(cache).expanduser() / "dikin" / f"loop_{source_digest()}.py"
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            path.write_text("# The compiled loop of dikin: the name is a digest of its source.\n")
        return path
    return None


@cache
def source_digest() -> str:
    """Return the digest of every file that compiled code may come from."""
    digest = hashlib.sha256()
    for folder in ("", "domains", "engine", "environments", "forecasts", "learners", "theory"):
        for path in sorted((ROOT / folder).glob("*.py")):
            digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def _ours(kernel: Any) -> bool:
    """Return whether a kernel is of this package, down to its fields."""
    if not isinstance(kernel, tuple):
        return not hasattr(kernel, "py_func")
    return type(kernel).__module__.startswith("dikin.") and all(map(_ours, kernel))


_declared: set[Callable[..., object]] = set()


def _declare_functions() -> None:
    """Tell Numba about marked functions. A user's module may have marked more meanwhile."""
    from numba.extending import overload

    for function in FUNCTIONS.keys() - _declared:
        body, order_free = FUNCTIONS[function]
        options = OPTIONS | {"fastmath": ORDER_FREE if order_free else False}
        overload(function, jit_options=options, strict=False)(
            _resolver(function, lambda *_, body=body: body)
        )
        _declared.add(function)


def _declare_methods() -> None:
    """Tell Numba that a method call on a kernel is the plain method of the kernel's class."""
    from numba import types
    from numba.extending import overload_method

    every = (m for each in PROTOCOLS for m in vars(each).values() if isfunction(m))
    for method in {m for m in every if not m.__name__.startswith("_")}:
        name = method.__name__
        resolve = _resolver(method, lambda self, *_, name=name: getattr(self.instance_class, name))
        for tuples in (types.NamedTuple, types.NamedUniTuple):
            overload_method(tuples, name, jit_options=OPTIONS, strict=False)(resolve)


def _resolver(function: Callable[..., Any], found: Callable[..., Any]) -> Callable[..., Any]:
    """A function with the signature of another, as Numba asks for it."""

    def resolve(*arguments: Any) -> Any:
        return found(*arguments)

    resolve.__signature__ = signature(function)  # type: ignore[attr-defined]
    return resolve
