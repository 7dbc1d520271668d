"""Files in memory, for tests that wait for a disk and do not measure it."""

import shutil
from pathlib import Path

ROOM = 2 * 2**30
"""Bytes that must be free: a container may have little, and a server of PostgreSQL needs much."""


def in_memory() -> Path | None:
    """A folder whose files are in memory; None, the usual folder, where there is none with room."""
    memory = Path("/dev/shm")
    return memory if memory.is_dir() and shutil.disk_usage(memory).free > ROOM else None
