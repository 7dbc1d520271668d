"""Files that were damaged: an error of ours, or nothing that matters was hit.

Each of these yields, for one damage after another, whether it was noticed. What is neither noticed
nor harmless fails.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dikin
from dikin import errors


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
    return study.state(), study.history().tobytes(), study.verify().rows
