"""A learner as arithmetic on preallocated arrays, for the compiled loop: see `dikin.kernel`.

The loop plays any learner whose machine has a `Player`: it asks, lets the world answer, tells.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from dikin.domains.base import Array, Kernel
from dikin.rng import Generator

Aimed = tuple[float, float, float]
"""What `ask` found out and `tell` will need: each player's own three numbers."""


class Memory(NamedTuple):
    """What a learner carries from round to round."""

    numbers: Array
    linear: Array
    """The linear term that the place was solved from."""
    state: Array
    """The place, as the domain's kernel packs it."""


class Scratch(NamedTuple):
    """Vectors that every round uses anew."""

    noise: Array
    work: Array
    u: Array
    """The working vector to play."""
    x: Array
    """The point of u."""

    @classmethod
    def of(cls, kernel: Kernel, entries: int) -> Scratch:
        """For a domain whose points have that many entries."""
        return cls(
            np.zeros(kernel.size), np.zeros(kernel.works), np.zeros(kernel.size), np.zeros(entries)
        )


class Player(Protocol):
    """`_propose` and `_learn` of a learner, in the paper's units."""

    @property
    def kernel(self) -> Kernel:
        """The domain's."""
        ...

    def ask(self, memory: Memory, scratch: Scratch) -> Aimed:
        """Write the vector to play into scratch.u, from the normal noise in scratch.noise."""
        ...

    def tell(
        self,
        round: int,
        aimed: Aimed,
        loss: float,
        curvature: float,
        memory: Memory,
        scratch: Scratch,
    ) -> None:
        """Learn from the answer of a round."""
        ...


@dataclass(slots=True)
class Machine:
    """A learner taken apart for the compiled loop."""

    player: Player
    memory: Memory
    generator: Generator
