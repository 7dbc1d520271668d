"""Compiles the loop (`engine/loop.py`) for the kernels of one learner and one environment.

Numba specialises the loop by the types of the kernels: a method call on a NamedTuple is resolved to
the method of its class, which is plain Python in the domain's, learner's or environment's own file.
Machine code is kept on disk for later processes, under a digest of the source that it came from.
"""

from __future__ import annotations

import contextlib
import hashlib
import sys
from collections.abc import Callable
from functools import cache
from inspect import isfunction, signature
from pathlib import Path
from types import FunctionType
from typing import Any

import numba
from numba import types
from numba.core.caching import (
    CompileResultCacheImpl,
    FunctionCache,
    UserProvidedCacheLocator,
    UserWideCacheLocator,
)
from numba.extending import overload, overload_method

import dikin
from dikin.domains.geometry import GeometryKernel
from dikin.engine import loop
from dikin.environments.base import LossKernel
from dikin.environments.patterns import Pattern
from dikin.kernel import FUNCTIONS
from dikin.learners.barrier_ftrl import Schedule
from dikin.learners.descent import Pace
from dikin.learners.kernel_learner import LearnerKernel

ORDER_FREE = {"reassoc", "contract", "nsz"}
"""What a compiler may do to a sum whose order is free; NaN and infinity keep their meaning."""

OPTIONS = {"error_model": "numpy", "forceinline": True}
"""No checks for division by zero; one function in the end, in which nothing is passed around."""

PACKAGE = str(Path(dikin.__file__).parent)

PROTOCOLS = (GeometryKernel, Schedule, Pace, LearnerKernel, LossKernel, Pattern)
"""What kernels are: the methods of these are the calls that the compiler must resolve."""


@cache
def compiled_loop() -> Any:
    """`loop.play_rounds`, to be specialised by its first call with new kernels."""
    for function, (body, order_free) in FUNCTIONS.items():
        options = OPTIONS | {"fastmath": ORDER_FREE if order_free else False}
        overload(function, jit_options=options, strict=False)(_body_of(function, body))
    for protocol in PROTOCOLS:
        for method in filter(isfunction, vars(protocol).values()):
            for tuples in (types.NamedTuple, types.NamedUniTuple):
                resolve = overload_method(
                    tuples, method.__name__, jit_options=OPTIONS, strict=False
                )
                resolve(_resolver(method))
    dispatcher = numba.njit(error_model="numpy")(loop.play_rounds)
    with contextlib.suppress(RuntimeError):  # no folder can be written: compile in every process
        dispatcher._cache = SourceCache(loop.play_rounds)
    return dispatcher


def _body_of(function: Callable[..., Any], body: Callable[..., Any]) -> Callable[..., Any]:
    """What a call of a marked function means to the compiler: its own text, or its loop."""

    def resolve(*arguments: Any) -> Any:
        return body

    resolve.__signature__ = signature(function)  # type: ignore[attr-defined]
    return resolve


def _resolver(method: FunctionType) -> Callable[..., Any]:
    """What `kernel.method(...)` means to the compiler: the plain method of the kernel's class."""

    def resolve(kernel: Any, *arguments: Any) -> Any:
        return getattr(kernel.instance_class, method.__name__, None)

    resolve.__signature__ = signature(method)  # type: ignore[attr-defined]
    return resolve


class Stamped:
    """Machine code is valid for exactly the source that it was made from, and has its own folder.

    The index of a folder names classes, and is read before anything in it can be found outdated.
    """

    def get_source_stamp(self) -> str:
        return source_stamp()

    def get_cache_path(self) -> str:
        base: str = super().get_cache_path()  # type: ignore[misc]
        return str(Path(base) / source_stamp()[:16])


class GivenFolder(Stamped, UserProvidedCacheLocator):
    """NUMBA_CACHE_DIR, where it is set."""


class UserFolder(Stamped, UserWideCacheLocator):
    """The user's cache."""


class SourceCacheImpl(CompileResultCacheImpl):
    _locator_classes = [GivenFolder, UserFolder]


class SourceCache(FunctionCache):
    """Numba's cache on disk, for kernels of this package alone.

    Its index names the kernels' classes and is read as a whole: a class of a user's script, which
    another process cannot import, must not get into it. Compiling is announced in one line.
    """

    _impl_class = SourceCacheImpl

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        found = self._find(sig, target_context) if all(map(ours, sig)) else None
        if found is None:
            sys.stderr.write(f"dikin: compiling the loop for {kinds(*sig[:2])}, once ...\n")
        return found

    def _find(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # a damaged index may fail in any way, and is as good as none
            self.flush()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        if all(map(ours, sig)):
            super().save_overload(sig, data)


def kinds(player: Any, losses: Any) -> str:
    """What a loop is compiled for, by the names of its parts."""
    parts = [part for part in player if isinstance(part, types.BaseNamedTuple)]
    named = parts if len(parts) > 1 else [player, *parts]
    return " + ".join(part.instance_class.__name__ for part in (*reversed(named), losses))


def ours(kind: Any) -> bool:
    """Whether a type is Numba's own or a kernel of this package, down to its fields."""
    if isinstance(kind, types.Dispatcher):
        return False
    if isinstance(kind, types.BaseNamedTuple):
        file = getattr(sys.modules.get(kind.instance_class.__module__), "__file__", None)
        return file is not None and Path(PACKAGE) in Path(file).parents and all(map(ours, kind))
    return True


@cache
def source_stamp() -> str:
    """A digest of the package's source: a changed kernel never meets old machine code."""
    digest = hashlib.sha256()
    for path in sorted(Path(PACKAGE).rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()
