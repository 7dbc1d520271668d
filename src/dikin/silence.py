"""Silence while a thread repeats rounds that were logged before."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from threading import local


class _Silence(local):
    now = False


SILENCE = _Silence()
"""`SILENCE.now` is True while this thread repeats rounds."""


@contextmanager
def silence() -> Iterator[None]:
    """Suppress the warnings and the log of learners in this thread alone."""
    before, SILENCE.now = SILENCE.now, True
    try:
        yield
    finally:
        SILENCE.now = before


def warn(words: str, category: type[Warning], stacklevel: int) -> None:
    """Warn, unless the thread is silent; `stacklevel` as for `warnings.warn` in the caller."""
    if not SILENCE.now:
        warnings.warn(words, category, stacklevel=stacklevel + 1)
