"""Sets and rounds that the tests of several environments share."""

from __future__ import annotations

import dikin
from dikin.checks import environment as laws

DISC = dikin.Ball(2)
PLATE = dikin.Box([0.0, -200.0], [1.0, 800.0])
CHECKS = [getattr(laws, name) for name in dir(laws) if name.startswith("check_")]


def play(environment: dikin.Environment, rounds: int) -> list[tuple[int, float]]:
    """Plays the centre; gives the rounds with their chances."""
    played = []
    for t in range(1, rounds + 1):
        played.append((t, laws.next_chance(environment)))
        environment.answer(environment.domain.center)
    return played
