"""Processes for long work on a study, which end with the process that wants the work done."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import NamedTuple


class Processes(NamedTuple):
    """Processes that wait for work."""

    pool: ProcessPoolExecutor
    stop: Callable[[], None]
    """Ends them at once, whatever they do; may be called from any thread."""


@contextmanager
def processes(workers: int) -> Iterator[Processes]:
    """Start processes; an error inside, or the end of this process, ends them too."""
    # Spawned: a fork would copy threads and connections in the middle of their work.
    context = get_context("spawn")
    wanted, us = context.Pipe(duplex=False)
    with us, wanted, ProcessPoolExecutor(workers, context, _begin, (wanted,)) as pool:
        try:
            yield Processes(pool, us.close)
        except BaseException:
            us.close()
            raise


def _begin(wanted: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent process handles it
    threading.Thread(target=_end_when_closed, args=(wanted,), daemon=True).start()


def _end_when_closed(wanted: Connection) -> None:
    """End this process when its parent has no use for it any more, or was killed."""
    wanted.poll(None)
    os._exit(1)
