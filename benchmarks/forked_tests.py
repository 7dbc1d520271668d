"""Runs tests again and again, each time in a fork of a process that has imported what they need.

It has imported pytest and large packages, but nothing of dikin: a fork reads the package as it is
then. This saves most of the time that a short run takes. A request is a line of JSON: arguments of
pytest, more environment, a file for its output, and seconds of computing after which it is ended
with all that it started. The answer is a line: pytest's exit status, or `late`.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import time
import traceback
from contextlib import suppress
from typing import Any

import chosen_tests  # noqa: F401
import hypothesis  # noqa: F401
import numpy  # noqa: F401
import pytest
import scipy.optimize  # noqa: F401

QUIET = ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
"""A plugin that is there already cannot be rewritten, and need not be."""

SLOWER = 10
"""How many times as long as it computes a run may take: others compute too, and a test may wait."""


def run(arguments: list[str], environment: dict[str, str], output: str, seconds: float) -> None:
    """In the fork."""
    os.setsid()
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 10))
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.update(environment)
    with open(output, "wb") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    status = 1
    try:
        status = int(pytest.main([*QUIET, *arguments]))
    except BaseException:  # nothing of a fork may come back here
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def end(child: int) -> None:
    """With all that it has started."""
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)


def wait(child: int, seconds: float) -> int | None:
    """The exit status, or None if it takes longer."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            end(child)
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    end(child)
    os.waitpid(child, 0)
    return None


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who asks hears it, and closes the pipe
    for line in sys.stdin:
        request: dict[str, Any] = json.loads(line)
        child = os.fork()
        if child == 0:
            run(*(request[name] for name in ("arguments", "environment", "output", "seconds")))
        status = wait(child, SLOWER * request["seconds"])
        with suppress(BrokenPipeError):
            print("late" if status in (None, -signal.SIGXCPU) else status, flush=True)


if __name__ == "__main__":
    main()
