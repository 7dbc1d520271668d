"""Processes that begin where imports end.

A service imports packages for most of a second before it listens, and many tests start one of their
own. A template imports them once, and forks. What it imports is not the service's own: a program
may set a limit before it imports `dikin.service`, as it could in a process that is begun anew.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from functools import cache
from typing import IO

TEMPLATE = """
import json, os, socket, sys
import dikin, prometheus_client, starlette.applications, uvicorn

tests = socket.socket(fileno=int(sys.argv[1]))
while True:
    request, files, *_ = socket.recv_fds(tests, 1 << 20, 2)
    if not request:
        sys.exit()
    wanted = json.loads(request)
    if "ended" in wanted:
        answer = os.waitstatus_to_exitcode(os.waitpid(wanted["ended"], 0)[1])
    elif not (answer := os.fork()):
        break
    for file in files:
        os.close(file)
    tests.send(str(answer).encode())
tests.close()
for file, place in zip(files, (1, 2)):
    os.dup2(file, place)
    os.close(file)
os.environ.clear()
os.environ.update(wanted["environment"])
sys.argv[1:] = wanted["arguments"]
exec(wanted["program"], {"__name__": "__main__"})
"""
"""Forks for each request, and says how a process ended; ends when nobody can ask any more."""


class Template:
    """A process that forks into programs."""

    def __init__(self) -> None:
        self._tests, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._turn = threading.Lock()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-c", TEMPLATE, str(theirs.fileno())],
                stdout=subprocess.DEVNULL,  # as a pipe, it is no terminal
                env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},  # threads are not forked
                pass_fds=[theirs.fileno()],
            )
        atexit.register(self.close)

    def ask(self, files: list[int], **wanted: object) -> int:
        """A process, or how one ended."""
        with self._turn:
            socket.send_fds(self._tests, [json.dumps(wanted).encode()], files)
            return int(self._tests.recv(100))

    def close(self) -> None:
        self._tests.close()
        self._process.wait(60)


@cache
def template() -> Template:
    """The one of this process."""
    return Template()


class Forked:
    """As much of `subprocess.Popen` as tests of a service need."""

    def __init__(
        self, program: str, arguments: list[str], environment: dict[str, str], log: int
    ) -> None:
        self.returncode: int | None = None
        self._turn = threading.Lock()
        read, write = os.pipe()
        self.stdout: IO[str] = os.fdopen(read)
        try:
            self.pid = template().ask(
                [write, log], program=program, arguments=arguments, environment=environment
            )
        finally:
            os.close(write)
        self._process = os.pidfd_open(self.pid)

    def send_signal(self, how: signal.Signals) -> None:
        if self.poll() is None:
            signal.pidfd_send_signal(self._process, how)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def poll(self) -> int | None:
        """How it ended, or None."""
        return self._ended(0.0)

    def wait(self, timeout: float) -> int:
        """How it ended; at most so many seconds are waited."""
        status = self._ended(timeout)
        if status is None:
            raise subprocess.TimeoutExpired(f"process {self.pid}", timeout)
        return status

    def _ended(self, seconds: float) -> int | None:
        end = select.poll()
        end.register(self._process, select.POLLIN)
        if end.poll(1000 * seconds):
            with self._turn:  # it is asked once: then the number may be another process's
                if self.returncode is None:
                    self.returncode = template().ask([], ended=self.pid)
        return self.returncode

    def __del__(self) -> None:
        os.close(self._process)


@cache
def can_fork() -> bool:
    """Whether the system names processes by files, as Linux does."""
    try:
        os.close(os.pidfd_open(os.getpid()))
    except (AttributeError, OSError):
        return False
    return True


def fork(
    program: str, arguments: list[str], environment: dict[str, str], log: IO[str]
) -> Forked | subprocess.Popen[str]:
    """A process that runs a program, with a pipe from its output; it logs into a file."""
    if can_fork():
        return Forked(program, arguments, environment, log.fileno())
    return start(program, arguments, environment, log)


def start(
    program: str, arguments: list[str], environment: dict[str, str], log: IO[str]
) -> subprocess.Popen[str]:
    """The same from nothing, as users start it."""
    return subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        stdout=subprocess.PIPE,
        stderr=log,
        text=True,
        env=environment,
    )
