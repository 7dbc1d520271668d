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
from dikin.errors import ParameterError, shown

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
