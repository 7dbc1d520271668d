"""Randomness: one seed, any number of named and independent streams.

A learner and its adversary use different names, so changing one never affects the other.
"""

from __future__ import annotations

import hashlib
import secrets
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dikin.arguments import is_whole
from dikin.errors import ParameterError, StateError, shown
from dikin.vectors import Array

Generator = np.random.Generator


def stream(seed: int | None, name: str) -> Generator:
    """Return the generator called `name` of the family `seed` (fresh entropy for None)."""
    if seed is not None:
        refuse_seed(seed)
    key = zlib.crc32(name.encode())
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(key,))))


def refuse_seed(seed: Any) -> None:
    """Raise an error unless it is a whole number of at least 0."""
    if not is_whole(seed):
        raise ParameterError(f"seed must be a whole number or None, got {shown(seed)}")
    if seed < 0:
        raise ParameterError(f"seed must not be negative, got {seed}")


def lot(key: str, id: int, purpose: bytes = b"") -> float:
    """Return a number in [0, 1) that depends on a key, an id and a purpose alone, for ever."""
    digest = hashlib.blake2b(f"{key}/{id}".encode(), digest_size=8, person=purpose).digest()
    return (int.from_bytes(digest) >> 11) / 2.0**53


BLOCK = 2**17
"""Numbers of a stream after which its generator starts anew, from the number of the block."""
AHEAD = 1024
"""Numbers that are drawn at once: a call into a generator costs more than ten."""


class Noise:
    """Standard normal vectors, counted: the n-th depends on the key and n alone.

    They come in blocks, each from the generator that `counted` returns for the block's number.
    """

    def __init__(self, key: str, size: int) -> None:
        self._size, self._per_block = size, max(1, BLOCK // size)
        self._key, self.drawn = key, 0
        self._generator: Generator | None = None
        """Just after the vectors of the present block that were drawn, rows included."""
        self._rows: list[Array] = []
        """Drawn but not yet returned, the next one last."""

    def draw(self) -> Array:
        """Return the next vector, which the caller owns."""
        if not self._rows:
            generator, left = self.generator()
            count = min(max(1, AHEAD // self._size), left)
            self._rows = list(generator.standard_normal((count, self._size))[::-1])
        self.drawn += 1
        return self._rows.pop()

    def generator(self) -> tuple[Generator, int]:
        """Return the generator of the next vectors, and how many it gives: see `skip`."""
        block, used = divmod(self.drawn, self._per_block)
        if self._generator is None or used == 0 or self._rows:
            self._generator, self._rows = counted(self._key, block), []
            for begun in range(0, used, AHEAD):
                self._generator.standard_normal((min(AHEAD, used - begun), self._size))
        return self._generator, self._per_block - used

    def skip(self, count: int) -> None:
        """Count so many vectors as drawn from the generator."""
        self.drawn += count

    def seek(self, drawn: int) -> None:
        """Return to a position, or go to one ahead."""
        self.drawn, self._generator, self._rows = drawn, None, []

    def seed(self) -> int:
        """Return a seed for a stream that continues from here."""
        return int(named_key(self._key, f"from {self.drawn}")[:15], 16)

    def state(self) -> dict[str, Any]:
        """Return the key and the position, as JSON values."""
        return {"key": self._key, "drawn": self.drawn}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue where `state` was taken."""
        try:
            key, drawn = state["key"], state["drawn"]
            words_of(key)
        except (ValueError, TypeError, KeyError, AttributeError) as reason:
            raise StateError(f"the stream of noise cannot be read: {reason!r}") from reason
        if not is_whole(drawn) or not 0 <= drawn < 2**63:
            raise StateError(f"the position of a stream is a whole number, got {shown(drawn)}")
        self._key = key
        self.seek(int(drawn))


def stream_key(seed: int | None, identity: str) -> str:
    """Return the key of the streams of a tuner, from a seed and the identity of the tuner."""
    if seed is None:
        return secrets.token_hex(16)
    refuse_seed(seed)
    return named_key(str(int(seed)), identity)


def named_key(key: str, name: str) -> str:
    """Return the key of a name: the same for ever, and another one for every name."""
    return hashlib.blake2b(f"{key}\n{name}".encode(), digest_size=16).hexdigest()


def counted(key: str, round: int) -> Generator:
    """Return the generator of a round: the same for ever, regardless of other rounds."""
    return np.random.Generator(np.random.Philox(key=words_of(key), counter=[0, 0, 0, round]))


def words_of(key: str) -> NDArray[np.uint64]:
    """Return a key as the two words of Philox, or raise a `ValueError`."""
    words: NDArray[np.uint64] = np.frombuffer(bytes.fromhex(key), dtype="<u8")
    if words.size != 2:
        raise ValueError(f"a key has 32 hexadecimal digits, got {shown(key)}")
    return words
