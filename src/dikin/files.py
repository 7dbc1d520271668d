"""Files: written completely or not at all, and private to their owner where they hold a state."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from dikin.errors import ParameterError, shown

OWNERS_ALONE = 0o600
"""Mode of a new file that contains a state."""
TO_BE_READ = 0o666
"""Mode of a new picture, table or page, less the umask."""

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


def path_of(value: Any) -> Path:
    """Return the value as a path, or raise an error of the library."""
    if not isinstance(value, str | os.PathLike):
        raise ParameterError(f"a path must be a string or a pathlib.Path, got {shown(value)}")
    path = Path(value)
    if "\0" in str(path):
        raise ParameterError(f"a path must not contain a NUL character, got {shown(str(path))}")
    return path


def replace_file(target: Path, content: bytes, mode: int = TO_BE_READ) -> None:
    """Write a file so that its path always has the complete old content or the complete new one."""
    with replacing(target, mode) as file:
        file.write(content)


@contextmanager
def replacing(target: Path, mode: int = TO_BE_READ) -> Iterator[BinaryIO]:
    """Yield a file to write, which replaces another when it is complete, or never.

    Several processes may write to one path at once: each writes its own file, and the last one to
    finish wins. A link stays a link: its target is replaced. An existing file keeps its mode. A
    process that is killed meanwhile leaves its own file, `.dikin-*.part`.
    """
    target = Path(os.path.realpath(target))
    if target.exists() and not target.is_file():
        raise ParameterError(
            f"{target} is a folder, a device or a pipe, which cannot be replaced as a whole; pass "
            "the path of a file. Nothing was written"
        )
    unfinished = target.with_name(f".dikin-{secrets.token_hex(8)}.part")
    try:
        handle = os.open(unfinished, _NEW, mode)
    except OSError as reason:
        raise type(reason)(reason.errno, reason.strerror, str(target)) from reason
    try:
        with open(handle, "wb") as file:
            with suppress(FileNotFoundError):
                unfinished.chmod(target.stat().st_mode & 0o777)
            yield file
            file.flush()
            os.fsync(handle)
        unfinished.replace(target)
    except BaseException:
        with suppress(OSError):
            unfinished.unlink()
        raise
    if os.name == "posix":  # Windows needs no such step and cannot open folders
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)  # makes the new name durable
        finally:
            os.close(folder)
