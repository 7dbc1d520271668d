"""Ctrl-C in another process, as a person presses it."""

from __future__ import annotations

import signal
import subprocess
from contextlib import suppress

PATIENCE = 15
"""Seconds in which a process ends that has noticed, on a busy machine too. A second signal while it
ends would kill it."""
TRIES = 8
"""A process that goes on after so many signals does not listen."""


def press_ctrl_c(process: subprocess.Popen[str] | subprocess.Popen[bytes]) -> int:
    """Send SIGINT, and again where the process has not ended after PATIENCE; its status.

    A signal that comes just before a call which waits is noticed by Python after that call.
    """
    for _ in range(TRIES):
        process.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            return process.wait(timeout=PATIENCE)
    raise AssertionError("it goes on, whatever one presses")
