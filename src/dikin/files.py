"""Files: written completely or not at all, private to their owner, and in the intended folder.

The folder may belong to another user. So a new file is created exclusively (`O_EXCL`), no link in
the folder is followed, and the folder is opened once: whatever happens to its path meanwhile, all
operations on one file happen in one folder.
"""

from __future__ import annotations

import os
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, Self

from dikin.errors import DikinError, NotAFileError, shown

OWNERS_ALONE = 0o600
"""Mode of a new file that contains a state."""
TO_BE_READ = 0o666
"""Mode of a new picture, table or page, less the umask."""

NO_LINKS = getattr(os, "O_NOFOLLOW", 0)
_ALWAYS = sum(getattr(os, name, 0) for name in ("O_CLOEXEC", "O_NONBLOCK", "O_BINARY"))
_FOLDER = getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_PATH", 0)


def path_of(value: Any) -> Path:
    """The value as a path, or an error of the library."""
    if not isinstance(value, str | os.PathLike):
        raise NotAFileError(f"a path must be a string or a pathlib.Path, got {shown(value)}")
    path = Path(value)
    if "\0" in str(path):
        raise NotAFileError(f"a path must not contain a NUL character, got {shown(str(path))}")
    return path


# --- a folder ------------------------------------------------------------------------------------


class Folder:
    """An open folder; names are those of its own files. The last name of its path is no link."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: int | None = None
        if os.name == "posix":  # Windows cannot open folders: there the path is used
            self._file = os.open(path, os.O_RDONLY | _FOLDER | NO_LINKS | _ALWAYS)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            os.close(self._file)

    def _at(self, name: str) -> str:
        return name if self._file is not None else str(self.path / name)

    def open(self, name: str, flags: int, mode: int = OWNERS_ALONE) -> int:
        """Open a file, or create one with that mode; a link is not followed."""
        return os.open(self._at(name), flags | NO_LINKS | _ALWAYS, mode, dir_fd=self._file)

    def refuse_link(self, name: str) -> None:
        """Raise an error for a link, a file with a second name, or no file; open nothing."""
        with suppress(FileNotFoundError):
            status = self.stat(name)
            if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
                raise NotAFileError(
                    f"{self.path / name} is a link, or not a plain file. It may lead to a file of "
                    "another user, so it was not touched; remove it, and find out who put it there"
                )

    def make_file(self, name: str) -> None:
        """Create an empty file, private to its owner, without opening it.

        Closing a file would end the locks that this process has on it, including those of SQLite.
        """
        if sys.platform == "linux":
            os.mknod(self._at(name), stat.S_IFREG | OWNERS_ALONE, dir_fd=self._file)
        else:  # only root may do so there
            os.close(self.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL))

    def stat(self, name: str) -> os.stat_result:
        """The status of a file, or of a link itself."""
        return os.stat(self._at(name), dir_fd=self._file, follow_symlinks=False)

    def rename(self, old: str, new: str) -> None:
        """Rename a file, replacing any file of the new name."""
        os.replace(self._at(old), self._at(new), src_dir_fd=self._file, dst_dir_fd=self._file)

    def remove(self, name: str) -> None:
        """Remove a file."""
        os.unlink(self._at(name), dir_fd=self._file)

    def sync(self) -> None:
        """Make the list of names durable. Windows needs no such step."""
        if self._file is not None:
            # It was opened with `O_PATH`, which neither needs nor grants the right to read it.
            synced = os.open(".", os.O_RDONLY | os.O_CLOEXEC, dir_fd=self._file)
            try:
                os.fsync(synced)
            finally:
                os.close(synced)


def give(file: int, example: os.stat_result, mode: int) -> None:
    """Give a file that this process has just created to the owner and group of another file.

    A user other than root may only change the group, to one of their own; if the group cannot be
    changed, the mode gives it no access.
    """
    if not hasattr(os, "fchown"):  # Windows
        return
    status = os.fstat(file)
    with suppress(PermissionError):
        if status.st_uid != example.st_uid:
            os.fchown(file, example.st_uid, -1)
    try:
        if status.st_gid != example.st_gid:
            os.fchown(file, -1, example.st_gid)
    except PermissionError:
        mode &= ~stat.S_IRWXG
    os.fchmod(file, mode)


# --- a file that takes the place of another ------------------------------------------------------


def replace_file(target: Path, content: bytes, mode: int = TO_BE_READ) -> None:
    """Write a file so that its path always has the complete old content or the complete new one."""
    with replacing(target, mode) as file:
        file.write(content)


@contextmanager
def replacing(target: Path, mode: int = TO_BE_READ) -> Iterator[BinaryIO]:
    """A file to write, which replaces another when it is complete, or never.

    Several processes may write to one path at once: each writes its own file, and the last one to
    finish wins. A new file has the mode `mode`. A link stays a link: its target is replaced. An
    existing file keeps its mode and, as far as this process may set them, its owner and group. A
    process that is killed meanwhile leaves its own file, `.dikin-*.part`.
    """
    target = Path(os.path.realpath(target))
    unfinished = f".dikin-{secrets.token_hex(8)}.part"
    try:
        with Folder(target.parent) as folder:
            existing = _existing_file(folder, target.name)
            handle = folder.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
            try:
                with open(handle, "wb") as file:
                    if existing is not None:
                        give(handle, existing, existing.st_mode & 0o777)
                    yield file
                    file.flush()
                    os.fsync(handle)
                folder.rename(unfinished, target.name)
            except BaseException:
                with suppress(OSError):
                    folder.remove(unfinished)
                raise
            folder.sync()
    except DikinError:
        raise
    except OSError as reason:
        raise type(reason)(reason.errno, reason.strerror, str(target)) from reason


def _existing_file(folder: Folder, name: str) -> os.stat_result | None:
    """The status of an existing file; an error if it is not a file."""
    try:
        status = folder.stat(name)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(status.st_mode):
        kind = "a folder" if stat.S_ISDIR(status.st_mode) else "a device or a pipe"
        raise NotAFileError(
            f"{folder.path / name} is {kind}, which cannot be replaced as a whole; pass the path "
            "of a file. Nothing was written"
        )
    return status
