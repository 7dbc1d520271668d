"""Silence while a thread repeats rounds that were logged before."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

SILENT = ContextVar("silent", default=False)
"""True while this thread repeats rounds."""


@contextmanager
def silence() -> Iterator[None]:
    """Suppress the warnings and the log of learners in this thread alone."""
    before = SILENT.set(True)
    try:
        yield
    finally:
        SILENT.reset(before)


def warn(words: str, category: type[Warning], stacklevel: int) -> None:
    """Warn, unless the thread is silent; `stacklevel` as for `warnings.warn` in the caller."""
    if not SILENT.get():
        warnings.warn(words, category, stacklevel=stacklevel + 1)
