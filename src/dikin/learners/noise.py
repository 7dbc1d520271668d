"""Standard normal vectors that are counted, so that a learner continues where it was saved."""

from __future__ import annotations

from typing import Any

from dikin.arguments import is_whole
from dikin.errors import StateError, shown
from dikin.rng import Generator, counted, named_key, words_of
from dikin.vectors import Array

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
        """Return the generator of the next vectors, and how many it gives.

        Whoever draws from it adds to `drawn`.
        """
        block, used = divmod(self.drawn, self._per_block)
        if self._generator is None or used == 0 or self._rows:
            self._generator, self._rows = counted(self._key, block), []
            for begun in range(0, used, AHEAD):
                self._generator.standard_normal((min(AHEAD, used - begun), self._size))
        return self._generator, self._per_block - used

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
