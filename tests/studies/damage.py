"""Files that were damaged: an error of ours, or nothing that matters was hit.

Each of these yields, for one damage after another, whether it was noticed. What is neither noticed
nor harmless fails.
"""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dikin
from dikin import errors
from studies.small import plain

ROUNDS = 30
PLAY = """
import os, signal, sys, dikin
study = dikin.Study(sys.argv[1], "a")
for _ in range(int(sys.argv[2])):
    study.tell(study.ask(), 0.5)
os.kill(os.getpid(), signal.SIGKILL)
"""


def play_and_die(file: str) -> None:
    """A study with rounds in its log, whose only client was killed."""
    dikin.Study(file, "a", plain()).close()
    done = subprocess.run([sys.executable, "-c", PLAY, file, str(ROUNDS)], check=False)
    assert done.returncode == -9
    assert Path(f"{file}-wal").stat().st_size > 0


def rounds_in(file: str) -> int:
    with dikin.Study(file, "a") as study:
        return study.rounds


def copy_of(killed: str, folder: str) -> str:
    """The database and all beside it."""
    for part in ("", "-wal", "-marks"):
        shutil.copy(f"{killed}{part}", f"{folder}/studies.db{part}")
    return f"{folder}/studies.db"


def damaged_logs(killed: str, contents: Iterator[bytes]) -> Iterator[bool]:
    """The log replaced by others."""
    for content in contents:
        with tempfile.TemporaryDirectory() as folder:
            file = copy_of(killed, folder)
            Path(f"{file}-wal").write_bytes(content)
            try:
                rounds = rounds_in(file)
            except errors.StateError:
                yield True
            else:
                assert rounds == ROUNDS, f"{ROUNDS - rounds} rounds were lost in silence"
                yield False


def flipped(content: bytes, count: int, seed: int, first: int = 0) -> Iterator[bytes]:
    """One bit of a byte that is not 0 is another."""
    used = [place for place, byte in enumerate(content) if byte and place >= first]
    chance = random.Random(seed)
    for _ in range(count):
        broken = bytearray(content)
        broken[chance.choice(used)] ^= 1 << chance.randrange(8)
        yield bytes(broken)


def cut(content: bytes, count: int, seed: int) -> Iterator[bytes]:
    """The end is missing."""
    chance = random.Random(seed)
    for _ in range(count):
        yield content[: chance.randrange(len(content))]


def exchanged_pages(content: bytes, page: int = 4096) -> Iterator[bytes]:
    """Two pages in each other's place."""
    pages = [content[start : start + page] for start in range(0, len(content), page)]
    for one in range(len(pages)):
        for two in range(one):
            swapped = list(pages)
            swapped[one], swapped[two] = swapped[two], swapped[one]
            yield b"".join(swapped)


def damaged_files(file: str, contents: Iterator[bytes]) -> Iterator[bool]:
    """The database replaced by others."""
    with dikin.Study(file, "a") as study:
        before = _all_of(study)
    for content in contents:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "a.db")
            path.write_bytes(content)
            try:
                with dikin.Study(path, "a") as study:
                    found = _all_of(study)
            except errors.DikinError:
                yield True
            else:
                assert found == before, "it plays another game"
                yield False


def _all_of(study: dikin.Study) -> tuple[Any, ...]:
    return study.state(), study.history().tobytes(), study.verify()
