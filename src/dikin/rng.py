"""Randomness: one seed, any number of named and independent streams.

A learner and its adversary use different names, so changing one never affects the other.
"""

from __future__ import annotations

import hashlib
import secrets
import zlib
from typing import Any

import numpy as np

from dikin.arguments import is_whole
from dikin.errors import ParameterError, StateError, shown
from dikin.vectors import Array

Generator = np.random.Generator


def stream(seed: int | None, name: str) -> Generator:
    """The generator called `name` of the family `seed` (fresh entropy for None)."""
    if seed is not None and not is_whole(seed):
        raise ParameterError(f"seed must be a whole number or None, got {shown(seed)}")
    if seed is not None and seed < 0:
        raise ParameterError(f"seed must not be negative, got {seed}")
    key = zlib.crc32(name.encode())
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(key,))))


def lot(key: str, id: int, purpose: bytes = b"") -> float:
    """A number in [0, 1) that depends on a key, an id and a purpose alone.

    It is the same in every process and for ever.
    """
    digest = hashlib.blake2b(f"{key}/{id}".encode(), digest_size=8, person=purpose).digest()
    return (int.from_bytes(digest) >> 11) / 2.0**53


class Noise:
    """Standard normal vectors from a generator, drawn ahead in blocks.

    A call into the generator costs more than ten normals. The vectors, and the state that is
    returned, are the same as if they were drawn one by one.
    """

    def __init__(self, generator: Generator, size: int) -> None:
        self._generator, self._size = generator, size
        self._ahead = max(1, 1024 // size)
        self._before: Any = None
        self._rows: list[Array] = []
        """Drawn but not yet returned, the next one last."""

    def draw(self) -> Array:
        """The next vector of the stream; the caller owns it."""
        if not self._rows:
            self._before = self._generator.bit_generator.state
            block = self._generator.standard_normal((self._ahead, self._size))
            self._rows = list(block[::-1])
        return self._rows.pop()

    def generator(self) -> Generator:
        """The generator itself, just after the vectors drawn so far."""
        if self._before is not None:
            self._generator.bit_generator.state = self._before
            self._generator.standard_normal((self._ahead - len(self._rows), self._size))
            self._drop()
        return self._generator

    def state(self) -> dict[str, Any]:
        """The generator's state after the vectors drawn so far, as plain numbers."""
        return dict(self.generator().bit_generator.state)

    def seed(self) -> int:
        """A seed for a stream that continues from here; this stream does not advance."""
        fork = np.random.Generator(np.random.PCG64(0))
        fork.bit_generator.state = self.state()
        return int(fork.integers(2**63))

    def restore(self, state: dict[str, Any]) -> None:
        """Continue exactly where `state` was taken."""
        try:
            self._generator.bit_generator.state = state
        except (ValueError, TypeError, KeyError, OverflowError) as reason:
            raise StateError(f"the generator's state cannot be read: {reason}") from reason
        self._drop()

    def _drop(self) -> None:
        self._before, self._rows = None, []


def stream_key(seed: int | None, identity: str) -> str:
    """Return what names the streams of a tuner: a seed and what identifies the tuner."""
    if seed is None:
        return secrets.token_hex(16)
    if not is_whole(seed):
        raise ParameterError(f"seed must be a whole number or None, got {shown(seed)}")
    if seed < 0:
        raise ParameterError(f"seed must not be negative, got {seed}")
    return named_key(str(int(seed)), identity)


def named_key(key: str, name: str) -> str:
    """Return the key of a name: the same for ever, and another one for every name."""
    return hashlib.blake2b(f"{key}\n{name}".encode(), digest_size=16).hexdigest()


def counted(key: str, round: int) -> Generator:
    """Return the generator of a round: the same for ever, whatever was drawn in other rounds."""
    words = np.frombuffer(bytes.fromhex(key), dtype="<u8")
    return np.random.Generator(np.random.Philox(key=words, counter=[0, 0, 0, round]))
