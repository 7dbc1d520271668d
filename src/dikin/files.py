"""Files: written completely or not at all, and private to their owner where they hold a state."""

from __future__ import annotations

import os
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from dikin.errors import ParameterError, StoreError, shown

OWNERS_ALONE = 0o600
"""Mode of a new file that contains a state."""
TO_BE_READ = 0o666
"""Mode of a new picture, table or page, less the umask."""

_NEW = os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)


def path_of(value: Any) -> Path:
    """Return the value as a path, or raise an error of the library."""
    if not isinstance(value, str | os.PathLike):
        raise ParameterError(f"a path must be a string or a pathlib.Path, got {shown(value)}")
    path = Path(value)
    if "\0" in str(path):
        raise ParameterError(f"a path must not contain a NUL character, got {shown(str(path))}")
    return path


def refuse_link(path: Path) -> None:
    """Raise an error for a link, a file with a second name, or no file. Open nothing."""
    with suppress(FileNotFoundError):
        status = path.lstat()
        if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
            raise StoreError(
                f"{path} is a link, or not a plain file. It may lead to a file of another user, so "
                "it was not touched; remove it, and find out who put it there"
            )


def make_file(path: Path) -> None:
    """Create an empty file, private to its owner, without opening it.

    Closing a file would end the locks that this process has on it, including those of SQLite.
    """
    if sys.platform == "linux":
        os.mknod(path, stat.S_IFREG | OWNERS_ALONE)
    else:  # only root may do so there
        os.close(os.open(path, os.O_WRONLY | _NEW, OWNERS_ALONE))


def replace_file(target: Path, content: bytes, mode: int = TO_BE_READ) -> None:
    """Write a file so that its path always has the complete old content or the complete new one."""
    with replacing(target, mode) as file:
        file.write(content)


@contextmanager
def replacing(target: Path, mode: int = TO_BE_READ) -> Iterator[BinaryIO]:
    """Yield a file to write, which replaces another when it is complete, or never.

    Several processes may write to one path at once: each writes its own file, and the last one to
    finish wins. A new file has the mode `mode`. A link stays a link: its target is replaced. An
    existing file keeps its mode and, as far as this process may set them, its owner and group. A
    process that is killed meanwhile leaves its own file, `.dikin-*.part`.
    """
    target = Path(os.path.realpath(target))
    existing = _existing_file(target)
    unfinished = target.with_name(f".dikin-{secrets.token_hex(8)}.part")
    try:
        handle = os.open(unfinished, os.O_WRONLY | _NEW, mode)
    except OSError as reason:
        raise type(reason)(reason.errno, reason.strerror, str(target)) from reason
    try:
        with open(handle, "wb") as file:
            if existing is not None:
                _give(handle, existing)
            yield file
            file.flush()
            os.fsync(handle)
        unfinished.replace(target)
    except BaseException:
        with suppress(OSError):
            unfinished.unlink()
        raise
    _sync(target.parent)


def _existing_file(path: Path) -> os.stat_result | None:
    """Return the status of an existing file, or raise an error if it is not a file."""
    try:
        status = path.lstat()
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(status.st_mode):
        kind = "a folder" if stat.S_ISDIR(status.st_mode) else "a device or a pipe"
        raise ParameterError(
            f"{path} is {kind}, which cannot be replaced as a whole; pass the path of a file. "
            "Nothing was written"
        )
    return status


def _give(file: int, example: os.stat_result) -> None:
    """Give a new file the mode, owner and group of another, and no access to another group."""
    if not hasattr(os, "fchown"):  # Windows
        return
    mode = example.st_mode & 0o777
    try:
        os.fchown(file, example.st_uid, example.st_gid)
    except PermissionError:  # a user other than root may only change to a group of their own
        with suppress(PermissionError):
            os.fchown(file, -1, example.st_gid)
        if os.fstat(file).st_gid != example.st_gid:
            mode &= ~stat.S_IRWXG
    os.fchmod(file, mode)


def _sync(folder: Path) -> None:
    """Make the names in a folder durable. Windows needs no such step and cannot open folders."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
