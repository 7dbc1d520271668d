"""What was said once is not said again: a thread that does again what was done keeps quiet."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import local


class _Silence(local):
    """Whether this thread does again what was done before, with all that was to be said then."""

    now = False


SILENCE = _Silence()


@contextmanager
def silence() -> Iterator[None]:
    """Let learners say nothing in this thread: no warning, no line in a log.

    Unlike filters of warnings this changes nothing for other threads, and costs next to nothing.
    """
    before, SILENCE.now = SILENCE.now, True
    try:
        yield
    finally:
        SILENCE.now = before
