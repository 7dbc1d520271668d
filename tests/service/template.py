"""Processes that begin where imports end: a fork server has imported what a service needs."""

import multiprocessing
import os
import subprocess
import sys
from multiprocessing.process import BaseProcess
from multiprocessing.reduction import DupFd
from typing import IO, Any

FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["dikin", "prometheus_client", "starlette.applications", "uvicorn"])
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # threads are not forked


class Forked:
    """A forked process, with as much of `subprocess.Popen` as tests of a service need."""

    def __init__(
        self, program: str, arguments: list[str], environment: dict[str, str], log: IO[str]
    ) -> None:
        read, write = os.pipe()
        self.stdout = os.fdopen(read)
        outputs = _Outputs(write, log.fileno())
        self._process: BaseProcess = FORKS.Process(
            target=_run, args=(program, arguments, environment, outputs), daemon=True
        )
        self._process.start()
        os.close(write)
        assert self._process.pid is not None
        self.pid = self._process.pid
        self.kill = self._process.kill

    def send_signal(self, how: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, how)

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float) -> int:
        self._process.join(timeout)
        if self._process.exitcode is None:
            raise subprocess.TimeoutExpired(f"process {self.pid}", timeout)
        return self._process.exitcode


class _Outputs:
    """The files of standard output and error, on their way to a process."""

    def __init__(self, *files: int) -> None:
        self.files: Any = files

    def __getstate__(self) -> list[Any]:
        return [DupFd(file) for file in self.files]

    def __setstate__(self, files: list[Any]) -> None:
        self.files = [file.detach() for file in files]


def _run(
    program: str, arguments: list[str], environment: dict[str, str], outputs: _Outputs
) -> None:
    for file, place in zip(outputs.files, (1, 2), strict=True):
        os.dup2(file, place)
        os.close(file)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv[1:] = arguments
    exec(program, {"__name__": "__main__"})


def start(
    program: str, arguments: list[str], environment: dict[str, str], log: IO[str]
) -> subprocess.Popen[str]:
    """Start a process as users do, imports included."""
    return subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        stdout=subprocess.PIPE,
        stderr=log,
        text=True,
        env=environment,
    )
