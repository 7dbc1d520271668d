"""Ctrl-C in another process, as a person presses it."""

from __future__ import annotations

import signal
import subprocess
from contextlib import suppress

PATIENCE = 60
"""Seconds after which a process that goes on does not listen."""


def press_ctrl_c(process: subprocess.Popen[str] | subprocess.Popen[bytes]) -> int:
    """Send SIGINT, and again after each second in which the process has not ended; its status.

    A signal that comes just before a call which waits is noticed by Python after that call.
    """
    for _ in range(PATIENCE):
        process.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            return process.wait(timeout=1)
    raise AssertionError("it goes on, whatever one presses")
